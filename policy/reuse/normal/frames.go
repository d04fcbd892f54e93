package normal

// howFrames ask for the steps of a task. A verb for a task must follow: "how do I feel" is no "how can I feel".
const howFrames = `
how (do|can|could|would|might) (i|one)
how does one
how to
how am i able to
how (do|would|can|could) i go about
what is the [best|right|proper|correct|good] way to
what is (the best|a good) way for me to
what is the (procedure|process) to
what is a good way to
what are [the|some] [best|good] ways to
what are the steps to
what steps do i need to take to
what (can|should|must) i do [in order] to
what do i (need|have) to do [in order] to
`

// otherFrames are questions that have one form for several ways to put them. Only the words named belong to the frame; all behind it must
// be the same.
var otherFrames = []struct{ name, list string }{
	{"DIFF", `what is the [main|basic|major|key] difference between
		what are the [main|basic|major|key] differences between`},
	{"FEEL", `what is it like to
		what does it feel like to
		how does it feel to`},
	{"LONG", `how long does it take to
		how much time does it take to`},
	{"COST", `how much does it cost to
		what does it cost to`},
	{"IF", `what (happens|would happen|will happen) if`},
	{"MEAN", `what is the (meaning|definition) of
		what is meant by`},
}

var framePhrases = func() *phrases {
	all := forwards(howFrames)
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
		case n == 0:
			a.means(i)
		case name == "":
			a.how(i, n)
		case i+n < len(a.tokens):
			a.frame(i, n, name)
		}
	}
}

// how replaces a frame of n tokens at i by HOW, if a verb for a task follows.
func (a *asker) how(i, n int) {
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
	w := a.tokens[at].Text
	object := a.has(at+1, determiner) && !contains(states, w) && a.tokens[at].class&(function|preposition) == 0
	if a.tokens[at].class&task == 0 && !object || a.is(at+1, "about") {
		return
	}
	a.frame(i, n, "HOW")
}

// states are verbs of which "how do I" asks for what is so, and "how can I" for a way.
const states = ` feel think know believe love like hate need want have be see hear understand trust deserve look mean seem appear sound smell taste
 own owe matter differ resemble remember forget relate belong depend `

// frame replaces n tokens at i by a frame.
func (a *asker) frame(i, n int, name string) {
	f := Token{Text: name, Kind: Frame, First: a.tokens[i].First, Capital: a.tokens[i].Capital, From: a.tokens[i].From, To: a.tokens[i+n-1].To}
	a.remove(i+1, i+n)
	a.tokens[i] = f
}

// means replaces "what does X mean", X of at most four words, by the frame and X.
func (a *asker) means(i int) {
	if !a.is(i, "what") || !a.is(i+1, "does") {
		return
	}
	end := a.sentence(i)
	if end-i < 4 || end-i > 7 || !a.is(end-1, "mean") || a.has(i+2, subject|determiner) {
		return
	}
	a.remove(end-1, end)
	a.frame(i, 2, "MEAN")
}
