package prefix

import (
	"slices"

	"reprise/proxy/upstream/usage"
)

// Ticket is one request at the member that was chosen for it. Its methods are safe for concurrent use, and do nothing after Ended or
// Failed, one of which must be called.
type Ticket struct {
	Member int // where the request is to be sent
	Tokens int // of its prompt, about
	Cached int // of them, which the member should hold when the request is evaluated

	fleet *Fleet
	evidence
	fresh    bool // no member was known to hold anything of its conversation
	ready    int  // of its first blocks, which the member held without any request still prefilling them
	known    int  // of its first blocks, which were in the index before
	cleared  int  // the member's, when the request was sent
	answered bool
	ended    bool
	wait     chan bool // closed when a follower may be sent; true: it is to be sent elsewhere
	key      Block     // of the request
	leader   *Ticket   // that a follower waits for
	waiting  []*Ticket // followers
}

// evidence is what the reply of a request can be compared with.
type evidence struct {
	blocks []Block  // of its chain
	ages   []uint32 // of the blocks at the member, when the request was sent
}

// begin counts a request at its member.
func (f *Fleet) begin(t *Ticket, c *Chain) {
	m := &f.members[t.Member]
	t.cleared = m.cleared
	if c != nil {
		if last := len(f.spare) - 1; last >= 0 {
			t.evidence, f.spare = f.spare[last], f.spare[:last]
		}
		t.blocks = append(t.blocks[:0], c.Blocks...)
		t.ages = slices.Grow(t.ages[:0], len(t.blocks))[:len(t.blocks)]
		t.Tokens, t.known, t.key = c.Tokens(), f.held[t.Member], f.request.Key
		t.Cached = t.known * BlockTokens
		t.fresh = slices.Max(f.held)*BlockTokens <= f.request.Shared+BlockTokens
		t.ready = f.index.insert(t.Member, t.blocks, false, t.ages)
	}
	m.inFlight++
	m.active += t.Tokens
	m.pending += t.Tokens - t.Cached
	f.follow(t)
}

// Answered notes that the answer has begun: the prompt has been prefilled.
func (t *Ticket) Answered() {
	t.fleet.mu.Lock()
	defer t.fleet.mu.Unlock()
	if !t.ended {
		t.fleet.answered(t)
	}
}

func (f *Fleet) answered(t *Ticket) {
	if t.answered {
		return
	}
	t.answered = true
	m := &f.members[t.Member]
	m.pending -= t.Tokens - t.Cached
	if t.cleared == m.cleared {
		f.index.insert(t.Member, t.blocks, true, nil)
	}
	f.release(t)
}

// Ended notes that the request has been answered, and what the reply has reported.
func (t *Ticket) Ended(u usage.Usage) {
	f := t.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.ended {
		return
	}
	f.answered(t)
	f.notice(t, u)
	if t.cleared == f.members[t.Member].cleared {
		f.correct(t, u)
	}
	f.end(t)
}

// A reply that reports surprising tokens more than twice what was expected is the sign of another sender; others is the share of such
// replies among the last ones to requests of which nothing was known, and begins as if others had been seen.
const (
	surprising   = 4 * BlockTokens
	firstReplies = 16
	lastReplies  = 64
	fewOthers    = 0.04 // below that share there are none: a member can hold what the index has dropped
	enoughOthers = 0.06 // from that share on there are others
)

// notice notes whether another proxy sends to the members too: they then hold what this one has not sent.
func (f *Fleet) notice(t *Ticket, u usage.Usage) {
	if !t.fresh || !u.Known || u.Prompt < 2*surprising || t.Tokens-t.Cached < 2*surprising {
		return
	}
	seen := 0.0
	if u.Cached >= 2*t.Cached+surprising {
		seen = 1
	}
	f.replies = min(max(f.replies, firstReplies)+1, lastReplies)
	f.others += (seen - f.others) / float64(f.replies)
}

// mostAvoided bounds the keys for which a member is avoided.
const mostAvoided = 4096

// Failed notes that the member has evaluated nothing of the request: it was not sent, or refused. avoid: that was the fault of the member, and
// the next request with the same prefix goes to another one, as do those that have waited for this one.
func (t *Ticket) Failed(avoid bool) {
	f := t.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.ended {
		return
	}
	m := &f.members[t.Member]
	if avoid = avoid && len(f.members) > 1; avoid && t.key != 0 {
		if len(f.avoided) >= mostAvoided {
			clear(f.avoided)
		}
		f.avoided[t.key] = t.Member
	}
	if !t.answered {
		m.pending -= t.Tokens - t.Cached
		if t.cleared == m.cleared {
			f.index.remove(t.Member, t.blocks[t.known:])
		}
		if avoid {
			f.scatter(t)
		} else {
			f.promote(t)
		}
	}
	f.end(t)
}

// end counts a request no longer.
func (f *Fleet) end(t *Ticket) {
	t.ended = true
	m := &f.members[t.Member]
	m.inFlight--
	m.active -= t.Tokens
	if t.blocks != nil {
		f.spare, t.evidence = append(f.spare, t.evidence), evidence{}
	}
}
