package align

import (
	"bytes"
	"hash/maphash"

	"reprise/proxy/upstream/prefix"
)

// prompt is what is kept of one request.
type prompt struct {
	used     int64 // by the clock of its application; 0: never
	text     []byte
	segments []segment
	bytes    int // of all segments, also of those that are not kept
}

// segment is one segment of a prompt.
type segment struct {
	hash     uint64
	at, len  int // place in the prompt
	kept     int // bytes that the text of the prompt has of it, at at
	kind     prefix.Kind
	position int // among the segments of its kind
}

func (s *segment) end() int { return s.at + s.len }

// maxSegments is how many segments of a prompt are compared. A conversation of more messages is compared up to there.
const maxSegments = 1024

// read makes p the prompt of segments, with at most head bytes of text. It keeps the memory that p has.
func (p *prompt) read(seed maphash.Seed, segments []Segment, head int) {
	p.text, p.segments, p.bytes = p.text[:0], p.segments[:0], 0
	var positions [kinds]int
	for _, s := range segments {
		if int(s.Kind) >= kinds {
			continue
		}
		at := p.bytes
		p.bytes += len(s.Text)
		if len(p.segments) == maxSegments {
			continue
		}
		kept := min(len(s.Text), max(head-at, 0))
		p.text = append(p.text, s.Text[:kept]...)
		p.segments = append(p.segments, segment{hash: maphash.Bytes(seed, s.Text), at: at, len: len(s.Text), kept: kept, kind: s.Kind, position: positions[s.Kind]})
		positions[s.Kind]++
	}
}

// copy makes p equal to from, without sharing memory.
func (p *prompt) copy(from *prompt) {
	p.text = append(p.text[:0], from.text...)
	p.segments = append(p.segments[:0], from.segments...)
	p.bytes = from.bytes
}

// size is the memory of the prompt in bytes.
func (p *prompt) size() int { return cap(p.text) + cap(p.segments)*segmentBytes }

const segmentBytes = 56

// of is the text of a segment, cut where it is not kept.
func (p *prompt) of(s *segment) []byte {
	if s.kept == 0 {
		return nil
	}
	return p.text[s.at:][:s.kept]
}

// kind is the segments of one kind.
func (p *prompt) kind(k prefix.Kind) []segment {
	from := 0
	for from < len(p.segments) && p.segments[from].kind < k {
		from++
	}
	to := from
	for to < len(p.segments) && p.segments[to].kind == k {
		to++
	}
	return p.segments[from:to]
}

// common compares p with q: the bytes of the prefix that they share, the bytes of equal segments at equal places, and whether one begins
// with all of the other.
func (p *prompt) common(q *prompt) (shared, equal int, full bool) {
	n := min(len(p.segments), len(q.segments))
	first := n
	for i := range n {
		if p.segments[i].hash == q.segments[i].hash {
			equal += p.segments[i].len
		} else if first == n {
			first = i
		}
	}
	if first == n {
		return p.segments[n-1].end(), equal, true
	}
	s := &p.segments[first]
	return s.at + same(p.of(s), q.of(&q.segments[first])), equal, false
}

// same is the length of the common prefix of a and b.
func same(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+64 <= n && bytes.Equal(a[i:i+64], b[i:i+64]) {
		i += 64
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// sameEnd is the length of the common suffix of a and b.
func sameEnd(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+64 <= n && bytes.Equal(a[len(a)-i-64:len(a)-i], b[len(b)-i-64:len(b)-i]) {
		i += 64
	}
	for i < n && a[len(a)-i-1] == b[len(b)-i-1] {
		i++
	}
	return i
}
