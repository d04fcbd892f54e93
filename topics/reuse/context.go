package reuse

import "slices"

// longestDetail bounds a sentence behind the question that only says what the answer is for, in tokens.
const longestDetail = 12

// prepare takes from two prompts what no answer depends on, and reports whether a or b lost a sentence behind its question by that.
func prepare(a, b []token) (x, y []token, cutA, cutB bool) {
	a, m := settled(a)
	b, n := settled(b)
	switch {
	case m > n:
		circumstances(a, m-n)
		if m == n+1 {
			a, cutA = withoutDetail(a)
		}
	case n > m:
		circumstances(b, n-m)
		if n == m+1 {
			b, cutB = withoutDetail(b)
		}
	}
	return a, b, cutA, cutB
}

// settled takes the negation from questions for yes or no that begin with it, and makes "I" of "you" where it is anybody: "Don't I need" is
// answered as "Do I need" is, and "Can you take a power bank in your luggage?" as "Can I". n is the number of sentences.
func settled(tokens []token) (out []token, n int) {
	you, others := false, false
	for i := 0; i < len(tokens); i++ {
		t := &tokens[i]
		switch t.key {
		case "you", "your":
			you = true
		case "my", "our", "mine", "yours", "ours":
			others = true
		default:
			others = others || t.is(personal)
		}
		if i > 0 && !t.start {
			continue
		}
		n++
		if i+2 < len(tokens) && t.is(auxiliary) && tokens[i+1].kind == negation && tokens[i+2].key != "you" && (tokens[i+2].is(personal) || tokens[i+2].key == "there") {
			tokens = slices.Delete(tokens, i+1, i+2)
		}
	}
	if you && !others {
		impersonal(tokens)
	}
	return tokens, n
}

var (
	allowing = set("can", "may", "should", "must")
	doings   = set("take", "bring", "carry", "wear", "eat", "drink", "drive", "park", "swim", "smoke", "freeze", "reheat", "mix", "recycle", "travel", "fly", "visit")
)

func impersonal(tokens []token) {
	anybody := false
	for i := range tokens {
		t := &tokens[i]
		if i == 0 || t.start {
			anybody = i+3 < len(tokens) && tokens[i+1].key == "you" && (allowing(*t) && doings(tokens[i+2]) || t.key == "do" && needs(tokens[i+2:]))
		}
		switch {
		case anybody && t.key == "you":
			t.key, t.class = "i", classOf("i")
		case anybody && t.key == "your":
			t.key, t.class = "my", classOf("my")
		}
	}
}

func needs(tokens []token) bool {
	return tokens[0].key == "need" || tokens[0].key == "have" && tokens[1].key == "to"
}

// circumstances makes ordinary words of ordinals, of months and of negations in sentences about the asker that are the first n, where
// they say that something is new or not understood: "it is my first week", "I have never been there before".
func circumstances(tokens []token, n int) {
	for range n {
		end := sentenceEnd(tokens)
		if s := tokens[:end]; personally(s) && !slices.ContainsFunc(s, func(t token) bool { return t.is(questioning) }) {
			soften(s)
		}
		tokens = tokens[end:]
	}
}

// sentenceEnd is the length of the first sentence.
func sentenceEnd(tokens []token) int {
	for i := 1; i < len(tokens); i++ {
		if tokens[i].start {
			return i
		}
	}
	return len(tokens)
}

var (
	novel  = set("before", "sure", "certain", "idea", "know", "find", "understand", "remember", "figure")
	events = set("time", "trip", "visit", "week", "day", "month", "year", "order", "flight", "job", "car", "house", "flat", "apartment", "baby", "child")
	months = set("january", "february", "april", "june", "july", "august", "september", "october", "november", "december",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
)

func soften(sentence []token) {
	unsure := slices.ContainsFunc(sentence, novel)
	for i := range sentence {
		t := &sentence[i]
		first := t.key == "1." && i+1 < len(sentence) && events(sentence[i+1])
		if t.kind == negation && unsure || t.kind == number && (first || months(*t)) {
			t.kind, t.class = word, function|mild
		}
	}
}

// withoutDetail cuts a sentence at the end that says what the answer is for: "It's for a small script of mine."
func withoutDetail(tokens []token) ([]token, bool) {
	from := len(tokens) - 1
	for from > 0 && !tokens[from].start {
		from--
	}
	s := tokens[from:]
	if from == 0 || len(s) > longestDetail || len(s) < 4 || s[0].key != "it" && s[0].key != "this" || !personally(s) {
		return tokens, false
	}
	s = s[1:]
	if s[0].key == "will" || s[0].key == "would" {
		s = s[1:]
	}
	if s[0].key != "is" && s[0].key != "be" || s[1].key != "for" && s[1].key != "my" && s[1].key != "our" {
		return tokens, false
	}
	soften(s)
	if slices.ContainsFunc(s, func(t token) bool { return t.kind != word || t.name || t.quoted }) {
		return tokens, false
	}
	tokens = tokens[:from]
	tokens[from-1].last = true
	return tokens, true
}
