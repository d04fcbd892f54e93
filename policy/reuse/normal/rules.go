package normal

import "slices"

// rules applies what depends on the words around, in this order: each rule sees the result of those before.
func (m *maker) rules() {
	m.apostropheS()
	m.ends()
	if m.data = m.treatsText(); m.data {
		m.raw()
		return
	}
	m.fold()
	m.literal()
	m.endMarks()
}

// words counts the tokens that are no marks.
func (m *maker) words() (n int) { return content(m.tokens) }

func content(tokens []Token) (n int) {
	for i := range tokens {
		if k := tokens[i].Kind; k != Mark && k != Break {
			n++
		}
	}
	return n
}

// raw sets all tokens back to their bytes in the prompt, but for the case of an ordinary first word and a full stop at the end.
func (m *maker) raw() {
	for i := range m.tokens {
		t := &m.tokens[i]
		if t.Kind == Mark && (len(t.Text) > t.To-t.From || t.Text == `"`) || t.Kind == Break {
			continue // with the blank before it, a quotation mark, one of a row of line breaks
		}
		if i > 0 || t.class&upper == 0 || m.keeps(0, false) {
			t.Text = m.prompt[t.From:t.To]
		}
	}
	if n := len(m.tokens); m.tokens[n-1].Text == "." && m.tokens[n-1].To-m.tokens[n-1].From == 1 {
		m.tokens = m.tokens[:n-1]
	}
	if m.gaps {
		m.fixed = "blanks"
	}
}

// remove deletes the tokens of [from, to).
func (m *maker) remove(from, to int) { m.tokens = slices.Delete(m.tokens, from, to) }

// word reports whether token i is there and is one of the words.
func (m *maker) is(i int, words ...string) bool {
	return i >= 0 && i < len(m.tokens) && m.tokens[i].Kind == Word && !m.tokens[i].Quoted && slices.Contains(words, m.tokens[i].Text)
}

// has reports whether token i is there and has one of the classes.
func (m *maker) has(i int, c class) bool {
	return i >= 0 && i < len(m.tokens) && m.tokens[i].class&c != 0 && !m.tokens[i].Quoted
}
