package shared

import (
	"context"
	"slices"
	"sync"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
)

// item is an own event on its way into the log.
type item struct {
	ev    cache.Event
	key   store.Key // of an insertion or a removal
	seq   uint64    // of all that were added
	size  int64
	added time.Time
	void  bool // it was dropped, and keeps its place only
}

// batch is what is appended at once.
type batch struct {
	serial uint64
	mark   store.Mark
	items  []*item
	end    uint64 // its place in the log is not behind this one, once it is appended
}

// queue holds the own events that wait to be appended, and what of those that were is not confirmed yet. It is bounded: the oldest events
// are dropped to make room, removals last. An answer that is dropped leaves the cache too: it is among the orphans then.
type queue struct {
	most      int
	mostBytes int64
	count     *counters
	wake      bell

	mu       sync.Mutex // protects the rest
	keys     map[store.Key]*claim
	ids      map[policy.ID]*claim
	removing map[store.Key]int // own removals that are not in the shared store yet
	serial   uint64            // the last one given
	added    uint64            // items, ever
	lost     bool              // a removal was dropped since the last load: the shared store still has what it removed
	waiting  []*item           // in order
	live     [2]int            // how many of them are not void: others, and hints
	next     [2]int            // before this place in waiting none is left to be dropped: of others, of hints
	bytes    int64             // of waiting and trying
	trying   *batch            // being appended, or of unknown fate
	sent     []*batch
	orphans  []*store.Entry // entries in the cache whose insertion was dropped
}

func newQueue(events int, bytes int64, count *counters) *queue {
	return &queue{most: events, mostBytes: bytes, count: count, wake: newBell(),
		keys: map[store.Key]*claim{}, ids: map[policy.ID]*claim{}, removing: map[store.Key]int{}}
}

// hint is 1 for events that only inform policy and topics, and 0 for others. Hints wait for others, and are at most a quarter of what
// waits.
func hint(k store.EventKind) int {
	if k == store.EventUse || k == store.EventArrive || k == store.EventAnchor || k == store.EventVector || k == store.EventSample {
		return 1
	}
	return 0
}

// sizeOf is about what an event takes in memory.
func sizeOf(ev *cache.Event) int64 {
	size := int64(256 + 4*len(ev.Vector) + len(ev.Sample))
	if ev.Entry != nil {
		size += int64(len(ev.Entry.Answer) + len(ev.Entry.Prompt))
	}
	return size
}

// add appends an event of the cache to those that wait. The cache holds its lock.
func (q *queue) add(ev *cache.Event) {
	it := &item{ev: *ev, key: ev.Key, size: sizeOf(ev), added: time.Now()}
	q.mu.Lock()
	defer q.mu.Unlock()
	if ev.Kind == store.EventVector && q.bytes > q.mostBytes/4 { // the others can compute it, and answers need the room
		q.count.drop(ev.Kind)
		return
	}
	if _, removed := ev.Reason(); removed {
		q.cancelLocked(ev.ID)
		q.removing[it.key]++
	} else if ev.Kind == store.EventInsert {
		it.key = ev.Entry.Key
		q.claimLocked(it)
	}
	q.added++
	it.seq = q.added
	q.waiting = append(q.waiting, it)
	q.addedLocked(it)
	q.boundLocked()
	if hint(ev.Kind) == 0 || q.live[1] == 1 || q.live[1] >= batchMost {
		q.wake.ring()
	}
}

func (q *queue) addedLocked(it *item) {
	q.live[hint(it.ev.Kind)]++
	q.bytes += it.size
}

// voidLocked drops an item that waits.
func (q *queue) voidLocked(it *item) {
	q.live[hint(it.ev.Kind)]--
	q.bytes -= it.size
	if _, removed := it.ev.Reason(); removed {
		q.removedLocked(it.key)
	}
	it.void, it.ev, it.size = true, cache.Event{ID: it.ev.ID}, 0
}

// boundLocked drops what exceeds the bounds.
func (q *queue) boundLocked() {
	for q.live[1] > max(q.most/4, 1) && q.dropLocked(1, false) {
	}
	for q.live[0] > q.most && (q.dropLocked(0, false) || q.dropLocked(0, true)) {
	}
	for q.bytes > q.mostBytes && (q.dropLocked(0, false) || q.dropLocked(1, false)) {
	}
	if len(q.waiting) > 2*(q.live[0]+q.live[1])+1024 {
		q.waiting = slices.DeleteFunc(q.waiting, func(it *item) bool { return it.void })
		q.next = [2]int{}
	}
}

// dropLocked drops the oldest of the hints or of the others, and reports whether there was one. Removals stay unless they are to be
// dropped too.
func (q *queue) dropLocked(kind int, removals bool) bool {
	at := q.next[kind]
	if removals {
		at = 0
	}
	for ; at < len(q.waiting); at++ {
		it := q.waiting[at]
		if _, removed := it.ev.Reason(); it.void || hint(it.ev.Kind) != kind || removed && !removals {
			continue
		}
		q.count.drop(it.ev.Kind)
		_, removed := it.ev.Reason()
		q.lost = q.lost || removed
		if c := q.ids[it.ev.ID]; c != nil && c.it == it {
			q.orphans = append(q.orphans, c.entry)
			c.entry = nil
		}
		q.voidLocked(it)
		break
	}
	found := at < len(q.waiting)
	if !removals {
		q.next[kind] = at
	}
	return found
}

// takeOrphans returns entries that the cache is to remove. Their claims stay until then.
func (q *queue) takeOrphans() []*store.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.orphans
	q.orphans = nil
	return all
}

// empty waits until nothing waits to be appended.
func (q *queue) empty(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if n, _ := q.size(); n == 0 {
			return nil
		}
		q.wake.ring()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// last is the number of the last item that was added.
func (q *queue) last() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added
}

// has reports whether an item up to a number is still to be appended, and whether removals were dropped, which may have been among these items.
func (q *queue) has(seq uint64) (waits, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trying != nil && q.trying.items[0].seq <= seq {
		return true, q.lost
	}
	at := slices.IndexFunc(q.waiting, func(it *item) bool { return !it.void })
	return at >= 0 && q.waiting[at].seq <= seq, q.lost
}

// lacks reports whether the shared store has what was removed here, because removals were dropped, and whether nothing waits any more.
func (q *queue) lacks() (lost, empty bool) {
	n, _ := q.size()
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost, n == 0
}

// size is how many events wait, and what they take.
func (q *queue) size() (events int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events = q.live[0] + q.live[1]
	if q.trying != nil {
		events += len(q.trying.items)
	}
	return events, q.bytes
}
