package workload

import "reprise/policy/sim"

// itemModels are streams of items that hang together in nothing but their order.
var itemModels = []model{
	{Info{"irm", "independent draws of Zipf items", []Param{
		requests("20000"),
		{Name: "items", Says: "distinct items", Default: "5000", Min: 1, Max: 1e8, Whole: true},
		{Name: "s", Says: "Zipf exponent", Default: "0.8", Max: 10},
		{Name: "together", Says: "items of a topic, drawn at random", Default: "5", Min: 1, Max: 1e8, Whole: true},
	}}, independent},
}

// stream is a trace of items in the making. Items without conversation are a conversation each.
type stream struct {
	*random
	topics []int // of the items; none: each its own
	all    []sim.Request
}

// newStream gives items random topics of some each.
func newStream(a args, items, together int) *stream {
	s := &stream{random: &random{a.seed}}
	for i := range items {
		s.topics = append(s.topics, i/together)
	}
	if together > 1 {
		s.shuffle(s.topics)
	}
	return s
}

// ask appends a request for an item, of number 0 or more.
func (s *stream) ask(item int) {
	topic := item
	if item < len(s.topics) {
		topic = s.topics[item]
	}
	size, cost := weigh(item)
	s.all = append(s.all, sim.Request{
		ID: uint64(item + 1), Topic: uint64(topic + 1), Conversation: uint64(len(s.all) + 1), Size: size, Cost: cost,
	})
}

// weigh is the size and the cost of an item, of the same ranges as in sessions.
func weigh(item int) (size int64, cost float64) {
	r := random{uint64(item)}
	return int64(400 + r.below(3600)), float64(50 + r.below(950))
}

func independent(a args) ([]sim.Request, error) {
	s := newStream(a, a.whole("items"), a.whole("together"))
	cum := zipf(a.whole("items"), a.num("s"))
	for range a.whole("n") {
		s.ask(s.pick(cum))
	}
	return s.all, nil
}
