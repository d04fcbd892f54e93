package haz

import (
	"math/rand/v2"

	"reprise/policy"
)

// Spec describes haz and its parameters.
var Spec = policy.Spec{
	Name: "haz", Says: "learned: the least foreseen return, by recency, frequency, topic and conversation",
	Params: []policy.Param{
		{Name: "ghosts", Says: "evicted entries remembered", Default: "2C", Max: 1e12},
		policy.ValueParam,
	},
	New: func(a policy.Args) policy.Evictor {
		h := newHAZ(a.Capacity, samples, a.Whole("ghosts"), a.Seed)
		h.mode = a.Value()
		return h
	},
}

// haz evicts the entry with the least expected value for its space, of some sampled residents and the newest one. The
// forecast of an entry is v = E[2^(-T/h)], T the requests until its next use, for two horizons h: the capacity C and C/8. Room that is
// kept for it until that use brings v/(1-v)/h, which is its rate if uses come at random, and the higher of both figures
// counts: an entry that returns with its session after a long time is worth keeping all that time, one that returns at once
// or never is worth keeping a little. A rate at the present would miss both.
//
// v is learned: logit v = b + sum of a weight for each of thirteen features, each cut into buckets (see model). Every request
// samples four known entries. The forecast of one look is corrected at the next one, s requests later, towards
// 2^(-s/h)·v as it is foreseen then, and at a use in between towards 2^(-s/h). So learning does not have to wait for h
// requests. What room brings is multiplied by what hits save, for a limit in bytes by the tokens per byte. Ghosts and topics
// without entries keep their state, and the model learns from the return of a ghost as from a hit.
//
// A victim is the least of some residents drawn for it and of a pool: what was drawn lately, for victims or to learn from, and was low.
//
// Parameters: ghosts, value. Cost per request: some 0.5 us for the learning, and
// for an eviction 0.7 us. Memory per resident: 72 bytes, as much for each ghost, some 12 for its place in the
// table, and 65 for each topic. Source: the features are the learned form of TP·TSI (paper 002 §3), and those of what came
// before and after are from here; relaxed Belady by learning (LRB, NSDI 2020) has the sampling and the aim, LHD (NSDI 2018)
// what room brings; temporal differences: Sutton, 1988; the pool: Psounis and Prabhakar, INFOCOM 2001.
type haz struct {
	learner
	mode    policy.Value
	room    int    // for ghosts
	victim  uint32 // as last named, 0 when it has to be chosen again
	arrived arrival
}

// arrival is a miss whose answer has not arrived yet.
type arrival struct {
	topic policy.TopicID
	at    policy.Tick
}

var (
	_ policy.Evictor    = (*haz)(nil)
	_ policy.Arriver    = (*haz)(nil)
	_ policy.Linker     = (*haz)(nil)
	_ policy.Replacer   = (*haz)(nil)
	_ policy.Persistent = (*haz)(nil)
)

// samples is the number of residents that are drawn for a victim, besides the pool.
const samples = 8

func newHAZ(capacity, samples, ghosts int, seed uint64) *haz {
	return &haz{
		learner: learner{
			entries: entries{clock: newClock(capacity), topics: topicTable{room: 4 * capacity}, rows: make([]row, 1)},
			model:   newModel(), random: rand.NewPCG(seed, 0x4a5a), samples: samples,
		},
		room: ghosts,
	}
}

// Arrive counts a visit of topic at the Insert that follows, so that the model learns from the return of a ghost by its state before the visit.
func (h *haz) Arrive(topic policy.TopicID, at policy.Tick) {
	h.settle()
	h.arrived = arrival{topic, at}
}

// Insert makes it resident, with the state of its ghost if there is one.
func (h *haz) Insert(it policy.Item, at policy.Tick) {
	if _, ok := h.find(it.ID); ok {
		return
	}
	if h.arrived.topic != it.Topic {
		h.settle()
	}
	h.advance(at.Seq)
	e, known := h.slots.Find(it.Identity())
	switch {
	case known && h.at(e).id != 0: // two of one identity: it goes to the newer
		h.rename(e)
		e = h.add(it)
	case known:
		h.learn(e)
		h.slots.Unlink(&h.ghosts, e)
		h.moveTo(it.Topic, e)
	default:
		h.learn(0)
		e = h.add(it)
	}
	h.visit(e, h.arrived.topic != 0 || it.Topic == 0 || h.topics.at(h.rows[e].topic).visits == 0)
	h.arrived = arrival{}
	h.admit(e, it)
	h.setWorth(e, h.mode, it)
	h.newest, h.victim = e, 0
	h.Link(it.ID, it.Parent)
}

// Hit learns from the return of id, and counts it.
func (h *haz) Hit(id policy.ID, at policy.Tick) {
	h.settle()
	e, ok := h.find(id)
	if !ok {
		return
	}
	h.advance(at.Seq)
	h.learn(e)
	h.visit(e, true)
	h.victim = 0
}

// Replace counts a use, and sets the value of the new answer.
func (h *haz) Replace(it policy.Item, at policy.Tick) {
	h.Hit(it.ID, at)
	if e, ok := h.find(it.ID); ok {
		h.setWorth(e, h.mode, it)
	}
}

// Victim names the least of the sampled residents and the newest entry.
func (h *haz) Victim() (policy.ID, bool) {
	if len(h.residents) == 0 {
		return 0, false
	}
	if h.victim == 0 {
		h.victim = h.least()
	}
	return h.at(h.victim).id, true
}

// Remove drops id, and keeps a ghost of it unless it is purged.
func (h *haz) Remove(id policy.ID, why policy.Reason) {
	e, ok := h.find(id)
	if !ok {
		return
	}
	h.discharge(e)
	h.pool.drop(e)
	h.victim = 0
	if h.newest == e {
		h.newest = 0
	}
	if why == policy.Purged {
		h.free(e)
		return
	}
	h.keepGhost(e, h.room)
}

// Link records that child came after parent, however long after: what the order of requests shows of conversations is
// blurred where many go on at a time.
func (h *haz) Link(child, parent policy.ID) bool {
	c, ok := h.find(child)
	p, known := h.find(parent)
	if !ok || !known || c == p {
		return false
	}
	h.victim = 0
	return h.order(p, c)
}

// Mark notes whether another policy holds the entry of that identity, which is a feature. An identity that is not known is ignored.
func (h *haz) Mark(key uint64, held bool) {
	e, ok := h.slots.Find(key)
	if !ok {
		return
	}
	bucket := uint8(0)
	if held {
		bucket = 1
	}
	h.rows[e].set(featureHeld, bucket)
	h.victim = 0
}

// Importance returns the number of requests of id, up to 12, plus that of distinct entries that came after it, up to 23.
func (h *haz) Importance(id policy.ID) float64 {
	e, ok := h.find(id)
	if !ok {
		return 0
	}
	x := &h.rows[e]
	return float64(x.bucket(featureFreq)) + float64(x.bucket(featureAfter))
}

// settle counts the visit of a miss that was not inserted at once.
func (h *haz) settle() {
	a := h.arrived
	h.arrived = arrival{}
	if a.topic == 0 {
		return
	}
	h.advance(a.at.Seq)
	t := h.topics.open(a.topic)
	h.topics.at(t).visit(&h.clock)
	h.topics.leave(t)
}
