package canon

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"sync"
)

// masks take out of the texts of system and developer messages what the operator's patterns match. Each text is searched by itself, so that
// a match never goes from one message or part to the next.
type masks struct {
	by    *Ignore
	owner string            // the tenant
	room  int               // bytes that may still be searched
	spans int               // that may still be taken out
	of    map[uint32][]span // of each text: some are encoded twice
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
	masksBytes = maxSpans*(4*spanBytes+2*(maxGroups+1)*8) + maxTexts*96
	spanBytes  = 32
)

// newMasks returns the masks of a request, nil where there are no patterns.
func newMasks(by *Ignore, tenant string) *masks {
	if by == nil || len(by.patterns) == 0 {
		return nil
	}
	return &masks{by: by, owner: tenant, room: maxSearched, spans: maxSpans}
}

// find returns what is taken out of text i, by position and without overlaps.
func (m *masks) find(i uint32, text []byte) []span {
	if spans, ok := m.of[i]; ok {
		return spans
	}
	if m.of == nil {
		m.of = map[uint32][]span{}
	}
	if len(m.of) == maxTexts {
		return nil
	}
	m.of[i] = nil
	if len(text) > m.room {
		return nil
	}
	m.room -= len(text)
	if spans := m.by.found.in(m.by, m.owner, text); len(spans) <= m.spans {
		m.spans -= len(spans)
		m.of[i] = spans
	}
	return m.of[i]
}

// found remembers what is taken out of texts: a system prompt comes with every request, and stays the same for a day where it names the
// date. There are two generations of up to maxFound spans each; what is found in the old one moves to the young one. Tenants share none of it:
// the time that a request takes must not depend on the prompts of another tenant.
type found struct {
	mu         sync.RWMutex // protects what follows
	young, old map[Hash][]span
	size       int // of the young ones
}

// maxFound bounds the spans of a generation; each text counts as one more.
const maxFound = 4096

// in returns what g takes out of a tenant's text. The caller must not change it.
func (f *found) in(g *Ignore, tenant string, text []byte) []span {
	var few [128]byte
	h := sha256.New()
	h.Write(appendText(few[:0], tenant))
	h.Write(text)
	key := Hash(h.Sum(few[:0]))
	f.mu.RLock()
	spans, young := f.young[key]
	old := false
	if !young {
		spans, old = f.old[key]
	}
	f.mu.RUnlock()
	if young {
		return spans
	}
	if !old {
		spans = g.search(text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size += 1 + len(spans); f.young == nil || f.size > maxFound {
		f.old, f.young, f.size = f.young, map[Hash][]span{}, 1+len(spans)
	}
	f.young[key] = spans
	return spans
}

// Spans yields the beginning and the end of each piece that g takes out of a text of a system prompt, in order.
func (g *Ignore) Spans(tenant, text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		if g == nil || len(g.patterns) == 0 || len(text) > maxSearched {
			return
		}
		for _, s := range g.found.in(g, tenant, []byte(text)) {
			if !yield(s.from, s.to) {
				return
			}
		}
	}
}

// search returns what the patterns take out of a text, nothing where that is too much.
func (g *Ignore) search(text []byte) (spans []span) {
	for _, p := range g.patterns {
		names := p.SubexpNames()
		for _, match := range p.FindAllSubmatchIndex(text, maxSpans+1) {
			for _, group := range p.groups {
				from, to := match[2*group], match[2*group+1] // -1, -1 where it has no part in the match
				if from == to || to-from > maxIgnored {
					continue
				}
				if len(spans) == maxSpans {
					return nil
				}
				spans = append(spans, span{from, to, names[group]})
			}
		}
	}
	return slices.Clip(spans[:apart(spans)])
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
		for j := range p.elements(i) {
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
		noteIgnored(p, m.name)
	}
	return appendText(dst, s[end:])
}
