package kvstudy

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
)

// tiny is the setup of a study that takes a second. Its clock stands still.
func tiny(parallel int) Setup {
	return Setup{Seeds: []uint64{7, 8}, Parallel: parallel, Shrink: 50, Now: func() time.Time { return time.Time{} }}
}

func text(t *testing.T, p *report.Page) string {
	t.Helper()
	var b strings.Builder
	if err := report.Text(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestStudies: the text is that of the golden file, and neither it nor the results depend on Parallel.
func TestStudies(t *testing.T) {
	for _, name := range Names {
		page, results, err := Run(t.Context(), name, tiny(1))
		if err != nil {
			t.Fatal(err)
		}
		got := text(t, &page)
		clitest.Golden(t, name+".golden", got)
		for _, bad := range []string{"NaN", "+Inf", "-Inf", "Not complete"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: %s in the page", name, bad)
			}
		}
		if err := report.HTML(&strings.Builder{}, &page); err != nil {
			t.Error(err)
		}
		again, same, err := Run(t.Context(), name, tiny(3))
		if err != nil || text(t, &again) != got || !reflect.DeepEqual(same, results) {
			t.Errorf("%s: other figures with 3 at a time, or %v", name, err)
		}
		other := tiny(2)
		other.Seeds = []uint64{9, 10}
		if _, others, _ := Run(t.Context(), name, other); reflect.DeepEqual(others, results) {
			t.Errorf("%s: seeds 9 and 10 give the results of 7 and 8", name)
		}
		complete(t, name, &page)
	}
}

// complete: a page has three figures, plots before tables, generated traces by that name, and a measurement for each claim.
func complete(t *testing.T, name string, p *report.Page) {
	t.Helper()
	if len(p.Summary) != 3 {
		t.Errorf("%s: %d figures in the summary", name, len(p.Summary))
	}
	claims := 0
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Table != nil && strings.Contains(b.Table.Caption, "trace A") && !strings.Contains(b.Table.Caption, "generated") {
				t.Errorf("%s: table %q does not say that its trace is generated", name, b.Table.Caption)
			}
			if b.Claims == nil {
				continue
			}
			for _, c := range b.Claims.Items {
				if claims++; c.Claim == "" || c.Where == "" || c.Measured == "" || c.Why == "" {
					t.Errorf("%s: a part is missing of %+v", name, c)
				}
			}
		}
	}
	if claims < 6 {
		t.Errorf("%s: %d claims", name, claims)
	}
	if first := p.Sections[0].Blocks; first[0].Plot == nil && first[1].Plot == nil {
		t.Errorf("%s: no plot at the start", name)
	}
}

// TestInterrupted: at any time, a study returns what is complete.
func TestInterrupted(t *testing.T) {
	for _, name := range Names {
		for _, after := range []int{0, 3, 17} {
			ctx, stop := context.WithCancel(t.Context())
			s, n := tiny(1), 0
			s.Progress = func(string, int, int) {
				if n++; n > after {
					stop()
				}
			}
			page, _, err := Run(ctx, name, s)
			if !errors.Is(err, context.Canceled) || !strings.Contains(text(t, &page), "Not complete: it was interrupted.") {
				t.Errorf("%s after %d traces: %v", name, after, err)
			}
			stop()
		}
	}
}

func TestErrors(t *testing.T) {
	if _, _, err := Run(t.Context(), "none", tiny(1)); err == nil || err.Error() != `study "none": want `+strings.Join(Names, " or ") {
		t.Error(err)
	}
	if _, _, err := Run(t.Context(), "prefix", Setup{}); err == nil {
		t.Error("no error without seeds")
	}
	dir := t.TempDir()
	if err := CheckData(dir); err == nil || !strings.Contains(err.Error(), mooncake.path) {
		t.Error(err)
	}
	s := tiny(1)
	s.Data = dir
	if _, _, err := Run(t.Context(), "prefix", s); err == nil || !strings.Contains(err.Error(), oasst.name) {
		t.Errorf("%v, want an error with the name of the trace", err)
	}
}

// TestSizing: a server is busy for the given share of the time under the policy that it was sized for.
func TestSizing(t *testing.T) {
	l := newLab(t.Context(), tiny(1))
	trace, err := l.generated("chat", "qwen-a", 25000).open(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	speed, err := sizing{load: .6, share: .1}.of(t.Context(), trace)
	if err != nil {
		t.Fatal(err)
	}
	all, err := blocks.Replay(t.Context(), trace, blocks.Options{Policies: []string{"lru"}, Capacities: []blocks.Capacity{{Share: .1}}, Speed: speed})
	if err != nil {
		t.Fatal(err)
	}
	busy := all[0].Time.Mean * float64(len(trace.Requests)) / sizeOf(trace).seconds
	if busy < .55 || busy > .65 {
		t.Errorf("busy for %.2f of the time, want .6", busy)
	}
	still := *trace
	still.Requests = trace.Requests[:1]
	if _, err := (sizing{load: .6, share: .1}).of(t.Context(), &still); err == nil {
		t.Error("no error for a trace of one moment")
	}
}
