package embed

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// naiveVector is lexical without anything that makes it fast: it sorts whole lists with slices.SortFunc, looks at every rune by its
// class, and tries every ending.
func naiveVector(text string) []float32 {
	if len(text) > MaxText {
		return nil
	}
	v := make([]float32, builtinDim)
	words := naiveTokens([]rune(text))
	var list []feature
	for i, w := range words {
		list = append(list, feature{hash: w.stem, weight: stemShare * w.weight})
		if i > 0 {
			p := words[i-1]
			list = append(list, feature{hash: finish(p.stem*prime ^ w.stem), weight: bigramShare * min(p.weight, w.weight)})
		}
	}
	slices.SortFunc(list, func(a, b feature) int { return cmp.Compare(a.hash, b.hash) })
	for n := 0; len(list) > 0; list = list[n:] {
		for n = 1; n < len(list) && list[n].hash == list[0].hash; n++ {
		}
		naiveAdd(v, list[0].hash, list[0].weight*damped(n))
	}
	slices.SortFunc(words, func(a, b naiveWord) int { return cmp.Compare(a.hash, b.hash) })
	for n := 0; len(words) > 0; words = words[n:] {
		for n = 1; n < len(words) && words[n].hash == words[0].hash; n++ {
		}
		naiveGrams(v, "<"+words[0].text+">", gramShare*words[0].weight*damped(n))
	}
	if !Normalize(v) {
		return nil
	}
	return v
}

func naiveGrams(v []float32, framed string, weight float32) {
	var grams []string
	for from := range len(framed) {
		for n := gramMin; n <= gramMax && from+n <= len(framed); n++ {
			grams = append(grams, framed[from:from+n])
		}
	}
	for _, g := range grams {
		naiveAdd(v, finish(naiveFNV(g)^gramSalt), weight/float32(math.Sqrt(float64(len(grams)))))
	}
}

func naiveAdd(v []float32, hash uint64, weight float32) {
	if hash>>63 == 1 {
		weight = -weight
	}
	v[(hash>>32&0x7fffffff)*uint64(len(v))>>31] += weight
}

func naiveFNV(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s)
	return h.Sum64()
}

type naiveWord struct {
	text       string
	hash, stem uint64
	weight     float32
}

func naiveTokens(text []rune) (words []naiveWord) {
	at := func(i int) rune {
		if i < 0 || i >= len(text) {
			return ' '
		}
		return text[i]
	}
	alnum := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	now := ""
	flush := func() {
		if head, ok := strings.CutSuffix(now, "n't"); ok {
			if head == "ca" {
				head = "can"
			}
			words = append(words, naiveWords(head)...)
			now = string(not)
		} else {
			now, _, _ = strings.Cut(now, "'")
		}
		words = append(words, naiveWords(now)...)
		now = ""
	}
	for i, r := range text {
		one := len(now) == 1 && now[0] >= 'a' && now[0] <= 'z'
		switch {
		case ideograph(r):
			flush()
			now = string(r)
			flush()
		case alnum(r) || unicode.IsMark(r):
			now += string(unicode.ToLower(r))
		case r == '.' && digit(at(i-1)) && digit(at(i+1)),
			r == '+' && len(now) == 2 && now[1] == '+' && !alnum(at(i+1)),
			r == '+' && one && at(i+1) == '+' && !alnum(at(i+2)),
			r == '#' && one && !alnum(at(i+1)):
			now += string(r)
		case (r == '\'' || r == '’') && now != "" && alnum(at(i+1)):
			now += "'"
		default:
			flush()
		}
	}
	flush()
	return words
}

var naiveLists = func() map[string]string {
	m := make(map[string]string)
	for _, list := range []string{mid, low, negations} {
		for w := range strings.FieldsSeq(list) {
			m[w] = list
		}
	}
	return m
}()

func naiveWords(text string) []naiveWord {
	if text == "" {
		return nil
	}
	weight := float32(tierFull)
	switch {
	case naiveLists[text] == negations:
		text = string(not)
	case naiveLists[text] == low:
		weight = tierLow
	case naiveLists[text] == mid:
		weight = tierMid
	}
	return []naiveWord{{text, finish(naiveFNV(text)), finish(naiveFNV(naiveStem(text))), weight}}
}

func naiveStem(w string) string {
	if len(w) < 4 || w[0] > 'z' || w[0] < 'a' {
		return w
	}
	for _, ending := range []string{"ings", "ing", "edly", "ied", "ed", "ies", "es", "s"} {
		cut, ok := strings.CutSuffix(w, ending)
		part := strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is") || strings.HasSuffix(w, "eed")
		if ok && len(cut) >= 3 && strings.ContainsAny(cut, "aeiouy") && !part {
			return string(root([]byte(cut)))
		}
	}
	return string(root([]byte(w)))
}

// pieces make texts with everything that a token can have.
var pieces = strings.Fields(`a b i the not don't can't won’t what's work working works worked note thing things thinging
	c++ C# f# a+b 3.5 1. .5 1,000 北 京 日本 カ 한국 é É ß ſ İ ı ’ ' + ++ # n't 'n't ca n't' sings speed class baking bakes edly hurriedly
	tried ties ing sings ZZZZZZ _ - 🍕 void Ⱥ ǅ ٣ ४ Ⅷ ª ` + "\u0301 \xff \xc3 é\xff")

func mixture(rng *rand.Rand, n int) string {
	var b bytes.Buffer
	for range n {
		b.WriteString(pieces[rng.IntN(len(pieces))])
		b.WriteString([]string{"", " ", " ", "\n", ", "}[rng.IntN(5)])
	}
	return b.String()[:min(b.Len(), MaxText)]
}

func equalBits(t *testing.T, text string) {
	t.Helper()
	a, b := lexical(text), naiveVector(text)
	if !slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
		t.Fatalf("the vector of %.300q is not the naive one", text)
	}
}

// TestNaive compares vectors to the last bit: those that are stored were made by earlier versions.
func TestNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		equalBits(t, mixture(rng, rng.IntN(40)))
	}
	for range 30 {
		equalBits(t, mixture(rng, 200+rng.IntN(1500)))
	}
	for _, p := range append(pieces, "a ", "word ", "don't ", "1.") {
		equalBits(t, strings.Repeat(p, MaxText/len(p)))
	}
	equalBits(t, oneBucket())
}

// oneBucket is a text of different words whose hashes have the same high bits.
func oneBucket() string {
	var b strings.Builder
	for i := 0; b.Len() < MaxText-10; i++ {
		if w := fmt.Sprintf("q%d", i); hashBytes([]byte(w))>>55 == 7 {
			b.WriteString(w + " ")
		}
	}
	return b.String()
}

// TestVectorsToTheLastBit fails where a change moves a bit of a vector, that of another order of equal features in slices.SortFunc too.
func TestVectorsToTheLastBit(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors may fuse a product and a sum")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	h := fnv.New64a()
	for i := range 2000 {
		for _, x := range lexical(mixture(rng, i%400)) {
			bits := math.Float32bits(x)
			h.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
		}
	}
	if got := h.Sum64(); got != 0x863d7d9152301d12 {
		t.Errorf("vectors of %s hash to %#x", NewBuiltin().Space(), got)
	}
}
