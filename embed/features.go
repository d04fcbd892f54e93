package embed

import (
	"cmp"
	"math"
	"math/bits"
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

// vector is the sum of the features of a text, each in one of its buckets.
type vector [builtinDim]float32

// feature is one weighted bucket of a text.
type feature struct {
	hash   uint64
	weight float32
	word   int32 // where the feature is a word: its place in the text
}

// addFeatures adds the features of words to v, whose bytes are in text, each kind in the order of the hashes, so that the sums are the same to the last bit
// however the features were found.
func (v *vector) addFeatures(words []word, text []byte) {
	var buf [256]feature
	list, spare := buf[:0:128], buf[128:]
	if n := 2 * len(words); n > len(spare) {
		all := make([]feature, 2*n)
		list, spare = all[:0:n], all[n:]
	}
	for i, w := range words {
		list = append(list, feature{hash: w.stem, weight: stemShare * w.weight})
		if i > 0 {
			p := words[i-1]
			list = append(list, feature{hash: finish(p.stem*prime ^ w.stem), weight: bigramShare * min(p.weight, w.weight)})
		}
	}
	sorted := byHash(list, spare)
	if mixed(sorted) {
		// Of equal features the first counts, and which one that is depends on the algorithm of slices.SortFunc.
		slices.SortFunc(list, compareHashes)
		sorted = list
	}
	for n := 0; len(sorted) > 0; sorted = sorted[n:] {
		n = repeats(sorted)
		v.add(sorted[0].hash, sorted[0].weight*damped(n))
	}
	list = list[:0]
	for i, w := range words {
		list = append(list, feature{w.hash, gramShare * w.weight, int32(i)})
	}
	sorted = byHash(list, spare)
	for n := 0; len(sorted) > 0; sorted = sorted[n:] {
		n = repeats(sorted)
		w := words[sorted[0].word]
		v.addGrams(text[w.from:w.to], sorted[0].weight*damped(n))
	}
}

func compareHashes(a, b feature) int { return cmp.Compare(a.hash, b.hash) }

// byHash returns list sorted by hash, in spare, which is as long. Features are dealt by the high bits of their hashes, which are
// spread evenly, into as many buckets as there are features; where many are in one bucket (a word that is often repeated, or words
// chosen for it) the bucket is sorted on its own.
func byHash(list, spare []feature) []feature {
	const few = 12
	var short [128]int32
	var ends []int32
	shift := 64 - bits.Len(uint(len(list)))
	if n := 1 << (64 - shift); n <= len(short) {
		ends = short[:n]
	} else {
		ends = make([]int32, n)
	}
	for i := range list {
		ends[list[i].hash>>shift]++
	}
	sum := int32(0)
	for i, n := range ends {
		ends[i], sum = sum, sum+n
	}
	out := spare[:len(list)]
	for _, f := range list {
		at := &ends[f.hash>>shift]
		out[*at] = f
		*at++
	}
	from := int32(0)
	for _, end := range ends {
		if end-from > few {
			slices.SortFunc(out[from:end], compareHashes)
		}
		from = end
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j].hash < out[j-1].hash; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// mixed reports whether equal features of a sorted list have different weights, as those of work and working have.
func mixed(list []feature) bool {
	for i := 1; i < len(list); i++ {
		if list[i].hash == list[i-1].hash && list[i].weight != list[i-1].weight {
			return true
		}
	}
	return false
}

// repeats counts how many features at the head of a sorted list are the same.
func repeats(list []feature) int {
	n := 1
	for n < len(list) && list[n].hash == list[0].hash {
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
func (v *vector) addGrams(text []byte, weight float32) {
	var buf [48]byte
	framed := append(append(append(buf[:0], '<'), text...), '>')
	total := 0
	for n := gramMin; n <= gramMax; n++ {
		total += max(0, len(framed)-n+1)
	}
	weight /= float32(math.Sqrt(float64(total)))
	for ; len(framed) >= gramMin; framed = framed[1:] {
		h := uint64(offset)
		for i, c := range framed[:min(gramMax, len(framed))] {
			h = (h ^ uint64(c)) * prime
			if i+1 >= gramMin {
				v.add(finish(h^gramSalt), weight)
			}
		}
	}
}

// add puts one feature into its bucket. The sign makes collisions cancel out on average instead of adding up.
func (v *vector) add(hash uint64, weight float32) {
	if hash>>63 == 1 {
		weight = -weight
	}
	v[(hash>>32&0x7fffffff)*builtinDim>>31] += weight
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
