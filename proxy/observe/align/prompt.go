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

// head is the hash of a beginning of a prompt, and where that ends.
type head struct {
	hash uint64
	end  int
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

// Bounds of what is read of a prompt. A longer one is compared up to there.
const (
	maxSegments = 1024
	maxHeads    = 4096
	blockBytes  = 1024 // of a segment that are hashed at once
)

// read makes p the prompt of segments, with at most limit bytes of text, and returns its beginnings. It keeps the memory that p and heads have.
func (p *prompt) read(seed maphash.Seed, segments []Segment, limit int, heads []head) []head {
	p.text, p.segments, p.bytes, heads = p.text[:0], p.segments[:0], 0, heads[:0]
	var positions [kinds]int
	chain := uint64(0)
	for _, s := range segments {
		if int(s.Kind) >= kinds {
			continue
		}
		at := p.bytes
		p.bytes += len(s.Text)
		if len(p.segments) == maxSegments {
			continue
		}
		kept := min(len(s.Text), max(limit-at, 0))
		p.text = append(p.text, s.Text[:kept]...)
		own := segment{at: at, len: len(s.Text), kept: kept, kind: s.Kind, position: positions[s.Kind]}
		chain, heads = own.read(seed, s.Text, mix(chain, uint64(s.Kind)), heads)
		p.segments = append(p.segments, own)
		positions[s.Kind]++
	}
	return heads
}

// read hashes the text of a segment, and appends the beginnings of the prompt that end in it to heads; chain is the hash of what is before,
// and of all the result.
func (s *segment) read(seed maphash.Seed, text []byte, chain uint64, heads []head) (uint64, []head) {
	s.hash = uint64(len(text))
	for n := 0; n == 0 || n < len(text); n += blockBytes {
		end := min(n+blockBytes, len(text))
		block := maphash.Bytes(seed, text[n:end])
		s.hash, chain = mix(s.hash, block), mix(chain, block)
		if len(heads) < maxHeads {
			heads = append(heads, head{chain, s.at + end})
		}
	}
	return chain, heads
}

// size is the memory of the prompt in bytes.
func (p *prompt) size() int { return cap(p.text) + cap(p.segments)*segmentBytes }

// The sizes of a segment and of a head in memory.
const (
	segmentBytes = 56
	headBytes    = 16
)

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

// rest is how many bytes of a prompt may be different at its end although another begins with it: its last text ends there, and is longer
// in the other.
const rest = 16

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
	shared = s.at + same(p.of(s), q.of(&q.segments[first]))
	return shared, equal, min(p.bytes, q.bytes)-shared <= rest
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
