package normal

import "slices"

// endMarks drops what ends a sentence: a full stop or exclamation mark at the end of the prompt, and question marks behind sentences that
// are questions by their form. Inside, all of them become full stops. An exclamation mark behind a question stays: it may belong to a name.
func (m *maker) endMarks() {
	from := 0
	for i := 0; i < len(m.tokens); i++ {
		t := &m.tokens[i]
		if t.Kind == Break {
			from = i + 1
		}
		if t.Kind != Mark || t.class&ending == 0 {
			continue
		}
		if asks := t.Text != "." && m.tokens.question(from, i); asks != (t.Text == "!") {
			t.Text = "."
		}
		from = i + 1
	}
	if n := len(m.tokens); n > 0 && m.tokens[n-1].class&ending != 0 && m.tokens[n-1].Text == "." && m.tokens[n-1].Kind == Mark {
		m.tokens = m.tokens[:n-1]
	}
}

// question reports whether the sentence of tokens [from, to) is a question by its form.
func (ts tokens) question(from, to int) bool {
	for from < to && (ts.is(from, "and", "but", "so", "or", "also", "then", "ok", "okay", "yes", "no", "now") || ts[from].Kind == Mark) {
		from++
	}
	if from < to && ts.asks(from, to) {
		return true
	}
	for i := from + 1; i+1 < to; i++ { // My screen is black, what can I do?
		if ts[i].Kind == Mark && ts.has(i+1, wh) && i+2 < to && ts.has(i+2, auxiliary) {
			return true
		}
	}
	return false
}

// asks reports whether the words from i on begin a question.
func (ts tokens) asks(i, to int) bool {
	switch {
	case ts[i].Kind == Frame:
		return true
	case ts.has(i, wh):
		return true
	case ts.has(i, preposition):
		return i+1 < to && ts.has(i+1, wh)
	case ts.is(i, "do", "have", "need"):
		return i+1 < to && (ts.has(i+1, subject) || ts.is(i+1, "not") && ts.has(i+2, subject))
	}
	return ts.has(i, auxiliary) && i+1 < to
}

// apostropheS decides what 's and 'd are. Behind a question word or pronoun 's is "is", unless a participle follows, where it may be
// "has"; 'd is "would" before some verbs. All else stays as it is written.
func (m *maker) apostropheS() {
	for i := range m.tokens {
		t := &m.tokens[i]
		if t.class&joined == 0 || t.Quoted {
			continue
		}
		switch t.Text {
		case "'d":
			next := i + 1
			if m.tokens.is(next, "really") {
				next++
			}
			if m.tokens.is(next, "like", "love", "appreciate", "be", "prefer", "rather", "need", "want", "recommend", "suggest") {
				t.Text, t.class = "would", modal|function|joined|contracted
			}
		case "'s":
			switch {
			case m.tokens.is(i+1, "got", "been") && m.tokens.has(i-1, subject|wh):
				t.Text, t.class = "has", do|function|joined
			case m.tokens.is(i-1, "let") && m.tokens.is(i+1, "say"):
				t.Text = "us"
			case m.tokens.contracts(i) || m.tokens.runs(i):
				t.Text, t.class = "is", be|function|joined
			}
		}
	}
}

// contracts reports whether 's at i is "is".
func (ts tokens) contracts(i int) bool {
	if !ts.has(i-1, wh) && !ts.is(i-1, "it", "he", "she", "that", "there", "here", "someone", "everything", "something", "nothing") ||
		ts.is(i-1, "whose", "which") {
		return false
	}
	next := i + 1
	for ts.is(next, "not", "just", "already", "always", "never", "also", "still", "ever", "recently", "only", "really", "now", "since") {
		next++
	}
	if next >= len(ts) || ts[next].Kind != Word {
		return true
	}
	w := ts[next].Text
	if len(w) > 3 && w[len(w)-2:] == "ed" && w != "happened" {
		return !ts.is(i-1, "he", "she", "who", "someone")
	}
	return !contains(participles, w)
}

// runs reports whether 's at i is "is" behind a noun: my child's running a fever, and not my child's running shoes.
func (ts tokens) runs(i int) bool {
	w := ts.text(i + 1)
	return len(w) > 5 && w[len(w)-3:] == "ing" && ts.has(i+2, determiner) && !ts.has(i+2, preposition)
}

const participles = ` been got gotten happened gone become come begun broken brought built bought caught chosen cut done drawn driven eaten fallen felt
 found forgotten given grown had heard held hit kept known left lost made meant met paid put read run said seen sent set shown shut sold
 spent stood stolen stopped taken taught thought told turned understood won worn written `

// literal returns where a part begins that is laid out as data: behind a colon, or behind a line that does not end a sentence. Nothing
// is normalised there.
func (m *maker) literal() int {
	for i := 1; i < len(m.tokens); i++ {
		switch t := &m.tokens[i]; {
		case t.Kind == Break && m.tokens[i-1].class&ending == 0:
			return i + 1
		case t.Kind == Mark && t.Text == ":" && m.tokens.is(i-1, "question", "query") && m.tokens[i-1].First:
			if i+1 < len(m.tokens) {
				m.tokens[i+1].First = true // of a template: the user's question follows
			}
		case t.Kind == Mark && (t.Text == ":" || t.Text == " :"):
			return i + 1
		}
	}
	return len(m.tokens)
}

// asWritten sets words back to their bytes in the prompt.
func (m *maker) asWritten(part tokens) {
	for i := range part {
		if t := &part[i]; t.Kind == Word && t.To > t.From && t.Text != "i" {
			t.Text = m.prompt[t.From:t.To]
		}
	}
}

// joinLines makes one line of two sentences with a single line break between, if there is nothing else that could be laid out in lines.
func (m *maker) joinLines() {
	at := -1
	for i := range m.tokens {
		switch t := &m.tokens[i]; {
		case t.Kind == Break && (at >= 0 || t.Text != "\n" || m.tokens[i-1].class&ending == 0 || !m.tokens.has(i+1, wh|auxiliary|subject)):
			return
		case t.Kind == Break:
			at = i
		case t.Kind == Code || t.Kind == Number || t.Quoted || t.Text == ":":
			return
		}
	}
	if at > 0 {
		m.tokens = slices.Delete(m.tokens, at, at+1)
	}
}
