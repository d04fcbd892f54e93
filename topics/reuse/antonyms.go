package reuse

import "strings"

// opposed reports whether a word of one surplus excludes a word of the other.
func opposed(d *diff) bool {
	seen := make(map[int]side)
	for _, t := range d.a {
		for _, p := range poles(t.key) {
			seen[p.axis] |= p.side
		}
	}
	for _, t := range d.b {
		for _, p := range poles(t.key) {
			if seen[p.axis]&^p.side != 0 {
				return true
			}
		}
		for _, other := range d.a {
			if misled(t.key, other.key) || content(t) && content(other) && (negates(t.key, other.key) || negates(other.key, t.key)) {
				return true
			}
		}
	}
	return false
}

// excludes is opposed for prompts in other words: words of grammar do not count.
func (d *diff) excludes() bool {
	hard := func(surplus []token) (out []token) {
		for _, t := range surplus {
			if content(t) || t.is(adverbal|directional) {
				out = append(out, t)
			}
		}
		return out
	}
	return opposed(&diff{a: hard(d.a), b: hard(d.b)})
}

// negates reports whether x is y with a prefix that turns it round, or -less against -ful.
func negates(x, y string) bool {
	if root, ok := strings.CutSuffix(x, "less"); ok && strings.TrimSuffix(y, "ful") == root {
		return true
	}
	root := y[:max(0, len(y)-2)] // endings may differ: enabled, disable
	if len(y) < 4 || !strings.Contains(x, root) {
		return false
	}
	for _, prefix := range [...]string{"un", "in", "im", "il", "ir", "dis", "non", "mis", "de", "anti", "ab"} {
		if rest, ok := strings.CutPrefix(x, prefix); ok && strings.HasPrefix(rest, root) {
			return true
		}
	}
	return false
}

// side is a set of the columns of a line of opposites.
type side uint8

type pole struct {
	axis int
	side side
}

// poles finds a word, or what is left of it without a regular ending, in the table.
func poles(key string) []pole {
	if p := opposites[key]; p != nil {
		return p
	}
	if _, particle := apart(key); particle != "" {
		return opposites[particle]
	}
	for _, ending := range [...]string{"s", "es", "d", "ed", "ing", "ly", "er", "r", "ion"} {
		root, ok := strings.CutSuffix(key, ending)
		if !ok || len(root) < 3 {
			continue
		}
		for _, form := range [...]string{root, root + "e", root[:len(root)-1]} {
			if p := opposites[form]; p != nil {
				return p
			}
		}
	}
	return nil
}

func axes(lines string) map[string][]pole {
	m := make(map[string][]pole)
	axis := 0
	for line := range strings.Lines(lines) {
		for column, words := range strings.Split(line, "|") {
			for _, w := range strings.Fields(words) {
				m[w] = append(m[w], pole{axis, 1 << column})
			}
		}
		axis++
	}
	return m
}
