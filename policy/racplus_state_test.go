package policy

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func trainedPanel(t testing.TB, capacity int, params string) Evictor {
	e, err := New("rac+"+params, Options{Capacity: capacity, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	l := NewLedger(e, Limit{Entries: capacity})
	r := rand.New(rand.NewPCG(5, 6))
	for i := range int64(3000) {
		key := ID(1 + min(r.IntN(5*capacity), r.IntN(5*capacity), r.IntN(5*capacity)))
		at := Tick{Seq: i + 1}
		if l.Has(key) {
			l.Hit(key, at)
		} else {
			l.Insert(Item{ID: key, Topic: TopicID(key % 9)}, at, nil)
		}
	}
	return e
}

func TestPanelSnapshot(t *testing.T) {
	for _, params := range []string{"", ":sample=20"} {
		e, _ := New("rac+"+params, Options{Capacity: 60})
		old, fresh := trainedPanel(t, 60, params).(Panel), e.(Panel)
		kept := old.Snapshot()
		if err := fresh.Restore(kept); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fresh.Snapshot(), kept) {
			t.Error("a snapshot restored is another one")
		}
		got, want := fresh.Stats().Experts, old.Stats().Experts
		for i := range want {
			want[i].Entries = got[i].Entries // the entries are not in it
		}
		if params == "" && !reflect.DeepEqual(got, want) {
			t.Errorf("experts %v, want %v", got, want)
		}
		if params == "" && got[0].Weight == got[len(got)-1].Weight {
			t.Error("all weights are equal: the training shows nothing")
		}
	}
}

func TestPanelRefusesSnapshots(t *testing.T) {
	p := trainedPanel(t, 60, "").(Panel)
	before := p.Snapshot()
	other := trainedPanel(t, 60, ":panel=study").(Panel).Snapshot()
	version := bytes.Clone(before)
	version[4]++
	for name, bad := range map[string][]byte{
		"empty": nil, "cut": before[:len(before)-9], "longer": append(bytes.Clone(before), 0), "other panel": other, "version": version,
	} {
		if err := p.Restore(bad); !errors.Is(err, ErrSnapshot) {
			t.Errorf("%s: error %v, want ErrSnapshot", name, err)
		}
	}
	for i := range before {
		bad := bytes.Clone(before)
		bad[i] ^= 0x10
		if p.Restore(bad) == nil {
			t.Fatalf("a snapshot with byte %d changed is accepted", i)
		}
	}
	if !bytes.Equal(p.Snapshot(), before) {
		t.Error("a refused snapshot changed something")
	}
}

// FuzzRestore gives the check sum, so that what it guards is reached.
func FuzzRestore(f *testing.F) {
	made := trainedPanel(f, 60, ":panel=study").(Panel).Snapshot()
	f.Add(made[5 : len(made)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		e, _ := New("rac+:panel=study", Options{Capacity: 60})
		p := e.(Panel)
		before := p.Snapshot()
		b := append(append([]byte(snapshotMagic), snapshotVersion), body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		if err := p.Restore(b); err != nil {
			if !bytes.Equal(p.Snapshot(), before) {
				t.Fatal("a refused snapshot changed something")
			}
			return
		}
		e.Insert(Item{ID: 1, Topic: 1}, Tick{Seq: 1})
		e.Insert(Item{ID: 2, Topic: 2}, Tick{Seq: 2})
		if id, ok := e.Victim(); !ok || id != 1 && id != 2 {
			t.Fatalf("victim %d, %v after a restore", id, ok)
		}
	})
}

// TestPanelRestarts does what a store does: the items in the order of their last use, the states, then the snapshot.
// What is then exported is what was.
func TestPanelRestarts(t *testing.T) {
	for _, params := range []string{"", ":sample=40"} {
		const capacity = 120
		old := trainedPanel(t, capacity, params)
		e, _ := New("rac+"+params, Options{Capacity: capacity, Seed: 4})
		var states []EntryState
		topics := map[TopicID]TopicState{}
		for id := ID(1); id <= 5*capacity; id++ {
			if s, ok := old.(Persistent).ExportEntry(id); ok {
				states = append(states, s)
				topic := TopicID(id % 9)
				topics[topic], _ = old.(Persistent).ExportTopic(topic)
			}
		}
		slices.SortFunc(states, func(a, b EntryState) int { return cmp.Compare(a.Last, b.Last) })
		l := NewLedger(e, Limit{Entries: capacity})
		for _, s := range states {
			l.Insert(Item{ID: s.ID, Topic: TopicID(s.ID % 9)}, Tick{Seq: s.Last}, nil)
		}
		for _, s := range states {
			e.(Persistent).ImportEntry(s)
		}
		for id := range TopicID(9) {
			e.(Persistent).ImportTopic(topics[id])
		}
		if err := e.(Panel).Restore(old.(Panel).Snapshot()); err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if got, _ := e.(Persistent).ExportEntry(s.ID); got.Freq != s.Freq || got.Dep != s.Dep {
				t.Fatalf("%q: entry %d is %+v, was %+v", params, s.ID, got, s)
			}
		}
		for id, want := range topics {
			got, ok := e.(Persistent).ExportTopic(id)
			if known := want.ID != 0; ok != known || math.Abs(got.LogW-want.LogW) > 0.1 {
				t.Errorf("%q: topic %d is %+v, was %+v", params, id, got, want)
			}
		}
		for range states { // the books balance
			id, _ := e.Victim()
			if !l.Remove(id, Evicted) {
				t.Fatalf("%q: victim %d is not resident", params, id)
			}
		}
	}
}

// TestPanelIsDeterministic is about capacities at which victims are sampled.
func TestPanelIsDeterministic(t *testing.T) {
	for _, params := range []string{"", ":sample=100"} {
		a, b := trainedPanel(t, 300, params), trainedPanel(t, 300, params)
		if !bytes.Equal(a.(Panel).Snapshot(), b.(Panel).Snapshot()) {
			t.Errorf("%q: two runs learn differently", params)
		}
		if drain(a) != drain(b) {
			t.Errorf("%q: two runs name different victims", params)
		}
	}
}
