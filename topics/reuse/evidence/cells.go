package evidence

import (
	"math"
	"slices"

	"reprise/topics/reuse/edits"
)

// key is what is counted: a class of edits, equal forms, or a band of similarities.
type key uint16

const (
	form  key = 0 // no edits: the normal forms are equal
	all   key = 256
	first key = 257 // the band of the similarities from 1 down to 0.99
	bands     = 51  // the last one is of everything below 0.5
	ends      = first + bands
)

func band(similarity float64) key {
	if !(similarity > 0) { // NaN, too
		return ends - 1
	}
	// 0.99 is 99 hundredths, although 0.99*100 is less.
	return first + key(min(max(99-math.Floor(similarity*100+1e-9), 0), bands-1))
}

// lowest is the lower end of a band.
func (k key) lowest() float64 {
	if k == ends-1 {
		return 0
	}
	return float64(99-int(k-first)) / 100
}

// keys appends what a case counts for to list, which has room for edits.Most; ok is false where that is nothing: a similarity of another
// space, or an edit that is not listed.
func keys(list []key, c *Case, space uint64) (_ []key, ok bool) {
	switch {
	case !c.Explained:
		return append(list, band(c.Similarity)), c.Space == space
	case len(c.Edits) == 0:
		return append(list, form), true
	case len(c.Edits) > edits.Most:
		return nil, false
	}
	for _, e := range c.Edits {
		if e == 0 || int(e) >= len(edits.Table) {
			return nil, false
		}
		list = append(list, key(e))
	}
	return list, true
}

// tally is a count of outcomes.
type tally struct{ same, wrong uint32 }

func (t tally) n() int         { return int(t.same) + int(t.wrong) }
func (t tally) counts() counts { return counts{float64(t.wrong), float64(t.n())} }

// plus adds without overflow.
func (t tally) plus(u tally) tally {
	return tally{t.same + min(u.same, math.MaxUint32-t.same), t.wrong + min(u.wrong, math.MaxUint32-t.wrong)}
}

// cell is the tally of one key.
type cell struct {
	key
	tally
}

// cells are sorted by key, and never changed.
type cells []cell

func (c cells) at(k key) tally {
	if i, ok := slices.BinarySearchFunc(c, k, func(x cell, k key) int { return int(x.key) - int(k) }); ok {
		return c[i].tally
	}
	return tally{}
}

// bands fills at with the counts of the bands.
func (c cells) bands(at *[bands]counts) {
	for _, x := range c {
		if x.key >= first {
			at[x.key-first] = x.counts()
		}
	}
}

// with returns a copy with t added to every key of the list, once.
func (c cells) with(list []key, t tally) cells {
	next := append(make(cells, 0, len(c)+len(list)), c...)
	for j, k := range list {
		if slices.Contains(list[:j], k) {
			continue
		}
		i, ok := slices.BinarySearchFunc(next, k, func(x cell, k key) int { return int(x.key) - int(k) })
		if !ok {
			next = slices.Insert(next, i, cell{key: k})
		}
		next[i].tally = next[i].plus(t)
	}
	return next
}
