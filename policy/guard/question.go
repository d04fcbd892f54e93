package guard

import "slices"

// sameQuestion compares what is asked for. A request ("tell me the capital") goes with "what" and "how"; anything else
// only with itself. "Did I add milk" is not "add milk".
func sameQuestion(a, b []token) bool {
	x, y := asked(a), asked(b)
	if x == y {
		return true
	}
	if x != "" && y != "" {
		return false
	}
	x += y // one of them is a request
	return x == "what" || x == "how"
}

// asked is the first question word, in a common form: "what" for which, "when" for what time, "how many". It is "yes or
// no" where an auxiliary opens the prompt, and "" for a request or a statement.
func asked(tokens []token) string {
	for i, t := range tokens {
		if t.key == "whether" || t.key == "if" && i > 0 && asking[tokens[i-1].key] {
			return "yes or no"
		}
		q := questions[t.key]
		if q == "" || t.kind != word || !asks(tokens, i) {
			continue
		}
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1].key
		}
		switch {
		case q == "how" && measures[next]:
			return "how " + next
		case q == "how" && next == "come":
			return "why"
		case q == "what" && next == "time":
			return "when"
		case q == "what" && slices.ContainsFunc(tokens[i+1:min(len(tokens), i+5)], func(t token) bool { return ways[t.key] }):
			return "how"
		}
		return q
	}
	if opens(tokens) {
		return "yes or no"
	}
	return ""
}

var questions = table(`who whom whose
	what which whats
	when
	where
	why
	how`)

// asks tells the question word of a question from that of a clause ("the man who", "when I start it").
func asks(tokens []token, i int) bool {
	t := tokens[i]
	if t.key == "when" || t.key == "where" {
		next := i+1 < len(tokens) && !auxiliary[tokens[i+1].key] && tokens[i+1].key != "to"
		return !(next && (i == 0 || t.start || t.pausing)) && (i == 0 || t.start || t.pausing || asking[tokens[i-1].key])
	}
	return i == 0 || t.start || t.pausing || asking[tokens[i-1].key]
}

// opens reports whether the prompt begins like a yes-or-no question. "Can you ..." is a polite request.
func opens(tokens []token) bool {
	for i, t := range tokens {
		switch {
		case greeting[t.key]:
			continue
		case !auxiliary[t.key] || i+1 == len(tokens):
			return false
		}
		next := tokens[i+1].key
		return !(next == "you" && (t.key == "can" || t.key == "could" || t.key == "would" || t.key == "will")) && !(t.key == "do" && next != "i" && next != "you" && next != "we" && next != "they" && !content(tokens[i+1]))
	}
	return false
}

// ways turn "what" into "how": what is the best way to.
var ways = set(`way ways method methods steps process procedure`)

var greeting = set(`hi hello hey please so ok okay and but well now dear`)
