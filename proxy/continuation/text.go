package continuation

import (
	"strings"
	"unicode/utf8"
)

// tokenBytes is how many bytes of text count as a token: the usual estimate for English, and the unit of the proxy's prefix blocks. The
// built-in embedder has no tokenizer to ask.
const tokenBytes = 4

// Text is the text that is embedded for a prediction: the last window of a user's prompts, the oldest first, one a line, cut to budget tokens
// in all (papers/004 §3.2). The budget is split evenly over the prompts; what a short prompt leaves goes to the longer ones. Of a prompt over
// its part, half of the part is from its beginning and half from its end, cut between words where one ends near. A window or a budget below
// 1 is an empty text. It takes one allocation for the text, and another for a window over 16.
func Text(prompts []string, window, budget int) string {
	if window < 1 || budget < 1 {
		return ""
	}
	prompts = prompts[max(0, len(prompts)-window):]
	var few [16]int
	parts := split(prompts, budget*tokenBytes, few[:0])
	var b strings.Builder
	size := 0
	for _, n := range parts {
		size += n + len(gap) + 1
	}
	b.Grow(size)
	for i, p := range prompts {
		if parts[i] == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		shorten(&b, p, parts[i])
	}
	return b.String()
}

// split appends how many bytes each prompt gets of a budget: the same for all, except for those that need less.
func split(prompts []string, budget int, parts []int) []int {
	for range prompts {
		parts = append(parts, 0)
	}
	open := len(prompts) // prompts that have less than they need
	for open > 0 && budget >= open {
		each := budget / open
		for i, p := range prompts {
			got := min(len(p)-parts[i], each)
			parts[i] += got
			budget -= got
		}
		open = count(prompts, parts)
	}
	return parts
}

// count is how many prompts need more than their part.
func count(prompts []string, parts []int) (n int) {
	for i, p := range prompts {
		if parts[i] < len(p) {
			n++
		}
	}
	return n
}

// gap is between the beginning and the end of a prompt that was cut.
const gap = " … "

// shorten writes a prompt, or its beginning and its end, of size bytes together at most.
func shorten(b *strings.Builder, prompt string, size int) {
	if len(prompt) <= size {
		b.WriteString(prompt)
		return
	}
	b.WriteString(head(prompt, (size+1)/2))
	b.WriteString(gap)
	b.WriteString(tail(prompt, size/2))
}

// near is how far back a cut moves to the end of a word, in bytes.
const near = 16

// head is at most the first size bytes of a text.
func head(text string, size int) string {
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	if at := strings.LastIndexAny(text[max(0, size-near):size+1], " \t\n"); at >= 0 {
		size = max(0, size-near) + at
	}
	return text[:size]
}

// tail is at most the last size bytes of a text.
func tail(text string, size int) string {
	from := len(text) - size
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	if at := strings.IndexAny(text[from:min(len(text), from+near)], " \t\n"); at >= 0 {
		from += at + 1
	}
	return text[from:]
}
