package align

import (
	"bytes"
	"hash/maphash"

	"reprise/proxy/upstream/prefix"
)

// difference is a place where two prompts part although they share text behind it.
type difference struct {
	kind    prefix.Kind
	segment int // among those of its kind
	element int // of a list inside it, such as the tool; -1: none
	char    int // byte of the text
	line    int // of the text; 0: it is in no text
	class   Class
	shared  int // bytes behind it, up to the next difference, that are shared and were not sent in the same place before
}

// Bounds of one comparison.
const (
	maxDifferences = 6
	maxRounds      = 12  // differences of one text that are passed; what follows counts as lost only as far as it has been compared
	minStretch     = 32  // bytes; differences that are nearer to each other are one
	minLost        = 256 // bytes; a comparison that finds less has found the end of what the prompts share
)

// walk compares a prompt with an earlier one behind the place where they part.
type walk struct {
	p, q     *prompt
	reach    int // bytes of p with which an earlier request has begun: an engine has them
	seed     maphash.Seed
	found    [maxDifferences]difference
	spans    [maxDifferences][2]span // of each, where its class is still to be found: the first, and another one right behind it
	n        int
	messages int // that are equal behind a difference
}

// span is where two texts differ, p[i:a] and q[j:b].
type span struct {
	s          *segment
	p, q       []byte
	off        int // of p in the segment
	i, a, j, b int
}

func (d *span) class() Class { return classify(d.p, d.q, d.i, d.a, d.j, d.b) }

// differences are those behind which enough is shared.
func (w *walk) differences() []difference { return w.found[:w.n] }

// lost is how many bytes an engine prefills again because of the differences.
func (w *walk) lost() (bytes int) {
	for _, d := range w.found[:w.n] {
		bytes += d.shared
	}
	return bytes
}

// run fills the walk.
func (w *walk) run() {
	w.tools(w.p.kind(prefix.Tools), w.q.kind(prefix.Tools))
	w.texts(w.p.kind(prefix.System), w.q.kind(prefix.System))
	w.conversation(w.p.kind(prefix.Message), w.q.kind(prefix.Message))
	if w.lost() < minLost {
		w.n = 0
	}
	for i := range w.found[:w.n] {
		w.classify(&w.found[i], &w.spans[i])
	}
}

// classify finds out what differs, and where that is. It comes last, because most requests part at the end of what they share.
func (w *walk) classify(d *difference, spans *[2]span) {
	first, second := &spans[0], &spans[1]
	if first.s == nil {
		return
	}
	d.element, d.char, d.line = place(w.p.of(first.s), first.off+word(first.p, first.i))
	if d.class == "" {
		d.class = first.class()
	}
	if second.s != nil && (d.class == Unknown || d.class == Number) {
		if class := second.class(); d.class == Unknown || class == Timestamp {
			d.class = class
		}
	}
}

// share counts bytes of p that are equal in q.
func (w *walk) share(from, to int) {
	if from = max(from, w.reach); w.n > 0 && from < to {
		w.found[w.n-1].shared += to - from
	}
}

// differ notes a difference at byte at of segment s.
func (w *walk) differ(s *segment, at int, class Class) {
	if w.n == maxDifferences {
		return
	}
	element, char, line := place(w.p.of(s), at)
	w.found[w.n] = difference{kind: s.kind, segment: s.position, element: element, char: char, line: line, class: class}
	w.spans[w.n] = [2]span{}
	w.n++
}

// differIn notes a difference in texts, whose class is found later where it is "". One that comes right behind another is a part of it.
func (w *walk) differIn(d span, class Class) {
	if w.n > 0 {
		last := &w.found[w.n-1]
		if w.n == maxDifferences || last.shared < minStretch && last.kind == d.s.kind && last.segment == d.s.position {
			if second := &w.spans[w.n-1][1]; second.s == nil {
				*second = d
			}
			return
		}
	}
	w.found[w.n] = difference{kind: d.s.kind, segment: d.s.position, class: class}
	w.spans[w.n] = [2]span{d}
	w.n++
}

// texts compares segments at equal places.
func (w *walk) texts(p, q []segment) {
	for i := range p {
		if i == len(q) {
			w.differ(&p[i], 0, Unknown)
			return
		}
		w.segment(&p[i], &q[i])
	}
	if len(q) > len(p) && len(p) > 0 {
		w.differ(&p[len(p)-1], p[len(p)-1].len, Unknown)
	}
}

// segment compares two segments.
func (w *walk) segment(s, r *segment) {
	if w.equal(s, r) {
		w.share(s.at, s.end())
		return
	}
	p, q := w.p.of(s), w.q.of(r)
	if len(p) < s.len || len(q) < r.len { // the rest is not kept
		if n := same(p, q); n < min(len(p), len(q)) {
			w.text(s, 0, p, q)
			return
		}
		w.differ(s, min(len(p), len(q)), Unknown)
		return
	}
	w.text(s, 0, p, q)
}

// equal reports whether an engine reads two segments alike.
func (w *walk) equal(s, r *segment) bool {
	if s.hash == r.hash {
		return true
	}
	if s.kept < s.len || r.kept < r.len {
		return false
	}
	p, q := w.p.of(s), w.q.of(r)
	if inValue(p, same(p, q)) {
		return false
	}
	d := digest{w.seed, s.kind != prefix.Tools}
	return d.of(p) == d.of(q)
}

// text compares the texts p and q; p begins at byte off of segment s.
func (w *walk) text(s *segment, off int, p, q []byte) {
	i, j := 0, 0
	for range maxRounds {
		n := same(p[i:], q[j:])
		w.share(s.at+off+i, s.at+off+i+n)
		if i, j = i+n, j+n; i == len(p) && j == len(q) {
			return
		}
		a, b, class := w.resync(p, q, i, j)
		w.differIn(span{s, p, q, off, i, a, j, b}, class)
		i, j = a, b
	}
}

// Bounds of the search for the end of a difference.
const (
	near    = 96       // bytes; a shorter rest between the shared beginning and the shared end is one difference
	gram    = 24       // bytes that must be equal behind a difference
	words   = 160      // bytes behind a difference in which every word may be its end; farther away, only lines are
	window  = 512      // bytes in which such a word is looked for
	far     = 64 << 10 // bytes behind a difference in which lines are compared
	anagram = 24       // bytes; from there on, the same bytes in another order are parts in another order
)

// resync returns where p and q are equal again behind the bytes i and j, in which they differ, and a class where the way there shows it.
func (w *walk) resync(p, q []byte, i, j int) (a, b int, class Class) {
	n := sameEnd(p[i:], q[j:])
	a, b = len(p)-n, len(q)-n
	if a-i == b-j && a-i >= anagram && rearranged(p[i:a], q[j:b]) {
		return a, b, order(p[i:a])
	}
	if a-i <= near && b-j <= near {
		return a, b, ""
	}
	in := p[i:min(i+window, a+n)]
	for k := j; k+gram <= len(q) && k-j < words && k <= b; k++ {
		if k > j && isWord(q[k-1]) {
			continue
		}
		if at := bytes.Index(in, q[k:k+gram]); at >= 0 && i+at <= a {
			return i + at, k, ""
		}
	}
	if x, y, ok := w.sameLine(p[i:a], q[j:b]); ok {
		return i + x, j + y, ""
	}
	return a, b, ""
}

// lineTable is how many lines a text has at most of which the beginnings are compared.
const lineTable = 512

// sameLine returns the first line of q that begins like a line of p.
func (w *walk) sameLine(p, q []byte) (x, y int, ok bool) {
	p, q = p[:min(len(p), far)], q[:min(len(q), far)]
	var table [lineTable]int32
	for x = nextLine(p, 0); x+gram <= len(p); x = nextLine(p, x) {
		if at := &table[maphash.Bytes(w.seed, p[x:x+gram])%lineTable]; *at == 0 {
			*at = int32(x)
		}
	}
	for y = nextLine(q, 0); y+gram <= len(q); y = nextLine(q, y) {
		x = int(table[maphash.Bytes(w.seed, q[y:y+gram])%lineTable])
		if x > 0 && bytes.Equal(p[x:x+gram], q[y:y+gram]) {
			return x, y, true
		}
	}
	return 0, 0, false
}

// nextLine is where the next line of a JSON string begins behind s[i], len(s) where there is none.
func nextLine(s []byte, i int) int {
	n := bytes.Index(s[i:], []byte(`\n`))
	if n < 0 {
		return len(s)
	}
	return i + n + 2
}

// rearranged reports whether two texts of equal length have the same bytes, in whichever order.
func rearranged(p, q []byte) bool {
	var count [256]int32
	for i := range p {
		count[p[i]]++
		count[q[i]]--
	}
	return count == [256]int32{}
}

// order is the class of a text whose parts are in another order.
func order(p []byte) Class {
	if bytes.Contains(p, []byte(`":`)) {
		return KeyOrder
	}
	return TextOrder
}

// conversation compares messages.
func (w *walk) conversation(p, q []segment) {
	for i := range p {
		if i == len(q) {
			return
		}
		if w.equal(&p[i], &q[i]) {
			w.share(p[i].at, p[i].end())
			if w.n > 0 {
				w.messages++
			}
			continue
		}
		if w.shifted(p, q, i) {
			return
		}
		if !bytes.Equal(member(w.p.of(&p[i]), "role"), member(w.q.of(&q[i]), "role")) {
			return
		}
		w.segment(&p[i], &q[i])
		if i+1 >= min(len(p), len(q)) || p[i+1].hash != q[i+1].hash {
			return // they share no more: the conversations part here
		}
	}
}

// shifted reports whether the messages from i on go on at another place of the other prompt, because some were dropped or put in, and
// compares them there.
func (w *walk) shifted(p, q []segment, i int) bool {
	dropped, inserted := find(q[i:], p[i].hash), find(p[i:], q[i].hash)
	from, to := i, i
	switch {
	case dropped > 0:
		to += dropped
	case inserted > 0:
		from += inserted
	default:
		return false
	}
	w.differ(&p[i], 0, History)
	for ; from < len(p) && to < len(q) && p[from].hash == q[to].hash; from, to = from+1, to+1 {
		w.share(p[from].at, p[from].end())
		w.messages++
	}
	return true
}

// find returns the place of a hash in segments, -1 where it is not there.
func find(segments []segment, hash uint64) int {
	for i := range segments {
		if segments[i].hash == hash {
			return i
		}
	}
	return -1
}
