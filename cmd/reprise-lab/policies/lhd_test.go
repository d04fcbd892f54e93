package policies

import (
	"math"
	"math/rand/v2"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestLHDFitsItsAges: the step of the ages is fitted to the residents twice, the second time to an average that the first has
// made slow. 100,000 residents take steps of 500, a million steps of 5,000, and two thirds of a million 3,500.
func TestLHDFitsItsAges(t *testing.T) {
	d := newDensities(0)
	for range 6 {
		if d.shift != 0 {
			t.Errorf("shift %d before 6 updates", d.shift)
		}
		d.update(100_000)
	}
	if mean := d.residents / d.mass; d.shift != 9 || math.Abs(float64(mean)-100_000) > 1 {
		t.Errorf("shift %d for %v residents after 6 updates, want 9", d.shift, mean)
	}
	for range 20 {
		d.update(1_000_000)
	}
	if d.shift != 12 {
		t.Errorf("shift %d after 26 updates, want 12", d.shift)
	}
}

func TestLHDDividesBySize(t *testing.T) {
	for _, perByte := range []bool{false, true} {
		l := newLHD(8, false, perByte, 1)
		for id, size := range []int64{1, 1000, 1} {
			l.Insert(policy.Item{ID: policy.ID(id + 1), Size: size}, policy.Tick{})
		}
		l.Insert(policy.Item{ID: 4}, policy.Tick{})
		policytest.WantVictim(t, l, map[bool]policy.ID{false: 1, true: 2}[perByte], true)
	}
}

// TestLHDLearnsWhatDies sends 30 entries that return every 40 requests among many that never do, until the ages are known.
func TestLHDLearnsWhatDies(t *testing.T) {
	l := newLHD(100, false, false, 1)
	ledger := policy.NewLedger(l, policy.Limit{Entries: 100})
	for seq := int64(1); seq <= 20_500; seq++ {
		id := policy.ID(1000 + seq)
		if seq%4 != 0 {
			id = policy.ID(1 + seq%40)
		}
		if ledger.Has(id) {
			ledger.Hit(id, policy.Tick{Seq: seq})
		} else {
			ledger.Insert(policy.Item{ID: id}, policy.Tick{Seq: seq}, nil)
		}
	}
	if l.model.updates != 20 {
		t.Errorf("%d updates, want 20", l.model.updates)
	}
	for id := policy.ID(1); id <= 40; id++ {
		if id%4 != 1 && !ledger.Has(id) {
			t.Errorf("%d went, though it returns", id)
		}
	}
}

// TestLHDDensityAgainstItsDefinition sums hits and lifetimes for each age separately.
func TestLHDDensityAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := newDensities(0).classes[3]
	for range 60 {
		c.hits[r.IntN(300)]++
		c.evictions[r.IntN(400)]++
	}
	c.learn()
	for age := range 450 {
		hits, lifetime := 0.0, 0.0
		for later := age; later < 450; later++ {
			hits += float64(c.hits[later])
			lifetime += float64(c.hits[later]+c.evictions[later]) * float64(later-age+1)
		}
		want := 0.0
		if lifetime > 0 {
			want = hits / lifetime
		}
		if got := float64(c.density[age]); math.Abs(got-want) > 1e-5 {
			t.Fatalf("age %d: density %v, want %v", age, got, want)
		}
	}
}

func TestLHDRescale(t *testing.T) {
	for _, c := range []struct {
		by            int
		in, out, last float32 // of 8 at age 10; all of them; at the last age
		at            int
	}{
		{0, 8, 8, 5, 10}, {1, 8, 8, 5, 5}, {3, 8, 8, 5, 1}, {-1, 8, 4, 5, 20}, {-2, 8, 2, 5, 40},
	} {
		class := newDensities(0).classes[0]
		class.hits[10], class.hits[lhdAges-1] = c.in, 5
		class.rescale(c.by)
		if got := [2]float32{class.hits[c.at], class.hits[lhdAges-1]}; got != [2]float32{c.out, c.last} {
			t.Errorf("by %d: %v, want %v and %v", c.by, got, c.out, c.last)
		}
		sum := float32(0)
		for _, n := range class.hits {
			sum += n
		}
		if sum != 13 {
			t.Errorf("by %d: %v hits, want 13", c.by, sum)
		}
	}
}

func TestLHDExplorersStayWithinTheirBudget(t *testing.T) {
	l := newLHD(1000, false, false, 1)
	ledger := policy.NewLedger(l, policy.Limit{Entries: 1000})
	r := rand.New(rand.NewPCG(1, 2))
	for seq := int64(1); seq <= 30_000; seq++ {
		ledger.Insert(policy.Item{ID: policy.ID(seq)}, policy.Tick{Seq: seq}, nil)
		ledger.Hit(policy.ID(seq-int64(r.IntN(900))), policy.Tick{Seq: seq})
		ledger.Remove(policy.ID(seq-int64(r.IntN(9000))), policy.Purged)
		explorers := 0
		for i := range l.tags {
			if l.tags[i].exploring {
				explorers++
			}
		}
		if l.budget < 0 || l.budget+explorers != 10 {
			t.Fatalf("request %d: %d explorers and a budget of %d, want 10 in all", seq, explorers, l.budget)
		}
	}
	if l.budget == 10 {
		t.Error("no explorers")
	}
}
