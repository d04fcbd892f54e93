package panel

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

	"reprise/internal/policytest"
	"reprise/policy"
)

func trainedPanel(t testing.TB, capacity int, params string) policy.Evictor {
	e, err := specs.New("rac+"+params, policy.Options{Capacity: capacity, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	l := policy.NewLedger(e, policy.Limit{Entries: capacity})
	r := rand.New(rand.NewPCG(5, 6))
	for i := range int64(3000) {
		key := policy.ID(1 + min(r.IntN(5*capacity), r.IntN(5*capacity), r.IntN(5*capacity)))
		at := policy.Tick{Seq: i + 1}
		if l.Has(key) {
			l.Hit(key, at)
		} else {
			l.Insert(policy.Item{ID: key, Topic: policy.TopicID(key % 9)}, at, nil)
		}
	}
	return e
}

func TestPanelSnapshot(t *testing.T) {
	for _, params := range []string{"", ":sample=20"} {
		e, _ := specs.New("rac+"+params, policy.Options{Capacity: 60})
		old, fresh := trainedPanel(t, 60, params).(policy.Panel), e.(policy.Panel)
		kept := old.Snapshot()
		if err := fresh.Restore(kept); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fresh.Snapshot(), kept) {
			t.Error("a snapshot restored is another one")
		}
		got, want := fresh.Stats().Experts, old.Stats().Experts
		for i := range want {
			want[i].Entries, want[i].Led = got[i].Entries, got[i].Led // neither the entries nor who led when are in it
		}
		if params == "" && !reflect.DeepEqual(got, want) {
			t.Errorf("experts %v, want %v", got, want)
		}
		if params == "" && got[0].Hits == got[len(got)-1].Hits {
			t.Error("all hits are equal: the training shows nothing")
		}
	}
}

func TestPanelRefusesSnapshots(t *testing.T) {
	p := trainedPanel(t, 60, "").(policy.Panel)
	before := p.Snapshot()
	other := newFull(panelArgs(t, policy.Options{Capacity: 60}, ""), twoMembers).Snapshot()
	version := bytes.Clone(before)
	version[4]++
	for name, bad := range map[string][]byte{
		"empty": nil, "cut": before[:len(before)-9], "longer": append(bytes.Clone(before), 0), "other panel": other, "version": version,
	} {
		if err := p.Restore(bad); !errors.Is(err, policy.ErrSnapshot) {
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
	made := trainedPanel(f, 60, "").(policy.Panel).Snapshot()
	f.Add(made[5 : len(made)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		e, _ := specs.New("rac+", policy.Options{Capacity: 60})
		p := e.(policy.Panel)
		before := p.Snapshot()
		b := append(append([]byte(snapshotMagic), snapshotVersion), body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		if err := p.Restore(b); err != nil {
			if !bytes.Equal(p.Snapshot(), before) {
				t.Fatal("a refused snapshot changed something")
			}
			return
		}
		e.Insert(policy.Item{ID: 1, Topic: 1}, policy.Tick{Seq: 1})
		e.Insert(policy.Item{ID: 2, Topic: 2}, policy.Tick{Seq: 2})
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
		e, _ := specs.New("rac+"+params, policy.Options{Capacity: capacity, Seed: 4})
		var states []policy.EntryState
		topics := map[policy.TopicID]policy.TopicState{}
		for id := policy.ID(1); id <= 5*capacity; id++ {
			if s, ok := old.(policy.Persistent).ExportEntry(id); ok {
				states = append(states, s)
				topic := policy.TopicID(id % 9)
				topics[topic], _ = old.(policy.Persistent).ExportTopic(topic)
			}
		}
		slices.SortFunc(states, func(a, b policy.EntryState) int { return cmp.Compare(a.Last, b.Last) })
		l := policy.NewLedger(e, policy.Limit{Entries: capacity})
		for _, s := range states {
			l.Insert(policy.Item{ID: s.ID, Topic: policy.TopicID(s.ID % 9)}, policy.Tick{Seq: s.Last}, nil)
		}
		for _, s := range states {
			e.(policy.Persistent).ImportEntry(s)
		}
		for id := range policy.TopicID(9) {
			e.(policy.Persistent).ImportTopic(topics[id])
		}
		if err := e.(policy.Panel).Restore(old.(policy.Panel).Snapshot()); err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if got, _ := e.(policy.Persistent).ExportEntry(s.ID); got.Freq != s.Freq || got.Dep != s.Dep {
				t.Fatalf("%q: entry %d is %+v, was %+v", params, s.ID, got, s)
			}
		}
		for id, want := range topics {
			got, ok := e.(policy.Persistent).ExportTopic(id)
			if known := want.ID != 0; ok != known || math.Abs(got.LogW-want.LogW) > 0.1 {
				t.Errorf("%q: topic %d is %+v, was %+v", params, id, got, want)
			}
		}
		for range states { // the accounts agree
			id, _ := e.Victim()
			if !l.Remove(id, policy.Evicted) {
				t.Fatalf("%q: victim %d is not resident", params, id)
			}
		}
	}
}

// TestPanelIsDeterministic is about capacities at which victims are sampled.
func TestPanelIsDeterministic(t *testing.T) {
	for _, params := range []string{"", ":sample=100"} {
		a, b := trainedPanel(t, 300, params), trainedPanel(t, 300, params)
		if !bytes.Equal(a.(policy.Panel).Snapshot(), b.(policy.Panel).Snapshot()) {
			t.Errorf("%q: two runs learn differently", params)
		}
		if policytest.Drain(a) != policytest.Drain(b) {
			t.Errorf("%q: two runs name different victims", params)
		}
	}
}
