package edits

import "reprise/topics/reuse/normal"

// misspelt reports whether two words are a listed word and a misspelling of it, on either side, in "how do I". The word before them is a
// function word: behind a verb such as "write" they could be meant as they are written.
func (al *alignment) misspelt(i, j int) bool {
	a, b := &al.stored.tokens[i], &al.asked.tokens[j]
	if al.stored.how < 0 || al.asked.how < 0 || a.Kind != normal.Word || b.Kind != normal.Word || al.stored.name(i) || al.asked.name(j) {
		return false
	}
	if al.stored.digits(Span{i, i + 1}) || i == 0 || !leading[al.stored.tokens[i-1].Text] {
		return false
	}
	return right[a.Text] && misspelt(a.Text, b.Text) || right[b.Text] && misspelt(b.Text, a.Text)
}

// misspelt reports whether wrong is a word with two inner letters in each other's place, or with one of them missing or twice. The first
// and the last letter are right. The list of words has none of which that makes another word.
func misspelt(word, wrong string) bool {
	n, m := len(word), len(wrong)
	if n-m > 1 || m-n > 1 || m < 5 || word == wrong || word[0] != wrong[0] || word[n-1] != wrong[m-1] {
		return false
	}
	i := 0
	for i < min(n, m) && word[i] == wrong[i] {
		i++
	}
	switch m {
	case n:
		return i+2 < n && word[i] == wrong[i+1] && word[i+1] == wrong[i] && word[i+2:] == wrong[i+2:]
	case n - 1:
		return word[i+1:] == wrong[i:]
	default:
		return wrong[i] == word[i-1] && word[i:] == wrong[i+1:]
	}
}
