package storetest

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/store"
)

// Open opens a backing. Each call after a Close finds the records that were written before.
type Open func() (store.Backing, error)

// Run checks a Backing. fresh returns a function that opens one that is empty at first.
func Run(t *testing.T, fresh func(t *testing.T) Open) {
	for title, test := range map[string]func(*testing.T, *session){
		"empty":          testEmpty,
		"kinds and ids":  testKindsAndIDs,
		"delete":         testDelete,
		"evict":          testEvict,
		"large and none": testBodies,
		"error of load":  testLoadError,
		"closed":         testClosed,
		"random":         testRandom,
		"spaces":         testSpaces,
		"aliases":        testAliases,
	} {
		t.Run(title, func(t *testing.T) {
			s := &session{t: t, open: fresh(t), want: map[name]string{}}
			s.reopen()
			test(t, s)
			s.b.Close()
		})
	}
}

// session is a backing and the records that it should hold.
type session struct {
	t    *testing.T
	open Open
	b    store.Backing
	want map[name]string
}

func (s *session) reopen() {
	s.t.Helper()
	if s.b != nil {
		if err := s.b.Close(); err != nil {
			s.t.Fatalf("close: %v", err)
		}
	}
	var err error
	if s.b, err = s.open(); err != nil {
		s.t.Fatalf("open: %v", err)
	}
	s.check()
}

// check loads and compares.
func (s *session) check() {
	s.t.Helper()
	got := map[name]string{}
	report, err := s.b.Load(func(r store.Record) error {
		got[name{r.Kind, r.ID}] = string(r.Body)
		return nil
	})
	if err != nil {
		s.t.Fatalf("load: %v", err)
	}
	if report.Kept != len(s.want) || report.Skipped != 0 || report.Aside != "" || report.ReadOnly != nil {
		s.t.Errorf("report %+v, want %d kept", report, len(s.want))
	}
	if !maps.Equal(got, s.want) {
		s.t.Errorf("loaded %d records, want %d, or their bodies differ", len(got), len(s.want))
	}
}

func (s *session) write(b store.Batch) {
	s.t.Helper()
	for r := range b.Deletions() {
		delete(s.want, name{r.Kind, r.ID})
	}
	for _, r := range b.Put {
		s.want[name{r.Kind, r.ID}] = string(r.Body)
	}
	if err := s.b.Write(&b); err != nil {
		s.t.Fatalf("write: %v", err)
	}
	s.tidy()
}

// tidy lets a Tidier do one step.
func (s *session) tidy() {
	t, ok := s.b.(store.Tidier)
	if !ok {
		return
	}
	if _, err := t.Tidy(); err != nil {
		s.t.Fatalf("tidy: %v", err)
	}
	if total, dead := t.Space(); dead < 0 || dead > total {
		s.t.Errorf("%d dead bytes of %d", dead, total)
	}
}

// testAliases: the aliases of an entry come back with their bases.
func testAliases(t *testing.T, s *session) {
	e := &store.Entry{Key: store.Key{1}, Answer: []byte("answer")}
	want := map[store.Key]uint64{{2}: 0, {3}: 7, {4}: math.MaxUint64}
	inStore(t, s, "", func(st *store.Store) {
		st.Put(e, st.Tick())
		for k, basis := range want {
			st.Alias(k, e.ID, basis)
		}
	})
	inStore(t, s, "", func(st *store.Store) {
		for k, basis := range want {
			if got, ok := st.Basis(k, e.ID); !ok || got != basis {
				t.Errorf("alias %v has basis %d, %v, want %d", k[:1], got, ok, basis)
			}
		}
	})
}

func testEmpty(t *testing.T, s *session) {
	s.write(store.Batch{})
	s.reopen()
}

func testKindsAndIDs(t *testing.T, s *session) {
	for _, k := range store.Kinds() {
		for _, id := range []uint64{0, 1, 255, 256, 1 << 40, math.MaxUint64} {
			s.write(store.Batch{Put: []store.Record{{Kind: k, ID: id, Body: []byte{byte(k), byte(id)}}}})
		}
	}
	s.reopen()
}

func testDelete(t *testing.T, s *session) {
	put := []store.Record{{Kind: store.KindEntry, ID: 1, Body: []byte("a")}, {Kind: store.KindVector, ID: 1, Body: []byte("b")}}
	s.write(store.Batch{Put: put})
	s.write(store.Batch{Delete: []store.Record{{Kind: store.KindEntry, ID: 1}, {Kind: store.KindEntry, ID: 2}}})
	s.write(store.Batch{Delete: []store.Record{{Kind: store.KindEntry, ID: 3}}, Purged: true})
	s.write(store.Batch{Purged: true})
	s.reopen()
}

// testEvict: no record of an evicted entry comes back, also where a part of it is put again.
func testEvict(t *testing.T, s *session) {
	var all store.Batch
	for id := range uint64(50) {
		for _, r := range store.RecordsOf(id) {
			all.Put = append(all.Put, store.Record{Kind: r.Kind, ID: id, Body: bytes.Repeat([]byte{byte(id)}, 900)})
		}
	}
	s.write(all)
	s.write(store.Batch{Evicted: []uint64{3, 4, 17, 99}})
	s.reopen()
	s.write(store.Batch{Put: []store.Record{{Kind: store.KindState, ID: 3, Body: []byte("again")}, {Kind: store.KindEntry, ID: 4, Body: []byte("again")}}})
	s.write(store.Batch{Evicted: []uint64{5}, Put: []store.Record{{Kind: store.KindEntry, ID: 60, Body: []byte("new")}}})
	s.reopen()
	s.write(store.Batch{Delete: store.RecordsOf(20), Purged: true})
	for id := uint64(21); id < 45; id++ {
		s.write(store.Batch{Evicted: []uint64{id}})
	}
	s.reopen()
}

func testBodies(t *testing.T, s *session) {
	s.write(store.Batch{Put: []store.Record{
		{Kind: store.KindEntry, ID: 1},
		{Kind: store.KindEntry, ID: 2, Body: bytes.Repeat([]byte("x"), 3<<20)},
	}})
	s.reopen()
	s.write(store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 2, Body: []byte("short")}}})
	s.reopen()
}

func testLoadError(t *testing.T, s *session) {
	s.write(store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 1}, {Kind: store.KindEntry, ID: 2}}})
	enough, calls := errors.New("enough"), 0
	_, err := s.b.Load(func(store.Record) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("load ended with %v after %d calls", err, calls)
	}
}

func testClosed(t *testing.T, s *session) {
	s.b.Close()
	if err := s.b.Write(&store.Batch{Put: []store.Record{{Kind: store.KindEntry, ID: 1}}}); err == nil {
		t.Error("a closed backing accepts a batch")
	}
	s.b = nil
	s.reopen()
}

// testRandom writes random batches to the backing and to a map.
func testRandom(t *testing.T, s *session) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := store.Kinds()
	for i := range 200 {
		var b store.Batch
		used := map[name]bool{}
		if rng.IntN(3) == 0 {
			id := rng.Uint64N(60)
			b.Evicted = append(b.Evicted, id)
			for _, r := range store.RecordsOf(id) {
				used[name{r.Kind, id}] = true
			}
		}
		b.Purged = rng.IntN(8) == 0
		for range rng.IntN(20) {
			r := store.Record{Kind: kinds[rng.IntN(len(kinds))], ID: rng.Uint64N(60)}
			if used[name{r.Kind, r.ID}] {
				continue
			}
			used[name{r.Kind, r.ID}] = true
			if rng.IntN(3) == 0 {
				b.Delete = append(b.Delete, r)
				continue
			}
			if b.Purged {
				continue // such a batch has no Put
			}
			r.Body = bytes.Repeat([]byte{byte(i)}, rng.IntN(9000))
			b.Put = append(b.Put, r)
		}
		s.write(b)
		if i%40 == 39 {
			s.reopen()
		}
	}
}
