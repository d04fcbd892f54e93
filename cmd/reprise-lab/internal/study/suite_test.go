package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// tiny is the setup of a study that takes a second.
func tiny(parallel int) Setup { return Setup{Seeds: []uint64{7, 8}, Parallel: parallel, Shrink: 20} }

func rendered(t *testing.T, p report.Page) string {
	t.Helper()
	var b strings.Builder
	if err := errors.Join(report.Text(&b, &p), report.HTML(&b, &p)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestStudies: every part and every policy is there, and the page does not depend on Parallel.
func TestStudies(t *testing.T) {
	for _, name := range Names {
		var first string
		var results []sim.Result
		for _, parallel := range []int{1, 3} {
			page, all, err := Run(t.Context(), name, tiny(parallel))
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				all[i].Seconds = 0
			}
			text := rendered(t, page)
			if name == "rac" && first == "" {
				allClaims(t, page)
			}
			if first == "" {
				first, results = text, all
			}
			if text != first || !reflect.DeepEqual(all, results) {
				t.Errorf("%s: the page differs with %d traces at a time", name, parallel)
			}
		}
		for _, p := range (&lab{}).contenders() {
			if name == "rac" && strings.Count(first, label(p)) < 2 {
				t.Errorf("%s is not in the study %s", p, name)
			}
		}
		if strings.Contains(first, "NaN") || strings.Contains(first, "Inf") || strings.Contains(first, "Not complete") {
			t.Errorf("%s: figures are missing or not numbers:\n%s", name, first)
		}
	}
}

// allClaims: every claim has its three parts if everything was played, and there are no claims without figures.
func allClaims(t *testing.T, page report.Page) {
	t.Helper()
	claims := 0
	for _, b := range page.Sections[0].Blocks {
		if b.Terms == nil {
			continue
		}
		claims++
		for _, item := range b.Terms.Items {
			// A small study has only the regime lru, and no gate of 0.4 or 0.85.
			if item.Text == "" {
				t.Errorf("%s: %s nothing", b.Terms.Title, item.Name)
			}
		}
	}
	if claims < 9 {
		t.Errorf("%d claims", claims)
	}
	if none := (&findings{}).claims(); len(none.Blocks) != 1 {
		t.Errorf("claims without figures: %+v", none.Blocks)
	}
}

// TestStudyInterrupted: complete settings are shown, incomplete ones are not.
func TestStudyInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := tiny(1)
	s.Progress = func(part string, done, _ int) {
		if done == 3 { // the second trace of the second setting is not played yet
			stop()
		}
	}
	page, results, err := Run(ctx, "rac", s)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if want := 2 * len((&lab{}).contenders()); len(results) != want {
		t.Errorf("%d results, want %d", len(results), want)
	}
	text := rendered(t, page)
	if !strings.Contains(text, "Not complete") || !strings.Contains(text, "long 0.5 W") || strings.Contains(text, "long 0.9 W") {
		t.Errorf("got\n%s", text)
	}
}

// TestStudyFails: an error names the part and the setting, and ends the study.
func TestStudyFails(t *testing.T) {
	broken := errors.New("broken")
	s := tiny(2)
	s.Given = []sim.Trace{failing{broken}}
	_, _, err := Run(t.Context(), "rac", s)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "RQ2: disk, seed ") {
		t.Errorf("error %v", err)
	}
}

// failing is a trace whose reading fails.
type failing struct{ err error }

func (f failing) Name() string { return "disk" }

func (f failing) Requests() iter.Seq2[sim.Request, error] {
	return func(yield func(sim.Request, error) bool) { yield(sim.Request{}, f.err) }
}

// TestPlayOnce: settings with the same known value are played once, and shown under each of their names.
func TestPlayOnce(t *testing.T) {
	var played atomic.Int32
	s := func(name, known string, once bool) setting {
		return setting{name: name, known: known, once: once, policies: []string{"lru"}, capacities: shares(50),
			trace: func(seed uint64) (sim.Trace, error) {
				played.Add(1)
				return &sim.Slice{Title: name, All: []sim.Request{{ID: 1}, {ID: seed}, {ID: 1}}}, nil
			}}
	}
	l := newLab(t.Context(), Setup{Seeds: []uint64{1, 2, 3}, Parallel: 2})
	for _, all := range [][]setting{{s("a", "x", false), s("b", "y", true), s("c", "", true)}, {s("d", "x", false), s("e", "", true)}} {
		out, err := l.play("part", all)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range out {
			if o.name != all[i].name || len(o.rows(HitRatio)) != 1 {
				t.Errorf("outcome %+v of %s", o, all[i].name)
			}
		}
	}
	if played.Load() != 3+1+1+1 || len(l.all) != 6 {
		t.Errorf("%d traces played, %d results", played.Load(), len(l.all))
	}
}

func TestFigures(t *testing.T) {
	rows := []Row{
		{Case: "a", Values: map[string][]float64{"x": {0.2, 0.4}, "y": {0.1, 0.1}, "p": {0.3, 0.6}, "belady": {0.9, 0.9}}},
		{Case: "b", Values: map[string][]float64{"x": {0.1, 0.1}, "y": {0.5, 0.5}, "p": {0.4, 0.4}, "belady": {0.5, 0.5}}},
	}
	more := over(rows, []string{"x", "y"}, "p")
	best, average, first := relative(rows, "p", []string{"x", "y"})
	got := []float64{more.worst, more.mean, best, average, float64(first)}
	for i, want := range []float64{-0.1, 0.025, (0.5 - 0.2) / 2, (0.45/0.2 - 1 + 0.4/0.3 - 1) / 2, 1} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("figure %d is %v, want %v", i, got[i], want)
		}
	}
	if more.at != "b" {
		t.Errorf("the worst is %s", more.at)
	}
	table := compared("", rows, []string{"x", "y"}, []string{"p"})
	want := "[[{a false} { false} {x false} {30.00 false} {+15.00 ± 63.53 false} {25% false} {90.00 false}] " +
		"[{b false} { false} {y false} {50.00 false} {-10.00 false} { false} {50.00 false}]]"
	if got := fmt.Sprint(table.Rows); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestForms: with the parameters of the paper rac has exactly the hits of rac-paper.
func TestForms(t *testing.T) {
	l := newLab(t.Context(), tiny(1))
	out, err := l.play("part", []setting{l.generated("syn", "syn", []string{literal, "rac" + plainForm}, shares(2.5, 20)...)})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range allRows(out, HitRatio) {
		if !reflect.DeepEqual(r.Values[literal], r.Values["rac"+plainForm]) {
			t.Errorf("at %s: %v", r.Capacity, r.Values)
		}
	}
}

func TestCounter(t *testing.T) {
	var members float64
	e, err := policies.New(literal, policy.Options{Capacity: 10})
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{counted: e.(counted), topic: map[policy.ID]policy.TopicID{}, members: map[policy.TopicID]int{}, note: func(v float64) { members = v }}
	for i, topic := range []policy.TopicID{1, 1, 2, 1, 3} {
		c.Insert(policy.Item{ID: policy.ID(i + 1), Topic: topic}, policy.Tick{Seq: int64(i + 1)})
	}
	if members != 5./3 {
		t.Errorf("%v members, want 5/3", members)
	}
	c.Remove(3, policy.Evicted)
	c.Remove(3, policy.Evicted)
	c.Insert(policy.Item{ID: 6, Topic: 1}, policy.Tick{Seq: 6})
	if members != 5./2 {
		t.Errorf("%v members, want 5/2", members)
	}
}
