package kv

import (
	"reprise/policy"
	"reprise/policy/internal/container"
)

// turns learns, where no prediction comes with requests, which share of conversations goes on after each turn: the deepest block of a
// request belongs to its conversation alone, and is used again with the next turn.
type turns struct {
	shadow  shadow
	seq     int64 // of the latest request
	deepest int32
	key     uint64 // of its deepest block so far; 0: none
	use     use
}

func newTurns() turns {
	return turns{shadow: shadow{every: 1, open: container.History[use]{Room: room / 2}}}
}

// touch reports the use of a block in the request of that number.
func (t *turns) touch(c *rankedCell, category uint32, seq int64, now float64) {
	if seq > t.seq {
		t.close()
		t.seq, t.deepest = seq, c.offset
	}
	if last, ok := t.shadow.open.Take(c.key); ok {
		t.shadow.model.Again(last.category, now-last.at)
	}
	if seq == t.seq && (t.key == 0 || c.offset >= t.deepest) {
		t.deepest, t.key, t.use = c.offset, c.key, use{now, category % policy.MostTurns}
	}
}

// close begins to wait for the next turn after the latest request.
func (t *turns) close() {
	if t.key == 0 {
		return
	}
	if oldest, dropped := t.shadow.open.Add(t.key, t.use); dropped {
		t.shadow.model.Lost(oldest.category, t.use.at-oldest.at)
	}
	t.key = 0
}

// goesOn is the probability that a conversation has another turn.
func (t *turns) goesOn(category uint32) float64 {
	return t.shadow.model.Of(category % policy.MostTurns).P
}
