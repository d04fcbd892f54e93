package shared

import (
	"slices"
	"time"

	"reprise/proxy/cache"
	"reprise/store"
)

const (
	useDelay   = 50 * time.Millisecond // how long hints wait for others at most
	batchMost  = 512                   // events
	batchBytes = 256 << 10
	slowest    = 64 << 10 // bytes a second: a slower link appends no large answers
)

// nextSerial returns a serial above all that were given.
func (q *queue) nextSerial() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.serial++
	return q.serial
}

// ready returns after which time take should be called; 0: now, negative: when more was added.
func (q *queue) ready(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.trying != nil || q.live[0] > 0 || q.live[1] >= batchMost:
		return 0
	case q.live[1] == 0:
		return -1
	}
	for _, it := range q.waiting {
		if !it.void {
			return max(useDelay-now.Sub(it.added), 0)
		}
	}
	return -1
}

// sending is a batch as the store gets it. It is a copy: what the batch itself has is dropped when it is read from the log, which may be while it is
// sent again.
type sending struct {
	serial   uint64
	mark     store.Mark
	events   []cache.Event
	transfer time.Duration // how long it may be on its way
}

// take returns the next batch, nil where nothing waits. m is the mark that is applied here, read before the call: what a purge under a
// later one removes from the cache while the batch is made may be in it, and the store refuses it then. A batch of unknown fate is
// returned again as it was. Under another mark it cannot have been appended, or it would have been read before the purge: it is made
// again. For a full server it has removals alone, if any wait: they make room for the rest. That they come before what was added earlier does not
// matter: of an entry that is gone, nothing else has an effect.
func (q *queue) take(m store.Mark, full bool) *sending {
	q.mu.Lock()
	defer q.mu.Unlock()
	if b := q.trying; b != nil {
		if b.mark == m {
			return b.sending()
		}
		q.returnLocked()
	}
	b := &batch{mark: m}
	if full {
		b.items, q.waiting = removalsOf(q.waiting)
		q.live[0], q.next = q.live[0]-len(b.items), [2]int{}
	}
	bytes, at, most := int64(0), 0, batchMost
	if len(b.items) > 0 {
		most = 0
	}
	for ; at < len(q.waiting) && len(b.items) < most && (bytes < batchBytes || len(b.items) == 0); at++ {
		it := q.waiting[at]
		if it.void {
			continue
		}
		q.live[hint(it.ev.Kind)]--
		if c := q.ids[it.ev.ID]; it.ev.Kind == store.EventInsert {
			if c == nil { // removed since, perhaps by a purge
				q.bytes -= it.size
				continue
			}
			c.tried = c.tried || c.it == it
		}
		b.items = append(b.items, it)
		bytes += it.size
	}
	q.waiting = slices.Delete(q.waiting, 0, at)
	q.next = [2]int{max(q.next[0]-at, 0), max(q.next[1]-at, 0)}
	if len(b.items) == 0 {
		return nil
	}
	q.serial++
	b.serial, q.trying = q.serial, b
	return b.sending()
}

// removalsOf takes up to a batch of removals out of what waits.
func removalsOf(waiting []*item) (removals, rest []*item) {
	rest = slices.DeleteFunc(waiting, func(it *item) bool {
		_, removed := it.ev.Reason()
		if it.void || !removed || len(removals) >= batchMost {
			return false
		}
		removals = append(removals, it)
		return true
	})
	return removals, rest
}

func (b *batch) sending() *sending {
	s := &sending{serial: b.serial, mark: b.mark, events: make([]cache.Event, len(b.items))}
	bytes := int64(0)
	for i, it := range b.items {
		s.events[i] = it.ev
		bytes += it.size
	}
	s.transfer = time.Duration(bytes) * time.Second / slowest
	return s
}

// refused puts the batch that was tried back: it is not in the log.
func (q *queue) refused() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trying != nil {
		q.returnLocked()
	}
}

func (q *queue) returnLocked() {
	for _, it := range q.trying.items {
		q.live[hint(it.ev.Kind)]++
		if c := q.ids[it.ev.ID]; c != nil && c.it == it {
			c.tried = false
		}
	}
	q.waiting = slices.Insert(q.waiting, 0, q.trying.items...)
	q.next, q.trying = [2]int{}, nil
	q.boundLocked()
}

// appended notes that the batch that was tried is in the shared store, in a place not behind end. applied is the place up to which the log
// was read. jumped reports that it was there before a load that this process has made since: the claims of the batch have hidden what came
// after it in the log.
func (q *queue) appended(serial, end, applied uint64) (jumped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trying == nil || q.trying.serial != serial { // read from the log before the answer came
		return false
	}
	q.appendedLocked(end)
	q.passedLocked(applied)
	return end <= applied
}

func (q *queue) appendedLocked(end uint64) {
	b := q.trying
	b.end = end
	q.trying, q.sent = nil, append(q.sent, b)
	for _, it := range b.items {
		q.bytes -= it.size
		it.size, it.ev.Vector = 0, nil
		if _, removed := it.ev.Reason(); removed {
			q.removedLocked(it.key)
		}
		if it.ev.Kind != store.EventInsert {
			continue
		}
		it.ev.Entry = nil
		if c := q.keys[it.key]; c != nil && c.it == it {
			c.entry = nil
		}
	}
}

// confirm notes that a batch was read from the log, and returns what is to be applied again here: changes of others were applied since
// they happened, which come before them in the log. known is false for a serial that this process has not used.
func (q *queue) confirm(serial, n uint64) (again []cache.Event, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trying != nil && q.trying.serial == serial {
		q.appendedLocked(n)
	}
	for i, b := range q.sent {
		if b.serial != serial {
			continue
		}
		q.sent = slices.Delete(q.sent, i, i+1)
		return q.confirmLocked(b), true
	}
	return nil, false
}

func (q *queue) confirmLocked(b *batch) (again []cache.Event) {
	for _, it := range b.items {
		switch _, removed := it.ev.Reason(); {
		case it.ev.Kind == store.EventInsert:
			if c := q.keys[it.key]; c != nil && c.it == it {
				q.unclaimLocked(c)
			}
		case removed || it.ev.Kind == store.EventAlias || it.ev.Kind == store.EventAnchor:
			again = append(again, it.ev)
		}
	}
	return again
}

// passed notes that the log was read up to n: a batch that was appended twice, the second time without effect, is not found behind its
// answer.
func (q *queue) passed(n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.passedLocked(n)
}

func (q *queue) passedLocked(n uint64) {
	for len(q.sent) > 0 && q.sent[0].end <= n {
		q.confirmLocked(q.sent[0])
		q.sent = q.sent[1:]
	}
}

// restart follows a gap in the log: what was appended is among the entries that are loaded next, or was lost. keep is whether the
// insertions that wait stay; otherwise a purge that was missed may name them, and they are dropped. m is the mark after the gap.
func (q *queue) restart(m store.Mark, keep bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trying != nil && (q.trying.mark != m || !keep) {
		q.returnLocked()
	}
	for _, b := range q.sent {
		q.confirmLocked(b)
	}
	q.sent, q.lost = nil, false
	if keep {
		return
	}
	for _, it := range q.waiting {
		if it.ev.Kind == store.EventInsert && !it.void {
			q.count.drop(store.EventInsert)
			q.voidLocked(it)
		}
	}
	clear(q.keys)
	clear(q.ids)
	q.orphans = nil
}

// clear drops everything: the process gets another number.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting, q.trying, q.sent, q.orphans = nil, nil, nil, nil
	q.live, q.next, q.bytes = [2]int{}, [2]int{}, 0
	clear(q.keys)
	clear(q.ids)
	clear(q.removing)
}
