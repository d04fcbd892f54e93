// Package compare tells whether two answers of models give the same information: whether an answer that is stored would have been right
// for another prompt, which the upstream has just answered. It is pure: no lock, clock, goroutine or I/O, and no randomness.
//
// The rules, in their order; the first that decides is the reason (Result.Why):
//
//  1. equal: the answers are equal byte for byte: Same. empty: one says nothing: Unknown. long: one is longer than 64 KiB: Unknown.
//  2. quotes: an answer quotes or restates words in which the prompts differ (see Quotes): Different.
//     echo: both answers have most of the words of their prompts in a row, and are the same by a rule below, but not byte for byte: Different if by
//     rule 4, else Unknown.
//  3. json: one is JSON (also fenced, also tool calls one after another) and the other is not: Different. Otherwise member by member: names, types,
//     numbers by value, arrays in order, labels up to case, texts of more than three words by the rules for texts. A member that differs makes it Different.
//  4. equal: equal up to case, white space, Markdown and courtesy: Same. code: the code is equal and few words explain it: Same.
//  5. short: one has at most three words. Both do, with other words: Different. The other is a brief sentence: it contains the number or the name, or begins
//     with the same yes or no: Same; it does not: Different. It contains the plain words: Unknown.
//  6. Facts that contradict, Different: polarity (yes and no), negation (in one of two brief answers), language (or script), code, number (with its unit; months and
//     weekdays), name, opposite (on and off), order (two words in each other's place). A fact that only one of them has is none of these.
//  7. items: lists of equal length, or of things, item by item, in any order unless the items are numbered steps: an item without a partner: Different;
//     all with close ones: Same.
//  8. word: the texts are equal but for a few words, and have other words at all these places: Different.
//  9. closeness, noise: the weight of the content that they share. See Noise and decide. asked: close, but each has a word of its own prompt that the other
//     prompt and the other answer lack: Different; only one has: Unknown, unless they are very close.
//
// Noise, what two answers to an equal prompt differ by in a scope, gives the thresholds of rule 9, which decides nothing in a scope whose noise is not known yet, and
// makes Unknown what 7 and 8 call Different where the answers are as close as answers to an equal prompt. Of the rules 6 to 8, those by which one in eight answers
// to equal prompts differ say nothing: Unknown, and never Same by rule 9. Negation, opposite and order say nothing where answers to equal prompts are in other
// words. What the rules 2 to 5 find it does not change: another label is another answer, however often a classifier errs.
package compare

import (
	"slices"
	"strings"

	"reprise/topics/reuse/evidence"
)

// longest is the length in bytes from which answers are compared byte for byte only, and few the number of words up to which one is short.
const (
	longest = 64 << 10
	few     = 3
)

// Kinds of two answers: Result.Kind.
const (
	kindText  = "text"
	kindShort = "short"
	kindJSON  = "json"
	kindList  = "list"
	kindCode  = "code"
)

// Pair is a stored answer with the prompt it was given to, and the upstream's answer to another prompt.
type Pair struct{ StoredPrompt, Prompt, Stored, Fresh string }

// Result is the outcome of a comparison.
type Result struct {
	Outcome   evidence.Outcome
	Kind      string  // text, short, json, list or code
	Why       string  // the rule that decided, such as equal, short, json:member, number, closeness
	Closeness float64 // in [0, 1], symmetric; 1: equal up to case, white space, Markdown and courtesy
	Echo      bool    // they are the same, and have most of the words of their prompts: in other wordings they may not be
}

// Answers compares the two answers of a pair. n is the noise of the scope; nil is that of no scope, where closeness has thresholds of its own. It is
// symmetric, and its cost is linear.
func Answers(p Pair, n *Noise) Result {
	p.Stored, p.Fresh = strings.TrimSpace(p.Stored), strings.TrimSpace(p.Fresh)
	if max(len(p.Stored), len(p.Fresh)) > longest && p.Stored != p.Fresh {
		return Result{Why: "long"}
	}
	r := compareAnswers(p, n)
	if p.Stored == p.Fresh && p.Stored != "" {
		r.Outcome, r.Why, r.Closeness = evidence.Same, "equal", 1
	} else if r.Why != "empty" && (Quotes(p.Stored, p.StoredPrompt, p.Prompt) || Quotes(p.Fresh, p.Prompt, p.StoredPrompt)) {
		r.Outcome, r.Why = evidence.Different, "quotes"
	}
	if r.Echo = r.Outcome == evidence.Same && echoesPrompt(p.Stored, p.StoredPrompt) && echoesPrompt(p.Fresh, p.Prompt); r.Echo && p.Stored != p.Fresh {
		if r.Outcome = evidence.Unknown; r.Why == "equal" {
			r.Outcome = evidence.Different
		}
		r.Why = "echo"
	}
	return r
}

// echoes takes back that texts are the same by closeness where an answer has words of its prompt that the other prompt and the other answer lack.
func (r *Result) echoes(t []*text) {
	if r.Outcome != evidence.Same || r.Why != "closeness" && r.Why != "noise" {
		return
	}
	own := func(prompt, other, answer, fresh *text) bool {
		return slices.ContainsFunc(prompt.tokens, func(k token) bool {
			return k.weight > 0 && other.count[k.id] == 0 && answer.count[k.id] > 0 && fresh.count[k.id] == 0
		})
	}
	a, b := own(t[2], t[3], t[0], t[1]), own(t[3], t[2], t[1], t[0])
	switch {
	case a && b && r.Closeness < nearlyEqual:
		r.Outcome, r.Why = evidence.Different, "asked"
	case (a || b) && r.Closeness < echoed:
		r.Outcome, r.Why = evidence.Unknown, "asked"
	}
}

// compareAnswers are the rules 3 to 9.
func compareAnswers(p Pair, n *Noise) Result {
	u, isJSON := parseJSON(p.Stored)
	v, both := parseJSON(p.Fresh)
	if isJSON && both {
		return compareJSON(u, v, n)
	}
	if p.Stored > p.Fresh {
		p = Pair{p.Prompt, p.StoredPrompt, p.Fresh, p.Stored}
	}
	t := readTexts(p.Stored, p.Fresh, p.StoredPrompt, p.Prompt)
	switch x, y := t[0], t[1]; {
	case len(x.tokens) == 0 || len(y.tokens) == 0:
		return Result{Why: "empty"}
	case isJSON || both:
		return Result{Outcome: evidence.Different, Kind: kindJSON, Why: "json"}
	default:
		r := compareTexts(x, y, n)
		r.echoes(t)
		return r
	}
}

// compareTexts are the rules 4 to 9.
func compareTexts(x, y *text, n *Noise) Result {
	a, b := x.list(), y.list()
	r := Result{Kind: kindOf(x, y, a, b), Closeness: closeness(x, y)}
	if equalTexts(x, y) {
		r.Closeness = 1
		return r.with(evidence.Same, "equal")
	}
	if r.Kind == kindShort {
		if sameCode(x, y) || sameCode(y, x) {
			return r.with(evidence.Same, "code")
		}
		return r.with(compareShort(x, y), "short")
	}
	if why := contradicts(x, y, n); n.softens(why) || n.usual(why) {
		return r.with(evidence.Unknown, why)
	} else if why != "" {
		return r.with(evidence.Different, why)
	}
	if sameCode(x, y) || sameCode(y, x) {
		return r.with(evidence.Same, "code")
	}
	o, decided := compareLists(a, b, x.numbered && y.numbered)
	why := "items"
	if w := replaced(x, y); w != evidence.Same && (!decided || o == evidence.Same) {
		o, decided, why = w, true, "word"
	}
	switch {
	case !decided:
		return r.with(n.decide(r.Closeness))
	case n.usual(why) && o == evidence.Different:
		o = evidence.Unknown
	}
	if _, usual, known := n.usually(); known && r.Closeness >= usual && o == evidence.Different {
		o = evidence.Unknown
	}
	return r.with(o, why)
}

func (r Result) with(o evidence.Outcome, why string) Result {
	r.Outcome, r.Why = o, why
	return r
}

func kindOf(x, y *text, a, b []*text) string {
	switch {
	case len(x.spans) > 0 && len(y.spans) > 0:
		return kindCode
	case a != nil && b != nil:
		return kindList
	case x.words <= few && a == nil, y.words <= few && b == nil:
		return kindShort
	}
	return kindText
}

func equalTexts(x, y *text) bool {
	return slices.EqualFunc(x.tokens, y.tokens, func(a, b token) bool {
		return a.id == b.id && (a.word == b.word || a.number) && a.unit == b.unit
	}) && !(lacksCode(x, y) && len(y.spans) > 0)
}

// compareShort is rule 5.
func compareShort(x, y *text) evidence.Outcome {
	if x.words > y.words {
		x, y = y, x
	}
	switch {
	case x.words == 1 && x.stance != 0 && y.stance == x.stance:
		return evidence.Same
	case x.words == 1 && x.stance != 0 && y.stance == 0 && y.words > few:
		return evidence.Unknown
	case x.words > 1 && x.negated == y.negated && slices.Equal(x.content(), y.content()):
		return evidence.Same
	case y.words <= few, !y.has(x):
		return evidence.Different
	case x.tells() && y.words <= brief && y.negated <= x.negated && len(y.places(func(k *token) bool { return k.number })) <= few:
		return evidence.Same
	}
	return evidence.Unknown
}

// content are the ids of the content.
func (t *text) content() (ids []int32) {
	for _, k := range t.tokens {
		if k.weight > 0 {
			ids = append(ids, k.id)
		}
	}
	return ids
}

// tells reports whether a short answer has a number or a name.
func (t *text) tells() bool {
	return slices.ContainsFunc(t.tokens, func(k token) bool { return k.number || k.capital })
}

// has reports whether t has the tokens of a short answer, one after the other.
func (t *text) has(o *text) bool {
	for i := 0; i+len(o.tokens) <= len(t.tokens); i++ {
		if slices.EqualFunc(t.tokens[i:i+len(o.tokens)], o.tokens, func(a, b token) bool { return a.id == b.id }) {
			return true
		}
	}
	return false
}
