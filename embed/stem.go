package embed

import "bytes"

// stem cuts the endings of plural, past and progressive, and nothing else: relate and relativity are two topics. It returns
// a part of w, so that it allocates nothing; baking, bakes and bake all have the stem bak.
func stem(w []byte) []byte {
	if len(w) < 4 || w[0] > 'z' || w[0] < 'a' {
		return w
	}
	for _, ending := range endingsIn(w[len(w)-1]) {
		if cut := w[:max(0, len(w)-len(ending))]; len(cut) >= 3 && string(w[len(cut):]) == ending && vowelIn(cut) && !partOfWord(w) {
			return root(cut)
		}
	}
	return root(w)
}

// endingsIn are the endings with this last letter, in the order in which they are tried.
func endingsIn(last byte) []string {
	switch last {
	case 's':
		return inS
	case 'g':
		return inG
	case 'd':
		return inD
	case 'y':
		return inY
	}
	return nil
}

var inS, inG, inD, inY = []string{"ings", "ies", "es", "s"}, []string{"ing"}, []string{"ied", "ed"}, []string{"edly"}

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

func vowelIn(w []byte) bool {
	for _, c := range w {
		if vowel(c) || c == 'y' {
			return true
		}
	}
	return false
}

func vowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }

// contracted removes the n't of a contraction and returns the verb before it.
func contracted(w []byte) ([]byte, bool) {
	head, ok := bytes.CutSuffix(w, []byte("n't"))
	if ok && string(head) == "ca" {
		head = w[:3] // can't: its first n belongs to can
	}
	return head, ok
}
