package storetest

import (
	"fmt"
	"slices"
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/store"
)

// testSpaces: a store that is opened again under another embedder has every answer and no vector of the former one; those that it gets are
// there after the next start, and the rest still lacks them. Back under the former embedder the others have theirs.
func testSpaces(t *testing.T, s *session) {
	const entries = 20
	var ids, last []policy.ID
	inStore(t, s, "one", func(o *store.Store) {
		for i := range entries {
			e := &store.Entry{Key: store.Key{byte(i + 1)}, Prompt: fmt.Sprint("prompt ", i), Answer: []byte("answer"), Vector: []float32{1, 0, float32(i)}}
			o.Put(e, o.Tick())
			ids = append(ids, e.ID)
		}
	})
	inStore(t, s, "two", func(o *store.Store) {
		for i := range entries {
			if e, _, ok := o.Lookup(store.Key{byte(i + 1)}); !ok || e.Prompt != fmt.Sprint("prompt ", i) || string(e.Answer) != "answer" {
				t.Errorf("entry %d under another embedder: %+v", i, e)
			}
		}
		for e := range o.Lacking() {
			last = append(last, e.ID)
		}
		slices.Reverse(ids)
		if !slices.Equal(last, ids) {
			t.Errorf("%v lack a vector, want %v", last, ids)
		}
		vectorsOf(t, o, nil)
		for _, id := range last[:entries/2] {
			if _, e, ok := o.SetVector(id, []float32{0, 1, float32(id)}); !ok || e.ID != id {
				t.Errorf("entry %d took no vector", id)
			}
		}
	})
	inStore(t, s, "two", func(o *store.Store) {
		if n := o.MissingVectors(); n != entries/2 {
			t.Errorf("%d lack a vector after a restart, want %d", n, entries/2)
		}
		vectorsOf(t, o, last[:entries/2])
	})
	inStore(t, s, "one", func(o *store.Store) { vectorsOf(t, o, last[entries/2:]) })
}

// inStore opens a store over the backing under an embedder, runs f and closes it.
func inStore(t *testing.T, s *session, space string, f func(*store.Store)) {
	t.Helper()
	s.b.Close()
	b, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	o, err := store.Open(store.Options{Backing: b, Space: space, Dim: 3, Evictor: classic.NewLRU(), OnFault: func(step string, err error) { t.Errorf("%s: %v", step, err) }})
	if err != nil {
		t.Fatal(err)
	}
	f(o)
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if s.b, err = s.open(); err != nil {
		t.Fatal(err)
	}
}

// vectorsOf checks which entries have a vector.
func vectorsOf(t *testing.T, o *store.Store, want []policy.ID) {
	t.Helper()
	entries, _ := o.Restored()
	var got []policy.ID
	for e := range entries {
		if e.Vector != nil {
			got = append(got, e.ID)
		}
	}
	want = slices.Sorted(slices.Values(want))
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%v have a vector, want %v", got, want)
	}
}
