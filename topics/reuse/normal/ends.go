package normal

import "slices"

// ends are the two ends of a prompt.
type ends struct {
	sentences
	prompt string
	from   int  // where the prompt begins behind its courtesy
	shout  bool // the prompt is in capital letters
	mark   int  // a question mark behind courtesy that has none before it: "on Friday, please?"
	joins  int  // how many more phrases joined by "and" are looked at
}

// withoutCourtesy takes courtesy off at both ends, one phrase after the other, while enough is left. Of a prompt that does something to a
// text it comes off only where it cannot be part of the text.
func withoutCourtesy(ts tokens, prompt string, shout bool) tokens {
	e := ends{sentences: sentences{ts}, prompt: prompt, shout: shout}
	from, to := 0, len(ts)
	for range mostPhrases {
		if e.is(len(ts)-1, works...) { // Oh, what a night lyrics
			break
		}
		next := e.opening(from)
		if next == from || !ts[next:].enough() {
			break
		}
		from = next
	}
	mark := 0
	e.from = from
	for range mostPhrases {
		e.mark, e.joins = 0, mostPhrases
		next := e.closing(to)
		if next == to || next <= from || !ts[from:next].enough() && ts[next-1].class&ending == 0 {
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
		if end >= len(e.tokens) || e.title(i, end) {
			continue
		}
		if !e.boundary(end) && !e.announces(i, end) {
			if e.flows(i, end) {
				return end
			}
			continue
		}
		soft := e.tokens[end].Text == "," || e.tokens[end].Text == ":" || e.prompt[e.tokens[end].From] == '!'
		for e.boundary(end) || e.tokens[end].Text == ":" {
			if end++; end == len(e.tokens) {
				return i
			}
		}
		if e.opens(i, lengths[n], soft, end) {
			return end
		}
	}
	return i
}

// announces reports whether a colon is behind the phrase of tokens [from, to), and the phrase announces a question: Quick question: ...
func (e *ends) announces(from, to int) bool {
	return e.is(to, ":") && (e.is(to-1, "question", "one") || to-from > 1 && slices.ContainsFunc(e.tokens[from:to], func(t Token) bool {
		return t.Text == "question" || t.Text == "help"
	}))
}

// title reports whether tokens [from, to) are written as a title: a word behind the first has a capital. In front of a line break, and behind
// a greeting, people write so, too.
func (e *ends) title(from, to int) bool {
	if e.shout || to >= len(e.tokens) || e.tokens[to].Kind == Break || to+1 < len(e.tokens) && e.tokens[to+1].Kind == Break || e.is(from, "dear") {
		return false
	}
	for j := from + 1; j < to; j++ {
		if e.has(j, upper) && e.tokens[j].Text != "i" {
			return true
		}
	}
	return false
}

// opens reports whether the opening of n words at i, with a mark behind it, may come off before token next: what is left must be a sentence by
// its form. "Hello, Dolly", "Good Morning, Vietnam cast" and "Sorry, not sorry" are names.
func (e *ends) opens(i, n int, soft bool, next int) bool {
	t := &e.tokens[next]
	switch {
	case e.pointed(next):
		return false
	case e.is(i, "so", "well") && n == 1:
		return t.class&(wh|auxiliary|subject|determiner|function) != 0
	case soft && e.about(songs) && e.bare(next) && !e.is(next, "that", "it") && !e.is(next+1, "is"):
		return false
	}
	if more, _ := openingPhrases.longest(e.tokens, next); more > 0 && e.boundary(next+more) {
		return true
	}
	if rest := e.tokens[next:]; !soft || e.is(next, replyWords...) && !rest.about(songs) && rest.words() > 2 {
		return true
	}
	return e.begins(next, soft && !e.is(i, "please", "excuse")) || n == 1 && e.is(i, "ok", "okay", "alright", "hmm", "um", "uh") && t.class&function != 0 || n == 1 && e.is(i, "ok") && e.is(next+1, "then")
}

// works end a prompt that has the name of a song, a film or a book in front of them.
var works = []string{"lyrics", "cast", "chords", "soundtrack", "trailer", "album", "plot", "author", "release"}

// replyWords begin what users reply.
var replyWords = []string{"that", "it", "this", "no", "yes", "not", "just", "on", "in", "for", "the", "from", "until"}

// pointed reports whether the sentence at i may be about the courtesy before or behind it: Is that too formal?
func (ts sentences) pointed(i int) bool {
	start, end := i, ts.sentence(i)
	if ts.is(i, "that", "it") && ts.states(i, end) {
		return false
	}
	for ; i < end; i++ {
		if ts.has(i, manners) || i == start && ts.has(i, auxiliary) && ts.is(i+1, "this", "that", "these", "those") && (i+3 >= end || (ts.tokens[i+2].class|ts.tokens[i+3].class)&(auxiliary|preposition|language|manners|ending) != 0) {
			return true
		}
	}
	return false
}

// bare reports whether the sentence at i has a pronoun for a thing that it does not name.
func (ts sentences) bare(i int) bool {
	for end := ts.sentence(i); i < end; i++ {
		if ts.is(i, "it", "this", "that") {
			return true
		}
	}
	return false
}

// begins reports whether a sentence begins at i: a question by its form, an order, or a statement. Behind a comma or an exclamation mark a
// statement of a user needs a verb of the list: "Hello, I love you" is a song.
func (ts sentences) begins(i int, soft bool) bool {
	end := ts.sentence(i)
	words := ts.tokens[i:end].words()
	switch {
	case ts.tokens[i].Kind != Word:
		return !soft && words > 0 || words > 3
	case ts.question(i, end), ts.orders(i):
		return true
	case ts.is(i, "i", "we"):
		return ts.has(i+1, auxiliary) || ts.is(i+1, wishes...) || !soft && words > 3
	case ts.is(i, replies...):
		return !ts.is(i, "sorry", "thanks", "thank", "hello", "hi", "hey", "good", "not", "you", "very", "much", ",") || words > 3
	case words < 3 || soft && (words < 4 || ts.is(i, "it")):
		return false
	}
	if n, _ := askingPhrases.longest(ts.tokens, i); n > 0 {
		return true
	}
	for j := i; j < end; j++ {
		if ts.has(j, auxiliary|subject) && !ts.has(j, upper) || j > i && ts.has(i, determiner|subject) && ts.acts(j) {
			return true
		}
	}
	return false
}

// wishes are the verbs of what people say of themselves in a request.
var wishes = []string{"want", "need", "prefer", "like", "bought", "ordered", "moved", "forgot", "lost", "paid", "received", "tried", "live", "work", "use", "plan", "see", "got", "think", "cannot", "just", "also", "still", "really",
	"actually", "changed", "guess", "confirm", "wish", "wanted", "needed", "heard", "found", "booked"}

// orders reports whether an order begins at i.
func (ts sentences) orders(i int) bool {
	return (ts.has(i, task|verb) || ts.is(i, imperatives...)) && i+1 < len(ts.tokens) && !ts.has(i+1, auxiliary) && ts.tokens[i+1].Kind != Break &&
		(ts.tokens[i].class&homograph == 0 || ts.has(i+1, determiner|function|numeral) || ts.tokens[i+1].Kind == Number)
}

// flows reports whether the opening of tokens [from, to) without a mark behind it may come off.
func (e *ends) flows(from, to int) bool {
	asks := e.has(to, wh) || e.has(to, modal|do|be) && e.has(to+1, subject)
	switch e.tokens[from].Text {
	case "please", "pls", "plz", "kindly":
		return to == from+1 && e.tokens[to].Kind == Word && !e.has(to, upper) && (asks || e.orders(to) || !e.has(to, determiner|function))
	case "hi", "hello", "hey", "good", "excuse":
		return asks || e.is(to, "please") || e.is(to, "i", "we") && (e.has(to+1, auxiliary) || e.is(to+1, "want", "need")) || e.is(to, "my")
	case "sorry", "thanks":
		return asks || e.is(to, "please")
	}
	return false
}

// closing returns where the closing phrase that ends before end begins, or end. Several may be joined by "and".
func (e *ends) closing(end int) int {
	last := end
	for last > 0 && e.boundary(last-1) {
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
		case at <= e.from || e.title(at, last) || e.has(at, caps) && !e.shout:
		case e.boundary(at - 1):
			if !e.closes(at, last) {
				return end
			}
			if asked && e.tokens[at-1].class&ending == 0 && !e.has(at, modal) {
				e.mark = last
			}
			return at
		default:
			if next := e.chain(at - 1); next < at-1 {
				return next
			}
			if lengths[n] == 1 && e.trails(at) || e.thanksBehind(at) {
				if asked {
					e.mark = last
				}
				return at
			}
		}
	}
	return end
}

// chain returns where the closings before an "and" at i begin, or i.
func (e *ends) chain(i int) int {
	if e.joins == 0 || !e.is(i, "and") {
		return i
	}
	e.joins--
	return e.closing(i)
}

// trails reports whether "please" at i, without a mark before it, may come off: it is behind an order, or a request.
func (e *ends) trails(i int) bool {
	before := &e.tokens[i-1]
	if !e.is(i, "please", "pls", "plz") || before.Kind == Mark || before.class&(preposition|determiner|auxiliary|wh|subject|joined) != 0 || e.mentions() {
		return false
	}
	from := e.last(i)
	if e.is(from, "yes", "ok", "actually") {
		from++
	}
	if e.is(from, "i", "we") && (e.is(from+1, "want", "need") || e.is(from+1, "would") && e.is(from+2, "like", "love")) || e.is(from, "yes", "no", "that", "it") && i-from > 1 {
		return true
	}
	return e.orders(from) && !e.sends(from, i) || e.is(from, "can", "could", "would", "will") && e.is(from+1, "you", "someone", "somebody", "anyone", "anybody", "i", "we")
}

// thanksBehind reports whether thanks at i, or "please" behind what is no question, may come off without a mark before it, as people write:
// "I need a doctor Thank you". Behind words about words it may be meant.
func (e *ends) thanksBehind(i int) bool {
	n, _ := gratitude.longest(e.tokens, i)
	if e.is(i, "kind", "best", "warm") && e.is(i+1, "regards") {
		n = 2
	}
	from := e.last(i)
	before := &e.tokens[i-1]
	switch {
	case i-from < 2 || before.Kind == Mark || before.Kind == Break || before.class&(preposition|determiner|auxiliary|wh|subject|joined|upper|verb|task) != 0 || e.sends(e.from, i) || e.mentions():
		return false
	case n > 1 || n == 1 && e.is(i, "thanks"):
		return e.begins(from, false) || e.is(from, "the", "from", "in", "on", "yes", "no")
	}
	return e.is(i, "please") && (!e.has(from, wh|auxiliary) || e.has(i, upper)) && e.begins(from, false)
}

// last returns where the sentence before token i begins.
func (e *ends) last(i int) int {
	for i--; i > e.from && !(e.tokens[i-1].class&ending != 0 || e.tokens[i-1].Kind == Break); i-- {
	}
	return i
}

// closes reports whether the closing of tokens [from, to) behind a mark is beside what the prompt is about. What is before must be a sentence by
// its form, and none that orders something to be written. Behind a comma, no more than please and thanks come off, and not behind words
// about words: "who sings Please, Please", "text my mother that I am late, thanks".
func (e *ends) closes(from, to int) bool {
	end := from
	hard := false
	for end > e.from && e.boundary(end-1) {
		end--
		hard = hard || e.tokens[end].class&ending != 0 || e.tokens[end].Kind == Break
	}
	if end <= e.from {
		return false
	}
	start := e.last(end)
	part := e.tokens[e.from:end]
	if e.sends(e.from, end) || start == e.from && e.pointed(start) || part.about(manners) || !labelled(part) {
		return false
	}
	if !hard {
		if e.has(from, upper) || !e.is(from, light...) {
			return false
		}
		quoted := slices.ContainsFunc(part, func(t Token) bool { return t.Quoted }) // what is worded is quoted
		near := e.has(end-1, courteous|preposition) || e.is(end-1, "oh", "yes", "baby")
		return quoted || !near && (to-from == 1 && !e.is(from, "thanks") || e.is(from, "if") || !part.about(songs|wordings|letters|uses))
	}
	if e.is(from, "ty", "tia") && (e.tokens[end].Text != "?" || e.has(from, upper)) {
		return false
	}
	return true
}

// light are the first words of what comes off behind a comma.
var light = []string{"please", "pls", "plz", "thanks", "thank", "thx", "thanx", "many", "if"}

// labelled reports whether each colon is behind a label for a question.
func labelled(ts tokens) bool {
	for i := range ts {
		if ts[i].Kind == Mark && ts[i].Text == ":" && !ts.is(i-1, "question", "query") {
			return false
		}
	}
	return true
}

// sends reports whether a sentence of tokens [from, to) orders something to be written or said, to others: the courtesy may be part of it.
func (e *ends) sends(from, to int) bool {
	for i := from; i < to; i++ {
		if (i == from || e.tokens[i].First || e.is(i-1, "please", "you", "to", "and")) && e.is(i, sendings...) && !(e.is(i, "tell", "send", "answer") && e.is(i+1, "me", "us")) {
			return true
		}
	}
	return false
}

// sendings are verbs for what is written or said.
var sendings = []string{"tell", "send", "post", "write", "say", "reply", "respond", "answer", "text", "email", "draft", "announce", "inform", "remind", "greet", "compose",
	"type", "publish", "tweet", "message", "note", "sign", "act", "speak", "talk", "repeat", "pretend", "invite", "notify"}

// acts reports whether the word at i is a verb of the third person.
func (ts sentences) acts(i int) bool {
	_, ok := third(ts.tokens[i].Text)
	return ok
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
