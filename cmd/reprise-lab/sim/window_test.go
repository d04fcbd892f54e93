package sim

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
)

// TestWindowsAreDifferences: the figures of a window are those of a replay up to its end minus those of one up to its begin, and the windows
// are all requests that count.
func TestWindowsAreDifferences(t *testing.T) {
	whole := randomTrace(3, 2*batchSize+70)
	n := len(whole.All)
	for _, c := range []struct{ warmup, windows int }{{0, 1}, {0, 3}, {1000, 5}, {batchSize, 2}, {n - 3, 10}, {n + 9, 4}} {
		o := Options{Policies: []string{"lru", "rac+", "belady", "infinite"}, Capacities: []Capacity{{Entries: 50}}, Warmup: c.warmup, Windows: c.windows}
		results, err := Replay(t.Context(), whole, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Windows = 0
		begin := make([]Result, len(results))
		counted := max(n-c.warmup, 0)
		for k := range min(c.windows, counted) {
			to := c.warmup + (k+1)*counted/min(c.windows, counted)
			end, err := Replay(t.Context(), &Slice{Title: whole.Title, All: whole.All[:to]}, o)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range results {
				w := r.Windows[k]
				if w.Requests != end[i].Requests-begin[i].Requests || w.Hits != end[i].Hits-begin[i].Hits || w.First != int64(to)-w.Requests+1 ||
					w.HitRatio != float64(w.Hits)/float64(w.Requests) {
					t.Errorf("%+v: %s at %s: window %d is %+v", c, r.Policy, r.Capacity, k, w)
				}
			}
			begin = end
		}
		for i, r := range results {
			if len(r.Windows) != min(c.windows, counted) || begin[i].Hits != r.Hits {
				t.Errorf("%+v: %s at %s: %d windows", c, r.Policy, r.Capacity, len(r.Windows))
			}
		}
	}
}

// TestWindowsByTokens: one window has the ratios of the whole replay, and a policy has the regret of its objective: by tokens under a limit in
// bytes, or where its parameter says so.
func TestWindowsByTokens(t *testing.T) {
	o := Options{Policies: []string{"gdsf", "lru", "rac+", "rac+:value=hits", "belady"}, Capacities: []Capacity{{Entries: 90}, {Bytes: 20_000}}, Windows: 1}
	results, err := Replay(t.Context(), randomTrace(4, 5000), o)
	if err != nil {
		t.Fatal(err)
	}
	tokens := 0
	for i, r := range results {
		w := r.Windows[0]
		if w.HitRatio != r.HitRatio || w.TokenHitRatio != r.TokenHitRatio {
			t.Errorf("%s at %s: %+v", r.Policy, r.Capacity, w)
		}
		best := 0.0
		for j := i % 2; j < 8; j += 2 {
			best = max(best, results[j].Windows[0].Measure(r.Objective))
		}
		own := r.HitRatio
		if r.Objective == ObjectiveTokens {
			own, tokens = r.TokenHitRatio, tokens+1
		}
		if w.Regret != best-own || w.Regret < 0 && !r.Bound {
			t.Errorf("%s at %s: regret %v, best %v", r.Policy, r.Capacity, w.Regret, best)
		}
	}
	if results[8].Windows[0].Regret >= 0 || tokens != 3 {
		t.Errorf("belady has regret %v, %d results are by tokens", results[8].Windows[0].Regret, tokens)
	}
}

// fakePanel is an LRU with two experts. The leader changes at every tenth request.
type fakePanel struct {
	classic.LRU
	silent bool // lists no changes
	stats  policy.PanelStats
	asked  int // for Stats
}

func (f *fakePanel) Insert(it policy.Item, at policy.Tick) {
	f.LRU.Insert(it, at)
	f.count(at, 0)
}

func (f *fakePanel) Hit(id policy.ID, at policy.Tick) {
	f.LRU.Hit(id, at)
	f.count(at, 1)
}

func (f *fakePanel) count(at policy.Tick, hit float64) {
	s := &f.stats
	if s.Experts == nil {
		s.Experts = []policy.ExpertStats{{Name: "all"}, {Name: "none"}}
	}
	s.Asked, s.Hits = s.Asked+1, s.Hits+hit
	s.Experts[0].Hits++
	for i := range s.Experts {
		s.Experts[i].Asked++
	}
	if at.Seq%10 == 0 {
		from := s.Experts[s.Leader].Name
		s.Leader = 1 - s.Leader
		s.Changed++
		if s.Changes = append(s.Changes, policy.Change{Seq: at.Seq, From: from, To: s.Experts[s.Leader].Name, Ahead: 5, Needed: 4}); f.silent {
			s.Changes = nil
		}
	}
}

func (f *fakePanel) Stats() policy.PanelStats {
	f.asked++
	s := f.stats
	s.Experts = append([]policy.ExpertStats(nil), s.Experts...)
	return s
}

func (f *fakePanel) Snapshot() []byte     { return nil }
func (f *fakePanel) Restore([]byte) error { return nil }

// TestWindowsOfAPanel: a window has the changes of its own requests, and those of the warm-up are in none.
func TestWindowsOfAPanel(t *testing.T) {
	for _, silent := range []bool{false, true} {
		f := &fakePanel{silent: silent}
		var all []Request
		for i := range uint64(55) {
			all = append(all, Request{ID: 1 + i%2})
		}
		r, err := playPanel(t, f, &Options{Parallel: 1, Warmup: 15, Windows: 4}, all)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range r.Windows {
			text := fmt.Sprintf("%d+%d: %d, %s, %d changes, regret %g:", w.First, w.Requests, w.Hits, w.Panel.Leader, w.Panel.Changed, w.Panel.Regret)
			for _, c := range w.Panel.Changes {
				text += fmt.Sprintf(" %d %s>%s", c.Seq, c.From, c.To)
			}
			got = append(got, text)
		}
		want := []string{"16+10: 10, all, 1 changes, regret 0:", "26+10: 10, none, 1 changes, regret 0:", "36+10: 10, all, 1 changes, regret 0:", "46+10: 10, none, 1 changes, regret 0:"}
		if !silent {
			for k, change := range []string{" 20 none>all", " 30 all>none", " 40 none>all", " 50 all>none"} {
				want[k] += change
			}
		}
		if !reflect.DeepEqual(got, want) || f.asked != 5 {
			t.Errorf("silent %v, %d times asked: got %q\nwant %q", silent, f.asked, got, want)
		}
	}
}

func playPanel(t *testing.T, e policy.Evictor, o *Options, all []Request) (Result, error) {
	trace := &Slice{Title: "panel", All: all}
	p, err := survey(t.Context(), trace, o)
	if err != nil {
		t.Fatal(err)
	}
	c := &cell{windows: newRecorder(e, o)}
	c.open(e, policy.Limit{Entries: 2}, p.ids.n)
	last, err := playAll(t.Context(), newFeed(trace, p, o), []runner{c}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c.finish(last.asked, last.full)
}

// TestWindowsStop: where a replay ends early, the last window has what was played of it.
func TestWindowsStop(t *testing.T) {
	whole := randomTrace(2, 3*batchSize)
	o := Options{Policies: []string{"lru", "infinite"}, Capacities: []Capacity{{Entries: 100}}, Windows: 2}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(done, total int64) {
		if total > 0 && done >= 2*(int64(len(whole.All))/2+batchSize) {
			cancel()
		}
	}
	results, err := Replay(ctx, whole, o)
	if err == nil {
		t.Fatal("it was not interrupted")
	}
	for _, r := range results {
		sum := int64(0)
		for _, w := range r.Windows {
			sum += w.Requests
		}
		if sum != r.Requests || r.Requests == 0 || len(r.Windows) != 2 || r.Windows[1].Requests >= r.Windows[0].Requests {
			t.Errorf("%s: %d requests in windows, %d in all: %+v", r.Policy, sum, r.Requests, r.Windows)
		}
	}
}
