package workload

import (
	"math"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

var (
	items    = Param{Name: "items", Says: "distinct items", Default: "5000", Min: 1, Max: 1e8, Whole: true}
	exponent = Param{Name: "s", Says: "Zipf exponent of the items", Default: "0.9", Max: 10}
	together = Param{Name: "together", Says: "items of a topic", Default: "5", Min: 1, Max: 1e8, Whole: true}
	median   = Param{Name: "median", Says: "of the stack distance", Default: "60", Min: 0.001, Max: 1e8}
	sigma    = Param{Name: "sigma", Says: "of the stack distance's logarithm", Default: "1.2", Max: 100}
	fresh    = Param{Name: "new", Says: "share of requests for what was never asked", Default: "0.3", Max: 1}
)

// itemModels are streams of items without sessions: only their order relates them.
var itemModels = []model{
	{Info{"irm", "independent draws of Zipf items", []Param{
		requests("20000"), items, exponent.As("0.8"), together,
	}}, independent},
	{Info{"lru", "returns at log-normal stack distances, as LRU likes them", []Param{
		requests("20000"), median, sigma, fresh, together.As("10"),
	}}, returning},
	{Info{"loop", "one cycle over all items, larger than the cache, and noise", []Param{
		requests("20000"), items.As("800"), fresh.As("0.1"), together.As("10"),
	}}, looping},
	{Info{"zscan", "independent draws, and scans of what never returns", []Param{
		requests("20000"), items.As("4000"), exponent, together,
		{Name: "scan", Says: "requests of a scan", Default: "600", Max: 1e8, Whole: true},
		{Name: "every", Says: "requests from one scan to the next", Default: "2000", Min: 1, Max: 1e8, Whole: true},
	}}, scanning},
	{Info{"phase", "independent draws from a working set that shifts", []Param{
		requests("20000"), items.As("2000"), exponent, together,
		{Name: "shift", Says: "items that leave the set in a shift", Default: "1000", Max: 1e8, Whole: true},
		{Name: "every", Says: "requests from one shift to the next", Default: "4000", Min: 1, Max: 1e8, Whole: true},
	}}, shifting},
}

// stream is a trace of items under construction. Each request is a conversation of its own.
type stream struct {
	*random
	together int
	topics   []int // of the first items, drawn; the topics of the others follow from their numbers
	all      []sim.Request
}

func newStream(a params.Args) *stream {
	return &stream{random: &random{a.Seed}, together: a.Whole("together")}
}

// scatter gives the next items random new topics. It draws even where each item is a topic.
func (s *stream) scatter(items int) {
	first := len(s.topics)
	for i := range items {
		s.topics = append(s.topics, (first+i)/s.together)
	}
	s.shuffle(s.topics[first:])
}

// ask appends a request for an item, of number 0 or more.
func (s *stream) ask(item int) {
	topic := item / s.together
	if item < len(s.topics) {
		topic = s.topics[item]
	}
	size, cost := SizeAndCost(uint64(item))
	s.all = append(s.all, sim.Request{
		ID: uint64(item + 1), Topic: uint64(topic + 1), Conversation: uint64(len(s.all) + 1), Size: size, Cost: cost,
	})
}

// SizeAndCost are the bytes and the tokens of the answer to an item: in the same ranges as in sessions, and the same with every seed. A replay of
// recorded identities, which have neither, takes them from here.
func SizeAndCost(item uint64) (size int64, cost float64) {
	r := random{item}
	return int64(400 + r.below(3600)), float64(50 + r.below(950))
}

func independent(a params.Args) ([]sim.Request, error) {
	s := newStream(a)
	s.scatter(a.Whole("items"))
	cum := sums(zipf(a.Whole("items"), a.Num("s")))
	for range a.Whole("n") {
		s.ask(s.pick(cum))
	}
	return s.all, nil
}

// returning is the LRU stack model. Where the stack is not as deep as drawn, its deepest item is requested.
func returning(a params.Args) ([]sim.Request, error) {
	s := newStream(a)
	var stack []int // the latest at the end
	for unseen := 0; len(s.all) < a.Whole("n"); {
		isNew := s.float() < a.Num("new")
		depth := 1 + a.Num("median")*math.Exp(a.Num("sigma")*s.normal())
		item := unseen
		if isNew || len(stack) == 0 {
			unseen++
		} else {
			i := len(stack) - 1 - int(min(depth, float64(len(stack)-1)))
			item = stack[i]
			stack = append(stack[:i], stack[i+1:]...)
		}
		stack = append(stack, item)
		s.ask(item)
	}
	return s.all, nil
}

func looping(a params.Args) ([]sim.Request, error) {
	s := newStream(a)
	items, noise := a.Whole("items"), a.Whole("items")
	for next := 0; len(s.all) < a.Whole("n"); {
		if s.float() < a.Num("new") {
			s.ask(noise)
			noise++
			continue
		}
		s.ask(next % items)
		next++
	}
	return s.all, nil
}

func scanning(a params.Args) ([]sim.Request, error) {
	s := newStream(a)
	items, n := a.Whole("items"), a.Whole("n")
	s.scatter(items)
	cum := sums(zipf(items, a.Num("s")))
	for drawn, unseen := 0, items; len(s.all) < n; {
		s.ask(s.pick(cum))
		if drawn++; drawn%a.Whole("every") != 0 {
			continue
		}
		for range min(a.Whole("scan"), n-len(s.all)) {
			s.ask(unseen)
			unseen++
		}
	}
	return s.all, nil
}

func shifting(a params.Args) ([]sim.Request, error) {
	s := newStream(a)
	n, every, shift := a.Whole("n"), a.Whole("every"), a.Whole("shift")
	s.scatter(a.Whole("items"))
	for i := every; i < n; i += every {
		s.scatter(shift)
	}
	cum := sums(zipf(a.Whole("items"), a.Num("s")))
	for i := range n {
		s.ask(s.pick(cum) + i/every*shift)
	}
	return s.all, nil
}
