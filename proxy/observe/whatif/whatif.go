// Package whatif says what another capacity or another policy would have made of the last requests.
//
// A [Window] keeps them as the policy saw them, in rows of a fixed width: who asks for what is a number drawn from a hash, and there is no
// prompt. Where they are full and reach back for less than 24 requests per entry of the capacity, half of the identities leave, and the
// rows of the others reach back twice as far (SHARDS, Waldspurger et al., FAST 2015). A [Study] computes the hit ratio by capacity in the background, when it is
// asked, by miniature simulation (Waldspurger et al., USENIX ATC 2017): the requests of some identities through a cache that is smaller by the same factor.
//
// Two thirds of the window fill the caches, and the last third is counted. A capacity that is not filled twice by then has no figure: policies
// that count how often something is asked for take long until they are what they are in a cache that has run for a day.
package whatif

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sync"

	"reprise/policy"
	"reprise/proxy/cache"
)

// Options of a Window.
type Options struct {
	Rows     int          // how many requests are kept; default DefaultRows
	Capacity policy.Limit // of the cache, by which the sample is chosen; without one every request is kept
	Empty    bool         // nothing was stored before the first request
	Seed     uint64       // of the sample and of the numbers of identities; default: drawn
}

const (
	// DefaultRows take 6.4 MB once they are all there.
	DefaultRows = 200_000
	// RowBytes is the width of a row.
	RowBytes = 32

	chunk = 4096 // rows that are allocated, and copied under the lock, at a time
	reach = 24   // requests that the rows are to reach back for, per entry of the capacity
)

// row is a request. Its identity and that of its parent are 32 bits of a hash: of 100,000 identities one pair is taken for one.
type row struct {
	who, parent  uint32
	topic        uint32
	size, tokens uint32
	at           uint32 // 1/64 s since the first request
	passed       uint16 // requests since the row before that are not in the sample
	hits         uint16 // of these
	turn         uint8
	flags        uint8
}

const (
	flagHit     = 1 << iota
	flagRenewed // it could not have been a hit in any cache
)

// Window is the last requests. It is safe for concurrent use; Pass takes some 30 ns.
type Window struct {
	o Options

	mu           sync.Mutex // protects what follows
	chunks       [][]row
	next         int64  // place of the next row; the place in chunks is this modulo Options.Rows
	most         uint32 // draw of an identity up to which it is in the sample
	halved       int    // how often half of the identities left the sample
	first        float64
	started      bool
	passed, hits uint16 // since the last row
}

// New returns an empty window.
func New(o Options) *Window {
	o.Rows = (max(cmp.Or(o.Rows, DefaultRows), chunk) + chunk - 1) / chunk * chunk
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	return &Window{o: o, most: math.MaxUint32}
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw is the number by which an identity is chosen for the sample.
func draw(who uint32) uint32 { return uint32(mix(uint64(who)) >> 32) }

// Pass keeps a request.
func (w *Window) Pass(p *cache.Passed) {
	r := row{who: w.number(p.Who), parent: w.number(p.Parent), topic: w.number(uint64(p.Topic)), size: narrow(p.Size), tokens: narrow(p.Tokens),
		turn: uint8(min(max(p.Turn, 0), math.MaxUint8))}
	if p.Hit {
		r.flags |= flagHit
	}
	if p.Renewed {
		r.flags |= flagRenewed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if draw(r.who) > w.most {
		w.skipLocked(1, uint16(r.flags&flagHit))
		return
	}
	if !w.started {
		w.first, w.started = p.At.At, true
	}
	r.at = narrow(int64((p.At.At - w.first) * 64))
	if w.next == int64(w.o.Rows) && w.shortLocked() {
		w.halveLocked()
		if draw(r.who) > w.most {
			w.skipLocked(1, uint16(r.flags&flagHit))
			return
		}
	}
	w.appendLocked(&r)
}

// skipLocked counts requests that are not in the sample.
func (w *Window) skipLocked(requests, hits uint16) {
	if w.passed > math.MaxUint16-requests {
		return
	}
	w.passed += requests
	w.hits += hits
}

// appendLocked puts r into the place of the oldest row.
func (w *Window) appendLocked(r *row) {
	r.passed, r.hits, w.passed, w.hits = w.passed, w.hits, 0, 0
	at := int(w.next % int64(w.o.Rows))
	if at/chunk == len(w.chunks) {
		w.chunks = append(w.chunks, make([]row, chunk))
	}
	w.chunks[at/chunk][at%chunk] = *r
	w.next++
}

// shortLocked reports whether the rows, which are full for the first time since the sample was chosen, reach back too little for the capacity.
func (w *Window) shortLocked() bool {
	requests, bytes := int64(0), int64(0)
	for _, c := range w.chunks {
		for i := range c {
			requests += 1 + int64(c[i].passed)
			bytes += int64(c[i].size)
		}
	}
	entries := float64(w.o.Capacity.Entries)
	if limit := w.o.Capacity.Bytes; limit > 0 {
		if most := float64(limit) * float64(w.next) / float64(max(bytes, 1)); entries == 0 || most < entries {
			entries = most
		}
	}
	return w.halved < 16 && float64(requests) < reach*entries
}

// halveLocked drops the rows of half of the identities. With the count before it that takes some 4 ms, a few times in the life of a process.
func (w *Window) halveLocked() {
	w.most, w.next, w.passed, w.hits = w.most/2, 0, 0, 0
	w.halved++
	for _, c := range w.chunks {
		for _, r := range c {
			w.skipLocked(r.passed, r.hits)
			if draw(r.who) > w.most {
				w.skipLocked(1, uint16(r.flags&flagHit))
			} else {
				w.appendLocked(&r)
			}
		}
	}
}

// number is 32 bits of the hash of an id; 0 is that of 0 alone.
func (w *Window) number(id uint64) uint32 {
	if id == 0 {
		return 0
	}
	return max(uint32(mix(id^w.o.Seed)), 1)
}

func narrow(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// Bytes is the memory that the rows take.
func (w *Window) Bytes() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(len(w.chunks)) * chunk * RowBytes
}

// requests is how many rows there are.
func (w *Window) requests() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return min(w.next, int64(w.o.Rows))
}

// sample is a copy of the rows.
type sample struct {
	rows []row
	rate float64 // share of the identities
	// whole: they begin with the first request to an empty cache.
	whole bool
}

// sample copies the rows, the oldest first. Requests wait for a piece at a time.
func (w *Window) sample() *sample {
	for {
		if s := w.trySample(); s != nil {
			return s
		}
	}
}

// trySample is sample; nil where the sample was chosen again meanwhile.
func (w *Window) trySample() *sample {
	w.mu.Lock()
	end, halved := w.next, w.halved
	w.mu.Unlock()
	s := &sample{rate: math.Pow(0.5, float64(halved)), whole: w.o.Empty && end <= int64(w.o.Rows)}
	s.rows = make([]row, 0, min(end, int64(w.o.Rows)))
	for from := int64(0); from < end; {
		w.mu.Lock()
		if w.halved != halved {
			w.mu.Unlock()
			return nil
		}
		from = w.copyLocked(s, from, end)
		w.mu.Unlock()
	}
	return s
}

// copyLocked appends a piece of the rows from a place on, and returns where the next piece begins. What was copied of rows that are behind the
// window by now is dropped, so that there is no gap.
func (w *Window) copyLocked(s *sample, from, end int64) int64 {
	if oldest := w.next - int64(w.o.Rows); from < oldest {
		s.rows, from = s.rows[:0], oldest
	}
	if from >= end {
		return end
	}
	at := int(from % int64(w.o.Rows))
	n := int(min(int64(chunk-at%chunk), end-from))
	s.rows = append(s.rows, w.chunks[at/chunk][at%chunk:at%chunk+n]...)
	return from + int64(n)
}
