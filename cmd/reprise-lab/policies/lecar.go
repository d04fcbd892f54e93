package policies

import (
	"math"
	"math/rand/v2"

	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/internal/container"
	"reprise/policy"
)

// lecarSpec describes lecar and its parameters.
var lecarSpec = policy.Spec{
	Name: "lecar", Says: "the oldest or the least used, by weights that learn from what was evicted too early",
	Params: []policy.Param{
		{Name: "lr", Says: "learning rate of the two weights", Default: "0.45", Max: 100},
	},
	New: func(a policy.Args) policy.Evictor { return newLeCaR(a.Capacity, a.Num("lr"), a.Seed) },
}

// LeCaR has two experts, LRU and LFU (ties to the one that came to its count first), and follows one of them by a draw
// with the odds of their weights, which start equal. Each has a history of capacity/2 entries that it alone chose to
// evict. A miss that is in one, evicted t requests ago, multiplies the weight of that expert by exp(-lr·d^t) with
// d = 0.005^(1/capacity): a mistake counts less the longer it took to show. Counts start at 1 with each insertion.
//
// The one parameter is lr. The draw is in steps of 1/100, as in libCacheSim, so an expert of least weight keeps a hundredth
// of the choices if it is LRU and none if it is LFU.
//
// A miss or a hit costs O(log n). Memory per resident: some 65 bytes, and 40 per entry of a history.
//
// Source: Vietri et al., Driving Cache Replacement with ML-based LeCaR, HotStorage 2018.
type LeCaR struct {
	lr, discount float64
	weights      [2]float64 // by expert
	rand         *rand.Rand

	slots  container.Slots[policy.ID, uint64] // identities
	recent container.Queue                    // the latest used at its head
	counts keyed.Heap
	staged uint32 // the newest entry: in neither until the next Insert or Hit
	past   [2]container.History[int64]
	now    int64 // Seq of the last request

	named  policy.ID // by the last Victim
	by     adviser
	stands bool // named is still valid
}

// adviser is who chose a victim.
type adviser int8

const (
	both adviser = iota - 1
	byAge
	byCount
)

var _ policy.Evictor = (*LeCaR)(nil)

// newLeCaR starts empty, for a capacity in entries.
func newLeCaR(capacity int, lr float64, seed uint64) *LeCaR {
	l := &LeCaR{
		lr: lr, discount: math.Pow(0.005, 1/float64(max(capacity, 1))),
		weights: [2]float64{0.5, 0.5},
		rand:    rand.New(rand.NewPCG(seed, 0x1eca7)),
	}
	l.past[byAge].Room, l.past[byCount].Room = capacity/2, capacity/2
	return l
}

// Insert learns from the eviction of the same identity, and stages the item.
func (l *LeCaR) Insert(it policy.Item, at policy.Tick) {
	if _, ok := l.slots.Find(it.ID); ok {
		return
	}
	l.begin(at)
	l.learn(it.Identity())
	l.staged = l.slots.Add(it.ID, it.Identity())
}

// Hit makes id the latest and counts it.
func (l *LeCaR) Hit(id policy.ID, at policy.Tick) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	l.begin(at)
	l.slots.ToHead(&l.recent, slot)
	l.counts.Set(slot, l.counts.Key(slot)+1)
}

// Victim draws which expert to follow, unless both name the same entry.
func (l *LeCaR) Victim() (policy.ID, bool) {
	if !l.stands {
		l.choose()
	}
	return l.named, l.stands
}

// Remove drops id. A victim that only one expert had named goes into its history.
func (l *LeCaR) Remove(id policy.ID, why policy.Reason) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	if why == policy.Evicted && id == l.named && l.by != both {
		l.past[l.by].Add(l.slots.Cells[slot].Val, l.now)
	}
	if slot == l.staged {
		l.staged = 0
	} else {
		l.slots.Unlink(&l.recent, slot)
		l.counts.Remove(slot)
	}
	l.slots.Free(slot)
	l.stands = false
	if id == l.named {
		l.named = 0
	}
}

// begin makes the staged entry compete.
func (l *LeCaR) begin(at policy.Tick) {
	l.now, l.stands = at.Seq, false
	if l.staged != 0 {
		l.slots.PushHead(&l.recent, l.staged)
		l.counts.Set(l.staged, 1)
		l.staged = 0
	}
}

func (l *LeCaR) choose() {
	if l.slots.Len() == 0 {
		return
	}
	slot := l.staged
	l.stands, l.by = true, both
	if l.recent.Len > 0 {
		slot, l.by = follow(l.rand, l.weights[byAge], l.recent.Tail, l.counts.Min())
	}
	l.named = l.slots.Cells[slot].Name
}

// follow draws which of two experts to follow, unless both name the same entry. odds are those of the first.
func follow(r *rand.Rand, odds float64, oldest, rarest uint32) (slot uint32, by adviser) {
	switch {
	case oldest == rarest:
		return oldest, both
	case float64(r.IntN(100))/100 < odds:
		return oldest, byAge
	}
	return rarest, byCount
}

// learn takes weight from the expert that evicted key. No weight falls to 0, from where it could not rise.
func (l *LeCaR) learn(key uint64) {
	for e := range l.past {
		since, ok := l.past[e].Take(key)
		if !ok {
			continue
		}
		regret := math.Pow(l.discount, float64(max(0, l.now-since)))
		l.weights[e] *= math.Exp(-l.lr * regret)
		for i, w := range normal(l.weights) {
			l.weights[i] = max(w, 1e-10)
		}
	}
}

// normal scales two weights to a sum of 1.
func normal(w [2]float64) [2]float64 {
	sum := w[0] + w[1]
	return [2]float64{w[0] / sum, w[1] / sum}
}
