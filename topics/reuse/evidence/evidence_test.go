package evidence

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"reprise/topics/reuse/edits"
)

var dense = Embedder{Space: "dense", Gate: 0.9}

// formIn is a sample of equal forms in a scope of a tenant.
func formIn(tenant, scope uint64, o Outcome) Sample {
	return Sample{Case: Case{Tenant: tenant, Scope: scope, Explained: true, Hit: true}, Outcome: o, Source: Explored}
}

// near is a sample of an unexplained pair.
func near(tenant, scope uint64, similarity float64, o Outcome) Sample {
	return Sample{Case: Case{Tenant: tenant, Scope: scope, Space: ID(dense.Space), Similarity: similarity, Hit: true}, Outcome: o, Source: Explored}
}

// play adds samples like s: = came out the same, ! different, ? unknown, each of another question.
func (b *Book) play(s Sample, outcomes string) *Book {
	for _, o := range outcomes {
		s.Outcome = map[rune]Outcome{'=': Same, '!': Different, '?': Unknown}[o]
		s.Question++
		b.Add(s)
	}
	return b
}

func many(n int, o string) (all string) {
	for range n {
		all += o
	}
	return all
}

// TestTrust: what a scope has shown, and whether that is enough at a rate.
func TestTrust(t *testing.T) {
	for _, row := range []struct {
		name, shown string
		rate        float64
		same        int
		needed      int
		holds       bool
	}{
		{"nothing", "", 0.01, 0, 5, false},
		{"one short", "====", 0.01, 4, 5, false},
		{"the first pairs", "=====", 0.01, 5, 5, true},
		{"a low rate takes more", "=====", 0.005, 5, 50, false},
		{"a low rate", many(50, "="), 0.005, 50, 50, true},
		{"one wrong among the first", "==!===", 0.01, 5, 105, false},
		{"one wrong, at a high rate", "==!===", 0.05, 5, 25, false},
		{"one wrong later", many(20, "=") + "!", 0.01, 20, 105, false},
		{"one wrong, made up for", "!" + many(105, "="), 0.01, 105, 105, true},
		{"one wrong in many", many(300, "=") + "!", 0.01, 200, 105, true},
		{"two wrong in many", many(300, "=") + "!!", 0.01, 200, 205, false},
		{"wrong ones fade", many(150, "=") + "!" + many(51, "="), 0.01, 100, 5, true},
		{"unknown ones are spared", "?=?=?===", 0.01, 5, 5, true},
		{"unknown ones count", "?????=====", 0.01, 5, 5, false},
		{"unknown ones alone", many(50, "?"), 0.01, 0, 5, false},
		{"one unknown in four is noise", many(5, "===?="), 0.01, 20, 5, true},
	} {
		b := NewBook(dense).play(formIn(1, 1, 0), row.shown)
		c := formIn(1, 1, 0).Case
		got := b.Rates().Trust(&c, row.rate)
		if got.Same != row.same || got.Needed != row.needed || got.Holds() != row.holds {
			t.Errorf("%s: %+v, holds %v", row.name, got, got.Holds())
		}
		if p := b.Rates().P(&c); got.Holds() && 1-p > row.rate+1e-9 {
			t.Errorf("%s: trusted with an estimated error of %v", row.name, 1-p)
		}
	}
	if (&Trust{Needed: 5}).Holds() || (*Rates)(nil).Curious() {
		t.Error("nothing was shown")
	}
}

// TestFewQuestions: trust is not earned by two questions in many wordings, but lost by each.
func TestFewQuestions(t *testing.T) {
	b := NewBook(dense)
	s := formIn(1, 1, Same)
	trust := func() Trust { return b.Rates().Trust(&s.Case, 0.01) }
	for i := range uint64(20) {
		s.Question = 1 + i/10
		b.Add(s)
	}
	if got := trust(); got.Same != 4 || got.Holds() {
		t.Errorf("two questions: %+v", got)
	}
	s.Question = 3
	b.Add(s)
	if got := trust(); got.Same != 5 || !got.Holds() {
		t.Errorf("three questions: %+v", got)
	}
	s.Outcome = Different
	b.Add(s)
	b.Add(s)
	if got := trust(); got.Wrong != 2 {
		t.Errorf("one question twice: %+v", got)
	}
}

// TestExplore: half of the answers are compared at first, and again after each that was wrong; one in a hundred in the end.
func TestExplore(t *testing.T) {
	s := formIn(1, 1, 0)
	for shown, want := range map[string]float64{"": 0.5, "=====": 0.5, many(28, "="): 0.5, many(40, "="): 0.25, many(80, "="): 1.0 / 16, many(300, "="): 0.01, many(160, "=") + "!": 1.0 / 16} {
		got := NewBook(dense).play(s, shown).Rates().Trust(&s.Case, 0.01)
		if math.Abs(got.Explore()-want) > 1e-9 {
			t.Errorf("after %d: %v, want %v", len(shown), got.Explore(), want)
		}
	}
}

// TestOthersDoNotCount: neither other tenants, nor other scopes of the tenant, nor another kind gives or takes trust.
func TestOthersDoNotCount(t *testing.T) {
	edit := formIn(1, 1, 0)
	edit.Edits = []edits.Class{1}
	for _, other := range []Sample{formIn(2, 1, 0), formIn(1, 2, 0), edit, near(1, 1, 0.95, 0)} {
		for _, shown := range []string{many(50, "="), many(50, "!"), many(50, "?")} {
			b := NewBook(dense).play(formIn(1, 1, 0), "=====")
			before, _ := trusts(b, formIn(1, 1, 0)), b.play(other, shown)
			if now := trusts(b, formIn(1, 1, 0)); now != before {
				t.Errorf("%v of %+v: %+v became %+v", shown[:1], other.Case, before, now)
			}
		}
	}
}

func trusts(b *Book, s Sample) Trust { return b.Rates().Trust(&s.Case, 0.01) }

// TestFamily: five scopes that have shown something let others of their family begin after one pair, until one comes out different.
func TestFamily(t *testing.T) {
	of := func(scope uint64) Sample {
		s := formIn(1, scope, 0)
		s.Family = 7
		return s
	}
	b := NewBook(dense)
	for scope := range uint64(4) {
		b.play(of(scope), many(50, "="))
	}
	if got := trusts(b, of(9)); got.Needed != First {
		t.Errorf("four scopes are enough: %+v", got)
	}
	b.play(of(4), "=")
	b.play(of(9), "=")
	if got := trusts(b, of(9)); got.Needed != 1 || !got.Holds() {
		t.Errorf("five scopes: %+v", got)
	}
	s := formIn(2, 9, 0)
	if got := trusts(b.play(s, "="), s); got.Holds() {
		t.Error("a family of another tenant counts")
	}
	b.play(of(10), "!")
	if got := trusts(b, of(9)); got.Holds() {
		t.Errorf("one of the family was wrong: %+v", got)
	}
	if got := trusts(b, of(0)); !got.Holds() {
		t.Errorf("what a scope has shown itself stays: %+v", got)
	}
}

// TestNoise: answers to equal prompts count for nothing but the noise of their scope, which is wanted where comparisons say too little.
func TestNoise(t *testing.T) {
	b := NewBook(dense)
	s := formIn(1, 1, Different)
	if b.Rates().WantsNoise(1, 1) > 0 {
		t.Error("nothing was compared")
	}
	b.play(s, "?")
	if !b.Rates().Curious() || b.Rates().WantsNoise(1, 1) != 1 || b.Rates().WantsNoise(1, 2) != 0 {
		t.Error("one comparison said nothing")
	}
	s.Source = Repeated
	for _, s.Closeness = range []float64{0, 0.5, 0.55, 1, math.NaN(), -1, 2} {
		b.Add(s)
	}
	if got, want := b.Rates().Noise(&s.Case), (Noise{0: 1, 5: 2, 10: 1}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := trusts(b, s); got.Wrong != 0 || b.Rates().WantsNoise(1, 1) != LeastExplored {
		t.Errorf("equal prompts count: %+v, %v", got, b.Rates().WantsNoise(1, 1))
	}
	for s.Closeness = 0.5; b.Rates().Curious(); {
		b.Add(s)
	}
	if got := b.Rates().Noise(&s.Case); got.sum() != mostNoise {
		t.Errorf("%v", got)
	}
}

func TestPriors(t *testing.T) {
	r := NewBook(dense).Rates()
	for class := 1; class < len(edits.Table); class++ {
		if e := 1 - r.Class(&Case{Explained: true, Edits: []edits.Class{edits.Class(class)}}); e > 0.01 {
			t.Errorf("%s: expected error %v", edits.Class(class).Name(), e)
		}
	}
	for _, row := range []struct{ similarity, least, most float64 }{
		{1, 0, 0.01}, {0.95, 0, 0.01}, {0.9, 0, 0.01}, {0.89, 0.01, 0.02}, {0.7, 0.1, 0.2}, {-1, 0.3, 1}, {math.NaN(), 0.3, 1},
	} {
		s := near(1, 1, row.similarity, 0)
		if e := 1 - r.Class(&s.Case); e < row.least || e > row.most {
			t.Errorf("similarity %v: expected error %v, want %v to %v", row.similarity, e, row.least, row.most)
		}
	}
	if p := r.P(&Case{Space: 5, Similarity: 1}); p != 0 {
		t.Errorf("a similarity of another space: %v", p)
	}
	if p := (*Rates)(nil).P(&Case{Explained: true}); p < 0.999 {
		t.Errorf("without counts: %v", p)
	}
}

func TestBandsAreMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		b := NewBook(dense)
		for range rng.IntN(300) {
			s := near(1, 1, 0.6+0.4*rng.Float64(), Same)
			if rng.IntN(10) == 0 {
				s.Outcome = Different
			}
			b.Add(s)
		}
		last := 1.0
		for similarity := 0.505; similarity <= 1; similarity += 0.01 {
			s := near(1, 1, similarity, 0)
			e := 1 - b.Rates().Class(&s.Case)
			if e > last+1e-9 {
				t.Fatalf("error %v at %v, %v below it", e, similarity, last)
			}
			last = e
		}
	}
}

// TestRoom: a tenant with more scopes than there is room for takes none of another one's.
func TestRoom(t *testing.T) {
	b := NewBook(dense).play(formIn(1, 1, 0), "=====")
	for scope := range uint64(20_000) {
		b.Add(formIn(2, scope, Same))
	}
	if got := trusts(b, formIn(1, 1, 0)); !got.Holds() {
		t.Errorf("%+v", got)
	}
	if n := len(b.Rates().Scopes(0.01)); n != shards*depth {
		t.Errorf("%d scopes", n)
	}
}

// TestEstimates are of what would be served, whatever the tenant.
func TestEstimates(t *testing.T) {
	b := NewBook(dense).play(formIn(1, 1, 0), many(9, "=")+"!")
	b.play(formIn(2, 3, 0), many(10, "="))
	unserved := formIn(1, 1, Different)
	unserved.Hit = false
	b.Add(unserved)
	for _, e := range b.Rates().Estimates() {
		if e.N != 20 || e.Wrong != 1 || e.Mean != 0.05 || e.Low > 0.05 || e.High < 0.05 {
			t.Errorf("%+v", e)
		}
	}
}

// TestRatesDoNotChange: a reader's estimates stay as they were.
func TestRatesDoNotChange(t *testing.T) {
	b := NewBook(dense).play(near(1, 1, 0.95, 0), "=====")
	before, copied := b.Rates(), b.Rates().Append(nil)
	b.play(near(1, 1, 0.95, 0), many(30, "!"))
	if !reflect.DeepEqual(before.Append(nil), copied) {
		t.Error("changed")
	}
}

func BenchmarkAdd(b *testing.B) {
	book := NewBook(dense)
	rng := rand.New(rand.NewPCG(2, 2))
	b.ReportAllocs()
	for b.Loop() {
		book.Add(near(uint64(rng.IntN(100)), uint64(rng.IntN(10_000)), 0.8+0.2*rng.Float64(), Same))
	}
}

func BenchmarkTrust(b *testing.B) {
	book := NewBook(dense)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100_000 {
		book.Add(near(uint64(rng.IntN(100)), uint64(rng.IntN(10_000)), 0.5+0.5*rng.Float64(), Same))
	}
	for name, s := range map[string]Sample{"form": formIn(1, 1, 0), "band": near(1, 1, 0.75, 0)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				book.Rates().Trust(&s.Case, 0.01)
				book.Rates().P(&s.Case)
			}
		})
	}
}

// TestWilsonEnds: an interval ends at 0 where nothing was wrong, and at 1 where everything was, exactly and for every number of comparisons; it
// is within 0 and 1, and the share is in it.
func TestWilsonEnds(t *testing.T) {
	for n := 1; n <= 2000; n++ {
		if low, high := Wilson(0, n); low != 0 || high <= 0 || high >= 1 {
			t.Errorf("0 of %d: %g to %g", n, low, high)
		}
		if low, high := Wilson(n, n); high != 1 || low <= 0 || low >= 1 {
			t.Errorf("%d of %d: %g to %g", n, n, low, high)
		}
		for _, k := range []int{1, n / 3, n - 1} {
			if low, high := Wilson(k, n); low < 0 || high > 1 || float64(k) < low*float64(n) || float64(k) > high*float64(n) {
				t.Errorf("%d of %d: %g to %g", k, n, low, high)
			}
		}
	}
	if low, high := Wilson(0, 0); low != 0 || high != 1 {
		t.Errorf("of nothing: %g to %g", low, high)
	}
}
