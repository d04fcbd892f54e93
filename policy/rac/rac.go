package rac

import (
	"math"

	"reprise/policy"
	"reprise/policy/internal/bound"
)

// Policy is relation-aware caching (paper 002 §3): the victim is the entry with the least TP·TSI, where TP is the prevalence
// of its topic, a count of requests that halves every 1/Alpha of them, and TSI = freq + Lambda·dep counts the entry's own
// requests and those of the entries that depend on it. Ties go by least recent use, then earliest birth.
//
// All topics decay at one rate, so the order of TP·2^(Alpha·t)·TSI stands still between requests: a heap of topics over a
// heap of members for each finds the victim in O(1) and follows a request in O(log n), without a scan; with Beta, in that
// for each living ancestor. Memory per resident is some 115 bytes at ten members per topic and 155 when every entry is its
// own topic; a ghost costs some 70, as a topic or as an entry.
//
// The caller calls Arrive at a miss and Hit at a hit, once per request, and Insert when the answer of a miss is there, with
// the Tick of its arrival. An item without a topic stands alone, as if it had one of its own.
type Policy struct {
	opts Options

	ids     slots
	entries []entry  // by the number of the id; 0 is none
	seat    []uint32 // the place in the heap of its topic, or the next in its list

	topics  topicTable
	episode policy.TopicID // of the last request
	window  young
	past    past
}

// entry is the state of one resident.
type entry struct {
	parent     policy.ID
	born, last int64 // Seq
	dep        float64
	freq       uint32
	worth      float32 // factor of the value
	topic      uint32
	held       bool // in the window: its value is the highest
}

var (
	_ policy.Evictor    = (*Policy)(nil)
	_ policy.Arriver    = (*Policy)(nil)
	_ policy.Linker     = (*Policy)(nil)
	_ policy.Replacer   = (*Policy)(nil)
	_ policy.Persistent = (*Policy)(nil)
)

// New starts empty. It panics on an option that is out of range.
func New(o Options) *Policy {
	if !o.valid() {
		panic("policy: RACOptions must be finite and not negative, Beta and Doubt at most 1")
	}
	r := &Policy{opts: o, entries: make([]entry, 1), seat: make([]uint32, 1)}
	r.window.size, r.past.evicted.Room = o.Window, o.EntryGhosts
	r.topics = topicTable{rac: r, time: massTime{alpha: o.Alpha}}
	if o.NoTP {
		r.topics.time.alpha = 0
	}
	return r
}

// Arrive credits topic with a request that missed. A topic that is unknown starts with its first Insert, at the same
// prevalence: a caller that chooses new topics late need not call Arrive.
func (r *Policy) Arrive(topic policy.TopicID, at policy.Tick) {
	now := r.advance(topic, true, at)
	if t, ok := r.topics.ids.find(uint64(topic)); ok && topic != 0 && r.opts.Clock != ClockHits {
		r.topics.credit(t, now)
		r.topics.reseat(t)
	}
}

// Insert makes it resident with one request to its name, and credits its parent if that is resident.
func (r *Policy) Insert(it policy.Item, at policy.Tick) {
	if _, ok := r.ids.find(uint64(it.ID)); ok || it.ID == 0 {
		return
	}
	r.release(r.window.push(it.ID))
	t := r.topics.open(it.Topic, r.now(at))
	e := r.take(it)
	r.entries[e] = entry{
		freq: 1, born: at.Seq, last: at.Seq, topic: t, worth: float32(r.opts.worth.Of(it)), held: r.opts.Window > 0,
	}
	parent := r.revive(e, it)
	r.topics.join(t, e)
	r.topics.reseat(t)
	if p, ok := r.parent(parent); ok && p != e && r.entries[p].born <= at.Seq {
		r.entries[e].parent = parent
		r.addDep(parent, 1)
	}
}

// Hit credits the entry, its own topic and its living parent with one request.
func (r *Policy) Hit(id policy.ID, at policy.Tick) {
	e, ok := r.ids.find(uint64(id))
	if !ok {
		return
	}
	x := &r.entries[e]
	bound.Increment(&x.freq)
	x.last = at.Seq
	r.topics.credit(x.topic, r.advance(policy.TopicID(r.topics.ids.keys[x.topic]), false, at))
	r.rerank(e)
	r.addDep(x.parent, 1)
}

// Replace credits the entry as Hit does, at its new worth.
func (r *Policy) Replace(it policy.Item, at policy.Tick) {
	if e, ok := r.ids.find(uint64(it.ID)); ok {
		r.entries[e].worth = float32(r.opts.worth.Of(it))
		r.Hit(it.ID, at)
	}
}

// Victim names the entry of least value.
func (r *Policy) Victim() (policy.ID, bool) {
	if len(r.topics.live) == 0 {
		return 0, false
	}
	return policy.ID(r.ids.keys[r.topics.first(r.topics.live[0].item)]), true
}

// Remove drops id. What it added to its parent stays (D15), and a topic left without members becomes a ghost.
func (r *Policy) Remove(id policy.ID, why policy.Reason) {
	e, ok := r.ids.find(uint64(id))
	if !ok {
		return
	}
	r.past.add(e, &r.entries[e], why)
	t := r.entries[e].topic
	r.topics.leave(t, e)
	r.topics.reseat(t)
	r.ids.free(e)
}

// take is the number of a new entry.
func (r *Policy) take(it policy.Item) uint32 {
	e := r.ids.add(uint64(it.ID))
	for len(r.entries) <= int(e) {
		r.entries = append(r.entries, entry{})
		r.seat = append(r.seat, 0)
	}
	return e
}

// rerank puts e where its value now belongs.
func (r *Policy) rerank(e uint32) {
	t := r.entries[e].topic
	r.topics.moved(t, e)
	r.topics.reseat(t)
}

// rank is the place of e among the members of its topic, in which the topic's prevalence has no part.
func (r *Policy) rank(e uint32) node { return node{mant: r.value(e), item: e} }

func (r *Policy) value(e uint32) float64 {
	if r.entries[e].held {
		return math.Inf(1)
	}
	return r.importance(e) * float64(r.entries[e].worth)
}

func (r *Policy) heap(nodes *[]node) seats { return seats{nodes: nodes, pos: r.seat, rac: r} }

// before reports whether e is evicted before f, a member of the same topic.
func (r *Policy) before(e, f uint32) bool {
	if v, w := r.value(e), r.value(f); v != w {
		return v < w
	}
	return r.older(e, f)
}

// older reports whether e is evicted before f, an entry of the same value.
func (r *Policy) older(e, f uint32) bool {
	a, b := &r.entries[e], &r.entries[f]
	if a.last != b.last {
		return a.last < b.last
	}
	if a.born != b.born {
		return a.born < b.born
	}
	return r.ids.keys[e] < r.ids.keys[f]
}

// advance notes a request to topic and returns its time.
func (r *Policy) advance(topic policy.TopicID, miss bool, at policy.Tick) int64 {
	now := r.now(at)
	if r.opts.Clock == ClockMisses && miss || r.opts.Clock == ClockEpisodes && (topic == 0 || topic != r.episode) {
		now++
	}
	r.episode = topic
	r.topics.time.now = max(r.topics.time.now, now)
	return now
}

// now is the time of what happens at a Tick.
func (r *Policy) now(at policy.Tick) int64 {
	if r.opts.Clock == ClockMisses || r.opts.Clock == ClockEpisodes {
		return r.topics.time.now
	}
	return at.Seq
}
