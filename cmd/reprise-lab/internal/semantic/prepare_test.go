package semantic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim"
	"reprise/embed"
)

func TestLoad(t *testing.T) {
	own := make([]float32, 384)
	own[0] = 1
	in := &sim.Slice{Title: "t", All: []sim.Request{
		{ID: 1, Content: &sim.Content{Text: "hello there"}},
		{ID: 2, Content: &sim.Content{Text: "hello there"}}, // embedded once
		{ID: 3, Content: &sim.Content{Text: "x", Vector: own}},
		{ID: 3},           // says what it said before
		{ID: 3, Scope: 1}, // and in another scope nothing
		{ID: 3, Content: &sim.Content{Text: "y"}},  // the vector of its identity stays
		{ID: 4, Content: &sim.Content{Text: "?!"}}, // no feature, no vector
	}}
	got, err := Load(t.Context(), in, embed.NewBuiltin(), func(int64, int64) {})
	if err != nil || got.Name() != "t" || Dim(got) != 384 {
		t.Fatal(got, err)
	}
	all := got.All
	if all[0].Content != all[1].Content || len(all[0].Content.Vector) != 384 || in.All[0].Content.Vector != nil {
		t.Errorf("%+v %+v", all[0].Content, all[1].Content)
	}
	if all[2].Content != all[3].Content || all[4].Content != nil || all[5].Content != all[2].Content || all[6].Content.Vector != nil {
		t.Errorf("%+v", all[2:])
	}
}

func TestLoadErrors(t *testing.T) {
	mixed := &sim.Slice{Title: "t", All: []sim.Request{{ID: 1, Content: &sim.Content{Vector: []float32{1, 0}}}, {ID: 2, Content: &sim.Content{Text: "hello there"}}}}
	if _, err := Load(t.Context(), mixed, embed.NewBuiltin(), func(int64, int64) {}); err == nil || !strings.HasPrefix(err.Error(), "load request 2 of t: a vector of 384 numbers among others of 2") {
		t.Error(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(done, mixed, embed.NewBuiltin(), func(int64, int64) {}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCluster: the first request of a topic represents it for good, and scopes share none.
func TestCluster(t *testing.T) {
	s := &sim.Slice{All: []sim.Request{
		said(1, 0), said(2, 25), said(3, 50), said(4, 26), said(5, 0, scope(1)), said(6, 0, speechless, topic(9)), said(7, 40),
	}}
	last := int64(0)
	if err := Cluster(t.Context(), s, math.Cos(30*math.Pi/180), func(done, total int64) { last = total - done }); err != nil || last != 1 {
		t.Errorf("%d left after the last: %v", last, err)
	}
	var got []uint64
	for _, r := range s.All {
		got = append(got, r.Topic)
	}
	// 26 is nearer to 50 than to 0.
	if want := "[1 1 2 2 3 0 2]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Cluster(done, s, 1, func(int64, int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
