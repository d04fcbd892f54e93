package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// capitals returns where a word that is not in small letters has its capitals.
func capitals(raw, low string) class {
	c, size := class(0), 1
	if raw[0] >= utf8.RuneSelf {
		size = 2
	}
	if raw[:size] != low[:size] {
		c = upper
	}
	if raw[size:] == low[size:] {
		return c
	}
	for _, r := range raw {
		if unicode.IsLower(r) {
			return c | mixed
		}
	}
	return c | caps
}

// folder decides about letter case.
type folder struct {
	tokens
	prompt string
	shout  bool // the prompt is in capital letters
	title  bool // the prompt is written as a title: every capital counts
	exact  bool // every capital counts, of a title or a prompt that is not English
	code   bool // the prompt names a programming language
}

// weight says where the capitals of a word count.
type weight uint8

const (
	free  weight = iota // nowhere
	loose               // against another prompt with capitals
	fixed               // everywhere
)

// fold sets the text of every word with a capital: without it where the capital is explained by the place of the word or belongs to a name
// that is no other word, and as it stands everywhere else. Names that are ordinary words have no list that is complete (Unity, Threads,
// Rails), so that the middle of a sentence says what a word is. A prompt without capitals says nothing; see loosely.
func (f *folder) fold() {
	for i := range f.tokens {
		t := &f.tokens[i]
		if t.Kind != Word || t.Quoted || t.class&joined != 0 {
			continue
		}
		if t.class&(upper|mixed) == 0 {
			if t.Text == "us" && f.is(i-1, "the") {
				t.Text = "US"
			}
			continue
		}
		switch w := f.weight(i); {
		case w == free:
		case f.prompt[t.From:t.To] == t.Text:
		default:
			t.small, t.exact = t.Text, w == fixed
			t.Text = f.prompt[t.From:t.To]
		}
	}
}

// weight returns where the capitals of word i count.
func (f *folder) weight(i int) weight {
	t := &f.tokens[i]
	switch {
	case t.class&caps == 0 && t.class&(month|mixed) == 0 && t.class&place != 0, t.class&acronym != 0 && t.class&homograph == 0 && (t.class&(caps|mixed) != 0 || t.First): // Ios is no iOS
		return free
	case t.class&caps != 0 && t.To-t.From == 2 && f.is(i-1, ",") && f.has(i-2, upper): // Anaheim, CA
		return loose
	case f.keeps(i):
		return fixed
	case f.shout, t.First && t.class&caps == 0, t.To-t.From == 1, f.has(i, month), t.Text == "pm" || t.Text == "am":
		return free
	case f.exact && !(t.class&function != 0 && f.opens(i)):
		return fixed
	case f.opens(i) && t.class&(function|wh) != 0 && t.class&caps == 0, t.class&(title|abbreviation) != 0 && f.has(i+1, upper):
		return free
	case f.loosely(i):
		return loose
	}
	return fixed
}

// loosely reports whether word i, which has a capital in the middle of a sentence, may be meant by the same word of a prompt without any
// capital: it is no homograph, or part of a name of several words.
func (f *folder) loosely(i int) bool {
	t := &f.tokens[i]
	switch {
	case f.code && t.class&product == 0, contains(politePronouns, t.Text):
		return false
	case i > 0 && (f.tokens[i-1].Kind == Number || f.tokens[i-1].Kind == Code) && !f.run(i): // 1 Mohm
		return false
	case t.class&product != 0, t.class&(caps|mixed) != 0:
		return true
	}
	return t.class&(wh|auxiliary|preposition|determiner) != 0 && !f.is(i, "up", "off", "it", "her") || t.class&homograph == 0 || f.run(i)
}

// politePronouns are pronouns that are polite, or of another person, with a capital: in German, Danish, Norwegian and Italian.
const politePronouns = ` sie ihr ihre ihren ihrem ihrer ihnen de dem deres dere jer lei loro `

// keeps reports whether the capitals of word i carry meaning.
func (f *folder) keeps(i int) bool {
	t := &f.tokens[i]
	if n := len(t.Text); n > 4 && t.Text[n-1] == 's' && t.class == upper {
		t.class |= entryOf(t.Text[:n-1]).class & homograph // Poles
	}
	switch n := t.To - t.From; {
	case t.class&mixed != 0 && several(f.prompt[t.From:t.To]): // DVDs
		return f.tokens[i].class&homograph != 0 || symbols[t.Text[:n-1]]
	case t.class&mixed != 0: // PayPal, but kWh and LaTeX
		slip := t.class&(function|task|verb|month) != 0 && t.class&upper != 0 && !(t.class&month != 0 && !f.dated(i)) // THat
		return !slip && t.class&acronym == 0 && (t.class&homograph != 0 || n < 5 || t.class&upper == 0)
	case n == 1:
		return f.letter(i)
	case t.class&caps != 0:
		return f.capsKept(i)
	case n == 2:
		return f.pairKept(i)
	}
	switch {
	case t.class&function != 0 && contains(titles, t.Text):
		return f.alone(i) // Who sang Yesterday?
	case t.class&homograph == 0 || t.class&starts != 0 && f.opens(i) || t.class&month != 0 && f.dated(i):
		return false
	case t.Text == "earth" && f.is(i-1, "on"):
		return false
	case t.class&modal != 0 && f.has(i+1, subject) || f.is(i-1, "vs") || f.is(i+1, "vs", "-"):
		return false
	}
	return f.title || !f.run(i)
}

// opens reports whether word i may have its capital from its place: it begins a sentence, or follows a mark.
func (ts tokens) opens(i int) bool {
	return ts[i].First || i > 0 && ts[i-1].Kind == Mark
}

// several reports whether a word is the plural of an abbreviation in capital letters.
func several(raw string) bool {
	n := len(raw) - 1
	return n > 1 && raw[n] == 's' && strings.ToUpper(raw[:n]) == raw[:n] && !pronounceable(strings.ToLower(raw[:n]))
}

// letter reports whether a single capital letter is more than the pronoun or the article.
func (f *folder) letter(i int) bool {
	named := f.has(i-1, upper) && !f.tokens[i-1].First && f.tokens[i-1].To-f.tokens[i-1].From > 2
	if f.is(i-1, "vitamin", "hepatitis", "ste", "suite", "apt", "unit", "avenue", "street", "boulevard", "lane", "highway", "road") || i > 0 && f.tokens[i-1].Text == "#" ||
		f.code && f.is(i-1, "in") && (i+1 == len(f.tokens) || f.has(i+1, ending)) || // a search in C
		named && (f.has(i+1, upper) || f.has(i+1, ending) && i+2 < len(f.tokens)) {
		return false
	}
	switch f.tokens[i].Text {
	case "a":
		return !f.opens(i) && !f.title
	case "i":
		return f.is(i-1, "is", "of", "the", "a", "letter", "variable", "symbol", "war", "type", "part", "phase", "stage", "chapter",
			"volume", "section", "class", "step", "episode", "category") && !f.has(i+1, auxiliary|function|task|verb)
	}
	return true
}

// titles are words without meaning of their own that are titles of works, too.
const titles = ` yesterday today tomorrow tonight always once everything something nothing anything her him them after never now again home who `

// run reports whether the word at i is part of a name of several words: one of them beside it has a capital that does not begin a sentence,
// or begins it without being a word that any sentence may begin with.
func (f *folder) run(i int) bool {
	name := func(j int) bool {
		if !f.has(j, upper) || f.tokens[j].To-f.tokens[j].From <= 2 {
			return false
		}
		return !f.opens(j) || j < i && f.tokens[j].class&(function|task|verb|courteous|wh) == 0
	}
	return name(i-1) || name(i+1) && !f.tokens[i].First || f.is(i-1, "of") && name(i-2) || f.is(i+1, "of") && name(i+2) && !f.tokens[i].First
}

// alone reports whether the word at i has a capital that neither its place nor a neighbour with a capital explains.
func (f *folder) alone(i int) bool { return !f.opens(i) && !f.has(i-1, upper) && !f.has(i+1, upper) }

// titled reports whether the prompt is written as a title: all words have capitals but articles, prepositions and conjunctions, and a
// verb or pronoun among them has one in the middle.
func titled(ts tokens) bool {
	light := false
	for i := range ts {
		t := &ts[i]
		switch {
		case t.Kind != Word || t.Quoted || t.class&joined != 0 || ts.opens(i):
		case t.class&upper == 0:
			if t.class&preposition == 0 && !ts.is(i, "the", "a", "an", "and", "or", "but") {
				return false
			}
		default:
			light = light || t.class&(auxiliary|subject|determiner|wh) != 0 && !ts.is(i, "i", "the", "a") || strings.HasSuffix(t.Text, "ed")
		}
	}
	return light
}

// unEnglish reports whether the prompt has words in small letters, and few of its words are those that any English sentence has.
func unEnglish(ts tokens) bool {
	english, words, small := 0, 0, false
	for i := range ts {
		if t := &ts[i]; t.Kind == Word && !t.Quoted {
			words++
			if t.class&(function|task|verb) != 0 {
				english++
			} else if t.class&(upper|caps|mixed) == 0 {
				small = true
			}
		}
	}
	return small && english*5 < words
}

// capsKept reports whether the case of a word in capital letters carries meaning.
func (f *folder) capsKept(i int) bool {
	t := &f.tokens[i]
	switch {
	case f.shout:
		return t.class&homograph != 0 && (t.class&starts == 0 || t.Text == "us")
	case t.class&acronym != 0 || t.class&(function|title) != 0 && t.class&homograph == 0:
		return false
	case t.Text == "pm":
		return !(i > 0 && (f.tokens[i-1].Kind == Number || f.has(i-1, numeral)))
	case len(t.Text) == 2:
		return !contains(twoLetters, t.Text) && (t.class&function != 0 || symbols[t.Text])
	}
	return t.class&homograph != 0 || pronounceable(t.Text)
}

// twoLetters are abbreviations that are no word in small letters. Their lower case is that of a chemical symbol or unit at most where the
// first letter alone is large.
const twoLetters = " sf ny ca ga sd nc nj fl tx tv kl uk ct nd ne sc mt eu db "

// symbols are the chemical symbols of two letters and the units that begin with a prefix: capitals make others of them.
var symbols = func() map[string]bool {
	all := map[string]bool{}
	for s := range strings.FieldsSeq(`he li be ne na mg al si cl ar ca sc ti cr mn fe co ni cu zn ga ge as se br kr rb sr zr nb mo tc ru rh pd ag
		cd in sn sb te xe cs ba la ce pr nd pm sm eu gd tb dy ho er tm yb lu hf ta re os ir pt au hg tl pb bi po at rn fr ra ac th pa np
		pu am cm bk cf es fm md no lr rf db sg bh hs mt ds rg cn nh fl mc lv ts og hz lm lx wb sv gy ev`) {
		all[s] = true
	}
	for _, prefix := range "mkgtpncdhfe" {
		for _, unit := range "bgmswvajnlf" {
			all[string(prefix)+string(unit)] = true
		}
	}
	return all
}()

// pairKept reports whether the capital of a word of two letters, the first of them large, carries meaning: those of chemical symbols do.
func (f *folder) pairKept(i int) bool {
	t := &f.tokens[i]
	if f.is(i+1, "-") {
		return false // Co-author
	}
	switch t.Text {
	case "he", "be", "in", "as", "at", "am", "no", "it", "us":
		return !f.opens(i) && !f.run(i)
	case "vs", "ok":
		return false
	}
	if t.class&starts != 0 {
		return !f.opens(i)
	}
	if t.class&abbreviation != 0 {
		return false
	}
	if t.class&title != 0 {
		return !f.has(i+1, upper)
	}
	return symbols[t.Text] && t.class&function == 0 && !(f.is(i-1, ",") && f.has(i-2, upper)) // Long Beach, Ca
}

// dated reports whether the name of a month is beside a number, or behind a word that a month follows.
func (f *folder) dated(i int) bool {
	number := func(i int) bool {
		return i >= 0 && i < len(f.tokens) && (f.tokens[i].Kind == Number || f.tokens[i].class&numeral != 0)
	}
	return number(i-1) || number(i+1) || f.is(i-1, "of") && number(i-2) || f.is(i+1, "the") && number(i+2) ||
		f.is(i-1, "in", "since", "until", "till", "next", "last", "early", "late", "mid", "of")
}

// pronounceable reports whether small letters could be an English word: they have a vowel, and no more consonants in a row than words
// begin or end with.
func pronounceable(low string) bool {
	vowel := func(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }
	first, last := -1, -1
	for i := range len(low) {
		if vowel(low[i]) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	end := len(low) - 1
	if first < 0 || strings.IndexByte("iujvq", low[end]) >= 0 || low[end] == 'c' && low[end-1] != 'i' {
		return false
	}
	return contains(onsets, low[:first]) && contains(codas, low[last+1:])
}

// contains reports whether a list of words, with blanks around each, has one. The empty word is in every list.
func contains(list, word string) bool {
	if word == "" {
		return true
	}
	for i := 0; ; {
		n := strings.Index(list[i:], word)
		if n < 0 {
			return false
		}
		i += n
		if list[i-1] == ' ' && list[i+len(word)] == ' ' {
			return true
		}
		i += len(word)
	}
}

const (
	onsets = ` b c d f g h j k l m n p q r s t v w x z bl br ch chr cl cr dr dw fl fr gh gl gn gr kh kl kn kr ph phr pl pr ps qu rh sc sch scr sh shr
 sk sl sm sn sp sph spl spr squ st str sw th thr thw tr ts tw wh wr `
	codas = ` b c d f g h j k l m n p q r s t v w x z bb bs ch ck cks ct cts dd dge dd ds dth ff ffs ft fts gg gh ght ghts gs ks ld lds lf lk lks ll
 lls lm lms ln lp lps ls lt lth lts mb mbs mf mn mp mph mps mpt ms nch nct nd nds ng ngs ngth nk nks nn ns nt nth nts nx nz pp ps pse pt pth pts rb
 rbs rc rch rd rds rf rg rk rks rl rld rls rm rms rn rns rp rps rr rs rsh rst rt rth rts rv rz sh sk sks sm sms sp sps ss st sts tch th ths ts tt
 ws wl wls wn wns wk wd wds ws xt xts zz ys `
)
