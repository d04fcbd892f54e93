package blocks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/registry"
)

// someBlocks are the blocks of these tests, which are numbered up to it.
const someBlocks = 24

// model is a Cache with maps and slices, written from its comments. Which block is dropped is taken from the Cache, and checked; under lru it
// is the first of order.
type model struct {
	capacity  int
	refs      map[uint32]int // of each resident block
	order     []uint32       // blocks that no request holds, as they were released
	reserved  int
	evictions int64
	undrained []uint32
}

func (m *model) held() (n int) {
	for _, refs := range m.refs {
		n += min(refs, 1)
	}
	return n
}

func (m *model) has(b uint32) bool { _, ok := m.refs[b]; return ok }

func (m *model) unordered(b uint32) {
	m.order = slices.DeleteFunc(m.order, func(o uint32) bool { return o == b })
}

// audited records what an evictor has.
type audited struct {
	policy.Evictor
	has  map[policy.ID]bool
	gone map[policy.ID]bool // evicted, so that these IDs are never used again
	bad  string             // the last call that its contract forbids
}

func (a *audited) Insert(it policy.Item, at policy.Tick) {
	if a.has[it.ID] || a.gone[it.ID] || it.ID == 0 {
		a.bad = fmt.Sprintf("insert of %d, which is resident, evicted or none", it.ID)
	}
	a.has[it.ID] = true
	a.Evictor.Insert(it, at)
}

func (a *audited) Remove(id policy.ID, why policy.Reason) {
	if !a.has[id] {
		a.bad = fmt.Sprintf("remove of %d, which is not resident", id)
	}
	delete(a.has, id)
	if why == policy.Evicted {
		a.gone[id] = true
	}
	a.Evictor.Remove(id, why)
}

// contextual is an audited that is Contextual, as what it wraps.
type contextual struct {
	*audited
	pinning.Contextual
}

// pinner is an audited that is a Pinner, as what it wraps.
type pinner struct {
	*audited
	pinning.Pinner
}

// both are both.
type both struct {
	*audited
	pinning.Contextual
	pinning.Pinner
}

func audit(e policy.Evictor) (policy.Evictor, *audited) {
	a := &audited{Evictor: e, has: map[policy.ID]bool{}, gone: map[policy.ID]bool{}}
	context, isContextual := e.(pinning.Contextual)
	pins, isPinner := e.(pinning.Pinner)
	switch {
	case isContextual && isPinner:
		return both{a, context, pins}, a
	case isContextual:
		return contextual{a, context}, a
	case isPinner:
		return pinner{a, pins}, a
	}
	return a, a
}

// inFlight is a request of the test.
type inFlight struct {
	blocks []uint32
	slots  int
	at     policy.Tick
}

// played is a Cache beside its model.
type played struct {
	testing.TB
	c       *Cache
	m       model
	audit   *audited // nil: the cache has an evictor of its own
	lru     bool
	running []*inFlight
	tick    policy.Tick
}

// newPlayed plays under a policy of the registry, or recency, which is lru as NewCache replaces it.
func newPlayed(t testing.TB, name string, capacity int) *played {
	p := &played{TB: t, m: model{capacity: capacity, refs: map[uint32]int{}}, lru: name == recency}
	if name == recency {
		p.c = NewCache(capacity, classic.NewLRU())
		return p
	}
	e, err := registry.New(name, policy.Options{Capacity: capacity, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	e, p.audit = audit(e)
	p.c = NewCache(capacity, e)
	return p
}

const recency = "recent"

func names() []string { return append(registry.Names(), recency) }

// step plays one operation on the cache and its model. Any two bytes are one; those that the contract of Cache forbids do nothing.
func (p *played) step(op, arg byte) {
	if len(p.running) == 0 || op%11 == 0 && len(p.running) < 5 {
		p.tick = policy.Tick{Seq: p.tick.Seq + 1, At: p.tick.At + float64(arg%16)}
		p.running = append(p.running, &inFlight{at: p.tick})
	}
	i, b := int(arg)%len(p.running), uint32(arg)%someBlocks
	r := p.running[i]
	switch op % 11 {
	case 1, 2:
		p.hold(r, b)
	case 3, 4:
		p.reserve(r)
	case 5, 6, 7:
		p.fill(r, b)
	case 8:
		p.release(r)
	case 9:
		for len(r.blocks) > 0 {
			p.release(r)
		}
		p.c.Free(r.slots)
		p.m.reserved -= r.slots
		p.running = slices.Delete(p.running, i, i+1)
	case 10:
		p.drop(b)
	}
	p.check()
}

func (p *played) item(b uint32) *policy.Item {
	return &policy.Item{Key: uint64(b) + 1, Topic: policy.TopicID(b % 5), Category: b % 3, Size: 16, Cost: 16, Offset: int(b), Prob: float64(b%4) / 4}
}

func (p *played) hold(r *inFlight, b uint32) {
	if p.m.has(b) {
		p.c.Hold(b, p.item(b), p.tick)
		p.m.refs[b]++
		p.m.unordered(b)
		r.blocks = append(r.blocks, b)
	}
}

func (p *played) reserve(r *inFlight) {
	m := &p.m
	before := m.evictions
	full, possible := len(m.refs)+m.reserved >= m.capacity, m.held()+m.reserved < m.capacity
	if got := p.c.Reserve(); got != possible {
		p.Fatalf("reserve: %v; %d of %d blocks are held, %d reserved", got, m.held(), m.capacity, m.reserved)
	} else if !got {
		return
	}
	r.slots++
	m.reserved++
	if full {
		m.evictions++
		p.lost()
	}
	if p.c.Evictions() != m.evictions {
		p.Fatalf("%d evictions after %d; a slot was empty: %v", p.c.Evictions(), before, !full)
	}
}

// lost finds the one block that was dropped.
func (p *played) lost() {
	var gone []uint32
	for b := range uint32(someBlocks) {
		if p.m.has(b) && !p.c.Has(b) {
			gone = append(gone, b)
		}
	}
	if len(gone) != 1 || p.m.refs[gone[0]] > 0 || p.lru && gone[0] != p.m.order[0] {
		p.Fatalf("%v were dropped; of %v, the oldest first", gone, p.m.order)
	}
	delete(p.m.refs, gone[0])
	p.m.unordered(gone[0])
	p.m.undrained = append(p.m.undrained, gone[0])
}

func (p *played) fill(r *inFlight, b uint32) {
	if r.slots == 0 {
		return
	}
	if got := p.c.Fill(b, p.item(b), p.tick); got == p.m.has(b) {
		p.Fatalf("fill of %d: %v, resident before: %v", b, got, p.m.has(b))
	} else if got {
		p.m.refs[b] = 1
		p.m.reserved--
		r.slots--
		r.blocks = append(r.blocks, b)
	}
}

// release ends one use, at the time of the request: so an older request than the last one may release.
func (p *played) release(r *inFlight) {
	last := len(r.blocks) - 1
	if last < 0 {
		return
	}
	b := r.blocks[last]
	r.blocks = r.blocks[:last]
	p.c.Release(b, r.at)
	if p.m.refs[b]--; p.m.refs[b] == 0 {
		p.m.order = append(p.m.order, b)
	}
}

func (p *played) drop(b uint32) {
	if got := p.c.Evicted(); !slices.Equal(got, p.m.undrained) {
		p.Fatalf("evicted %v, want %v", got, p.m.undrained)
	}
	p.m.undrained = nil
	if p.m.has(b) && p.m.refs[b] == 0 {
		p.c.Drop(b)
		delete(p.m.refs, b)
		p.m.unordered(b)
	}
}

// check compares all that can be asked, and what the evictor has.
func (p *played) check() {
	m := &p.m
	if len(m.refs)+m.reserved > m.capacity || p.c.Resident() != len(m.refs) || p.c.Room() != m.capacity-m.held()-m.reserved || p.c.Evictions() != m.evictions {
		p.Fatalf("%d resident, room for %d, %d evictions; want %d, %d, %d; %d reserved of %d", p.c.Resident(), p.c.Room(), p.c.Evictions(),
			len(m.refs), m.capacity-m.held()-m.reserved, m.evictions, m.reserved, m.capacity)
	}
	run := 0
	for b := range uint32(someBlocks) {
		if p.c.Has(b) != m.has(b) || p.c.Held(b) != (m.refs[b] > 0) {
			p.Fatalf("block %d: resident %v, held %v; want %v, %v", b, p.c.Has(b), p.c.Held(b), m.has(b), m.refs[b] > 0)
		}
		if run == int(b) && m.has(b) {
			run++
		}
		p.known(b)
	}
	var chain [someBlocks]uint32
	for b := range chain {
		chain[b] = uint32(b)
	}
	if got := p.c.Run(chain[:]); got != run {
		p.Fatalf("a run of %d, want %d", got, run)
	}
	if p.audit != nil && (p.audit.bad != "" || len(p.audit.has) > len(m.refs)) {
		p.Fatalf("%s; the evictor has %d, the cache %d", p.audit.bad, len(p.audit.has), len(m.refs))
	}
}

// known checks that the evictor has a block that no request holds, and none that is gone.
func (p *played) known(b uint32) {
	if p.audit == nil || !p.m.has(b) {
		return // len(has) shows one that is gone
	}
	if id := idOf(p.c.slots[b].born, b); !p.audit.has[id] && p.m.refs[b] == 0 {
		p.Fatalf("block %d is free, and the evictor does not have it", b)
	}
}

// drain ends all requests and drops all.
func (p *played) drain() {
	for len(p.running) > 0 {
		p.step(9, 0)
	}
	p.running = []*inFlight{{at: p.tick}}
	for range p.m.capacity {
		p.reserve(p.running[0])
	}
	p.check()
	if p.c.Resident() != 0 || p.c.Reserve() {
		p.Fatalf("%d are resident with all slots reserved", p.c.Resident())
	}
}

// TestCacheAgainstModel plays random operations of requests that overlap under every policy, also with fewer blocks than one request has.
func TestCacheAgainstModel(t *testing.T) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				random := rand.New(rand.NewPCG(seed, 2))
				p := newPlayed(t, name, 1+random.IntN(someBlocks/2))
				p.c.born = -uint32(seed % 3 * 9) // it passes its end
				for range 600 {
					p.step(byte(random.Uint32()), byte(random.Uint32()))
				}
				p.drain()
			}
		})
	}
}

func FuzzCache(f *testing.F) {
	f.Add(byte(1), byte(4), []byte("\x00\x00\x03\x01\x05\x02\x08\x03\x03\x04\x05\x05\x09\x06\x0a\x07"))
	f.Add(byte(9), byte(2), []byte("a0 b1 c2 d3 e4 f5 g6 h7 i8 j9 k0"))
	f.Fuzz(func(t *testing.T, policy, capacity byte, ops []byte) {
		all := names()
		p := newPlayed(t, all[int(policy)%len(all)], 1+int(capacity)%(2*someBlocks))
		for i := 0; i+1 < min(len(ops), 2000); i += 2 {
			p.step(ops[i], ops[i+1])
		}
		p.drain()
	})
}

// TestNamedUsesNumbersAgain: however many blocks come and go, the numbers are as many as slots, and names lead to the right ones.
func TestNamedUsesNumbersAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const capacity = 7
	n := NewNamed[string](capacity, classic.NewLRU())
	resident := map[string]uint32{}
	n.Dropped = func(key string) {
		if _, ok := resident[key]; !ok {
			t.Fatalf("dropped %q, which is not resident", key)
		}
		delete(resident, key)
	}
	for step := range 5000 {
		key, tick := fmt.Sprint(random.IntN(30)), policy.Tick{Seq: int64(step)}
		block, ok := n.Find(key)
		if want, found := resident[key]; ok != found || block != want {
			t.Fatalf("step %d: find %q: %d, %v; want %d, %v", step, key, block, ok, want, found)
		}
		switch {
		case ok && random.IntN(4) == 0:
			n.Drop(block)
			delete(resident, key)
		case ok:
			n.Hold(block, &policy.Item{}, tick)
			n.Release(block, tick)
		case n.Reserve():
			resident[key] = n.Fill(key, &policy.Item{}, tick)
			n.Release(resident[key], tick)
		}
		if len(n.keys) > capacity || n.Resident() != len(resident) || len(n.Evicted()) > 0 {
			t.Fatalf("step %d: %d numbers for %d slots, %d resident of %d", step, len(n.keys), capacity, n.Resident(), len(resident))
		}
	}
}

// TestNamedLeading: the numbers of the leading run, as many as Run counts.
func TestNamedLeading(t *testing.T) {
	n := NewNamed[string](9, classic.NewLRU())
	for _, key := range []string{"a", "b", "d"} {
		n.Reserve()
		n.Fill(key, &policy.Item{}, policy.Tick{})
	}
	chain := []string{"a", "b", "c", "d"}
	if got := n.Leading([]uint32{7}, chain); !slices.Equal(got, []uint32{7, 0, 1}) || n.Run(chain) != 2 || n.Run(chain[:1]) != 1 {
		t.Errorf("%v and a run of %d", got, n.Run(chain))
	}
}
