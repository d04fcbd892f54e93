package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// core emits what is between m.at and end: no blanks, and no punctuation at its end.
func (m *maker) core(end int) {
	text := m.prompt[m.at:end]
	letters, digits, hyphens, other := 0, 0, 0, false
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
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
				m.fixed = "quotes"
				return
			default:
				other = true
			}
			i += n
			continue
		case c == '"' || c == '`':
			m.fixed = "quotes"
			return
		default:
			other = true
		}
		i++
	}
	switch {
	case other:
		m.other(text, end)
	case digits == 0 && hyphens == 0:
		m.word(end)
	case digits == 0:
		m.hyphenated(text, end)
	case letters == 0 && hyphens == 0:
		m.emit(Token{Text: text, Kind: Number, From: m.at, To: end})
	default:
		m.digits(text, end)
	}
	m.at = end
}

// other emits what has marks inside: a dash between words, an hour such as 5 p.m., or what is compared byte by byte.
func (m *maker) other(text string, end int) {
	switch text {
	case "-", "–", "—", "--":
		m.emit(Token{Text: " - ", Kind: Mark, class: dash, From: m.at, To: end})
		return
	}
	if left, right, ok := strings.Cut(text, "—"); ok && plain(left) && plain(right) {
		start := m.at
		m.word(start + len(left))
		m.emit(Token{Text: " - ", Kind: Mark, class: dash, From: start + len(left), To: end - len(right)})
		m.at = end - len(right)
		m.word(end)
		return
	}
	kind := Code
	if c := text[0]; '0' <= c && c <= '9' && strings.Trim(text, "0123456789.,:/%") == "" {
		kind = Number
	}
	if low := m.low[m.at:end]; low == "p.m" || low == "a.m" {
		if n := len(m.tokens); n > 0 && m.tokens[n-1].Kind == Number {
			m.emit(Token{Text: hours[low], From: m.at, To: end, class: function})
			return
		}
	}
	m.emit(Token{Text: text, Kind: kind, From: m.at, To: end})
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
func (m *maker) digits(text string, end int) {
	low := m.low[m.at:end]
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if h, ok := hours[low[n:]]; ok && n > 0 && n <= 2 {
		m.emit(Token{Text: text[:n], Kind: Number, From: m.at, To: m.at + n})
		m.emit(Token{Text: h, From: m.at + n, To: end, class: function})
		return
	}
	switch low[n:] {
	case "st", "nd", "rd", "th":
		text = low
	default:
		if identifier(low) && strings.ToUpper(text) == text {
			text = low
		}
	}
	m.emit(Token{Text: text, Kind: Code, From: m.at, To: end})
	if n > 0 {
		m.tokens[len(m.tokens)-1].Kind = Number
	}
}

// identifier reports whether a text is two or more letters and then two or more digits: KL1023. Its letter case carries nothing, other
// than that of K9 or Mn12.
func identifier(low string) bool {
	letters := len(low) - len(strings.TrimLeft(low, "abcdefghijklmnopqrstuvwxyz"))
	return letters >= 2 && len(low)-letters >= 2 && strings.Trim(low[letters:], "0123456789") == ""
}

// hyphenated emits words joined by hyphens, each a token.
func (m *maker) hyphenated(text string, end int) {
	if e, ok := lexicon[m.low[m.at:end]]; ok && e.to != "" {
		m.emit(Token{Text: e.to, Capital: m.prompt[m.at] != m.low[m.at], From: m.at, To: end, class: e.class})
		return
	}
	for part := range strings.SplitSeq(text, "-") {
		if !plain(part) {
			m.emit(Token{Text: text, Kind: Code, From: m.at, To: end})
			return
		}
	}
	for {
		n := strings.IndexByte(m.prompt[m.at:end], '-')
		if n < 0 {
			break
		}
		m.word(m.at + n)
		m.at += n
		m.emit(Token{Text: "-", Kind: Mark, From: m.at, To: m.at + 1})
		m.at++
	}
	m.word(end)
}

// word emits the word between m.at and end, in two tokens where it is a contraction.
func (m *maker) word(end int) {
	from := m.at
	head, tail := end, 0 // where the apostrophe is, and where the letters behind it begin
	for i := from; i < end; i++ {
		if m.prompt[i] == '\'' {
			head, tail = i, i+1
		} else if m.prompt[i] == 0xe2 { // ’, the only letter or mark here with this first byte
			head, tail = i, i+len("’")
		}
	}
	if head == end {
		m.single(from, end)
		return
	}
	if strings.ContainsAny(m.prompt[from:head], "'’") {
		m.emit(Token{Text: m.prompt[from:end], Kind: Code, From: from, To: end})
		return
	}
	m.contraction(from, head, tail, end)
}

// single emits a word without an apostrophe.
func (m *maker) single(from, to int) {
	low := m.low[from:to]
	e := lexicon[low]
	t := Token{Text: low, class: e.class, From: from, To: to}
	if m.prompt[from:to] != low {
		t.class |= capitals(m.prompt[from:to], low)
		t.Capital = t.class&upper != 0
	}
	if e.to != "" {
		t.Text = e.to
	}
	if e.also == "" {
		m.emit(t)
		return
	}
	cut := from + e.cut
	t.To = cut
	m.emit(t)
	m.emit(Token{Text: e.also, class: lexicon[e.also].class, From: cut, To: to})
}

// contraction emits the parts of a word with an apostrophe.
func (m *maker) contraction(from, head, tail, end int) {
	low := m.low[from:head]
	switch m.low[tail:end] {
	case "t":
		if e, ok := negations[low]; ok {
			cut := head - 1
			if e == "can" {
				cut = head
			}
			m.single(from, min(cut, head))
			last := &m.tokens[len(m.tokens)-1]
			last.Text, last.class, last.To = e, lexicon[e].class, cut
			m.emit(Token{Text: "not", class: function, From: cut, To: end})
			return
		}
	case "m":
		if low == "i" {
			m.pair(from, head, end, "am")
			return
		}
	case "re":
		m.pair(from, head, end, "are")
		return
	case "ve":
		m.pair(from, head, end, "have")
		return
	case "ll":
		m.pair(from, head, end, "will")
		return
	case "d":
		m.pair(from, head, end, "'d") // would or had: see the rule
		return
	case "s":
		m.pair(from, head, end, "'s") // is, has or a genitive: see the rule
		return
	case "":
		m.single(from, head)
		m.emit(Token{Text: "'", Kind: Mark, From: head, To: end})
		return
	}
	text := m.low[from:end]
	if tail-head > 1 {
		text = low + "'" + m.low[tail:end]
	}
	m.emit(Token{Text: text, Capital: m.prompt[from] != m.low[from], From: from, To: end}) // o'clock, O'Brien
}

// pair emits a word and what an apostrophe has joined to it.
func (m *maker) pair(from, head, end int, second string) {
	m.single(from, head)
	m.emit(Token{Text: second, class: lexicon[second].class | joined, From: head, To: end})
}

// negations are the words before n't.
var negations = map[string]string{
	"don": "do", "doesn": "does", "didn": "did", "can": "can", "couldn": "could", "won": "will", "wouldn": "would", "shouldn": "should",
	"isn": "is", "aren": "are", "wasn": "was", "weren": "were", "hasn": "has", "haven": "have", "hadn": "had", "mustn": "must",
	"needn": "need",
}
