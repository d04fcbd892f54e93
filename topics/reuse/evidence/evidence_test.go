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
	return Sample{Case{Tenant: tenant, Scope: scope, Explained: true, Hit: true}, o, Explored}
}

// near is a sample of an unexplained pair.
func near(tenant, scope uint64, similarity float64, o Outcome) Sample {
	return Sample{Case{Tenant: tenant, Scope: scope, Space: ID(dense.Space), Similarity: similarity, Hit: true}, o, Explored}
}

func (b *Book) times(n int, s Sample) *Book {
	for range n {
		b.Add(s)
	}
	return b
}

func (b *Book) errorOf(s Sample) float64 {
	p, _ := b.Rates().P(&s.Case)
	return 1 - p
}

// serves counts how many comparisons that come out the same a sample needs until it is served again under δ.
func (b *Book) until(delta float64, s Sample) (n int) {
	for s.Outcome = Same; b.errorOf(s) > delta; n++ {
		b.Add(s)
	}
	return n
}

func TestPriorsServeAtTheDefault(t *testing.T) {
	b := NewBook(dense)
	if e := b.errorOf(formIn(1, 1, 0)); e > 0.001 {
		t.Errorf("equal forms: expected error %v", e)
	}
	for class := 1; class < len(edits.Table); class++ {
		s := Sample{Case: Case{Explained: true, Edits: []edits.Class{edits.Class(class)}}}
		if e := b.errorOf(s); e > 0.01 {
			t.Errorf("%s: expected error %v", edits.Class(class).Name(), e)
		}
	}
	for _, row := range []struct{ similarity, least, most float64 }{
		{1, 0, 0.01}, {0.95, 0, 0.01}, {0.9, 0, 0.01}, {0.89, 0.01, 0.02}, {0.7, 0.1, 0.2}, {-1, 0.3, 1}, {math.NaN(), 0.3, 1},
	} {
		if e := b.errorOf(near(1, 1, row.similarity, 0)); e < row.least || e > row.most {
			t.Errorf("similarity %v: expected error %v, want %v to %v", row.similarity, e, row.least, row.most)
		}
	}
	if p, _ := b.Rates().P(&Case{Space: 5, Similarity: 1}); p != 0 {
		t.Errorf("a similarity of another space: %v", p)
	}
}

// TestStops counts the errors that stop a case in its scope at δ = 0.01, and the comparisons that start it again.
func TestStops(t *testing.T) {
	for _, row := range []struct {
		name           string
		s              Sample
		before, errors int
		back           int
	}{
		{"form, unseen", formIn(1, 1, Same), 0, 2, 94},
		{"form, seen 100 times", formIn(1, 1, Same), 100, 3, 94},
		{"similarity, unseen", near(1, 1, 0.95, Same), 0, 1, 150},
		{"similarity, seen 50 times", near(1, 1, 0.95, Same), 50, 1, 100},
		{"similarity, seen 200 times", near(1, 1, 0.95, Same), 200, 3, 200},
	} {
		b := NewBook(dense).times(row.before, row.s)
		s, n := row.s, 0
		for s.Outcome = Different; b.errorOf(s) <= 0.01; n++ {
			b.Add(s)
		}
		back := b.until(0.01, row.s)
		t.Logf("%s: stopped by %d errors, back after %d", row.name, n, back)
		if n > row.errors || back > row.back {
			t.Errorf("%s: stopped by %d errors, back after %d; want at most %d and %d", row.name, n, back, row.errors, row.back)
		}
	}
}

func TestBandsAreMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		b := NewBook(dense)
		for range rng.IntN(300) {
			s := near(uint64(rng.IntN(3)), 1, 0.6+0.4*rng.Float64(), Same)
			if rng.IntN(10) == 0 {
				s.Outcome = Different
			}
			b.Add(s)
		}
		last := 1.0
		for similarity := 0.505; similarity <= 1; similarity += 0.01 {
			e := b.errorOf(near(1, 1, similarity, 0))
			if e > last+1e-9 {
				t.Fatalf("error %v at %v, %v below it", e, similarity, last)
			}
			last = e
		}
	}
	b := NewBook(dense).times(1, near(1, 1, 0.945, Different))
	for _, row := range []struct {
		similarity float64
		serves     bool
	}{{0.99, true}, {0.975, true}, {0.965, false}, {0.945, false}, {0.935, false}, {0.905, false}} {
		if e := b.errorOf(near(1, 1, row.similarity, 0)); (e <= 0.01) != row.serves {
			t.Errorf("after an error at 0.945, %v has %v", row.similarity, e)
		}
	}
	b.times(400, near(1, 1, 0.915, Same))
	if e := b.errorOf(near(1, 1, 0.945, 0)); e > 0.01 {
		t.Errorf("after 400 right answers at 0.915, 0.945 has %v", e)
	}
}

func TestBand(t *testing.T) {
	for similarity, want := range map[float64]float64{1: 0.99, 1.0000001: 0.99, 0.995: 0.99, 0.99: 0.99, 0.9899: 0.98, 0.9: 0.9, 0.57: 0.57, 0.29: 0, 0.5: 0.5, -1: 0} {
		if got := band(similarity).lowest(); got != want {
			t.Errorf("%v is in the band from %v, want %v", similarity, got, want)
		}
	}
}

// TestTenantsAreApart: what one tenant alone sees, or a client says, changes nothing for another one.
func TestTenantsAreApart(t *testing.T) {
	mine := []Sample{formIn(1, 1, Different), formIn(1, 2, Same), near(1, 3, 0.95, Different), near(1, 4, 0.99, Same)}
	others := []Sample{formIn(2, 1, 0), near(2, 3, 0.95, 0), near(2, 3, 0.99, 0)}
	b := NewBook(dense)
	var want []float64
	for _, s := range others {
		want = append(want, b.errorOf(s))
	}
	same := func(what string) {
		t.Helper()
		for i, s := range others {
			if got := b.errorOf(s); got != want[i] {
				t.Errorf("%s changes case %d of another tenant: %v, was %v", what, i, got, want[i])
			}
		}
	}
	for scope := range uint64(5000) {
		for _, s := range mine {
			s.Scope += scope
			b.Add(s)
		}
	}
	same("one tenant")
	for tenant := range uint64(3000) {
		for _, s := range mine {
			s.Tenant, s.Source = 3+tenant, Feedback
			b.Add(s)
		}
	}
	same("feedback of clients")
	// Of several tenants it counts.
	for tenant := range uint64(20) {
		b.Add(formIn(9000+tenant, 1, Different))
	}
	if e := b.errorOf(others[0]); e < 0.01 {
		t.Errorf("20 tenants saw equal forms fail, another one expects an error of %v", e)
	}
}

// TestManyScopesReplaceTheirOwn: a tenant with more scopes than there is room for does not push out those of another.
func TestManyScopesReplaceTheirOwn(t *testing.T) {
	b := NewBook(dense)
	for scope := range uint64(20) {
		b.times(3, formIn(2, scope, Different))
	}
	for scope := range uint64(20_000) {
		b.Add(formIn(1, scope, Same))
	}
	if _, n := b.Rates().P(&Case{Tenant: 1, Scope: 0, Explained: true}); n != 20_000 {
		t.Errorf("the tenant has %d observations", n)
	}
	rows := 0
	for _, s := range b.rates.scopes.shards {
		rows += len(s)
	}
	if rows > shards*depth {
		t.Errorf("%d scopes are kept", rows)
	}
	for scope := range uint64(20) {
		s := formIn(2, scope, 0)
		if c := b.rates.scopes.find(scopeID(&s.Case)); c.at(form).wrong != 3 {
			t.Errorf("scope %d of the other tenant has %v", scope, c)
		}
	}
}

func TestTopicWithErrorsServesLess(t *testing.T) {
	s := near(1, 1, 0.97, Same)
	b := NewBook(dense).times(400, s)
	s.Topic, s.Outcome = 7, Different
	b.Add(s)
	if e := b.errorOf(s); e <= 0.01 {
		t.Errorf("a topic with an error expects %v", e)
	}
	for _, topic := range []uint64{0, 8} {
		s.Topic = topic
		if e := b.errorOf(s); e > 0.01 {
			t.Errorf("topic %d expects %v", topic, e)
		}
	}
	s.Topic = 7
	if n := b.until(0.01, s); n > 60 {
		t.Errorf("the topic serves again after %d", n)
	}
}

// TestAddCommutes: the order of samples does not change an estimate, and published estimates never change.
func TestAddCommutes(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var samples []Sample
	for range 3000 {
		s := near(uint64(rng.IntN(20)), uint64(rng.IntN(30)), 0.8+0.2*rng.Float64(), Outcome(1+rng.IntN(2)))
		s.Explained, s.Topic, s.Source, s.Hit = rng.IntN(2) == 0, uint64(rng.IntN(5)), Source(1+rng.IntN(4)), rng.IntN(2) == 0
		samples = append(samples, s)
	}
	forward, backward := NewBook(dense), NewBook(dense)
	var early *Rates
	var was float64
	for i := range samples {
		forward.Add(samples[i])
		backward.Add(samples[len(samples)-1-i])
		if i == 1000 {
			early = forward.Rates()
			p, _ := early.P(&samples[0].Case)
			was = p
		}
	}
	for i, s := range samples {
		if p, q := forward.errorOf(s), backward.errorOf(s); p != q {
			t.Fatalf("case %d: %v and %v", i, p, q)
		}
	}
	if !reflect.DeepEqual(forward.Rates().Estimates(), backward.Rates().Estimates()) {
		t.Error("estimates differ with the order")
	}
	if p, _ := early.P(&samples[0].Case); p != was {
		t.Errorf("published estimates changed from %v to %v", was, p)
	}
}

func TestEstimates(t *testing.T) {
	b := NewBook(dense)
	if e := b.Rates().Estimates()[0]; e != (Estimate{Name: "all", High: 1}) {
		t.Errorf("nothing seen: %+v", e)
	}
	b.times(97, formIn(1, 1, Same)).times(3, formIn(1, 1, Different)).times(50, near(1, 1, 0.955, Same))
	ignored := near(1, 1, 0.955, Different)
	ignored.Source = Feedback
	b.Add(ignored)
	ignored.Source = Operator
	b.Add(ignored)
	ignored.Source, ignored.Hit = Explored, false
	b.Add(ignored)
	list := b.Rates().Estimates()
	if len(list) != 3 || list[0].Name != "all" || list[0].N != 150 || list[0].Wrong != 3 || list[1].Name != "form" || list[2].Name != "similarity 0.95" {
		t.Fatalf("%+v", list)
	}
	if e := list[1]; e.Mean != 0.03 || math.Abs(e.Low-0.0103) > 1e-3 || math.Abs(e.High-0.0845) > 1e-3 {
		t.Errorf("%+v", e) // the interval of 3 of 100
	}
}

func BenchmarkAdd(b *testing.B) {
	book := NewBook(dense)
	rng := rand.New(rand.NewPCG(3, 3))
	b.ReportAllocs()
	for b.Loop() {
		s := near(uint64(rng.IntN(100)), uint64(rng.IntN(10_000)), 0.8+0.2*rng.Float64(), Same)
		s.Topic = uint64(rng.IntN(1000))
		book.Add(s)
	}
}

func BenchmarkP(b *testing.B) {
	book := NewBook(dense)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100_000 {
		book.Add(near(uint64(rng.IntN(100)), uint64(rng.IntN(10_000)), 0.5+0.5*rng.Float64(), Same))
	}
	for name, s := range map[string]Sample{"form": formIn(1, 1, 0), "band": near(1, 1, 0.75, 0)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
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
