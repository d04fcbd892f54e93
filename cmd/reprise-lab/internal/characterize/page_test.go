package characterize

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// chats is a trace of conversations of two kinds and three users, with two beginnings.
func chats(requests int) *blocks.Trace {
	rng := rand.New(rand.NewPCG(5, 5))
	var n blocks.Numbers
	t := &blocks.Trace{Name: "chats <b>", Generated: true, Tokens: 16, Kinds: []string{"text", "search"}}
	last := map[uint32]int{}
	at := 0.0
	for i := range requests {
		at += rng.ExpFloat64() * 3
		session := uint32(1 + i*rng.IntN(8)/8)
		r := blocks.Request{At: at, Session: session, User: 1 + session%3, Kind: uint16(session % 2), Turn: 1, Answer: int32(50 + rng.IntN(100))}
		chain := n.Chain(nil, []uint64{uint64(session % 2), 1, 2})
		if before, ok := last[session]; ok {
			q := &t.Requests[before]
			q.GoesOn = true
			r.Turn, r.After = q.Turn+1, int32(before+1)
			chain = append(append([]uint32(nil), q.Blocks...), q.Filled...)
		}
		r.Blocks = n.Chain(chain, []uint64{rng.Uint64(), rng.Uint64()})
		if i%2 == 0 {
			r.Filled = n.Chain(append([]uint32(nil), r.Blocks...), []uint64{rng.Uint64()})[len(r.Blocks):]
		}
		r.Prompt = int32(16 * len(r.Blocks))
		last[session] = i
		t.Requests = append(t.Requests, r)
	}
	t.Distinct = n.Len()
	return t
}

// bare is a trace without conversations and users.
func bare(requests int) *blocks.Trace {
	t := chats(requests)
	t.Name, t.Generated, t.Kinds = "bare", false, []string{"request"}
	for i := range t.Requests {
		r := &t.Requests[i]
		*r = blocks.Request{At: r.At, Prompt: r.Prompt, Answer: r.Answer, Blocks: r.Blocks, Turn: 1}
	}
	return t
}

func profileOf(t *testing.T, trace *blocks.Trace, o profile.Options) *profile.Profile {
	t.Helper()
	p, err := profile.Of(trace, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func textOf(t *testing.T, page *report.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b, page); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, page := range map[string]*report.Page{
		"chats.golden": Page([]*profile.Profile{profileOf(t, chats(400), profile.Options{})}, blocks.DefaultBytesPerToken, "reprise-lab characterize --trace x"),
		"two.golden":   Page([]*profile.Profile{profileOf(t, bare(60), profile.Options{Sample: 0.01}), profileOf(t, chats(60), profile.Options{Window: 30})}, 327680, ""),
	} {
		clitest.Golden(t, name, textOf(t, page))
	}
}

// TestHTML: the plots of a profile are drawn, and its texts are escaped.
func TestHTML(t *testing.T) {
	page := Page([]*profile.Profile{profileOf(t, chats(400), profile.Options{})}, blocks.DefaultBytesPerToken, "reprise-lab characterize --trace x")
	plots, maps := 0, 0
	for _, s := range page.Sections {
		for _, b := range s.Blocks {
			if b.Plot != nil {
				plots++
				for _, l := range b.Plot.Lines {
					if len(l.Points) == 0 {
						t.Errorf("plot %s: line %s has no points", b.Plot.Title, l.Name)
					}
				}
			}
			if b.Heat != nil {
				maps++
			}
		}
	}
	if plots != 12 || maps < 6 {
		t.Errorf("%d plots, %d maps", plots, maps)
	}
	var b bytes.Buffer
	if err := report.HTML(&b, page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chats &lt;b&gt;", "<svg", "Kaplan"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in the page", want)
		}
	}
}

// TestSmall: traces without hits, blocks or requests have a page.
func TestSmall(t *testing.T) {
	one := bare(1)
	none := &blocks.Trace{Name: "none", Tokens: 16, Kinds: []string{"text"}, Requests: []blocks.Request{{Prompt: 1}, {At: 5, Prompt: 1}}}
	for _, trace := range []*blocks.Trace{one, none, {Name: "empty", Tokens: 16, Kinds: []string{"text"}}} {
		page := Page([]*profile.Profile{profileOf(t, trace, profile.Options{})}, blocks.DefaultBytesPerToken, "")
		var b bytes.Buffer
		if err := report.HTML(&b, page); err != nil {
			t.Errorf("%s: %v", trace.Name, err)
		}
		for _, text := range []string{textOf(t, page), b.String()} {
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s:\n%s", trace.Name, text)
			}
		}
	}
	if text := textOf(t, Page(nil, 1, "")); !strings.Contains(text, "A workload") {
		t.Errorf("no trace: %s", text)
	}
}

func TestFormat(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.00123: "0.0012", 0.5: "0.50", 9.999: "10.0", 42: "42.0", 1234.4: "1,234", -3: "-3.00"} {
		if got := digits(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for x, want := range map[float64]string{0: "a millisecond", 0.02: "20 ms", 0.5: "0.5 s", 60: "60 s", 300: "5 min", 3600 * 10: "10 h", 1e6: "11.6 days"} {
		if got := duration(x); got != want {
			t.Errorf("%v s: %s, want %s", x, got, want)
		}
	}
	curve := []profile.Point{{X: 10, Y: 0.5}, {X: 20, Y: 0.7}}
	for x, want := range map[float64]float64{0: 0, 5: 0.25, 10: 0.5, 15: 0.6, 20: 0.7, 30: 1} {
		if got := below(curve, x); got-want > 1e-12 || want-got > 1e-12 {
			t.Errorf("below %v: %v, want %v", x, got, want)
		}
	}
}
