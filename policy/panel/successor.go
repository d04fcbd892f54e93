package panel

import (
	"slices"

	"reprise/policy"
)

// leadership is the expert that leads a large cache, and its successor while it changes.
type leadership struct {
	members   []member
	options   policy.Options
	leads     int // the number of the leader
	leader    expert
	next      int // of the successor
	successor expert
}

const fillStep = 16 // residents copied per request

// newLeadership starts with the first member, in the form for large caches.
func newLeadership(members []member, o policy.Options) leadership {
	members = slices.Clone(members)
	for i := range members {
		if members[i].large != "" {
			members[i].params = members[i].large
		}
	}
	return leadership{members: members, options: o, leader: newExpert(members[0], o, 0)}
}

// prepare makes a successor, without entries, of the member of that number. It starts from what an expert of its kind has
// learned.
func (l *leadership) prepare(next int, from policy.Evictor) {
	l.next, l.successor = next, newExpert(l.members[next], l.options, uint64(next))
	inherit(l.successor.evictor, from)
}

// takeOver makes the successor the leader.
func (l *leadership) takeOver() { l.leads, l.leader, l.successor = l.next, l.successor, expert{} }

// copy inserts a resident with its number of uses.
func (x *expert) copy(it policy.Item, r *resident) {
	x.evictor.Insert(it, policy.Tick{Seq: r.used})
	if s, ok := x.evictor.(policy.Persistent); ok && r.uses > 1 {
		s.ImportEntry(policy.EntryState{ID: it.ID, Parent: it.Parent, Freq: float64(r.uses), Born: r.used, Last: r.used})
	}
}
