package generate

import (
	"math"
	"testing"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// TestCalibration measures traces of the published size. All figures that two hours can have must be within 10 %.
func TestCalibration(t *testing.T) {
	for _, name := range []string{"qwen-a", "qwen-b"} {
		target, ok := Published(name)
		if !ok {
			t.Fatalf("%s has no target", name)
		}
		t.Logf("%s, seed 1: target, measured", name)
		for _, f := range Calibration(trace(t, name, 1), target) {
			t.Logf("%-34s %9.3f %9.3f %+5.1f %%", f.Name, f.Target, f.Measured, 100*(f.Measured/f.Target-1))
			if !f.Shown && !f.Near(.1) {
				t.Errorf("%s: %s is %.4g, want %.4g within 10 %%", name, f.Name, f.Measured, f.Target)
			}
		}
	}
}

func TestNothingElseIsPublished(t *testing.T) {
	if target, ok := Published("growth"); ok {
		t.Errorf("growth has the target %+v", target)
	}
}

// TestFigures measures a trace whose figures can be counted: the sessions of two users that share block 0, the first of two requests.
func TestFigures(t *testing.T) {
	all := &blocks.Trace{Name: "three", Tokens: 10, Kinds: []string{"text", "api"}, Distinct: 7, Requests: []blocks.Request{
		{At: 1, Prompt: 30, Answer: 25, Blocks: []uint32{0, 1, 6}, Turn: 1, Session: 1, User: 1, GoesOn: true},
		{At: 3, Prompt: 20, Answer: 9, Blocks: []uint32{0, 5}, Kind: 1, Turn: 1, Session: 2, User: 2},
		{At: 11, Prompt: 60, Answer: 15, Blocks: []uint32{0, 1, 6, 2, 3, 4}, Turn: 2, Session: 1, User: 1, After: 1},
	}}
	if err := all.Check(); err != nil {
		t.Fatal(err)
	}
	m := newMeasure(all)
	for _, c := range []struct {
		name string
		got  figure
		want float64
	}{
		{"ideal", ideal, 4. / 11}, {"ideal of text", idealOf("text"), 3. / 9}, {"ideal of api", idealOf("api"), 1. / 2}, {"ideal of none", idealOf("x"), 0},
		{"LRU of 1 block", lru(1. / 7), 2. / 11}, {"LRU of 2 blocks", lru(2. / 7), 2. / 11}, {"LRU of 3 blocks", lru(3. / 7), 3. / 11},
		{"LRU of 4 blocks", lru(4. / 7), 4. / 11},
		{"gap of text", gapOf("text"), 10}, {"gap of api", gapOf("api"), 2}, {"same session", sameSession, 2. / 4}, {"others", otherSession, 2. / 4},
		{"text", share(every, ofKind("text")), 2. / 3}, {"follow-ups", share(every, continues), 1. / 3}, {"singles", share(begins, ends), 1. / 2},
		{"later turns of text", share(ofKind("text"), later), 1. / 2}, {"first turns that go on", share(firstSettled, goesOn), 1. / 2},
		{"mean", mean(input), 110. / 3}, {"p50", quantileOf(output, .5), 15}, {"gap", followUpGap(.9), 10}, {"busiest user", busiest(.5), 1. / 2}, {"all users", busiest(1), 1},
		{"new api blocks", everReused("api"), 0}, {"longest life", lifespan(1), 10}, {"life of three of eight", lifespan(.37), 0}, {"life of five", lifespan(.38), 10},
		{"prompts with three of seven", promptLifespan(.57), 0}, {"prompts with four of seven", promptLifespan(.58), 10},
		{"reuses in 2 s", within(2), 1. / 4}, {"reuses in 8 s", within(8), 2. / 4}, {"three of four hits", mostHits(.75), 1. / 2}, {"all hits", mostHits(1), 1},
	} {
		if got := c.got(m); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
