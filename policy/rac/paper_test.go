package rac

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/policy"
)

// logged is a request of a log that gives topics and parents.
type logged struct{ id, topic, parent uint64 }

// paperCache is Alg. 1 to 3 of paper 002 over such a log, word by word and by a scan; the model lends its arithmetic.
type paperCache struct {
	model     *model
	topics    map[policy.TopicID]*modelTopic
	residents map[uint64]*paperEntry
	capacity  int
	late      int // links made after the child's first request
	again     int // of those, links of a child whose parent was evicted
}

type paperEntry struct {
	modelEntry
	key    uint64
	parent *paperEntry
	gone   bool
}

// request plays request t of the log and returns what it evicts.
func (c *paperCache) request(q logged, t int64) (evicted []uint64) {
	e := c.residents[q.id]
	if e == nil {
		e = &paperEntry{modelEntry: modelEntry{id: policy.ID(t), topic: policy.TopicID(q.topic), born: t}, key: q.id}
	}
	c.updateTP(e.topic, t)
	e.freq++
	e.last = t
	c.residents[q.id] = e
	c.updateDep(e, q.parent)
	for len(c.residents) > c.capacity {
		evicted = append(evicted, c.evict(t))
	}
	return evicted
}

func (c *paperCache) updateTP(id policy.TopicID, t int64) {
	if s := c.topics[id]; s != nil {
		c.model.credit(s, t)
	} else {
		c.topics[id] = &modelTopic{tp: c.model.float(1), last: t}
	}
}

// updateDep is Alg. 3 from line 4 on, with the parent that the log gives in the place of DETECTPARENT.
func (c *paperCache) updateDep(e *paperEntry, parent uint64) {
	if e.parent != nil && !e.parent.gone {
		e.parent.dep++
		return
	}
	p := c.residents[parent]
	if p == nil || p == e {
		return
	}
	if e.freq > 1 {
		c.late++
		if e.parent != nil {
			c.again++
		}
	}
	e.parent = p
	p.dep += e.freq
}

func (c *paperCache) evict(t int64) uint64 {
	tp := map[policy.TopicID]*big.Float{}
	for id, s := range c.topics {
		tp[id] = c.model.tp(s, t)
	}
	var worst *paperEntry
	var least *big.Float
	for _, e := range c.residents {
		v := c.model.float(e.freq + c.model.o.Lambda*e.dep)
		v.Mul(v, tp[e.topic])
		if worst == nil || c.model.less(v, least, &e.modelEntry, &worst.modelEntry) {
			worst, least = e, v
		}
	}
	worst.gone = true
	delete(c.residents, worst.key)
	for _, e := range c.residents {
		if e.topic == worst.topic {
			return worst.key
		}
	}
	delete(c.topics, worst.topic)
	return worst.key
}

// logDriver plays a log through an evictor as every owner does. A link may come before the hit of its request or after.
type logDriver struct {
	ledger    *policy.Ledger
	evictor   policy.Evictor
	residents map[uint64]policy.ID
	keys      []uint64 // by ID
	linkLate  bool
}

func (d *logDriver) request(q logged, t int64) (evicted []uint64) {
	at, parent := policy.Tick{Seq: t}, d.residents[q.parent]
	if id, ok := d.residents[q.id]; ok {
		d.hit(id, parent, at)
		return nil
	}
	d.evictor.(policy.Arriver).Arrive(policy.TopicID(q.topic), at)
	id := policy.ID(len(d.keys))
	d.keys, d.residents[q.id] = append(d.keys, q.id), id
	for _, v := range d.ledger.Insert(policy.Item{ID: id, Key: q.id, Topic: policy.TopicID(q.topic), Parent: parent}, at, nil) {
		evicted = append(evicted, d.keys[v])
		delete(d.residents, d.keys[v])
	}
	return evicted
}

func (d *logDriver) hit(id, parent policy.ID, at policy.Tick) {
	if d.linkLate {
		d.ledger.Hit(id, at)
	}
	if parent != 0 {
		d.evictor.(policy.Linker).Link(id, parent)
	}
	if !d.linkLate {
		d.ledger.Hit(id, at)
	}
}

// talk is a log in which items return, under a parent that changes from time to time, and now and then under another topic.
func talk(n int, seed uint64) []logged {
	r := rand.New(rand.NewPCG(seed, 21))
	log := make([]logged, n)
	for i := range log {
		topic := uint64(1 + min(r.IntN(25), r.IntN(25))) // low topics are the hot ones
		q := logged{id: 10*topic + uint64(r.IntN(8)), topic: topic}
		if r.IntN(20) == 0 {
			q.topic = uint64(1 + r.IntN(25))
		}
		if r.IntN(3) > 0 {
			q.parent = log[max(0, i-1-r.IntN(40))].id
		}
		log[i] = q
	}
	return log
}

// TestRACPaperIsThePaper: rac-paper evicts what the paper's algorithms do on a log that gives topics and parents.
func TestRACPaperIsThePaper(t *testing.T) {
	const requests, capacity = 20_000, 30
	evictions, late, again := 0, 0, 0
	for i, name := range []string{
		"rac-paper", "rac-paper:alpha=1", "rac-paper:alpha=1,lambda=0", "rac-paper:alpha=1,lambda=0.5", "rac-paper:alpha=2",
		"rac-paper:alpha=0.1", "rac-paper:alpha=0.1,lambda=4", "rac-paper:alpha=0.01", "rac-paper:alpha=0.001,lambda=2",
	} {
		t.Run(name, func(t *testing.T) {
			e, err := specs.New(name, policy.Options{Capacity: capacity})
			if err != nil {
				t.Fatal(err)
			}
			d := &logDriver{policy.NewLedger(e, policy.Limit{Entries: capacity}), e, map[uint64]policy.ID{}, make([]uint64, 1), i%2 == 1}
			c := &paperCache{model: newModel(e.(*Policy).opts, requests), capacity: capacity}
			c.topics, c.residents = map[policy.TopicID]*modelTopic{}, map[uint64]*paperEntry{}
			for i, q := range talk(requests, uint64(i)) {
				now := int64(i + 1)
				got, want := d.request(q, now), c.request(q, now)
				if !slices.Equal(got, want) {
					t.Fatalf("request %d, %+v: evicted %v, want %v", now, q, got, want)
				}
				evictions += len(got)
			}
			late, again = late+c.late, again+c.again
		})
	}
	if evictions < 100_000 || late < 3000 || again < 1000 {
		t.Errorf("compared %d evictions, %d late links, %d of them in place of an evicted parent", evictions, late, again)
	}
}
