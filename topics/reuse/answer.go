package reuse

import (
	"slices"
	"strconv"
	"strings"
)

// answer is what is compared of an answer.
type answer struct {
	tokens  []token
	stems   []string           // of the content words, in order
	weights map[string]int     // by stem
	total   int                // of weights
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
	a := &answer{tokens: tokens, weights: make(map[string]int, len(tokens)/2), stems: make([]string, 0, len(tokens))}
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
		a.have(numbers, t.key)
	case t.kind == code:
		a.have(codes, t.key)
	case t.name:
		a.have(names, t.key)
	}
	if t.kind == negation || !content(*t) {
		return
	}
	s := stem(t.key)
	a.stems = append(a.stems, s)
	if a.weights[s] == 0 {
		a.weights[s] = min(len(s), 10)
		a.total += a.weights[s]
	}
}

func (a *answer) have(kind int, key string) {
	if a.sets[kind] == nil {
		a.sets[kind] = map[string]bool{}
	}
	a.sets[kind][key] = true
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
	pairs := make(map[[2]string]bool, len(a.stems))
	for i := 1; i < len(a.stems); i++ {
		pairs[[2]string{a.stems[i-1], a.stems[i]}] = true
	}
	all, common := 0, 0
	for i := 1; i < len(b.stems); i++ {
		if a.weights[b.stems[i-1]] == 0 || a.weights[b.stems[i]] == 0 {
			continue
		}
		if all++; pairs[[2]string{b.stems[i-1], b.stems[i]}] {
			common++
		}
	}
	return float64(common) / float64(max(all, 1))
}

// near reports whether the texts are close, and no difference between them a known danger.
func (a *answer) near(b *answer) bool {
	if min(a.covers(b), b.covers(a)) < closeTexts {
		return false
	}
	d := difference(slices.Clone(a.tokens), slices.Clone(b.tokens))
	if len(d.a) > most || len(d.b) > most || opposed(d) || d.any(particle) {
		return false
	}
	differing := max(len(d.a), len(d.b))
	d.cancel()
	if differing <= max(nearWords, max(len(a.tokens), len(b.tokens))/alikeAnswers) {
		return !d.any(bears) && d.unmoved()
	}
	return min(a.follows(b), b.follows(a)) >= closeOrder && !a.dwells(b) && !b.dwells(a)
}

// bears reports whether a word that is on one side only may change what a text says that is otherwise the same.
func bears(t token) bool {
	return content(t) && !t.is(polite) || t.is(preposition|directional|negating) || t.is(auxiliary) && !t.is(agreeing)
}

// dwells reports whether a has a word of content twice that b does not have: then it is on something else.
func (a *answer) dwells(b *answer) bool {
	seen := map[string]bool{}
	for _, s := range a.stems {
		if b.weights[s] == 0 && seen[s] {
			return true
		}
		seen[s] = true
	}
	return false
}

// within reports whether a, one to three content words with a number or a name, is part of the one sentence b.
func (a *answer) within(b *answer) bool {
	if len(a.stems) == 0 || len(a.stems) > 3 || len(b.tokens) > 2*briefAnswer || b.sentences() > 1 || len(a.sets[numbers])+len(a.sets[names]) == 0 {
		return false
	}
	for i := range max(0, len(b.tokens)-len(a.tokens)+1) {
		if equalTokens(a.tokens, b.tokens[i:i+len(a.tokens)]) {
			return true
		}
	}
	return false
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

// latestYear is above what numbers of four digits mean as years.
const latestYear = 2100

// rounded reports whether two numbers may be one with fewer digits: all but small whole numbers and years.
func rounded(v, w string) bool {
	x, err := strconv.Atoi(v)
	y, err2 := strconv.Atoi(w)
	return err != nil || err2 != nil || max(x, y) > latestYear || strings.HasSuffix(v, w) || strings.HasSuffix(w, v)
}

// apart reports whether two full texts have hardly any content in common.
func (a *answer) apart(b *answer) bool {
	return min(len(a.stems), len(b.stems)) >= fullAnswer && a.covers(b) < apartTexts && b.covers(a) < apartTexts
}
