package prefix

import (
	"slices"
	"sync"
)

// defaultCapacity is the size of a KV cache that is not known, in blocks (reference/engine-hints.md §5.C).
const defaultCapacity = 31_250

// Member is one replica of a fleet.
type Member struct {
	Name     string // different from those of the others, and the same in all proxies
	Capacity int    // tokens that its KV cache holds; 0: 2,000,000
}

// FleetOptions configures a Fleet.
type FleetOptions struct {
	Chooser Chooser // nil: Default
	Seed    uint64  // of the order of the members for a key; equal in proxies that should agree
	Leaders int     // tokens of a prefix from which on concurrent requests wait for the one that is prefilled first; 0: none waits
}

// Fleet has the loads of several replicas and an index of what they should hold, and chooses one for each request. It is safe for
// concurrent use. It calls nothing under its lock except the chooser.
type Fleet struct {
	chooser Chooser
	leaders int // blocks

	mu      sync.Mutex // protects all that follows, and the tickets
	members []member
	index   *index
	held    []int // by member, of the present request, in blocks
	loads   []Load
	request Request
	avoided map[Block]int // by key, the member that failed last, until the next request
	spare   []evidence    // memory of tickets that have ended
	others  float64       // of the last replies to requests of which nothing was known, the share that reported what another proxy had sent
	replies int           // of those, as far as they count
}

// member is what a fleet has of one replica besides its blocks.
type member struct {
	id                        uint64
	inFlight, pending, active int
	cleared                   int                // how often the replica has lost its blocks
	unknown                   bool               // its capacity
	doubted                   map[Block]struct{} // the first blocks that replies have not reported as cached, though they should be
	leaders                   []*Ticket          // those that prefill a long prefix at present
}

// NewFleet returns a fleet in which no member holds anything.
func NewFleet(members []Member, o FleetOptions) *Fleet {
	f := &Fleet{chooser: o.Chooser, leaders: blocksOf(o.Leaders), members: make([]member, len(members)), held: make([]int, len(members)), others: 1, avoided: map[Block]int{}}
	if f.chooser == nil {
		f.chooser = &ByPrefix{}
	}
	if o.Leaders > 0 {
		f.leaders = max(1, f.leaders)
	}
	capacities := make([]int, len(members))
	for i, m := range members {
		f.members[i] = member{id: o.Seed ^ Seed(m.Name), unknown: m.Capacity == 0, doubted: map[Block]struct{}{}}
		capacities[i] = capacityOf(m.Capacity)
	}
	f.index = newIndex(capacities...)
	return f
}

func blocksOf(tokens int) int { return tokens / BlockTokens }

func capacityOf(tokens int) int {
	if tokens == 0 {
		return defaultCapacity
	}
	return blocksOf(tokens)
}

// Choose chooses the member that gets a request with the chain c, or with none. may returns the share of the requests that a member may
// get, in [0, 1], where 0 excludes it; nil allows all. The ticket is nil if all are excluded. Each ticket must be ended.
func (f *Fleet) Choose(c *Chain, may func(member int) (share float64)) *Ticket {
	var few [32]float64
	shares := few[:0]
	for i := range f.members { // members never change
		share := 1.0
		if may != nil {
			share = min(1, may(i))
		}
		shares = append(shares, share)
	}
	t := &Ticket{fleet: f}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.request = Request{}
	if c != nil {
		f.index.match(c.Blocks, f.held)
		f.request = Request{Tokens: c.Tokens(), Key: c.Opening, Conversation: c.Opening, Shared: c.Shared / (BlockBytes / BlockTokens),
			Alone: min(1, max(0, (enoughOthers-f.others)/(enoughOthers-fewOthers)))}
		if c.Shared >= BlockBytes {
			f.request.Key = c.Scaffold
		}
	} else {
		clear(f.held)
	}
	f.loads = f.loads[:0]
	for i, share := range shares {
		if share > 0 {
			f.loads = append(f.loads, f.load(i, share))
		}
	}
	if len(f.loads) == 0 {
		return nil
	}
	f.avoid()
	t.Member = f.loads[f.chooser.Choose(&f.request, f.loads)].Member
	f.begin(t, c)
	return t
}

// avoid takes the member out that has failed with the prefix of the present request, where another one may get that.
func (f *Fleet) avoid() {
	failed, ok := f.avoided[f.request.Key]
	if !ok || f.request.Key == 0 {
		return
	}
	if i := slices.IndexFunc(f.loads, func(l Load) bool { return l.Member == failed }); i >= 0 && len(f.loads) > 1 {
		f.loads = slices.Delete(f.loads, i, i+1)
		delete(f.avoided, f.request.Key)
	}
}

// load returns the load of a member for the present request.
func (f *Fleet) load(i int, share float64) Load {
	m := &f.members[i]
	return Load{Member: i, ID: m.id, InFlight: m.inFlight, Pending: m.pending, Active: m.active, Cached: f.held[i] * BlockTokens,
		Capacity: f.index.capacity(i) * BlockTokens, Held: f.index.held(i) * BlockTokens, Share: share}
}

// Cached returns how many tokens of the prefix of c each member should hold. It changes nothing.
func (f *Fleet) Cached(c *Chain) []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index.match(c.Blocks, f.held)
	tokens := make([]int, len(f.held))
	for i, blocks := range f.held {
		tokens[i] = blocks * BlockTokens
	}
	return tokens
}

// Loads returns the loads of all members, for reports.
func (f *Fleet) Loads() []Load {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.held)
	all := make([]Load, len(f.members))
	for i := range all {
		all[i] = f.load(i, 1)
	}
	return all
}

// SetCapacity sets how many tokens the KV cache of a member holds, as its metrics report it; 0 is unknown.
func (f *Fleet) SetCapacity(member, tokens int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index.setCapacity(member, capacityOf(tokens))
	f.index.setReach(member, unlimited)
	f.members[member].unknown = tokens == 0
}

// Removed notes that a member has lost blocks.
func (f *Fleet) Removed(member int, blocks []Block) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index.remove(member, blocks)
}

// Cleared notes that a member has lost all of its blocks, such as by a restart. Requests that it still has in flight add none.
func (f *Fleet) Cleared(member int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index.clear(member)
	clear(f.members[member].doubted)
	f.members[member].cleared++
}
