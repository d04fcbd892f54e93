package normal

import "slices"

// Courtesy is whole phrases of the lists below, at the very ends of a prompt, each with a mark or line break between it and the rest. Any
// other word beside them stays: what is taken off here could otherwise carry an order that plants an answer.

// openings come off at the start. (a|b) is a choice, [a] may be missing.
const openings = `
(hi|hello|hey) [there|all|everyone|everybody|team|folks|guys|again|support]
(hi|hello|hey|good morning|good afternoon|good evening) (and|,) (thanks|thank you) [for (your|the) help]
good (morning|afternoon|evening|day) [there|all|everyone|everybody|team]
greetings
dear (team|support|support team|sir|madam|sir or madam|sir / madam|all)
[hi|hello|hey] how are you [doing] [today]
[i] hope (you are|you are all|all is|everything is) [doing] (well|fine|good|great) [today]
[i] hope this [message|email] finds you well
[i] hope you are having a (good|nice|great|lovely) (day|morning|afternoon|evening|week)
[i] hope you can help [me] [with this]
[many] thanks [a lot|so much|again|in advance|for (your|the) help]
thanks for [all] (your|the) [quick|great] (help|support|reply|answer|assistance|time) [so far|yesterday|in advance|again]
thank you [very much|so much|again|in advance|for (your|the) (help|time|reply|answer|support|assistance)]
thank you for [all] (your|the) [quick|great] (help|support|reply|answer|assistance|time) [so far|yesterday|in advance|again]
thank you for taking the time
first of all , (thanks|thank you) [for your [great] (help|support)]
first of all (thanks|thank you) [for your [great] (help|support)]
(sorry|apologies) [again]
sorry to (bother|trouble|disturb) you [again] [with this] [but]
sorry for (the|my) (silly|stupid|basic|simple|dumb|newbie|beginner) question [but]
sorry for (the trouble|bothering you|disturbing you|the bother) [but]
sorry if this is a (silly|stupid|basic|simple|dumb|newbie|beginner) question [but]
sorry but
(excuse|pardon) me [but]
excuse me , but
sorry to bother you , but
sorry for (the|my) (silly|stupid|basic|simple|dumb) question , but
sorry if this is a (silly|stupid|basic|simple|dumb) question , but
if you do not mind [me asking|my asking]
if i may ask
please
kindly
please [can|could you] help [me] [out] [with this]
(can|could|would) you [please|kindly] help [me] [out] [with (this|something|a question)] [please]
(can|could) (someone|somebody|anyone|anybody) [please] help [me] [out] [with this]
can i ask [you] (a question|something)
may i ask [you] (a question|something)
help [me] [please]
please help [me] [out]
i need [your|some|a little|a bit of] help [please] [with (this|something)]
need [some] help
[just] [a|one|my|another] (quick|short|simple|small|brief|silly|stupid|basic|little) (question|one) [for you]
(question|my question|one question|just a question|just one question|a question)
i [just] have [got] (a|one|another) [quick|short|simple|small|brief|silly|stupid|basic] question [for you|about this]
i have [got] (a|one) [quick|short|simple|small] question , please
here is my question
my question is this
(tell me|please tell me|tell me please|tell me , please)
i would like to (know|ask)
i was [just] wondering
i am [just] (wondering|curious)
[just] (wondering|curious)
out of curiosity
(so|ok|okay|well|alright|all right|now then|hmm|um|uh|oh)
(ok|okay|alright|great|perfect|good|cool|nice|awesome) (thanks|thank you)
by the way
`

// closings come off at the end.
const closings = `
please
[ok|okay|great|perfect] (thanks|thank you)
[many] thanks [a lot|so much|a million|a bunch|a ton|again|in advance|very much]
[many] thanks (in advance|again|so much) for your (help|time|support)
[many] thanks for [all] (your|the|any) [kind|great] (help|time|patience|support|assistance|reply|answer|advice) [in advance]
thank you [kindly|very much|so much|so very much|a lot|again|in advance|ever so much]
thank you (in advance|very much|so much|again) for (your|the|any) (help|time|support|assistance)
thank you for [all] (your|the|any) [kind|great] (help|time|patience|support|assistance|reply|answer|advice) [in advance]
please and thank you
ty
tia
cheers [mate|all]
[very] much appreciated
[i] [really|greatly] appreciate (it|that|this|your help|any help|your time|your assistance|your support|the help) [very much|a lot|so much]
i would [really|greatly] appreciate (it|that|your help|any help)
i would be [very|really|so] grateful
i would be [very] grateful for (your|any|an) (help|answer|reply|advice)
[i am] grateful for (any|your) (help|advice|hints)
(any|your|some|all) (help|advice|hints|pointers|ideas|suggestions) [is|are|would be|will be] [very|much|greatly|really|highly] appreciated
help (is|would be|will be) [very|much|greatly|really|highly] appreciated
please [kindly] (help|advise|assist) [me] [out] [with this] [thanks]
[please] let me know [please]
(can|could|would) you [please] help [me] [out] [with (this|that)] [please]
i hope you can help [me] [with this]
hope you can help [me]
[best|kind|warm|kindest|warmest|many|with best|with kind] regards
[all the] best wishes
yours (sincerely|faithfully|truly)
sincerely
have a (nice|good|great|lovely|wonderful|pleasant) (day|evening|weekend|week|morning|afternoon|one) [ahead]
[i am|i] (looking|look) forward to (your|a) [quick] (reply|answer|response)
[i am|i] (looking|look) forward to hearing from you [soon]
sorry for (the|any) (trouble|inconvenience|bother)
sorry for (the|my) (silly|stupid|basic|simple|dumb|newbie|beginner) question
sorry to (bother|trouble|disturb) you [again|with this]
sorry for (bothering|disturbing) you
sorry if this is a (silly|stupid|basic|simple|dumb) question
if you do not mind
if you would not mind
bye
`

// thankfulness is all that some prompts of a conversation consist of.
const thankfulness = `
(thanks|many thanks) [a lot|so much|a million|a bunch|a ton|again|in advance|very much]
(thanks|many thanks|thank you) [so much|very much|again] for [all] (your|the) [kind|great] (help|assistance|support|time)
thank you [kindly|very much|so much|so very much|a lot|again|in advance]
much appreciated
`

var (
	openingPhrases = forwards(openings)
	closingPhrases = backwards(closings)
	allClosings    = forwards(closings)
	gratitude      = forwards(thankfulness)
	loosePhrases   = backwards("please\nthanks\nthank you\nmany thanks\nthanks a lot\nthanks in advance\nthank you very much")
)

// boundary reports whether token i separates courtesy from the rest.
func (ts tokens) boundary(i int) bool {
	if i < 0 || i >= len(ts) {
		return false
	}
	t := &ts[i]
	return t.Kind == Break || t.Kind == Mark && (t.class&(ending|dash) != 0 || t.Text == "," || t.Text == ":" || t.Text == ";")
}

// mostPhrases is how many phrases of one kind are taken off or replaced. More are no question, and each costs a look at all of the prompt.
const mostPhrases = 16

// ends are the two ends of a prompt.
type ends struct {
	tokens
	prompt string
	from   int // where the prompt begins behind its courtesy
	mark   int // a question mark behind courtesy that has none before it: "on Friday, please?"
}

// withoutCourtesy takes courtesy off at both ends, one phrase after the other, while enough is left. Of a prompt that does something to a
// text it comes off only where it cannot be part of the text.
func withoutCourtesy(ts tokens, prompt string) tokens {
	e := ends{tokens: ts, prompt: prompt}
	from, to := 0, len(ts)
	for range mostPhrases {
		next := e.opening(from)
		if next == from || !ts[next:].enough() {
			break
		}
		from = next
	}
	mark := 0
	e.from = from
	for range mostPhrases {
		e.mark = 0
		next := e.closing(to)
		if next == to || next <= from || !ts[from:next].enough() {
			break
		}
		to, mark = next, e.mark
	}
	for from < to && to < len(ts) && ts.boundary(to-1) && ts[to-1].class&ending == 0 {
		to--
	}
	if e.thanks() {
		all := Token{Text: "THANKS", Kind: Frame, First: true, Capital: ts[0].Capital, From: ts[0].From, To: ts[len(ts)-1].To}
		return append(ts[:0], all)
	}
	if from == 0 && to == len(ts) || !e.mayCut(from, to) {
		return ts
	}
	if mark > to {
		ts[to] = ts[mark]
		to++
	}
	ts = ts[from:to]
	ts[0].First = true
	return ts
}

// thanks reports whether the whole prompt is courtesy, thanks among it, and no "how are you doing".
func (e *ends) thanks() bool {
	if len(e.tokens) > 8*mostPhrases {
		return false
	}
	thanked := false
	for i := 0; i < len(e.tokens); {
		n, _ := gratitude.longest(e.tokens, i)
		thanked = thanked || n > 0
		for _, list := range [...]*phrases{openingPhrases, allClosings} {
			other, _ := list.longest(e.tokens, i)
			n = max(n, other)
		}
		if n == 0 && e.boundary(i) && e.tokens[i].Text != ":" {
			n = 1
		}
		if n == 0 || e.tokens[i].class&wh != 0 {
			return false
		}
		i += n
	}
	return thanked
}

// enough reports whether a question may be left: two words, or one of those that answer.
func (ts tokens) enough() bool {
	n := ts.words()
	return n > 1 || n == 1 && ts.is(0, "yes", "no", "yep", "nope", "yeah", "ok", "sure", "correct", "right", "great", "perfect", "good", "fine")
}

// opening returns where the opening phrase at i ends, with the mark behind it, or i.
func (e *ends) opening(i int) int {
	if i >= len(e.tokens) || e.tokens[i].Kind != Word {
		return i
	}
	lengths, n := openingPhrases.lengths(e.tokens, i, 1)
	for n--; n >= 0; n-- {
		end := i + lengths[n]
		if end >= len(e.tokens) {
			continue
		}
		if !e.boundary(end) {
			if e.flows(i, end) {
				return end
			}
			continue
		}
		mark := e.tokens[end].Text
		for e.boundary(end) {
			end++
		}
		if end < len(e.tokens) && e.opensWith(i, lengths[n], mark, end) {
			return end
		}
	}
	return i
}

// opensWith reports whether the opening of n words at i, with a mark behind it, may come off before token next. "Hello, Dolly", "Help! lyrics"
// and "Sorry, not sorry" are names: behind one word with a comma or exclamation mark a word must follow that begins sentences.
func (e *ends) opensWith(i, n int, mark string, next int) bool {
	t := &e.tokens[next]
	begins := t.class&(wh|auxiliary|subject|determiner) != 0
	switch soft := mark == "," || e.prompt[e.tokens[i+n].From] == '!'; {
	case e.is(i, "ok", "oh", "alright", "hmm", "um", "uh"):
		return true
	case e.is(i, "so", "well") && n == 1:
		return begins || t.class&function != 0
	case soft && e.about(songs):
		return begins || t.class&(task|verb) != 0
	case soft && n <= 2 && e.is(i, "thank", "thanks", "please", "sorry") && t.class&upper != 0 && t.class&(function|task|verb|wh|preposition|numeral|courteous) == 0 && !e.acts(next):
		return false // Thank you, Jeeves
	case soft && n == 1 && !e.is(i, "hi", "hello", "hey", "help"):
		return true
	case soft && n == 1:
		return e.tokens[next:].words() > 3 && !e.named(next) || e.acts(next) || t.class&(wh|function|task|verb|preposition|title|abbreviation|numeral) != 0
	case mark == ",":
		return !e.named(next)
	}
	return true
}

// named reports whether a name may be at i: a word with a capital, and behind it no word in small letters.
func (ts tokens) named(i int) bool {
	return ts[i].class&upper != 0 && ts[i].class&(function|task|wh) == 0 &&
		(i+1 >= len(ts) || ts[i+1].Kind != Word || ts[i+1].class&(upper|joined) != 0)
}

// acts reports whether the word at i is a verb of the third person.
func (e *ends) acts(i int) bool {
	_, ok := third(e.tokens[i].Text)
	return ok
}

// flows reports whether the opening of tokens [from, to) without a mark behind it may come off.
func (e *ends) flows(from, to int) bool {
	switch e.tokens[from].Text {
	case "please", "kindly":
		return to == from+1 && e.tokens[to].Kind == Word && !e.has(to, determiner) &&
			!e.is(to, "me", "him", "them", "us", "everyone", "and", "or", "is", "was")
	case "hi", "hello", "hey", "good", "excuse", "sorry", "thanks":
		return e.has(to, wh) || e.has(to, modal|do|be) && e.has(to+1, subject) || e.is(to, "i", "please", "we", "my")
	}
	return false
}

// closing returns where the closing phrase that ends before end begins, or end. Several may be joined by "and".
func (e *ends) closing(end int) int {
	last := end
	for last > 0 && e.boundary(last-1) && e.tokens[last-1].Text != ":" {
		last--
	}
	asked := last < end && e.tokens[last].Text == "?"
	if last == 0 || e.tokens[last-1].Kind != Word ||
		asked && !e.is(last-1, "please", "me", "thanks", "help", "this", "that", "mind", "you") {
		return end
	}
	lengths, n := closingPhrases.lengths(e.tokens, last-1, -1)
	for n--; n >= 0; n-- {
		at := last - lengths[n]
		switch {
		case at <= 0:
		case e.boundary(at-1) && e.tokens[at-1].Text != ":":
			if !e.closes(at, last) {
				return end
			}
			if asked && e.tokens[at-1].class&ending == 0 && !e.has(at, modal) {
				e.mark = last
			}
			return at
		case e.is(at-1, "and") && e.closing(at-1) < at-1:
			return e.closing(at - 1)
		case e.trails(at, last):
			if asked {
				e.mark = last
			}
			return at
		}
	}
	return end
}

// trails reports whether the closing of tokens [from, to) without a mark before it may come off: after a word of its own, or with a capital
// as if it began a sentence.
func (e *ends) trails(from, to int) bool {
	before := &e.tokens[from-1]
	if before.Kind == Mark || before.class&(preposition|determiner|auxiliary|wh) != 0 || e.mentions() {
		return false
	}
	if to-from > 1 && e.has(from, upper) && !e.has(from+1, upper) {
		return true
	}
	lengths, n := loosePhrases.lengths(e.tokens, to-1, -1)
	return n > 0 && lengths[n-1] == to-from && before.Kind == Word && before.class&(function|subject) == 0
}

// closes reports whether the closing of tokens [from, to) behind a mark is beside what the prompt is about: "who sings Please, Please",
// "text my mother that I am late, thanks".
func (e *ends) closes(from, to int) bool {
	part := e.tokens[e.from:from]
	if last := len(part) - 1; last > 0 && part[last].class&ending != 0 {
		return !part.about(wordings) || !slices.ContainsFunc(part, func(t Token) bool { return t.Text == ":" })
	}
	if slices.ContainsFunc(part, func(t Token) bool { return t.Quoted }) {
		return true // what is worded is quoted
	}
	if part.about(songs) && (e.has(from, upper) || e.has(from-2, courteous) || e.is(from-2, "oh", "yes", "baby")) {
		return false
	}
	return to-from == 1 && e.is(from, "please") || !part.about(wordings|letters)
}

// about reports whether the prompt has a word of one of the classes.
func (ts tokens) about(c class) bool {
	for i := range ts {
		if ts[i].class&c != 0 && !ts[i].Quoted {
			return true
		}
	}
	return false
}

// mentions reports whether the prompt is about words, so that courtesy without a mark may be among them.
func (ts tokens) mentions() bool {
	return ts.about(dataCue | dataVerb | songs | wordings | letters | uses)
}
