package reuse

import (
	"slices"
	"strings"
)

// count is how often a key occurs on either side.
type count struct{ a, b int }

// diff is the differences of two prompts.
type diff struct {
	a, b   []token // the surplus of either side, in its order
	counts []count // by id
	alias  []int32 // by id: the id that an inflection is taken for, or -1
}

// difference gives every key its id and counts it on both sides. A key that occurs more often here than there is surplus
// here, each time.
func difference(a, b []token) *diff {
	ids := make(map[string]int32, len(a)+8)
	d := &diff{counts: make([]count, 0, len(a)+8)}
	for i := range a {
		d.counts[d.identify(&a[i], ids)].a++
	}
	for i := range b {
		d.counts[d.identify(&b[i], ids)].b++
	}
	d.alias = slices.Repeat([]int32{-1}, len(d.counts))
	d.a = d.surplus(a, func(c count) int { return c.a - c.b })
	d.b = d.surplus(b, func(c count) int { return c.b - c.a })
	return d
}

func (d *diff) identify(t *token, ids map[string]int32) int32 {
	id, ok := ids[t.key]
	if !ok {
		id = int32(len(ids))
		ids[t.key] = id
		d.counts = append(d.counts, count{})
	}
	t.id = id
	return id
}

func (d *diff) surplus(tokens []token, extra func(count) int) (out []token) {
	for _, t := range tokens {
		if extra(d.counts[t.id]) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (d *diff) any(is func(token) bool) bool {
	return slices.ContainsFunc(d.a, is) || slices.ContainsFunc(d.b, is)
}

func (d *diff) has(k kind) bool { return d.any(func(t token) bool { return t.kind == k }) }

// cancelInflections takes pairs such as file and files out of the surplus, each word once. In the order they stay, as one
// word: "who killed Hamlet" is not "who did Hamlet kill".
func (d *diff) cancelInflections() {
	d.a = slices.DeleteFunc(d.a, func(x token) bool {
		at := slices.IndexFunc(d.b, func(y token) bool { return !x.quoted && !y.quoted && inflected(x.key, y.key) })
		if at < 0 {
			return false
		}
		d.alias[x.id], d.alias[d.b[at].id] = x.id, x.id
		d.b = slices.Delete(d.b, at, at+1)
		return true
	})
}

// inflected reports whether two words differ by a regular ending only, or by one doubled letter, the commonest slip.
func inflected(x, y string) bool {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n < 3 {
		return false
	}
	x, y = x[n:], y[n:]
	if len(x) > len(y) {
		x, y = y, x
	}
	switch x {
	case "":
		return y == "s" || y == "es" || y == "d" || y == "ed" || y == "ing" || len(y) == 4 && strings.HasSuffix(y, "ing")
	case "e":
		return y == "ing"
	case "s", "d":
		return y == "ing"
	case "y":
		return y == "ies" || y == "ied"
	case "ed", "es":
		return y == "ing"
	}
	return false
}

// covered reports whether every content word of either surplus has a counterpart in the other.
func (d *diff) covered() bool { return covers(d.a, d.b) && covers(d.b, d.a) }

func covers(surplus, other []token) bool {
	for _, t := range surplus {
		if content(t) && !slices.ContainsFunc(other, func(o token) bool { return alike(t.key, o.key) }) {
			return false
		}
	}
	return true
}

// content reports whether a word carries content, and not only grammar.
func content(t token) bool { return !t.is(function) }

// substituted reports whether the prompts are one template with other things filled in: function words aside, the same
// words with gaps at the same places, and no word of a gap is alike to one of the other prompt's.
func substituted(a, b []token, d *diff) bool {
	x, y := d.content(d.a), d.content(d.b)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	if slices.ContainsFunc(x, ideographic) && slices.ContainsFunc(y, ideographic) {
		return true // one character is only part of a word: the gaps need not be at the same places
	}
	for _, t := range x {
		if slices.ContainsFunc(y, func(o token) bool { return alike(t.key, o.key) }) {
			return false
		}
	}
	return slices.Equal(skeleton(a, x), skeleton(b, y))
}

func (d *diff) content(surplus []token) (out []token) {
	for _, t := range surplus {
		if content(t) && (d.counts[t.id].a == 0 || d.counts[t.id].b == 0) {
			out = append(out, t)
		}
	}
	return out
}

// gap represents any number of replaced words in a skeleton.
const gap = -1

// skeleton is the content of a prompt, by id, with gaps for replaced words.
func skeleton(tokens, replaced []token) (out []int32) {
	for _, t := range tokens {
		switch {
		case !content(t):
		case !slices.ContainsFunc(replaced, func(r token) bool { return r.id == t.id }):
			out = append(out, t.id)
		case len(out) == 0 || out[len(out)-1] != gap:
			out = append(out, gap)
		}
	}
	return out
}
