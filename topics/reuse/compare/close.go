package compare

import (
	"slices"

	"reprise/topics/reuse/evidence"
)

const (
	closeTexts  = .64 // closeness from which texts are the same without knowledge of noise
	apartTexts  = .45 // closeness below which they are different
	nearlyEqual = .9  // closeness from which a word of each prompt in its answer only does not matter
	echoed      = .8  // closeness from which a word of one prompt in its answer only does not matter
	mostRuns    = 3   // places in which texts that are equal but for a few words differ
	runWords    = 3   // words at one place

	enough = 4  // observations from which noise is known
	unlike = 2  // tenths of closeness up to which answers to an equal prompt have hardly anything in common
	beyond = .2 // closeness below the least that was seen which is far below
)

// Noise is what two answers to an equal prompt differ by in one scope: counts of Result.Closeness in tenths, and behind them of the reasons of
// Different, in the order of rules. Its zero value says that nothing is known.
type Noise [11 + len(rules)]uint16

// rules are the reasons of Different that can be noise.
var rules = [...]string{"polarity", "negation", "language", "code", "number", "name", "opposite", "order", "items", "word"}

// Rule is the number of the reason of Different in Noise, from 1; 0: it is none of those.
func (r *Result) Rule() int {
	if r.Outcome == evidence.Same {
		return 0
	}
	return 1 + slices.Index(rules[:], r.Why)
}

// all is how many observations there are.
func (n *Noise) all() (all int) {
	for _, c := range n[:11] {
		all += int(c)
	}
	return all
}

// known reports whether there are enough observations.
func (n *Noise) known() bool { return n != nil && n.all() >= enough }

// usual reports whether one in eight pairs of answers to an equal prompt differ by a rule.
func (n *Noise) usual(why string) bool {
	i := slices.Index(rules[:], why)
	return i >= 0 && n.known() && 8*int(n[11+i]) >= n.all()
}

// softens reports whether a reason of Different is none in a scope whose answers to an equal prompt are in other words: where most words are others
// anyway, a negation, a word that has an opposite in the other text, or another order says little.
func (n *Noise) softens(why string) bool {
	_, usual, ok := n.usually()
	return ok && usual < nearlyEqual && (why == "negation" || why == "opposite" || why == "order")
}

// usually is the least closeness that was seen, that of four in five of the observations, and whether noise says anything: there are enough of them,
// and even these have something in common.
func (n *Noise) usually() (least, usual float64, ok bool) {
	if !n.known() {
		return 0, 0, false
	}
	first, at, seen := -1, 0, 0
	for i, c := range n[:11] {
		if c > 0 && first < 0 {
			first = i
		}
		if seen += int(c); seen*5 > n.all() {
			at = i
			break
		}
	}
	return float64(first) / 10, float64(at) / 10, at > unlike
}

// decide is the last rule. With noise texts are the same from what is usual on, and different where they are far below the least. In a scope whose noise is
// not known yet nothing is decided: a translator has close answers, too. Without a scope, and where answers to equal prompts have nothing in common, texts are
// the same from closeTexts on and different below apartTexts.
func (n *Noise) decide(closeness float64) (evidence.Outcome, string) {
	low, high, why := apartTexts, closeTexts, "closeness"
	switch least, usual, ok := n.usually(); {
	case ok:
		low, high, why = least-beyond, usual, "noise"
		if usual < nearlyEqual { // few observations of a talkative scope say little about its least
			low = min(low, apartTexts)
		}
	case n != nil && !n.known():
		return evidence.Unknown, "noise"
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
	seen := make([]bool, len(t.count))
	for i := range t.tokens {
		if k := &t.tokens[i]; o.count[k.id] > 0 && !seen[k.id] {
			seen[k.id] = true
			weight += k.weight
		}
	}
	return weight
}

// place is where words stand: the ids of their neighbours.
type place struct{ before, after int32 }

func (t *text) placeOf(start, end int) (p place) {
	if start > 0 {
		p.before = t.tokens[start-1].id
	}
	if end < len(t.tokens) {
		p.after = t.tokens[end].id
	}
	return p
}

// replaced is Different where texts that are equal but for a few words have other words at all these places, and Unknown where texts that are
// close have other words at some place, or two words in each other's place.
func replaced(x, y *text) evidence.Outcome {
	if closeness(x, y) < closeTexts {
		return evidence.Same
	}
	a, b := x.lacking(y), y.lacking(x)
	found, content := 0, false
	for p, c := range a {
		if d, ok := b[p]; ok {
			found, content = found+1, content || c && d
		}
	}
	switch {
	case found > 0 && found == max(len(a), len(b)) && found <= mostRuns:
		return evidence.Different
	case content && max(x.words, y.words) <= 2*brief, swapped(x, y, false):
		return evidence.Unknown
	}
	return evidence.Same
}

// lacking are the places of words of t that o lacks, and whether there is content among these.
func (t *text) lacking(o *text) map[place]bool {
	places := map[place]bool{}
	for i := 0; i < len(t.tokens) && len(places) < some; i++ {
		start, content := i, false
		for i < len(t.tokens) && o.count[t.tokens[i].id] == 0 && !t.tokens[i].entry.neutral && !t.tokens[i].number {
			content = content || t.tokens[i].weight > 0
			i++
		}
		if i > start && i-start <= runWords {
			places[t.placeOf(start, i)] = content
		}
	}
	return places
}
