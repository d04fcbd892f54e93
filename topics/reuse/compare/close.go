package compare

import (
	"slices"

	"reprise/topics/reuse/evidence"
)

const (
	closeTexts = .62 // closeness from which texts are the same without knowledge of noise
	apartTexts = .45 // closeness below which they are different
	nearTexts  = .75 // closeness from which single words are compared by their place
	known      = 4   // observations from which noise is known
	unlike     = 2   // tenths of closeness up to which answers to an equal prompt have hardly anything in common
	beyond     = .2  // closeness below the least that was seen which is far below
)

// Noise is what two answers to an equal prompt differ by in one scope: counts of Result.Closeness in tenths, of two answers that equal prompts got. Its
// zero value says that nothing is known.
type Noise [11]uint16

// usually is the least closeness of four in five of the observations, and ok whether noise says anything: there are four or
// more, and even these have something in common.
func (n *Noise) usually() (least, usual float64, ok bool) {
	if n == nil {
		return 0, 0, false
	}
	all := 0
	for _, c := range n {
		all += int(c)
	}
	first, at, seen := -1, 0, 0
	for i, c := range n {
		if c > 0 && first < 0 {
			first = i
		}
		if seen += int(c); seen*5 > all {
			at = i
			break
		}
	}
	return float64(first) / 10, float64(at) / 10, all >= known && at > unlike
}

// usual reports whether two answers are as close as answers to an equal prompt are.
func (n *Noise) usual(closeness float64) bool {
	_, usual, ok := n.usually()
	return ok && closeness >= usual
}

// decide is the last rule. Without noise texts are the same from closeTexts on and different below apartTexts. With noise they are the same from
// what is usual on, where this is lower, and different where they are far below the least.
func (n *Noise) decide(closeness float64) (evidence.Outcome, string) {
	low, high, why := apartTexts, closeTexts, "closeness"
	if least, usual, ok := n.usually(); ok {
		low, high, why = min(least-beyond, closeTexts), min(usual, closeTexts), "noise"
	}
	switch {
	case closeness >= high:
		return evidence.Same, why
	case closeness < low:
		return evidence.Different, why
	}
	return evidence.Unknown, why
}

// closeness is the share of content that two texts have in common, by weight.
func closeness(x, y *text) float64 {
	if x.total+y.total == 0 {
		return 0
	}
	return float64(x.shares(y)+y.shares(x)) / float64(x.total+y.total)
}

// shares is the weight of the content of t that o has.
func (t *text) shares(o *text) (weight int) {
	seen := make(map[string]bool, len(t.digest))
	for i := range t.tokens {
		if k := &t.tokens[i]; k.content && !seen[k.key] && o.digest[k.key] > 0 {
			seen[k.key] = true
			weight += k.weight()
		}
	}
	return weight
}

// place is where words stand.
type place struct{ before, after string }

// run are words that only one text has, one after the other.
type run struct {
	place
	content bool
}

const (
	mostRuns = 3 // places in which texts that are equal but for a few words differ
	runWords = 3 // words at one place
)

// replaced reports whether texts that are equal but for a few words have other words at one place.
func replaced(x, y *text) bool {
	if closeness(x, y) < nearTexts {
		return false
	}
	a, b := x.lacking(y), y.lacking(x)
	if len(a) > mostRuns || len(a) != len(b) || len(a) == 0 {
		return false
	}
	for _, r := range a {
		if !slices.Contains(b, r) {
			return false
		}
	}
	return true
}

// lacking are the runs of t that o lacks, and their places.
func (t *text) lacking(o *text) (runs []run) {
	for i := 0; i < len(t.tokens) && len(runs) <= mostRuns; i++ {
		start, content := i, false
		for i < len(t.tokens) && o.digest[t.tokens[i].key] == 0 && !neutral[t.tokens[i].raw] {
			content = content || t.tokens[i].content
			i++
		}
		if i > start && i-start <= runWords {
			runs = append(runs, run{t.placeOf(start, i), content})
		}
	}
	return runs
}

func (t *text) placeOf(start, end int) (p place) {
	if start > 0 {
		p.before = t.tokens[start-1].key
	}
	if end < len(t.tokens) {
		p.after = t.tokens[end].key
	}
	return p
}

// swapped reports whether texts of equal content, in the same order, have two words in each other's place: from Oslo to Rome.
func swapped(x, y *text) bool {
	a, b := x.contents(), y.contents()
	if len(a) != len(b) {
		return false
	}
	var one, two string
	last, apart := 0, false
	for i := range a {
		k, o := x.tokens[a[i]].key, y.tokens[b[i]].key
		switch {
		case k == o:
			continue
		case one == "":
			one, two = k, o
		case k != one && k != two || o != one && o != two:
			return false
		default:
			apart = apart || !x.joins(last, a[i])
		}
		last = a[i]
	}
	return apart
}

// contents are the places of the content.
func (t *text) contents() (at []int) {
	for i := range t.tokens {
		if t.tokens[i].content {
			at = append(at, i)
		}
	}
	return at
}

// joins reports whether the tokens at i and j are members of an enumeration.
func (t *text) joins(i, j int) bool {
	return j == i+1 || j == i+2 && (t.tokens[i+1].raw == "and" || t.tokens[i+1].raw == "or")
}
