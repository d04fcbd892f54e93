package cache

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics/reuse/normal"
)

// forms finds entries by the normal forms of their prompts: by 8 bytes of a digest over scope, conversation and form, which two of them may
// share, so that what it finds has to be compared. Of entries with one form it has the last one that was added.
//
// An entry that has left the store stays here until sweeps come to it. They are part of additions, and check eight times as many entries as
// are added, so that at most some seventh of the entries have left.
type forms struct {
	store     *store.Store
	templates *templates
	seed      maphash.Seed
	found     func(e *store.Entry, base store.Scope, asks, behind uint64) // of Options.Found; nil: none

	mu    sync.RWMutex // protects what follows
	ids   map[uint64]policy.ID
	added int // since the last sweep

	made [1024]atomic.Pointer[madeForm] // by the ids of entries
}

// madeForm is the form of what an entry asks.
type madeForm struct {
	id      policy.ID
	scope   store.Scope
	created time.Time
	form    *normal.Form // of a copy of the text
}

// longestMade is how many bytes has at most what asks in a prompt whose form is kept: its tokens take ten times as many.
const longestMade = 512

// of returns the form of what a stored prompt asks. It makes the forms that are asked for most once.
func (x *forms) of(e *store.Entry) *normal.Form {
	if x == nil {
		return normal.Of(e.Prompt)
	}
	slot := &x.made[uint64(e.ID)%uint64(len(x.made))]
	if m := slot.Load(); m != nil && m.id == e.ID && m.scope == e.Scope && m.created.Equal(e.Created) {
		return m.form
	}
	prompt := x.templates.asks(e).text
	if len(prompt) > longestMade {
		return normal.Of(prompt)
	}
	m := &madeForm{e.ID, e.Scope, e.Created, normal.Of(strings.Clone(prompt))}
	slot.Store(m)
	return m.form
}

// forget drops the forms that were made: what a purge has removed is in none.
func (x *forms) forget() {
	for i := range x.made {
		x.made[i].Store(nil)
	}
}

// A sweep follows after so many additions, and checks so many entries.
const (
	sweepAfter = 64
	sweepSize  = 8 * sweepAfter
)

func newForms(s *store.Store, t *templates) *forms {
	return &forms{store: s, templates: t, seed: maphash.MakeSeed(), ids: map[uint64]policy.ID{}}
}

// digest is that of a prompt in its conversation, by what it asks.
func (x *forms) digest(scope store.Scope, chain [32]byte, asks uint64) uint64 {
	var room [72]byte
	b := append(append(room[:0], scope[:]...), chain[:]...)
	return maphash.Bytes(x.seed, binary.LittleEndian.AppendUint64(b, asks))
}

func (x *forms) get(digest uint64) (policy.ID, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	id, ok := x.ids[digest]
	return id, ok
}

// find returns the entry whose prompt has the normal form of r's in an equivalent conversation, and that form; nil where there is none. It
// gives f the form of r.
func (x *forms) find(r *Request, f *Finding) (*store.Entry, *normal.Form) {
	f.digest = x.digest(f.asked.scope, f.Chain, f.asksOf(r))
	id, ok := x.get(f.digest)
	if !ok {
		return nil, nil
	}
	e, ok := x.store.Get(id)
	if !ok || e.Prompt == "" || e.Scope != f.asked.scope || e.Chain != f.Chain {
		return nil, nil
	}
	if stored := x.of(e); stored.Equal(f.form) {
		return e, stored
	}
	return nil, nil
}

// kept adds e, which was stored as the answer to r.
func (x *forms) kept(r *Request, f *Finding, e *store.Entry) {
	digest := f.digest
	switch {
	case f.asked == nil || e.Prompt != r.Prompt:
		digest, _, _ = x.entryDigest(e)
	case digest == 0 || e.Chain != f.Chain: // one that takes the place of another keeps the chain of that
		digest = x.digest(e.Scope, e.Chain, f.asksOf(r))
	}
	x.add(digest, e.ID)
}

// add makes the form of a digest lead to an entry.
func (x *forms) add(digest uint64, id policy.ID) {
	x.mu.Lock()
	x.ids[digest] = id
	x.added++
	sweep := x.added >= sweepAfter
	if sweep {
		x.added = 0
	}
	x.mu.Unlock()
	if sweep {
		x.sweep()
	}
}

// entryDigest is the digest of e, of what it asks, and of the rest of its prompt.
func (x *forms) entryDigest(e *store.Entry) (digest, asks, behind uint64) {
	a := x.templates.asks(e)
	asks = a.asks(normal.Of(a.text))
	return x.digest(e.Scope, e.Chain, asks), asks, a.other
}

// digestOf is the digest of the entry of an id, if it is there and may be found by its prompt.
func (x *forms) digestOf(id policy.ID) (digest uint64, ok bool, fault error) {
	e, ok := x.store.Get(id)
	if !ok || e.Prompt == "" {
		return 0, false, nil
	}
	fault = guard("forms", func() error {
		var asks, behind uint64
		digest, asks, behind = x.entryDigest(e)
		if x.found != nil {
			x.found(e, x.templates.base(e.Scope), asks, behind)
		}
		return nil
	})
	return digest, fault == nil, fault
}

// addEntry adds the entry of an id.
func (x *forms) addEntry(id policy.ID) (fault error) {
	digest, ok, fault := x.digestOf(id)
	if ok {
		x.add(digest, id)
	}
	return fault
}

// addOld adds entries that were there before, except those whose form leads to another one by now.
func (x *forms) addOld(ids []policy.ID) (faults error) {
	for _, id := range ids {
		digest, ok, fault := x.digestOf(id)
		if !ok {
			faults = errors.Join(faults, fault)
			continue
		}
		x.mu.Lock()
		if _, taken := x.ids[digest]; !taken {
			x.ids[digest] = id
		}
		x.mu.Unlock()
	}
	return faults
}

// sweep drops entries that have left, of some at a random place.
func (x *forms) sweep() {
	digests, ids := make([]uint64, 0, sweepSize), make([]policy.ID, 0, sweepSize)
	x.mu.RLock()
	for digest, id := range x.ids { // begins at a random place
		if digests, ids = append(digests, digest), append(ids, id); len(ids) == sweepSize {
			break
		}
	}
	x.mu.RUnlock()
	gone := make([]bool, len(ids))
	for i, id := range ids {
		gone[i] = !x.store.Has(id)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, digest := range digests {
		if gone[i] && x.ids[digest] == ids[i] {
			delete(x.ids, digest)
		}
	}
}
