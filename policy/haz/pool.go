package haz

// pool holds the residents with the lowest scores among those sampled lately. A resident that was nearly the victim is a good candidate for the next one
// (Psounis and Prabhakar, INFOCOM 2001): 8 draws with the pool find as good victims as 32 without it.
type pool struct {
	all   [poolLen]candidate
	n     int
	worst int // which of them has the highest score
}

// candidate is a resident that may be the next victim.
type candidate struct {
	entry uint32 // 0: none
	score float32
}

// less returns the candidate with the lower score.
func (c candidate) less(other candidate) candidate {
	if c.entry == 0 || other.score < c.score {
		return other
	}
	return c
}

const poolLen = 8

// offer puts x into the pool if there is room, or if its score is lower than the highest there.
func (b *pool) offer(x candidate) {
	if b.n == poolLen && x.score >= b.all[b.worst].score {
		return
	}
	i := b.find(x.entry)
	switch {
	case i < b.n:
	case b.n < poolLen:
		b.n++
	default:
		i = b.worst
	}
	b.all[i] = x
	b.rank()
}

// drop takes e out of the pool, if it is there.
func (b *pool) drop(e uint32) {
	if i := b.find(e); i < b.n {
		b.n--
		b.all[i] = b.all[b.n]
		b.rank()
	}
}

// find returns the index of e, or b.n if it is not in the pool.
func (b *pool) find(e uint32) int {
	for i := range b.all[:b.n] {
		if b.all[i].entry == e {
			return i
		}
	}
	return b.n
}

// rank finds the candidate with the highest score.
func (b *pool) rank() {
	b.worst = 0
	for i := 1; i < b.n; i++ {
		if b.all[i].score > b.all[b.worst].score {
			b.worst = i
		}
	}
}
