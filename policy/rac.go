package policy

import "math"

// RACOptions are the parameters of RAC. RACPaper and RACTuned give the two sets worth starting from.
type RACOptions struct {
	// Alpha is the decay of a topic's prevalence per request, >= 0: it halves in 1/Alpha requests. From 1 on the order of
	// topics is that of their last request; 0 never forgets.
	Alpha float64
	// Lambda is the weight of dependents against own requests in the structural importance, >= 0.
	Lambda float64
	// DepCap bounds what dependents can add (D15: they are never subtracted, and a hub would live for ever); 0 is no bound.
	DepCap float64
	// Ghosts is how many topics without members keep their prevalence (D9), the least prevalent dropped first.
	Ghosts int
	// Protect keeps the newest entry from being the victim while there is another (D8). Without it RAC refuses what it
	// holds worth less than all residents, and a working set that changes may never get in.
	Protect bool
	// CostAware multiplies the value of an entry by Cost/Size, for a capacity in bytes.
	CostAware bool
	// YoungParents lets Link name a parent that was born after the child. Paper 002, Alg. 3 does not forbid it; D13 does,
	// since such links can form a cycle.
	YoungParents bool
}

// RACPaper is the literal reading of paper 002 (§3, Alg. 1-3) with its "decay factor = 1": every request credits its
// topic, the new entry may be the victim, a topic without members is forgotten, any resident can be a parent.
func RACPaper() RACOptions {
	return RACOptions{Alpha: 1, Lambda: 1, YoungParents: true}
}

// RACTuned is what served best for a cache of capacity entries, over generated conversations (two skews, and with a
// drifting popularity), an LRU stack and a Zipf law whose working set shifts. The half-life of capacity/3 requests is a
// compromise: with 10 times capacity the first two gain a point, and the last two fall from 66 to 16 and from 58 to 40 %
// hits, because the old topics never let a new one in. Protect and Ghosts gain little at this decay, much at a slower one.
func RACTuned(capacity int) RACOptions {
	capacity = max(capacity, 1)
	return RACOptions{Alpha: 3 / float64(capacity), Lambda: 1, DepCap: 64, Ghosts: capacity, Protect: true}
}

// RAC is relation-aware caching (paper 002 §3): the victim is the entry with the least TP·TSI, where TP is the prevalence
// of its topic, a count of requests that halves every 1/Alpha of them, and TSI = freq + Lambda·dep counts the entry's own
// requests and those of the entries that depend on it. Ties go by least recent use, then earliest birth.
//
// All topics decay at one rate, so the order of TP·2^(Alpha·t)·TSI stands still between requests: a heap of topics over a
// heap of members for each finds the victim in O(1) and follows a request in O(log n), without a scan.
// Memory per resident is some 145 bytes at ten members per topic and 250 when every entry is its own topic.
//
// The caller says Arrive at a miss and Hit at a hit, once per request, and Insert when the answer of a miss is there, with
// the Tick of its arrival. An item without a topic stands alone, as if it had one of its own.
type RAC struct {
	opts RACOptions

	index   map[ID]uint32
	entries []entry // slot 0 is none
	seat    []uint32
	spare   uint32 // first unused slot of entries, chained by topic
	held    uint32 // the newest entry under Protect: its rank is the worst until the next one comes

	topics topicTable
}

// entry is what RAC knows of one resident. Its rank and last use lie in its node in the heap of its topic.
type entry struct {
	id, parent ID
	born       int64
	freq, dep  float64
	worth      float32 // factor of the value: Cost/Size, or 1
	topic      uint32
}

var (
	_ Evictor    = (*RAC)(nil)
	_ Arriver    = (*RAC)(nil)
	_ Linker     = (*RAC)(nil)
	_ Persistent = (*RAC)(nil)
)

// NewRAC starts empty. It panics on a negative or not finite option.
func NewRAC(o RACOptions) *RAC {
	for _, v := range []float64{o.Alpha, o.Lambda, o.DepCap, float64(o.Ghosts)} {
		if !(v >= 0) || math.IsInf(v, 1) {
			panic("policy: RACOptions must be finite and not negative")
		}
	}
	r := &RAC{
		opts:    o,
		index:   make(map[ID]uint32),
		entries: make([]entry, 1),
		seat:    make([]uint32, 1),
	}
	r.topics = newTopicTable(o.Alpha, o.Ghosts, &r.entries)
	return r
}

// Arrive credits topic with a request that missed. A topic that is unknown then starts with its first Insert, at the
// same prevalence, unless there is room for ghosts.
func (r *RAC) Arrive(topic TopicID, at Tick) {
	if topic == 0 {
		return
	}
	if t, ok := r.topics.index[topic]; ok {
		r.topics.credit(t, at.Seq)
		r.topics.reseat(t)
	} else if r.opts.Ghosts > 0 {
		r.topics.retire(r.topics.open(topic, at.Seq))
	}
}

// Insert makes it resident with one request to its name, and credits its parent if that is resident.
func (r *RAC) Insert(it Item, at Tick) {
	if _, ok := r.index[it.ID]; ok {
		return
	}
	r.release()
	t := r.topics.open(it.Topic, at.Seq)
	e := r.take(entry{id: it.ID, born: at.Seq, freq: 1, topic: t, worth: r.worth(it)})
	r.index[it.ID] = e
	if r.opts.Protect {
		r.held = e
	}
	r.members(t).push(r.rank(e, at.Seq))
	r.topics.reseat(t)
	if p, ok := r.parent(it.Parent); ok && p != e && r.entries[p].born <= at.Seq {
		r.entries[e].parent = it.Parent
		r.addDep(p, 1)
	}
}

// Hit credits the entry, its own topic and its living parent with one request.
func (r *RAC) Hit(id ID, at Tick) {
	e, ok := r.index[id]
	if !ok {
		return
	}
	x := &r.entries[e]
	x.freq++
	r.topics.credit(x.topic, at.Seq)
	r.members(x.topic).move(r.rank(e, at.Seq))
	r.topics.reseat(x.topic)
	if p, ok := r.parent(x.parent); ok {
		r.addDep(p, 1)
	}
}

// Victim names the entry of least value.
func (r *RAC) Victim() (ID, bool) {
	if len(r.topics.live) == 0 {
		return 0, false
	}
	first := r.topics.all[r.topics.live[0].item].members[0]
	return r.entries[first.item].id, true
}

// Remove forgets id. What it added to its parent stays (D15), and a topic left without members becomes a ghost.
func (r *RAC) Remove(id ID) {
	e, ok := r.index[id]
	if !ok {
		return
	}
	delete(r.index, id)
	t := r.entries[e].topic
	r.members(t).remove(e)
	r.topics.reseat(t)
	if r.held == e {
		r.held = 0
	}
	r.entries[e] = entry{topic: r.spare}
	r.spare = e
}

// release ranks the entry that was protected as the newest.
func (r *RAC) release() {
	e := r.held
	r.held = 0
	if e != 0 {
		r.rerank(e)
	}
}

// rerank puts e where its importance now belongs; its last use is unchanged.
func (r *RAC) rerank(e uint32) {
	t := r.entries[e].topic
	r.members(t).move(r.rank(e, r.last(e)))
	r.topics.reseat(t)
}

// rank is the place of e among the members of its topic, in which the topic's prevalence has no part.
func (r *RAC) rank(e uint32, last int64) node {
	value := math.Inf(1)
	if e != r.held {
		value = r.importance(e) * float64(r.entries[e].worth)
	}
	return node{mant: value, last: last, item: e}
}

func (r *RAC) members(t uint32) seats {
	return seats{nodes: &r.topics.all[t].members, pos: r.seat, entries: r.entries}
}

// last is the Seq of the last use of e.
func (r *RAC) last(e uint32) int64 {
	return r.topics.all[r.entries[e].topic].members[r.seat[e]].last
}

// worth is bounded so that no entry is worthless or priceless.
func (r *RAC) worth(it Item) float32 {
	if !r.opts.CostAware {
		return 1
	}
	cost := it.Cost
	if !(cost > 0) {
		cost = 1
	}
	return float32(min(max(cost/float64(max(it.Size, 1)), 1e-30), 1e30))
}

func (r *RAC) take(x entry) uint32 {
	if e := r.spare; e != 0 {
		r.spare = r.entries[e].topic
		r.entries[e] = x
		return e
	}
	r.entries = append(r.entries, x)
	r.seat = append(r.seat, 0)
	return uint32(len(r.entries) - 1)
}
