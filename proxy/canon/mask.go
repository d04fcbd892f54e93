package canon

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// masks take out of the texts of system and developer messages what the operator's patterns match. Each text is searched by itself, so that
// a match never goes from one message or part to the next.
type masks struct {
	by    *Ignore
	room  int               // bytes that may still be searched
	spans []span            // of all texts
	of    map[uint32][2]int // the stretch of spans that is of a text: some texts are encoded twice
}

// span is what one group takes out of a text.
type span struct {
	from, to int
	name     string
}

const (
	// maxSearched is how many bytes of a request are searched: expressions take about a hundred times as long as a hash. A text that goes
	// beyond it counts as it is.
	maxSearched = 256 << 10
	// maxSpans is how much is taken out of one request. A text that goes beyond it counts as it is.
	maxSpans = 512
	// maxTexts is how many texts of a request are searched. The others count as they are.
	maxTexts = 1024
	// masksBytes is an upper bound of the memory that masks take.
	masksBytes = maxSpans*(3*spanBytes+2*(maxGroups+1)*8) + maxTexts*64
	spanBytes  = 32
)

// newMasks returns the masks of a request, nil where there are no patterns.
func newMasks(by *Ignore) *masks {
	if by == nil || len(by.patterns) == 0 {
		return nil
	}
	return &masks{by: by, room: maxSearched}
}

// find returns what is taken out of text i, by position and without overlaps.
func (m *masks) find(i uint32, text []byte) []span {
	if at, ok := m.of[i]; ok {
		return m.spans[at[0]:at[1]]
	}
	if m.of == nil {
		m.of = map[uint32][2]int{}
	}
	if len(m.of) == maxTexts {
		return nil
	}
	start := len(m.spans)
	if len(text) <= m.room {
		m.room -= len(text)
		if m.search(text) {
			m.spans = m.spans[:start+apart(m.spans[start:])]
		} else {
			m.spans = m.spans[:start]
		}
	}
	m.of[i] = [2]int{start, len(m.spans)}
	return m.spans[start:]
}

// search adds what the patterns take out of a text; false where that is too much.
func (m *masks) search(text []byte) bool {
	for _, p := range m.by.patterns {
		names := p.SubexpNames()
		for _, match := range p.FindAllSubmatchIndex(text, maxSpans+1) {
			for _, g := range p.groups {
				from, to := match[2*g], match[2*g+1] // -1, -1 where it has no part in the match
				if from == to || to-from > MaxIgnored {
					continue
				}
				if len(m.spans) == maxSpans {
					return false
				}
				m.spans = append(m.spans, span{from, to, names[g]})
			}
		}
	}
	return true
}

// apart sorts spans, cuts what an earlier one has off a later one, and returns how many are left.
func apart(spans []span) (n int) {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.name, b.name))
	})
	end := 0
	for _, s := range spans {
		if s.from = max(s.from, end); s.from < s.to {
			spans[n], end = s, s.to
			n++
		}
	}
	return n
}

// appendSystem is appendValue for a system prompt, with what the operator ignores taken out of its texts: of a string, or of the parts of a
// list in their member "text". Nothing but such a text has the same bytes: a text that contains the name of a group is another one.
func appendSystem(p *Reader, dst []byte, i uint32) []byte {
	switch {
	case p.masks == nil:
	case p.is(i, text):
		return appendMasked(p, dst, i)
	case p.is(i, array):
		dst = binary.AppendUvarint(append(p.spill.take(dst), tagArray), uint64(p.nodes[i].end))
		for j := i + 1; j < p.nodes[i].next(); j = p.nodes[j].next() {
			dst = appendPart(p, dst, j)
		}
		return dst
	}
	return p.appendValue(dst, i)
}

func appendPart(p *Reader, dst []byte, part uint32) []byte {
	if !p.is(part, object) {
		return p.appendValue(dst, part)
	}
	dst = binary.AppendUvarint(append(p.spill.take(dst), tagObject), uint64(p.nodes[part].end))
	for _, m := range p.members(part) {
		if string(p.text(m)) == "text" && p.is(m+1, text) {
			dst = appendMasked(p, appendText(dst, p.text(m)), m+1)
		} else {
			dst = p.appendMember(dst, m)
		}
	}
	return dst
}

// appendMasked writes a text as the number of groups, and before each what comes before it; last comes the rest.
func appendMasked(p *Reader, dst []byte, i uint32) []byte {
	s := p.text(i)
	spans := p.masks.find(i, s)
	if len(spans) == 0 {
		return p.appendString(dst, i)
	}
	dst = binary.AppendUvarint(append(p.spill.take(dst), tagMasked), uint64(len(spans)))
	end := 0
	for _, m := range spans {
		dst = appendText(appendText(dst, s[end:m.from]), m.name)
		end = m.to
		p.ignored(m.name)
	}
	return appendText(dst, s[end:])
}
