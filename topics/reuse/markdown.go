package reuse

import (
	"slices"
	"strings"
)

// plainText is a text without the marks of Markdown: headings, bullets, numbers of lists, emphasis, table rules, fences' languages.
func plainText(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			b.WriteString("```")
		case fenced:
			b.WriteString(line)
		default:
			inline(&b, unlisted(trimmed))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// unlisted takes the marks of a heading, a list or a quotation from the head of a line, and all of a line of marks.
func unlisted(line string) string {
	line = strings.TrimLeft(line, "#> ")
	if strings.Trim(line, "-=_*|: ") == "" {
		return ""
	}
	for _, bullet := range [...]string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			return strings.TrimLeft(rest, " ")
		}
	}
	n := 0
	for n < len(line) && n < 3 && digit(line[n]) {
		n++
	}
	if n > 0 && len(line) > n+1 && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ' {
		return strings.TrimLeft(line[n+2:], " ")
	}
	return line
}

// inline writes a line without emphasis, marks of inline code and the borders of table cells.
func inline(b *strings.Builder, line string) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '`', c == '*' && !mathematical(line, i), c == '_' && (!alnumBefore(line, i) || !alnumAt(line, i+1)):
		case c == '|':
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
}

// mathematical reports whether the asterisk at i is between blanks or digits.
func mathematical(line string, i int) bool {
	if i == 0 || i+1 == len(line) {
		return false
	}
	l, r := line[i-1], line[i+1]
	return l == ' ' && r == ' ' || digit(l) && digit(r)
}

// Sentences that models put around what they have to say.
var (
	openers = phrases(`sure	certainly	of course	absolutely	great question	good question	happy to help	i be happy to help	i be glad to help
	no problem	hello	hi	thanks for asking	thank you for your question	here you go	here is	here are	below is	below are	sure thing	got it`)
	closers = phrases(`let me know	please let me know	feel free to	hope this helps	i hope this helps	i hope that helps	hope that helps	is there anything else
	if you have any	if you have more	if you have other	if you need	if you like	would you like me	do you want me	happy to help`)
)

// longestCourtesy bounds a sentence that withoutCourtesy drops, in tokens.
const longestCourtesy = 20

// withoutCourtesy drops sentences of courtesy from both ends, at most three from each, where another is left.
func withoutCourtesy(tokens []token) []token {
	for range 3 {
		end := 1
		for end < len(tokens) && !tokens[end].start {
			end++
		}
		if end >= len(tokens) || !courteous(tokens[:end], &openers) {
			break
		}
		tokens = tokens[end:]
	}
	for range 3 {
		from := len(tokens) - 1
		for from > 0 && !tokens[from].start {
			from--
		}
		if from <= 0 || !courteous(tokens[from:], &closers) {
			break
		}
		tokens = tokens[:from]
	}
	return tokens
}

// courteous reports whether a sentence begins with one of the phrases and states nothing: no number, name, code or negation.
func courteous(sentence []token, list *[traits][][]string) bool {
	if len(sentence) > longestCourtesy || slices.ContainsFunc(sentence, func(t token) bool { return t.kind != word || t.name }) {
		return false
	}
	return slices.ContainsFunc(list[trait(sentence[0].key)], func(p []string) bool { return begins(sentence, p) })
}
