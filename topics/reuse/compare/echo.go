package compare

import (
	"strings"
	"unicode"
)

// Bounds of what is an echo, in words.
const (
	leastEcho  = 5
	mostEchoed = 64 // of a prompt
	mostRead   = 1024
)

// echoesPrompt reports whether an answer has most of the words of its prompt in a row, in whatever case and marks: it is made of the prompt, as a
// headline, a correction or a quotation is, and little in it is without meaning.
func echoesPrompt(answer, prompt string) bool {
	asked := bareWords(prompt, mostEchoed+1)
	if len(asked) < leastEcho || len(asked) > mostEchoed {
		return false
	}
	least := max(leastEcho, (3*len(asked)+4)/5)
	var run, next [mostEchoed + 1]int // run[i+1]: words in a row that end with asked[i] and the word before
	for _, w := range bareWords(answer, mostRead) {
		for i, a := range asked {
			if next[i+1] = 0; a == w {
				if next[i+1] = run[i] + 1; next[i+1] >= least {
					return true
				}
			}
		}
		run = next
	}
	return false
}

// bareWords are the words of a text without case and marks, at most so many.
func bareWords(s string, most int) (words []string) {
	for w := range strings.FieldsFuncSeq(s, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '\'' && c != '’' }) {
		if w = strings.ToLower(strings.ReplaceAll(w, "’", "'")); len(words) < most {
			words = append(words, w)
		}
	}
	return words
}
