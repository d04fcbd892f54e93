package shared

import (
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/store"
)

// counters are sums since the start.
type counters struct {
	faults, batches, refused, gaps, loads, repeated                atomic.Int64
	fetches, timeouts, broken, refusedMark, deaf                   atomic.Int64
	nearHits, followed, droppedHints, droppedOther, droppedInserts atomic.Int64
}

func (c *counters) drop(k store.EventKind) {
	switch {
	case k == store.EventInsert:
		c.droppedInserts.Add(1)
	case hint(k) == 1:
		c.droppedHints.Add(1)
	default:
		c.droppedOther.Add(1)
	}
}

// Stats are the figures of a member.
type Stats struct {
	Joined  bool // secret and process number are those of the shared store
	Loaded  bool // the entries were loaded since the start
	Live    bool // a purge of another member that is older than the grace was made here
	Keeper  bool
	Keeping uint16 // the process that decides evictions, at the last beat; 0: none
	Failing bool   // the last beat failed: the server does not answer
	Breaker string // "closed", "half-open" or "open"
	Members []store.Member
	End     store.Position // of the log, at the last beat
	Applied store.Position

	Lag    uint64        // batches of the log that are not applied, at the last beat
	Behind time.Duration // for how long this member may have missed something

	Queued         int // events that wait to be appended, or are being appended
	QueuedBytes    int64
	PendingPurges  int
	DroppedInserts int64 // answers that no other member got
	DroppedHints   int64 // uses, arrivals, anchors
	DroppedOther   int64 // aliases and removals
	Batches        int64 // appended
	RefusedBatches int64 // by the store, under an old mark
	Faults         int64
	Gaps, Loads    int64 // gaps in the log; loads of all entries
	RepeatedPurges int64 // that the store had lost, or that were unfinished
	Fetches        int64 // calls for an answer
	Timeouts       int64
	Broken         int64 // fetches that the breaker refused
	RefusedByMark  int64 // answers that a purge may have named
	RefusedDeaf    int64
	NearHits       int64 // answers that were at hand
	NearEntries    int
	NearBytes      int64
	Followed       int64 // requests that waited for another member
}

// Stats returns the current figures.
func (s *Shared) Stats() Stats {
	c := &s.count
	at, _, _, _ := s.view.now()
	st := Stats{
		Joined: s.joined.Load(), Loaded: s.loaded.Load(), Live: s.view.live(), Keeper: s.pulse.keeps(), Applied: at,
		Behind: s.view.behind(), PendingPurges: int(s.purges.waiting.Load()),
		DroppedInserts: c.droppedInserts.Load(), DroppedHints: c.droppedHints.Load(), DroppedOther: c.droppedOther.Load(),
		Batches: c.batches.Load(), RefusedBatches: c.refused.Load(), Faults: c.faults.Load(),
		Gaps: c.gaps.Load(), Loads: c.loads.Load(), RepeatedPurges: c.repeated.Load(), Fetches: c.fetches.Load(),
		Timeouts: c.timeouts.Load(), Broken: c.broken.Load(), RefusedByMark: c.refusedMark.Load(), RefusedDeaf: c.deaf.Load(),
		NearHits: c.nearHits.Load(), Followed: c.followed.Load(),
	}
	st.Queued, st.QueuedBytes = s.queue.size()
	st.NearEntries, st.NearBytes = s.near.stats()
	switch s.breaker.State() {
	case gobreaker.StateClosed:
		st.Breaker = "closed"
	case gobreaker.StateHalfOpen:
		st.Breaker = "half-open"
	default:
		st.Breaker = "open"
	}
	st.pulse(s.pulse)
	return st
}

func (st *Stats) pulse(p *pulse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st.Members, st.End, st.Keeping, st.Failing = p.last.Members, p.last.End, p.last.Keeper, p.failing
	if st.End.N > st.Applied.N {
		st.Lag = st.End.N - st.Applied.N
	}
}
