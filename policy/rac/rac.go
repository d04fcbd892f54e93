package rac

import (
	"reprise/internal/container"
	"reprise/policy"
)

// Policy is relation-aware caching (paper 002 §3): the victim is the entry with the least TP·TSI, where TP is the prevalence
// of its topic, a count of requests that halves every 1/Alpha of them, and TSI = freq + Lambda·dep counts the entry's own
// requests and those of the entries that depend on it. Ties go by least recent use, then earliest birth.
//
// All topics decay at one rate, so the order of TP·2^(Alpha·t)·TSI stands still between requests: a heap of topics over a
// heap of members for each finds the victim in O(1) and follows a request in O(log n), without a scan. Memory per resident
// is some 145 bytes at ten members per topic and 230 when every entry is its own topic; a topic without members costs some 80.
//
// The caller calls Arrive at a miss and Hit at a hit, once per request, and Insert when the answer of a miss is there, with
// the Tick of its arrival. An item without a topic stands alone, as if it had one of its own.
type Policy struct {
	entries
	topics topicTable
	newest policy.ID // the last one inserted, resident or not
	past   past
}

var (
	_ policy.Evictor    = (*Policy)(nil)
	_ policy.Arriver    = (*Policy)(nil)
	_ policy.Linker     = (*Policy)(nil)
	_ policy.Replacer   = (*Policy)(nil)
	_ policy.Persistent = (*Policy)(nil)
)

// New starts empty.
func New(o Options) *Policy {
	r := &Policy{entries: entries{opts: o, all: make([]entry, 1)}}
	r.seats = container.Heaps{Place: make([]uint32, 1), Ties: r.older}
	r.topics = newTopicTable(&r.entries, massTime{alpha: o.Alpha})
	r.topics.live.Ties, r.topics.ghosts.Ties = r.topics.before, r.topics.before
	if o.NoTP {
		r.topics.time.alpha = 0
	}
	return r
}

// Arrive credits topic with a request that missed. A topic that is unknown starts with its first Insert, at the same
// prevalence: a caller that chooses new topics late need not call Arrive.
func (r *Policy) Arrive(topic policy.TopicID, at policy.Tick) {
	r.topics.advance(at.Seq)
	if t, ok := r.topics.ids.Find(topic); ok && topic != 0 {
		r.topics.credit(t, at.Seq)
		r.topics.reseat(t)
	}
}

// Insert makes it resident with one request to its name, and credits its parent if that is resident.
func (r *Policy) Insert(it policy.Item, at policy.Tick) {
	if _, ok := r.ids.Find(it.ID); ok || it.ID == 0 {
		return
	}
	if r.opts.Protect {
		r.release(r.newest)
		r.newest = it.ID
	}
	t := r.topics.open(it.Topic, at.Seq)
	e := r.add(it.ID)
	r.all[e] = entry{
		freq: 1, born: at.Seq, last: at.Seq, topic: t, worth: float32(r.opts.worth.Of(it)), held: r.opts.Protect,
	}
	parent := r.revive(e, it)
	r.topics.join(t, e)
	r.topics.reseat(t)
	if p, ok := r.ids.Find(parent); ok && p != e && r.all[p].born <= at.Seq {
		r.all[e].parent = parent
		r.addDep(parent, 1)
	}
}

// Hit credits the entry, its own topic and its living parent with one request.
func (r *Policy) Hit(id policy.ID, at policy.Tick) {
	e, ok := r.ids.Find(id)
	if !ok {
		return
	}
	x := &r.all[e]
	container.Increment(&x.freq)
	x.last = at.Seq
	r.topics.advance(at.Seq)
	r.topics.credit(x.topic, at.Seq)
	r.rerank(e)
	r.addDep(x.parent, 1)
}

// Replace credits the entry as Hit does, at its new worth.
func (r *Policy) Replace(it policy.Item, at policy.Tick) {
	if e, ok := r.ids.Find(it.ID); ok {
		r.all[e].worth = float32(r.opts.worth.Of(it))
		r.Hit(it.ID, at)
	}
}

// Victim names the entry of least value.
func (r *Policy) Victim() (policy.ID, bool) {
	if len(r.topics.live.Nodes) == 0 {
		return 0, false
	}
	return r.ids.Key(r.topics.first(r.topics.live.Nodes[0].Item)), true
}

// Remove drops id. What it added to its parent stays (D15), and a topic left without members becomes a ghost.
func (r *Policy) Remove(id policy.ID, why policy.Reason) {
	e, ok := r.ids.Find(id)
	if !ok {
		return
	}
	r.past.add(e, &r.all[e], why)
	t := r.all[e].topic
	r.topics.leave(t, e)
	r.topics.reseat(t)
	r.ids.Free(e)
}

// rerank puts e where its value now belongs.
func (r *Policy) rerank(e uint32) {
	t := r.all[e].topic
	r.topics.moved(t, e)
	r.topics.reseat(t)
}

// release ranks the entry that was the newest as any other.
func (r *Policy) release(id policy.ID) {
	if e, ok := r.ids.Find(id); ok {
		r.all[e].held = false
		r.rerank(e)
	}
}
