package haz

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"reprise/policy"
)

// learner teaches the model by samples of the entries, and values entries by it.
type learner struct {
	entries
	model   model
	random  *rand.PCG
	samples int
	looks   []look // by the slot of the entry
	newest  uint32 // entry, 0 if it has gone
	touched uint32 // see touch
}

// look is where an entry was when it was last sampled.
type look struct {
	point point
	made  bool
	at    uint32 // the low half of its Seq
}

// looksPerRequest is a compromise of time and learning: 2 lose 0.1 points, 8 gain nothing.
const looksPerRequest = 4

// take starts an entry that is not known.
func (l *learner) take(it policy.Item, seq int64) uint32 {
	e := l.add(it, seq)
	for int(e) >= len(l.looks) {
		l.looks = append(l.looks, look{})
	}
	return e
}

// drop forgets an entry that is neither resident nor a ghost.
func (l *learner) drop(e uint32) {
	l.free(e)
	l.looks[e] = look{}
}

// keepGhost remembers e, and drops the oldest ghost beyond the room after a last look.
func (l *learner) keepGhost(e uint32, room int) {
	if room == 0 || l.key(e) == 0 {
		l.look(e)
		l.drop(e)
		return
	}
	l.slots.PushHead(&l.ghosts, e)
	if l.ghosts.Len > room {
		oldest := l.ghosts.Tail
		l.slots.Unlink(&l.ghosts, oldest)
		l.look(oldest)
		l.drop(oldest)
	}
}

// point is where e lies at the present.
func (l *learner) point(e *entry) (p point) {
	t := l.topics.at(e.topic)
	c := &l.clock
	age, idle := float64(max(c.now-e.last, 0)), float64(max(c.now-t.last, 0))
	p[featureAge] = lb(age * c.scale)
	p[featureFreq] = e.freq
	p[featureCRF] = lb(4 * float64(e.crf) * c.crf.near(age))
	p[featureSlow] = lb(float64(t.slow) * c.slow.near(idle))
	p[featureFast] = lb(4 * float64(t.fast) * c.fast.near(idle))
	p[featureIdle] = lb(idle * c.scale)
	p[featureVisits] = lb(float64(t.visits - e.seen))
	p[featureWidth] = t.widthLB
	p[featureTurn] = e.turn
	p[featureBefore] = ones(e.before)
	p[featureAfter] = ones(e.after)
	p[featureGap] = e.gap
	p[featureHeld] = e.held
	p[jointed] = jointCell(e.gap, p[featureAge])
	return p
}

func ones(set uint32) uint8 { return uint8(min(buckets-1, bits.OnesCount32(set))) }

// value is what eviction compares.
func (l *learner) value(e *entry) float32 {
	p := l.point(e)
	return l.model.gain(&p) + e.value
}

// least finds the least of the samples, or of all where there are no more; the newest entry is always among them.
func (l *learner) least() uint32 {
	best, low := uint32(0), float32(math.Inf(1))
	compare := func(some []uint32) {
		for _, e := range some {
			if v := l.value(l.at(e)); v < low || best == 0 {
				best, low = e, v
			}
		}
	}
	if l.newest != 0 {
		compare([]uint32{l.newest})
	}
	if len(l.residents) <= l.samples {
		compare(l.residents)
		return best
	}
	var some [batchLen]uint32
	for left := l.samples; left > 0; left -= batchLen {
		batch := some[:min(left, batchLen)]
		l.draw(batch)
		compare(batch)
	}
	return best
}

const batchLen = 64

// draw samples the residents.
func (l *learner) draw(batch []uint32) {
	n := uint64(len(l.residents))
	for i := range batch {
		batch[i] = l.residents[l.random.Uint64()>>32*n>>32]
	}
	l.touch(batch)
}

// touch reads a line of each entry and of its topic, all at once: waiting for memory one by one takes twice the time.
func (l *learner) touch(batch []uint32) {
	var topics [batchLen]uint32
	for i, e := range batch {
		topics[i] = l.at(e).topic
	}
	visits := uint32(0)
	for _, t := range topics[:len(batch)] {
		visits |= l.topics.at(t).visits
	}
	l.touched = visits // else the compiler would leave out the loop
}

// learn corrects the model by a use of e, 0 for an entry that is not known, and samples some that are.
func (l *learner) learn(e uint32) {
	if k := &l.looks[e]; k.made {
		l.model.correct(&k.point, l.model.foreseen(&k.point), l.discount(k))
		k.made = false
	}
	if len(l.residents)+l.ghosts.Len == 0 {
		return
	}
	some := l.choose()
	l.touch(some[:])
	for _, e := range some {
		if l.at(e).topic != 0 { // else unused, which is rare
			l.look(e)
		}
	}
}

// choose draws what is sampled: one of all known entries, the others of the residents, among which evictions choose.
func (l *learner) choose() (some [looksPerRequest]uint32) {
	some[0] = uint32(l.random.Uint64() >> 32 * uint64(len(l.slots.Cells)) >> 32)
	n := uint64(len(l.residents))
	for i := 1; i < len(some) && n > 0; i++ {
		some[i] = l.residents[l.random.Uint64()>>32*n>>32]
	}
	return some
}

// look corrects what the last look at e foresaw by what this one does.
func (l *learner) look(e uint32) {
	k := &l.looks[e]
	p := l.point(l.at(e))
	if k.made {
		wanted, v := l.discount(k), l.model.foreseen(&p)
		for i := range wanted {
			wanted[i] *= v[i]
		}
		if k.point != p { // which it seldom is where little happens
			v = l.model.foreseen(&k.point)
		}
		l.model.correct(&k.point, v, wanted)
	}
	*k = look{p, true, uint32(l.clock.now)}
}

// discount is what a use now was worth at a look.
func (l *learner) discount(k *look) (d forecast) {
	since := float64(uint32(l.clock.now) - k.at)
	for i := range d {
		d[i] = float32(l.clock.waits[i].near(since))
	}
	return d
}
