package reuse

import (
	"slices"
	"strings"
)

// answer is what is compared of an answer.
type answer struct {
	tokens  []token
	stems   []string       // of the content words, in order
	weights map[string]int // by stem
	total   int            // of weights
	bigrams map[[2]string]bool
	sets    [3]map[string]bool // numbers, names, code
	negated int
	stance  int // 1: begins with yes, -1: with no
}

const (
	numbers = iota
	names
	codes
)

func readAnswer(text string) *answer {
	tokens := withoutCourtesy(scan(plainText(text)))
	a := &answer{tokens: tokens, weights: map[string]int{}, bigrams: map[[2]string]bool{}}
	for i := range a.sets {
		a.sets[i] = map[string]bool{}
	}
	for i := range tokens {
		a.add(&tokens[i])
	}
	if len(tokens) > 0 {
		a.stance = stance(tokens[0])
	}
	return a
}

func (a *answer) add(t *token) {
	switch {
	case t.kind == negation:
		a.negated++
	case t.kind == number:
		a.sets[numbers][t.key] = true
	case t.kind == code:
		a.sets[codes][t.key] = true
	case t.name:
		a.sets[names][t.key] = true
	}
	if t.kind == negation || !content(*t) {
		return
	}
	s := stem(t.key)
	if n := len(a.stems); n > 0 {
		a.bigrams[[2]string{a.stems[n-1], s}] = true
	}
	a.stems = append(a.stems, s)
	if a.weights[s] == 0 {
		a.weights[s] = min(len(s), 10)
		a.total += a.weights[s]
	}
}

// stem is one form of a word, its synonyms and their regular inflections.
func stem(w string) string {
	if s := synonyms[w]; s != "" {
		w = s
	}
	for _, ending := range [...]string{"ing", "ies", "ied", "es", "ed", "ly", "s", "e", "y"} {
		if len(w) >= len(ending)+3 && strings.HasSuffix(w, ending) && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-len(ending)]
			break
		}
	}
	return w
}

func stance(first token) int {
	switch first.key {
	case "yes", "yeah", "yep", "true", "correct":
		return 1
	case not, "nope", "false", "incorrect":
		return -1
	}
	return 0
}

func equalTokens(a, b []token) bool {
	return slices.EqualFunc(a, b, func(x, y token) bool { return x.key == y.key && x.kind == y.kind })
}

// sameFacts compares numbers, names, code and negations.
func (a *answer) sameFacts(b *answer) bool {
	for i := range a.sets {
		if a.lacks(b, i) || b.lacks(a, i) {
			return false
		}
	}
	return a.negated == b.negated
}

// lacks reports whether b has a fact of a kind that a does not have.
func (a *answer) lacks(b *answer, kind int) bool {
	for k := range b.sets[kind] {
		if !a.sets[kind][k] && (kind != names || a.weights[stem(k)] == 0) {
			return true
		}
	}
	return false
}

// covers is the share of the content of b that a has.
func (a *answer) covers(b *answer) float64 {
	if b.total == 0 {
		return 0
	}
	common := 0
	for w, n := range b.weights {
		if a.weights[w] != 0 {
			common += n
		}
	}
	return float64(common) / float64(b.total)
}

// follows is the share of the neighbours of b, both in a, that are neighbours in a.
func (a *answer) follows(b *answer) float64 {
	all, common := 0, 0
	for p := range b.bigrams {
		if a.weights[p[0]] == 0 || a.weights[p[1]] == 0 {
			continue
		}
		if all++; a.bigrams[p] {
			common++
		}
	}
	return float64(common) / float64(max(all, 1))
}

// near reports whether the texts are close, and no difference between them a known danger.
func (a *answer) near(b *answer) bool {
	if a.covers(b) < closeTexts || b.covers(a) < closeTexts || a.follows(b) < closeOrder || b.follows(a) < closeOrder {
		return false
	}
	return harmless(a.tokens, b.tokens)
}

// harmless reports whether words that one text has more often are neither opposed nor change a verb or a direction.
func harmless(a, b []token) bool {
	d := difference(slices.Clone(a), slices.Clone(b))
	if len(d.a) > most || len(d.b) > most || opposed(d) {
		return false
	}
	d.cancelInflections()
	return !d.any(func(t token) bool { return particle(t) || t.is(directional) }) && !d.substituted() && d.sameOrder(a, b)
}

// within reports whether a, one to three content words, is part of the one sentence b.
func (a *answer) within(b *answer) bool {
	if len(a.stems) == 0 || len(a.stems) > 3 || len(b.tokens) > 2*briefAnswer || b.sentences() > 1 {
		return false
	}
	if len(a.sets[numbers]) == 0 && len(a.sets[names]) == 0 {
		return false
	}
	return b.covers(a) == 1
}

func (a *answer) sentences() (n int) {
	for i := range a.tokens {
		if a.tokens[i].start {
			n++
		}
	}
	return n
}

// otherFact reports whether two brief answers state other numbers, or other names in the same words.
func (a *answer) otherFact(b *answer) bool {
	if len(a.stems) > briefAnswer || len(b.stems) > briefAnswer || len(a.stems) == 0 || len(b.stems) == 0 {
		return false
	}
	if a.lacks(b, numbers) && b.lacks(a, numbers) && a.lacks(b, names) == b.lacks(a, names) {
		return comparable(a.sets[numbers], b.sets[numbers])
	}
	if len(a.sets[numbers])+len(b.sets[numbers]) > 0 || !a.lacks(b, names) || !b.lacks(a, names) {
		return false
	}
	return a.onlyNames(b) && b.onlyNames(a)
}

// onlyNames reports whether all that b has and a does not are names.
func (a *answer) onlyNames(b *answer) bool {
	for i := range b.tokens {
		if t := &b.tokens[i]; t.kind != word || content(*t) && !t.name && a.weights[stem(t.key)] == 0 {
			return false
		}
	}
	return true
}

// comparable reports whether numbers that differ cannot be one value in other units or with fewer digits.
func comparable(a, b map[string]bool) bool {
	for x := range a {
		for y := range b {
			v, u, _ := strings.Cut(x, " ")
			w, o, _ := strings.Cut(y, " ")
			if u != o || x != y && rounded(v, w) {
				return false
			}
		}
	}
	return true
}

// rounded reports whether a number may be another one with fewer digits.
func rounded(v, w string) bool {
	return strings.ContainsAny(v+w, ".:/-") || len(v) > 4 || len(w) > 4 || !isPlain(v) || !isPlain(w)
}

// apart reports whether two full texts have hardly any content in common.
func (a *answer) apart(b *answer) bool {
	return min(len(a.stems), len(b.stems)) >= fullAnswer && a.covers(b) < apartTexts && b.covers(a) < apartTexts
}
