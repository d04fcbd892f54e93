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

// TestInTemplates: requests of one topic are in one template, and equal ones in an equal prompt.
func TestInTemplates(t *testing.T) {
	s := &sim.Slice{Title: "t"}
	for i := range uint64(200) {
		s.All = append(s.All, said(1+i, 0, topic(1+i%50), text(fmt.Sprintf("what is thing %d", i))), said(1+i, 0, topic(99), text("its identity decides")))
	}
	s.All = append(s.All, said(999, 0), said(1000, 0, speechless))
	fronts := map[uint64]map[string]bool{}
	all := InTemplates(s).All
	for i, r := range all[:400] {
		front, _, found := strings.Cut(r.Content.Text, s.All[i&^1].Content.Text)
		if !found || r.Content.Vector != nil || r.ID != s.All[i].ID || i%2 == 1 && r.Content != all[i-1].Content {
			t.Fatalf("request %d is %+v", i, r)
		}
		if i%2 == 0 {
			if fronts[r.Topic] == nil {
				fronts[r.Topic] = map[string]bool{}
			}
			fronts[r.Topic][front] = true
		}
	}
	different := map[string]bool{}
	for topic, of := range fronts {
		if len(of) != 1 {
			t.Errorf("topic %d has %d templates or documents", topic, len(of))
		}
		for front := range of {
			different[front] = true
		}
	}
	if len(different) < 10 || all[400].Content.Vector == nil || all[401].Content != nil {
		t.Errorf("%d templates; without a text %+v", len(different), all[400:])
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
