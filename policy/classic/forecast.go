package classic

import (
	"fmt"
	"math"

	"reprise/internal/container"
	"reprise/policy"
)

// What the policies evict next. Those that are not here move entries or draw in Victim, so that what they would evict cannot be read.
var (
	_ policy.Forecaster = (*LRU)(nil)
	_ policy.Forecaster = (*TTL)(nil)
	_ policy.Forecaster = (*lirs)(nil)
)

// offers offers entries of one Slots, whose order is that in which they are offered.
type offers[T any] struct {
	f     *policy.Forecast
	slots *container.Slots[policy.ID, T]
	full  bool
}

// queue offers n entries from slot towards the head, ForecastStep at most, and returns the next one.
func (o *offers[T]) queue(slot uint32, n int) (next uint32) {
	if o.full || n <= 0 {
		return slot
	}
	return o.slots.Walk(slot, min(n, policy.ForecastStep), func(slot uint32) bool {
		o.full = !o.f.Offer(o.slots.Cells[slot].Name, 0)
		return !o.full
	})
}

// start is where a call of Forecast goes on.
func start(from int, first uint32) uint32 {
	if from > 0 {
		return uint32(from)
	}
	return first
}

func order[T any](s *container.Slots[policy.ID, T], id policy.ID, words string) string {
	if _, ok := s.Find(id); !ok {
		return ""
	}
	return words
}

// Forecast offers the least recently used first.
func (l *LRU) Forecast(to *policy.Forecast, from int) (next int) {
	o := offers[struct{}]{f: to, slots: &l.slots}
	return int(o.queue(start(from, l.queue.Tail), policy.ForecastStep))
}

// Why is the order.
func (l *LRU) Why(id policy.ID) string {
	return order(&l.slots, id, "the least recently used entries go first")
}

// Forecast offers the entry first whose life began first.
func (l *TTL) Forecast(to *policy.Forecast, from int) (next int) {
	o := offers[int64]{f: to, slots: &l.slots}
	return int(o.queue(start(from, l.queue.Tail), policy.ForecastStep))
}

// Why is when the life began.
func (l *TTL) Why(id policy.ID) string {
	slot, ok := l.slots.Find(id)
	if !ok {
		return ""
	}
	return fmt.Sprintf("the entries whose life began first go first; this one's began with request %d", l.slots.Cells[slot].Val)
}

// Forecast offers the HIR, the oldest first, then the LIR.
func (l *lirs) Forecast(to *policy.Forecast, _ int) (next int) {
	hirs := offers[uint64]{f: to, slots: &l.hirs}
	hirs.queue(l.fifo.Tail, l.fifo.Len)
	if hirs.full {
		return 0
	}
	more := true
	l.stack.Walk(l.order.Tail, policy.ForecastStep, func(slot uint32) bool {
		if x := &l.stack.Cells[slot]; x.Val.is == lir {
			more = to.Offer(x.Name, 0)
		}
		return more
	})
	if more && l.staged.id != 0 {
		to.Offer(l.staged.id, math.Inf(1))
	}
	return 0
}

// Why is the kind.
func (l *lirs) Why(id policy.ID) string {
	_, queued := l.hirs.Find(id)
	switch {
	case !l.has(id):
		return ""
	case queued:
		return "HIR: it returns late or not at all; the oldest of these go first"
	case id == l.staged.id:
		return "the newest entry, which goes last"
	}
	return "LIR: it returns after few other entries were used, and goes only when no HIR is left"
}
