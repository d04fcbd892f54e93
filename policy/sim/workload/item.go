package workload

import (
	"math"

	"reprise/policy/sim"
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
		requests("20000"), items, exponent.as("0.8"), together,
	}}, independent},
	{Info{"lru", "returns at log-normal stack distances, as LRU likes them", []Param{
		requests("20000"), median, sigma, fresh, together.as("10"),
	}}, returning},
	{Info{"loop", "one cycle over all items, larger than the cache, and noise", []Param{
		requests("20000"), items.as("800"), fresh.as("0.1"), together.as("10"),
	}}, looping},
	{Info{"zscan", "independent draws, and scans of what never returns", []Param{
		requests("20000"), items.as("4000"), exponent, together,
		{Name: "scan", Says: "requests of a scan", Default: "600", Max: 1e8, Whole: true},
		{Name: "every", Says: "requests from one scan to the next", Default: "2000", Min: 1, Max: 1e8, Whole: true},
	}}, scanning},
	{Info{"phase", "independent draws from a working set that shifts", []Param{
		requests("20000"), items.as("2000"), exponent, together,
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

func newStream(a args) *stream {
	return &stream{random: &random{a.seed}, together: a.whole("together")}
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
	size, cost := sizeAndCost(item)
	s.all = append(s.all, sim.Request{
		ID: uint64(item + 1), Topic: uint64(topic + 1), Conversation: uint64(len(s.all) + 1), Size: size, Cost: cost,
	})
}

// sizeAndCost of an item are in the same ranges as in sessions, and the same with every seed.
func sizeAndCost(item int) (size int64, cost float64) {
	r := random{uint64(item)}
	return int64(400 + r.below(3600)), float64(50 + r.below(950))
}

func independent(a args) ([]sim.Request, error) {
	s := newStream(a)
	s.scatter(a.whole("items"))
	cum := sums(zipf(a.whole("items"), a.num("s")))
	for range a.whole("n") {
		s.ask(s.pick(cum))
	}
	return s.all, nil
}

// returning is the LRU stack model. Where the stack is not as deep as drawn, its deepest item is requested.
func returning(a args) ([]sim.Request, error) {
	s := newStream(a)
	var stack []int // the latest at the end
	for unseen := 0; len(s.all) < a.whole("n"); {
		isNew := s.float() < a.num("new")
		depth := 1 + a.num("median")*math.Exp(a.num("sigma")*s.normal())
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

func looping(a args) ([]sim.Request, error) {
	s := newStream(a)
	items, noise := a.whole("items"), a.whole("items")
	for next := 0; len(s.all) < a.whole("n"); {
		if s.float() < a.num("new") {
			s.ask(noise)
			noise++
			continue
		}
		s.ask(next % items)
		next++
	}
	return s.all, nil
}

func scanning(a args) ([]sim.Request, error) {
	s := newStream(a)
	items, n := a.whole("items"), a.whole("n")
	s.scatter(items)
	cum := sums(zipf(items, a.num("s")))
	for drawn, unseen := 0, items; len(s.all) < n; {
		s.ask(s.pick(cum))
		if drawn++; drawn%a.whole("every") != 0 {
			continue
		}
		for range min(a.whole("scan"), n-len(s.all)) {
			s.ask(unseen)
			unseen++
		}
	}
	return s.all, nil
}

func shifting(a args) ([]sim.Request, error) {
	s := newStream(a)
	n, every, shift := a.whole("n"), a.whole("every"), a.whole("shift")
	s.scatter(a.whole("items"))
	for i := every; i < n; i += every {
		s.scatter(shift)
	}
	cum := sums(zipf(a.whole("items"), a.num("s")))
	for i := range n {
		s.ask(s.pick(cum) + i/every*shift)
	}
	return s.all, nil
}
