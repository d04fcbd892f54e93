package generate

import (
	"reprise/policy/sim/blocks"
	"reprise/policy/sim/internal/params"
)

var qwenModels = []model{
	{Info{"qwen-a", "chat of people in sessions, calibrated to the published statistics of Qwen-Bailian trace A (to-C)", []Param{
		{Name: "requests", Says: "number of requests", Default: "43058", Min: 1, Max: 1e7, Whole: true},
		{Name: "rate", Says: "requests per second", Default: "5.98", Min: 0.001, Max: 1e6},
		{Name: "users", Says: "of the service", Default: "15000", Min: 1, Max: 1e8, Whole: true},
	}}, qwenA},
	{Info{"qwen-b", "calls of programs with system prompts, calibrated to the published statistics of Qwen-Bailian trace B (to-B)", []Param{
		{Name: "requests", Says: "number of requests", Default: "172800", Min: 1, Max: 1e7, Whole: true},
		{Name: "rate", Says: "requests per second", Default: "24", Min: 0.001, Max: 1e6},
	}}, qwenB},
}

// chats are the types of trace A. Their numbers were fitted by hand to the figures of Published("qwen-a").
func chats() []chat {
	people := length{365, .63, 8192}
	return []chat{
		{name: "text", requests: 31744, again: .45, tail: 2.3, first: length{130, 1.3, 12000}, next: length{110, 1.2, 6000}, answer: people,
			gaps: gaps{100, 650, .3}, prompts: pool(12, length{340, .4, 2000}), popular: zipf(12, 1.2, 0)},
		{name: "search", requests: 8187, again: .45, tail: 2.5, first: length{2400, .5, 9000}, next: length{2200, .5, 9000}, answer: people,
			gaps: gaps{110, 650, .3}, prompts: pool(1, length{32, 0, 2000}), popular: zipf(1, 1, 0)},
		{name: "image", requests: 1617, again: .06, tail: 2.5, first: length{150, .8, 6000}, next: length{110, .8, 6000}, answer: people,
			gaps: gaps{60, 400, .2}, prompts: pool(3, length{800, .2, 2000}), popular: zipf(3, 1, 0)},
		{name: "file", requests: 1510, again: .5, tail: 2.4, first: length{4000, .8, 14000}, next: length{110, 1, 6000}, answer: people,
			gaps: gaps{150, 700, .3}, prompts: pool(1, length{64, 0, 2000}), popular: zipf(1, 1, 0)},
	}
}

// pool is n prefixes with the lengths of a law.
func pool(n int, l length) []prefix {
	all := make([]prefix, n)
	for i := range all {
		all[i].tokens = l.at(normalAt(spread(i)))
	}
	return all
}

// earlier is how long before the first request sessions begin: the trace is a part of a day, as the published one is, and its first
// requests are of sessions of every age.
const earlier = 6 * 3600

func qwenA(a params.Args) *blocks.Trace {
	p := &people{random: newRandom(a.Seed, 0xA), kinds: chats(), context: 30000, decode: 50, users: a.Whole("users")}
	total, all := 0.0, 0.0
	for i := range p.kinds {
		c := &p.kinds[i]
		total += c.requests / c.meanTurns()
		all += c.requests
		p.cum = append(p.cum, total)
	}
	n := a.Whole("requests")
	horizon := 1.1*float64(n)/a.Num("rate") + 100
	every := all / total / a.Num("rate") // seconds from one session to the next
	for at := -float64(earlier); at < horizon; at += every * p.ExpFloat64() {
		p.session(at, horizon)
	}
	return p.trace(n)
}
