package matching

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// play plays a trace by m and returns the results, how they were made, and the cache of the first policy if its
// topics can be counted.
func play(t *testing.T, m Flags, in sim.Trace, policies ...string) ([]sim.Result, *replay.Prepared, sized) {
	t.Helper()
	p, err := m.Prepare(t.Context(), in, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	var first sized
	model := p.Model
	if model != nil {
		model = func(e policy.Evictor, limit policy.Limit) (sim.Player, error) {
			x, err := p.Model(e, limit)
			if first == nil {
				first, _ = x.(sized)
			}
			return x, err
		}
	}
	results, err := sim.Replay(t.Context(), p.Trace, sim.Options{Policies: policies, Capacities: []sim.Capacity{{Entries: 1000}}, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	return results, p, first
}

// TestLiteralThreshold: with one gate for topics and answers, as in paper 002, a request that would join a topic is answered by
// it instead. Topics have more than one member only if their anchor changed or, where only the same item is a hit, if a few
// items are that near to each other.
func TestLiteralThreshold(t *testing.T) {
	in, err := replay.Generate("syn:vectors=on", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		hit, route, least, most float64
	}{{.85, .85, 1, 1.06}, {.999, .85, 1.01, 1.06}, {.85, .4, 3, 100}} {
		results, p, cache := play(t, Flags{Model: byRequest, Hit: c.hit, Route: c.route}, in, "rac")
		entries, topics := cache.Sizes()
		members := float64(entries) / float64(topics)
		t.Logf("hit %v, route %v: %d entries in %d topics: %.3f", c.hit, c.route, entries, topics, members)
		if members < c.least || members > c.most {
			t.Errorf("hit %v, route %v: %.3f members in a topic, want %v to %v", c.hit, c.route, members, c.least, c.most)
		}
		want := fmt.Sprintf("members per topic at the end: rac@1000 %.2f", members)
		if legend := p.Legend(results); !strings.Contains(legend, "heuristics") || !strings.Contains(legend, want) {
			t.Errorf("the legend is %q", legend)
		}
	}
}

// TestRequestsAreIDs: if only the same item is near enough, the requests model and the ids model have the same hits.
func TestRequestsAreIDs(t *testing.T) {
	in, err := replay.Generate("syn:vectors=on,n=4000,long=0", 3)
	if err != nil {
		t.Fatal(err)
	}
	policies := []string{"lru", "sieve", "rac", "rac-paper", "rac+", "infinite"}
	want, _, _ := play(t, Flags{Model: byID}, in, policies...)
	got, _, _ := play(t, Flags{Model: byRequest, Topics: given, Hit: 1 - 1e-6}, in, policies...)
	for i := range want {
		if got[i].Hits != want[i].Hits || math.Abs(got[i].TokensSaved-want[i].TokensSaved) > 1e-6 {
			t.Errorf("%s: %d hits by meaning, %d by identity", want[i].Policy, got[i].Hits, want[i].Hits)
		}
	}
}

func TestModelOf(t *testing.T) {
	for in, want := range map[string]string{
		"5\n6\n":                       byID,
		`{"id":5,"text":"hi"}`:         byID,
		`{"id":"hi","text":"hello"}`:   byID,
		`{"text":"hi"}`:                byRequest,
		`{"vector":[3,4]}`:             byRequest,
		`{"turns":[["U","a"]]}`:        byRequest,
		`{"id":"hi","vector":[0.5,1]}`: byID,
	} {
		trace, err := replay.Open(clitest.Write(t, "in", in), "auto", 1)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if got := modelOf(trace); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestMatchingErrors(t *testing.T) {
	for _, c := range []struct {
		m        Flags
		in, want string
	}{
		{Flags{Model: "id"}, "", "--model \"id\": want one of auto, ids, requests; did you mean ids?"},
		{Flags{Hit: 1.5}, "", "--hit 1.5: want a cosine above 0, at most 1"},
		{Flags{Hit: math.NaN()}, "", "--hit NaN: want a cosine above 0, at most 1"},
		{Flags{Hit: .5, Route: .6}, "", "--route 0.6 is above --hit 0.5"},
		{Flags{Lookback: -1}, "", "--lookback -1: want 1 or more"},
		{Flags{Model: byID, Topics: routed}, "", "by identity nothing is compared"},
		{Flags{Topics: routed}, "5\n6\n", "by ids: --topics routed goes with"},
		{Flags{Parents: detected}, "5\n6\n", "by ids: --parents detected goes with"},
		{Flags{Topics: clustered}, "5\n6\n", "nothing can be compared"},
		{Flags{Model: byRequest}, "5\n6\n", "nothing can be compared"},
		{Flags{Model: byRequest}, `{"vector":[1,0]}` + "\n" + `{"text":"hello there"}`, "a vector of 384 numbers among others of 2"},
	} {
		err := c.m.Check()
		if c.in != "" {
			if err != nil {
				t.Fatal(err)
			}
			in, failed := replay.Open(clitest.Write(t, "in", c.in), "auto", 1)
			if failed != nil {
				t.Fatal(failed)
			}
			_, err = c.m.Prepare(t.Context(), in, func(int64, int64) {})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.m, err, c.want)
		}
	}
}

// TestClustered: in the ids model too, topics can be clustered from the texts.
func TestClustered(t *testing.T) {
	in, err := replay.Generate("syn:vectors=on,n=500,long=0", 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Flags{Model: byID, Topics: clustered, Route: .4}.Prepare(t.Context(), in, func(int64, int64) {})
	if err != nil || p.Model != nil || !strings.Contains(p.Note, "topics are clustered from 0.4 on") {
		t.Fatal(p, err)
	}
	labels := map[uint64]bool{}
	for r := range p.Trace.Requests() {
		labels[r.Topic] = true
	}
	if len(labels) < 10 || len(labels) > 120 || labels[0] {
		t.Errorf("%d topics", len(labels))
	}
	if in.All[0].Topic == 0 || in.All[0].Topic > 120 {
		t.Error("the trace was changed")
	}
}
