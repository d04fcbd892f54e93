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

// kind is what a topic counts for a case: errors of similarities do not stop equal forms in it.
func kind(k key) key {
	switch {
	case k == form:
		return form
	case k < first:
		return all
	}
	return first
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

// near is how many observations there are of a key, or of a band and its window.
func (c cells) near(k key) (n int) {
	if k < first {
		return c.at(k).n()
	}
	for _, x := range c {
		if x.key >= first && x.key+window >= k && x.key <= k+window {
			n += x.n()
		}
	}
	return n
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

// Rows are kept by shards, so that adding copies one shard and not the table.
const (
	shards = 64
	depth  = 64 // rows of a shard
)

// row is what one tenant, scope or topic saw.
type row struct {
	id, tenant uint64
	cells      cells
}

// table has rows by id; a copy of it does not change with it. The rows of a shard are in the order of their last change, the oldest
// first.
type table struct{ shards [shards][]row }

func shard(id uint64) int { return int(mix(id) >> 58) }

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func scopeID(c *Case) uint64 { return mix(c.Tenant+1) ^ c.Scope }
func topicID(c *Case) uint64 { return mix(scopeID(c)+1) ^ c.Topic }

func (t *table) find(id uint64) cells {
	for i := range t.shards[shard(id)] {
		if r := &t.shards[shard(id)][i]; r.id == id {
			return r.cells
		}
	}
	return nil
}

// put sets a row. A full shard drops the oldest row of the tenant that has most rows there, and put returns its cells: a tenant with many
// scopes replaces its own.
func (t *table) put(r row) (dropped cells) {
	s := &t.shards[shard(r.id)]
	old := *s
	drop := slices.IndexFunc(old, func(o row) bool { return o.id == r.id })
	if drop < 0 && len(old) >= depth {
		drop = crowded(old)
		dropped = old[drop].cells
	}
	next := make([]row, 0, len(old)+1)
	for i, o := range old {
		if i != drop {
			next = append(next, o)
		}
	}
	*s = append(next, r)
	return dropped
}

// crowded is the index of the oldest row of the tenant that has most.
func crowded(rows []row) (oldest int) {
	most := 0
	for i, r := range rows {
		n := 0
		for _, o := range rows[i:] {
			if o.tenant == r.tenant {
				n++
			}
		}
		if n > most {
			oldest, most = i, n
		}
	}
	return oldest
}
