package align

import "bytes"

// maxTools is how many tools of one list are compared.
const maxTools = 128

// tool is one element of a list of tools.
type tool struct {
	at, end int
	loose   uint64
}

// toolList is the elements of a list of tools.
type toolList struct {
	all [maxTools]tool
	n   int
}

// read reads a list, and reports whether it is one that can be compared.
func (l *toolList) read(s []byte, d digest) bool {
	l.n = 0
	i := space(s, 0)
	return i < len(s) && s[i] == '[' && eachElement(s, i, func(at int) int {
		end := valueEnd(s, at)
		if end < 0 || l.n == maxTools {
			return -1
		}
		l.all[l.n] = tool{at: at, end: end, loose: d.of(s[at:end])}
		l.n++
		return end
	}) >= 0
}

// has returns the place of the tool with this hash, -1 where it is not there.
func (l *toolList) has(loose uint64) int {
	for i := range l.n {
		if l.all[i].loose == loose {
			return i
		}
	}
	return -1
}

// tools compares the lists of tools.
func (w *walk) tools(p, q []segment) {
	if len(p) != len(q) {
		s := segment{kind: 1}
		if len(p) > 0 {
			s = p[0]
		}
		w.differ(&s, 0, ToolSet)
		return
	}
	for i := range p {
		if p[i].hash == q[i].hash {
			w.share(p[i].at, p[i].end())
			continue
		}
		d := digest{w.seed, true}
		var ours, theirs toolList
		if ours.read(w.p.of(&p[i]), d) && theirs.read(w.q.of(&q[i]), d) {
			w.lists(&p[i], &q[i], &ours, &theirs)
		} else {
			w.segment(&p[i], &q[i])
		}
	}
}

// lists compares two lists of tools, whose segments are s and r.
func (w *walk) lists(s, r *segment, ours, theirs *toolList) {
	for i := range ours.n {
		t := &ours.all[i]
		switch {
		case i < theirs.n && t.loose == theirs.all[i].loose:
			if !w.alike(w.p.of(s)[t.at:t.end], w.q.of(r)[theirs.all[i].at:theirs.all[i].end]) {
				w.differ(s, t.at, KeyOrder)
			}
			w.share(s.at+t.at, s.at+t.end)
		case i < theirs.n && w.changed(s, r, t, &theirs.all[i]):
			u := &theirs.all[i]
			w.text(s, t.at, w.p.of(s)[t.at:t.end], w.q.of(r)[u.at:u.end])
		default:
			w.reordered(s, i, ours, theirs)
			return
		}
	}
	if theirs.n > ours.n {
		w.differ(s, max(s.len-1, 0), ToolSet)
	}
}

// alike reports whether an engine renders two tools, which may differ in the order of members, in the same way.
func (w *walk) alike(p, q []byte) bool {
	d := digest{w.seed, false}
	return bytes.Equal(p, q) || d.of(p) == d.of(q)
}

// changed reports whether two tools, which differ, have the same name.
func (w *walk) changed(s, r *segment, t, u *tool) bool {
	ours := toolName(w.p.of(s)[t.at:t.end])
	return ours != nil && bytes.Equal(ours, toolName(w.q.of(r)[u.at:u.end]))
}

// toolName is the JSON of the name of a tool, nil where it has none.
func toolName(tool []byte) []byte {
	if function := member(tool, "function"); function != nil {
		tool = function
	}
	return member(tool, "name")
}

// reordered notes that the tools from i on are others, or the same in another order.
func (w *walk) reordered(s *segment, i int, ours, theirs *toolList) {
	class, at := ToolOrder, ours.all[i].at
	if ours.n != theirs.n {
		class = ToolSet
	}
	for k := i; k < ours.n; k++ {
		if theirs.has(ours.all[k].loose) < 0 {
			class = ToolSet
		}
	}
	w.differ(s, at, class)
	for k := i; k < ours.n; k++ {
		if t := &ours.all[k]; theirs.has(t.loose) >= 0 {
			w.share(s.at+t.at, s.at+t.end)
		}
	}
}
