package generate

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

func TestMix(t *testing.T) {
	a, b := trace(t, "qwen-a:requests=2000,answers=yes", 1), trace(t, "qwen-b:requests=3000", 1)
	b.Generated = false
	kept := slices.Clone(a.Requests)
	all, err := Mix("both", a, b)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, all)
	if want := []string{"text", "search", "image", "file", "api"}; !slices.Equal(all.Kinds, want) {
		t.Errorf("kinds %v, want %v", all.Kinds, want)
	}
	if all.Distinct != a.Distinct+b.Distinct || len(all.Requests) != len(a.Requests)+len(b.Requests) || all.Name != "both" {
		t.Errorf("%s: %d requests for %d blocks", all.Name, len(all.Requests), all.Distinct)
	}
	if !all.Generated || all.Note != a.Name+" is generated" {
		t.Errorf("generated %v, %q", all.Generated, all.Note)
	}
	part(t, all, a, 0)
	part(t, all, b, uint32(a.Distinct))
	if !reflect.DeepEqual(a.Requests, kept) {
		t.Error("a mixed trace is changed")
	}
}

// part requires that the requests of all with blocks from first on are those of a trace.
func part(t *testing.T, all, of *blocks.Trace, first uint32) {
	t.Helper()
	n, sessions, users := 0, map[uint32]uint32{}, map[uint32]uint32{}
	for i := range all.Requests {
		got := &all.Requests[i]
		if len(got.Blocks) == 0 || got.Blocks[0] < first || got.Blocks[0] >= first+uint32(of.Distinct) {
			continue
		}
		for len(of.Requests[n].Blocks) == 0 {
			n++ // a prompt without a whole block
		}
		want := of.Requests[n]
		n++
		moved := make([]uint32, len(want.Blocks))
		for k, b := range want.Blocks {
			moved[k] = b + first
		}
		if got.At != want.At-of.Requests[0].At || !slices.Equal(got.Blocks, moved) || all.Kinds[got.Kind] != of.Kinds[want.Kind] || got.Turn != want.Turn {
			t.Fatalf("%s: request %d of the mix is %+v, want %+v", of.Name, i+1, got, want)
		}
		if was, ok := sessions[got.Session]; ok && was != want.Session {
			t.Fatalf("sessions %d and %d are one", was, want.Session)
		}
		if was, ok := users[got.User]; ok && was != want.User {
			t.Fatalf("users %d and %d are one", was, want.User)
		}
		sessions[got.Session], users[got.User] = want.Session, want.User
		if got.After > 0 && &got.Blocks[0] != &all.Requests[got.After-1].Blocks[0] {
			t.Fatalf("request %d of the mix does not share the memory of the one that it continues", i+1)
		}
	}
}

func TestMixOfTimes(t *testing.T) {
	early, late := trace(t, "growth:tokens=3", 1), trace(t, "growth:tokens=2", 1)
	for i := range late.Requests {
		late.Requests[i].At += 1e6
	}
	all, err := Mix("mix", early, late)
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for i := range all.Requests {
		got = append(got, int32(all.Requests[i].Session), all.Requests[i].After)
	}
	if want := []int32{1, 0, 2, 0, 1, 1, 2, 2, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("sessions and predecessors %v, want %v", got, want)
	}
	if !all.Generated || all.Note != "" {
		t.Errorf("a mix of generated traces: generated %v, %q", all.Generated, all.Note)
	}
}

func TestMixErrors(t *testing.T) {
	a, one := trace(t, "qwen-a:requests=10", 1), trace(t, "growth", 1)
	broken := *a
	broken.Kinds = nil
	for _, c := range []struct {
		traces []*blocks.Trace
		want   string
	}{
		{nil, "mix: no traces: want at least 1"},
		{[]*blocks.Trace{a, one}, "has blocks of 16 tokens and growth:seed=1 of 1: want equal ones"},
		{[]*blocks.Trace{a, &broken}, "mix: trace qwen-a:requests=10,seed=1: blocks of 16 tokens and 0 kinds"},
	} {
		if _, err := Mix("mix", c.traces...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
