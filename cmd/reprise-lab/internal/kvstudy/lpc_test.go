package kvstudy

import (
	"math"
	"slices"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// tree is a conversation of two turns, whose second one has another branch, and one of a single turn.
func tree() *blocks.Trace {
	return &blocks.Trace{Name: "tree", Tokens: 16, Kinds: []string{"chat"}, Distinct: 100, Requests: []blocks.Request{
		{At: 0, Prompt: 32, Blocks: []uint32{10, 20}, Filled: []uint32{30}, Session: 7, Turn: 1, GoesOn: true, Prob: .5},
		{At: 5, Prompt: 16, Blocks: []uint32{90}, Session: 8, Turn: 1, Prob: .5},
		{At: 50, After: 1, Think: 50, Prompt: 48, Blocks: []uint32{10, 20, 30}, Session: 7, Turn: 2, Prob: .5, GoesOn: true},
		{At: 60, After: 1, Think: 60, Prompt: 48, Blocks: []uint32{10, 20, 40}, Session: 7, Turn: 2, Prob: .5, GoesOn: true},
		{At: 70, After: 4, Think: 10, Prompt: 64, Blocks: []uint32{10, 20, 40, 50}, Session: 7, Turn: 3, Prob: .5},
		{At: 80, After: 3, Think: 30, Prompt: 64, Blocks: []uint32{10, 20, 30, 60}, Session: 7, Turn: 3, Prob: .5},
	}}
}

func TestOneBranch(t *testing.T) {
	got := blocks.Compact(oneBranch(tree()))
	if err := got.Check(); err != nil {
		t.Fatal(err)
	}
	var after []int32
	for _, r := range got.Requests {
		after = append(after, r.After)
	}
	if want := []int32{0, 0, 1, 3}; !slices.Equal(after, want) || got.Distinct != 5 {
		t.Errorf("continuations %v, want %v; %d distinct blocks, want 5", after, want, got.Distinct)
	}
	if last := got.Requests[3].Blocks; !slices.Equal(last[:3], got.Requests[2].Blocks) || !slices.Equal(got.Requests[0].Blocks, last[:2]) || got.Requests[0].Filled[0] != last[2] {
		t.Errorf("chains %v, %v", got.Requests, last)
	}
}

// TestPaced: pauses keep their lengths or are stretched, turns their order, and the same number begins in a second.
func TestPaced(t *testing.T) {
	one := blocks.Compact(oneBranch(tree()))
	for _, stretch := range []float64{1, 3} {
		got, active := paced(one, stretch, 5)
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Requests {
			if r.After == 0 {
				continue
			}
			before := got.Requests[r.After-1]
			if math.Abs(r.At-before.At-r.Think) > 1e-9 || before.Session != r.Session || before.Turn != r.Turn-1 {
				t.Errorf("%+v after %+v", r, before)
			}
		}
		if want := (80.0 + 2*pause) / leastSeconds; math.Abs(active-want) > 1e-9 {
			t.Errorf("%v active, want %v", active, want)
		}
	}
}

func TestLiveTokens(t *testing.T) {
	// 32 tokens for 50 s, 48 for 30 s, in 80 s.
	if got := liveTokens(blocks.Compact(oneBranch(tree()))); got != (32*50+48*30)/80+1 {
		t.Errorf("%d live tokens", got)
	}
}

func TestInstructed(t *testing.T) {
	got := instructed(blocks.Compact(oneBranch(tree())), 3)
	if err := got.Check(); err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Requests {
		if len(r.Blocks) <= systemBlocks || r.After > 0 && !slices.Equal(r.Blocks[:systemBlocks], got.Requests[r.After-1].Blocks[:systemBlocks]) {
			t.Errorf("chain %v", r.Blocks)
		}
	}
}

// TestLinesHaveNames: each result of a corpus has a name of its own.
func TestLinesHaveNames(t *testing.T) {
	s := tiny(2)
	s.Seeds = s.Seeds[:1]
	_, results, err := Run(t.Context(), "lpc", s)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[blocks.Result]bool{}
	for _, r := range results {
		key := blocks.Result{Trace: r.Trace, Policy: r.Policy, Capacity: r.Capacity, Time: r.Time}
		if r.Trace == "chats.jsonl" && r.Capacity == results[8].Capacity {
			continue // the middle of the curve is played again beside other policies
		}
		if seen[key] {
			t.Errorf("%s at %s on %s twice", r.Policy, r.Capacity, r.Trace)
		}
		seen[key] = true
	}
}

// TestNeed: capacities are interpolated, and unknown outside of what was played.
func TestNeed(t *testing.T) {
	at := func(ratios ...float64) (all []blocks.Result) {
		for _, r := range ratios {
			all = append(all, blocks.Result{HitRatio: r})
		}
		return all
	}
	p := &played{sweep: sweep{policies: []string{"lru", "lpc"}, at: shares(.1, .2, .4)}, seeds: [][]blocks.Result{append(at(.1, .3, .5), at(.2, .4, .6)...)}}
	for _, tc := range []struct {
		policy      string
		ratio, want float64
	}{{"lru", .2, .15}, {"lru", .4, .3}, {"lpc", .4, .2}, {"lpc", .3, .15}, {"lru", .05, math.NaN()}, {"lpc", .7, math.NaN()}} {
		if got := p.need(tc.policy, 0, tc.ratio); math.Abs(got-tc.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(tc.want) {
			t.Errorf("%s needs %v for %v, want %v", tc.policy, got, tc.ratio, tc.want)
		}
	}
	talks := &talks{full: p}
	if got := talks.savings(p, "lpc", .4); len(got) != 1 || math.Abs(got[0]+1.0/3) > 1e-9 {
		t.Errorf("savings %v, want a third", got)
	}
	if got := p.between("lru", 0, .3); math.Abs(got-.4) > 1e-9 {
		t.Errorf("%v at 30 %%, want .4", got)
	}
}
