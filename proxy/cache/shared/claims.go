package shared

import (
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

// removes reports whether removals wait to be appended.
func (q *queue) removes() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.removing) > 0
}

func (q *queue) claimLocked(it *item) {
	if before := q.keys[it.key]; before != nil {
		delete(q.ids, before.it.ev.ID)
	}
	one := &claim{it: it, entry: it.ev.Entry, back: it.ev.Back}
	q.keys[it.key], q.ids[it.ev.ID] = one, one
}

func (q *queue) unclaimLocked(one *claim) {
	delete(q.keys, one.it.key)
	delete(q.ids, one.it.ev.ID)
}

// cancel follows the removal of an entry by what was read from the log: an insertion of it that waits is not appended any more.
func (q *queue) cancel(id policy.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelLocked(id)
}

func (q *queue) cancelLocked(id policy.ID) {
	if one := q.ids[id]; one != nil {
		q.unclaimLocked(one) // take leaves out insertions without a claim
		one.entry = nil
	}
}

func (q *queue) removedLocked(k store.Key) {
	if q.removing[k]--; q.removing[k] <= 0 {
		delete(q.removing, k)
	}
}

// overrides reports whether an own change that is not in the log yet makes ev void, which was read from the log.
func (q *queue) overrides(ev *cache.Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, removed := ev.Reason(); removed {
		return q.ids[ev.ID] != nil
	}
	return ev.Kind == store.EventInsert && (q.keys[ev.Entry.Key] != nil || q.ids[ev.ID] != nil)
}

// claimed reports whether id is an own entry whose insertion was not read from the log yet.
func (q *queue) claimed(id policy.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ids[id] != nil
}

// answer returns an answer that the shared store may not have yet. barred says that whatever that store has under the key is older than
// what happened here.
func (q *queue) answer(k store.Key, known *store.Entry) (e *store.Entry, barred bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.keys[k]
	switch {
	case one == nil:
		return nil, q.removing[k] > 0
	case one.entry != nil && known != nil && one.entry.AnswerOf(known):
		return one.entry, false
	}
	return nil, one.entry != nil || one.it.void
}

// unsent reports whether e has never left this process.
func (q *queue) unsent(e *store.Entry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.ids[e.ID]
	return one != nil && !one.tried && !one.back && one.entry != nil && one.entry.AnswerOf(e)
}

// pending reports whether the answer of a key waits to be appended.
func (q *queue) pending(k store.Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.keys[k]
	return one != nil && one.entry != nil
}

// unsentID reports whether id is an own entry that is not in the shared store.
func (q *queue) unsentID(id policy.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.ids[id]
	return one != nil && one.entry != nil
}
