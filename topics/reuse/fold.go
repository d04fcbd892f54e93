package reuse

import (
	"slices"
	"strings"
)

// folded takes from a prompt what is around its question, in place: courtesy, and ways of asking for the question behind them. All ways
// to ask how something is done become "how", and a verb and its particle become one word.
//
// The second result is a sum of the ways of asking, equal for equal ones.
func folded(tokens []token) ([]token, int) {
	out := tokens[:0]
	start, framed, wanted, ways := false, false, false, 0
	for i := 0; i < len(tokens); {
		if x := &tokens[i]; !framed && !start && !x.dropped && !x.is(framing|questioning|phrasal) {
			if len(out) == i {
				out = tokens[:i+1] // nothing has moved
			} else {
				out = append(out, *x)
			}
			i++
			continue
		}
		tokens[i].start, tokens[i].framed, tokens[i].wanted = tokens[i].start || start, framed, wanted
		t, used, kept := tokens[i], 1, true
		if n := asker(tokens[i:]); n > 0 {
			used, t.folded, ways = n, true, ways+1000*int(tokens[i+n-1].key[0])
		} else if p := phraseAt(tokens[i:]); p != nil {
			used, kept, ways = len(p.words), p.by != "", ways+p.way
			if kept {
				t.key, t.class, t.kind, t.folded, t.name = p.by, classOf(p.by), word, true, false
			}
		} else if t.is(phrasal) && t.kind == word && !t.quoted {
			if key := compound(tokens[i:]); key != "" {
				t.key, t.class, t.last, used = key, 0, tokens[i+1].last, 2
			} else if at := parted(tokens[i:]); at > 0 {
				t.key, t.class, tokens[i+at].dropped = phrasals[t.key]+"_"+tokens[i+at].key, 0, true
			}
		} else if t.key == "an" {
			t.key, t.class = "a", classOf("a")
		}
		if i += used; kept && !t.dropped {
			out = append(out, t)
		}
		start, framed, wanted = !kept && t.start, !kept, !kept && wants(tokens[i-used:i])
	}
	if len(out) == 0 {
		return tokens[:1], ways
	}
	return out, ways
}

// asker is the length of a question word, an auxiliary and the person who asks, or anybody, such as "where can one": 0 if tokens begin with
// anything else.
func asker(tokens []token) int {
	if len(tokens) < 4 || !tokens[0].is(questioning) || tokens[1].kind != word {
		return 0
	}
	switch tokens[0].key {
	case "how", "where":
		if !tokens[1].is(auxiliary) || tokens[1].key == "could" {
			return 0
		}
	case "what":
		if k := tokens[1].key; k != "do" && k != "does" && k != "should" {
			return 0
		}
	default:
		return 0
	}
	switch n := 2; {
	case tokens[n].key == "you" && tokens[0].key == "how" && generic(tokens[n+1:]):
		return n + 1
	case tokens[n].key == "i" || tokens[n].key == "we" || tokens[n].is(anybody):
		return n + 1
	case (tokens[n].key == "a" || tokens[n].key == "an") && tokens[n+1].is(anybody) && len(tokens) > n+2:
		return n + 2
	}
	return 0
}

// generic reports whether "you" before these tokens is anybody: a task follows, as anybody does it, and no other person.
func generic(tokens []token) bool {
	return crafts[tokens[0].key] != "" && !slices.ContainsFunc(tokens, func(t token) bool { return t.is(personal) && t.key != "it" && t.key != "them" || owning(t) })
}

// crafts are tasks of which "how do you" does not ask how a firm does them.
var crafts = table(`make cook bake boil fry roast grill brew poach peel wash clean dry iron fold knit sew draw paint play write read sharpen build grow plant prune
	water tie wrap reverse sort merge convert declare compile rename resize crop append iterate split spell pronounce`)

var owning = set("my", "your", "our", "mine", "yours", "ours")

// wants reports whether a phrase states what the asker wants to do.
func wants(phrase []token) bool { return len(phrase) > 2 && phrase[len(phrase)-1].key == "to" }

// folding is a phrase and the word that takes its place, "" where it is dropped.
type folding struct {
	words []string
	by    string
	verb  bool // only before a verb that requests something
	head  bool // only where a sentence begins
	way   int  // a number of its own, 0 for courtesy
}

// phraseAt returns the longest phrase that tokens begin with, or nil.
func phraseAt(tokens []token) *folding {
	if !tokens[0].is(framing) {
		return nil
	}
	list := foldings[trait(tokens[0].key)]
	for i := range list {
		if f := &list[i]; f.words[0] == tokens[0].key && begins(tokens, f.words) && f.fits(tokens) {
			return f
		}
	}
	return nil
}

// fits reports whether a phrase is one here: courtesy begins or ends a sentence, and a way of asking has a question behind it.
func (f *folding) fits(tokens []token) bool {
	n := len(f.words)
	if slices.ContainsFunc(tokens[:n], func(t token) bool { return t.quoted || t.kind == code || t.kind == number }) {
		return false
	}
	if f.verb && (n == len(tokens) || !tokens[n].is(explaining|mentioning|requesting)) {
		return false
	}
	first := tokens[0].start || tokens[0].pausing || tokens[0].framed
	switch {
	case f.by == "how":
		return n < len(tokens)
	case f.head:
		return n < len(tokens) && first && !tokens[n].start
	}
	if f.words[n-1] == "know" { // "do you know what I mean" asks for what is known
		return first && n+1 < len(tokens) && tokens[n].is(questioning) && !tokens[n+1].is(personal) && tokens[n+1].key != "to"
	}
	return first || (f.words[n-1] == "me" || f.words[n-1] == "please") && (n == len(tokens) || tokens[n].start)
}

// folds are the lists of phrases.
var folds = [...][traits][][]string{pleasantries, hows, cans, requests, whens, whys, whats, pleas}

// foldings are the phrases by the trait of their first word, the longest first.
var foldings = func() (out [traits][]folding) {
	ways := 1
	for i, list := range folds {
		for _, words := range slices.Concat(list[:]...) {
			f := folding{words: words, by: [...]string{"", "how", "can", "", "when", "why", "what", ""}[i], head: i > 1, verb: i == 7}
			if i > 0 && i != 7 {
				f.way = ways
				ways += 1 + ways/7
				if words[0] == "what" && i == 3 {
					f.way = 1 << 20 // what is, what are
				}
			}
			at := trait(words[0])
			out[at] = append(out[at], f)
		}
	}
	for i := range out {
		slices.SortStableFunc(out[i], func(a, b folding) int { return len(b.words) - len(a.words) })
	}
	return out
}()

var (
	whens = phrases("what time	at what time")
	whys  = phrases("how come")
	whats = phrases("in what	in which")
	pleas = phrases("could you	can you	would you	will you")
)

var cans = phrases(`can i	can we	can one	could i	may i	is it possible to	is it possible for me to	am i able to	am i allowed to	are we allowed to	would it be possible to`)

var hows = phrases(`how to	what is the best way to	what is the best way of	what is the right way to	what is the right way of	what is the correct way to	what is the way to
	what is a good way to	what are the steps to	what are the steps for	what are some ways to	what are ways to	what are the best ways to	what do i have to do to
	what do i need to do to	what should i do to	what can i do to	what must i do to	what must i do in order to	what should i do in order to
	what is the process for	what is the process of	what is the process to	what is the procedure for	what is the procedure to	what is the correct method for
	how would i go about	how does one go about	how do i go about	is there a way to	is there any way to	i do not know how to	show me how to	tell me how to
	explain how to	guide to	steps to	steps for	instructions for	give me instructions for	i would like instructions for	i like instructions for`)

// requests are for what is behind them.
var requests = phrases(`explain	describe	list	give me	give me some	i need	i would like	i like	i want	show me	tell me about	what is	what are	i need to	i want to	i would like to
	i like to	i am trying to`)

var pleasantries = phrases(`please	kindly	hi	hello	hey	hi there	hello there	thanks	thank you	thank you very much	thank you so much	thanks a lot	many thanks
	could you please	can you please	would you please	tell me	please tell me	could you tell me	can you tell me
	could you please tell me	do you know	i would like to know	i like to know	i want to know	i need to know	i was wondering	i wonder	excuse me	for me
	to me	dear sir	does anyone know	can anyone tell me	could somebody explain	could you explain	can you explain	explain to me`)

// phrases splits a list of phrases, separated by tabs or line ends, into words.
func phrases(list string) (out [traits][][]string) {
	for phrase := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '\t' || r == '\n' }) {
		words := strings.Fields(phrase)
		out[trait(words[0])] = append(out[trait(words[0])], words)
	}
	return out
}

func begins(tokens []token, phrase []string) bool {
	if len(tokens) < len(phrase) {
		return false
	}
	for i, w := range phrase {
		if tokens[i].key != w {
			return false
		}
	}
	return true
}
