package panel

import (
	"iter"
	"math/bits"

	"reprise/internal/container"
	"reprise/policy"
)

// shadows holds the shadow caches of the experts, and which expert holds which entry.
type shadows struct {
	limit   shadowLimit // of each
	gains   gains
	experts []expert
	slots   container.Slots[uint64, entry] // by identity: what is resident or in a shadow
	lists   [sets]container.Queue          // residents, by the set of experts that hold them: what came into it last at the head
	held    [sets]int                      // identities, by the set of experts that hold them; only differences count
	lazy    lazy
	marked  uint16 // the expert whose entries the first one is informed of, as a set; empty: none
	arrived pending
	hits    float64 // of the cache itself, counted as those of the experts
	evicted bool    // since the last request
}

// shadowLimit is the limit of the cache itself. A limit in bytes is not given: there is none until the first eviction, and later it is the largest
// sum that was resident after evictions. A cache with a limit in entries may have one in bytes too.
type shadowLimit struct {
	policy.Limit
	byBytes bool
}

// learn reports whether there was no limit before.
func (l *shadowLimit) learn(bytes int64) (first bool) {
	if !l.byBytes {
		return false
	}
	first = l.Bytes == 0
	l.Bytes = max(l.Bytes, bytes, 1)
	return first
}

// entry is the state of an identity that is resident or in a shadow.
type entry struct {
	described
	set uint16 // the experts that hold it
}

// described is what an entry is to the experts, and when it was last used.
type described struct {
	id         policy.ID // 0: not resident
	topic      policy.TopicID
	root       uint64 // identity of the first turn of its conversation, 0 if that is itself
	size       int64
	used       int64 // Seq of the last request
	cost, prob float32
	category   uint32
	offset     int32
}

func newShadows(a policy.Args, members []member) shadows {
	s := shadows{
		limit: shadowLimit{Limit: policy.Limit{Entries: a.Capacity}},
		gains: gains{tokens: a.Value().CountsTokens()},
		lazy:  lazy{factor: a.Num("factor")},
	}
	if a.Bytes {
		s.limit = shadowLimit{byBytes: true}
	}
	for i, x := range members {
		s.experts = append(s.experts, newExpert(x, expertOptions(a), uint64(i)))
	}
	return s
}

// arrive remembers a miss until its Insert, or the next call, comes.
func (p *shadows) arrive(topic policy.TopicID, at policy.Tick) {
	p.settle()
	p.arrived = pending{topic, at}
}

// expects returns how an item of topic comes: with the pending arrival, which it consumes, if that has the same topic.
func (p *shadows) expects(topic policy.TopicID) access {
	if p.arrived.topic != topic {
		p.settle()
		return accessPlain
	}
	p.arrived = pending{}
	if topic == 0 {
		return accessPlain
	}
	return accessArrive
}

// settle passes a miss that was not inserted at once to all experts.
func (p *shadows) settle() {
	a := p.arrived
	p.arrived = pending{}
	if a.topic == 0 {
		return
	}
	for i := range p.experts {
		p.experts[i].arrive(a.topic, a.at)
	}
}

// pending is a miss whose answer has not arrived yet.
type pending struct {
	topic policy.TopicID
	at    policy.Tick
}

// access is how a request comes to the shadows.
type access uint8

const (
	accessPlain   access = iota // an expert that lacks the entry inserts it and sees no arrival
	accessArrive                // an expert that lacks the entry sees a miss arrive, then inserts it
	accessInsert                // as one of these two, which expects finds
	accessReplace               // as accessArrive, and an expert that has it replaces it
)

// at returns the state of e.
func (p *shadows) at(e uint32) *entry { return p.slots.At(e) }

// key returns the identity of e.
func (p *shadows) key(e uint32) uint64 { return p.slots.Cells[e].Name }

// play asks every shadow for e, which is in no list, and returns what a hit on it gains.
func (p *shadows) play(e uint32, at policy.Tick, as access) (gain float64) {
	p.at(e).used = at.Seq
	gain = p.gains.of(p.at(e))
	p.lazy.note(at.At, gain, p.at(e).set)
	it := p.at(e).item(p.key(e))
	for i := range p.experts {
		s := &p.experts[i]
		s.asked += gain
		if x := p.at(e); x.set>>i&1 != 0 {
			s.hit(it, at, gain, as == accessReplace)
		} else {
			if as != accessPlain {
				s.arrive(x.topic, at)
			}
			p.setSet(e, x.set|1<<i)
			s.insert(it, at)
			if i == 0 && x.set&p.marked != 0 {
				s.mark(it.Identity(), true)
			}
		}
		p.shrink(i, e)
	}
	return gain
}

// shrink brings a shadow back within the limit; e, if not 0, is in no list. If the expert names no victim of its own, the
// shadow stays too large and is asked again at the next request.
func (p *shadows) shrink(i int, e uint32) {
	s := &p.experts[i]
	for s.over(p.limit.Limit) {
		name, ok := s.evictor.Victim()
		v, known := p.slots.Find(uint64(name))
		if !ok || !known || p.at(v).set>>i&1 == 0 {
			return
		}
		x := p.at(v)
		s.remove(p.key(v), x.size, policy.Evicted)
		if v == e || x.id == 0 {
			p.setSet(v, x.set&^(1<<i))
			if v != e {
				p.freeUnused(v)
			}
			continue
		}
		p.unlist(v)
		p.setSet(v, x.set&^(1<<i))
		p.list(v)
	}
}

// lost counts an eviction that left so many entries. Fewer than the limit show that there is another limit, in bytes.
func (p *shadows) lost(left int) {
	p.evicted = true
	p.limit.byBytes = p.limit.byBytes || left < p.limit.Entries
}

// observe learns the limit from the bytes that are resident before a request. If there has been an eviction, they are within
// the limit.
func (p *shadows) observe(bytes int64) {
	if !p.evicted {
		return
	}
	p.evicted = false
	if p.limit.learn(bytes) {
		for i := range p.experts {
			p.shrink(i, 0)
		}
	}
}

// drop takes e out of every shadow.
func (p *shadows) drop(e uint32, why policy.Reason) {
	for s := range p.holders(e) {
		s.remove(p.key(e), p.at(e).size, why)
	}
	p.setSet(e, 0)
}

// setSet changes which experts hold e.
func (p *shadows) setSet(e uint32, set uint16) {
	x := p.at(e)
	p.held[x.set]--
	p.held[set]++
	if (x.set^set)&p.marked != 0 {
		p.experts[0].mark(p.key(e), set&p.marked != 0)
	}
	x.set = set
}

// holders yields the experts that hold e.
func (p *shadows) holders(e uint32) iter.Seq[*expert] {
	return func(yield func(*expert) bool) {
		for set := p.at(e).set; set != 0; set &= set - 1 {
			if !yield(&p.experts[bits.TrailingZeros16(set)]) {
				return
			}
		}
	}
}

// join puts e into the conversation that began with root, unless it is in one.
func (p *shadows) join(e uint32, root uint64) bool {
	x, key := p.at(e), p.key(e)
	if root == 0 || root == key || x.root != 0 {
		return false
	}
	x.root = root
	for s := range p.holders(e) {
		s.link(key, root)
	}
	return true
}

// freeUnused frees an entry that is neither resident nor in a shadow.
func (p *shadows) freeUnused(e uint32) {
	if x := p.at(e); x.id == 0 && x.set == 0 {
		p.slots.Free(e)
	}
}

// list puts a resident into the list of the experts that hold it.
func (p *shadows) list(e uint32) { p.slots.PushHead(&p.lists[p.at(e).set], e) }

func (p *shadows) unlist(e uint32) { p.slots.Unlink(&p.lists[p.at(e).set], e) }

// least returns the oldest resident of the set whose entries are evicted first; 0 if there is no resident.
func (p *shadows) least() uint32 {
	for _, set := range p.lazy.order() {
		if tail := p.lists[set].Tail; tail != 0 {
			return tail
		}
	}
	return 0
}

// describe takes over what it says of e. A root that is not known any more stays what it was.
func (p *shadows) describe(e uint32, it policy.Item, root uint64) {
	x := p.at(e)
	for s := range p.holders(e) {
		s.bytes += it.Size - x.size
	}
	x.describe(it, p.key(e), root)
}

// resize takes over size and cost of a new answer of e.
func (p *shadows) resize(e uint32, it policy.Item) {
	x := p.at(e)
	for s := range p.holders(e) {
		s.bytes += it.Size - x.size
	}
	x.size, x.cost = it.Size, float32(it.Cost)
}

func (x *described) describe(it policy.Item, key, root uint64) {
	x.topic, x.size, x.category = it.Topic, it.Size, it.Category
	x.cost, x.prob, x.offset = float32(it.Cost), float32(it.Prob), int32(it.Offset)
	if root != 0 && root != key {
		x.root = root
	}
}

// item returns x as an item of the shadows, whose ID is its identity.
func (x *described) item(key uint64) policy.Item {
	return policy.Item{
		ID: policy.ID(key), Key: key, Topic: x.topic, Parent: policy.ID(x.root), Category: x.category,
		Size: x.size, Cost: float64(x.cost), Offset: int(x.offset), Prob: float64(x.prob),
	}
}
