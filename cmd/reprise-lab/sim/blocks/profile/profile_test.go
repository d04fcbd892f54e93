package profile

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/mrc"
)

func profileOf(t *testing.T, trace *blocks.Trace, o Options) *Profile {
	t.Helper()
	p, err := Of(trace, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// each runs a check on random traces.
func each(t *testing.T, check func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile)) {
	for seed := range uint64(4) {
		trace := talk(seed, 150)
		check(t, trace, newNaive(trace), profileOf(t, trace, Options{Window: 40}))
	}
}

func TestTotalsAreNaive(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		sum := func(in func(*blocks.Request) bool) (want Totals, multi, next int) {
			for i := range trace.Requests {
				if r := &trace.Requests[i]; in(r) {
					want.add(Totals{Requests: 1, Blocks: int64(len(r.Blocks)), Hits: n.hits(i)})
					if r.Turn > 1 {
						multi++
					}
					if r.GoesOn {
						next++
					}
				}
			}
			return want, multi, next
		}
		if want, _, _ := sum(anyRequest); p.Totals != want || p.Distinct != len(n.uses) {
			t.Errorf("%+v, %d distinct; want %+v, %d", p.Totals, p.Distinct, want, len(n.uses))
		}
		for _, g := range slices.Concat(p.Kinds, p.Categories) {
			want, multi, next := sum(groupsOf(trace, g.Name))
			if g.Totals != want || g.Multi != ratio(multi, want.Requests) || g.Next != ratio(next, want.Requests) {
				t.Errorf("%s: %+v, want %+v, %d, %d", g.Name, g, want, multi, next)
			}
		}
		if len(p.Kinds) != 3 || !slices.IsSortedFunc(p.Categories, func(a, b Group) int { return b.Requests - a.Requests }) {
			t.Errorf("%d kinds, or categories that are not sorted", len(p.Kinds))
		}
		for i, w := range p.Windows {
			if want, _, _ := sum(func(r *blocks.Request) bool { return int((r.At-trace.Requests[0].At)/40) == i }); w.Totals != want || w.From != float64(40*i) {
				t.Errorf("window %d: %+v, want %+v", i, w, want)
			}
		}
	})
}

func TestSourcesAreNaive(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		var same, own, all int64
		between := map[[2]uint32]int64{}
		n.pairs(func(r, before *blocks.Request) {
			all++
			if r.Session == before.Session {
				same++
			}
			if r.User == before.User {
				own++
			}
			between[[2]uint32{r.User, before.User}]++
		})
		if s := p.Sources; s.Same != ratio(same, all) || s.Same+s.Other != 1 || s.Single.Hits+s.Multi.Hits != all || !near(s.SingleShare+s.MultiShare, 1) {
			t.Errorf("%+v, want %d of %d of the same conversation", s, same, all)
		}
		if p.Users.Own != ratio(own, all) || p.Users.Users != 4 || len(p.Users.Top) != 4 {
			t.Errorf("%+v, want %d of %d own", p.Users, own, all)
		}
		hits := map[uint32]int64{}
		for i := range trace.Requests {
			hits[trace.Requests[i].User] += n.hits(i)
		}
		if !slices.IsSortedFunc(p.Users.Top, func(a, b uint32) int { return int(hits[b] - hits[a]) }) {
			t.Errorf("users %v with %v hits: want those with the most first", p.Users.Top, hits)
		}
		for i, a := range p.Users.Top {
			if p.Users.TopHits[i] != hits[a] {
				t.Errorf("user %d: %d hits, want %d", a, p.Users.TopHits[i], hits[a])
			}
			for k, b := range p.Users.Top {
				if p.Users.Between[i][k] != between[[2]uint32{a, b}] {
					t.Errorf("users %d and %d: %d hits, want %d", a, b, p.Users.Between[i][k], between[[2]uint32{a, b}])
				}
			}
		}
	})
}

// TestReuseIsNaive: counts, mean and quantiles of the gaps, and the estimate of Kaplan and Meier over the same steps.
func TestReuseIsNaive(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		for _, r := range p.Reuse {
			gaps, ages := n.gaps(groupsOf(trace, r.Name))
			mean := 0.0
			for _, g := range gaps {
				mean += g / float64(len(gaps))
			}
			if r.Uses != int64(len(gaps)+len(ages)) || r.Reused != int64(len(gaps)) || !near(r.Mean, mean) {
				t.Errorf("%s: %d of %d in %v s, want %d of %d in %v", r.Name, r.Reused, r.Uses, r.Mean, len(gaps), len(gaps)+len(ages), mean)
			}
			sort.Float64s(gaps)
			for q, got := range map[float64]float64{0.5: r.P50, 0.9: r.P90, 0.99: r.P99} {
				if want := blocks.Quantile(gaps, q); len(gaps) > 0 && math.Abs(got/want-1) > 0.006 {
					t.Errorf("%s: quantile %v is %v, want %v", r.Name, q, got, want)
				}
			}
			for _, c := range r.Gaps {
				if n := sort.SearchFloat64s(gaps, c.X); !near(c.Y, float64(n)/float64(len(gaps))) {
					t.Errorf("%s: %v below %v s, want %d of %d", r.Name, c.Y, c.X, n, len(gaps))
				}
			}
			for i, point := range r.Within {
				if i%9 != 0 && i < len(r.Within)-1 {
					continue // each costs a pass over all uses and steps
				}
				if want := kaplanMeier(gaps, ages, point.X); !near(point.Y, want) {
					t.Errorf("%s: %v within %v s, want %v", r.Name, point.Y, point.X, want)
				}
			}
			if r.Fit.P <= 0 || r.Fit.P >= 1 || !(r.Fit.Mean > 0) || !(r.Fit.KS >= 0 && r.Fit.KS <= 1) || !(r.Fit.R2 <= 1) {
				t.Errorf("%s: %+v", r.Name, r.Fit)
			}
		}
	})
}

// kaplanMeier is the probability of an event up to an edge, from times in the same steps.
func kaplanMeier(gaps, ages []float64, edgeAt float64) float64 {
	still := 1.0
	for k := 0; edge(k) <= edgeAt*(1+1e-9); k++ {
		events, left := 0, 0
		for _, g := range gaps {
			if stepOf(classOf(g)) == k {
				events++
			}
			if stepOf(classOf(g)) >= k {
				left++
			}
		}
		for _, a := range ages {
			if stepOf(classOf(a)) >= k {
				left++
			}
		}
		if left > 0 {
			still *= 1 - float64(events)/float64(left)
		}
	}
	return 1 - still
}

// TestFitFindsTheTruth: blocks that return after an exponential time with a share that never does are fitted, with a small distance.
func TestFitFindsTheTruth(t *testing.T) {
	trace := exponential(20_000, 0.6, 80)
	r := profileOf(t, trace, Options{}).Reuse[0]
	if math.Abs(r.Fit.P-0.6) > 0.02 || math.Abs(r.Fit.Mean/80-1) > 0.05 || r.Fit.KS > 0.02 || r.Fit.R2 < 0.99 {
		t.Errorf("%+v, want 0.6 and 80 s", r.Fit)
	}
	// The distance is to the estimate: a wrong mean has a large one.
	wrong := Fit{P: 0.6, Mean: 800}
	if wrong.measure(r.Within); wrong.KS < 0.2 || wrong.R2 > 0.9 {
		t.Errorf("a wrong fit has %+v", wrong)
	}
}

func TestSpatialIsNaive(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		for _, s := range p.Spatial {
			in := groupsOf(trace, s.Name)
			for stride := 1; stride <= 10; stride++ {
				for offset := range 11 - stride {
					if got, want := s.Ratios[stride-1][offset], n.kept(in, offset, stride); !near(got, want) {
						t.Errorf("%s: stride %d0 %%, offset %d0 %%: %v, want %v", s.Name, stride, offset, got, want)
					}
				}
			}
		}
		if whole := p.Spatial[0]; whole.Ratios[9][0] != p.HitRatio || whole.Blocks != p.Blocks {
			t.Errorf("all of each request: %v, ideal %v", whole.Ratios[9][0], p.HitRatio)
		}
	})
}

func TestLifespansAreNaive(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		for _, l := range p.Lifespans {
			spans := n.spans(groupsOf(trace, l.Name))
			sum := 0.0
			for _, s := range spans {
				sum += s
			}
			if l.P99 > l.Max || l.P50 > l.P90 || l.P90 > l.P99 {
				t.Errorf("%s: quantiles %v, %v, %v up to %v", l.Name, l.P50, l.P90, l.P99, l.Max)
			}
			for q, got := range map[float64]float64{0.5: l.P50, 0.9: l.P90, 0.99: l.P99} {
				if want := blocks.Quantile(spans, q); want >= shortest && math.Abs(got/want-1) > 0.006 {
					t.Errorf("%s: quantile %v is %v, want %v", l.Name, q, got, want)
				}
			}
			if l.Blocks != len(spans) || !near(l.Mean, sum/float64(max(1, len(spans)))) || !near(l.Max, blocks.Quantile(spans, 1)) {
				t.Errorf("%s: %+v, want %d of mean %v, at most %v", l.Name, l, len(spans), sum/float64(len(spans)), blocks.Quantile(spans, 1))
			}
			for _, c := range l.CDF {
				if n := sort.SearchFloat64s(spans, c.X); !near(c.Y, float64(n)/float64(len(spans))) {
					t.Errorf("%s: %v below %v s, want %d of %d", l.Name, c.Y, c.X, n, len(spans))
				}
			}
		}
		most, sum := int64(0), 0.0
		for i := range trace.Requests {
			needed := n.needed(i)
			most, sum = max(most, needed), sum+float64(needed)
		}
		if p.Needed.Most != most || !near(p.Needed.Mean, sum/float64(len(trace.Requests))) {
			t.Errorf("%+v, want at most %d, mean %v", p.Needed, most, sum/float64(len(trace.Requests)))
		}
	})
}

func TestMapsAreNaive(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		for r, name := range p.Turns.Next.Rows {
			in := groupsOf(trace, name)
			for c, got := range p.Turns.Next.Values[r] {
				next, all := 0, 0
				for i := range trace.Requests {
					if q := &trace.Requests[i]; in(q) && int((q.At-trace.Requests[0].At)/p.Turns.Next.Step) == c {
						if all++; q.GoesOn {
							next++
						}
					}
				}
				if got != ratio(next, all) || p.Turns.Next.Counts[r][c] != int64(all) {
					t.Errorf("%s, column %d: %v of %d, want %d of %d", name, c, got, p.Turns.Next.Counts[r][c], next, all)
				}
			}
			sum, blocks := 0.0, int64(0)
			for c, mean := range p.LifeMap.Values[r] {
				sum += mean * float64(p.LifeMap.Counts[r][c])
				blocks += p.LifeMap.Counts[r][c]
			}
			want := 0.0
			spans := n.spans(in)
			for _, s := range spans {
				want += s
			}
			if int(blocks) != len(spans) || !near(sum, want) {
				t.Errorf("%s: lifespans of %v in %d blocks, want %v in %d", name, sum, blocks, want, len(spans))
			}
		}
	})
}

func TestTurns(t *testing.T) {
	each(t, func(t *testing.T, trace *blocks.Trace, n *naive, p *Profile) {
		turns, users := map[uint32]int{}, map[uint32]uint32{}
		for _, r := range trace.Requests {
			turns[r.Session] = max(turns[r.Session], int(r.Turn))
			users[r.Session] = r.User
		}
		var all []int
		by := map[uint32][]int{}
		for s, n := range turns {
			all = append(all, n)
			by[users[s]] = append(by[users[s]], n)
		}
		slices.Sort(all)
		mean, sd := moments(all)
		if p.Turns.Sessions != len(all) || !near(p.Turns.Mean, mean) || !near(p.Turns.SD, sd) || p.Turns.Most != all[len(all)-1] || p.Turns.P50 != blocks.Quantile(all, 0.5) {
			t.Errorf("%+v, want %d sessions, mean %v, sd %v", p.Turns, len(all), mean, sd)
		}
		for _, c := range p.Turns.CDF {
			if want := below(all, int(c.X)); c.Y != want {
				t.Errorf("%v of the sessions have at most %v turns, want %v", c.Y, c.X, want)
			}
		}
		for _, u := range p.Users.Turns {
			if mean, sd := moments(by[u.User]); !near(u.Mean, mean) || !near(u.SD, sd) || u.Sessions != len(by[u.User]) {
				t.Errorf("user %d: %+v, want %v and %v of %d", u.User, u, mean, sd, len(by[u.User]))
			}
		}
	})
}

func TestSkew(t *testing.T) {
	s := skewOf([]int64{0, 50, 10, 40, 0, 0, 0, 0, 0, 0})
	want := Skew{Half: 0.1, Most: 0.2, Curve: []Point{{0.1, 0.5}, {0.2, 0.9}, {0.3, 1}, {0.5, 1}, {0.7, 1}, {1, 1}}}
	for i, p := range want.Curve {
		k := slices.IndexFunc(s.Curve, func(q Point) bool { return q.X == p.X })
		if k < 0 || s.Curve[k].Y != p.Y {
			t.Errorf("point %d: %+v, want %+v", i, s.Curve, p)
		}
	}
	if s.Half != want.Half || s.Most != want.Most {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// TestLRU: the curve is that of package mrc, and the least capacity for 90 % of the ideal.
func TestLRU(t *testing.T) {
	trace := talk(8, 600)
	p := profileOf(t, trace, Options{Window: 100})
	c, err := mrc.Blocks(trace, mrc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.LRU.Curve {
		if r.HitRatio != c.HitRatio(float64(r.Blocks)) {
			t.Errorf("%d blocks: %v, want %v", r.Blocks, r.HitRatio, c.HitRatio(float64(r.Blocks)))
		}
	}
	if c.HitRatio(float64(p.LRU.Most)) < 0.9*p.HitRatio-1e-9 || c.HitRatio(float64(p.LRU.Most-1)) >= 0.9*p.HitRatio || p.LRU.Rate != 1 {
		t.Errorf("%+v: %v at the capacity for 90 %%, ideal %v", p.LRU, c.HitRatio(float64(p.LRU.Most)), p.HitRatio)
	}
	hits := 0.0
	for _, w := range p.Windows {
		hits += w.LRU[1] * float64(w.Blocks)
	}
	if want := c.HitRatio(float64(p.LRU.Capacities[1])); !near(hits/float64(p.Blocks), want) {
		t.Errorf("%v in the windows, want %v", hits/float64(p.Blocks), want)
	}
}

// TestAbsent: a trace without conversations and users has no fields about them.
func TestAbsent(t *testing.T) {
	trace := talk(1, 50)
	for i := range trace.Requests {
		r := &trace.Requests[i]
		r.Session, r.User, r.Turn, r.After, r.GoesOn = 0, 0, 1, 0, false
	}
	p := profileOf(t, trace, Options{})
	if p.Sources != nil || p.Turns != nil || p.Users != nil || p.Categories != nil {
		t.Errorf("%+v", p)
	}
	for _, r := range p.Reuse {
		if strings.Contains(r.Name, "turn") {
			t.Errorf("reuse of %s", r.Name)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"sources"`, `"turns"`, `"users"`, `"categories"`} {
		if strings.Contains(string(text), field) {
			t.Errorf("JSON has %s", field)
		}
	}
}

func TestSmallTraces(t *testing.T) {
	empty := &blocks.Trace{Name: "empty", Tokens: 16, Kinds: []string{"text"}}
	one := &blocks.Trace{Name: "one", Tokens: 16, Kinds: []string{"text"}, Distinct: 1, Requests: []blocks.Request{{At: 5, Prompt: 1, Blocks: []uint32{0}, Turn: 1}}}
	none := &blocks.Trace{Name: "none", Tokens: 16, Kinds: []string{"text"}, Requests: []blocks.Request{{Prompt: 1}, {Prompt: 2}}}
	for _, trace := range []*blocks.Trace{empty, one, none} {
		for _, o := range []Options{{}, {Window: 1, Sample: 0.01}} {
			p := profileOf(t, trace, o)
			if p.HitRatio != 0 || p.Requests != len(trace.Requests) || p.Needed.Most != 0 {
				t.Errorf("%s: %+v", trace.Name, p)
			}
			if _, err := json.Marshal(p); err != nil {
				t.Errorf("%s: %v", trace.Name, err)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	trace := talk(1, 50)
	bad := talk(1, 50)
	bad.Requests[3].Kind = 9
	for _, c := range []struct {
		trace *blocks.Trace
		o     Options
		want  string
	}{
		{trace, Options{Window: -1}, "window of -1 s: want"},
		{trace, Options{Window: math.Inf(1)}, "want a positive number of seconds"},
		{trace, Options{Window: 1e-3}, "want at most 10000 of them"},
		{trace, Options{Sample: 2}, "sample of 2: want a share"},
		{trace, Options{Sample: math.NaN()}, "want a share"},
		{bad, Options{}, "request 4: kind 9: want"},
	} {
		if _, err := Of(c.trace, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}
