package rac

import (
	"reprise/internal/container"
	"reprise/policy"
)

// topicTable keeps the prevalence of the topics, a heap of those that have members and one of those that have none.
//
// A topic's mass is the sum of 2^(alpha·t) over its requests: TP times 2^(alpha·now), which is the same factor for all
// topics. So the order of masses is the order of TP at any later time (paper 002 §3.2, with the decay divided out), and
// the mass changes only with a request to the topic. It has the 53 bits of a float64 and an exponent of its own, since
// 2^(alpha·t) leaves the range of any float; a plain logarithm would keep too few bits to distinguish 2^t + 2^(t-30) from 2^t.
type topicTable struct {
	entries *entries // the members
	ids     container.Numbers[policy.TopicID]
	all     []topic        // by the number of the id
	live    container.Heap // topics with members, by mass times the value of the first member
	ghosts  container.Heap // topics without members, by mass; its places are those of live
	time    massTime
}

func newTopicTable(members *entries, time massTime) topicTable {
	return topicTable{entries: members, time: time}
}

// topic is the state of one topic. Its mass is in two fields because they pack tighter than a scaled.
type topic struct {
	mant    float64
	members []container.Node // a heap by value
	exp     int32
	state   topicState
}

type topicState uint8

const (
	topicNew topicState = iota // in neither heap
	topicLive
	topicGhost
)

func (x *topic) mass() scaled { return scaled{x.mant, x.exp} }

func (x *topic) set(mass scaled) { x.mant, x.exp = mass.mant, mass.exp }

// open returns the number of id, out of the ghosts and started with one request if it is unknown.
func (t *topicTable) open(id policy.TopicID, at int64) uint32 {
	slot, ok := t.ids.Find(id)
	if !ok {
		return t.start(id, t.weight(at))
	}
	if x := &t.all[slot]; x.state == topicGhost {
		t.ghosts.Remove(slot)
		x.state = topicNew
	}
	return slot
}

// start adds a topic. Topic 0 is private to its one entry.
func (t *topicTable) start(id policy.TopicID, mass scaled) uint32 {
	slot := t.ids.Add(id)
	for len(t.all) <= int(slot) {
		t.all = append(t.all, topic{})
		t.live.Place = append(t.live.Place, 0)
		t.ghosts.Place = t.live.Place
	}
	t.all[slot] = topic{mant: mass.mant, exp: mass.exp}
	return slot
}

// credit counts one request to the topic, at a time that may lie before the topic's last one.
func (t *topicTable) credit(slot uint32, at int64) {
	w := t.weight(at)
	if x := &t.all[slot]; !t.entries.opts.NoTP {
		x.set(x.mass().add(w))
	}
}

// reseat puts the topic where it now belongs: by its value among the live, or without members among the ghosts.
func (t *topicTable) reseat(slot uint32) {
	x := &t.all[slot]
	switch {
	case len(x.members) > 0 && x.state == topicLive:
		t.live.Move(t.rank(slot))
	case len(x.members) > 0:
		x.state = topicLive
		t.live.Push(t.rank(slot))
	case x.state == topicGhost:
		t.ghosts.Move(t.rank(slot))
	default:
		t.retire(slot)
	}
}

// retire makes a ghost of a topic that has no members, or forgets it where there is no room (D9).
func (t *topicTable) retire(slot uint32) {
	x := &t.all[slot]
	if x.state == topicLive {
		t.live.Remove(slot)
	}
	room := t.entries.opts.Ghosts
	if room == 0 || t.ids.Key(slot) == 0 {
		t.forget(slot)
		return
	}
	x.state = topicGhost
	t.ghosts.Push(t.rank(slot))
	if len(t.ghosts.Nodes) > room {
		least := t.ghosts.Nodes[0].Item
		t.ghosts.Remove(least)
		t.forget(least)
	}
}

// join makes e a member.
func (t *topicTable) join(slot, e uint32) {
	t.entries.seats.Push(&t.all[slot].members, t.entries.rank(e))
}

// leave takes a member out.
func (t *topicTable) leave(slot, e uint32) { t.entries.seats.Remove(&t.all[slot].members, e) }

// moved puts a member where its value now belongs.
func (t *topicTable) moved(slot, e uint32) {
	t.entries.seats.Move(t.all[slot].members, t.entries.rank(e))
}

// first returns the member of least value, 0 if there is none.
func (t *topicTable) first(slot uint32) uint32 {
	if members := t.all[slot].members; len(members) > 0 {
		return members[0].Item
	}
	return 0
}

// forget frees the number of a topic that is in no heap.
func (t *topicTable) forget(slot uint32) {
	t.all[slot] = topic{}
	t.ids.Free(slot)
}

// before breaks ties between topics: by their first members, and between topics without members by number.
func (t *topicTable) before(a, b uint32) bool {
	e, f := t.first(a), t.first(b)
	if e == f {
		return a < b
	}
	return t.entries.older(e, f)
}

// rank returns the rank of a topic among the live ones, by its first member, or among the ghosts.
func (t *topicTable) rank(slot uint32) container.Node { return t.rankBy(slot, t.first(slot)) }

// rankBy returns the rank for the case that e is the first member; 0 is none.
func (t *topicTable) rankBy(slot, e uint32) container.Node {
	value := t.all[slot].mass()
	if e != 0 {
		value = value.times(t.entries.value(e))
	}
	return t.time.round(value).node(slot)
}
