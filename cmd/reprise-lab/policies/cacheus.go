package policies

import (
	"math"
	"math/rand/v2"

	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/internal/container"
	"reprise/policy"
)

// cacheusSpec describes cacheus and its parameters.
var cacheusSpec = policy.Spec{
	Name: "cacheus", Says: "a scan-resistant LRU or a churn-resistant LFU, by weights that learn at a rate that adapts",
	New: func(a policy.Args) policy.Evictor { return newCacheus(a.Capacity, a.Seed) },
}

// Cacheus asks two experts and follows one of them by a draw with the odds of their weights, which start equal. Each has a
// history of capacity/2 entries that it alone chose to evict; a miss that is in one multiplies the weight of that expert by
// exp(-rate), and no weight leaves 0.01 to 0.99.
//
// SR-LRU keeps what was used once, or fell out of the other list, in one list and evicts its oldest; what is used again, or
// comes back, goes to the other (see srLRU). CR-LFU evicts what has the least count, of equal counts the latest used, so that
// in a loop larger than the cache some entries stay; a count outlives the eviction in SR-LRU's history.
//
// The rate starts at random in [0.001, 1) and changes every capacity requests: on in the direction of its last change if the
// hit rate followed it, else back; where it did not change, ten periods without a better hit rate draw it again.
//
// It has no parameter. libCacheSim's Cacheus misses about 1 % more: there the lists of SR-LRU keep their sizes, the first
// evicts when it is full even if the other is not, and the hit rate is rounded down to 0, so that the learning rate only
// shrinks.
//
// A miss or a hit costs O(log n). Memory per resident: some 70 bytes, and 90 per entry of SR-LRU's history.
//
// Source: Rodriguez et al., Learning Cache Replacement with CACHEUS, FAST 2021.
type Cacheus struct {
	weights [2]float64
	rate    learningRate
	rand    *rand.Rand

	slots  container.Slots[policy.ID, cacheusEntry]
	lru    srLRU
	lfu    keyed.Heap // counts; ties go to what was used most recently
	counts uint32     // calls of count
	staged uint32     // the newest entry: in neither until the next Insert or Hit
	past   [2]container.History[struct{}]

	named  policy.ID // by the last Victim
	by     adviser
	stands bool
}

var _ policy.Evictor = (*Cacheus)(nil)

// newCacheus starts empty, for a capacity in entries.
func newCacheus(capacity int, seed uint64) *Cacheus {
	capacity = max(capacity, 1)
	c := &Cacheus{
		weights: [2]float64{0.5, 0.5},
		rand:    rand.New(rand.NewPCG(seed, 0xcac4e)),
	}
	c.lru = newSRLRU(&c.slots, capacity)
	c.rate = newLearningRate(capacity, c.rand)
	c.past[byAge].Room, c.past[byCount].Room = capacity/2, capacity/2
	return c
}

// Insert learns from the eviction of the same identity, and stages the item.
func (c *Cacheus) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := c.slots.Find(it.ID); ok {
		return
	}
	c.begin()
	c.rate.miss()
	c.learn(it.Identity())
	c.staged = c.slots.Add(it.ID, cacheusEntry{key: it.Identity()})
}

// Hit counts a use of id.
func (c *Cacheus) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := c.slots.Find(id)
	if !ok {
		return
	}
	c.begin()
	c.rate.hit()
	c.lru.use(slot)
	c.count(slot, c.lfu.Key(slot)+1)
}

// Victim draws which expert to follow, unless both name the same entry.
func (c *Cacheus) Victim() (policy.ID, bool) {
	if !c.stands {
		c.choose()
	}
	return c.named, c.stands
}

// Remove drops id. A victim goes into the histories; what expires leaves its count.
func (c *Cacheus) Remove(id policy.ID, why policy.Reason) {
	slot, ok := c.slots.Find(id)
	if !ok {
		return
	}
	key := c.slots.Cells[slot].Val.key
	switch {
	case slot == c.staged:
		c.staged = 0
	case why == policy.Evicted:
		c.lru.evict(slot, c.lfu.Key(slot))
		if id == c.named && c.by != both {
			c.past[c.by].Add(key, struct{}{})
		}
	case why == policy.Expired:
		c.lru.expire(slot, c.lfu.Key(slot))
	default:
		c.lru.purge(slot)
	}
	c.lfu.Remove(slot)
	c.slots.Free(slot)
	c.stands = false
	if id == c.named {
		c.named = 0
	}
}

// begin ends the last request: the staged entry competes, and the rate may adapt.
func (c *Cacheus) begin() {
	c.stands = false
	if c.staged != 0 {
		c.count(c.staged, c.lru.insert(c.staged))
		c.staged = 0
	}
	c.rate.end()
}

func (c *Cacheus) choose() {
	if c.slots.Len() == 0 {
		return
	}
	slot := c.staged
	c.stands, c.by = true, both
	if c.lfu.Len() > 0 {
		slot, c.by = follow(c.rand, c.weights[byAge], c.lru.oldest(), c.lfu.Min())
	}
	c.named = c.slots.Cells[slot].Name
}

// learn takes weight from the expert that evicted key.
func (c *Cacheus) learn(key uint64) {
	for e := range c.past {
		if _, ok := c.past[e].Take(key); !ok {
			continue
		}
		c.weights[e] *= math.Exp(-c.rate.value)
		c.weights = normal(c.weights)
		w := min(max(c.weights[byAge], 0.01), 0.99)
		c.weights = [2]float64{w, 1 - w}
	}
}

// count gives an entry its count, and the place before its equals.
func (c *Cacheus) count(slot uint32, n float64) {
	c.counts++
	c.lfu.SetMinor(slot, n, -c.counts)
}
