package choose

import "reprise/proxy/upstream/prefix"

// Ticket is one request at the member that was chosen for it. Its methods are safe for concurrent use, and do nothing after Ended or
// Failed, one of which must be called.
type Ticket struct {
	Member int // where the request is to be sent
	Tokens int // of its prompt, about
	Cached int // of them, which the member should hold when the request is evaluated

	fleet    *Fleet
	blocks   []prefix.Block // of its chain
	ready    int            // of its first blocks, which the member held without any request still prefilling them
	known    int            // of its first blocks, which were in the index before
	cleared  int            // the member's, when the request was sent
	answered bool
	ended    bool
	wait     chan struct{} // closed when a follower may be sent
	leader   *Ticket       // that a follower waits for
	waiting  []*Ticket     // followers
}

// Usage is what a reply reports of its prompt.
type Usage struct {
	Prompt, Cached int  // tokens
	Known          bool // false: the reply has not reported how many tokens were cached
}

// begin counts a request at its member.
func (f *Fleet) begin(t *Ticket, c *prefix.Chain) {
	m := &f.members[t.Member]
	t.cleared = m.cleared
	if c != nil {
		if last := len(f.spare) - 1; last >= 0 {
			t.blocks, f.spare = f.spare[last], f.spare[:last]
		}
		t.blocks = append(t.blocks, c.Blocks...)
		t.Tokens, t.known = c.Tokens(), f.held[t.Member]
		t.Cached = t.known * prefix.BlockTokens
		t.ready = f.index.Insert(t.Member, t.blocks, false)
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
		f.index.Insert(t.Member, t.blocks, true)
	}
	f.release(t)
}

// Ended notes that the request has been answered, and what the reply has reported.
func (t *Ticket) Ended(u Usage) {
	f := t.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.ended {
		return
	}
	f.answered(t)
	if u.Known && u.Prompt > 0 && t.cleared == f.members[t.Member].cleared {
		f.correct(t, u)
	}
	f.end(t)
}

// Failed notes that the member has evaluated nothing of the request: it was not sent, or refused.
func (t *Ticket) Failed() {
	f := t.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.ended {
		return
	}
	m := &f.members[t.Member]
	if !t.answered {
		m.pending -= t.Tokens - t.Cached
		if t.cleared == m.cleared {
			f.index.Remove(t.Member, t.blocks[t.known:])
		}
		f.promote(t)
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
		f.spare, t.blocks = append(f.spare, t.blocks[:0]), nil
	}
}

// mostDoubted is how many blocks of a member are remembered as doubted.
const mostDoubted = 1024

// correct removes the blocks of a chain that a member should hold, and has not held twice: a reply has reported less than half of them as
// cached. The tokens of the reply are another tokenizer's, so shares of the prompt are compared.
func (f *Fleet) correct(t *Ticket, u Usage) {
	doubted := f.members[t.Member].doubted
	cached := int(int64(len(t.blocks)) * int64(max(0, min(u.Cached, u.Prompt))) / int64(u.Prompt))
	if 2*cached >= t.ready {
		if len(doubted) > 0 {
			for _, b := range t.blocks[:t.ready] {
				delete(doubted, b)
			}
		}
		return
	}
	first := t.blocks[cached]
	if _, again := doubted[first]; again {
		delete(doubted, first)
		f.index.Remove(t.Member, t.blocks[cached:])
		return
	}
	if len(doubted) >= mostDoubted {
		clear(doubted)
	}
	doubted[first] = struct{}{}
}
