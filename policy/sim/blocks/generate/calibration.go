package generate

import (
	"slices"

	"reprise/policy/sim/blocks"
)

// Figure is a published statistic of a trace beside that of another one.
type Figure struct {
	Name             string
	Target, Measured float64
}

// Near reports whether the measured value is within a share of the target.
func (f Figure) Near(share float64) bool {
	return f.Measured >= f.Target*(1-share) && f.Measured <= f.Target*(1+share)
}

// Target is the published statistics of one trace.
type Target struct {
	Name  string
	wants []want
}

type want struct {
	name   string
	value  float64
	figure func(*measure) float64
}

// Published are the targets of the generators that have some: by the name of the generator.
func Published(name string) (Target, bool) {
	i := slices.IndexFunc(targets, func(t Target) bool { return t.Name == name })
	if i < 0 {
		return Target{}, false
	}
	return targets[i], true
}

// Calibration measures each published figure on a trace, in one pass and some sorting: 2 s for ten million blocks.
//
// Ratios are of blocks of prompts, those of answers do not count. A reuse gap is the time since the last request with that block, over all
// hits of an infinite cache; a hit is of the same session where that request was. Lifespan is the time from the first request with a block
// to the last, 0 for most.
func Calibration(t *blocks.Trace, target Target) []Figure {
	m := newMeasure(t)
	all := make([]Figure, len(target.wants))
	for i, w := range target.wants {
		all[i] = Figure{w.name, w.value, w.figure(m)}
	}
	return all
}

// targets: paper 001 for what its text says of a whole day, else the statistics of the published two hours.
var targets = []Target{
	{"qwen-a", slices.Concat(
		[]want{{"ideal hit ratio", .579, (*measure).ideal}},
		curve(.176, .410, .500, .562, .578),
		[]want{
			{"share of text", .7372, requestsOf("text")}, {"share of search", .1901, requestsOf("search")},
			{"share of image", .0376, requestsOf("image")}, {"share of file", .0351, requestsOf("file")},
			{"ideal hit ratio, text", .692, idealOf("text")}, {"ideal hit ratio, image", .781, idealOf("image")},
			{"ideal hit ratio, file", .551, idealOf("file")}, {"ideal hit ratio, search", .488, idealOf("search")},
			{"median reuse gap, text, s", 47.7, gapOf("text")}, {"median reuse gap, image, s", 4.8, gapOf("image")},
			{"median reuse gap, search, s", 111.8, gapOf("search")}, {"median reuse gap, file, s", 152.4, gapOf("file")},
			{"hits of the same session", .711, func(m *measure) float64 { return ratio(m.same, sum(m.hits)) }},
			{"hits of other sessions", .289, func(m *measure) float64 { return 1 - ratio(m.same, sum(m.hits)) }},
			{"gap of follow-ups p50, s", 110.6, followUpGap(.5)}, {"gap of follow-ups p90, s", 718.5, followUpGap(.9)},
			{"follow-up share of requests", .463, followUps}, {"single-request share of sessions", .61, singles},
			{"goes on, first turns", .5, goesOn(1, 1)}, {"goes on, later turns", .8, goesOn(2, 40)},
			{"turn p90", 5, turnQuantile(.9)}, {"longest session, turns", mostTurns, turnQuantile(1)},
		},
		sizes(2331, 1046, 14359, 430, 375, 1641),
		[]want{{"reuses in the top 10 % of blocks", .77, func(m *measure) float64 { return m.topReuses(.1) }},
			{"lifespan p90, s", 612, lifespan(.9)}},
	)},
	{"qwen-b", slices.Concat(
		[]want{{"ideal hit ratio", .542, (*measure).ideal}},
		curve(.462, .516, .528, .537, .541),
		[]want{
			{"share of api", .8735, requestsOf("api")}, {"share of text", .1265, requestsOf("text")},
			{"median reuse gap, api, s", 2.3, gapOf("api")},
			{"hits of other sessions", 1, func(m *measure) float64 { return 1 - ratio(m.same, sum(m.hits)) }},
			{"single-request share of sessions", 1, singles},
			{"new api blocks that are reused", .023, func(m *measure) float64 { return m.everReused("api") }},
		},
		sizes(915, 574, 6294, 92, 39, 1006),
		[]want{{"lifespan p99, s", 97, lifespan(.99)}},
	)},
}

func curve(at1, at5, at10, at25, at50 float64) []want {
	var all []want
	for _, p := range []struct {
		name         string
		share, ratio float64
	}{{"1", .01, at1}, {"5", .05, at5}, {"10", .10, at10}, {"25", .25, at25}, {"50", .50, at50}} {
		all = append(all, want{"LRU hit ratio at " + p.name + " % of distinct", p.ratio, func(m *measure) float64 { return m.lru(p.share) }})
	}
	return all
}

func sizes(inMean, in50, in99, outMean, out50, out99 float64) []want {
	input := func(r *blocks.Request) float64 { return float64(r.Prompt) }
	output := func(r *blocks.Request) float64 { return float64(r.Answer) }
	return []want{
		{"input mean, tokens", inMean, mean(input)}, {"input p50", in50, quantileOf(input, .5)}, {"input p99", in99, quantileOf(input, .99)},
		{"output mean, tokens", outMean, mean(output)}, {"output p50", out50, quantileOf(output, .5)}, {"output p99", out99, quantileOf(output, .99)},
	}
}
