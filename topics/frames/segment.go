package frames

import "strings"

// segment is a part of a prompt that is compared as a whole, by its place in it. Between two segments is white space.
type segment struct {
	from, to int
	label    bool // it ends with a colon and is as short as a label
	asked    bool // it is behind a label of the closed list, in the same line
}

// longestLabel is how many bytes a label has at most.
const longestLabel = 24

// asking are labels that stand before what a prompt asks. Each may have one of the words of whose before it.
var asking = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("question query q user human customer message input text prompt ask request sentence utterance comment review email ticket") {
		for _, whose := range []string{"", "user ", "customer ", "the user's ", "my ", "new "} {
			all[whose+name] = true
		}
	}
	return all
}()

// asks reports whether a segment stands before what a prompt asks: a label, or a tag.
func asks(text string) bool {
	if len(text) > longestLabel || text[len(text)-1] != ':' && text[len(text)-1] != '>' {
		return false
	}
	name := strings.ToLower(strings.Trim(text, " \t*#<>:\"{"))
	return asking[strings.ReplaceAll(name, "_", " ")]
}

// each calls yield with every segment of a prompt, in order, until that returns false. A segment ends with its line, with a sentence, behind a
// colon, and around a tag, a fence of quotation marks or backticks, and the quotation marks of a line and of a JSON member. The cost is linear.
func each(prompt string, yield func(segment) bool) {
	for from := 0; from < len(prompt); {
		end := strings.IndexByte(prompt[from:], '\n')
		if end < 0 {
			end = len(prompt)
		} else {
			end += from
		}
		if !eachOfLine(prompt, from, end, yield) {
			return
		}
		from = end + 1
	}
}

func eachOfLine(prompt string, from, end int, yield func(segment) bool) bool {
	for from < end && isSpace(prompt[from]) {
		from++
	}
	for end > from && isSpace(prompt[end-1]) {
		end--
	}
	start, asked, opens := from, false, true
	for from < end {
		to := next(prompt, from, end, opens)
		s := segment{from: from, to: to, asked: asked}
		if prompt[to-1] == ':' && to-from <= longestLabel {
			s.label, s.asked = true, false
			asked = asked || from == start && to < end && asks(prompt[from:to])
		}
		opens = prompt[to-1] == ':'
		if !yield(s) {
			return false
		}
		for from = to; from < end && isSpace(prompt[from]); {
			from++
		}
	}
	return true
}

// next is the end of the segment that begins at from, in a line that ends at end. A quotation mark there is a segment where it opens a text.
func next(prompt string, from, end int, opens bool) int {
	if opens && prompt[from] == '"' && !strings.HasPrefix(prompt[from:], `"""`) {
		return from + 1
	}
	if n := mark(prompt[from:end]); n > 0 {
		return from + n
	}
	for i := from; i < end; i++ {
		switch c := prompt[i]; c {
		case ':', '.', '?', '!':
			if i+1 == end || isSpace(prompt[i+1]) || c == ':' && prompt[i+1] == '"' {
				return i + 1
			}
		case '<', '`', '"', '\'':
			if i > from && mark(prompt[i:end]) > 0 {
				return i
			}
		}
	}
	return end
}

// mark is the length of the tag, the fence, or the quotation mark with which text begins, and which is a segment of its own; 0: it begins with none.
func mark(text string) int {
	switch c := text[0]; c {
	case '<':
		end := strings.IndexByte(text[:min(len(text), 64)], '>')
		if end > 1 && (text[1] == '/' || isLetter(text[1])) {
			return end + 1
		}
	case '`', '"', '\'':
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, "'''") {
			n := 3
			for n < len(text) && isLetter(text[n]) && c == '`' {
				n++
			}
			return n
		}
		if c != '"' {
			return 0
		}
		n := 1
		for n < len(text) && strings.IndexByte(",}]", text[n]) >= 0 {
			n++
		}
		if n > 1 || n == len(text) { // the end of a JSON member, or of the line
			return n
		}
	}
	return 0
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
