package redis

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"reprise/internal/redistest"
	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
)

// urls are a single server and a cluster, of each program that is found: Redis, Valkey.
func urls(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, program := range redistest.Programs(t) {
		o := redistest.Options{Program: program}
		one, many := redistest.Start(t, o), redistest.StartCluster(t, o)
		all[filepath.Base(program)] = "redis://" + one.Addr
		all["cluster of "+filepath.Base(program)] = "redis-cluster://" + many.Nodes[0].Addr + "," + many.Nodes[1].Addr
	}
	return all
}

func open(t *testing.T, o Options) *Shared {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// beat is a Beat that must succeed.
func beat(t *testing.T, s *Shared) store.Pulse {
	t.Helper()
	p, err := s.Beat(t.Context(), store.Position{}, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// entry is one with all that an answer and a record have.
func entry(id policy.ID, key byte, answer string) *store.Entry {
	at := time.Now().Round(0)
	return &store.Entry{
		ID: id, Key: store.Key{key}, Scope: store.Scope{1}, AnswerHash: [32]byte{2}, Labels: &store.Labels{Tenant: "t", Model: "m"}, Prompt: "What?",
		Topic: 5, Size: 2000, Answer: []byte(answer), InputTokens: 3, OutputTokens: 4, Created: at, Expires: at.Add(time.Hour),
	}
}

func insert(e *store.Entry) store.Event {
	return store.Event{Kind: store.EventInsert, ID: e.ID, Entry: e, Vector: []float32{.5, 0, .5, .5, .5}, At: policy.Tick{Seq: 1, At: 2}}
}

// serials are given by each test.
var serial uint64

func next() uint64 { serial++; return serial }

func appendAll(t *testing.T, s *Shared, m store.Mark, evs ...store.Event) store.Position {
	t.Helper()
	p, err := s.Append(t.Context(), m, next(), evs)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func records(t *testing.T, s *Shared) map[string]int {
	t.Helper()
	got := map[string]int{}
	if _, err := s.Backing().Load(func(r store.Record) error { got[fmt.Sprint(r.Kind, " ", r.ID)]++; return nil }); err != nil {
		t.Fatal(err)
	}
	delete(got, fmt.Sprint(store.KindFormat, " 0"))
	delete(got, fmt.Sprint(store.KindSecret, " 0"))
	return got
}

func TestBacking(t *testing.T) {
	for title, url := range urls(t) {
		t.Run(title, func(t *testing.T) {
			n := 0
			storetest.Run(t, func(t *testing.T) storetest.Open {
				n++
				s := open(t, Options{URL: url, Prefix: fmt.Sprintf("test%d", n)})
				return func() (store.Backing, error) { return &backing{s: s}, nil }
			})
		})
	}
}

// TestRoundTrip follows an entry through all that is kept of it, on a single server and on a cluster.
func TestRoundTrip(t *testing.T) {
	for title, url := range urls(t) {
		t.Run(title, func(t *testing.T) { roundTrip(t, Options{URL: url, Space: "space"}) })
	}
}

func roundTrip(t *testing.T, o Options) {
	a, b := open(t, o), open(t, o)
	if a.Process() == b.Process() || a.Process() == 0 || a.Secret() != b.Secret() {
		t.Fatalf("processes %d and %d, equal secrets %v", a.Process(), b.Process(), a.Secret() == b.Secret())
	}
	m := beat(t, a).Mark
	e := entry(policy.ID(a.Process())<<37+1, 1, "because")
	other := store.Key{2}
	p := appendAll(t, a, m, insert(e), store.Event{Kind: store.EventAlias, ID: e.ID, Key: other}, store.Event{Kind: store.EventUse, ID: e.ID})
	f, err := b.Fetch(t.Context(), e.Key)
	if err != nil || f.Entry == nil || string(f.Entry.Answer) != "because" || f.Written != m || f.Now != m || f.Entry.ID != e.ID || !f.Entry.Expires.Equal(e.Expires) {
		t.Fatalf("fetched %+v %v", f, err)
	}
	f, err = b.Fetch(t.Context(), store.Key{9}, store.Key{8}, e.Key) // one command
	if err != nil || f.Entry != nil || len(f.More) != 2 || f.More[0].Entry != nil || f.More[1].Entry == nil || f.More[1].Entry.ID != e.ID || f.More[1].Written != m || f.More[1].Now != m {
		t.Fatalf("fetched together %+v %v", f, err)
	}
	got, err := b.Read(t.Context(), store.Position{}, time.Second)
	if err != nil || len(got) != 1 || got[0].Position != p || got[0].Process != a.Process() || got[0].Serial != serial || got[0].Mark != m || len(got[0].Events) != 3 {
		t.Fatalf("read %+v %v", got, err)
	}
	if ev := got[0].Events[0]; ev.Entry.Prompt != "What?" || !reflect.DeepEqual(ev.Vector, []float32{.5, 0, .5, .5, .5}) || ev.Entry.Answer != nil {
		t.Errorf("event %+v", ev)
	}
	if got := records(t, b); len(got) != 3 {
		t.Errorf("records %v", got)
	}
	now, err := a.Purge(t.Context(), next(), store.Filter{Tenant: "t"})
	if err != nil || now.Log != m.Log || now.Purges != m.Purges+1 {
		t.Fatalf("purge %+v %v", now, err)
	}
	if got := beat(t, b).Unfinished; !slices.Equal(got, []store.Unfinished{{Purges: now.Purges, Filter: store.Filter{Tenant: "t"}}}) {
		t.Errorf("unfinished purges %v", got)
	}
	if err := a.Finish(t.Context(), store.Mark{Log: now.Log + 1, Purges: now.Purges}); err != nil || len(beat(t, b).Unfinished) != 1 {
		t.Errorf("%v, or a purge of another log was finished", err)
	}
	if err := a.Finish(t.Context(), now); err != nil || len(beat(t, b).Unfinished) != 0 {
		t.Errorf("%v, or a purge is still unfinished", err)
	}
	if _, err := b.Append(t.Context(), m, next(), []store.Event{insert(e)}); !errors.Is(err, store.ErrPurged) {
		t.Errorf("an append under the mark of before the purge: %v", err)
	}
	appendAll(t, a, now, store.Event{Kind: store.EventPurge, ID: e.ID, Key: e.Key})
	if f, err := b.Fetch(t.Context(), e.Key); err != nil || f.Entry != nil || f.Now != now {
		t.Errorf("fetched %+v %v after the removal", f, err)
	}
	if got := records(t, b); len(got) != 0 {
		t.Errorf("records %v after the removal", got)
	}
	got, err = b.Read(t.Context(), p, time.Second)
	if err != nil || len(got) != 2 || got[0].Purge == nil || *got[0].Purge != (store.Filter{Tenant: "t"}) || got[0].Mark != now || got[1].Events[0].Key != e.Key {
		t.Fatalf("read %+v %v", got, err)
	}
	leases(t, a, b)
}

func leases(t *testing.T, a, b *Shared) {
	ctx, key := t.Context(), store.Key{9}
	if mine, err := a.Lease(ctx, key, time.Minute); err != nil || !mine {
		t.Fatalf("lease %v %v", mine, err)
	}
	if mine, err := b.Lease(ctx, key, time.Minute); err != nil || mine {
		t.Errorf("the other has the lease too: %v %v", mine, err)
	}
	for _, err := range []error{b.Release(ctx, key), a.Renew(ctx, 2*time.Minute, key)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if mine, err := b.Lease(ctx, key, time.Minute); err != nil || mine {
		t.Errorf("released by another: %v %v", mine, err)
	}
	if err := a.Release(ctx, key); err != nil {
		t.Fatal(err)
	}
	f, err := b.FetchOrLease(ctx, key, time.Minute)
	if err != nil || !f.Leased || f.Entry != nil || f.Now.Log == 0 {
		t.Errorf("after the release: %+v %v", f, err)
	}
	if f, err = a.FetchOrLease(ctx, key, time.Minute); err != nil || f.Leased {
		t.Errorf("both have the lease: %+v %v", f, err)
	}
	appendAll(t, a, f.Now, insert(entry(3, 3, "c")))
	if f, err = a.FetchOrLease(ctx, store.Key{3}, time.Minute); err != nil || f.Leased || f.Entry == nil {
		t.Errorf("with an answer: %+v %v", f, err)
	}
}

// TestBackingOfAMember: space and secret are those of the head, and of an entry that is gone there is no state.
func TestBackingOfAMember(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr, Space: "words"})
	appendAll(t, s, beat(t, s).Mark, insert(entry(1, 1, "a")))
	b := s.Backing()
	put := []store.Record{{Kind: store.KindFormat, Body: []byte("other")}, {Kind: store.KindSecret, Body: []byte("other")}}
	for id := range uint64(3) {
		put = append(put, store.Record{Kind: store.KindState, ID: id, Body: []byte("state")})
	}
	if err := b.Write(&store.Batch{Put: put}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if _, err := b.Load(func(r store.Record) error { got[fmt.Sprint(r.Kind, " ", r.ID)] = string(r.Body); return nil }); err != nil {
		t.Fatal(err)
	}
	name := func(k store.Kind, id uint64) string { return fmt.Sprint(k, " ", id) }
	if secret := s.Secret(); len(got) != 5 || got[name(store.KindFormat, 0)] != "words" || got[name(store.KindSecret, 0)] != string(secret[:]) || got[name(store.KindState, 1)] != "state" {
		t.Errorf("records %q", got)
	}
}

func TestUnreachable(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	server.Kill()
	s, err := Open(t.Context(), Options{URL: "redis://" + server.Addr})
	if !errors.Is(err, ErrUnreachable) || s == nil {
		t.Fatalf("%v", err)
	}
	defer s.Close()
	if s.Process() == 0 || s.Agreed() {
		t.Error("no temporary number")
	}
	server.Restart()
	if err := s.Agree(t.Context()); err != nil {
		t.Fatal(err)
	}
	beat(t, s)
}
