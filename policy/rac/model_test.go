package rac

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"reprise/policy"
)

// model is RAC as paper 002 writes it, §3: TP by the recurrence, values at the time of the eviction, a scan of
// everything. A whole alpha is computed in 53 bits, as in float64 if that had no smallest number: the terms of TP are
// powers of 2 then, and how sums of a longer span tie is part of the definition. Any other alpha is computed in 256 bits.
type model struct {
	bits    uint
	o       Options
	decay   []*big.Float // 2^(-alpha·i)
	topics  map[policy.TopicID]*modelTopic
	entries map[policy.ID]*modelEntry
	born    []policy.ID // in the order of insertion
}

type modelTopic struct {
	tp      *big.Float
	last    int64
	emptied int64 // when it lost its last member; 0 while it has one
}

type modelEntry struct {
	id, parent policy.ID
	topic      policy.TopicID
	freq, dep  float64
	born, last int64
}

func newModel(o Options, requests int) *model {
	m := &model{bits: 256, o: o, topics: map[policy.TopicID]*modelTopic{}, entries: map[policy.ID]*modelEntry{}}
	step := m.exp2Neg(o.Alpha)
	if o.Alpha > 0 && o.Alpha == math.Trunc(o.Alpha) {
		m.bits, step = 53, big.NewFloat(math.Exp2(-o.Alpha))
	}
	m.decay = []*big.Float{m.float(1)}
	for i := range requests {
		m.decay = append(m.decay, m.float(0).Mul(m.decay[i], step))
	}
	return m
}

func (m *model) float(v float64) *big.Float {
	return new(big.Float).SetPrec(m.bits).SetFloat64(v)
}

// exp2Neg is 2^-alpha for 0 <= alpha < 1: the series of exp(-alpha·ln 2), where ln 2 is the sum of 1/(k·2^k).
func (m *model) exp2Neg(alpha float64) *big.Float {
	ln2, half := m.float(0), m.float(1)
	for k := 1; k <= int(m.bits)+8; k++ {
		half.Quo(half, m.float(2))
		ln2.Add(ln2, m.float(0).Quo(half, m.float(float64(k))))
	}
	x := m.float(0).Mul(ln2, m.float(-alpha))
	sum, term := m.float(1), m.float(1)
	for k := 1; k <= 100; k++ {
		term.Quo(term.Mul(term, x), m.float(float64(k)))
		sum.Add(sum, term)
	}
	return sum
}

func (m *model) tp(s *modelTopic, now int64) *big.Float {
	return m.float(0).Mul(s.tp, m.decay[now-s.last])
}

func (m *model) credit(s *modelTopic, now int64) {
	s.tp = m.float(0).Add(m.tp(s, now), m.float(1))
	s.last = now
}

func (m *model) arrive(topic policy.TopicID, now int64) {
	if s := m.topics[topic]; s != nil {
		m.credit(s, now)
	}
}

func (m *model) insert(it policy.Item, now int64) {
	if m.topics[it.Topic] == nil {
		m.topics[it.Topic] = &modelTopic{tp: m.float(1), last: now}
	}
	m.topics[it.Topic].emptied = 0
	e := &modelEntry{id: it.ID, topic: it.Topic, freq: 1, born: now, last: now}
	m.entries[it.ID] = e
	m.born = append(m.born, it.ID)
	if p := m.entries[it.Parent]; p != nil {
		e.parent = it.Parent
		m.credited(p, 1)
	}
}

func (m *model) credited(p *modelEntry, by float64) {
	p.dep += by
	if m.o.DepCap > 0 {
		p.dep = min(p.dep, m.o.DepCap)
	}
}

func (m *model) hit(id policy.ID, now int64) {
	e := m.entries[id]
	e.freq++
	e.last = now
	m.credit(m.topics[e.topic], now)
	if p := m.entries[e.parent]; p != nil {
		m.credited(p, 1)
	}
}

func (m *model) link(child, parent policy.ID) bool {
	c, p := m.entries[child], m.entries[parent]
	if c == nil || p == nil || c == p || m.entries[c.parent] != nil || !m.o.YoungParents && p.born >= c.born {
		return false
	}
	c.parent = parent
	m.credited(p, c.freq)
	return true
}

func (m *model) remove(id policy.ID, now int64) {
	e := m.entries[id]
	delete(m.entries, id)
	for _, other := range m.entries {
		if other.topic == e.topic {
			return
		}
	}
	m.topics[e.topic].emptied = now
	m.trim(now)
}

// trim forgets the least prevalent topics without members, beyond the ghosts there is room for.
func (m *model) trim(now int64) {
	for {
		var least policy.TopicID
		ghosts := 0
		for id, s := range m.topics {
			if s.emptied == 0 {
				continue
			}
			ghosts++
			if least == 0 || m.tp(s, now).Cmp(m.tp(m.topics[least], now)) < 0 {
				least = id
			}
		}
		if ghosts <= m.o.Ghosts {
			return
		}
		delete(m.topics, least)
	}
}

func (m *model) victim(now int64) policy.ID {
	prevalence := map[policy.TopicID]*big.Float{}
	for id, s := range m.topics {
		prevalence[id] = m.tp(s, now)
	}
	var worst *modelEntry
	var least *big.Float
	held := policy.ID(0)
	if m.o.Protect {
		held = m.born[len(m.born)-1]
	}
	for _, e := range m.entries {
		v := m.float(e.freq + m.o.Lambda*e.dep)
		v.Mul(v, prevalence[e.topic])
		if e.id == held {
			v.SetInf(false)
		}
		if worst == nil || m.less(v, least, e, worst) {
			worst, least = e, v
		}
	}
	return worst.id
}

// less orders by value, then by last use, birth and id. Values that agree in 100 bits are equal up to rounding.
func (m *model) less(v, w *big.Float, a, b *modelEntry) bool {
	if v.IsInf() != w.IsInf() {
		return w.IsInf()
	} else if diff := m.float(0); !v.IsInf() && diff.Sub(v, w).Sign() != 0 && diff.MantExp(nil) > w.MantExp(nil)-100 {
		return diff.Sign() < 0
	}
	if a.last != b.last {
		return a.last < b.last
	}
	if a.born != b.born {
		return a.born < b.born
	}
	return a.id < b.id
}

// TestRACNamesTheVictimsOfTheDefinition is the proof of the heaps, the log domain and the static key.
func TestRACNamesTheVictimsOfTheDefinition(t *testing.T) {
	const requests = 8_000
	evictions := 0
	for i, o := range modelSettings() {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) { evictions += compareWithModel(t, o, requests, uint64(i)) })
	}
	if evictions < 100_000 {
		t.Errorf("compared %d evictions, want 100,000", evictions)
	}
}

func modelSettings() []Options {
	var all []Options
	for _, alpha := range []float64{1, 0.1, 0.01, 0.001} {
		for _, lambda := range []float64{0, 1, 4} {
			all = append(all, Options{Alpha: alpha, Lambda: lambda, YoungParents: true},
				Options{Alpha: alpha, Lambda: lambda, DepCap: 8, Ghosts: 12, Protect: true})
		}
	}
	return all
}

// compareWithModel plays one random conversation trace through both, and returns the number of evictions.
func compareWithModel(t *testing.T, o Options, requests int, seed uint64) (evictions int) {
	const capacity, topics, itemsPerTopic = 30, 25, 8
	r := rand.New(rand.NewPCG(seed, 11))
	rac, model := New(o), newModel(o, requests)
	resident := map[[2]int]policy.ID{} // of (topic, item)
	owner := map[policy.ID][2]int{}
	drop := func(id policy.ID, now int64) {
		rac.Remove(id, policy.Purged)
		model.remove(id, now)
		delete(resident, owner[id])
	}
	next := policy.ID(1)
	recent := func() policy.ID { return policy.ID(max(0, int64(next)-1-int64(r.IntN(2*capacity)))) }
	for now := int64(1); now <= int64(requests); now++ {
		s := min(r.IntN(topics), r.IntN(topics)) // low topics are the hot ones
		key := [2]int{s, r.IntN(itemsPerTopic)}
		at := policy.Tick{Seq: now}
		if id, ok := resident[key]; ok {
			rac.Hit(id, at)
			model.hit(id, now)
		} else {
			it := policy.Item{ID: next, Topic: policy.TopicID(s + 1), Parent: recent()}
			resident[key], owner[next] = next, key
			next++
			rac.Arrive(it.Topic, at)
			model.arrive(it.Topic, now)
			rac.Insert(it, at)
			model.insert(it, now)
		}
		if child, parent := recent(), recent(); r.IntN(3) == 0 {
			if got, want := rac.Link(child, parent), model.link(child, parent); got != want {
				t.Fatalf("seq %d: link %v, want %v", now, got, want)
			}
		}
		if id := recent(); r.IntN(50) == 0 && model.entries[id] != nil {
			drop(id, now)
		}
		for len(model.entries) > capacity {
			got, _ := rac.Victim()
			if want := model.victim(now); got != want {
				t.Fatalf("seq %d: victim %d, want %d", now, got, want)
			}
			drop(got, now)
			evictions++
		}
	}
	return evictions
}
