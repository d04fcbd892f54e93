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
)

// evicting is a number of members over one capacity with the default policy, or one cache alone (members 0).
type evicting struct {
	t       *testing.T
	limit   policy.Limit
	members []*member
	rng     *rand.Rand
	hits    int
	asked   int
	highest int // entries in any member
}

func newEvicting(t *testing.T, members, entries int) *evicting {
	e := &evicting{t: t, limit: policy.Limit{Entries: entries}, rng: rand.New(rand.NewPCG(3, 3))}
	if members == 0 {
		m := e.add(nil)
		m.open(store.Options{Limit: e.limit, Evictor: m.evictor}, cache.Options{})
		return e
	}
	s := newServer()
	for i := range members {
		l := s.link(uint16(i + 1))
		e.add(l).start(l.parts(), l.Secret(), l.member, func(o *Options) { o.Limit = e.limit })
	}
	settle()
	return e
}

func (e *evicting) add(l *link) *member {
	evictor, err := registry.New("rac+", policy.Options{Capacity: e.limit.Entries, Seed: 1})
	if err != nil {
		e.t.Fatal(err)
	}
	e.members = append(e.members, &member{t: e.t, link: l, evictor: evictor})
	return e.members[len(e.members)-1]
}

func hashKey(id uint64) store.Key { return sha256.Sum256(binary.BigEndian.AppendUint64(nil, id)) }

// play lets a random member answer each request, one a millisecond.
func (e *evicting) play(all []request) {
	for i := range all {
		c := e.members[e.rng.IntN(len(e.members))].cache
		e.ask(c, &all[i])
		e.highest = max(e.highest, c.Stats().Store.Entries)
		time.Sleep(time.Millisecond)
	}
}

func (e *evicting) ask(c *cache.Cache, r *request) {
	q := &cache.Request{Key: hashKey(r.ID), Scope: store.Scope{1}, At: c.Tick(), Epoch: c.Epoch(), MaxAge: -1, Topic: policy.TopicID(r.Topic)}
	e.asked++
	hit, _, err := c.Lookup(context.Background(), q)
	if err != nil {
		e.t.Fatal(err)
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
		e.t.Fatal(err)
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
			for _, m := range e.members {
				if faults := m.noted(); len(faults) > 0 {
					t.Errorf("faults %q", faults)
				}
			}
			if e.over() > 1 {
				t.Errorf("%d members exceed the capacity by %.2f %%", members, e.over())
			}
		})
	}
}
