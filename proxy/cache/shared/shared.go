// Package shared lets the caches of several processes, its members, be one: it follows the log of a store that they share, and appends to
// it what happens here.
//
// A member has the metadata of every entry in memory, and the answers of some: those that it has stored and not yet appended, and those
// of its near-cache. The others are fetched. Its state is the log, applied in order, and its own changes that are not in the log yet.
// Four goroutines work beside the requests:
//
//	sender    appends own events, in batches, purges first
//	follower  reads the log and applies it; loads all records again where the log has a gap
//	pulse     reports to the store three times a second, and learns from it the end of the log, the keeper and the clock
//	leads     renews the leases of flights
//
// # What is in the store, and who writes it
//
// All keys share a prefix and one slot, and each call that changes several of them is one script: see package store/redis.
//
//	key                written by                                    read by
//	log                Append: a batch of events; Purge: a filter    each follower, in order, from its position on
//	head, mark         Append, Purge: batches and purges so far      Append, Beat; the mark with every Fetch
//	a:KEY              Append: the answer, sealed, with its mark     Fetch
//	r:N, s:N, x        Append: records and aliases of entries;       a member that loads
//	                   the keeper: state of the policy
//	purges             Purge adds its filter, Finish removes it      Beat; a member that loads makes them again
//	members, process   Agree, Beat, Close                            Beat
//	keeper             Beat: a lease of one member, which evicts     Beat
//	f:KEY              FetchOrLease, Lease, Renew, Release: a flight  FetchOrLease, Lease
//
// A mark is (number of the log, purges so far). The number is drawn when a log begins, so a server that was emptied has another one.
//
// # An answer
//
//	member A                     store                              member B
//	Keep: insert, claim
//	queue ── Append(mark) ──────► log n, a:KEY, r:N
//	      ◄─ Read ──────────────  log n  ─────────────── Read ────► Apply: metadata and vector, no answer
//	claim ends                                                      Lookup finds the entry
//	                              a:KEY, mark  ◄──────── Fetch ──── not in the near-cache
//	                                           ─────────────────►   serves if the mark is the one applied here
//
// Between Keep and Read an own change is not in the log yet. It comes later in the log than whatever A reads meanwhile, so it wins over
// that: a claim protects the entry (Overrides), and A applies its aliases, anchors and removals again at their place in the log. Then all
// members that have read the same log have the same entries.
//
// # A purge
//
//	1  A removes the entries from its cache and raises the epoch: answers to requests of before are not kept.
//	2  A calls Purge. One script writes the filter to the log as batch n, raises the mark from m to m+1, and notes it as unfinished.
//	3  From now on Append under mark m fails with ErrPurged, and a Fetch shows m+1, so no member that has applied only m serves it.
//	4  Each follower reads batch n, removes what the filter selects, clears its near-cache, calls Options.Purged, and only then
//	   takes over the mark m+1.
//	5  Each pulse reports the last batch applied. A waits until all members have applied n, or for the grace: see below.
//	6  A appends the removals of the entries, so answers and records leave the store, and then calls Finish for m+1.
//	7  When all members have applied n, A drops the log before it: it has the prompts of what was removed.
//
// If A ends between 2 and 6, the purge stays unfinished. A member that loads the entries makes it again before it serves any of them, and
// the keeper loads them after ten seconds for this reason. Purges that A cannot send wait in front of everything else; until they are sent,
// A serves nothing that they name, and Purge returns an error.
//
// # A member that is cut off
//
//	last pulse whose end was applied          + grace                               contact
//	────────┼────────────────────────────────────┼────────────────────────────────────┼──────────
//	        live: serves all that is stored      deaf: serves only what has never     continues or loads
//	                                             left it, and appends nothing
//
// A pulse counts from its beginning, and only when all that it showed of the log is applied. So after the grace a purge holds in all members,
// also in those that cannot be reached. When contact returns:
//
//   - The log continues at the member's position: it applies the batches that it lacks and is live again. What waited is appended.
//   - The log has a gap (shortened, emptied, or an older copy after a failover): the member loads all records, removes what is not among
//     them, and continues from the end that it saw before the load. It makes again the unfinished purges, and those of its own memory that
//     the store has lost or that are younger than a minute. If it may have missed a purge, it also drops the answers that it has not
//     appended, and refuses the answers to requests of before.
//   - The store has another secret, or its process number belongs to another member: everything here is dropped first.
//
// # Rules that keep a purge from being undone, and a replaced answer from returning
//
//   - An answer is appended only under the mark that this member has applied.
//   - A fetched answer is served only if the store's mark is the one applied here, and if it was written under that mark or its entry is
//     still resident. An answer of the near-cache is served only for the very entry that is resident.
//   - A deaf member serves only answers that no other process has seen.
//
// No fault of the shared store fails a request, or delays it for longer than FetchTimeout: a fetch that finds nothing brings the lease of the key.
package shared

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
)

// FetchTimeout bounds one fetch of an answer, with the lease of its key: on a busy machine a reply can take as long.
const FetchTimeout = 250 * time.Millisecond

const (
	callTimeout = time.Second             // of any other call
	leadWait    = 10 * time.Second        // how long a request waits for another member to answer it
	leadTTL     = 1500 * time.Millisecond // of the lease of a flight
)

// Options of a Shared.
type Options struct {
	Link Link // required

	// Away is set where the store could not be reached at the start: the cache then has a temporary secret and process number, and adopts
	// those of the store when it can be reached.
	Away bool

	Limit policy.Limit // the capacity, of all members together
	// Fit lowers the limit to which the keeper evicts, where what the entries take of its own memory asks for that; nil does not.
	Fit       func(policy.Limit) policy.Limit
	NearBytes int64 // of the near-cache; default 64 MiB, negative: none

	// QueueBytes bounds the events that wait to be appended; default 64 MiB. The oldest are dropped first.
	QueueBytes int64

	// Purged is called after a purge of another member was applied, before it is confirmed: what was derived from entries must be
	// dropped. nil ignores.
	Purged func(store.Filter)
	// OnFault is called with a fault and the step that it happened in. nil ignores.
	OnFault func(step string, err error)

	grace       time.Duration // how long a member that learns nothing of the log serves what others may have purged; default 1 s
	queueEvents int           // most events that wait to be appended; default 65,536
}

func (o *Options) fill() error {
	l := o.Link
	if l.Log == nil || l.Group == nil || l.Answers == nil || l.Leases == nil || l.Records == nil {
		return errors.New("share a cache: a part of the link is missing")
	}
	defaults(&o.NearBytes, 64<<20)
	defaults(&o.QueueBytes, 64<<20)
	defaults(&o.grace, time.Second)
	defaults(&o.queueEvents, 1<<16)
	if o.Fit == nil {
		o.Fit = func(l policy.Limit) policy.Limit { return l }
	}
	if o.Purged == nil {
		o.Purged = func(store.Filter) {}
	}
	if o.OnFault == nil {
		o.OnFault = func(string, error) {}
	}
	return nil
}

func defaults[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Shared connects one cache with the others. It is the cache's Remote and its Log. All methods are safe for concurrent use.
type Shared struct {
	opt   Options
	cache *cache.Cache // set by Start

	view    *view
	queue   *queue
	purges  *purges
	near    *near
	pulse   *pulse
	leads   *leads
	breaker *gobreaker.CircuitBreaker[store.Fetched]
	count   counters

	joined atomic.Bool // secret and process number are those of the shared store
	loaded atomic.Bool // the entries are here
	// purging is set while a purge from the log is applied whose removals this process appends: its own, which others may have stored
	// entries before that were not here yet; as the keeper, because the process that purged may be gone; and while an own one is to be
	// appended: a load may have brought what that names back here alone, and the member of the other purge does not have it any more.
	purging atomic.Bool

	stop    context.CancelFunc // nil before Start
	running sync.WaitGroup
}

var (
	_ cache.Remote = (*Shared)(nil)
	_ cache.Log    = (*Shared)(nil)
)

// New returns a Shared that does nothing yet: pass it to cache.New as Remote and Log, then call Start.
func New(o Options) (*Shared, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Shared{opt: o}
	s.joined.Store(!o.Away)
	s.view = newView(o.grace)
	s.queue = newQueue(o.queueEvents, o.QueueBytes, &s.count)
	s.purges = newPurges()
	s.near = newNear(o.NearBytes)
	s.pulse = newPulse(s)
	s.leads = newLeads(s)
	s.breaker = newBreaker()
	return s, nil
}

// Begin notes the end of the log. Call it before the store is opened with the records of the Link, so that the log is followed from a place
// that they include. Without it, or after an error, Start loads them itself.
func (s *Shared) Begin(ctx context.Context) error {
	began := time.Now()
	p, err := s.opt.Link.Group.Beat(ctx, store.Position{}, false)
	if err != nil {
		return fmt.Errorf("begin to share: %w", err)
	}
	s.pulse.clock(p, began, time.Since(began))
	s.repeat(p)
	s.view.set(p.End, p.Mark)
	s.loaded.Store(true)
	return nil
}

// Start begins to follow and to append; c is the cache that was made with s.
func (s *Shared) Start(c *cache.Cache) {
	s.cache = c
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	f := &follower{s: s}
	if g := s.opt.Link.Group; !s.opt.Away {
		f.secret, f.process = g.Secret(), g.Process()
	}
	for _, run := range []func(context.Context){(&sender{s: s}).run, f.run, s.pulse.run, s.leads.run} {
		s.running.Go(func() { run(ctx) })
	}
}

// Close appends what waits, until ctx ends, and stops. It does not close the Link: that ends a call which is under way for longer than most.
func (s *Shared) Close(ctx context.Context) error {
	if s.stop == nil {
		return nil
	}
	err := s.queue.empty(ctx)
	s.stop()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(readWait + callTimeout):
	}
	return err
}

// Now is the time of the shared store: that of this process, corrected by what the last pulse said.
func (s *Shared) Now() time.Time { return time.Now().Add(time.Duration(s.pulse.offset.Load())) }

// guard runs a step of one of the four goroutines. A panic in it is an error, so that it costs what the step was to do, and no request.
func guard(run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return run()
}

// guarded is guard for a step whose own errors are faults already.
func (s *Shared) guarded(ctx context.Context, step string, run func(context.Context)) {
	if err := guard(func() error { run(ctx); return nil }); err != nil {
		s.fault(step, err)
	}
}

// bell wakes one goroutine that waits for it, at once or when it waits next.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// fault reports and counts a fault.
func (s *Shared) fault(step string, err error) {
	s.count.faults.Add(1)
	s.opt.OnFault(step, err)
}
