package watch

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// class is a kind of answers whose times are kept apart.
type class int

// The classes.
const (
	ofHit  class = iota // a stored answer
	ofMiss              // the upstream's
	classes
)

var classNames = [classes]string{"hit", "miss"}

// The buckets of a histogram: four to each doubling from 8 µs to 34 minutes, so that the middle of one is at most 10 % from what it has.
const (
	perDouble  = 4
	lowestBits = 13 // 2^13 ns: the first bucket has all below
	doublings  = 28
	buckets    = perDouble * doublings
)

// bucketOf is the bucket of a time.
func bucketOf(took time.Duration) int {
	ns := uint64(max(took, 0))
	length := bits.Len64(ns) - 1
	if length < lowestBits {
		return 0
	}
	part := int(ns>>(length-2)) & (perDouble - 1)
	return min((length-lowestBits)*perDouble+part, buckets-1)
}

// lowerBound is the shortest time of a bucket.
func lowerBound(b int) time.Duration {
	return time.Duration(perDouble+b%perDouble) << (lowestBits + b/perDouble - 2)
}

// latencies count times since the last sample.
type latencies [classes][buckets]atomic.Int64

func (l *latencies) observe(c class, took time.Duration) { l[c][bucketOf(took)].Add(1) }

// take moves the counts to both histories, as they are: a sum of packed ones would be less exact.
func (l *latencies) take(to ...*history) {
	for c := range l {
		for b := range l[c] {
			if l[c][b].Load() == 0 {
				continue // most are: a look leaves the line in the caches of those that count
			}
			n := l[c][b].Swap(0)
			for _, h := range to {
				h.times[c][b] += n
			}
		}
	}
}

// packed is a count of requests in one byte: exact up to 15, and from there within 6 %, up to 10^10.
type packed uint8

func pack(n int64) packed {
	if n < 16 {
		return packed(max(n, 0))
	}
	length := bits.Len64(uint64(n)) - 1 // 4 or more
	rounded := n + 1<<(length-4)        // to the nearest of eight steps
	length = bits.Len64(uint64(rounded)) - 1
	return packed(min(16+(length-4)*8+int(rounded>>(length-3))&7, math.MaxUint8))
}

func (p packed) count() int64 {
	if p < 16 {
		return int64(p)
	}
	q := int(p - 16)
	return int64(8+q%8) << (4 + q/8 - 3)
}

// spread is a histogram of one class, summed over samples.
type spread [buckets]int64

func (s *spread) add(of *[buckets]packed) {
	for b, n := range of {
		s[b] += n.count()
	}
}

// quantile is the time below which the share p of all is, within 10 %; ok is false where there is none.
func (s *spread) quantile(p float64) (q time.Duration, ok bool) {
	all := int64(0)
	for _, n := range s {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	rank := int64(math.Ceil(p * float64(all)))
	for b, n := range s {
		if rank -= n; rank <= 0 {
			return (lowerBound(b) + lowerBound(b+1)) / 2, true
		}
	}
	return lowerBound(buckets), true
}
