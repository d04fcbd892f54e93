package generate

import (
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Figure is a published statistic of a trace beside that of another one.
type Figure struct {
	Name     string
	Target   float64
	Measured float64 // NaN: the trace has nothing of it, such as no second turn
	// Shown marks a figure that is no target of the generator: one of a whole day in papers/001, one that the generator does not reach, or a
	// second reading of a target. That four of five later turns have a next one, counted by request, contradicts the other figures: with
	// 46.3 % follow-ups and 61 % sessions of one request, 55 % of the follow-ups have one.
	Shown bool
}

// Near reports whether the measured value is within a share of the target.
func (f Figure) Near(share float64) bool {
	return f.Measured >= f.Target*(1-share) && f.Measured <= f.Target*(1+share)
}

// Target is the published statistics of one trace.
type Target struct {
	Name  string // of the trace's generator
	wants []want
}

type want struct {
	name   string
	value  float64
	figure figure
	shown  bool // Figure.Shown
}

// Published returns the statistics that the generator of a name is calibrated to. Only qwen-a and qwen-b have some.
func Published(name string) (Target, bool) {
	i := slices.IndexFunc(targets, func(t Target) bool { return t.Name == name })
	if i < 0 {
		return Target{}, false
	}
	return targets[i], true
}

// Calibration measures the published figures on a trace that passes Check, in some 1 s for ten million blocks.
//
// The published calculations are not public in each detail. Here ratios and reuse gaps are of the blocks of prompts: a hit is one of an
// infinite cache that keeps prompts and not answers, its gap is the time since the last request with that block, and it is of the same
// session if that request was. The figures that begin with goes on leave out the last quarter of the trace, whose sessions are cut.
func Calibration(t *blocks.Trace, target Target) []Figure {
	all := make([]Figure, len(target.wants))
	m := newMeasure(t)
	for i, w := range target.wants {
		all[i] = Figure{w.name, w.value, w.figure(m), w.shown}
	}
	return all
}

// targets are the statistics of the published two hours, and after the turns also those in the text of paper 001 §3 (figures 5, 7, 8, 9,
// 11, 12, 19 and its introduction).
var targets = []Target{
	{"qwen-a", slices.Concat(
		curve(.579, .176, .410, .500, .562, .578),
		kinds("share of requests, ", func(k string) figure { return share(every, ofKind(k)) }, .7372, .1901, .0376, .0351),
		kinds("ideal hit ratio, ", idealOf, .692, .488, .781, .551),
		kinds("median reuse gap (s), ", gapOf, 47.7, 111.8, 4.8, 152.4),
		[]want{
			{"hits of the same session", .711, sameSession, false},
			{"hits of other sessions", .289, otherSession, false},
			{"follow-up gap p50, s", 110.6, followUpGap(.5), false},
			{"follow-up gap p90, s", 718.5, followUpGap(.9), false},
			{"follow-up share of requests", .463, share(every, continues), false},
			{"single-request share of sessions", .61, share(begins, ends), false},
		},
		sizes(2331, 1046, 14359, 430, 375, 1641),
		kinds("later turns, ", func(k string) figure { return share(ofKind(k), later) }, .47, .49, .10, .51),
		[]want{
			{"turn p90", 5, quantileOf(turn, .9), false},
			{"longest session, turns", mostTurns, quantileOf(turn, 1), true},
			{"goes on after turn 1", .5, share(firstSettled, goesOn), false},
			{"goes on after later turns", .8, laterGoesOn, false},
			{"goes on after later turns, requests", .8, share(laterSettled, goesOn), true},
			{"reuses in the top 10 % of blocks", .77, topReuses, false},
			{"reuses in the top 10 %, prompts alone", .77, promptTopReuses, true},
			{"lifespan p90, s", 612, lifespan(.9), false},
			{"lifespan p90, s, prompts alone", 612, promptLifespan(.9), true},
			{"reuses within 10 minutes", .8, within(600), true},
			{"users with 50 % of requests", .19, busiest(.5), false},
			{"users with 90 % of requests", .72, busiest(.9), false},
			{"users with 90 % of hits", .19, mostHits(.9), true},
		},
	)},
	{"qwen-b", slices.Concat(
		curve(.542, .462, .516, .528, .537, .541),
		[]want{
			{"share of requests, api", .8735, share(every, ofKind("api")), false},
			{"share of requests, text", .1265, share(every, ofKind("text")), false},
			{"median reuse gap (s), api", 2.3, gapOf("api"), false},
			{"hits of other sessions", 1, otherSession, false},
			{"single-request share of sessions", 1, share(begins, ends), false},
			{"new api blocks that are reused", .023, everReused("api"), false},
		},
		sizes(915, 574, 6294, 92, 39, 1006),
		[]want{
			{"reuses within 10 s", .8, within(10), true},
			{"lifespan p90, s", .3, lifespan(.9), true},
			{"lifespan p99, s", 97, lifespan(.99), true},
			{"users with 90 % of requests", .15, busiest(.9), true},
			{"users with 90 % of hits", .04, mostHits(.9), true},
		},
	)},
}

func curve(all, at1, at5, at10, at25, at50 float64) []want {
	return []want{
		{"ideal hit ratio", all, ideal, false},
		{"LRU at 1 % of distinct", at1, lru(.01), false},
		{"LRU at 5 % of distinct", at5, lru(.05), false},
		{"LRU at 10 % of distinct", at10, lru(.10), false},
		{"LRU at 25 % of distinct", at25, lru(.25), false},
		{"LRU at 50 % of distinct", at50, lru(.50), false},
	}
}

// kinds is a figure for each type of trace A.
func kinds(name string, of func(kind string) figure, text, search, image, file float64) []want {
	return []want{
		{name + "text", text, of("text"), false}, {name + "search", search, of("search"), false},
		{name + "image", image, of("image"), false}, {name + "file", file, of("file"), false},
	}
}

// sizes are mean, median and 99th percentile of prompts and answers in tokens.
func sizes(inMean, in50, in99, outMean, out50, out99 float64) []want {
	return []want{
		{"input mean, tokens", inMean, mean(input), false}, {"input p50", in50, quantileOf(input, .5), false}, {"input p99", in99, quantileOf(input, .99), false},
		{"output mean, tokens", outMean, mean(output), false}, {"output p50", out50, quantileOf(output, .5), false}, {"output p99", out99, quantileOf(output, .99), false},
	}
}
