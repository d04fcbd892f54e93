package shared

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics"
)

// member is a process: a cache that shares its entries.
type member struct {
	*Shared
	*link
	t       testing.TB
	cache   *cache.Cache
	evictor policy.Evictor // with topics that are given; nil is LRU

	mu     sync.Mutex
	faults []string
}

// newMember starts a member of s. It is live at the return.
func newMember(t testing.TB, s *server, process uint16, change ...func(*Options)) *member {
	t.Helper()
	m := &member{t: t, link: s.link(process)}
	if err := m.link.Agree(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.start(m.parts(), m.link.Secret(), process, change...)
	return m
}

// start makes the cache of m and connects it.
func (m *member) start(l Link, secret [32]byte, process uint16, change ...func(*Options)) {
	t := m.t
	t.Helper()
	o := Options{Link: l, OnFault: m.note}
	for _, f := range change {
		f(&o)
	}
	var err error
	if m.Shared, err = New(o); err != nil {
		t.Fatal(err)
	}
	m.open(store.Options{Evictor: m.evictor, Process: process, Secret: secret, Outside: true, Now: m.Now},
		cache.Options{Remote: m.Shared, Log: m.Shared, Now: m.Now, Ceiling: o.Limit})
	m.Shared.Start(m.cache)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		m.Shared.Close(ctx)
		if m.link != nil {
			time.Sleep(10 * time.Second) // calls that are on their way arrive
		}
	})
}

// open makes the cache of m over a store.
func (m *member) open(so store.Options, co cache.Options) {
	m.t.Helper()
	if so.Space = "plane"; so.Evictor == nil {
		so.Evictor = classic.NewLRU()
	}
	var err error
	if co.Store, err = store.Open(so); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { co.Store.Close() })
	if co.Topics, err = topics.New(topics.Options{Dim: 2, Hit: .99, Route: .9, Edge: .8}); err != nil {
		m.t.Fatal(err)
	}
	co.GivenTopics = m.evictor != nil
	if m.cache, err = cache.New(co); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) note(step string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, step+": "+err.Error())
}

// noted returns the faults so far.
func (m *member) noted() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.faults)
}

func keyOf(name string) store.Key { return sha256.Sum256([]byte(name)) }

func (m *member) request(name string) *cache.Request {
	return &cache.Request{Key: keyOf(name), Scope: store.Scope{1}, At: m.cache.Tick(), Epoch: m.cache.Epoch(), MaxAge: -1}
}

// put stores an answer as the proxy does, and returns why it was not kept.
func (m *member) put(name, answer string) (reason string) {
	m.t.Helper()
	return m.keep(m.request(name), name, answer, time.Hour)
}

func (m *member) keep(q *cache.Request, name, answer string, ttl time.Duration) (reason string) {
	return m.keepUntil(q, name, answer, m.Now().Add(ttl))
}

func (m *member) keepUntil(q *cache.Request, name, answer string, end time.Time) (reason string) {
	e := &store.Entry{Labels: &store.Labels{Model: name[:1]}, Answer: []byte(answer), Created: m.Now(), Expires: end, UpstreamTime: time.Duration(len(answer))}
	_, reason, err := m.cache.Keep(context.Background(), q, &cache.Finding{}, e)
	if err != nil {
		m.t.Errorf("keep: %v", err)
	}
	return reason
}

// get answers as the proxy does; "" is a miss.
func (m *member) get(name string) string {
	q := m.request(name)
	hit, _, err := m.cache.Lookup(context.Background(), q)
	if err != nil {
		m.t.Errorf("lookup: %v", err)
	}
	if hit == nil || !m.cache.Serves(hit) {
		return ""
	}
	if m.cache.Touch(q, hit.Entry, nil) {
		m.cache.Settle()
	}
	answer, err := hit.Entry.Recording()
	if err != nil {
		m.t.Errorf("read answer: %v", err)
	}
	return string(answer)
}

func (m *member) purge(f store.Filter) error {
	_, _, err := m.cache.Purge(context.Background(), f)
	return err
}

// wants fails the test unless get returns answer.
func (m *member) wants(name, answer string) {
	m.t.Helper()
	if got := m.get(name); got != answer {
		m.t.Errorf("member %d: %q is answered by %q, not %q; faults %q", m.link.member, name, got, answer, m.noted())
	}
}

// settle lets some time pass in which everything that goes on without faults is done.
func settle() { time.Sleep(700 * time.Millisecond) }

// bubble runs a test in its own time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// members starts some of them.
func members(t testing.TB, s *server, n int, change ...func(*Options)) (all []*member) {
	for i := range n {
		all = append(all, newMember(t, s, uint16(i+1), change...))
	}
	settle()
	return all
}

// among runs a test at some members of a server, in its own time.
func among(t *testing.T, n int, run func(t *testing.T, s *server, all []*member), change ...func(*Options)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		s := newServer()
		run(t, s, members(t, s, n, change...))
	})
}

func (s *server) callsOf(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[what]
}

func (s *server) ids() (all []policy.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.data.records {
		all = append(all, id)
	}
	return all
}
