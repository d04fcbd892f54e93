// Package proxytest compares the proxy with replays: what it writes to its request log, and what it says about other settings.
package proxytest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/workload"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy/cache"
	"reprise/proxy/observe/whatif"
)

// lived is a window that got the requests of a trace, which a cache has answered.
func lived(t *testing.T, o whatif.Options, of whatif.Cache, all []sim.Request) *whatif.Window {
	t.Helper()
	e, err := registry.New(of.Policy, policy.Options{Capacity: of.Capacity.Entries})
	if err != nil {
		t.Fatal(err)
	}
	w, l, resident, gone := whatif.New(o), policy.NewLedger(e, of.Capacity), map[uint64]policy.ID{}, map[policy.ID]uint64{}
	arriver, _ := e.(policy.Arriver)
	for i := range all {
		r, at := &all[i], policy.Tick{Seq: int64(i + 1), At: all[i].At}
		p := cache.Passed{Who: policy.KeyOf(r.ID, r.Scope), Topic: policy.TopicID(r.Topic), Turn: r.Turn, Size: max(r.Size, 1), Tokens: int64(r.Cost), At: at}
		if r.Parent != 0 {
			p.Parent = policy.KeyOf(r.Parent, r.Scope)
		}
		id, hit := resident[p.Who]
		if p.Hit = hit; hit {
			l.Hit(id, at)
		} else {
			if arriver != nil {
				arriver.Arrive(p.Topic, at)
			}
			id = policy.ID(i + 1)
			resident[p.Who], gone[id] = id, p.Who
			for _, v := range l.Insert(policy.Item{ID: id, Key: p.Who, Topic: p.Topic, Parent: resident[p.Parent], Size: p.Size, Cost: r.Cost, Offset: int(r.Turn)}, at, nil) {
				delete(resident, gone[v])
				delete(gone, v)
			}
		}
		w.Pass(&p)
	}
	return w
}

// against is the mean and the largest absolute difference, in points, of the curves from full replays that count the same requests.
func against(t *testing.T, c *whatif.Curves, all []sim.Request) (mean, worst float64, points int) {
	t.Helper()
	o := sim.Options{Seed: 1, Warmup: len(all) - int(c.Window.Counted), Parallel: 2}
	var at []int
	for i, size := range c.Capacities {
		if !size.Enough {
			continue
		}
		at = append(at, i)
		x := sim.Capacity{Entries: int(size.Capacity)}
		if c.Unit == "bytes" {
			x = sim.Capacity{Bytes: size.Capacity}
		}
		o.Capacities = append(o.Capacities, x)
	}
	for _, p := range c.Policies {
		name := p.Policy
		if name == "rac+" && c.Unit == "bytes" { // the proxy maximises hits
			name = whatif.With(name, "value", "hits")
		}
		o.Policies = append(o.Policies, name)
	}
	start := time.Now()
	results, err := sim.Replay(t.Context(), &sim.Slice{Title: "log", All: all}, o)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	for k, p := range c.Policies {
		line := ""
		for i, place := range at {
			want := results[k*len(at)+i].HitRatio
			d := 100 * (*p.Ratios[place] - want)
			line += fmt.Sprintf(" %5.2f(%+.2f)", 100*want, d)
			mean, worst, points = mean+math.Abs(d), max(worst, math.Abs(d)), points+1
		}
		t.Logf("%-10s%s", p.Policy, line)
	}
	t.Logf("full replays took %v", took.Round(time.Millisecond))
	return mean / float64(max(points, 1)), worst, points
}

// TestCurvesAgainstReplays: what the window says differs from full replays of the same requests by at most one point in the mean.
func TestCurvesAgainstReplays(t *testing.T) {
	generated := func(spec string) func(*testing.T) []sim.Request {
		return func(t *testing.T) []sim.Request {
			s, err := workload.Generate(spec, 7)
			if err != nil {
				t.Fatal(err)
			}
			return s.All
		}
	}
	for _, c := range []struct {
		name    string
		all     func(*testing.T) []sim.Request
		o       whatif.Options
		entries int
		bytes   int64
	}{
		{"generated, all in the window", generated("syn:long=0,n=15000"), whatif.Options{Empty: true}, 500, 0},
		{"generated, in bytes", generated("drift:long=0,n=12000"), whatif.Options{Empty: true}, 100_000, 600_000},
		{"generated, a window of a part", generated("syn:long=0,n=40000"), whatif.Options{Rows: 20_000}, 500, 0},
		{"generated, a sample", generated("irm:s=0.8,items=20000,n=100000"), whatif.Options{Rows: 40_000}, 3000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := c.all(t)
			c.o.Seed = 5
			of := whatif.Cache{Policy: "rac+", Capacity: policy.Limit{Entries: c.entries, Bytes: c.bytes}}
			c.o.Capacity = of.Capacity
			w := lived(t, c.o, of, all)
			start := time.Now()
			study := whatif.NewStudy(w, whatif.NewPairs(), of)
			defer study.Close()
			got := study.Report(t.Context(), nil).Curves
			if got == nil {
				t.Fatal("no curves")
			}
			took := time.Since(start)
			mean, worst, points := against(t, got, all)
			t.Logf("%d requests, %d rows, share %.3f, computed in %v: mean absolute error %.3f points, worst %.2f, of %d", len(all), got.Window.Rows, got.Window.Rate,
				took.Round(time.Millisecond), mean, worst, points)
			t.Logf("%+v infinite %.4f %v", got.Window, got.Infinite, got.Notes)
			if mean > 1 || points == 0 {
				t.Errorf("mean absolute error %.3f points of %d figures, want at most 1", mean, points)
			}
		})
	}
}
