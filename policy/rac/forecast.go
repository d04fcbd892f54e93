package rac

import (
	"fmt"
	"math"
	"slices"

	"reprise/internal/container"
	"reprise/policy"
)

var _ policy.Forecaster = (*Policy)(nil)

// forecast collects the entries of least value, in the order of their eviction.
type forecast struct {
	*topicTable
	most int
	next []placed
}

// placed is an entry with the rank that its topic will have when the members before it have left.
type placed struct {
	rank  container.Node
	entry uint32
}

// Forecast offers the entries in the order of their eviction: without a request in between no value changes but by the same factor for all.
// It looks at some topics and some of their members, as many as are wanted of each at most.
func (r *Policy) Forecast(f *policy.Forecast, _ int) (next int) {
	x := forecast{topicTable: &r.topics, most: f.Most()}
	r.topics.live.Least(func(n container.Node) bool { return x.addTopic(n.Item) })
	for _, p := range x.next {
		f.Offer(r.ids.Key(p.entry), 0)
	}
	return 0
}

// addTopic takes the members of a topic, and reports whether it took the first.
func (x *forecast) addTopic(slot uint32) (taken bool) {
	h := container.Heap{Nodes: x.all[slot].members, Ties: x.entries.seats.Ties}
	h.Least(func(n container.Node) bool {
		more := x.add(slot, n.Item)
		taken = taken || more
		return more
	})
	return taken
}

// add takes a member if there is room, or one that goes later.
func (x *forecast) add(slot, e uint32) bool {
	p := placed{x.rankBy(slot, e), e}
	at := len(x.next)
	for at > 0 && x.goesBefore(p, x.next[at-1]) {
		at--
	}
	if at >= x.most {
		return false
	}
	x.next = slices.Insert(x.next, at, p)
	x.next = x.next[:min(len(x.next), x.most)]
	return true
}

func (x *forecast) goesBefore(a, b placed) bool {
	if a.rank.Major != b.rank.Major {
		return a.rank.Major < b.rank.Major
	}
	if a.rank.Minor != b.rank.Minor {
		return a.rank.Minor < b.rank.Minor
	}
	return x.entries.older(a.entry, b.entry)
}

// Why implements policy.Forecaster: it states the prevalence of the topic and the importance of the entry.
func (r *Policy) Why(id policy.ID) string {
	e, ok := r.ids.Find(id)
	if !ok {
		return ""
	}
	x, time := &r.all[e], &r.topics.time
	if x.held {
		return "the newest, which is kept"
	}
	tp := math.Exp2(r.topics.all[x.topic].mass().log2() - time.log2(time.now))
	why := fmt.Sprintf("TP·TSI = %.3g: prevalence of its topic %.3g, importance %.3g (own requests %d, of its dependents %.3g)",
		tp*r.value(e), tp, r.importance(e), x.freq, x.dep)
	if x.worth != 1 {
		why += fmt.Sprintf(", times what a hit is worth, %.3g", x.worth)
	}
	return why
}
