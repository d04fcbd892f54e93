package compare

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// brief is the number of words up to which an answer states one fact.
const brief = 24

// mostNames is the number of names that one text lacks whose places are compared.
const mostNames = 16

// contradicts names a fact in which two answers differ, or returns "". What only one of them has is none.
func contradicts(x, y *text) string {
	switch {
	case x.stance*y.stance < 0:
		return "polarity"
	case refuses(x) != refuses(y):
		return "refusal"
	case otherLanguage(x, y):
		return "language"
	case lacksCode(x, y) && lacksCode(y, x):
		return "code"
	case otherNumbers(x, y):
		return "number"
	case otherNames(x, y):
		return "name"
	case opposed(x, y):
		return "opposite"
	case swapped(x, y):
		return "order"
	case otherMarks(x, y):
		return "mark"
	case (x.negated == 0) != (y.negated == 0) && max(x.words, y.words) <= brief:
		return "polarity"
	}
	return ""
}

// refuses reports whether an answer begins with the words of a refusal.
func refuses(t *text) bool {
	said := ""
	for i := range min(len(t.tokens), 12) {
		said += t.tokens[i].raw + " "
	}
	for _, p := range [...]string{"i can not", "i not help", "i not able", "i not assist", "i am unable", "i am not able", "i unable"} {
		if strings.Contains(said, p) || strings.Contains(said, "i not ") && strings.Contains(said, "help") {
			return true
		}
	}
	return false
}

// language is the script, or for Latin script the language, and -1 if neither is clear.
func language(t *text) int {
	var counts [7]int
	scripts := map[int]int{}
	for i := range min(len(t.tokens), 200) {
		w := t.tokens[i].raw
		if w == "" || t.tokens[i].number {
			continue
		}
		c := []rune(w)[0]
		scripts[script(c)]++
		if l, ok := languages[w]; ok && l >= 0 {
			counts[l]++
		}
	}
	for s, n := range scripts {
		if s != 0 && 2*n > t.words {
			return 100 + s
		}
	}
	best, second := -1, 0
	for l, n := range counts {
		if best < 0 || n > counts[best] {
			best = l
		}
	}
	for l, n := range counts {
		if l != best {
			second = max(second, n)
		}
	}
	if counts[best] < 2 || counts[best] <= 2*second {
		return -1
	}
	return best
}

func script(c rune) int {
	for i, table := range [...]*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Hangul} {
		if unicode.Is(table, c) {
			return i
		}
	}
	if unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return 7
	}
	return 8
}

func otherLanguage(x, y *text) bool {
	a, b := language(x), language(y)
	return a >= 0 && b >= 0 && a != b
}

// lacksCode reports whether x lacks code that y has.
func lacksCode(x, y *text) bool {
	if len(x.spans) == 0 || len(y.spans) == 0 {
		return false
	}
	all := strings.Join(x.spans, "\n")
	for _, s := range y.spans {
		if !strings.Contains(all, s) && !x.says(s) {
			return true
		}
	}
	return false
}

// isCode reports whether one text is the code of the other.
func isCode(x, y *text) bool {
	c := &text{spans: []string{x.whole}, digest: x.digest}
	return len(x.spans) == 0 && len(y.spans) > 0 && len(x.whole) > 0 && !lacksCode(c, y) && y.hasSpan(x.whole)
}

func (t *text) hasSpan(s string) bool { return slices.Contains(t.spans, s) }

// equalCode reports whether the code of one text is part of that of the other, and few words explain it.
func equalCode(x, y *text) bool {
	if len(x.spans) == 0 || len(y.spans) == 0 {
		return false
	}
	return min(x.words, y.words) <= brief && !lacksCode(x, y) && !lacksCode(y, x)
}

// says reports whether a word that y set as code is a plain word of x.
func (t *text) says(span string) bool { return t.digest[stem(strings.ToLower(span))] > 0 }

// otherNumbers reports whether each text has a number that the other has neither equal, nor rounded.
func otherNumbers(x, y *text) bool { return lacksNumber(x, y) && lacksNumber(y, x) || otherUnit(x, y) }

func lacksNumber(x, y *text) bool {
	for i := range y.tokens {
		if k := &y.tokens[i]; k.number && x.digest[k.key] == 0 && !x.rounds(k) {
			return true
		}
	}
	return false
}

// rounds reports whether t has the number k with other digits behind: 8,849 for 8,848.86. Small numbers and years are exact.
func (t *text) rounds(k *token) bool {
	for i := range t.tokens {
		if o := &t.tokens[i]; o.number && o.value != 0 && math.Abs(o.value-k.value) <= .005*math.Abs(k.value) && (k.value > 2100 || k.value != math.Trunc(k.value)) && o.unit == k.unit {
			return true
		}
	}
	return false
}

// otherUnit reports whether a number that each text has once has another unit.
func otherUnit(x, y *text) bool {
	for i := range x.tokens {
		k := &x.tokens[i]
		if !k.number || k.unit == "" || x.digest[k.key] != 1 || y.digest[k.key] != 1 {
			continue
		}
		for j := range y.tokens {
			if o := &y.tokens[j]; o.number && o.key == k.key && o.unit != "" && o.unit != k.unit {
				return true
			}
		}
	}
	return false
}

// otherNames reports whether each text has a name that the other lacks, and they share none or state one fact.
func otherNames(x, y *text) bool {
	a, common := names(x, y)
	b, _ := names(y, x)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	if common == 0 || max(x.words, y.words) <= brief/2 {
		return true
	}
	for _, i := range a {
		for _, j := range b {
			if p, q := x.placeOf(i, i+1), y.placeOf(j, j+1); p.before == q.before && p.before != "" {
				return true
			}
		}
	}
	return false
}

// names returns the places of a few names of x that y lacks, and counts those that it has.
func names(x, y *text) (lacking []int, common int) {
	for i := range x.tokens {
		switch k := &x.tokens[i]; {
		case !k.name:
		case y.digest[k.key] > 0:
			common++
		case len(lacking) < mostNames:
			lacking = append(lacking, i)
		}
	}
	return lacking, common
}

// opposed reports whether one text has a word that the other lacks, and the other its opposite beside an equal word.
func opposed(x, y *text) bool {
	for i := range x.tokens {
		k := &x.tokens[i]
		o := opposites[k.raw]
		if o == "" || y.digest[k.key] > 0 {
			continue
		}
		if s := stem(o); y.digest[s] > 0 && x.digest[s] == 0 && y.hasAt(s, x.placeOf(i, i+1)) {
			return true
		}
	}
	return false
}

// hasAt reports whether t has a word with one of the neighbours of a place.
func (t *text) hasAt(key string, p place) bool {
	for i := range t.tokens {
		if t.tokens[i].key == key {
			q := t.placeOf(i, i+1)
			return p.before == q.before || p.after == q.after
		}
	}
	return false
}

// otherMarks reports whether texts of equal content differ in a mark such as = or %.
func otherMarks(x, y *text) bool {
	a, b := x.contents(), y.contents()
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if x.tokens[a[i]].key != y.tokens[b[i]].key {
			return false
		}
	}
	return x.marks > 0 && y.marks > 0 && x.marks != y.marks
}
