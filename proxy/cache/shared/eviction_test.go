package shared

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics"
)

// evicting is a number of members over one capacity with the default policy, or one cache alone (members 0).
type evicting struct {
	tb      testing.TB
	limit   policy.Limit
	caches  []*cache.Cache
	stores  []*store.Store
	rng     *rand.Rand
	hits    int
	asked   int
	highest int // entries in any member
}

func newEvicting(t testing.TB, members, entries int) *evicting {
	e := &evicting{tb: t, limit: policy.Limit{Entries: entries}, rng: rand.New(rand.NewPCG(3, 3))}
	if members == 0 {
		e.add(store.Options{Limit: e.limit}, cache.Options{})
		return e
	}
	s := newServer()
	s.mu.Lock()
	s.beginLocked()
	s.mu.Unlock()
	for i := range members {
		l := s.link(uint16(i + 1))
		one, err := New(Options{Link: l.parts(), Limit: e.limit, OnFault: func(step string, err error) { t.Errorf("%s: %v", step, err) }})
		if err != nil {
			t.Fatal(err)
		}
		c := e.add(store.Options{Process: uint16(i + 1), Secret: l.Secret(), Outside: true, Keeper: one, Now: one.Now},
			cache.Options{Remote: one, Log: one, Now: one.Now, Ceiling: e.limit})
		one.Start(c)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if err := one.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	settle()
	return e
}

func (e *evicting) add(so store.Options, co cache.Options) *cache.Cache {
	var err error
	if so.Evictor, err = registry.New("rac+", policy.Options{Capacity: e.limit.Entries, Seed: 1}); err != nil {
		e.tb.Fatal(err)
	}
	so.Space = "plane"
	st, err := store.Open(so)
	if err != nil {
		e.tb.Fatal(err)
	}
	co.Store, co.GivenTopics = st, true
	if co.Topics, err = topics.New(topics.Options{Dim: 2, Hit: .99, Route: .9, Edge: .8}); err != nil {
		e.tb.Fatal(err)
	}
	c, err := cache.New(co)
	if err != nil {
		e.tb.Fatal(err)
	}
	e.tb.Cleanup(func() { st.Close() })
	e.caches, e.stores = append(e.caches, c), append(e.stores, st)
	return c
}

func hashKey(id uint64) store.Key { return sha256.Sum256(binary.BigEndian.AppendUint64(nil, id)) }

// play lets a random member answer each request, one a millisecond.
func (e *evicting) play(all []request) {
	for i := range all {
		at := e.rng.IntN(len(e.caches))
		e.ask(e.caches[at], &all[i])
		e.highest = max(e.highest, e.stores[at].Stats().Entries)
		time.Sleep(time.Millisecond)
	}
}

func (e *evicting) ask(c *cache.Cache, r *request) {
	q := &cache.Request{Key: hashKey(r.ID), Scope: store.Scope{1}, At: c.Tick(), Epoch: c.Epoch(), MaxAge: -1, Topic: policy.TopicID(r.Topic)}
	e.asked++
	hit, _, err := c.Lookup(context.Background(), q)
	if err != nil {
		e.tb.Fatal(err)
	}
	if hit != nil {
		e.hits++
		if c.Touch(q, hit.Entry, nil) {
			err = c.Settle()
		}
	} else {
		now := time.Now()
		_, _, err = c.Keep(context.Background(), q, &cache.Finding{},
			&store.Entry{Labels: &store.Labels{}, Topic: q.Topic, Answer: []byte("answer"), Created: now, Expires: now.Add(1e6 * time.Second)})
	}
	if err != nil {
		e.tb.Fatal(err)
	}
}

func (e *evicting) ratio() float64 { return 100 * float64(e.hits) / float64(e.asked) }

// over is by how many per cent the capacity was exceeded.
func (e *evicting) over() float64 { return 100 * (float64(e.highest)/float64(e.limit.Entries) - 1) }

// request asks for the answer of an identity.
type request struct{ ID, Topic uint64 }

// drifting are requests by Zipf's law whose popular ones change, in topics.
func drifting(n int) (all []request) {
	rng := rand.New(rand.NewPCG(4, 4))
	zipf := rand.NewZipf(rng, 1.2, 8, 4000)
	for i := range n {
		id := (zipf.Uint64()*7919+uint64(i)/200)%4001 + 1
		all = append(all, request{ID: id, Topic: 1 + id/9})
	}
	return all
}

// TestEvictionAsOneProcess: members that share a capacity hit as often as one cache with that capacity, to half a point, and exceed it by no more
// than 1 %.
func TestEvictionAsOneProcess(t *testing.T) {
	all := drifting(3_000)
	var alone float64
	for _, members := range []int{0, 1, 4} {
		bubble(t, func(t *testing.T) {
			e := newEvicting(t, members, 250)
			e.play(all)
			if members == 0 {
				if alone = e.ratio(); alone < 20 || alone > 80 {
					t.Fatalf("%.2f %% hits: the trace shows nothing", alone)
				}
				return
			}
			t.Logf("%d members: %.2f %% hits, alone %.2f; at most %.2f %% over the capacity", members, e.ratio(), alone, e.over())
			if off := e.ratio() - alone; off < -.5 || off > .5 {
				t.Errorf("%d members: %.2f %% hits, one cache %.2f", members, e.ratio(), alone)
			}
			if e.over() > 1 {
				t.Errorf("%d members exceed the capacity by %.2f %%", members, e.over())
			}
		})
	}
}
