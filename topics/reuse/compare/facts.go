package compare

import (
	"math"
	"slices"
	"strings"
)

const (
	brief = 24  // words up to which an answer states one fact
	some  = 128 // numbers, names and first words that are looked at where each is compared with others
)

// contradicts names a fact in which two answers differ, one in which answers to an equal prompt do not where there is one, or returns "". What only one
// of them has is none.
func contradicts(x, y *text, n *Noise) (usual string) {
	for _, fact := range []struct {
		why     string
		differs func(x, y *text) bool
	}{
		{"polarity", otherStance}, {"negation", otherNegation}, {"language", otherLanguage}, {"code", otherCode}, {"number", otherNumber}, {"name", otherNames}, {"opposite", opposed}, {"order", otherOrder},
	} {
		if !fact.differs(x, y) {
			continue
		}
		if !n.usual(fact.why) {
			return fact.why
		}
		usual = fact.why
	}
	return usual
}

func otherStance(x, y *text) bool { return x.stance*y.stance < 0 }

func otherNegation(x, y *text) bool {
	return (x.negated == 0) != (y.negated == 0) && max(x.words, y.words) <= brief
}

func otherLanguage(x, y *text) bool {
	a, b := language(x), language(y)
	return a > 0 && b > 0 && a != b
}

func otherCode(x, y *text) bool { return lacksCode(x, y) && lacksCode(y, x) }

func otherNumber(x, y *text) bool { return lacksNumber(x, y) && lacksNumber(y, x) || otherUnit(x, y) }

func otherOrder(x, y *text) bool { return swapped(x, y, true) }

// language tells the language of a text in Latin letters by frequent words, and any other by its script. 0: it is not clear.
func language(t *text) (best int) {
	var counts [8]int
	for i := range min(len(t.tokens), some) {
		counts[max(0, t.tokens[i].entry.language)]++
	}
	if c, ok := t.script(); ok {
		return c
	}
	counts[0] = 0
	for l, n := range counts {
		if n > counts[best] {
			best = l
		}
	}
	for l, n := range counts {
		if l != best && 2*n >= counts[best] {
			return 0
		}
	}
	if counts[best] < 2 {
		return 0
	}
	return best
}

// script is the block of Unicode of most letters beyond Latin ones, if these are most.
func (t *text) script() (int, bool) {
	var blocks [0x31]int
	letters, most := 0, 0
	for _, c := range t.source[:min(len(t.source), 4*some)] {
		if c > 0x24f && c < 0x2000 || c > 0x3040 {
			blocks[min(c>>8, 0x30)]++
		} else if c|0x20 >= 'a' && c|0x20 <= 'z' {
			letters++
		}
	}
	for b, n := range blocks {
		if n > blocks[most] {
			most = b
		}
	}
	return 8 + most, blocks[most] > letters
}

// lacksCode reports whether x has code, and lacks some that y has.
func lacksCode(x, y *text) bool {
	if len(x.spans) == 0 {
		return false
	}
	all := strings.Join(x.spans, "\n")
	return slices.ContainsFunc(y.spans, func(s string) bool { return !strings.Contains(all, s) && !strings.Contains(x.source, s) })
}

// sameCode reports whether one text is the code of the other, or all code is equal and few words explain it.
func sameCode(x, y *text) bool {
	if len(x.spans) == 0 && len(y.spans) > 0 {
		x = &text{spans: []string{squeeze(x.source)}, source: x.source}
		return slices.Contains(y.spans, x.spans[0]) && !lacksCode(x, y)
	}
	return len(x.spans) > 0 && len(y.spans) > 0 && min(x.words, y.words) <= brief && !lacksCode(x, y) && !lacksCode(y, x)
}

// lacksNumber reports whether y has a number that x has neither equal, nor with other digits behind: 8,849 for 8,848.86. Small numbers and
// years are exact.
func lacksNumber(x, y *text) bool {
	numbers := x.places(func(k *token) bool { return k.number })
	return slices.ContainsFunc(y.tokens, func(k token) bool {
		return k.number && x.count[k.id] == 0 && !slices.ContainsFunc(numbers, func(i int) bool {
			o := &x.tokens[i]
			return (k.value > 2100 || k.value != math.Trunc(k.value)) && math.Abs(o.value-k.value) <= .005*math.Abs(k.value)
		})
	})
}

// places returns the places of the first tokens that fit.
func (t *text) places(fits func(*token) bool) (at []int) {
	for i := 0; i < len(t.tokens) && len(at) < some; i++ {
		if fits(&t.tokens[i]) {
			at = append(at, i)
		}
	}
	return at
}

// otherUnit reports whether a number that each text has once has another unit.
func otherUnit(x, y *text) bool {
	units := map[int32]string{}
	for _, k := range x.tokens {
		if k.number && k.unit != "" && x.count[k.id] == 1 {
			units[k.id] = k.unit
		}
	}
	return slices.ContainsFunc(y.tokens, func(k token) bool {
		return k.unit != "" && units[k.id] != "" && units[k.id] != k.unit && y.count[k.id] == 1
	})
}

// otherNames reports whether each text has a name that the other lacks, and they share none, state one fact, or have the two at one place.
func otherNames(x, y *text) bool {
	a := x.places(func(k *token) bool { return k.name && y.count[k.id] == 0 })
	b := y.places(func(k *token) bool { return k.name && x.count[k.id] == 0 })
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	common := slices.ContainsFunc(x.tokens, func(k token) bool { return k.name && y.count[k.id] > 0 })
	if !common || max(x.words, y.words) <= brief/2 {
		return true
	}
	before := map[int32]bool{}
	for _, i := range a {
		before[x.placeOf(i, i+1).before] = true
	}
	return slices.ContainsFunc(b, func(i int) bool { p := y.placeOf(i, i+1).before; return p != 0 && before[p] })
}

// opposed reports whether one text has a word that the other lacks, and the other its opposite beside an equal word.
func opposed(x, y *text) bool {
	b := y.places(func(k *token) bool { return k.entry.opposite != "" && x.count[k.id] == 0 })
	for _, i := range x.places(func(k *token) bool { return k.entry.opposite != "" && y.count[k.id] == 0 }) {
		for _, j := range b {
			p, q := x.placeOf(i, i+1), y.placeOf(j, j+1)
			if x.tokens[i].entry == lexicon[y.tokens[j].entry.opposite] && (p.before == q.before || p.after == q.after) {
				return true
			}
		}
	}
	return false
}

// swapped reports whether texts of equal content, in the same order, differ in a mark, or have two words in each other's place: from Oslo to Rome.
// Unless it is about names or numbers, this may be another way to say the same.
func swapped(x, y *text, names bool) bool {
	content := func(k *token) bool { return k.weight > 0 }
	a, b := x.places(content), y.places(content)
	if len(a) != len(b) || len(a) == some {
		return false
	}
	one, two, last, apart := int32(0), int32(0), 0, false
	for i := range a {
		k, o := x.tokens[a[i]].id, y.tokens[b[i]].id
		switch {
		case k == o:
			continue
		case one == 0:
			one, two = k, o
			if k, o := &x.tokens[a[i]], &y.tokens[b[i]]; names && !(k.capital && o.capital) && !(k.number && o.number) {
				return false
			}
		case k != one && k != two || o != one && o != two:
			return false
		default:
			apart = apart || !x.joins(last, a[i])
		}
		last = a[i]
	}
	return apart || one == 0 && x.marks > 0 && y.marks > 0 && x.marks != y.marks
}

// joins reports whether the tokens at i and j are members of an enumeration.
func (t *text) joins(i, j int) bool {
	return j == i+1 || j == i+2 && !t.tokens[i+1].number && t.tokens[i+1].weight == 0 && (t.is(i+1, "and") || t.is(i+1, "or"))
}

func (t *text) is(i int, w string) bool { return t.tokens[i].entry == lexicon[w] }
