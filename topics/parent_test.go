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

// TestParent asks for the parent of a request, or of an entry, after some steps. Entries 1, 2, 3 are at 0, 30 and 50 degrees, of requests 1 to 3;
// 4 is of another topic, 5 of another chain.
func TestParent(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		lookback    int
		of          EntryID // 0: of a request at the degrees
		degrees     float64
		seq         int64
		want        EntryID
	}{
		{"nearer in time wins over nearer in meaning", "", 64, 0, 10, 6, 3},
		{"below the edge gate", "", 64, 0, -20, 6, 1},
		{"nothing passes the gate", "", 64, 0, 180, 6, 0},
		{"distance 0 is no past", "", 64, 0, 50, 3, 2},
		{"beyond the lookback", "", 2, 0, 50, 6, 0},
		{"within the lookback", "", 3, 0, 50, 6, 3},
		{"last access counts", "touch 1 6", 64, 0, 10, 7, 1},
		{"an access now is no past", "touch 1 6", 64, 0, 10, 6, 3},
		{"gone", "forget 3", 64, 0, 10, 6, 2},
		{"not itself", "", 64, 3, 0, 6, 2},
		{"not a younger one", "", 64, 2, 0, 6, 1},
		{"the oldest has none", "", 64, 1, 0, 6, 0},
		{"of an unknown entry", "", 64, 9, 0, 6, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			topics := inPlane(t, func(o *Options) { o.Lookback = c.lookback })
			for id, degrees := range []float64{0, 30, 50, 10, 10} {
				m := Member{ID: EntryID(id + 1), Topic: 1, Vector: plane(degrees), Seq: int64(id + 1)}
				switch m.ID {
				case 4:
					m.Topic = 2
				case 5:
					m.Chain[0] = 1
				}
				if _, _, err := topics.Add(m); err != nil {
					t.Fatal(err)
				}
			}
			if c.steps != "" {
				run(t, topics, c.steps)
			}
			for range 5 { // it changes nothing
				if c.of != 0 {
					if got, searched := topics.ParentOf(c.of, c.seq); got != c.want || searched != (c.of < 9) {
						t.Errorf("parent %d, %v, want %d", got, searched, c.want)
					}
				} else if got, ok := topics.Parent(ScopeID{}, 1, ChainID{}, plane(c.degrees), c.seq); got != c.want || ok != (c.want != 0) {
					t.Errorf("parent %d, %v, want %d", got, ok, c.want)
				}
			}
		})
	}
}

// TestTouchSetsTheParent: no search while the parent is stored, again when it is gone (D16).
func TestTouchSetsTheParent(t *testing.T) {
	topics := inPlane(t, nil)
	for id, parent := range []EntryID{0, 0, 2} {
		m := Member{ID: EntryID(id + 1), Topic: 1, Vector: plane(10 * float64(id)), Seq: int64(id + 1), Parent: parent}
		if _, _, err := topics.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	for seq, want := range []string{"0 false", "1 true", "0 false"} { // with its parent, without it, with the parent that was found
		if got := fmt.Sprint(touch(topics, 3, int64(4+seq))); got != want {
			t.Errorf("access %d: %s, want %s", seq, got, want)
		}
		topics.Forget(2)
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
