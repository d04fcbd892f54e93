// Package pinning keeps entries in use from being victims, as a block cache must for the KV blocks of requests that run (papers/004 §3.4.1).
package pinning

import (
	"reprise/internal/container"
	"reprise/policy"
)

// Contextual is an evictor whose choice depends on the request that used an entry last: its category, or the probability that its
// conversation goes on. Its caller has the request at hand and calls HitIn in place of Hit.
type Contextual interface {
	// HitIn is Hit for the resident it.ID. Category, Offset and Prob of the entry become those of it.
	HitIn(it policy.Item, at policy.Tick)
}

// Pinner is an evictor that leaves entries in use out of its choice. Pinned makes one of any evictor.
type Pinner interface {
	// Pin keeps the resident id from being a victim until as many calls of Unpin. Victim is false when all residents are pinned.
	Pin(id policy.ID)
	// Unpin ends one Pin. At the last one the entry counts as used at that time, without being used more often.
	Unpin(id policy.ID, at policy.Tick)
}

// Pins is an evictor and how its entries are pinned. Evictor implements Contextual, Replacer and the rest where the inner evictor of Pinned
// does, if that is a Pinner itself; else only Contextual, whose HitIn is then Hit where the inner evictor has no HitIn.
type Pins struct {
	policy.Evictor
	Pinner
}

// Pinned makes a Pinner of any evictor, which must be empty: e itself if it is one, else a wrapper that takes a pinned entry out of e only
// when e names it as the victim, by Remove with Expired, and inserts it again, with the same Item, at its last Unpin. So e is not disturbed
// by pins that never matter, and an entry that is taken out begins again in policies that keep nothing of what has expired: as the youngest in
// FIFO. Policies that rank by a number of uses are Pinners, because that number would be lost.
//
// The wrapper costs one look-up in a table beside each call but Victim, and some 150 bytes for each resident.
func Pinned(e policy.Evictor) Pins {
	if p, ok := e.(Pinner); ok {
		return Pins{e, p}
	}
	context, _ := e.(Contextual)
	w := &pinned{inner: e, context: context}
	return Pins{w, w}
}

// pinned is the wrapper of Pinned.
type pinned struct {
	inner   policy.Evictor
	context Contextual // inner, if it is one
	entries container.Slots[policy.ID, pinnedEntry]
}

type pinnedEntry struct {
	item policy.Item
	pins uint32
	out  bool // of inner, while it is pinned
}

var (
	_ policy.Evictor = (*pinned)(nil)
	_ Contextual     = (*pinned)(nil)
	_ Pinner         = (*pinned)(nil)
)

// Insert makes it resident.
func (p *pinned) Insert(it policy.Item, at policy.Tick) {
	if _, ok := p.entries.Find(it.ID); ok {
		return
	}
	p.entries.Add(it.ID, pinnedEntry{item: it})
	p.inner.Insert(it, at)
}

// Hit counts a request. One for an entry that was taken out is not counted: it is used until its last Unpin in any case.
func (p *pinned) Hit(id policy.ID, at policy.Tick) { p.inner.Hit(id, at) }

// HitIn counts a request, and keeps what it changes.
func (p *pinned) HitIn(it policy.Item, at policy.Tick) {
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
func (p *pinned) Victim() (policy.ID, bool) {
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
		p.inner.Remove(id, policy.Expired)
	}
}

// Remove drops id, pinned or not.
func (p *pinned) Remove(id policy.ID, why policy.Reason) {
	if slot, ok := p.entries.Find(id); ok {
		p.entries.Free(slot)
		p.inner.Remove(id, why)
	}
}

// Pin counts one more use of id that goes on.
func (p *pinned) Pin(id policy.ID) {
	if slot, ok := p.entries.Find(id); ok {
		p.entries.At(slot).pins++
	}
}

// Unpin counts one less, and puts an entry back that was taken out.
func (p *pinned) Unpin(id policy.ID, at policy.Tick) {
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
