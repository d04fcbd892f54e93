package topics

import (
	"fmt"
	"testing"
)

// touch is Touch with the parent that ParentOf finds.
func touch(topics *Topics, id EntryID, seq int64) (parent EntryID, searched bool) {
	parent, searched = topics.ParentOf(id, seq)
	topics.Touch(id, seq, parent, searched)
	return parent, searched
}

func TestParent(t *testing.T) {
	// Entries 1, 2, 3 are at 0, 30 and 50 degrees, of requests 1 to 3; 4 is of another topic, 5 of another chain.
	build := func(t *testing.T, lookback int) *Topics {
		topics := inPlane(t, func(o *Options) { o.Lookback = lookback })
		for id, degrees := range []float64{0, 30, 50, 10, 10} {
			m := Member{ID: EntryID(id + 1), Topic: 1, Vector: plane(degrees), Seq: int64(id + 1)}
			if m.ID == 4 {
				m.Topic = 2
			}
			if m.ID == 5 {
				m.Chain[0] = 1
			}
			if _, _, err := topics.Add(m); err != nil {
				t.Fatal(err)
			}
		}
		return topics
	}
	for _, c := range []struct {
		name     string
		lookback int
		degrees  float64
		seq      int64
		want     EntryID
	}{
		{"nearer in time wins over nearer in meaning", 64, 10, 6, 3},
		{"below the edge gate", 64, -20, 6, 1},
		{"nothing passes the gate", 64, 180, 6, 0},
		{"distance 0 is no past", 64, 50, 3, 2},
		{"beyond the lookback", 2, 50, 6, 0},
		{"within the lookback", 3, 50, 6, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			topics := build(t, c.lookback)
			got, ok := topics.Parent(ScopeID{}, 1, ChainID{}, plane(c.degrees), c.seq)
			if got != c.want || ok != (c.want != 0) {
				t.Errorf("parent %d, %v, want %d", got, ok, c.want)
			}
		})
	}
	for _, c := range []struct {
		name     string
		id, want EntryID
		searched bool
	}{
		{"not itself", 3, 2, true},
		{"not a younger one", 2, 1, true},
		{"the oldest has none", 1, 0, true},
		{"of an unknown entry", 9, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			topics := build(t, 64)
			for range 5 { // it changes nothing
				if got, searched := topics.ParentOf(c.id, 6); got != c.want || searched != c.searched {
					t.Errorf("parent %d, %v, want %d, %v", got, searched, c.want, c.searched)
				}
			}
		})
	}
	t.Run("last access counts", func(t *testing.T) {
		topics := build(t, 64)
		touch(topics, 1, 6)
		if got, _ := topics.Parent(ScopeID{}, 1, ChainID{}, plane(10), 7); got != 1 {
			t.Errorf("parent %d, want 1", got)
		}
	})
	t.Run("an access now is no past", func(t *testing.T) {
		topics := build(t, 64)
		touch(topics, 1, 6)
		if got, _ := topics.Parent(ScopeID{}, 1, ChainID{}, plane(10), 6); got != 3 {
			t.Errorf("parent %d, want 3", got)
		}
	})
	t.Run("a tie goes to the lower id", func(t *testing.T) {
		topics := inPlane(t, nil)
		for _, id := range []EntryID{2, 1, 3} {
			if _, _, err := topics.Add(Member{ID: id, Topic: 1, Vector: plane(0), Seq: 5}); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := topics.Parent(ScopeID{}, 1, ChainID{}, plane(0), 6); got != 1 {
			t.Errorf("parent %d, want 1", got)
		}
	})
	t.Run("gone", func(t *testing.T) {
		topics := build(t, 64)
		topics.Forget(3)
		if got, _ := topics.Parent(ScopeID{}, 1, ChainID{}, plane(10), 6); got != 2 {
			t.Errorf("parent %d, want 2", got)
		}
	})
}

// TestTouchSetsTheParent: no search while the parent is stored, again when it is gone (D16).
func TestTouchSetsTheParent(t *testing.T) {
	add := func(topics *Topics, id, parent EntryID, degrees float64) {
		if _, _, err := topics.Add(Member{ID: id, Topic: 1, Vector: plane(degrees), Seq: int64(id), Parent: parent}); err != nil {
			t.Fatal(err)
		}
	}
	text := func(parent EntryID, searched bool) string { return fmt.Sprint(parent, searched) }
	topics := inPlane(t, nil)
	add(topics, 1, 0, 0)
	add(topics, 2, 0, 10)
	add(topics, 3, 2, 20)
	if got := text(touch(topics, 3, 4)); got != "0 false" {
		t.Errorf("with a parent: %s", got)
	}
	topics.Forget(2)
	if got := text(touch(topics, 3, 5)); got != "1 true" {
		t.Errorf("its parent is gone: %s", got)
	}
	if got := text(touch(topics, 3, 6)); got != "0 false" {
		t.Errorf("with the parent it found: %s", got)
	}
}

// TestTouchKeepsTheFirstParent: of two accesses that searched at the same time, the first to be recorded sets the parent.
func TestTouchKeepsTheFirstParent(t *testing.T) {
	topics := inPlane(t, nil)
	for id := range EntryID(3) {
		put(t, topics, id+1, 1, 10*float64(id))
	}
	first, _ := topics.ParentOf(3, 4)
	topics.Touch(3, 4, first, true)
	topics.Touch(3, 5, 1, true)
	if got := topics.entries[3].parent; first != 2 || got != first {
		t.Errorf("parent %d, want %d, the first that was recorded", got, first)
	}
}

// TestSearchForAParentEnds: there are three attempts (D13).
func TestSearchForAParentEnds(t *testing.T) {
	for attempts, want := range map[int64]EntryID{2: 1, 3: 0} {
		topics := inPlane(t, func(o *Options) { o.Lookback = 1 })
		put(t, topics, 1, 1, 0)
		put(t, topics, 2, 1, 10) // 1 is beyond the lookback
		for i := range attempts {
			touch(topics, 2, 3+i)
		}
		touch(topics, 1, 10)
		if got, searched := touch(topics, 2, 11); got != want || searched != (want != 0) {
			t.Errorf("after %d attempts: parent %d, %v, want %d", attempts, got, searched, want)
		}
	}
}
