package policy

import "math"

// point is where e lies at the present.
func (h *HAZ) point(e *hazEntry) (p hazPoint) {
	t := &h.topics.all[e.topic]
	c := &h.clock
	age, idle := float64(max(c.now-e.last, 0)), float64(max(c.now-t.last, 0))
	p[hazAge] = lb(age * c.scale)
	p[hazFreq] = e.fixed.freq
	p[hazCRF] = lb(4 * float64(e.crf) * c.crf.near(age))
	p[hazSlow] = lb(float64(t.slow) * c.slow.near(idle))
	p[hazFast] = lb(4 * float64(t.fast) * c.fast.near(idle))
	p[hazIdle] = lb(idle * c.scale)
	p[hazVisits] = lb(float64(t.visits - e.seen))
	p[hazWidth] = t.widthLB
	p[hazTurn] = e.fixed.turn
	p[hazDep] = e.fixed.dep
	return p
}

// value is what eviction compares.
func (h *HAZ) value(e *hazEntry) float32 {
	p := h.point(e)
	return h.model.log(&p) + e.worth
}

// least finds the least of the samples, or of all where there are no more; the newest entry is always among them.
func (h *HAZ) least() uint32 {
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
	var some [hazBatch]uint32
	for left := h.samples; left > 0; left -= hazBatch {
		batch := some[:min(left, hazBatch)]
		h.draw(batch)
		look(batch)
	}
	return best
}

const hazBatch = 64

// draw samples the residents.
func (h *HAZ) draw(batch []uint32) {
	n := uint64(len(h.residents))
	for i := range batch {
		batch[i] = h.residents[h.random.Uint64()>>32*n>>32]
	}
	h.touch(batch)
}

// touch reads a line of each entry and of its topic, all at once: waiting for memory one by one takes twice the time.
func (h *HAZ) touch(batch []uint32) {
	var topics [hazBatch]uint32
	for i, e := range batch {
		topics[i] = h.cells[e].topic
	}
	visits := uint32(0)
	for _, t := range topics[:len(batch)] {
		visits |= h.topics.all[t].visits
	}
	h.touched = visits // else the compiler would leave out the loop
}

// learn tells the model of a request for e (0: for an entry that is not known) and of 8 known entries that it was not for.
func (h *HAZ) learn(e uint32) {
	if e != 0 {
		p := h.point(&h.cells[e])
		h.model.step(&p, 1)
	}
	if len(h.residents)+h.ghosts.n == 0 {
		return
	}
	var some [8]uint32
	n := uint64(len(h.cells))
	for i := range some {
		some[i] = uint32(h.random.Uint64() >> 32 * n >> 32)
	}
	h.touch(some[:])
	for _, e := range some {
		if x := &h.cells[e]; x.topic != 0 { // else unused, which is rare
			p := h.point(x)
			h.model.expected(&p, float64(n)/float64(len(some)))
		}
	}
}
