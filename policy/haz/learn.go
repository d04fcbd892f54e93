package haz

import (
	"math"
	"math/bits"
)

// look is what was to be seen of an entry when it was last looked at.
type look struct {
	point point
	made  bool
	at    uint32 // the low half of its Seq
}

// looksPerRequest is a compromise of time and learning: 2 lose 0.1 points, 8 gain nothing.
const looksPerRequest = 4

// point is where e lies at the present.
func (h *Policy) point(e *entry) (p point) {
	t := &h.topics.all[e.topic]
	c := &h.clock
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
	return p
}

func ones(set uint32) uint8 { return uint8(min(buckets-1, bits.OnesCount32(set))) }

// value is what eviction compares.
func (h *Policy) value(e *entry) float32 {
	p := h.point(e)
	return h.model.gain(&p) + e.worth
}

// least finds the least of the samples, or of all where there are no more; the newest entry is always among them.
func (h *Policy) least() uint32 {
	best, low := uint32(0), float32(math.Inf(1))
	look := func(some []uint32) {
		for _, e := range some {
			if v := h.value(&h.cells[e]); v < low || best == 0 {
				best, low = e, v
			}
		}
	}
	if h.newest != 0 {
		look([]uint32{h.newest})
	}
	if len(h.residents) <= h.samples {
		look(h.residents)
		return best
	}
	var some [batchLen]uint32
	for left := h.samples; left > 0; left -= batchLen {
		batch := some[:min(left, batchLen)]
		h.draw(batch)
		look(batch)
	}
	return best
}

const batchLen = 64

// draw samples the residents.
func (h *Policy) draw(batch []uint32) {
	n := uint64(len(h.residents))
	for i := range batch {
		batch[i] = h.residents[h.random.Uint64()>>32*n>>32]
	}
	h.touch(batch)
}

// touch reads a line of each entry and of its topic, all at once: waiting for memory one by one takes twice the time.
func (h *Policy) touch(batch []uint32) {
	var topics [batchLen]uint32
	for i, e := range batch {
		topics[i] = h.cells[e].topic
	}
	visits := uint32(0)
	for _, t := range topics[:len(batch)] {
		visits |= h.topics.all[t].visits
	}
	h.touched = visits // else the compiler would leave out the loop
}

// learn tells the model of a use of e, 0 for an entry that is not known, and looks at some that are.
func (h *Policy) learn(e uint32) {
	if l := &h.looks[e]; l.made {
		h.model.correct(&l.point, h.discount(l))
		l.made = false
	}
	if len(h.residents)+h.ghosts.Len == 0 {
		return
	}
	some := h.choose()
	h.touch(some[:])
	for _, e := range some {
		if h.cells[e].topic != 0 { // else unused, which is rare
			h.look(e)
		}
	}
}

// choose draws what is looked at: one of all known entries, the others of the residents, among which evictions choose.
func (h *Policy) choose() (some [looksPerRequest]uint32) {
	some[0] = uint32(h.random.Uint64() >> 32 * uint64(len(h.cells)) >> 32)
	n := uint64(len(h.residents))
	for i := 1; i < len(some) && n > 0; i++ {
		some[i] = h.residents[h.random.Uint64()>>32*n>>32]
	}
	return some
}

// look corrects what the last look at e foresaw by what this one does.
func (h *Policy) look(e uint32) {
	l := &h.looks[e]
	p := h.point(&h.cells[e])
	if l.made {
		wanted, v := h.discount(l), h.model.foreseen(&p)
		for i := range wanted {
			wanted[i] *= v[i]
		}
		h.model.correct(&l.point, wanted)
	}
	*l = look{p, true, uint32(h.clock.now)}
}

// discount is what a use now was worth at a look.
func (h *Policy) discount(l *look) (d forecast) {
	since := float64(uint32(h.clock.now) - l.at)
	for i := range d {
		d[i] = float32(h.clock.waits[i].near(since))
	}
	return d
}
