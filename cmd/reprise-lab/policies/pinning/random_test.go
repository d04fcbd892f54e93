package pinning_test

import (
	"math/rand/v2"
	"testing"

	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/internal/policytest"
	"reprise/policy"
)

// TestPinsNeverMatterWithoutOne: pins that end before the next victim is named leave the victims of every policy whose Unpin is no use.
func TestPinsNeverMatterWithoutOne(t *testing.T) {
	for _, name := range policies.All.Names() {
		bare := named(t, name, policy.Options{Capacity: 8})
		if _, ok := bare.(pinning.Pinner); ok {
			continue // Unpin is a use there
		}
		pins := pinning.Pinned(named(t, name, policy.Options{Capacity: 8}))
		for i, op := range policytest.RandomOps(rand.New(rand.NewPCG(11, 12)), 2000) {
			if op.Kind == policytest.OpArrive || op.Kind == policytest.OpLink { // the wrapper has no such methods
				continue
			}
			at := policy.Tick{Seq: int64(i + 1), At: float64(i)}
			op.Apply(bare, at)
			op.Apply(pins, at)
			pins.Pin(op.ID)
			pins.Unpin(op.ID, at)
		}
		if got, want := policytest.Drain(pins), policytest.Drain(bare); got != want {
			t.Errorf("%s: victims %s with pins, %s without", name, got, want)
		}
	}
}

// TestNoPinnedVictim pins and unpins at random, under every policy, and drains it twice: with the pins and after the last one.
func TestNoPinnedVictim(t *testing.T) {
	for _, name := range policies.All.Names() {
		t.Run(name, func(t *testing.T) {
			var drained [2]string
			for i := range drained {
				p := playPins(t, pinning.Pinned(named(t, name, policy.Options{Capacity: 8, Seed: 1})))
				drained[i] = p.drain()
			}
			if drained[0] != drained[1] {
				t.Errorf("the same calls have the victims %s and %s", drained[0], drained[1])
			}
		})
	}
}

// pinsPlay counts the pins of each resident itself.
type pinsPlay struct {
	t    *testing.T
	pins pinning.Pins
	held map[policy.ID]int // residents
	ids  []policy.ID       // of all that were pinned, in order
	at   policy.Tick
}

func playPins(t *testing.T, pins pinning.Pins) *pinsPlay {
	p := &pinsPlay{t: t, pins: pins, held: map[policy.ID]int{}}
	rng := rand.New(rand.NewPCG(9, 10))
	for _, op := range policytest.RandomOps(rng, 4000) {
		p.at = policy.Tick{Seq: p.at.Seq + 1, At: p.at.At + rng.Float64()}
		switch op.Kind {
		case policytest.OpInsert:
			p.held[op.ID] = 0
			op.Apply(pins, p.at)
		case policytest.OpRemove:
			delete(p.held, op.ID)
			op.Apply(pins, p.at)
		case policytest.OpArrive:
			p.pin(op.ID)
		case policytest.OpLink:
			p.unpin(op.Parent)
		default:
			if c, ok := pins.Evictor.(pinning.Contextual); ok {
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
	order := policytest.Drain(p.pins)
	if n := len(p.ids); n == 0 || left == 0 {
		p.t.Fatalf("%d pins, and %d residents with one at the end: nothing was tested", n, left)
	}
	return order
}

func named(t *testing.T, name string, o policy.Options) policy.Evictor {
	t.Helper()
	e, err := policies.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
