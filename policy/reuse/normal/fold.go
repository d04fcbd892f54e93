package normal

import "strings"

// capitals returns where a word that is not in small letters has its capitals.
func capitals(raw, low string) class {
	c := class(0)
	same := 0
	for i := range len(raw) {
		if raw[i] == low[i] && raw[i] != '\'' {
			same++
		}
	}
	if raw[0] != low[0] || raw[0] >= 0x80 && raw[1] != low[1] {
		c = upper
	}
	switch {
	case len(raw) > 1 && strings.ToUpper(raw) == raw:
		return c | caps
	case c == 0 || strings.ToLower(raw[1:]) != low[1:] || raw[1:] != low[1:] && raw[0] < 0x80:
		return c | mixed
	}
	return c
}

// fold decides for every word with a capital whether the capital carries meaning; where it does, the word is compared as it stands.
//
// People write whole conversations in small letters, names among them, so that a list of words whose case is free could never be long
// enough: the words whose case is not free are listed, and shapes are added in which capitals are an abbreviation or a unit.
func (m *maker) fold() {
	shout := m.lowers == 0 && len(m.tokens) > 1
	for i := range m.tokens {
		t := &m.tokens[i]
		if t.Kind != Word || t.Quoted || t.class&joined != 0 {
			continue
		}
		if t.class&(upper|mixed) == 0 {
			if t.Text == "us" && m.tokens.is(i-1, "the") {
				t.Text = "US"
			}
			continue
		}
		if m.keeps(i, shout) {
			t.Text = m.prompt[t.From:t.To]
		}
	}
}

// keeps reports whether the capitals of word i carry meaning.
func (m *maker) keeps(i int, shout bool) bool {
	t := &m.tokens[i]
	switch n := t.To - t.From; {
	case t.class&mixed != 0: // PayPal, but kWh and LaTeX
		return t.class&acronym == 0 && (t.class&homograph != 0 || n < 5 || t.class&upper == 0)
	case n == 1:
		return m.tokens.letter(i)
	case t.class&caps != 0:
		return m.capsKept(i, shout)
	case n == 2:
		return m.pairKept(i)
	}
	return t.class&homograph != 0 && !(t.class&starts != 0 && m.tokens.opens(i)) && !(t.class&month != 0 && m.tokens.dated(i))
}

// opens reports whether word i may have its capital from its place: it begins a sentence, or follows a mark.
func (ts tokens) opens(i int) bool {
	return ts[i].First || i > 0 && ts[i-1].Kind == Mark
}

// letter reports whether a single capital letter is more than the pronoun or the article.
func (ts tokens) letter(i int) bool {
	switch ts[i].Text {
	case "a":
		return !ts.opens(i)
	case "i":
		return ts.is(i-1, "is", "of", "the", "a", "letter", "variable", "symbol", "war", "type", "part", "phase", "stage", "chapter",
			"volume", "section", "class", "number", "step", "episode", "category")
	}
	return true
}

// capsKept reports whether the case of a word in capital letters carries meaning.
func (m *maker) capsKept(i int, shout bool) bool {
	t := &m.tokens[i]
	switch {
	case shout:
		return t.class&homograph != 0 && (t.class&starts == 0 || t.Text == "us")
	case t.class&acronym != 0 || t.class&(function|title) != 0 && t.class&homograph == 0:
		return false
	case t.Text == "pm":
		return !(i > 0 && m.tokens[i-1].Kind == Number)
	case len(t.Text) == 2:
		return !contains(twoLetters, t.Text)
	}
	return t.class&homograph != 0 || pronounceable(t.Text)
}

// twoLetters are abbreviations that are no word, unit or chemical symbol in small letters.
const twoLetters = " la sf ny ca wa az ga sd bc nj fl nc tx dc uk tv kl eu pc dj vs ai ui ux hr qa jr sr vp nz sa va wi ut ct nv ky ip id ok pr "

// pairKept reports whether the capital of a word of two letters, the first of them large, carries meaning: those of chemical symbols do.
func (m *maker) pairKept(i int) bool {
	t := &m.tokens[i]
	switch t.Text {
	case "he", "be", "in", "as", "at", "am", "no", "it", "us":
		return !m.tokens.opens(i)
	case "vs", "ok":
		return false
	}
	if t.class&title != 0 {
		return !m.tokens.has(i+1, upper)
	}
	return t.class&function == 0
}

// dated reports whether the name of a month is beside a number, or behind a word that a month follows.
func (ts tokens) dated(i int) bool {
	number := func(i int) bool {
		return i >= 0 && i < len(ts) && (ts[i].Kind == Number || ts[i].class&numeral != 0)
	}
	return number(i-1) || number(i+1) || ts.is(i-1, "of") && number(i-2) || ts.is(i+1, "the") && number(i+2) ||
		ts.is(i-1, "in", "since", "until", "till", "next", "last", "early", "late", "mid", "of")
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
	if first < 0 {
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
