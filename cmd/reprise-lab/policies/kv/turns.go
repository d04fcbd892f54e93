package kv

import (
	"reprise/internal/container"
	"reprise/policy"
)

// turns learns, where no prediction comes with requests, which share of conversations goes on after each turn: a conversation goes on when
// another request of its topic comes.
//
// A request without a topic is known by its deepest block: that belongs to its conversation alone, and the next turn uses it again. Where the
// last block of a prompt may be partial, as in traces that name it too, the next turn has another block in its place, and nothing would ever
// go on: such requests need topics.
type turns struct {
	shadow  shadow
	seq     int64 // of the latest request
	deepest int32
	key     uint64 // of the topic, or of its deepest block so far; 0: none
	use     use
}

func newTurns() turns {
	return turns{shadow: shadow{every: 1, open: container.History[use]{Room: room / 2}}}
}

// touch reports the use of a block in the request of that number.
func (t *turns) touch(c *rankedCell, it *policy.Item, seq int64, now float64) {
	if it.Topic != 0 {
		if seq > t.seq {
			t.close()
			t.seq = seq
			t.wait(topicKey(it.Topic), use{at: now, category: it.Category % policy.MostTurns})
		}
		return
	}
	if seq > t.seq {
		t.close()
		t.seq, t.deepest = seq, c.offset
	}
	if last, ok := t.shadow.open.Take(c.key); ok {
		t.shadow.model.Again(last.category, now-last.at)
	}
	if seq == t.seq && (t.key == 0 || c.offset >= t.deepest) {
		t.deepest, t.key, t.use = c.offset, c.key, use{at: now, category: it.Category % policy.MostTurns}
	}
}

// topicKey is no key of a block, except by chance.
func topicKey(topic policy.TopicID) uint64 { return container.Mix(uint64(topic)) | 1<<63 }

// close begins to wait for the next turn after the latest request.
func (t *turns) close() {
	if t.key != 0 {
		t.wait(t.key, t.use)
		t.key = 0
	}
}

// wait ends the wait for a key, if there is one, and begins another.
func (t *turns) wait(key uint64, u use) {
	if last, ok := t.shadow.open.Take(key); ok {
		t.shadow.model.Again(last.category, u.at-last.at)
	}
	if oldest, dropped := t.shadow.open.Add(key, u); dropped {
		t.shadow.model.Lost(oldest.category, u.at-oldest.at)
	}
}

// goesOn is the probability that a conversation has another turn.
func (t *turns) goesOn(category uint32) float64 {
	return t.shadow.model.Of(category % policy.MostTurns).P
}
