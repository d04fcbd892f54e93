package normal

import "slices"

// maker makes a form of the tokens of a prompt.
type maker struct {
	scanner
	data bool // see Form
}

// rules applies what depends on the words around, in this order: each rule sees the result of those before.
func (m *maker) rules() {
	m.apostropheS()
	m.tokens = withoutCourtesy(m.tokens, m.prompt)
	if m.data = m.tokens.treatsText(); m.data {
		m.raw()
		return
	}
	m.joinLines()
	n := m.literal()
	data := m.tokens[n:]
	m.tokens = m.tokens[:n:n]
	(&folder{m.tokens, m.prompt, m.lowers == 0 && n > 1}).fold()
	a := asker{m.tokens}
	a.asking()
	a.not()
	a.frames()
	m.tokens = a.tokens
	m.asWritten(data)
	m.tokens = append(m.tokens, data...)
	m.endMarks()
}

// tokens are a prompt or a part of it.
type tokens []Token

// words counts the tokens that are no marks.
func (ts tokens) words() (n int) {
	for i := range ts {
		if k := ts[i].Kind; k != Mark && k != Break {
			n++
		}
	}
	return n
}

// raw sets all tokens back to their bytes in the prompt, except the case of an ordinary first word and a full stop at the end.
func (m *maker) raw() {
	for i := range m.tokens {
		t := &m.tokens[i]
		if t.Kind == Mark && (len(t.Text) > t.To-t.From || t.Text == `"`) || t.Kind == Break {
			continue // with the blank before it, a quotation mark, one of a row of line breaks
		}
		if t.Text = m.prompt[t.From:t.To]; i == 0 && t.class&upper != 0 && !(&folder{tokens: m.tokens, prompt: m.prompt}).keeps(0) {
			t.Text = m.low[t.From:t.To]
		}
	}
	if n := len(m.tokens); n > 0 && m.tokens[n-1].Text == "." && m.tokens[n-1].To-m.tokens[n-1].From == 1 {
		m.tokens = m.tokens[:n-1]
	}
	if m.gaps {
		m.fixed = "blanks"
	}
}

// remove deletes the tokens of [from, to).
func (a *asker) remove(from, to int) { a.tokens = slices.Delete(a.tokens, from, to) }

// word reports whether token i is there and is one of the words or marks.
func (ts tokens) is(i int, words ...string) bool {
	return i >= 0 && i < len(ts) && (ts[i].Kind == Word || ts[i].Kind == Mark) && !ts[i].Quoted && slices.Contains(words, ts[i].Text)
}

// has reports whether token i is there and has one of the classes.
func (ts tokens) has(i int, c class) bool {
	return i >= 0 && i < len(ts) && ts[i].class&c != 0 && !ts[i].Quoted
}
