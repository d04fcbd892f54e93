package normal

// askingFrames come before an indirect question: how to, what the X is, if you are. What is asked is the question behind them.
const askingFrames = `
(can|could|would|will) you [please|kindly] (tell|show) me [please]
(can|could|would|will) you [please|kindly] explain [to me]
(can|could|would) you [please|kindly] let me know
please (can|could|would) you (tell me|explain)
(can|could) (someone|somebody|anyone|anybody) [please|kindly] (tell|show) me
(can|could) (someone|somebody|anyone|anybody) [please] explain [to me]
(would you be|are you) able to (tell me|explain)
is it possible to tell me
would you mind (telling|showing) me
would you mind explaining [to me]
would you be so kind as to tell me
i would (appreciate it|be grateful) if you could (tell me|explain)
do you [happen to|by any chance] know
would you [happen to] know
does (anyone|anybody|someone|somebody) [here] know
[anyone|anybody] know
do you have any (idea|clue)
have you got any (idea|clue)
any (idea|ideas|clue)
i would [really] (like|love) to (know|find out|understand)
i [just] (want|wanted) to (know|ask)
i [just] need to (know|find out)
i would like to ask
i am trying to (find out|understand)
i (was|am) [just] wondering
i (wonder|wondered)
i am [just] curious [to know]
(my|the) question is
[please|kindly] (tell me|explain) [please]
[please|kindly] explain to me
tell me , please ,
[please] let me know
it would be (nice|great|good|helpful) to know
it would help [me] to know
is there (anyone|anybody|someone) who can tell me
is there any chance you could tell me
i am not sure
i do not know
i have no idea
`

// requests come before an order to the reader.
const requests = `
(can|could|would|will) you (please|kindly)
please (can|could|would) you
[please] be so kind as to
would you be so kind as to
i would (appreciate it|be grateful) if you could
would you mind
`

// confessions need a question behind them: "I don't know how to. Can you tell me?"
const confessions = `
(can|could) you [please] (tell me|help me|explain it|explain|tell)
do you [happen to] know
any ideas
any idea
`

var (
	askingPhrases     = forwards(askingFrames)
	requestPhrases    = forwards(requests)
	confessionPhrases = backwards(confessions)
)

// asker takes apart how something is asked for.
type asker struct{ tokens }

// asking takes asking frames off at the beginning of every sentence and turns what they asked into a question.
func (a *asker) asking() {
	for i, n := 0, 0; i < len(a.tokens) && n < mostPhrases; i++ {
		t := &a.tokens[i]
		if t.Kind != Word || t.Quoted || !t.First {
			continue
		}
		if words, _ := askingPhrases.longest(a.tokens, i); words > 0 && a.written(i, words) {
			continue
		} else if words > 0 {
			a.unframe(i, words)
			n++
		} else if words, _ := requestPhrases.longest(a.tokens, i); words > 0 {
			a.order(i, words)
			n++
		}
	}
}

// unframe takes off an asking frame of n tokens at i, if a question is behind it.
func (a *asker) unframe(i, n int) {
	at := i + n
	ts := a.tokens
	if ts.is(at, ",") && ts.is(i, "i", "tell", "please", "just") {
		at++
	}
	end := ts.sentence(at)
	if at >= end || !ts.has(at, wh) && !ts.is(at, "if", "whether") {
		return
	}
	if !ts.wantsAnswer(i, at) {
		return
	}
	if ts.is(at-1, "sure") || ts.is(i, "i") && ts.is(at-1, "know") && ts.is(at-2, "not") || ts.is(at-2, "no") && ts.is(at-1, "idea") {
		if !a.confessed(end) {
			return
		}
		end = min(end, len(a.tokens))
	}
	if end-at == 1 && end-i >= len(a.tokens)-1 {
		return
	}
	a.remove(i, at)
	a.tokens[i].First = true
	a.invert(i)
}

// wantsAnswer reports whether the asking frame of tokens [i, at) wants the answer to what follows. "Tell me when it is ready" is an order to
// notify, "would you tell me if I was wrong" asks about the reader, and "does anyone know who did it" about what is known.
func (ts tokens) wantsAnswer(i, at int) bool {
	asked := ts.is(at-1, "me", "know") || ts.is(at-1, "please")
	order := asked && ts.is(i, "tell", "let", "please", "kindly")
	own := ts.is(at+1, "i") && ts.has(at+2, modal|do)
	switch {
	case !impersonal(ts, i, at):
		return false
	case ts.is(i, "would") && ts.is(i+2, "know") && ts.is(at, "when", "if"):
		return false // whether one can see it
	case ts.is(at-2, "me") && ts.is(at-1, "know") && (ts.is(at, "when", "if") || ts.is(at+1, "it", "things", "that")):
		return false // an order to send a message
	case ts.is(at, "who") && (ts.is(i, "does", "anyone", "anybody") || ts.has(at+1, subject)):
		return false
	case ts.is(at, "if") && asked:
		past := false
		for j := at; j < ts.sentence(at); j++ {
			past = past || ts.is(j, "was", "were", "did", "had", "would", "could")
		}
		return !past && (own || !order && (!ts.is(i, "would", "will") || ts.is(i+2, "be", "mind")))
	case ts.is(at, "when") && asked:
		return own || !order && !(ts.has(at+1, subject) && !ts.has(at+2, auxiliary))
	}
	return true
}

// impersonal reports whether the question at, behind an asking frame at i, is about the world: "do you know what I mean", "any idea what you have
// done" and "I need to find out who my father is" want something else than an answer.
func impersonal(ts tokens, i, at int) bool {
	switch {
	case ts.is(at, "how") && ts.is(at+1, "i") && ts.is(at+2, "can", "could"):
		return true
	case ts.is(at, "how") && ts.is(at+1, "to"):
		return !ts.is(i, "do", "does", "have") || i == 0 && ts.has(at+2, task) // I love games. Do you know how to play chess?
	case ts.is(i, "i") && (ts.is(at-1, "out") || ts.is(i+1, "want")):
		return !(ts.is(at, "who") && (ts.is(at+1, "i", "you", "my", "your") || ts.is(at+2, "my", "your", "i", "you")))
	case ts.is(i, "does") && !ts.is(at, "which") && !ts.has(at+1, determiner|subject|preposition) && !(ts.is(at, "what") && ts.has(at+2, determiner)):
		return false // does anyone know how consciousness works
	case ts.is(i, "do", "does", "any", "anyone", "anybody", "have", "would") && !ts.is(i+1, "you", "be") || ts.is(i, "do", "have"):
		for j := at + 1; j < at+4; j++ {
			if ts.is(j, "i", "you", "your", "we") || ts.is(j, "my") && !ts.is(i, "any") {
				return false
			}
		}
	}
	return true
}

// confessed reports whether a question such as "Can you tell me?" is behind the sentence that ends at end, and takes it off.
func (a *asker) confessed(end int) bool {
	last := len(a.tokens)
	for last > end && a.boundary(last-1) {
		last--
	}
	start := end
	for start < last && a.tokens[start].Kind == Mark {
		start++
	}
	if last == end { // in the same sentence: I'm not sure who it is, do you know?
		for start = end; start > 0 && a.tokens[start-1].Text != ","; {
			start--
		}
		last = end
	}
	lengths, n := confessionPhrases.lengths(a.tokens, last-1, -1)
	if start <= 0 || start >= last || n == 0 || lengths[n-1] != last-start {
		return false
	}
	cut := start
	for cut > 0 && a.tokens[cut-1].Kind == Mark {
		cut--
	}
	a.tokens = a.tokens[:cut]
	return true
}

// sentence returns where the sentence of token i ends: at its last mark, a line break, or the end.
func (ts tokens) sentence(i int) int {
	for i < len(ts) && ts[i].Kind != Break && !(ts[i].Kind == Mark && ts[i].class&ending != 0) {
		i++
	}
	return i
}

// order takes off a request of n tokens at i, if an order is behind it.
func (a *asker) order(i, n int) {
	at := i + n
	if at >= len(a.tokens) || a.tokens[at].Kind != Word || a.has(at, determiner|auxiliary|subject|wh|preposition) {
		return
	}
	verb := &a.tokens[at]
	if a.is(at-1, "mind") {
		base, ok := gerund(verb.Text)
		if !ok {
			return
		}
		verb.Text = base
	}
	if end := a.sentence(at); end < len(a.tokens) && a.tokens[end].Text == "?" {
		a.tokens[end].Text = "."
	}
	a.remove(i, at)
	a.tokens[i].First = true
}

// gerund returns the verb that a word ending in -ing is made of.
func gerund(word string) (base string, ok bool) {
	if len(word) < 5 || word[len(word)-3:] != "ing" {
		return "", false
	}
	stem := word[:len(word)-3]
	if verbal(stem) {
		return stem, true
	}
	if verbal(stem + "e") {
		return stem + "e", true
	}
	if n := len(stem); n > 3 && stem[n-1] == stem[n-2] && verbal(stem[:n-1]) {
		return stem[:n-1], true
	}
	return "", false
}

// third returns the verb that a word of the third person is made of.
func third(word string) (base string, ok bool) {
	n := len(word)
	switch {
	case n < 4 || word[n-1] != 's' || word[n-2] == 's':
		return "", false
	case verbal(word[:n-1]):
		return word[:n-1], true
	case word[n-2] == 'e' && verbal(word[:n-2]):
		return word[:n-2], true
	case n > 4 && word[n-3:] == "ies" && verbal(word[:n-3]+"y"):
		return word[:n-3] + "y", true
	}
	return "", false
}

func verbal(word string) bool { return entryOf(word).class&(task|verb) != 0 }
