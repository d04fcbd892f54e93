package embed

import "bytes"

// stem cuts the endings of plural, past and progressive, and nothing else: relate and relativity are two topics. It returns
// a part of w, so that it allocates nothing; baking, bakes and bake all have the stem bak.
func stem(w []byte) []byte {
	if len(w) < 4 || w[0] > 'z' || w[0] < 'a' {
		return w
	}
	for _, rule := range endings {
		if cut, ok := bytes.CutSuffix(w, rule); ok && len(cut) >= 3 && vowelIn(cut) && !partOfWord(w) {
			return root(cut)
		}
	}
	return root(w)
}

// endings are tried in this order.
var endings = [][]byte{[]byte("ings"), []byte("ing"), []byte("edly"), []byte("ied"), []byte("ed"), []byte("ies"), []byte("es"), []byte("s")}

// partOfWord reports whether the letters of an ending are part of the word: class, virus, analysis, speed.
func partOfWord(w []byte) bool {
	for _, end := range [...]string{"ss", "us", "is", "eed"} {
		if string(w[len(w)-min(len(end), len(w)):]) == end {
			return true
		}
	}
	return false
}

// root drops the last letter where the word without its ending has one too many: the second of two consonants (plann), a
// final e or y (bake, city).
func root(w []byte) []byte {
	n := len(w)
	switch last := w[n-1]; {
	case n > 3 && (last == 'e' || last == 'y' || last == 'i'):
		return w[:n-1]
	case n > 3 && last == w[n-2] && !vowel(last) && last != 's' && last != 'l':
		return w[:n-1]
	}
	return w
}

func vowelIn(w []byte) bool { return bytes.ContainsAny(w, "aeiouy") }

func vowel(c byte) bool { return bytes.IndexByte([]byte("aeiou"), c) >= 0 }

// contracted removes the n't of a contraction and returns the verb before it.
func contracted(w []byte) ([]byte, bool) {
	head, ok := bytes.CutSuffix(w, []byte("n't"))
	if ok && string(head) == "ca" {
		head = w[:3] // can't: its first n belongs to can
	}
	return head, ok
}
