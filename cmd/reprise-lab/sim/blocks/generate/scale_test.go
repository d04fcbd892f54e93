package generate

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// burst is a trace whose arrivals are ten times as frequent in the second of four quarters as in the others.
func burst(t *testing.T) *blocks.Trace {
	t.Helper()
	all := trace(t, "qwen-b:requests=13000,rate=1", 5)
	for i := range all.Requests {
		switch at := float64(i); {
		case i < 1000:
			all.Requests[i].At = at
		case i < 11000:
			all.Requests[i].At = 1000 + (at-1000)/10
		default:
			all.Requests[i].At = at - 9000
		}
	}
	return all
}

func quarters(all *blocks.Trace) (n [4]float64) {
	for i := range all.Requests {
		n[min(3, int(all.Requests[i].At/1000))]++
	}
	return n
}

// TestScaleKeepsThePattern: there are factor times the arrivals in each part of the time, and the time does not grow.
func TestScaleKeepsThePattern(t *testing.T) {
	of := burst(t)
	before := quarters(of)
	for _, factor := range []float64{.3, 1, 1.5, 4} {
		all := scaled(t, of, factor, 1)
		if last := all.Requests[len(all.Requests)-1].At; last > of.Requests[len(of.Requests)-1].At || all.Requests[0].At < of.Requests[0].At {
			t.Errorf("×%g: from %v to %v", factor, all.Requests[0].At, last)
		}
		for q, n := range quarters(all) {
			// a minute at the edge of the burst is 600 requests, of which the copies may move by half of it in the mean
			if want := factor * before[q]; math.Abs(n-want) > 5*math.Sqrt(want)+400*max(0, factor-1) {
				t.Errorf("×%g: %v requests in quarter %d, want about %v", factor, n, q+1, want)
			}
		}
	}
}

func scaled(t *testing.T, of *blocks.Trace, factor float64, seed uint64) *blocks.Trace {
	t.Helper()
	all, err := Scale(of, factor, seed)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, all)
	return all
}

func TestScaleKeepsSessionsWhole(t *testing.T) {
	of := trace(t, "qwen-a:requests=4000,answers=yes", 1)
	kept := slices.Clone(of.Requests)
	sizes := func(all *blocks.Trace) (n map[int]int) {
		bySession := map[uint32]int{}
		for i := range all.Requests {
			bySession[all.Requests[i].Session]++
		}
		n = map[int]int{}
		for _, size := range bySession {
			n[size]++
		}
		return n
	}
	before, double := sizes(of), sizes(scaled(t, of, 2, 3))
	for size, n := range before {
		if double[size] != 2*n {
			t.Errorf("×2: %d sessions of %d requests, want %d", double[size], size, 2*n)
		}
	}
	half := scaled(t, of, .5, 3)
	places := map[[2]float64]int32{} // time and length: number
	for i := range of.Requests {
		places[[2]float64{of.Requests[i].At, float64(of.Requests[i].Prompt)}] = int32(i + 1)
	}
	for i := range half.Requests {
		r := &half.Requests[i]
		number := places[[2]float64{r.At, float64(r.Prompt)}]
		if number == 0 || of.Requests[number-1].GoesOn != r.GoesOn || (of.Requests[number-1].After == 0) != (r.After == 0) {
			t.Fatalf("×0.5: request %d %+v is not one of the trace with its session", i+1, r)
		}
	}
	if !reflect.DeepEqual(of.Requests, kept) {
		t.Error("the trace is changed")
	}
}

// TestScaleCopiesShare: a copy has the blocks that sessions share, and its own for the others.
func TestScaleCopiesShare(t *testing.T) {
	of := &blocks.Trace{Name: "three", Tokens: 16, Kinds: []string{"text"}, Distinct: 6, Requests: []blocks.Request{
		{At: 5, Prompt: 48, Answer: 1, Blocks: []uint32{0, 1, 2}, Turn: 1, Session: 7, User: 3, GoesOn: true},
		{At: 6, Prompt: 64, Answer: 1, Blocks: []uint32{0, 1, 3}, Turn: 1},
		{At: 9, Prompt: 80, Answer: 1, Blocks: []uint32{0, 1, 2, 4, 5}, Turn: 2, Session: 7, User: 3, After: 1},
	}}
	all, err := Scale(of, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 + 3*4; all.Distinct != want || len(all.Requests) != 9 || all.Note != "copies of sessions are generated" {
		t.Errorf("%d requests for %d blocks, want 9 for %d: %q", len(all.Requests), all.Distinct, want, all.Note)
	}
	users := map[uint32]int{}
	for i := range all.Requests {
		r := &all.Requests[i]
		if r.At < 5 || r.At > 9 || !slices.Equal(r.Blocks[:2], all.Requests[0].Blocks[:2]) {
			t.Errorf("request %d is %+v", i+1, r)
		}
		if r.After > 0 && !slices.Equal(all.Requests[r.After-1].Blocks, r.Blocks[:3]) {
			t.Errorf("request %d %v continues %v", i+1, r.Blocks, all.Requests[r.After-1].Blocks)
		}
		users[r.User]++
	}
	if want := map[uint32]int{0: 3, 3: 2, 4: 2, 5: 2}; !reflect.DeepEqual(users, want) {
		t.Errorf("requests of users %v, want %v", users, want)
	}
}

func TestScaleIsSeeded(t *testing.T) {
	of := trace(t, "qwen-a:requests=1000", 1)
	a, b, other := scaled(t, of, 1.5, 1), scaled(t, of, 1.5, 1), scaled(t, of, 1.5, 2)
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, other) {
		t.Error("a seed is one scaled trace, and another seed another one")
	}
}

func TestScaleErrors(t *testing.T) {
	of := trace(t, "growth:tokens=9", 1)
	for _, factor := range []float64{0, -1, math.NaN(), math.Inf(1), 1e9} {
		if _, err := Scale(of, factor, 1); err == nil || !strings.Contains(err.Error(), "want more than 0, and at most") {
			t.Errorf("factor %v: %v", factor, err)
		}
	}
}
