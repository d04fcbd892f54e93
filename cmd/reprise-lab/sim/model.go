package sim

import (
	"fmt"
	"slices"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
)

// Model makes the cache of one policy at one capacity, for replays in which hits are not only those of equal identity.
type Model func(e policy.Evictor, limit policy.Limit) (Player, error)

// Player is the cache that a Model makes.
type Player interface {
	// Play answers r. It returns whether that was a hit, and how many entries were evicted for it. An error ends the replay.
	Play(r *Request, at policy.Tick) (hit bool, evicted int, err error)
	// Residents returns what is resident, and how often the policy named no victim or one that was not resident.
	Residents() (entries int, bytes int64, faults int)
}

// modelled is a cell whose cache is a Player. Clairvoyant policies get the next use of an identity, not the entry that will
// answer it: with hits by similarity belady is a heuristic, and no bound.
type modelled struct {
	result    Result
	player    Player
	seer      Clairvoyant
	hit       tally
	windows   *recorder
	evictions int64
	spent     time.Duration
	err       error
}

func newModelled(name string, c Capacity, o *Options, p *plan) (*modelled, error) {
	x := &modelled{result: newResult(name, c, o.Seed, p)}
	e, limit, err := c.evictor(name, o.Seed, p)
	if err != nil {
		return nil, err
	}
	if name == infinite {
		e = classic.NewLRU() // without a limit Victim is never called
	}
	x.seer, _ = e.(Clairvoyant)
	x.windows = newRecorder(e, o)
	x.player, err = o.Model(e, limit)
	return x, err
}

func (x *modelled) play(b *batch, now func() time.Time) {
	start := now()
	for i := range b.events {
		if x.err != nil {
			break
		}
		x.request(&b.events[i], &b.requests[i], b.start+int64(i)+1)
	}
	if !b.counts {
		x.hit, x.evictions = tally{}, 0
	}
	x.spent += now().Sub(start)
	if b.ends {
		x.windows.end(b.asked, x.hit)
	}
}

func (x *modelled) request(e *event, r *Request, seq int64) {
	if x.seer != nil {
		x.seer.Foresee(int64(e.next), int64(e.left))
	}
	hit, evicted, err := x.player.Play(r, policy.Tick{Seq: seq, At: e.at})
	if hit {
		x.hit.add(e)
	}
	x.evictions += int64(evicted)
	x.err = err
}

func (x *modelled) finish(asked, full tally) (Result, error) {
	r := x.result
	r.score(asked, full, x.hit)
	r.Evictions, r.Seconds = x.evictions, x.spent.Seconds()
	r.Windows = x.windows.finish(asked, x.hit)
	entries, bytes, faults := x.player.Residents()
	err := x.err
	switch {
	case err != nil:
	case faults != 0:
		err = fmt.Errorf("%d times no victim, or one that was not resident", faults)
	case r.Limit.Entries > 0 && entries > r.Limit.Entries || r.Limit.Bytes > 0 && bytes > r.Limit.Bytes:
		err = fmt.Errorf("%d entries of %d bytes are more than the capacity", entries, bytes)
	}
	if err != nil {
		err = fmt.Errorf("policy %s at %s: %w", r.Policy, r.Capacity, err)
	}
	return r, err
}

// withInfinite is the policies and, last, the infinite cache if it is not among them: its hits need a player of its own.
func withInfinite(policies []string) []string {
	if slices.Contains(policies, infinite) {
		return policies
	}
	return append(slices.Clone(policies), infinite)
}

// fullHits is the hits of the infinite cache.
func fullHits(cells []runner, b *batch) tally {
	for _, c := range cells {
		if x, ok := c.(*modelled); ok && x.result.Policy == infinite {
			return x.hit
		}
	}
	return b.full
}
