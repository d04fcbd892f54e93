package embed

import (
	"cmp"
	"math"
	"slices"
)

// The features of a text and their shares, found by measuring several mixes on question pairs and on intent sets.
const (
	stemShare   = 1.0 // one per stem
	bigramShare = 0.3 // one per two neighbouring stems: a small effect of word order
	gramShare   = 0.8 // all character n-grams of one word together: for typos and inflections
	gramMin     = 3
	gramMax     = 5
)

// feature is one weighted bucket of a text; the vector of the text is the sum of its features.
type feature struct {
	hash   uint64
	weight float32
}

// addFeatures adds the features of words to v. It sorts words.
func addFeatures(v []float32, words []word) {
	var buf [128]feature
	list := buf[:0]
	for i, w := range words {
		list = append(list, feature{w.stem, stemShare * w.weight})
		if i > 0 {
			p := words[i-1]
			list = append(list, feature{finish(p.stem*prime ^ w.stem), bigramShare * min(p.weight, w.weight)})
		}
	}
	slices.SortFunc(list, func(a, b feature) int { return cmp.Compare(a.hash, b.hash) })
	for n := 0; len(list) > 0; list = list[n:] {
		n = repeats(list, func(f feature) uint64 { return f.hash })
		add(v, list[0].hash, list[0].weight*damped(n))
	}
	slices.SortFunc(words, func(a, b word) int { return cmp.Compare(a.hash, b.hash) })
	for n := 0; len(words) > 0; words = words[n:] {
		n = repeats(words, func(w word) uint64 { return w.hash })
		addGrams(v, words[0].text, gramShare*words[0].weight*damped(n))
	}
}

// repeats counts how many elements at the head of a sorted list are the same.
func repeats[T any](list []T, key func(T) uint64) int {
	n := 1
	for n < len(list) && key(list[n]) == key(list[0]) {
		n++
	}
	return n
}

// damped is the weight of a feature that occurs n times: each further occurrence adds less.
func damped(n int) float32 {
	if n == 1 {
		return 1
	}
	return float32(1 + math.Log(float64(n)))
}

// addGrams adds the character 3- to 5-grams of <text>. Each has weight / sqrt(their number), so that their sum has length
// weight for a long word and for a short one.
func addGrams(v []float32, text []byte, weight float32) {
	total := 0
	for n := gramMin; n <= gramMax; n++ {
		total += max(0, len(text)+2-n+1)
	}
	if total == 0 {
		return
	}
	weight /= float32(math.Sqrt(float64(total)))
	for from := -1; from+gramMin <= len(text)+1; from++ {
		h := uint64(offset)
		for i := from; i < from+gramMax && i <= len(text); i++ {
			h = (h ^ uint64(framed(text, i))) * prime
			if i-from+1 >= gramMin {
				add(v, finish(h^gramSalt), weight)
			}
		}
	}
}

// framed is the byte at i of <text>, where text without the brackets begins at 0.
func framed(text []byte, i int) byte {
	switch i {
	case -1:
		return '<'
	case len(text):
		return '>'
	}
	return text[i]
}

// add puts one feature into its bucket. The sign makes collisions cancel out on average instead of adding up.
func add(v []float32, hash uint64, weight float32) {
	if hash>>63 == 1 {
		weight = -weight
	}
	v[(hash>>32&0x7fffffff)*uint64(len(v))>>31] += weight
}

// FNV-1a with its own constants, then a mixer: with FNV alone the high bits of short inputs are too similar.
const (
	offset   = 0xcbf29ce484222325
	prime    = 0x100000001b3
	gramSalt = 0x9e3779b97f4a7c15 // gives the gram "cat" another hash than the word "cat"
)

func hashBytes(b []byte) uint64 {
	h := uint64(offset)
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	return finish(h)
}

func finish(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
