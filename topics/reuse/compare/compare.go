// Package compare tells whether two answers of models give the same information: whether an answer that is stored would have been right
// for another prompt, which the upstream has just answered. It is pure: no lock, clock, goroutine or I/O, and no randomness.
//
// The rules, in their order; the first that decides is the reason (Result.Why):
//
//  1. equal: the answers are equal, byte for byte: Same. empty: one says nothing: Unknown. long: longer than 64 KiB: Unknown.
//  2. quotes: an answer quotes or restates words in which the prompts differ (Quotes): Different.
//  3. json: one is JSON (also fenced, also tool calls) and the other is not: Different. Otherwise member by member: names, types, numbers by
//     value, labels up to case, texts of more than three words by the rules for texts. A member that differs makes it Different.
//  4. equal: equal up to case, white space, Markdown and courtesy: Same.
//  5. short: one has at most three words. Both do: Different. Otherwise the sentence contains the number, the name or the code, or begins with the
//     same yes or no: Same; or it does not: Different. Plain words in a sentence: Unknown.
//  6. Facts that contradict: polarity (yes against no; negations of brief answers), refusal, language, code, number (with its unit), name,
//     opposite (on, off): Different. A fact that only one of them has is none of these.
//  7. items: lists of equal length or of short items, item by item, in any order unless both are numbered steps: an item without a
//     partner makes it Different.
//  8. word: the texts are equal but for a few words, and other words stand at the same place: Different.
//  9. closeness: the weight of common content, and of its order. See decide.
//
// Noise, what two answers to an equal prompt differ by in a scope, moves the thresholds of rule 9, and makes Unknown of what 7 and 8 find.
// It never changes what the rules 2 to 6 find.
package compare

import (
	"slices"
	"strings"

	"reprise/topics/reuse/evidence"
)

// longest is the length in bytes from which answers are compared byte for byte only.
const longest = 64 << 10

// Kind is the kind of two answers.
type Kind uint8

// Kinds of answers.
const (
	Text Kind = iota
	Short
	JSON
	List
	Code
)

// Kinds are the names of the kinds.
var kinds = [...]string{"text", "short", "json", "list", "code"}

// String returns the name of a kind.
func (k Kind) String() string { return kinds[k] }

// Pair is a stored answer with the prompt it was given to, and the upstream's answer to another prompt.
type Pair struct{ StoredPrompt, Prompt, Stored, Fresh string }

// Result is the outcome of a comparison.
type Result struct {
	Outcome   evidence.Outcome
	Kind      Kind
	Why       string  // the rule that decided: equal, empty, long, quotes, json, json:member, short, a kind of fact, items, word, closeness, noise
	Closeness float64 // in [0, 1], symmetric; 1: equal up to case, space, Markdown and courtesy
}

// Answers compares the two answers of a pair. n is the noise of the scope, or nil. The cost is linear.
func Answers(p Pair, n *Noise) Result {
	if p.Stored == p.Fresh && strings.TrimSpace(p.Stored) != "" {
		return Result{evidence.Same, kindOf(p.Stored), "equal", 1}
	}
	if max(len(p.Stored), len(p.Fresh)) > longest {
		return Result{Why: "long"}
	}
	r := compareAnswers(p.Stored, p.Fresh, n)
	if r.Outcome == evidence.Unknown && r.Why == "empty" {
		return r
	}
	if Quotes(p.Stored, p.StoredPrompt, p.Prompt) || Quotes(p.Fresh, p.Prompt, p.StoredPrompt) {
		r.Outcome, r.Why = evidence.Different, "quotes"
	}
	return r
}

func kindOf(s string) Kind {
	if _, ok := parseJSON(s); ok {
		return JSON
	}
	t := readText(s)
	return kindOfTexts(t, t, listOf(s), listOf(s))
}

func kindOfTexts(x, y *text, a, b *list) Kind {
	switch {
	case len(x.spans) > 0 && len(y.spans) > 0:
		return Code
	case a != nil && b != nil:
		return List
	case x.words <= few && a == nil, y.words <= few && b == nil:
		return Short
	}
	return Text
}

// compareAnswers are the rules 3 to 9.
func compareAnswers(a, b string, n *Noise) Result {
	u, uOK := parseJSON(a)
	v, vOK := parseJSON(b)
	if uOK && vOK {
		return compareJSON(u, v, n)
	}
	if a > b {
		a, b = b, a
	}
	x, y := readText(a), readText(b)
	switch {
	case len(x.tokens) == 0 || len(y.tokens) == 0:
		return Result{Why: "empty"}
	case uOK || vOK:
		return Result{evidence.Different, JSON, "json", 0}
	}
	return compareTexts(x, y, listOf(a), listOf(b), n)
}

// compareTexts are the rules 4 to 9.
func compareTexts(x, y *text, a, b *list, n *Noise) Result {
	r := Result{Kind: kindOfTexts(x, y, a, b), Closeness: closeness(x, y)}
	if equalTexts(x, y) {
		r.Outcome, r.Why, r.Closeness = evidence.Same, "equal", 1
		return r
	}
	if isCode(x, y) || isCode(y, x) {
		r.Outcome, r.Why = evidence.Same, "code"
		return r
	}
	if r.Kind == Short {
		r.Outcome, r.Why = compareShort(x, y), "short"
		return r
	}
	if r.Why = contradicts(x, y); r.Why != "" {
		r.Outcome = evidence.Different
		return r
	}
	if equalCode(x, y) {
		r.Outcome, r.Why = evidence.Same, "code"
		return r
	}
	items := compareLists(a, b)
	switch {
	case items == evidence.Different:
		r.Outcome, r.Why = items, "items"
	case replaced(x, y):
		r.Outcome, r.Why = evidence.Different, "word"
	case items == evidence.Same:
		r.Outcome, r.Why = items, "items"
		return r
	default:
		r.Outcome, r.Why = n.decide(r.Closeness)
		return r
	}
	if n.usual(r.Closeness) {
		r.Outcome = evidence.Unknown
	}
	return r
}

func equalTexts(x, y *text) bool {
	if len(x.tokens) != len(y.tokens) || len(x.spans) > 0 && len(y.spans) > 0 && lacksCode(x, y) {
		return false
	}
	for i := range x.tokens {
		if a, b := &x.tokens[i], &y.tokens[i]; a.raw != b.raw && (!a.number || a.key != b.key) || a.key != b.key || a.unit != b.unit {
			return false
		}
	}
	return true
}

// few is the number of words up to which an answer is short.
const few = 3

// compareShort compares answers of which one is short.
func compareShort(x, y *text) evidence.Outcome {
	if x.words > y.words {
		x, y = y, x
	}
	if x.words == 1 && x.stance != 0 {
		if y.stance == x.stance {
			return evidence.Same
		}
		if y.stance == 0 && y.words > few {
			return evidence.Unknown
		}
		return evidence.Different
	}
	if x.words > 1 && x.negated == y.negated && slices.Equal(x.keys(), y.keys()) {
		return evidence.Same
	}
	if y.words <= few {
		return evidence.Different
	}
	if !y.has(x) {
		return evidence.Different
	}
	if !x.tells() || y.words > brief || y.negated > x.negated || y.tellsMore(x) {
		return evidence.Unknown
	}
	return evidence.Same
}

// keys are the keys of the content.
func (t *text) keys() (keys []string) {
	for _, i := range t.contents() {
		keys = append(keys, t.tokens[i].key)
	}
	return keys
}

// tells reports whether a short answer has a number, a name or code.
func (t *text) tells() bool {
	for i := range t.tokens {
		if k := &t.tokens[i]; k.number || k.capital {
			return true
		}
	}
	return len(t.spans) > 0
}

// has reports whether t has the tokens of o, one after the other.
func (t *text) has(o *text) bool {
	for i := 0; i+len(o.tokens) <= len(t.tokens); i++ {
		j := 0
		for j < len(o.tokens) && t.tokens[i+j].key == o.tokens[j].key {
			j++
		}
		if j == len(o.tokens) {
			return true
		}
	}
	return false
}

// tellsMore reports whether t, which has all of the short answer o, has another number without need: o is one, too.
func (t *text) tellsMore(o *text) bool {
	if len(o.tokens) == 0 || !o.tokens[0].number {
		return false
	}
	numbers := 0
	for i := range t.tokens {
		if t.tokens[i].number {
			numbers++
		}
	}
	return numbers > 3
}
