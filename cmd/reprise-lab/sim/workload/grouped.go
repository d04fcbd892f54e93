package workload

import (
	"math"
	"slices"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

var sessionParams = []Param{
	requests("10000"),
	{Name: "capacity", Says: "entries of the cache that long is measured at", Default: "1000", Min: 1, Max: 1e8, Whole: true},
	{Name: "long", Says: "wanted share of the reuses at a stack distance of capacity or more; 0: none, p and rho stay", Default: "0.5", Max: 1},
	{Name: "gamma", Says: "Zipf exponent of the topics", Default: "0.7", Max: 10},
	{Name: "weight", Says: "of the sessions that may be repeated: W as their topics, U equal, T as their topics and equal within", Default: "W", Choices: []string{"W", "U", "T"}},
	{Name: "rho", Says: "probability that a session repeats a prior one, at least", Default: "0.35", Max: 1},
	{Name: "p", Says: "probability that a repeated session is out of the window, where long is 0", Default: "0.7", Max: 1},
	{Name: "replace", Says: "draw a topic's sessions with replacement", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "swap", Says: "sessions from one exchange of two topics' ranks to the next; 0: never", Default: "0", Max: 1e8, Whole: true},
	{Name: "groups", Says: "groups of alike sessions in a topic", Default: "5", Min: 1, Max: 50, Whole: true},
	{Name: "variants", Says: "sessions in a group", Default: "8", Min: 1, Max: 100, Whole: true},
	{Name: "anchors", Says: "anchors of a session", Default: "2", Min: 1, Max: 100, Whole: true},
	{Name: "shared", Says: "share of the leaves that the sessions of a group have in common", Default: "0.3", Max: 1},
	{Name: "root", Says: "who has a first anchor in common", Default: "group", Choices: []string{"group", "topic"}},
	{Name: "parent", Says: "what a request names: its session's first anchor, what it hangs on (in the session or in what it varies), or nothing", Default: "root", Choices: []string{"root", "dag", "none"}},
	{Name: "vectors", Says: "give each request its item's vector", Default: "off", Choices: []string{"off", "on"}},
}

// sessionModels are generator G and its variations: 120 topics of sessions with common anchors and leaves, and a trace that
// repeats prior sessions until the share of long reuses is as wanted (paper 002 §4.2).
var sessionModels = []model{
	{Info{"syn", "sessions over Zipf topics that repeat prior ones, of a given share of long reuses", sessionParams}, grouped},
	{Info{"drift", "syn with topics that change their ranks", with(sessionParams, "gamma", "1", "swap", "5")}, grouped},
	{Info{"troot", "syn with one first anchor for a whole topic", with(sessionParams, "root", "topic", "weight", "U")}, grouped},
	{Info{"g1", "syn with one group of 40 sessions in a topic", with(sessionParams, "groups", "1", "variants", "40", "weight", "U")}, grouped},
	{Info{"na4", "syn with four anchors in a session", with(sessionParams, "anchors", "4", "weight", "U")}, grouped},
}

func grouped(a params.Args) ([]sim.Request, error) {
	r := &random{a.Seed}
	p := newPool(r, shape{
		topics: 120, groups: a.Whole("groups"), variants: a.Whole("variants"), anchors: a.Whole("anchors"),
		shared: a.Num("shared"), oneRoot: a.Choice("root") == "topic",
	})
	c := course{
		n: a.Whole("n"), capacity: a.Whole("capacity"), gamma: a.Num("gamma"), repeat: a.Num("rho"), long: a.Num("p"),
		weight: a.Choice("weight"), fresh: a.Choice("replace") == "no", swap: a.Whole("swap"),
	}
	if target := a.Num("long"); target > 0 {
		c = calibrate(*r, p, c, target)
	}
	return newWalk(*r, p, c).requests(a.Choice("parent"), a.Choice("vectors") == "on"), nil
}

// calibrate is c with the least p, to 8 binary digits, for which the measured share of long reuses reaches target. Where no p
// reaches it, rho grows in steps of 0.1; where 0.95 does not reach it, p is 1.
func calibrate(r random, p *pool, c course, target float64) course {
	reaches := func(c course) bool {
		return measure(newWalk(r, p, c).window.items[:c.n], c.capacity).ratio() >= target
	}
	for c.long = 1; c.repeat < .95 && !reaches(c); {
		c.repeat = math.Min(.95, c.repeat+.1)
	}
	least := 0.
	for range 8 {
		try := c
		try.long = (least + c.long) / 2
		if reaches(try) {
			c = try
		} else {
			least = try.long
		}
	}
	return c
}

// requests is the trace as requests. Its last session is cut at n.
func (w *walk) requests(parent string, vectors bool) []sim.Request {
	var contents []*sim.Content
	if vectors {
		for _, v := range w.pool.vectors {
			contents = append(contents, &sim.Content{Vector: v})
		}
	}
	all := make([]sim.Request, 0, w.n+w.n/8)
	for i, s := range w.visits {
		queries := w.pool.sessions[s.topic][s.number]
		for turn, q := range queries {
			answer := w.pool.answers[q.item]
			req := sim.Request{
				ID: uint64(q.item + 1), Topic: uint64(s.topic + 1), Conversation: uint64(i + 1), Turn: int32(turn),
				Parent: uint64(q.parent + 1), Size: int64(answer.size), Cost: float64(answer.cost),
			}
			if parent == "none" || parent == "root" && turn == 0 {
				req.Parent = 0
			} else if parent == "root" {
				req.Parent = uint64(queries[0].item + 1)
			}
			if vectors {
				req.Content = contents[q.item]
			}
			all = append(all, req)
		}
	}
	return slices.Clip(all[:w.n])
}
