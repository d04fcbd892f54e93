package haz

import (
	"math/rand/v2"

	"reprise/policy"
	"reprise/policy/internal/container"
	"reprise/policy/internal/spec"
)

// Spec describes haz and its parameters.
var Spec = spec.Spec{
	Name: "haz", Relational: true, Says: "learned: the least foreseen return, by recency, frequency, topic and conversation",
	Params: []policy.Param{
		{Name: "samples", Says: "residents looked at for a victim", Default: "32", Min: 1, Max: 4096},
		{Name: "lr", Says: "step of the learning", Default: "0.1", Max: 1},
		{Name: "ghosts", Says: "evicted entries remembered", Default: "2C", Max: 1e12},
		{Name: "topics", Says: "topics without a known entry that are remembered", Default: "4C", Max: 1e12},
		spec.ValueParam,
	},
	New: func(a spec.Args) policy.Evictor {
		h := newPolicy(a.Capacity, a.Whole("samples"), a.Whole("ghosts"), a.Num("lr"), a.Seed)
		h.topics.room = a.Whole("topics")
		h.mode = a.Value()
		return h
	},
}

// Policy evicts the entry that its room brings the least, of some sampled residents and the newest one. What is foreseen of an
// entry is v = E[2^(-T/h)], T the requests until its next use, for two horizons h: the capacity C and C/8. Room that is kept
// for it until that use brings v/(1-v)/h, which is its rate if uses come at random, and the higher of both figures counts:
// an entry that returns with its session after a long time is worth keeping all that time, one that returns at once or
// never is worth keeping a little. A rate at the present would miss both.
//
// v is learned: logit v = b + sum of a weight for each of eleven features, each cut into buckets (see hazModel). Every
// request looks at four random known entries. What was foreseen at one look is corrected at the next one, s requests later,
// towards 2^(-s/h)·v as it is foreseen then, and at a use in between towards 2^(-s/h). So nothing has to wait for h
// requests to be learned. What room brings is weighed with what hits save, for a limit in bytes with the tokens per byte.
// Ghosts and topics that have become empty keep what is known of them, and a ghost that returns teaches as much as a hit.
//
// Parameters: samples, lr (step of the learning), ghosts, topics, value. Cost per request: some 0.7 us for the learning, and
// for an eviction 40 ns per sample. Memory per resident: 80 bytes, as much for each ghost, some 25 for its place in the
// table, and 75 for each topic. Source: the features are the learned form of TP·TSI (paper 002 §3), and those of what came
// before and after are from here; relaxed Belady by learning (LRB, NSDI 2020) has the sampling and the aim, LHD (NSDI 2018)
// what room brings; temporal differences: Sutton, 1988.
type Policy struct {
	model   model
	clock   clock
	topics  topicTable
	mode    spec.Value
	samples int
	room    int // for ghosts
	random  *rand.PCG

	ids       container.Table[uint64, uint32] // residents whose ID is not their identity
	keys      container.Table[uint64, uint32] // identity of residents and ghosts
	cells     []entry                         // 0 is none
	looks     []look                          // at the cells
	spare     uint32                          // first unused, chained by next
	residents []uint32                        // in no order
	ghosts    container.Queue
	newest    uint32
	victim    uint32 // as last named, 0 when that is to be thought over
	touched   uint32 // see touch
	arrived   arrival
}

// entry is what is known of a resident or a ghost, in one line of the CPU's cache.
type entry struct {
	key  uint64
	id   policy.ID // 0: a ghost
	last int64
	crf  float32
	// worth is the logarithm of what one hit is worth.
	worth         float32
	topic         uint32
	seen          uint32 // visits of the topic at the last use
	prev          uint32 // of a ghost; of a resident its place in residents
	next          uint32
	before, after uint32 // see follow
	freq, turn    uint8  // buckets
}

// arrival is a miss whose answer is not there yet.
type arrival struct {
	topic policy.TopicID
	at    policy.Tick
}

var (
	_ policy.Evictor  = (*Policy)(nil)
	_ policy.Arriver  = (*Policy)(nil)
	_ policy.Linker   = (*Policy)(nil)
	_ policy.Replacer = (*Policy)(nil)
)

func newPolicy(capacity, samples, ghosts int, lr float64, seed uint64) *Policy {
	return &Policy{
		clock:   newClock(capacity),
		topics:  newTopicTable(4 * capacity),
		samples: samples,
		room:    ghosts,
		random:  rand.NewPCG(seed, 0x4a5a),
		cells:   make([]entry, 1),
		looks:   make([]look, 1),
		model:   newModel(lr),
	}
}

// Arrive counts a visit of topic. It waits for the Insert that follows, so that a ghost's return is learned from what
// was known before it.
func (h *Policy) Arrive(topic policy.TopicID, at policy.Tick) {
	h.settle()
	h.arrived = arrival{topic, at}
}

// Insert makes it resident, with what is known of it if it is a ghost.
func (h *Policy) Insert(it policy.Item, at policy.Tick) {
	if _, ok := h.find(it.ID); ok {
		return
	}
	if h.arrived.topic != it.Topic {
		h.settle()
	}
	h.advance(at.Seq)
	e, known := h.keys.Get(it.Identity())
	switch {
	case known && h.cells[e].id != 0: // two of one identity: it goes to the newer
		h.ids.Put(uint64(h.cells[e].id), e)
		h.keys.Delete(it.Identity())
		h.cells[e].key = 0
		e = h.take(it, at.Seq)
	case known:
		h.learn(e)
		h.unghost(e)
		h.retopic(e, it.Topic)
	default:
		h.learn(0)
		e = h.take(it, at.Seq)
	}
	h.visit(e, at.Seq, h.arrived.topic != 0 || it.Topic == 0 || h.topics.all[h.cells[e].topic].visits == 0)
	h.arrived = arrival{}
	h.admit(e, it)
}

// Hit learns from the return of id, and counts it.
func (h *Policy) Hit(id policy.ID, at policy.Tick) {
	h.settle()
	e, ok := h.find(id)
	if !ok {
		return
	}
	h.advance(at.Seq)
	h.learn(e)
	h.visit(e, at.Seq, true)
	h.victim = 0
}

// Replace counts a use, and weighs the new cost and size.
func (h *Policy) Replace(it policy.Item, at policy.Tick) {
	h.Hit(it.ID, at)
	if e, ok := h.find(it.ID); ok {
		h.cells[e].weigh(h.mode, it)
	}
}

// Victim names the least of the sampled residents and the newest entry.
func (h *Policy) Victim() (policy.ID, bool) {
	if len(h.residents) == 0 {
		return 0, false
	}
	if h.victim == 0 {
		h.victim = h.least()
	}
	return h.cells[h.victim].id, true
}

// Remove drops id, and keeps a ghost of it unless it is purged.
func (h *Policy) Remove(id policy.ID, why policy.Reason) {
	e, ok := h.find(id)
	if !ok {
		return
	}
	h.discharge(e)
	h.victim = 0
	if why == policy.Purged {
		h.drop(e)
		return
	}
	h.ghost(e)
}
