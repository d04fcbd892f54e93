package redis

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
)

// model is a shared store in maps, as its log says: the oracle for what the scripts do with answers and records.
type model struct {
	entries map[policy.ID]*store.Entry
	byKey   map[store.Key]policy.ID
	aliases map[store.Key]policy.ID
	list    map[policy.ID][]based // aliases in order
	most    int
}

// based is an alias with its basis.
type based struct {
	store.Key
	basis uint64
}

func newModel(most int) *model {
	return &model{map[policy.ID]*store.Entry{}, map[store.Key]policy.ID{}, map[store.Key]policy.ID{}, map[policy.ID][]based{}, most}
}

func (m *model) apply(ev *store.Event) {
	switch _, removal := ev.Reason(); {
	case ev.Kind == store.EventInsert:
		if old, ok := m.byKey[ev.Entry.Key]; ok && old != ev.ID {
			m.forget(old)
		}
		m.unalias(ev.Entry.Key)
		m.entries[ev.ID], m.byKey[ev.Entry.Key] = ev.Entry, ev.ID
	case ev.Kind == store.EventAlias:
		if _, own := m.byKey[ev.Key]; own {
			return
		}
		m.unalias(ev.Key)
		if m.entries[ev.ID] == nil {
			return
		}
		if len(m.list[ev.ID]) == m.most {
			leads := slices.IndexFunc(m.list[ev.ID], func(a based) bool { return a.basis != store.Refused })
			m.unalias(m.list[ev.ID][max(leads, 0)].Key)
		}
		m.aliases[ev.Key] = ev.ID
		m.list[ev.ID] = append(m.list[ev.ID], based{ev.Key, ev.Basis})
	case removal:
		m.forget(ev.ID)
	}
}

func (m *model) unalias(k store.Key) {
	if id, ok := m.aliases[k]; ok {
		delete(m.aliases, k)
		m.list[id] = slices.DeleteFunc(m.list[id], func(other based) bool { return other.Key == k })
		if len(m.list[id]) == 0 {
			delete(m.list, id)
		}
	}
}

func (m *model) forget(id policy.ID) {
	for len(m.list[id]) > 0 {
		m.unalias(m.list[id][0].Key)
	}
	if e := m.entries[id]; e != nil && m.byKey[e.Key] == id {
		delete(m.byKey, e.Key)
	}
	delete(m.entries, id)
}

// writer appends random batches, and some of them twice, as after a lost answer.
type writer struct {
	*Shared
	rng  *rand.Rand
	last policy.ID
	mine []policy.ID
	keys map[policy.ID]store.Key
	made map[uint64]store.Mark // under which each batch was made
}

func (w *writer) key() store.Key { return store.Key{byte(w.rng.IntN(250)), 7} }

func (w *writer) event() store.Event {
	switch n := w.rng.IntN(10); {
	case n < 3 || len(w.mine) == 0:
		w.last++
		e := entry(w.last, 0, fmt.Sprint("answer ", w.last))
		e.Key = w.key()
		w.mine = append(w.mine, e.ID)
		w.keys[e.ID] = e.Key
		return insert(e)
	case n < 7:
		return store.Event{Kind: store.EventAlias, ID: w.any(), Key: w.key(), Basis: [...]uint64{w.rng.Uint64(), store.Refused}[w.rng.IntN(2)]}
	case n < 9:
		id := w.any()
		return store.Event{Kind: []store.EventKind{store.EventEvict, store.EventExpire, store.EventPurge}[w.rng.IntN(3)], ID: id, Key: w.keys[id]}
	}
	return store.Event{Kind: store.EventUse, ID: w.any()}
}

// any is one of the last entries: most of them are still there, and get several aliases.
func (w *writer) any() policy.ID { return w.mine[len(w.mine)-1-w.rng.IntN(min(len(w.mine), 8))] }

// run appends n batches under the mark of the moment, and reports what was appended, by serial.
func (w *writer) run(t *testing.T, n int) {
	for i := range n {
		p, err := w.Beat(t.Context(), store.Position{}, w.rng.IntN(2) == 0)
		if err != nil {
			t.Error(err)
			return
		}
		serial := uint64(i + 1)
		if w.rng.IntN(12) == 0 {
			for range 1 + w.rng.IntN(2) {
				if _, err := w.Shared.Purge(t.Context(), serial, store.Filter{Entry: policy.ID(serial)}); err != nil {
					t.Error(err)
				}
			}
			continue
		}
		var evs []store.Event
		for range 1 + w.rng.IntN(6) {
			evs = append(evs, w.event())
		}
		var first store.Position
		w.made[serial] = p.Mark
		for again := range 1 + w.rng.IntN(2) {
			at, err := w.Append(t.Context(), p.Mark, serial, evs)
			if err != nil {
				if !errors.Is(err, store.ErrPurged) || again > 0 {
					t.Errorf("append, time %d: %v", again+1, err)
				}
				break
			}
			if again == 0 {
				first = at
			} else if at != first {
				t.Errorf("the same batch is at %v and at %v", first, at)
			}
		}
	}
}

// TestRandomHistories: several processes append at once. Each reads the same log, a batch is under the mark under which it was made, none
// is in it twice, and answers and records are what the log says.
func TestRandomHistories(t *testing.T) {
	for title, url := range urls(t) {
		t.Run(title, func(t *testing.T) { histories(t, Options{URL: url, Space: "s", MaxAliases: 3}) })
	}
}

func histories(t *testing.T, o Options) {
	var all sync.WaitGroup
	var readers []*Shared
	made := map[uint16]map[uint64]store.Mark{}
	for i := range 4 {
		w := &writer{Shared: open(t, o), rng: rand.New(rand.NewPCG(uint64(i), 5)), keys: map[policy.ID]store.Key{}, made: map[uint64]store.Mark{}}
		made[w.Process()] = w.made
		w.last = policy.ID(w.Process()) << 37
		readers = append(readers, w.Shared)
		all.Go(func() { w.run(t, 300) })
	}
	all.Wait()
	end := beat(t, readers[0])
	first := readLog(t, readers[0], end.End)
	for _, r := range readers[1:] {
		if got := readLog(t, r, end.End); len(got) != len(first) || got[len(got)-1].Position != first[len(first)-1].Position {
			t.Error("two processes read two logs")
		}
	}
	m := newModel(o.MaxAliases)
	seen := map[string]bool{}
	mark := store.Mark{Log: end.Mark.Log}
	for _, l := range first {
		if l.Purge != nil {
			mark.Purges++
		}
		if who := fmt.Sprint(l.Process, " ", l.Serial); l.Mark != mark || seen[who] || l.Purge == nil && made[l.Process][l.Serial] != mark {
			t.Errorf("batch %d of %s has mark %v, want %v", l.N, who, l.Mark, mark)
		} else {
			seen[who] = true
		}
		for i := range l.Events {
			m.apply(&l.Events[i])
		}
	}
	if mark != end.Mark || mark.Purges == 0 || len(m.entries) == 0 || len(m.aliases) == 0 {
		t.Fatalf("mark %v, want %v; %d entries, %d aliases", mark, end.Mark, len(m.entries), len(m.aliases))
	}
	compare(t, readers[0], m)
}

func readLog(t *testing.T, s *Shared, end store.Position) (all []store.Logged) {
	t.Helper()
	for at := (store.Position{}); at != end; at = all[len(all)-1].Position {
		next, err := s.Read(t.Context(), at, time.Second)
		if err != nil || len(next) == 0 {
			t.Fatalf("after %v: %d batches, %v", at, len(next), err)
		}
		all = append(all, next...)
	}
	return all
}

// compare compares answers and records with a model.
func compare(t *testing.T, s *Shared, m *model) {
	t.Helper()
	want := map[string]string{}
	for id, e := range m.entries {
		want[fmt.Sprint(store.KindEntry, " ", id)] = string(e.Key[:])
		want[fmt.Sprint(store.KindVector, " ", id)] = ""
	}
	for id, keys := range m.list {
		b := []byte{1}
		for _, a := range keys {
			b = binary.LittleEndian.AppendUint64(append(b, a.Key[:]...), a.basis)
		}
		want[fmt.Sprint(store.KindAliases, " ", id)] = string(b)
	}
	got := map[string]string{}
	if _, err := (&backing{s: s}).Load(func(r store.Record) error {
		body := r.Body
		switch r.Kind {
		case store.KindEntry:
			body = body[:32]
		case store.KindVector:
			body = nil
		}
		got[fmt.Sprint(r.Kind, " ", r.ID)] = string(body)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("record %s is %q, want %q", name, got[name], want[name])
			}
		}
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	for n := range 250 {
		key := store.Key{byte(n), 7}
		f, err := s.Fetch(t.Context(), key)
		id, resident := m.byKey[key]
		if err != nil || (f.Entry != nil) != resident || resident && (f.Entry.ID != id || string(f.Entry.Answer) != fmt.Sprint("answer ", id)) {
			t.Errorf("under key %d: %+v %v, want entry %d", n, f.Entry, err, id)
		}
	}
	index, err := s.link.client().HGetAll(t.Context(), s.link.keys.aliases).Result()
	if err != nil {
		t.Fatal(err)
	}
	for key, id := range m.aliases {
		if text := index[string(key[:])]; len(text) != 8 || !bytes.Equal([]byte(text), binary.BigEndian.AppendUint64(nil, uint64(id))) {
			t.Errorf("alias %x leads to %x, want %d", key[:2], text, id)
		}
	}
	if len(index) != len(m.aliases) {
		t.Errorf("%d aliases, want %d", len(index), len(m.aliases))
	}
}
