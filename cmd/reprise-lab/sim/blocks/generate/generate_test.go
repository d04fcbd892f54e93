package generate

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

func trace(t *testing.T, spec string, seed uint64) *blocks.Trace {
	t.Helper()
	all, err := New(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var small = []string{"qwen-a:requests=3000", "qwen-a:requests=2000,answers=yes", "qwen-b:requests=3000", "qwen-b:requests=500,answers=yes", "growth:tokens=50,step=7"}

func TestSameSeedSameTrace(t *testing.T) {
	for _, spec := range small {
		a := trace(t, spec, 3)
		if !reflect.DeepEqual(a, trace(t, spec, 3)) {
			t.Errorf("%s: seed 3 gives two traces", spec)
		}
		if again := trace(t, a.Name, 4); !reflect.DeepEqual(a, again) {
			t.Errorf("%s: its name %s makes another trace", spec, a.Name)
		}
		if other := trace(t, spec, 4); !strings.HasPrefix(spec, "growth") && reflect.DeepEqual(a.Requests, other.Requests) {
			t.Errorf("%s: seeds 3 and 4 give one trace", spec)
		}
	}
}

func TestTracesAreSound(t *testing.T) {
	for _, spec := range small {
		all := trace(t, spec, 1)
		if !all.Generated || all.Name == "" {
			t.Errorf("%s: %q, generated %v", spec, all.Name, all.Generated)
		}
		sound(t, all)
	}
}

// sound checks what every reader of a trace relies on.
func sound(t *testing.T, all *blocks.Trace) {
	t.Helper()
	if err := all.Check(); err != nil {
		t.Fatal(err)
	}
	continued, used := map[int32]bool{}, make([]bool, all.Distinct)
	for i := range all.Requests {
		r := &all.Requests[i]
		if r.Turn < 1 || len(r.Blocks) != int(r.Prompt)/all.Tokens {
			t.Fatalf("%s: request %d is %+v", all.Name, i+1, r)
		}
		if r.After > 0 {
			follows(t, all, i)
			continued[r.After] = true
		}
		for _, b := range slices.Concat(r.Blocks, r.Filled) {
			used[b] = true
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		t.Errorf("%s: no request has block %d of %d", all.Name, i, all.Distinct)
	}
	for i := range all.Requests {
		if n := int32(i + 1); all.Requests[i].GoesOn != continued[n] {
			t.Fatalf("%s: request %d: goes on %v, continued %v", all.Name, n, all.Requests[i].GoesOn, continued[n])
		}
	}
}

func follows(t *testing.T, all *blocks.Trace, i int) {
	t.Helper()
	r := &all.Requests[i]
	before := &all.Requests[r.After-1]
	if before.Session != r.Session || before.Kind != r.Kind || before.User != r.User || before.Turn >= r.Turn || before.At > r.At {
		t.Fatalf("%s: request %d %+v is after %+v", all.Name, i+1, r, before)
	}
	known := slices.Concat(before.Blocks, before.Filled)
	if len(r.Blocks) < len(known) || !slices.Equal(r.Blocks[:len(known)], known) {
		t.Fatalf("%s: request %d: %d blocks, which do not begin with the %d of request %d", all.Name, i+1, len(r.Blocks), len(known), r.After)
	}
}

func TestSpecErrors(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", `unknown generator of blocks "": want one of qwen-a, qwen-b, growth`},
		{"qwen", `unknown generator of blocks "qwen": want one of`},
		{"qwen-a:requests", `generator "qwen-a:requests": "requests" is no parameter: want key=value`},
		{"qwen-a:requests=0", "requests=0: want a whole number from 1 to 10000000"},
		{"qwen-b:rate=0", "rate=0: want a number from 0.001 to 1000000"},
		{"qwen-b:rate=NaN", "rate=NaN: want a number"},
		{"growth:users=1", `no parameter "users": want tokens, step, seed`},
	} {
		if _, err := New(c.spec, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.spec, err, c.want)
		}
	}
	if _, err := New("none", 1); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v is not ErrUnknown", err)
	}
}

func TestListIsMade(t *testing.T) {
	for _, info := range List() {
		if info.Says == "" || len(trace(t, info.Name, 1).Requests) == 0 {
			t.Errorf("%s: %q", info.Name, info.Says)
		}
		for _, p := range info.Params {
			if p.Says == "" {
				t.Errorf("%s: %s has no description", info.Name, p.Name)
			}
		}
	}
}

// TestGrowth: each request is the one before and a block, as paper 003 validates its count of hits.
func TestGrowth(t *testing.T) {
	all := trace(t, "growth", 1)
	if len(all.Requests) != 1000 || all.Tokens != 1 || all.Distinct != 1000 {
		t.Fatalf("%d requests, %d blocks of %d tokens", len(all.Requests), all.Distinct, all.Tokens)
	}
	for i := range all.Requests {
		if got := len(all.Requests[i].Blocks); got != i+1 {
			t.Fatalf("request %d has %d blocks", i+1, got)
		}
	}
	if last := trace(t, "growth:tokens=50,step=7", 1).Requests[7]; last.Prompt != 50 || last.GoesOn {
		t.Errorf("the last of 50 tokens in steps of 7 is %+v", last)
	}
}
