package generate

import (
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

var answers = Param{
	Name: "answers", Choices: []string{"no", "yes"}, Default: "no",
	Says: "add the blocks that answers complete, which the next turn may find; no: prompts alone, as the published figures count",
}

var qwenModels = []model{
	{Info{"qwen-a", "chat of people in sessions, calibrated to the published statistics of Qwen-Bailian trace A (to-C)", []Param{
		{Name: "requests", Says: "how many; those published are of two hours", Default: "43058", Min: 1, Max: 1e7, Whole: true},
		{Name: "rate", Says: "requests per second", Default: "5.98", Min: 0.001, Max: 1e6},
		{Name: "users", Says: "people who use the service", Default: "15000", Min: 1, Max: 1e7, Whole: true},
		answers,
	}}, qwenA},
	{Info{"qwen-b", "calls of programs with system prompts, calibrated to the published statistics of Qwen-Bailian trace B (to-B)", []Param{
		{Name: "requests", Says: "how many; those published are of two hours", Default: "172800", Min: 1, Max: 1e7, Whole: true},
		{Name: "rate", Says: "requests per second", Default: "24", Min: 0.001, Max: 1e6},
		{Name: "users", Says: "clients without a program that runs all the time", Default: "4500", Min: 1, Max: 1e7, Whole: true},
		answers,
	}}, qwenB},
}

// chats are the types of trace A. What is published is in Published("qwen-a"); these numbers were fitted to it by hand.
//
// A user's messages are short and the answers are most of a long history; a search has its results in each turn; an image has a long prompt
// of the application; a file is long and may be opened again. Pauses are two exponentials, of users who stay and users who return later.
func chats() []chat {
	answer := func(median float64) length { return length{median, .6, 8192} }
	return []chat{
		{name: "text", requests: 31744, again: .49, tail: 2.11, first: length{58, 1.65, 12000}, next: length{60, 1.6, 8000},
			answer: answer(452), pauses: gaps{110, 1050, .31}, prompts: pool(2000, length{390, .5, 3000}), popular: zipf(2000, 1.155)},
		{name: "search", requests: 8187, again: .47, tail: 2.15, first: length{3350, .55, 12000}, next: length{2750, .55, 12000},
			answer: answer(590), pauses: gaps{155, 650, .12}, prompts: pool(1, length{64, 0, 2000}), popular: zipf(1, 1)},
		{name: "image", requests: 1617, again: .06, tail: 2.1, first: length{200, .8, 6000}, next: length{110, .8, 6000},
			answer: answer(380), pauses: gaps{60, 400, .2}, prompts: pool(3, length{1010, .1, 2000}), popular: zipf(3, 3.1)},
		{name: "file", requests: 1510, again: .5, tail: 2.15, document: length{4500, .65, 12000}, repeat: .235, first: length{110, 1, 6000},
			next: length{110, 1, 6000}, answer: answer(640), pauses: gaps{230, 600, .2}, prompts: pool(1, length{64, 0, 2000}), popular: zipf(1, 1)},
	}
}

// day is how long before the first request sessions begin: the trace is a part of a day, as the published one is, and its first requests
// are of sessions of every age. Some are later turns whose earlier ones are not in it.
const day = 24 * 3600

func qwenA(a params.Args) *blocks.Trace {
	p := &people{random: newRandom(a.Seed, 0xA), kinds: chats(), users: a.Whole("users")}
	var names []string
	sessions, requests := 0.0, 0.0
	for i := range p.kinds {
		c := &p.kinds[i]
		names = append(names, c.name)
		requests += c.requests
		sessions += c.requests / c.meanTurns()
		p.cum = append(p.cum, sessions)
		c.place, c.long = p.Float64(), p.Float64()
	}
	every := requests / sessions / a.Num("rate") // seconds from one session to the next
	horizon := seconds(a)
	for at := -float64(day); at < horizon; at += every * p.ExpFloat64() {
		p.session(at, horizon)
	}
	return finish(p.drafts, a.Whole("requests"), names, a.Choice("answers") == "yes")
}

// seconds is a time in which the wanted number of requests arrives, with a margin for chance and for what is cut at its end.
func seconds(a params.Args) float64 { return 1.1*float64(a.Whole("requests"))/a.Num("rate") + 100 }

// services are the types of trace B: hot system prompts of programs that run all the time, programs that run for a minute, and requests
// that share nothing. They were fitted by hand to Published("qwen-b").
func services() []calls {
	api := calls{name: "api", share: 150936, own: length{140, 1.5, 16000}, answer: length{37.5, 1.38, 8192}, bare: .05,
		services: pool(800, length{365, 1.1, 8000}), popular: zipf(800, 1.25), jobs: .095, calls: 9, pause: 9, task: length{365, 1.1, 8000}}
	text := api
	text.name, text.share, text.services, text.popular = "text", 21864, pool(100, length{365, 1.1, 8000}), zipf(100, 1.25)
	return []calls{api, text}
}

// owners is the number of clients with services, from user 1. The most frequent services have different ones.
const owners = 220

func qwenB(a params.Args) *blocks.Trace {
	p, kinds := &programs{random: newRandom(a.Seed, 0xB), others: zipf(a.Whole("users"), 1)}, services()
	var names []string
	total, service := 0.0, 0
	for i := range kinds {
		total += kinds[i].share
		names = append(names, kinds[i].name)
		for k := range kinds[i].services {
			kinds[i].services[k].user = uint32(1 + service%owners)
			service++
		}
	}
	for i := range kinds {
		p.kind(uint16(i), &kinds[i], a.Num("rate")*kinds[i].share/total, seconds(a))
	}
	return finish(p.drafts, a.Whole("requests"), names, a.Choice("answers") == "yes")
}

// pool is n prefixes with the lengths of a law.
func pool(n int, l length) []prefix {
	all := make([]prefix, n)
	for i := range all {
		all[i].tokens = l.at(spread(i))
	}
	return all
}
