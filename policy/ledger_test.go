package policy_test

import (
	"slices"
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
)

func TestLedgerEvictsWhileOverEitherLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   policy.Limit
		sizes   []int64 // of IDs 1, 2, …
		evicted []policy.ID
		entries int
		bytes   int64
	}{
		{"no limit", policy.Limit{}, []int64{5, 5, 5}, nil, 3, 15},
		{"entries", policy.Limit{Entries: 2}, []int64{5, 5, 5}, []policy.ID{1}, 2, 10},
		{"bytes", policy.Limit{Bytes: 12}, []int64{5, 5, 12}, []policy.ID{1, 2}, 1, 12},
		{"both", policy.Limit{Entries: 2, Bytes: 12}, []int64{5, 5, 8}, []policy.ID{1, 2}, 1, 8},
		{"too large for any", policy.Limit{Bytes: 12}, []int64{5, 13, 5}, []policy.ID{2}, 2, 10},
		{"exactly full", policy.Limit{Entries: 2, Bytes: 10}, []int64{5, 5}, nil, 2, 10},
		{"negative counts as nothing", policy.Limit{Bytes: 5}, []int64{-7, 5}, nil, 2, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := policy.NewLedger(classic.NewLRU(), c.limit)
			var evicted []policy.ID
			for i, size := range c.sizes {
				evicted = l.Insert(policy.Item{ID: policy.ID(i + 1), Size: size}, policy.Tick{Seq: int64(i + 1)}, evicted)
			}
			if !slices.Equal(evicted, c.evicted) || l.Entries() != c.entries || l.Bytes() != c.bytes || l.Faults() != 0 {
				t.Errorf("evicted %v, %d entries, %d bytes, %d faults; want %v, %d, %d, 0",
					evicted, l.Entries(), l.Bytes(), l.Faults(), c.evicted, c.entries, c.bytes)
			}
		})
	}
}

func TestLedgerIgnoresMistakes(t *testing.T) {
	l := policy.NewLedger(classic.NewLRU(), policy.Limit{Entries: 2})
	l.Insert(policy.Item{ID: 1, Size: 4}, policy.Tick{Seq: 1}, nil)
	if got := l.Insert(policy.Item{ID: 1, Size: 9}, policy.Tick{Seq: 2}, nil); got != nil || l.Bytes() != 4 {
		t.Errorf("second insert of 1: evicted %v, %d bytes", got, l.Bytes())
	}
	if got := l.Insert(policy.Item{Size: 9}, policy.Tick{Seq: 2}, nil); got != nil || l.Entries() != 1 || l.Has(0) {
		t.Errorf("insert of no ID: evicted %v, %d entries", got, l.Entries())
	}
	if l.Remove(2, policy.Purged) || !l.Remove(1, policy.Purged) || l.Remove(1, policy.Purged) || l.Has(1) || l.Bytes() != 0 || l.Entries() != 0 {
		t.Errorf("after removes: %d entries, %d bytes", l.Entries(), l.Bytes())
	}
}

func TestLedgerFits(t *testing.T) {
	for _, c := range []struct {
		limit policy.Limit
		size  int64
		want  bool
	}{
		{policy.Limit{}, 99, true}, {policy.Limit{Entries: 3}, 99, true}, {policy.Limit{Entries: 2}, 0, false},
		{policy.Limit{Bytes: 10}, 4, true}, {policy.Limit{Bytes: 10}, 5, false}, {policy.Limit{Bytes: 6}, -1, true},
	} {
		l := policy.NewLedger(classic.NewLRU(), c.limit)
		for id := policy.ID(1); id <= 2; id++ {
			l.Insert(policy.Item{ID: id, Size: 3}, policy.Tick{Seq: int64(id)}, nil)
		}
		got := l.Fits(c.size)
		if evicted := l.Insert(policy.Item{ID: 3, Size: c.size}, policy.Tick{Seq: 3}, nil); got != c.want || got != (len(evicted) == 0) {
			t.Errorf("%+v, %d bytes: fits %v, want %v; evicted %v", c.limit, c.size, got, c.want, evicted)
		}
	}
}

func TestLedgerTrim(t *testing.T) {
	for _, c := range []struct {
		limit   policy.Limit
		most    int
		evicted []policy.ID
	}{
		{policy.Limit{}, 9, nil}, {policy.Limit{Entries: 4}, 9, nil}, {policy.Limit{Entries: 2}, 9, []policy.ID{1, 2}},
		{policy.Limit{Entries: 2}, 1, []policy.ID{1}}, {policy.Limit{Bytes: 12}, 9, nil}, {policy.Limit{Bytes: 11}, 9, []policy.ID{1}},
		{policy.Limit{Entries: 1, Bytes: 11}, 9, []policy.ID{1, 2, 3}}, {policy.Limit{Bytes: 1}, 9, []policy.ID{1, 2, 3, 4}},
	} {
		l := policy.NewLedger(classic.NewLRU(), policy.Limit{})
		for id := policy.ID(1); id <= 4; id++ {
			l.Insert(policy.Item{ID: id, Size: 3}, policy.Tick{Seq: int64(id)}, nil)
		}
		if got := l.Trim(c.limit, c.most, nil); !slices.Equal(got, c.evicted) || l.Entries() != 4-len(got) || l.Faults() != 0 {
			t.Errorf("%+v, %d at most: evicted %v, want %v", c.limit, c.most, got, c.evicted)
		}
	}
}

func TestLedgerReplaces(t *testing.T) {
	limit := policy.Limit{Entries: 4, Bytes: 10}
	for _, c := range []struct {
		name    string
		it      policy.Item
		evicted []policy.ID
		bytes   int64
	}{
		{"within the limit", policy.Item{ID: 1, Size: 4}, nil, 10},
		{"smaller", policy.Item{ID: 1, Size: 0}, nil, 6},
		{"others make room", policy.Item{ID: 1, Size: 7}, []policy.ID{2}, 10},
		{"too large for any", policy.Item{ID: 1, Size: 11}, []policy.ID{1}, 6},
		{"negative counts as nothing", policy.Item{ID: 1, Size: -3}, nil, 6},
		{"not resident", policy.Item{ID: 9, Size: 4}, nil, 9},
		{"no ID", policy.Item{Size: 4}, nil, 9},
	} {
		l := policy.NewLedger(classic.NewLRU(), limit)
		for id := policy.ID(1); id <= 3; id++ {
			l.Insert(policy.Item{ID: id, Size: 3}, policy.Tick{Seq: int64(id)}, nil)
		}
		if got := l.Replace(c.it, policy.Tick{Seq: 4}, nil); !slices.Equal(got, c.evicted) || l.Bytes() != c.bytes || l.Faults() != 0 {
			t.Errorf("%s: evicted %v, %d bytes, %d faults; want %v, %d, 0", c.name, got, l.Bytes(), l.Faults(), c.evicted, c.bytes)
		}
	}
}

func TestLedgerGrows(t *testing.T) {
	for _, c := range []struct {
		id      policy.ID
		by      int64
		evicted []policy.ID
		bytes   int64
	}{{1, 4, nil, 10}, {1, 5, []policy.ID{1}, 3}, {2, -9, nil, 3}, {9, 4, nil, 6}} {
		l := policy.NewLedger(classic.NewLRU(), policy.Limit{Bytes: 10})
		l.Insert(policy.Item{ID: 1, Size: 3}, policy.Tick{Seq: 1}, nil)
		l.Insert(policy.Item{ID: 2, Size: 3}, policy.Tick{Seq: 2}, nil)
		if got := l.Grow(c.id, c.by, nil); !slices.Equal(got, c.evicted) || l.Bytes() != c.bytes {
			t.Errorf("%d by %d: evicted %v, %d bytes; want %v, %d", c.id, c.by, got, l.Bytes(), c.evicted, c.bytes)
		}
	}
}

// TestLedgerEvictsTheNamedEntry: the policy may have chosen another entry.
func TestLedgerEvictsTheNamedEntry(t *testing.T) {
	l := policy.NewLedger(classic.NewLRU(), policy.Limit{})
	for id := policy.ID(1); id <= 3; id++ {
		l.Insert(policy.Item{ID: id, Size: 3}, policy.Tick{Seq: int64(id)}, nil)
	}
	if l.EvictNamed(2) || !l.EvictNamed(1) || l.EvictNamed(1) || l.EvictNamed(0) || l.Entries() != 1 || l.Bytes() != 3 {
		t.Errorf("%d entries, %d bytes", l.Entries(), l.Bytes())
	}
}

// faulty names a victim that is not resident, or none.
type faulty struct{ names bool }

func (faulty) Insert(policy.Item, policy.Tick) {}
func (faulty) Hit(policy.ID, policy.Tick)      {}
func (faulty) Remove(policy.ID, policy.Reason) {}
func (f faulty) Victim() (policy.ID, bool)     { return 999, f.names }

func TestLedgerSurvivesAFaultyEvictor(t *testing.T) {
	for _, e := range []policy.Evictor{faulty{names: true}, faulty{}} {
		l := policy.NewLedger(e, policy.Limit{Entries: 2})
		var evicted []policy.ID
		for id := policy.ID(1); id <= 4; id++ {
			evicted = l.Insert(policy.Item{ID: id, Size: 1}, policy.Tick{Seq: int64(id)}, evicted)
		}
		if !slices.Equal(evicted, []policy.ID{3, 4}) || l.Faults() != 2 || l.Entries() != 2 {
			t.Errorf("%+v: evicted %v, %d faults, %d entries; want [3 4], 2, 2", e, evicted, l.Faults(), l.Entries())
		}
	}
}
