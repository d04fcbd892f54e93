package kv

import (
	"math"
	"testing"

	"reprise/policy"
)

// naiveLPC is the paper's structure: a probability and a time for each block, and a scan over all that computes p_cur.
type naiveLPC struct {
	scale, now float64
	pool       string
	blocks     map[policy.ID]*naiveBlock
	uses       int
}

type naiveBlock struct {
	p, last      float64
	offset, uses int
	topic        policy.TopicID
	shared       bool
	pins         int
}

func (n *naiveLPC) current(b *naiveBlock) float64 {
	decay := math.Exp(-(n.now - b.last) * n.scale)
	return b.p * decay / (b.p*decay + 1 - b.p)
}

func (n *naiveLPC) Insert(it policy.Item, at policy.Tick) {
	n.blocks[it.ID] = &naiveBlock{topic: it.Topic}
	n.HitIn(it, at)
}

func (n *naiveLPC) HitIn(it policy.Item, at policy.Tick) {
	n.now = at.At
	b := n.blocks[it.ID]
	b.shared = b.shared || b.topic != it.Topic
	if old := n.current(b); n.pool == "max" || n.pool == "shared" && b.shared {
		b.p = max(old, it.Prob)
	} else {
		b.p = it.Prob
	}
	n.uses++
	b.last, b.offset, b.uses = n.now, it.Offset, n.uses
}

func (n *naiveLPC) Hit(policy.ID, policy.Tick)           { panic("no context") }
func (n *naiveLPC) Remove(id policy.ID, _ policy.Reason) { delete(n.blocks, id) }
func (n *naiveLPC) Pin(id policy.ID)                     { n.blocks[id].pins++ }
func (n *naiveLPC) Unpin(id policy.ID, at policy.Tick) {
	n.now = at.At
	b := n.blocks[id]
	if b.pins--; b.pins == 0 {
		n.uses++
		b.last, b.uses = n.now, n.uses
	}
}

func (n *naiveLPC) Victim() (best policy.ID, ok bool) {
	for id, b := range n.blocks {
		if b.pins > 0 {
			continue
		}
		if x := n.blocks[best]; x == nil || n.before(b, x) {
			best = id
		}
	}
	return best, best != 0
}

func (n *naiveLPC) before(a, b *naiveBlock) bool {
	const rounding = 1e-9
	switch p, q := n.current(a), n.current(b); {
	case math.Abs(p-q) > rounding*(p+q):
		return p < q
	case a.offset != b.offset:
		return a.offset > b.offset
	}
	return a.uses < b.uses
}

// TestLPCIsTheDecay: the static key has the order of the probabilities that are computed again at each eviction, with requests that hold their
// blocks for a while, blocks of several conversations, and ties.
func TestLPCIsTheDecay(t *testing.T) {
	for _, pool := range []string{"shared", "max", "last"} {
		naive := &naiveLPC{scale: 0.02, pool: pool, blocks: map[policy.ID]*naiveBlock{}}
		f := newTraffic(t, 60, naive, newPolicy(t, "lpc:scale=0.02,pool="+pool))
		f.predict = true
		f.run(3000)
		f.enough()
	}
}

// TestHybridWithoutPredictionsIsWA: the probability is that of the category then, before and after each fit.
func TestHybridWithoutPredictionsIsWA(t *testing.T) {
	h := newPolicy(t, "lpc-wa:sample=1").(*Hybrid)
	h.slack = 0
	f := newTraffic(t, 60, newPolicy(t, "wa:form=bayes,sample=1"), h)
	f.kinds, f.gap = 3, 5
	f.run(3000)
	f.enough()
}

// TestHybridIsTheScan compares each victim with the least probability of all residents.
func TestHybridIsTheScan(t *testing.T) {
	h := newPolicy(t, "lpc-wa:sample=1").(*Hybrid)
	f := newTraffic(t, 60, h)
	f.kinds, f.gap, f.predict = 3, 5, true
	f.check = func(victim policy.ID) {
		best, least := uint32(0), 0.0
		for slot := uint32(1); int(slot) < len(h.blocks.cells.Cells); slot++ {
			c := h.blocks.cells.Cells[slot]
			if c.Name == 0 || c.Val.pins > 0 {
				continue
			}
			fit := h.model.shadow.model.Of(h.model.categories[c.Val.class])
			if rate := h.blocks.rates[c.Val.class]; math.Abs(rate/fit.Rate-1) > 0.011 {
				t.Fatalf("request %d: rate %v of a fit %+v", f.at.Seq, rate, fit)
			}
			p := 1 / (1 + math.Exp(h.blocks.rates[c.Val.class]*(h.model.now-c.Val.last)-c.Val.logit)) * -math.Expm1(-fit.Rate*h.model.life.seconds)
			if best == 0 || p < least*(1-1e-9) || p <= least*(1+1e-9) && h.blocks.before(slot, best) {
				best, least = slot, p
			}
		}
		if want := h.blocks.cells.Cells[best].Name; victim != want {
			t.Fatalf("request %d: victim %d, a scan finds %d", f.at.Seq, victim, want)
		}
	}
	f.run(3000)
	f.enough()
}

// TestPriorByTurn: without predictions, half of the conversations go on after their first turn, all after the second, none after the third.
// The blocks that all have do not count: the deepest of each request does.
func TestPriorByTurn(t *testing.T) {
	l := newPolicy(t, "lpc").(*LPC)
	f := newTraffic(t, 1<<30, l)
	seq := int64(0)
	for i := range 2000 {
		turns := 1 + 2*(i%2)
		for turn := 1; turn <= turns; turn++ {
			seq++
			f.at = policy.Tick{Seq: seq, At: 10*float64(i) + float64(turn)}
			f.request(policy.Item{Category: policy.CategoryOf(0, turn)}, f.chain(uint64(10+i), turn))
		}
	}
	for turn, want := range []float64{1: 0.5, 2: 1, 3: 0} {
		if got := l.turns.goesOn(policy.CategoryOf(0, turn)); turn > 0 && math.Abs(got-want) > 0.05 {
			t.Errorf("after turn %d, %v of the conversations go on, want %v", turn, got, want)
		}
	}
}

// TestPriorByTurnOfTopics: the last block of each prompt is partial, so that the next turn has another one in its place, and what the
// conversation has for itself is never used again. Its topic is.
func TestPriorByTurnOfTopics(t *testing.T) {
	l := newPolicy(t, "lpc").(*LPC)
	f := newTraffic(t, 1<<30, l)
	for i := range 2000 {
		for turn := 1; turn <= 1+i%2; turn++ {
			f.at = policy.Tick{Seq: f.at.Seq + 1, At: 10*float64(i) + float64(turn)}
			partial := 1_000_000 + uint64(f.at.Seq)
			f.request(policy.Item{Category: policy.CategoryOf(0, turn), Topic: policy.TopicID(i + 1)}, []uint64{1, 2, partial})
		}
	}
	for turn, want := range []float64{1: 0.5, 2: 0} {
		if got := l.turns.goesOn(policy.CategoryOf(0, turn)); turn > 0 && math.Abs(got-want) > 0.05 {
			t.Errorf("after turn %d, %v of the conversations go on, want %v", turn, got, want)
		}
	}
}

// TestExtremePredictions: certain predictions are ordered by time as others, and nothing is infinite.
func TestExtremePredictions(t *testing.T) {
	for _, name := range []string{"lpc", "lpc-wa", "lpc:prior=1", "lpc:scale=0"} {
		e := newPolicy(t, name)
		for i, p := range []float64{1, 1e-300, math.Inf(1), 1, math.NaN(), -1} {
			e.Insert(policy.Item{ID: policy.ID(i + 1), Prob: p}, policy.Tick{Seq: int64(i), At: float64(i)})
		}
		if id, ok := e.Victim(); !ok || id != 2 {
			t.Errorf("%s: victim %d, want the one that is least probable", name, id)
		}
	}
}
