package hint

import (
	"math"
	"sync"
	"time"
)

const (
	// perShard is how many requests a minute one key should get. A host serves about 15 a minute of one key and prefix from one machine;
	// the rest overflows to others, which have not seen the prefix.
	perShard = 12
	// window is the time constant of the rates: a request counts for a third of its weight after it.
	window = 2 * time.Minute
	// shrinkBelow is the part of what fewer shards could take below which a scaffold gets fewer: without a margin, the conversations of a
	// scaffold at the limit would change their machine again and again.
	shrinkBelow = 0.6
	// mostShards bounds the shards of one scaffold: 12,000 requests a minute.
	mostShards = 1000

	rateSets = 1024
	rateWays = 4
)

// rates estimates how often each scaffold is requested, in bounded memory: of scaffolds that share a set, those with the lowest rates are
// dropped. A scaffold that was dropped has one shard again.
type rates struct {
	mu   sync.Mutex // protects sets
	sets *[rateSets][rateWays]rate
}

// rate is the estimate for one scaffold.
type rate struct {
	key    uint64
	count  float64 // of requests, each with the weight exp(-age/window)
	first  time.Time
	last   time.Time
	shards int // 0: the slot is empty
}

// shards counts a request of the scaffold key at the time now and returns how many keys its requests should be spread over.
func (r *rates) shards(key uint64, now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sets == nil {
		r.sets = new([rateSets][rateWays]rate)
	}
	slot := r.slotLocked(key, now)
	if slot.shards == 0 || slot.key != key {
		*slot = rate{key: key, first: now, last: now, shards: 1}
	}
	slot.decay(now)
	slot.count++
	slot.resize()
	return slot.shards
}

// slotLocked is the slot of key, or the one that it may replace.
func (r *rates) slotLocked(key uint64, now time.Time) *rate {
	set := &r.sets[key%rateSets]
	least := &set[0]
	for i := range set {
		switch s := &set[i]; {
		case s.shards > 0 && s.key == key:
			return s
		case s.at(now) < least.at(now):
			least = s
		}
	}
	return least
}

// at is the count as it is at the time now.
func (s *rate) at(now time.Time) float64 {
	return s.count * math.Exp(-max(0, now.Sub(s.last).Seconds())/window.Seconds())
}

func (s *rate) decay(now time.Time) {
	s.count = s.at(now)
	if now.After(s.last) {
		s.last = now
	}
}

// resize fits the shards to the rate.
func (s *rate) resize() {
	perMinute := s.perMinute()
	if needed := shardsFor(perMinute); needed > s.shards {
		s.shards = needed
	} else if enough := shardsFor(perMinute / shrinkBelow); enough < s.shards {
		s.shards = enough
	}
}

// perMinute is the rate. A scaffold that was first requested a moment ago has had no time to reach its steady count, which is made up for;
// its first minute counts as a whole one, so that a burst of a few requests is no rate.
func (s *rate) perMinute() float64 {
	age := max(s.last.Sub(s.first), time.Minute)
	steady := window.Minutes() * (1 - math.Exp(-age.Seconds()/window.Seconds()))
	return s.count / steady
}

func shardsFor(perMinute float64) int {
	return min(max(1, int(math.Ceil(perMinute/perShard-1e-9))), mostShards)
}
