package haz

import "math/rand/v2"

// learner teaches the model by samples of the entries, and values entries by it.
type learner struct {
	entries
	model   model
	random  *rand.PCG
	samples int
	pool    pool
	newest  uint32 // entry, 0 if it has gone
	touched uint32 // see touch
}

// look is the point of an entry when it was last sampled, with the bit made set; 0 if it was not sampled since its last use.
type look uint64

const made look = 1 << 63

func (k look) point() point { return point(k &^ made) }

// looksPerRequest is the number of entries sampled at a request: with 2 the hit ratio falls by 0.1 points, with 8 it does not rise.
const looksPerRequest = 4

// keepGhost remembers e, and drops the oldest ghost beyond the room after a last look.
func (l *learner) keepGhost(e uint32, room int) {
	if room == 0 || l.key(e) == 0 {
		l.look(e)
		l.free(e)
		return
	}
	l.slots.PushHead(&l.ghosts, e)
	if l.ghosts.Len > room {
		oldest := l.ghosts.Tail
		l.slots.Unlink(&l.ghosts, oldest)
		l.look(oldest)
		l.free(oldest)
	}
}

// point returns the features of x now.
func (l *learner) point(x *row) point {
	t := l.topics.at(x.topic)
	c := &l.clock
	age, idle := float64(l.age(x)), float64(max(c.now-t.last, 0))
	return point(x.own) |
		point(lb(age*c.scale))<<bitAge |
		point(lb(4*float64(x.crf)*c.crf.near(age)))<<bitCRF |
		point(lb(float64(t.slow)*c.slow.near(idle)))<<bitSlow |
		point(lb(4*float64(t.fast)*c.fast.near(idle)))<<bitFast |
		point(lb(idle*c.scale))<<bitIdle |
		point(lb(float64(t.visits-x.seen)))<<bitVisits |
		point(t.widthLB)<<bitWidth
}

// forecast returns the features of e now, and the logits of the model for them.
func (l *learner) forecast(e uint32) (p point, z forecast) {
	p = l.point(&l.rows[e])
	return p, l.model.logits(p)
}

// score returns the number by which eviction compares e, whose logits are z.
func (l *learner) score(e uint32, z forecast) float32 {
	if l.worth == nil {
		return z.gain()
	}
	return z.gain() + l.worth[e]
}

// least finds the resident with the lowest score of the newest one, of what is drawn and of the pool, or of all where there are few.
func (l *learner) least() uint32 {
	best := candidate{}
	if l.newest != 0 {
		best = l.rated(l.newest)
	}
	if len(l.residents) <= l.samples+poolLen {
		for _, e := range l.residents {
			best = best.less(l.rated(e))
		}
		return best.entry
	}
	l.refresh()
	for _, x := range l.pool.all[:l.pool.n] {
		best = best.less(x)
	}
	return best.entry
}

// rated returns e with its score now.
func (l *learner) rated(e uint32) candidate {
	_, z := l.forecast(e)
	return candidate{e, l.score(e, z)}
}

// refresh scores the pool again, and offers it some more residents.
func (l *learner) refresh() {
	all := l.pool.all[:l.pool.n]
	for i := range all {
		all[i] = l.rated(all[i].entry)
	}
	l.pool.rank()
	var some [batchLen]uint32
	for left := l.samples; left > 0; left -= batchLen {
		batch := some[:min(left, batchLen)]
		l.draw(batch)
		for _, e := range batch {
			l.pool.offer(l.rated(e))
		}
	}
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

// touch reads the row of each entry and its topic, all at once: waiting for memory one by one takes twice the time.
func (l *learner) touch(batch []uint32) {
	var topics [batchLen]uint32
	for i, e := range batch {
		topics[i] = l.rows[e].topic
	}
	visits := uint32(0)
	for _, t := range topics[:len(batch)] {
		visits |= l.topics.at(t).visits
	}
	l.touched = visits // else the compiler would leave out the loop
}

// learn corrects the model by a use of e, 0 for an entry that is not known, and samples some that are.
func (l *learner) learn(e uint32) {
	if len(l.residents)+l.ghosts.Len == 0 {
		return
	}
	some := l.choose()
	l.touchAll(e, some)
	if x := &l.rows[e]; x.look&made != 0 {
		p := x.look.point()
		l.model.correct(p, l.model.logits(p).foreseen(), l.discount(x))
		x.look = 0
	}
	if l.rows[some[0]].topic != 0 { // else unused, which is rare
		l.look(some[0])
	}
	for _, e := range some[1:] {
		if e != 0 {
			l.pool.offer(candidate{e, l.score(e, l.look(e))})
		}
	}
}

// touchAll touches all that a request reads: what is sampled, what is used and its neighbour, and the ghost that the next one will drop.
func (l *learner) touchAll(e uint32, some [looksPerRequest]uint32) {
	oldest := l.ghosts.Tail
	l.touch([]uint32{some[0], some[1], some[2], some[3], e, oldest})
	l.touched |= l.slots.Cells[oldest].Prev | l.rows[l.topics.at(l.rows[e].topic).latest].topic
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

// look corrects what the last look at e foresaw by what this one does, and returns the logits of e before that.
func (l *learner) look(e uint32) forecast {
	x := &l.rows[e]
	p, z := l.forecast(e)
	if x.look&made != 0 {
		wanted, v, then := l.discount(x), z.foreseen(), x.look.point()
		for i := range wanted {
			wanted[i] *= v[i]
		}
		if then != p { // which it seldom is where little happens
			v = l.model.logits(then).foreseen()
		}
		l.model.correct(then, v, wanted)
	}
	x.look, x.looked = look(p)|made, uint32(l.clock.now)
	return z
}

// discount returns v for a use now as the last look at x should have predicted it: 2^(-s/h), s requests after that look.
func (l *learner) discount(x *row) (d forecast) {
	since := float64(uint32(l.clock.now) - x.looked)
	for i := range d {
		d[i] = float32(l.clock.waits[i].near(since))
	}
	return d
}
