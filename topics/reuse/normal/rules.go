package normal

import (
	"slices"
	"strings"
)

// maker makes a form of the tokens of a prompt.
type maker struct {
	scanner
	data, small bool // see Form
	title       bool // the prompt is written as a title
}

// rules applies what depends on the words around, in this order: each rule sees the result of those before.
func (m *maker) rules() {
	m.apostropheS()
	m.tokens = withoutCourtesy(m.tokens, m.prompt, m.lowers == 0)
	m.small = m.lowers == 0 || m.uppers == 0 || small(m.tokens, m.prompt)
	if m.data = (sentences{m.tokens}).treated(); m.data {
		m.settle(true)
		m.raw()
		return
	}
	m.joinLines()
	m.title = m.lowers > 0 && titled(m.tokens)
	n := m.literal()
	data := m.tokens[n:]
	m.tokens = m.tokens[:n:n]
	m.fold(n)
	if (sentences{m.tokens}).front() == harmless && !m.title {
		m.settle(false)
		a := asker{m.tokens}
		a.asking()
		a.not()
		a.frames()
		m.tokens = a.tokens
	} else {
		m.settle(true)
	}
	m.asWritten(data)
	m.tokens = append(m.tokens, data...)
	m.endMarks()
}

// fold folds the letter case of all tokens, of which n are there now.
func (m *maker) fold(n int) {
	f := folder{tokens: m.tokens, prompt: m.prompt, shout: m.lowers == 0 && n > 1, title: m.title, code: m.tokens.about(coding)}
	f.exact = f.title || unEnglish(m.tokens)
	f.fold()
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

// settle undoes what the scanner did to spellings and contractions, where it does not hold: see mentions. All of it is undone where asked.
func (m *maker) settle(all bool) {
	about := all || m.tokens.about(spelled)
	out := m.tokens[:0]
	for i := range m.tokens {
		t := m.tokens[i]
		switch n := len(out); {
		case t.class&contracted != 0 && n > 0 && (all || mentioned(m.tokens, i-1)):
			last := &out[n-1]
			last.To = t.To
			last.Text = strings.ReplaceAll(m.low[last.From:t.To], "’", "'")
			continue
		case t.class&respelled != 0 && (about || !used(m.tokens, i) || m.small && !phrased(m.tokens, i)):
			t.Text = m.low[t.From:t.To]
		}
		out = append(out, t)
	}
	m.tokens = out
}

// small reports whether no token has a capital, but in quotations.
func small(ts tokens, prompt string) bool {
	for i := range ts {
		switch t := &ts[i]; {
		case t.Quoted || t.Kind == Break || t.Kind == Mark:
		case t.Kind == Word:
			if t.class&(upper|mixed|caps) != 0 {
				return false
			}
		default:
			if text := prompt[t.From:t.To]; lower(text) != text {
				return false
			}
		}
	}
	return true
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
