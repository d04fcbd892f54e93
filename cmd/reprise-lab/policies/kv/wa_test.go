package kv

import (
	"fmt"
	"math"
	"testing"

	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/internal/policytest"
	"reprise/policy"
)

// TestOneCategoryIsLRU: blocks of one category, with all that is learned of it, go in the order of LRU.
func TestOneCategoryIsLRU(t *testing.T) {
	for _, name := range []string{"wa", "wa:form=bayes,sample=1", "wa:life=off", "wa:p=off,life=100,sample=1", "wa:form=rate,sample=1", "wa:form=rate,fit=mixture,shared=own,sample=1"} {
		f := newTraffic(t, 60, newPolicy(t, name), newPolicy(t, "lru"))
		for i := range 3000 {
			f.at = policy.Tick{Seq: int64(i + 1), At: f.at.At + f.rng.ExpFloat64()}
			f.request(policy.Item{Category: 3}, f.chain(uint64(1+i/20+f.rng.IntN(30)), 1+f.rng.IntN(4)))
			if len(f.running) > 2 {
				f.release()
			}
		}
		f.enough()
	}
}

// TestEqualRatesAreLRU: without p, categories of equal rates are one. No key is sampled, so all have the rate of the prior.
func TestEqualRatesAreLRU(t *testing.T) {
	f := newTraffic(t, 60, newPolicy(t, "wa:p=off,sample=1000000"), newPolicy(t, "lru"))
	f.kinds = 3
	f.run(3000)
	f.enough()
	if n := len(f.evictors[0].Evictor.(*WA).queues); n != 12 {
		t.Errorf("%d categories", n)
	}
}

// TestWAIsTheScan compares each victim with the least priority of all residents.
func TestWAIsTheScan(t *testing.T) {
	for _, name := range []string{"wa:sample=1", "wa:sample=1,form=bayes", "wa:sample=1,life=off", "wa:sample=1,life=60", "wa:sample=1,p=off",
		"wa:sample=1,fit=mixture", "wa:sample=1,form=rate", "wa:sample=1,form=bayes,fit=mixture", "wa:sample=1,form=rate,fit=mixture,shared=own"} {
		t.Run(name, func(t *testing.T) {
			w := newPolicy(t, name).(*WA)
			f := newTraffic(t, 60, w)
			f.kinds, f.gap = 3, 5
			f.check = func(victim policy.ID) {
				if want := scan(w); victim != want {
					t.Fatalf("request %d: victim %d, a scan finds %d", f.at.Seq, victim, want)
				}
			}
			f.run(3000)
			f.enough()
			rates := map[float64]bool{}
			for i := range w.model.scales {
				rates[w.model.scales[i].rate] = true
			}
			if len(rates) < 6 {
				t.Errorf("%d rates: nothing was learned", len(rates))
			}
		})
	}
}

// scan is the pseudo-code of papers/001, figure 24, with the formula as it is printed.
func scan(w *WA) policy.ID {
	best, least := uint32(0), 0.0
	for slot := uint32(1); int(slot) < len(w.cells.Cells); slot++ {
		c := w.cells.Cells[slot]
		if c.Name == 0 || c.Val.pins > 0 {
			continue
		}
		p := printed(w, &c.Val)
		const rounding = 1e-9
		if best == 0 || p < least*(1-rounding) || p <= least*(1+rounding) && w.before(slot, best) {
			best, least = slot, p
		}
	}
	return w.cells.Cells[best].Name
}

// printed is the priority of a block as a sum of exponentials.
func printed(w *WA, c *waCell) float64 {
	category := w.model.categories[c.class]
	mix, idle := oneTime(w.model.shadow.model.Of(category)), w.model.now-c.last
	if w.model.shadow.model.mixed {
		mix = w.model.shadow.model.mixture(category)
	}
	if w.model.certain {
		mix.P = 1
	}
	soon, now, back := 0.0, 0.0, 0.0
	for i, share := range []float64{1 - mix.Late, mix.Late} {
		later := mix.P * share * math.Exp(-mix.Rates[i]*idle)
		back += later
		now += later * mix.Rates[i]
		soon += later * -math.Expm1(-mix.Rates[i]*w.model.life.seconds)
	}
	switch w.form {
	case "rate":
		return now / (1 - mix.P + back)
	case "bayes":
		return soon / (1 - mix.P + back)
	}
	return soon
}

// TestSharedBlocksAreACategory: what two conversations used has the class of such blocks, in the shadow too.
func TestSharedBlocksAreACategory(t *testing.T) {
	w := newPolicy(t, "wa:sample=1,shared=own").(*WA)
	w.Insert(policy.Item{ID: 1, Key: 1, Category: 3, Topic: 1}, policy.Tick{Seq: 1})
	for i, c := range []struct {
		topic policy.TopicID
		want  uint32
	}{{1, 3}, {2, 3 | several}, {2, 3 | several}} {
		w.HitIn(policy.Item{ID: 1, Category: 3, Topic: c.topic}, policy.Tick{Seq: int64(i + 2), At: float64(i + 1)})
		slot, _ := w.cells.Find(1)
		if got := w.model.categories[w.cells.At(slot).class]; got != c.want {
			t.Errorf("use %d by conversation %d: category %#x, want %#x", i+2, c.topic, got, c.want)
		}
		for _, u := range w.model.shadow.open.All() {
			if u.category != c.want {
				t.Errorf("use %d by conversation %d: category %#x in the shadow, want %#x", i+2, c.topic, u.category, c.want)
			}
		}
	}
}

// TestCategoriesDiffer: requests of one category come again after ten seconds, those of the other never. Its blocks are evicted first,
// although they were used last; without p too, because what few return does so late.
func TestCategoriesDiffer(t *testing.T) {
	for _, name := range []string{"wa:sample=1", "wa:sample=1,form=bayes", "wa:sample=1,life=off", "lpc-wa:sample=1"} {
		e := newPolicy(t, name)
		returning, lost := policy.CategoryOf(0, 2), policy.CategoryOf(1, 1)
		for i := range 500 {
			at := policy.Tick{Seq: int64(i + 1), At: float64(i)}
			if i >= 10 {
				e.(pinning.Contextual).HitIn(policy.Item{ID: policy.ID(2*(i%10) + 1), Category: returning}, at)
			} else {
				e.Insert(policy.Item{ID: policy.ID(2*i + 1), Category: returning}, at)
			}
			e.Insert(policy.Item{ID: policy.ID(2*i + 1000), Category: lost}, at)
			if i > 50 {
				id, _ := e.Victim()
				if i > 100 && id < 1000 {
					t.Fatalf("%s, request %d: victim %d returns each 10 s", name, i, id)
				}
				e.Remove(id, policy.Evicted)
			}
		}
	}
}

// TestTies: blocks of equal priority go deepest first, then the least recently used; across categories too.
func TestTies(t *testing.T) {
	for _, name := range []string{"wa", "lpc", "lpc-wa", "gdfs"} {
		e := newPolicy(t, name)
		for i, block := range []struct{ category, offset int }{{0, 3}, {1, 5}, {2, 3}, {3, 1}} {
			e.Insert(policy.Item{ID: policy.ID(i + 1), Category: uint32(block.category), Offset: block.offset, Prob: 0.5}, policy.Tick{Seq: 1})
		}
		e.Insert(policy.Item{ID: 5, Offset: 9, Prob: 0.9}, policy.Tick{Seq: 2, At: 50}) // gdfs never names the newest
		if got := policytest.Drain(e); got != "[2 1 3 4 5]" {
			t.Errorf("%s: victims %s, want those of the larger offset first", name, got)
		}
	}
}

// TestLifeFollowsVictims: an automatic life is the age of the victims, within its bounds.
func TestLifeFollowsVictims(t *testing.T) {
	for _, c := range []struct{ gap, want float64 }{{0.01, leastLife}, {1, 100}, {1e4, mostLife}} {
		w := newPolicy(t, "wa").(*WA)
		for i := range 5000 {
			w.Insert(policy.Item{ID: policy.ID(i + 1)}, policy.Tick{Seq: int64(i), At: c.gap * float64(i)})
			if i >= 100 {
				id, _ := w.Victim()
				w.Remove(id, policy.Evicted)
			}
		}
		if got := w.model.life.seconds; math.Abs(got/c.want-1) > 0.03 {
			t.Errorf("a hundred blocks, one each %v s: life %v, want %v", c.gap, got, c.want)
		}
	}
}

// TestEvictionsAreNoCensoring: blocks return after 100 s and are evicted after 10. The model has the time of their return all the same.
func TestEvictionsAreNoCensoring(t *testing.T) {
	w := newPolicy(t, "wa:sample=1").(*WA)
	id := policy.ID(0)
	for i := range 1000 {
		id++
		w.Insert(policy.Item{ID: id, Key: uint64(1 + i%100)}, policy.Tick{Seq: int64(i), At: float64(i)})
		if i >= 10 {
			victim, _ := w.Victim()
			w.Remove(victim, policy.Evicted)
		}
	}
	if fit := w.model.shadow.model.Of(0); fit.P < 0.95 || math.Abs(fit.Rate*100-1) > 0.1 {
		t.Errorf("fit %+v, want returns after 100 s", fit)
	}
}

// TestPurgeForgets: what was purged is in no shadow; what has expired is.
func TestPurgeForgets(t *testing.T) {
	for why, want := range map[policy.Reason]int{policy.Evicted: 1, policy.Expired: 1, policy.Purged: 0} {
		w := newPolicy(t, "wa:sample=1").(*WA)
		w.Insert(policy.Item{ID: 1, Key: 7}, policy.Tick{Seq: 1})
		w.Remove(1, why)
		if got := w.model.shadow.open.Len(); got != want {
			t.Errorf("%v: %d keys followed, want %d", why, got, want)
		}
	}
}

// TestParametersOfWA checks the messages of values that are not allowed.
func TestParametersOfWA(t *testing.T) {
	for name, want := range map[string]string{
		"wa:life=0.5":   "policy \"wa:life=0.5\": life=0.5: want auto or off or a number from 1 to 1000000000, which may be in capacities as 2C or 0.1/C",
		"wa:life=never": "policy \"wa:life=never\": life=never: want auto or off or a number from 1 to 1000000000, which may be in capacities as 2C or 0.1/C",
		"wa:p=0.5":      "policy \"wa:p=0.5\": p=0.5: want on or off",
		"lpc:prior=0":   "policy \"lpc:prior=0\": prior=0: want auto or a number from 1e-06 to 1, which may be in capacities as 2C or 0.1/C",
	} {
		if _, err := specs.New(name, policy.Options{Capacity: 10}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
