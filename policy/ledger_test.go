package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLedgerEvictsWhileOverEitherLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   Limit
		sizes   []int64 // of IDs 1, 2, …
		evicted []ID
		entries int
		bytes   int64
	}{
		{"no limit", Limit{}, []int64{5, 5, 5}, nil, 3, 15},
		{"entries", Limit{Entries: 2}, []int64{5, 5, 5}, []ID{1}, 2, 10},
		{"bytes", Limit{Bytes: 12}, []int64{5, 5, 12}, []ID{1, 2}, 1, 12},
		{"both", Limit{Entries: 2, Bytes: 12}, []int64{5, 5, 8}, []ID{1, 2}, 1, 8},
		{"too large for any", Limit{Bytes: 12}, []int64{5, 13, 5}, []ID{2}, 2, 10},
		{"exactly full", Limit{Entries: 2, Bytes: 10}, []int64{5, 5}, nil, 2, 10},
		{"negative counts as nothing", Limit{Bytes: 5}, []int64{-7, 5}, nil, 2, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger(NewLRU(), c.limit)
			var evicted []ID
			for i, size := range c.sizes {
				evicted = l.Insert(Item{ID: ID(i + 1), Size: size}, Tick{Seq: int64(i + 1)}, evicted)
			}
			if !slices.Equal(evicted, c.evicted) || l.Entries() != c.entries || l.Bytes() != c.bytes || l.Faults() != 0 {
				t.Errorf("evicted %v, %d entries, %d bytes, %d faults; want %v, %d, %d, 0",
					evicted, l.Entries(), l.Bytes(), l.Faults(), c.evicted, c.entries, c.bytes)
			}
		})
	}
}

func TestLedgerIgnoresMistakes(t *testing.T) {
	l := NewLedger(NewLRU(), Limit{Entries: 2})
	l.Insert(Item{ID: 1, Size: 4}, Tick{Seq: 1}, nil)
	if got := l.Insert(Item{ID: 1, Size: 9}, Tick{Seq: 2}, nil); got != nil || l.Bytes() != 4 {
		t.Errorf("second insert of 1: evicted %v, %d bytes", got, l.Bytes())
	}
	if got := l.Insert(Item{Size: 9}, Tick{Seq: 2}, nil); got != nil || l.Entries() != 1 || l.Has(0) {
		t.Errorf("insert of no ID: evicted %v, %d entries", got, l.Entries())
	}
	if l.Remove(2, Purged) || !l.Remove(1, Purged) || l.Remove(1, Purged) || l.Has(1) || l.Bytes() != 0 || l.Entries() != 0 {
		t.Errorf("books after removes: %d entries, %d bytes", l.Entries(), l.Bytes())
	}
}

func TestLedgerReplaces(t *testing.T) {
	limit := Limit{Entries: 4, Bytes: 10}
	for _, c := range []struct {
		name    string
		it      Item
		evicted []ID
		bytes   int64
	}{
		{"within the limit", Item{ID: 1, Size: 4}, nil, 10},
		{"smaller", Item{ID: 1, Size: 0}, nil, 6},
		{"others make room", Item{ID: 1, Size: 7}, []ID{2}, 10},
		{"too large for any", Item{ID: 1, Size: 11}, []ID{1}, 6},
		{"negative counts as nothing", Item{ID: 1, Size: -3}, nil, 6},
		{"not resident", Item{ID: 9, Size: 4}, nil, 9},
		{"no ID", Item{Size: 4}, nil, 9},
	} {
		l := NewLedger(NewLRU(), limit)
		for id := ID(1); id <= 3; id++ {
			l.Insert(Item{ID: id, Size: 3}, Tick{Seq: int64(id)}, nil)
		}
		if got := l.Replace(c.it, Tick{Seq: 4}, nil); !slices.Equal(got, c.evicted) || l.Bytes() != c.bytes || l.Faults() != 0 {
			t.Errorf("%s: evicted %v, %d bytes, %d faults; want %v, %d, 0", c.name, got, l.Bytes(), l.Faults(), c.evicted, c.bytes)
		}
	}
}

// TestLedgerEvictsWhatIsNamed: the policy may have chosen another entry.
func TestLedgerEvictsWhatIsNamed(t *testing.T) {
	l := NewLedger(NewLRU(), Limit{})
	for id := ID(1); id <= 3; id++ {
		l.Insert(Item{ID: id, Size: 3}, Tick{Seq: int64(id)}, nil)
	}
	if l.EvictNamed(2) || !l.EvictNamed(1) || l.EvictNamed(1) || l.EvictNamed(0) || l.Entries() != 1 || l.Bytes() != 3 {
		t.Errorf("%d entries, %d bytes", l.Entries(), l.Bytes())
	}
}

// faulty names a victim that is not resident, or none.
type faulty struct{ names bool }

func (faulty) Insert(Item, Tick)    {}
func (faulty) Hit(ID, Tick)         {}
func (faulty) Remove(ID, Reason)    {}
func (f faulty) Victim() (ID, bool) { return 999, f.names }

func TestLedgerSurvivesAFaultyEvictor(t *testing.T) {
	for _, e := range []Evictor{faulty{names: true}, faulty{}} {
		l := NewLedger(e, Limit{Entries: 2})
		var evicted []ID
		for id := ID(1); id <= 4; id++ {
			evicted = l.Insert(Item{ID: id, Size: 1}, Tick{Seq: int64(id)}, evicted)
		}
		if !slices.Equal(evicted, []ID{3, 4}) || l.Faults() != 2 || l.Entries() != 2 {
			t.Errorf("%+v: evicted %v, %d faults, %d entries; want [3 4], 2, 2", e, evicted, l.Faults(), l.Entries())
		}
	}
}

// TestLedgerBooksBalance adds the books up again from what came in and what went out.
func TestLedgerBooksBalance(t *testing.T) {
	for _, name := range Names() {
		e, err := New(name, Options{Capacity: 50})
		if err != nil {
			t.Fatal(err)
		}
		l := NewLedger(e, Limit{Entries: 50, Bytes: 2000})
		r := rand.New(rand.NewPCG(5, 6))
		sizes := map[ID]int64{}
		total := int64(0)
		drop := func(id ID) { total -= sizes[id]; delete(sizes, id) }
		for i, op := range randomOps(r, 5000) {
			at := Tick{Seq: int64(i + 1)}
			switch op.kind {
			case opInsert:
				sizes[op.id] = int64(r.IntN(120))
				total += sizes[op.id]
				for _, id := range l.Insert(Item{ID: op.id, Topic: op.topic, Parent: op.parent, Size: sizes[op.id]}, at, nil) {
					drop(id)
				}
			case opRemove:
				if l.Remove(op.id, Purged) {
					drop(op.id)
				}
			default:
				op.apply(e, at)
			}
			if l.Entries() != len(sizes) || l.Bytes() != total || l.Bytes() > 2000 || l.Entries() > 50 || l.Faults() != 0 {
				t.Fatalf("%s, op %d: %d entries, %d bytes, %d faults; want %d, %d, 0", name, i, l.Entries(), l.Bytes(),
					l.Faults(), len(sizes), total)
			}
		}
	}
}
