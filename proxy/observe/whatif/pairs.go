package whatif

import (
	"sync"

	"reprise/proxy/cache"
	"reprise/topics/reuse/evidence"
)

// mostPairs is how many judged answers are kept: 0.5 MB.
const mostPairs = 4096

// Pairs are the last stored answers on which other gates or error rates could decide otherwise. They are safe for concurrent use.
type Pairs struct {
	mu    sync.Mutex     // protects what follows
	all   []cache.Judged // a ring
	next  int
	place map[int64]int // by number of the request
	last  int64         // number of the last request that was passed
}

// NewPairs returns none.
func NewPairs() *Pairs { return &Pairs{place: map[int64]int{}} }

// Judge keeps a pair, or the outcome of one.
func (p *Pairs) Judge(j *cache.Judged) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.Outcome != evidence.Unknown {
		if i, ok := p.place[j.Seq]; ok {
			p.all[i].Outcome = j.Outcome
		}
		return
	}
	p.last = max(p.last, j.Seq)
	if len(p.all) < mostPairs {
		p.all = append(p.all, *j)
	} else {
		delete(p.place, p.all[p.next].Seq)
		p.all[p.next] = *j
	}
	p.place[j.Seq] = p.next
	p.next = (p.next + 1) % mostPairs
}

// copies returns the pairs, and how many requests they are of.
func (p *Pairs) copies() (all []cache.Judged, requests int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all = append(all, p.all...)
	first := p.last
	for i := range all {
		first = min(first, all[i].Seq)
	}
	return all, p.last - first + 1
}
