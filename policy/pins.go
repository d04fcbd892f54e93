package policy

import "reprise/internal/container"

// Pins is an evictor and how its entries are pinned. Evictor implements Contextual, Replacer and the rest where the inner evictor of Pinned
// does, if that is a Pinner itself; else only Contextual, whose HitIn is then Hit where the inner evictor has no HitIn.
type Pins struct {
	Evictor
	Pinner
}

// Pinned makes a Pinner of any evictor, which must be empty: e itself if it is one, else a wrapper that takes a pinned entry out of e only
// when e names it as the victim, by Remove with Expired, and inserts it again, with the same Item, at its last Unpin. So e is not disturbed
// by pins that never matter, and an entry that is taken out begins again in policies that keep nothing of what has expired: as the youngest in
// FIFO. Policies that rank by a number of uses are Pinners, because that number would be lost.
//
// The wrapper costs one look-up in a table beside each call but Victim, and some 150 bytes for each resident.
func Pinned(e Evictor) Pins {
	if p, ok := e.(Pinner); ok {
		return Pins{e, p}
	}
	context, _ := e.(Contextual)
	w := &pinned{inner: e, context: context}
	return Pins{w, w}
}

// pinned is the wrapper of Pinned.
type pinned struct {
	inner   Evictor
	context Contextual // inner, if it is one
	entries container.Slots[ID, pinnedEntry]
}

type pinnedEntry struct {
	item Item
	pins uint32
	out  bool // of inner, while it is pinned
}

var (
	_ Evictor    = (*pinned)(nil)
	_ Contextual = (*pinned)(nil)
	_ Pinner     = (*pinned)(nil)
)

// Insert makes it resident.
func (p *pinned) Insert(it Item, at Tick) {
	if _, ok := p.entries.Find(it.ID); ok {
		return
	}
	p.entries.Add(it.ID, pinnedEntry{item: it})
	p.inner.Insert(it, at)
}

// Hit counts a request. One for an entry that was taken out is not counted: it is used until its last Unpin in any case.
func (p *pinned) Hit(id ID, at Tick) { p.inner.Hit(id, at) }

// HitIn counts a request, and keeps what it changes.
func (p *pinned) HitIn(it Item, at Tick) {
	slot, ok := p.entries.Find(it.ID)
	if !ok {
		return
	}
	kept := &p.entries.At(slot).item
	kept.Category, kept.Offset, kept.Prob = it.Category, it.Offset, it.Prob
	if p.context != nil {
		p.context.HitIn(it, at)
	} else {
		p.inner.Hit(it.ID, at)
	}
}

// Victim takes pinned entries out until one is named that is not.
func (p *pinned) Victim() (ID, bool) {
	for {
		id, ok := p.inner.Victim()
		if !ok {
			return 0, false
		}
		slot, _ := p.entries.Find(id)
		e := p.entries.At(slot)
		if e.pins == 0 {
			return id, true
		}
		e.out = true
		p.inner.Remove(id, Expired)
	}
}

// Remove drops id, pinned or not.
func (p *pinned) Remove(id ID, why Reason) {
	if slot, ok := p.entries.Find(id); ok {
		p.entries.Free(slot)
		p.inner.Remove(id, why)
	}
}

// Pin counts one more use of id that goes on.
func (p *pinned) Pin(id ID) {
	if slot, ok := p.entries.Find(id); ok {
		p.entries.At(slot).pins++
	}
}

// Unpin counts one less, and puts an entry back that was taken out.
func (p *pinned) Unpin(id ID, at Tick) {
	slot, ok := p.entries.Find(id)
	if !ok {
		return
	}
	e := p.entries.At(slot)
	if e.pins == 0 {
		return
	}
	e.pins--
	if e.pins == 0 && e.out {
		e.out = false
		p.inner.Insert(e.item, at)
	}
}
