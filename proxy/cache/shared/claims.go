package shared

import (
	"sync"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
)

// claim is an answer of this process whose insertion has not been read from the log yet. Whatever is read before that comes earlier in the
// log, and therefore neither replaces nor removes the entry here.
type claim struct {
	it    *item        // the latest insertion under the key
	entry *store.Entry // with its answer; nil where the shared store has it, or where it was dropped
	tried bool         // it may be in the shared store
	back  bool         // it is put back after a purge: another one may name it that was made before, so it is not served as unsent
}

// claims are those of a queue.
type claims struct {
	mu       sync.Mutex // protects the rest, and the queue
	keys     map[store.Key]*claim
	ids      map[policy.ID]*claim
	removing map[store.Key]int // own removals that are not in the shared store yet
}

// removes reports whether removals wait to be appended.
func (c *claims) removes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.removing) > 0
}

func (c *claims) claimLocked(it *item) {
	if before := c.keys[it.key]; before != nil {
		delete(c.ids, before.it.ev.ID)
	}
	one := &claim{it: it, entry: it.ev.Entry, back: it.ev.Back}
	c.keys[it.key], c.ids[it.ev.ID] = one, one
}

func (c *claims) unclaimLocked(one *claim) {
	delete(c.keys, one.it.key)
	delete(c.ids, one.it.ev.ID)
}

// cancel follows the removal of an entry by what was read from the log: an insertion of it that waits is not appended any more.
func (c *claims) cancel(id policy.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelLocked(id)
}

func (c *claims) cancelLocked(id policy.ID) {
	if one := c.ids[id]; one != nil {
		c.unclaimLocked(one) // take leaves out insertions without a claim
		one.entry = nil
	}
}

func (c *claims) removedLocked(k store.Key) {
	if c.removing[k]--; c.removing[k] <= 0 {
		delete(c.removing, k)
	}
}

// overrides reports whether an own change that is not in the log yet makes ev void, which was read from the log.
func (c *claims) overrides(ev *cache.Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, removed := ev.Reason(); removed {
		return c.ids[ev.ID] != nil
	}
	return ev.Kind == store.EventInsert && (c.keys[ev.Entry.Key] != nil || c.ids[ev.ID] != nil)
}

// claimed reports whether id is an own entry whose insertion was not read from the log yet.
func (c *claims) claimed(id policy.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[id] != nil
}

// answer returns an answer that the shared store may not have yet. barred says that whatever that store has under the key is older than
// what happened here.
func (c *claims) answer(k store.Key, known *store.Entry) (e *store.Entry, barred bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.keys[k]
	switch {
	case one == nil:
		return nil, c.removing[k] > 0
	case one.entry != nil && known != nil && one.entry.AnswerOf(known):
		return one.entry, false
	}
	return nil, one.entry != nil || one.it.void
}

// unsent reports whether e has never left this process.
func (c *claims) unsent(e *store.Entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.ids[e.ID]
	return one != nil && !one.tried && !one.back && one.entry != nil && one.entry.AnswerOf(e)
}

// pending reports whether the answer of a key waits to be appended.
func (c *claims) pending(k store.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.keys[k]
	return one != nil && one.entry != nil
}

// unsentIDs reports whether id is an own entry that is not in the shared store.
func (c *claims) unsentID(id policy.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.ids[id]
	return one != nil && one.entry != nil
}
