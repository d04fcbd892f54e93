package policies

import (
	"math/rand/v2"

	"reprise/policy"
)

// randomSpec describes random and its parameters.
var randomSpec = policy.Spec{
	Name: "random", Says: "any entry, each as likely",
	New: func(a policy.Args) policy.Evictor { return newRandom(a.Seed) },
}

// Random evicts an entry drawn uniformly from all but the newest. Where requests are independent it has FIFO's hit ratio.
// It has no parameter but the seed.
//
// Every call is O(1). Memory per resident: some 40 bytes.
type Random struct {
	rand   *rand.Rand
	ids    []policy.ID // in no order
	index  map[policy.ID]uint32
	staged policy.ID // the newest entry, not among ids
	drawn  policy.ID // what Victim named last, until it goes or another comes
}

var _ policy.Evictor = (*Random)(nil)

func newRandom(seed uint64) *Random {
	return &Random{index: map[policy.ID]uint32{}, rand: rand.New(rand.NewPCG(seed, 0x72616e646f6d))}
}

// Insert stages the item; the one before it joins the others.
func (r *Random) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := r.index[it.ID]; ok || it.ID == r.staged {
		return
	}
	if r.staged != 0 {
		r.index[r.staged] = uint32(len(r.ids))
		r.ids = append(r.ids, r.staged)
	}
	r.staged, r.drawn = it.ID, 0
}

// Hit changes nothing.
func (r *Random) Hit(policy.ID, policy.Tick) {}

// Victim draws an entry and stays with it.
func (r *Random) Victim() (policy.ID, bool) {
	if len(r.ids) == 0 {
		return r.staged, r.staged != 0
	}
	if r.drawn == 0 {
		r.drawn = r.ids[r.rand.IntN(len(r.ids))]
	}
	return r.drawn, true
}

// Remove drops id; the last of the others takes its place.
func (r *Random) Remove(id policy.ID, _ policy.Reason) {
	if id == r.staged {
		r.staged = 0
		return
	}
	i, ok := r.index[id]
	if !ok {
		return
	}
	if id == r.drawn {
		r.drawn = 0
	}
	end := len(r.ids) - 1
	r.ids[i] = r.ids[end]
	r.index[r.ids[i]] = i
	delete(r.index, id)
	r.ids = r.ids[:end]
}
