package classic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
)

func TestTinyLFU(t *testing.T) {
	state := func(l *tinyLFU) string {
		key := func(c container.Cell[policy.ID, tinyLFUEntry]) uint64 { return c.Val.key }
		in := func(s segment) string { return policytest.KeysIn(&l.slots, &l.queues[s], key) }
		return fmt.Sprintf("window %s | probation %s | protected %s", in(window), in(probation), in(protected))
	}
	fresh := func() *tinyLFU { return newTinyLFU(policy.Capacity{Given: 6, N: 6}, 1, newSketch(1000, 0), 1) }
	policytest.CheckStates(t, 6, fresh, state, [][3]string{
		{"new ones pass through the window while there is room", "1 2 3", "window 3 2 | probation 1 | protected "},
		{"a hit in the window stays", "1 2 3 3", "window 3 2 | probation 1 | protected "},
		{"a hit on probation protects", "1 2 3 4 1", "window 4 3 | probation 2 | protected 1"},
		{"four of five are protected, the fifth goes back", "1 2 3 4 5 6 7 1 2 3 4 5",
			"window 7 | probation 1 | protected 5 4 3 2"},
		{"a tie refuses the newcomer before", "1 2 3 4 5 6 7", "window 7 | probation 5 4 3 2 1 | protected "},
		{"who was asked for more often is let in", "1 2 3 4 5 6 6 7", "window 7 6 | probation 5 4 3 2 | protected "},
		{"as a ghost would: counts outlive the entry", "1 2 3 4 5 6 7 6 8", "window 8 6 | probation 5 4 3 2 | protected "},
		{"a purge makes room", "1 2 3 4 5 6 -1 7", "window 7 6 | probation 5 4 3 2 | protected "},
	})
}

// request adds a key n times.
func (s *sketch) request(key uint64, n int) {
	for range n {
		s.add(key)
	}
}

// TestTinyLFUAdmission draws: below 6 a candidate must be asked for more often, from 6 on it has one chance in 128.
func TestTinyLFUAdmission(t *testing.T) {
	const draws = 128 * 200
	for _, c := range []struct{ candidate, victim, least, most int }{
		{3, 2, draws, draws}, {3, 3, 0, 0}, {5, 9, 0, 0}, {9, 8, draws, draws}, {6, 6, 140, 260}, {6, 9, 140, 260},
	} {
		counts := newSketch(1000, 0)
		l := newTinyLFU(policy.Capacity{Given: 6, N: 6}, 1, counts, 1)
		l.Insert(policy.Item{ID: 1}, policy.Tick{Seq: 1})
		l.Insert(policy.Item{ID: 2}, policy.Tick{Seq: 2})
		counts.request(1, c.victim-1)
		counts.request(2, c.candidate-1)
		victim, _ := l.slots.Find(1)
		candidate, _ := l.slots.Find(2)
		n := 0
		for range draws {
			if l.admits(candidate, victim) {
				n++
			}
		}
		if n < c.least || n > c.most {
			t.Errorf("%d against %d: %d of %d admitted, want %d to %d", c.candidate, c.victim, n, draws, c.least, c.most)
		}
	}
}

// TestTinyLFUDrawsOnce asks again and again where each new draw would sooner or later admit.
func TestTinyLFUDrawsOnce(t *testing.T) {
	counts := newSketch(1000, 0)
	l := newTinyLFU(policy.Capacity{Given: 2, N: 2}, 1, counts, 1)
	counts.request(1, 9)
	counts.request(2, 6)
	for id := policy.ID(1); id <= 3; id++ {
		l.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
	}
	want, _ := l.Victim()
	for range 2000 {
		policytest.WantVictim(t, l, want, true)
	}
}

// TestTinyLFUClimbsDownFirst plays a first sample: it is better than nothing, and the first step goes down.
func TestTinyLFUClimbsDownFirst(t *testing.T) {
	l := newTinyLFU(policy.Capacity{Given: 100, N: 100}, 50, newSketch(1000, 0), 1)
	for i := range 10 * 100 {
		l.climber.request(i%2 == 0, 100)
	}
	if want := 0.5 - climbStep; l.share != want {
		t.Errorf("share %v, want %v", l.share, want)
	}
}

// TestTinyLFUWindowGrows while it is over its room by the newest: that is what it grows by, and main keeps its own.
func TestTinyLFUWindowGrows(t *testing.T) {
	l := newTinyLFU(policy.Capacity{Given: 6, N: 6}, 1, newSketch(1000, 0), 1)
	for id := policy.ID(1); id <= 4; id++ {
		if id == 4 {
			l.share = 2. / 6
		}
		l.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
	}
	id := func(c container.Cell[policy.ID, tinyLFUEntry]) uint64 { return uint64(c.Name) }
	if w, m := policytest.KeysIn(&l.slots, &l.queues[window], id), policytest.KeysIn(&l.slots, &l.queues[probation], id); w != "4 3 2" || m != "1" {
		t.Errorf("window %s, probation %s", w, m)
	}
}

// TestTinyLFUClimbs gives hit ratios of successive samples and looks at the share that the window then gets.
func TestTinyLFUClimbs(t *testing.T) {
	k := climber{share: 0.3, step: -climbStep}
	const c = 100
	want := []float64{0.2375, 0.175, 0.2375, 0.29875, 0.2375}
	for i, hits := range []int{500, 510, 440, 450, 449} {
		for r := range 10 * c {
			k.request(r < hits, c)
		}
		if math.Abs(k.share-want[i]) > 0.003 {
			t.Errorf("sample %d: share %.4f, want %.4f", i, k.share, want[i])
		}
	}
	for range 40 {
		k.step = climbStep
		k.climb(1)
	}
	if k.share != climbMost {
		t.Errorf("share %v at the top, want %v", k.share, climbMost)
	}
}

// TestTinyLFUWindowFollowsTheClimb moves one entry at a time and counts all of them.
func TestTinyLFUWindowFollowsTheClimb(t *testing.T) {
	const c = 100
	l := newTinyLFU(policy.Capacity{Given: c, N: c}, 1, newSketch(1000, 0), 1)
	ledger := policy.NewLedger(l, policy.Limit{Entries: c})
	seq := int64(0)
	for _, share := range []float64{0.5, 0, 0.8, 0.01} {
		l.share = share
		for range 200 {
			seq++
			ledger.Insert(policy.Item{ID: policy.ID(seq)}, policy.Tick{Seq: seq}, nil)
			ledger.Hit(policy.ID(max(1, seq-3)), policy.Tick{Seq: seq})
		}
		room := max(1, int(share*c))
		if n := l.queues[window].Len; l.room != room || n < room || n > room+1 || ledger.Entries() != c {
			t.Errorf("share %v: room %d, %d in the window, %d in all", share, l.room, n, ledger.Entries())
		}
		if n := l.queues[protected].Len; n > (c-room)*4/5 {
			t.Errorf("share %v: %d protected", share, n)
		}
	}
}

// TestSketch compares with exact counts: no estimate is below them, few are above.
func TestSketch(t *testing.T) {
	const keys = 2000
	s, exact := newSketch(keys, 0), map[uint64]int{}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 10, keys-1)
	for range 4 * keys {
		key := zipf.Uint64() + 1
		s.add(key)
		exact[key]++
	}
	above := 0
	for key := uint64(1); key <= keys; key++ {
		got, want := s.of(key), min(15, exact[key])
		if got < want {
			t.Fatalf("key %d: %d, added %d times", key, got, want)
		}
		if got > want {
			above++
		}
	}
	if above > keys/20 {
		t.Errorf("%d of %d keys are overestimated", above, keys)
	}
}

// TestSketchGrows adds more keys than it begins with room for: no estimate may fall below what was added, nor may room for
// twice as many leave them as one.
func TestSketchGrows(t *testing.T) {
	const keys = 2 * sketchAtOnce
	s := newSketch(keys+1, 0)
	for round := range 2 {
		for key := uint64(1); key <= keys; key++ {
			if key%4 <= uint64(round) {
				s.add(key)
			}
		}
	}
	above := 0
	for key := uint64(1); key <= keys; key++ {
		want := max(0, 2-int(key%4))
		if got := s.of(key); got < want {
			t.Fatalf("key %d: %d, added %d times", key, got, want)
		} else if got > want {
			above++
		}
	}
	if above > keys/5 || len(s.words) != keys {
		t.Errorf("%d of %d keys are overestimated in %d words", above, keys, len(s.words))
	}
}

// TestSketchFades adds one key until everything is halved.
func TestSketchFades(t *testing.T) {
	f := newSketch(64, 10)
	f.request(7, 9)
	f.add(8)
	if f.of(7) != 4 || f.of(8) != 0 {
		t.Errorf("9 and 1 became %d and %d, want 4 and 0", f.of(7), f.of(8))
	}
}

// TestSketchFadesOn counts the additions between one halving and the next: half of age, more by what rounding has lost.
func TestSketchFadesOn(t *testing.T) {
	for _, c := range []struct{ keys, first, next int }{{1, 8, 4}, {8, 8, 8}, {8, 12, 8}, {8, 64, 32}} {
		s := newSketch(64, c.first)
		var gaps []int
		for i, n := 0, 0; len(gaps) < 2; i++ {
			before := s.added
			s.add(uint64(1 + i%c.keys))
			n++
			if s.added <= before {
				gaps = append(gaps, n)
				n = 0
			}
		}
		if gaps[0] != c.first || gaps[1] != c.next {
			t.Errorf("%d keys, age %d: halved after %v, want %d and %d", c.keys, c.first, gaps, c.first, c.next)
		}
	}
}
