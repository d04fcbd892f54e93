package normal

// howFrames ask for the steps of a task. A verb for a task must follow: "how do I feel" is no "how can I feel".
const howFrames = `
how (do|can) (i|one)
how to
how (do|would|can|could) i go about
what is [the|a] way to
what (can|should|must) i do [in order] to
what do i (need|have) to do [in order] to
`

// bestFrames ask for one way of several, and stepFrames for all of one way. Both are HOW beside a question that leaves that open.
const (
	bestFrames = `
what is the (best|right|proper|correct|good) way to
what is (the best|a good) way for me to
what is a good way to
what are [the|some] [best|good] ways to
`
	stepFrames = `
what are the steps to
what steps do i need to take to
`
)

// otherFrames are questions that have one form for several ways to put them. Only the words named belong to the frame; all behind it must
// be the same.
var otherFrames = []struct{ name, list string }{
	{"DIFF", `what is the [main|basic|major|key] difference between
		what are the [main|basic|major|key] differences between`},
	{"LONG", `how long does it take to
		how much time does it take to`},
	{"COST", `how much does it cost to
		what does it cost to`},
	{"IF", `what (happens|will happen) if`},
}

var framePhrases = func() *phrases {
	all := forwards(howFrames)
	all.addAll(bestFrames, "BEST", false)
	all.addAll(stepFrames, "STEPS", false)
	for _, f := range otherFrames {
		all.addAll(f.list, f.name, false)
	}
	return all
}()

// frames replaces the frames at the beginning of sentences, and behind a mark, by one token each.
func (a *asker) frames() {
	for i, left := 0, mostPhrases; i < len(a.tokens) && left > 0; i++ {
		if t := &a.tokens[i]; t.Kind != Word || t.class&wh == 0 || t.Quoted || !t.First && !a.opens(i) {
			continue
		}
		left--
		switch n, name := framePhrases.longest(a.tokens, i); {
		case n == 0 || a.written(i, n):
		case name == "":
			a.how(i, n, "HOW")
		case name == "BEST" || name == "STEPS":
			a.how(i, n, name)
		case i+n < len(a.tokens):
			a.frame(i, n, name)
		}
	}
}

// written reports whether one of n tokens behind i has a capital that counts: How to Train Your Dragon.
func (ts tokens) written(i, n int) bool {
	for j := i + 1; j <= i+n && j < len(ts); j++ {
		if ts[j].small != "" && ts[j].class&(place|product) == 0 {
			return true
		}
	}
	return false
}

// how replaces a frame of n tokens at i by HOW, if a verb for a task follows: "how do I feel" is no "how can I feel".
func (a *asker) how(i, n int, name string) {
	at := i + n
	if at >= len(a.tokens) || a.tokens[at].Kind != Word {
		return
	}
	if a.is(at-1, "about") {
		base, ok := gerund(a.tokens[at].Text)
		if !ok {
			return
		}
		a.tokens[at].Text, a.tokens[at].class = base, entryOf(base).class
	}
	if a.tokens[at].class&task == 0 || at+1 >= len(a.tokens) || a.boundary(at+1) || a.is(at+1, "about", "up", "to") {
		return // how do I serve is no how can I serve
	}
	for j := at; j < a.sentence(at); j++ {
		if a.is(i+1, "can") && a.is(j, "without", "twice") {
			return // that it can be done is not said
		}
	}
	a.frame(i, n, name)
	a.tokens[i].small = "HOW"
}

// frame replaces n tokens at i by a frame.
func (a *asker) frame(i, n int, name string) {
	f := Token{Text: name, Kind: Frame, First: a.tokens[i].First, Capital: a.tokens[i].Capital, From: a.tokens[i].From, To: a.tokens[i+n-1].To}
	a.remove(i+1, i+n)
	a.tokens[i] = f
}
