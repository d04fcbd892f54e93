package policytest

import (
	"math/rand/v2"
	"testing"

	"reprise/policy"
)

// books compares the counts of a ledger with sums over inserts and removes.
func books(t *testing.T, make Make, name string) {
	e := make.named(t, name, policy.Options{Capacity: 50})
	l := policy.NewLedger(e, policy.Limit{Entries: 50, Bytes: 2000})
	r := rand.New(rand.NewPCG(5, 6))
	sizes := map[policy.ID]int64{}
	total := int64(0)
	drop := func(id policy.ID) { total -= sizes[id]; delete(sizes, id) }
	for i, op := range RandomOps(r, 5000) {
		at := policy.Tick{Seq: int64(i + 1)}
		switch op.Kind {
		case OpInsert:
			sizes[op.ID] = int64(r.IntN(120))
			total += sizes[op.ID]
			for _, id := range l.Insert(policy.Item{ID: op.ID, Topic: op.Topic, Parent: op.Parent, Size: sizes[op.ID]}, at, nil) {
				drop(id)
			}
		case OpRemove:
			if l.Remove(op.ID, policy.Purged) {
				drop(op.ID)
			}
		default:
			op.Apply(e, at)
		}
		if l.Entries() != len(sizes) || l.Bytes() != total || l.Bytes() > 2000 || l.Entries() > 50 || l.Faults() != 0 {
			t.Fatalf("%s, op %d: %d entries, %d bytes, %d faults; want %d, %d, 0", name, i, l.Entries(), l.Bytes(),
				l.Faults(), len(sizes), total)
		}
	}
}

// checkPins pins and unpins at random, and drains what is left twice: with the pins and after the last one. Pins that end before the next victim
// is named leave the victims of a policy whose Unpin is no use.
func checkPins(t *testing.T, make Make, name string) {
	var drained [2]string
	for i := range drained {
		drained[i] = playPins(t, policy.Pinned(make.named(t, name, policy.Options{Capacity: 8, Seed: 1}))).drain()
	}
	if drained[0] != drained[1] {
		t.Errorf("the same calls have the victims %s and %s", drained[0], drained[1])
	}
	bare := make.named(t, name, policy.Options{Capacity: 8})
	if _, ok := bare.(policy.Pinner); ok {
		return // Unpin is a use there
	}
	pins := policy.Pinned(make.named(t, name, policy.Options{Capacity: 8}))
	for i, op := range RandomOps(rand.New(rand.NewPCG(11, 12)), 2000) {
		if op.Kind == OpArrive || op.Kind == OpLink { // the wrapper has no such methods
			continue
		}
		at := policy.Tick{Seq: int64(i + 1), At: float64(i)}
		op.Apply(bare, at)
		op.Apply(pins, at)
		pins.Pin(op.ID)
		pins.Unpin(op.ID, at)
	}
	if got, want := Drain(pins), Drain(bare); got != want {
		t.Errorf("victims %s with pins, %s without", got, want)
	}
}

// pinsPlay counts the pins of each resident itself.
type pinsPlay struct {
	t    *testing.T
	pins policy.Pins
	held map[policy.ID]int // residents
	ids  []policy.ID       // of all that were pinned, in order
	at   policy.Tick
}

func playPins(t *testing.T, pins policy.Pins) *pinsPlay {
	p := &pinsPlay{t: t, pins: pins, held: map[policy.ID]int{}}
	rng := rand.New(rand.NewPCG(9, 10))
	for _, op := range RandomOps(rng, 4000) {
		p.at = policy.Tick{Seq: p.at.Seq + 1, At: p.at.At + rng.Float64()}
		switch op.Kind {
		case OpInsert:
			p.held[op.ID] = 0
			op.Apply(pins, p.at)
		case OpRemove:
			delete(p.held, op.ID)
			op.Apply(pins, p.at)
		case OpArrive:
			p.pin(op.ID)
		case OpLink:
			p.unpin(op.Parent)
		default:
			if c, ok := pins.Evictor.(policy.Contextual); ok {
				c.HitIn(policy.Item{ID: op.ID, Category: uint32(op.Topic)}, p.at)
			}
		}
		if rng.IntN(3) == 0 {
			p.evict()
		}
	}
	return p
}

func (p *pinsPlay) pin(id policy.ID) {
	p.pins.Pin(id)
	if n, ok := p.held[id]; ok {
		p.held[id] = n + 1
		p.ids = append(p.ids, id)
	}
}

func (p *pinsPlay) unpin(id policy.ID) {
	p.pins.Unpin(id, p.at)
	if p.held[id] > 0 {
		p.held[id]--
	}
}

// evict removes the victim, which must be a resident without a pin; there must be one if any resident has none.
func (p *pinsPlay) evict() (id policy.ID, ok bool) {
	p.t.Helper()
	free := 0
	for _, n := range p.held {
		if n == 0 {
			free++
		}
	}
	id, ok = p.pins.Victim()
	if again, _ := p.pins.Victim(); again != id {
		p.t.Fatalf("request %d: victim %d, then %d", p.at.Seq, id, again)
	}
	if n, resident := p.held[id]; ok != (free > 0) || ok && (!resident || n > 0) {
		p.t.Fatalf("request %d: victim %d, %v (resident %v, pinned %d times) of %d free ones", p.at.Seq, id, ok, resident, n, free)
	}
	if ok {
		p.pins.Remove(id, policy.Evicted)
		delete(p.held, id)
	}
	return id, ok
}

// drain evicts what has no pin, ends all pins and drains the rest.
func (p *pinsPlay) drain() string {
	for _, ok := p.evict(); ok; _, ok = p.evict() {
	}
	left := len(p.held)
	for _, id := range p.ids {
		for p.held[id] > 0 {
			p.unpin(id)
		}
	}
	order := Drain(p.pins)
	if n := len(p.ids); n == 0 || left == 0 {
		p.t.Fatalf("%d pins, and %d residents with one at the end: nothing was tested", n, left)
	}
	return order
}
