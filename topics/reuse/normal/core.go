package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// core emits what is between m.at and end: no blanks, and no punctuation at its end.
func (s *scanner) core(end int) {
	text := s.prompt[s.at:end]
	letters, digits, hyphens, other := 0, 0, 0, false
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case asciiLetter(c):
			letters++
		case '0' <= c && c <= '9':
			digits++
		case c == '-' && i > 0 && i+1 < len(text):
			hyphens++
		case c == '\'' && i > 0:
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case unicode.IsLetter(r):
				letters++
			case r == '’' && i > 0:
			case r == '—':
				hyphens, other = hyphens+1, true
			case strings.ContainsRune("“”«»", r):
				s.fixed = "quotes"
				return
			default:
				other = true
			}
			i += n
			continue
		case c == '"' && i > 0 && i+1 < len(text) && asciiLetter(text[i-1]) && asciiLetter(text[i+1]): // o"clock, a slip
		case c == '"' || c == '`':
			s.fixed = "quotes"
			return
		default:
			other = true
		}
		i++
	}
	switch {
	case other:
		s.other(text, end)
	case digits == 0 && hyphens == 0:
		s.word(end)
	case digits == 0:
		s.hyphenated(text, end)
	case letters == 0 && hyphens == 0:
		s.emit(Token{Text: text, Kind: Number, From: s.at, To: end})
	default:
		s.digits(text, end)
	}
	s.at = end
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// other emits what has marks inside: a dash between words, an hour such as 5 p.m., or what is compared byte by byte.
func (s *scanner) other(text string, end int) {
	switch text {
	case "-", "–", "—", "--":
		s.emit(Token{Text: " - ", Kind: Mark, class: dash, From: s.at, To: end})
		return
	}
	if left, right, ok := strings.Cut(text, "—"); ok && plain(left) && plain(right) {
		start := s.at
		s.word(start + len(left))
		s.emit(Token{Text: " - ", Kind: Mark, class: dash, From: start + len(left), To: end - len(right)})
		s.at = end - len(right)
		s.word(end)
		return
	}
	kind := Code
	if c := text[0]; '0' <= c && c <= '9' && strings.Trim(text, "0123456789.,:/%") == "" {
		kind = Number
	}
	if low := s.low[s.at:end]; low == "p.m" || low == "a.m" {
		if n := len(s.tokens); n > 0 && s.tokens[n-1].Kind == Number {
			s.emit(Token{Text: hours[low], From: s.at, To: end, class: function})
			return
		}
	}
	if initials(text) {
		text = s.low[s.at:end]
	} else if s.glued(text, end) {
		return
	}
	s.emit(Token{Text: text, Kind: kind, From: s.at, To: end})
}

// initials reports whether a text is letters with dots between: D.C.
func initials(text string) bool {
	for i := range len(text) {
		if i%2 == 0 && !asciiLetter(text[i]) || i%2 == 1 && text[i] != '.' {
			return false
		}
	}
	return true
}

// glued emits two words without the blank behind the mark between them, if both are words without meaning of their own: No,that is all.
func (s *scanner) glued(text string, end int) bool {
	n := strings.IndexAny(text, ".,")
	if n < 0 || n+1 == len(text) {
		return false
	}
	start := s.at
	left, right := s.low[start:start+n], s.low[start+n+1:end]
	right, _, _ = strings.Cut(right, "'")
	if n == 0 && text[0] == '.' && entryOf(right).class&function != 0 { // That is all .Thank you
		s.marks(start + 1)
		s.word(end)
		return true
	}
	if left == "this" || entryOf(left).class&function == 0 || entryOf(right).class&(function|courteous) == 0 {
		return false
	}
	s.word(start + n)
	s.at = start + n
	s.marks(start + n + 1)
	s.word(end)
	return true
}

// plain reports whether a text is of letters only.
func plain(text string) bool {
	for _, r := range text {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return text != ""
}

var hours = map[string]string{"p.m": "pm", "a.m": "am", "pm": "pm", "am": "am"}

// digits emits what has digits and letters: 5pm as two tokens, 5th without letter case, and all else as it stands.
func (s *scanner) digits(text string, end int) {
	low := s.low[s.at:end]
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if h, ok := hours[low[n:]]; ok && n > 0 && n <= 2 {
		s.emit(Token{Text: text[:n], Kind: Number, From: s.at, To: s.at + n})
		s.emit(Token{Text: h, From: s.at + n, To: end, class: function})
		return
	}
	switch low[n:] {
	case "st", "nd", "rd", "th":
		text = low
	default:
		if (identifier(low) || low == "2d" || low == "3d") && strings.ToUpper(text) == text {
			text = low
		}
	}
	s.emit(Token{Text: text, Kind: Code, From: s.at, To: end})
	if n > 0 {
		s.tokens[len(s.tokens)-1].Kind = Number
	}
}

// identifier reports whether a text is letters and then two or more digits: KL1023. Its letter case carries nothing, other
// than that of K9 or Mn12.
func identifier(low string) bool {
	letters := len(low) - len(strings.TrimLeft(low, "abcdefghijklmnopqrstuvwxyz"))
	return letters >= 1 && len(low)-letters >= 2 && strings.Trim(low[letters:], "0123456789") == ""
}

// hyphenated emits words joined by hyphens, each a token.
func (s *scanner) hyphenated(text string, end int) {
	if e := entryOf(s.low[s.at:end]); e.to != "" {
		s.emit(Token{Text: e.to, Capital: s.prompt[s.at] != s.low[s.at], From: s.at, To: end, class: e.class | respelled})
		return
	}
	for part := range strings.SplitSeq(text, "-") {
		if !plain(part) {
			s.emit(Token{Text: text, Kind: Code, From: s.at, To: end})
			return
		}
	}
	for {
		n := strings.IndexByte(s.prompt[s.at:end], '-')
		if n < 0 {
			break
		}
		s.word(s.at + n)
		s.at += n
		s.emit(Token{Text: "-", Kind: Mark, From: s.at, To: s.at + 1})
		s.at++
	}
	s.word(end)
}

// word emits the word between m.at and end, in two tokens where it is a contraction.
func (s *scanner) word(end int) {
	from := s.at
	head, tail := end, 0 // where the apostrophe is, and where the letters behind it begin
	for i := from; i < end; i++ {
		if s.prompt[i] == '\'' {
			head, tail = i, i+1
		} else if s.prompt[i] == 0xe2 { // ’, the only letter or mark here with this first byte
			head, tail = i, i+len("’")
		}
	}
	if head == end {
		s.single(from, end)
		return
	}
	if strings.ContainsAny(s.prompt[from:head], "'’") {
		s.emit(Token{Text: s.prompt[from:end], Kind: Code, From: from, To: end})
		return
	}
	s.contraction(from, head, tail, end)
}

// single emits a word without an apostrophe.
func (s *scanner) single(from, to int) {
	low := s.low[from:to]
	e := entryOf(low)
	t := Token{Text: low, class: e.class, From: from, To: to}
	if s.prompt[from:to] != low {
		t.class |= capitals(s.prompt[from:to], low)
		t.Capital = t.class&upper != 0
	}
	if e.to != "" {
		t.Text = e.to
		t.class |= respelled
	}
	if e.also == "" {
		s.emit(t)
		return
	}
	cut := from + e.cut
	t.To = cut
	s.emit(t)
	s.emit(Token{Text: e.also, class: entryOf(e.also).class | contracted, From: cut, To: to})
}

// contraction emits the parts of a word with an apostrophe.
func (s *scanner) contraction(from, head, tail, end int) {
	low := s.low[from:head]
	switch s.low[tail:end] {
	case "t":
		if e, ok := negations[low]; ok {
			cut := head - 1
			if e == "can" {
				cut = head
			}
			s.single(from, min(cut, head))
			last := &s.tokens[len(s.tokens)-1]
			last.Text, last.class, last.To = e, entryOf(e).class|last.class&upper, cut
			s.emit(Token{Text: "not", class: function | contracted, From: cut, To: end})
			return
		}
	case "m":
		if low == "i" {
			s.pair(from, head, end, "am")
			return
		}
	case "re":
		s.pair(from, head, end, "are")
		return
	case "ve":
		s.pair(from, head, end, "have")
		return
	case "ll":
		s.pair(from, head, end, "will")
		return
	case "d":
		s.pair(from, head, end, "'d") // would or had: see the rule
		return
	case "s":
		s.pair(from, head, end, "'s") // is, has or a genitive: see the rule
		return
	case "":
		s.single(from, head)
		s.emit(Token{Text: "'", Kind: Mark, From: head, To: end})
		return
	}
	text := s.low[from:end]
	if tail-head > 1 {
		text = low + "'" + s.low[tail:end]
	}
	s.emit(Token{Text: text, Capital: s.prompt[from] != s.low[from], From: from, To: end}) // o'clock, O'Brien
}

// pair emits a word and what an apostrophe has joined to it.
func (s *scanner) pair(from, head, end int, second string) {
	s.single(from, head)
	s.emit(Token{Text: second, class: entryOf(second).class | joined | contracted, From: head, To: end})
}

// negations are the words before n't.
var negations = map[string]string{
	"don": "do", "doesn": "does", "didn": "did", "can": "can", "couldn": "could", "won": "will", "wouldn": "would", "shouldn": "should",
	"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "hasn": "has", "haven": "have", "hadn": "had", "mustn": "must",
	"needn": "need",
}
