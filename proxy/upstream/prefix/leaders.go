package prefix

import "slices"

// Of concurrent requests that share a long cold prefix, one is sent at once, the leader. The others follow: they wait until its answer
// begins, so that the prefix is prefilled once. If the leader fails, the first of its followers leads the others, or all of them go elsewhere
// where that is the member's fault.

// Wait returns a channel that is closed when the request may be sent, nil if it may be sent at once. It gives true before where another member
// is to be chosen: the ticket is then to be ended by Failed. The caller limits the wait; a request that is sent earlier needs nothing else.
func (t *Ticket) Wait() <-chan bool { return t.wait }

// follow makes a request follow another one of its member, or lead.
func (f *Fleet) follow(t *Ticket) {
	if f.leaders == 0 || len(t.blocks)-t.ready < f.leaders {
		return
	}
	m, deepest := &f.members[t.Member], t.ready+f.leaders-1
	for _, l := range m.leaders {
		if len(l.blocks) > deepest && l.blocks[deepest] == t.blocks[deepest] && l.cleared == t.cleared {
			t.leader, t.wait = l, make(chan bool, 1)
			l.waiting = append(l.waiting, t)
			return
		}
	}
	m.leaders = append(m.leaders, t)
}

// release ends the wait of a request's followers.
func (f *Fleet) release(t *Ticket) {
	f.leave(t)
	for _, follower := range t.waiting {
		if follower.leader == t {
			follower.leader = nil
			close(follower.wait)
		}
	}
	t.waiting = nil
}

// leave ends that a request leads or follows. Its own followers are left to the caller.
func (f *Fleet) leave(t *Ticket) {
	m := &f.members[t.Member]
	if i := slices.Index(m.leaders, t); i >= 0 {
		m.leaders = slices.Delete(m.leaders, i, i+1)
	}
	if l := t.leader; l != nil {
		l.waiting = slices.DeleteFunc(l.waiting, func(other *Ticket) bool { return other == t })
		t.leader = nil
		close(t.wait)
	}
}

// scatter sends the followers of a request to other members.
func (f *Fleet) scatter(t *Ticket) {
	for _, follower := range t.waiting {
		follower.wait <- true
	}
	f.release(t)
}

// promote makes the first follower of a request that has failed the leader of the others.
func (f *Fleet) promote(t *Ticket) {
	followers := t.waiting
	f.leave(t)
	t.waiting = nil
	if len(followers) == 0 {
		return
	}
	first, m := followers[0], &f.members[t.Member]
	first.leader, first.waiting = nil, followers[1:]
	close(first.wait)
	m.leaders = append(m.leaders, first)
	for _, other := range first.waiting {
		other.leader = first
	}
	if first.cleared == m.cleared {
		f.index.insert(first.Member, first.blocks, false, nil)
	}
}
