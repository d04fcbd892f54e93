package file

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"reprise/store"
)

// kindEvicted is a record of the file's own, in the form of kindTombstones: the bits of entries that were evicted and whose records are
// still there. The records of one entry lie among those of others that stay, and bbolt writes every page again that it deletes one
// from: some 50 µs for an entry, three times what it cost to write. So an eviction only sets a bit, Load leaves the entry out, and Tidy
// deletes neighbours together when a third of the entries is evicted. A program from before these bits loads the entries, which
// are as good as any; what was purged has its tombstone too.
const kindEvicted store.Kind = 253

const (
	sweepEntries = 1024    // that one step deletes at most
	sweepLarge   = 8 << 10 // bytes of an entry that is deleted at once: it has pages of its own
)

// evictions are the entries that a file holds, and those of them that are evicted.
type evictions struct {
	marked  tombstones          // the bits of kindEvicted, as the file has them
	urgent  tombstones          // of entries marked before a purge: their bytes are to go soon
	present tombstones          // the entries in the file, the marked ones too
	large   map[uint64]struct{} // those over sweepLarge
	left    int                 // how many are marked,
	all     int                 // and in the file
}

func newEvictions() evictions {
	return evictions{marked: tombstones{}, urgent: tombstones{}, present: tombstones{}, large: map[uint64]struct{}{}}
}

// found notes an entry that the file holds.
func (e *evictions) found(id uint64, size int) {
	if !e.present.has(id) {
		e.all++
		e.present.set(id, true)
	}
	if delete(e.large, id); size > sweepLarge {
		e.large[id] = struct{}{}
	}
}

func (e *evictions) deleted(id uint64) {
	if e.present.has(id) {
		e.all--
		e.present.set(id, false)
	}
	delete(e.large, id)
	if e.urgent.has(id) {
		e.urgent.set(id, false)
	}
}

// holds reports whether a record that the file holds is one of an evicted entry.
func (e *evictions) holds(k store.Kind, id uint64) bool {
	marked := ofEntry(k) && e.marked.has(id)
	if marked && k == store.KindEntry {
		e.found(id, 0)
	}
	return marked
}

// ofEntry reports whether a record of this kind belongs to an entry.
func ofEntry(k store.Kind) bool {
	switch k {
	case store.KindEntry, store.KindVector, store.KindAliases, store.KindState:
		return true
	}
	return false
}

// sweepDue reports whether so many are marked that they are worth a sweep.
func (e *evictions) sweepDue() bool { return 3*e.left > e.all }

// victims are entries to be deleted next: neighbours, where most are marked.
func (e *evictions) victims() (ids []uint64) {
	from := e.marked
	if len(e.urgent) > 0 {
		from = e.urgent
	}
	most := 0
	var span uint64
	for at, some := range from {
		if n := count(some); n > most || n == most && at < span {
			span, most = at, n
		}
	}
	for id := span * tombstoneSpan; id < (span+1)*tombstoneSpan && len(ids) < sweepEntries; id++ {
		if from.has(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// sweep does one step of deleting the records of evicted entries.
func (f *File) sweep() error {
	b := &store.Batch{}
	for _, id := range f.evicted.victims() {
		b.Delete = append(b.Delete, store.RecordsOf(id)...)
	}
	return f.commit(b)
}

// plan is a batch with what it changes in the records of the file's own.
type plan struct {
	*store.Batch
	dead, marked tombstones // bitmaps as they will be
}

// plan adds to a batch what the journal still has, and makes evictions of small entries bits.
func (f *File) plan(b *store.Batch) plan {
	all, e := *f.journal.batch(b), &f.evicted
	all.Delete = slices.Clip(all.Delete)
	p := plan{Batch: &all, marked: tombstones{}}
	for _, id := range all.Evicted {
		if _, large := e.large[id]; large || !e.present.has(id) {
			all.Delete = append(all.Delete, store.RecordsOf(id)...)
		} else {
			p.marked.flip(e.marked, id, true)
		}
	}
	for _, r := range all.Put {
		if e.marked.has(r.ID) && ofEntry(r.Kind) { // the id is in use again: nothing of before may come back with it
			all.Delete = append(all.Delete, store.RecordsOf(r.ID)...)
		}
	}
	p.dead = f.dead.after(p.Batch)
	for _, r := range p.Delete {
		if r.Kind == store.KindEntry {
			p.marked.flip(e.marked, r.ID, false)
		}
	}
	if p.Purged {
		// A purge removes all evicted entries too: they get tombstones, so that damage brings none of them back.
		for _, some := range []tombstones{e.marked, p.marked} {
			for id := range some.ids() {
				p.dead.flip(f.dead, id, true)
			}
		}
	}
	return p
}

func (p *plan) own() []store.Record {
	return append(p.dead.records(kindTombstones), p.marked.records(kindEvicted)...)
}

// done takes over what a plan has changed, once it is written.
func (e *evictions) done(p *plan) {
	for span, some := range p.marked {
		e.left += count(some) - count(e.marked[span])
		if e.marked[span] = some; count(some) == 0 {
			delete(e.marked, span)
		}
	}
	for _, r := range p.Delete {
		if r.Kind == store.KindEntry {
			e.deleted(r.ID)
		}
	}
	for _, r := range p.Put {
		if r.Kind == store.KindEntry {
			e.found(r.ID, len(r.Body))
		}
	}
	if p.Purged {
		e.urgent = tombstones{}
		for span, some := range e.marked {
			e.urgent[span] = slices.Clone(some)
		}
	}
}

// opened takes over the bitmaps that Open has read. Those that have a tombstone too were marked before a purge.
func (e *evictions) opened(marked, dead tombstones) {
	*e = newEvictions()
	maps.Copy(e.marked, marked)
	maps.DeleteFunc(e.marked, func(_ uint64, some []byte) bool { return count(some) == 0 })
	for id := range marked.ids() {
		e.left++
		if dead.has(id) {
			e.urgent.set(id, true)
		}
	}
}

// count is how many bits are set in a bitmap.
func count(some []byte) (n int) {
	for ; len(some) >= 8; some = some[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(some))
	}
	return n
}
