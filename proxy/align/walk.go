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
	minStretch     = 32  // bytes; differences that are nearer to each other are one
	minLost        = 256 // bytes; a comparison that finds less has found the end of what the prompts share
)

// walk compares a prompt with an earlier one behind the place where they part.
type walk struct {
	p, q     *prompt
	reach    int // bytes of p with which an earlier request has begun: an engine has them
	seed     maphash.Seed
	found    [maxDifferences]difference
	n        int
	messages int // that are equal behind a difference
}

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
}

// share counts bytes of p that are equal in q.
func (w *walk) share(from, to int) {
	if from = max(from, w.reach); w.n > 0 && from < to {
		w.found[w.n-1].shared += to - from
	}
}

// differ notes a difference at byte at of segment s. One that comes right behind another is a part of it.
func (w *walk) differ(s *segment, at int, class Class) {
	if w.n > 0 {
		last := &w.found[w.n-1]
		if w.n == maxDifferences || last.shared < minStretch && last.kind == s.kind && last.segment == s.position {
			if last.class == Unknown || last.class == Number && class == Timestamp {
				last.class = class
			}
			return
		}
	}
	element, char, line := place(w.p.of(s), at)
	w.found[w.n] = difference{kind: s.kind, segment: s.position, element: element, char: char, line: line, class: class}
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
	d := digest{w.seed, s.kind != prefix.Tools}
	return d.of(w.p.of(s)) == d.of(w.q.of(r))
}

// text compares the texts p and q; p begins at byte off of segment s.
func (w *walk) text(s *segment, off int, p, q []byte) {
	for i, j := 0, 0; ; {
		n := same(p[i:], q[j:])
		w.share(s.at+off+i, s.at+off+i+n)
		if i, j = i+n, j+n; i == len(p) && j == len(q) {
			return
		}
		a, b, class := resync(p, q, i, j)
		if class == "" {
			class = classify(p, q, i, a, j, b)
		}
		w.differ(s, off+word(p, i), class)
		i, j = a, b
	}
}

// Bounds of the search for the end of a difference.
const (
	near    = 96   // bytes; a shorter rest between the shared beginning and the shared end is one difference
	gram    = 24   // bytes that must be equal behind a difference
	window  = 2048 // bytes in which the end of one of several differences is looked for
	anagram = 24   // bytes; from there on, the same bytes in another order are parts in another order
)

// resync returns where p and q are equal again behind the bytes i and j, in which they differ, and a class where the way there shows it.
func resync(p, q []byte, i, j int) (a, b int, class Class) {
	n := sameEnd(p[i:], q[j:])
	a, b = len(p)-n, len(q)-n
	switch {
	case a-i <= near && b-j <= near:
		if a-i == b-j && a-i >= anagram && rearranged(p[i:a], q[j:b]) {
			return a, b, order(p[i:a])
		}
		return a, b, ""
	case a-i == b-j && rearranged(p[i:a], q[j:b]):
		return a, b, order(p[i:a])
	}
	in := p[i:min(i+window, len(p))]
	for k, tries := j, 0; k+gram <= min(j+window, len(q)) && tries < 40; k++ {
		if k > j && (isWord(q[k-1]) || k-j > 160 && !lineStart(q, k)) {
			continue
		}
		tries++
		if at := bytes.Index(in, q[k:k+gram]); at >= 0 && i+at <= a && k <= b {
			return i + at, k, ""
		}
	}
	return a, b, ""
}

// lineStart reports whether a line of a JSON string begins at q[k].
func lineStart(q []byte, k int) bool { return k >= 2 && q[k-1] == 'n' && q[k-2] == '\\' }

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
