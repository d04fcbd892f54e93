package reuse

import (
	"slices"
	"strings"
)

// sameQuestion compares the kind of question. A request ("tell me the capital") equals "what", and a request for an
// explanation ("explain to me", "the steps to") equals "how"; any other kind equals only itself. "Did I add milk" and "how do I add
// milk" are not "add milk".
func sameQuestion(a, b []token) bool {
	x, y := asked(a), asked(b)
	if x == y {
		return true
	}
	if x != "" && y != "" {
		return false
	}
	request, question := a, y
	if x != "" {
		request, question = b, x
	}
	return question == "what" || question == "how" && request[0].wanted || question == "how" && slices.ContainsFunc(request, func(t token) bool { return t.is(way|explaining) || t.key == "how" })
}

// asked is the first question word, in a common form: "what" for which, "when" for what time, "how many". It is "yes or
// no" where an auxiliary opens the prompt, and "" for a request or a statement.
func asked(tokens []token) string {
	for i := range tokens {
		t := &tokens[i]
		if t.key == "whether" || t.key == "if" && i > 0 && tokens[i-1].is(asking) {
			return "yes or no"
		}
		if !t.is(questioning) || !asks(tokens, i) {
			continue
		}
		q := questions[t.key]
		var next token
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case q == "how" && next.is(measuring):
			return "how " + next.key
		case q == "how" && next.key == "come":
			return "why"
		case q == "what" && next.key == "time":
			return "when"
		case q == "what" && slices.ContainsFunc(tokens[i+1:min(len(tokens), i+5)], func(t token) bool { return t.is(way) }):
			return "how"
		}
		return q
	}
	for i := range tokens {
		if (i == 0 || tokens[i].start || tokens[i].pausing) && opens(tokens[i:]) {
			return "yes or no"
		}
	}
	return ""
}

// asks reports whether a question word is that of a question, and not that of a clause ("the man who", "when I start it").
func asks(tokens []token, i int) bool {
	t := &tokens[i]
	if t.framed {
		return true
	}
	if i > 0 && !t.start && !t.pausing {
		return tokens[i-1].is(asking)
	}
	clause := (t.key == "when" || t.key == "where") && i+1 < len(tokens) && !tokens[i+1].is(auxiliary) && tokens[i+1].key != "to"
	return !clause
}

// opens reports whether the prompt begins like a yes-or-no question: with an auxiliary, but not with a polite "can you"
// nor with an order ("do it").
func opens(tokens []token) bool {
	for len(tokens) > 1 && tokens[0].is(greeting) {
		tokens = tokens[1:]
	}
	if len(tokens) < 2 || !tokens[0].is(auxiliary) {
		return false
	}
	next := tokens[1]
	switch tokens[0].key {
	case "can", "could", "would", "will":
		return next.key != "you"
	case "do", "have":
		return next.is(personal) || content(next)
	}
	return true
}

// Kinds of questions, as a set of bits.
const (
	askWhat = 1 << iota
	askHow
	askWhy
	askWhen
	askWhere
	askWho
	askMeasure
	askWhether
)

// rewordings are, by kind, those that other words for the same question may have.
var rewordings = map[int]int{
	askWhat:    askWhat | askHow | askWhen | askWhere | askWho | askMeasure,
	askHow:     askHow | askWhat | askWhere,
	askWhy:     askWhy,
	askWhen:    askWhen | askWhat | askMeasure,
	askWhere:   askWhere | askWhat | askHow,
	askWho:     askWho | askWhat,
	askMeasure: askMeasure | askWhat | askWhen,
	askWhether: askWhether,
}

var kindOf = map[string]int{"what": askWhat, "how": askHow, "why": askWhy, "when": askWhen, "where": askWhere, "who": askWho}

// likeQuestion compares the kinds of question coarsely, as fits prompts in other words. A statement or a request may want anything.
func likeQuestion(a, b []token) bool {
	x, y := kinds(a), kinds(b)
	if x == 0 || y == 0 {
		return true
	}
	allowed := 0
	for kind, others := range rewordings {
		if x&kind != 0 {
			allowed |= others
		}
	}
	return allowed&y != 0
}

// kinds are those of all questions in a prompt.
func kinds(tokens []token) (set int) {
	for i := range tokens {
		t := &tokens[i]
		switch {
		case t.is(questioning) && asks(tokens, i):
			kind := kindOf[questions[t.key]]
			if kind == askHow && i+1 < len(tokens) && tokens[i+1].is(measuring) {
				kind = askMeasure
			}
			if set |= kind; kind == askWhat && causal(tokens[i:]) {
				set |= askWhy
			}
		case (t.start || t.pausing) && opens(tokens[i:]), t.key == "whether", t.key == "if" && i > 0 && tokens[i-1].is(asking):
			set |= askWhether
			if wayAhead(tokens[i:]) {
				set |= askHow
			}
		}
	}
	return set
}

// wayAhead reports whether a question for yes or no is one for the way: "is there a way to", "is it possible to".
func wayAhead(tokens []token) bool {
	return slices.ContainsFunc(tokens[:min(len(tokens), 5)], func(t token) bool { return t.is(way) || t.key == "possible" })
}

// causal reports whether a question for something is one for the reason: "what caused", "what is the reason".
func causal(tokens []token) bool {
	return slices.ContainsFunc(tokens[:min(len(tokens), 5)], func(t token) bool {
		return strings.HasPrefix(t.key, "cause") || t.key == "reason" || t.key == "reasons" || t.key == "makes" || t.key == "made"
	})
}
