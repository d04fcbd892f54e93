package cache

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics/reuse/normal"
)

// Bar is why an entry that was found may not answer a request, whatever the judge says.
type Bar string

// The bars. The empty one is none.
const (
	BarExpired Bar = "expired" // its time is over
	BarRequest Bar = "request" // the request wants a new answer, or a younger one
	BarRefused Bar = "refused" // a verdict of before said that the answer is wrong for this request
)

// bar is that of e for r, without verdicts.
func (r *Request) bar(e *store.Entry, now time.Time) Bar {
	switch {
	case !r.fresh(e, now):
		return BarExpired
	case !r.takes(e, now):
		return BarRequest
	}
	return ""
}

// barred notes why an entry may not answer, and reports whether there is a reason.
func (f *Finding) barred(why Bar, e *store.Entry) bool {
	if f.Bar == "" && why != "" {
		f.Bar = why
		f.about(e)
	}
	return why != ""
}

// about notes the first entry that was found, and is not served.
func (f *Finding) about(e *store.Entry) {
	if f.Near == 0 {
		f.Near = e.ID
	}
}

// Nearest is the stored entry that nearly served the request, of its owner: one that was refused or explored, else the nearest one, else the
// anchor of the nearest topic. 0: none was found.
func (f *Finding) Nearest() policy.ID {
	explored := policy.ID(0)
	if f.Explore != nil {
		explored = f.Explore.Entry.ID
	}
	return cmp.Or(explored, f.Near, policy.ID(f.Route.Nearest.ID), policy.ID(f.Route.Anchor))
}

// KeyBar is why the entry under the key of r does not answer it, and that entry. there says that there is an entry of the key's own, not one
// that it is an alias of. It costs a lookup.
func (c *Cache) KeyBar(r *Request) (why Bar, id policy.ID, there bool) {
	e, alias, ok := c.state.store.Lookup(r.Key)
	switch {
	case !ok:
		return "", 0, false
	case c.verdicts.refuses(r.Key, e):
		return BarRefused, e.ID, !alias
	case alias:
		return "", 0, false
	}
	return r.bar(e, c.opt.Now()), e.ID, true
}

// asksSeed is that of digests of what is asked.
var asksSeed = maphash.MakeSeed()

// Asks is a digest of what r asks, whatever its scope and conversation: of the normal form of what asks in its prompt, where answers are found by that,
// else of the prompt. behind is one of the rest of the prompt, with its frame; 0: there is none. asks is 0 without a prompt. Both hold in this process
// alone. f is what Find returned for r; where nothing was compared by meaning, the prompt is cut now.
func (c *Cache) Asks(r *Request, f *Finding) (asks, behind uint64) {
	switch {
	case r.Prompt == "":
		return 0, 0
	case c.state.forms == nil:
		return maphash.String(asksSeed, r.Prompt), 0
	case f.asked != nil:
		return f.asksOf(r), f.asked.other
	}
	_, cut := c.state.cut(r, false)
	var a asked
	a.take(&cut, r.Prompt)
	return a.asks(normal.Of(a.text)), a.other
}

// asksOf is the digest of r's form, which is made once.
func (f *Finding) asksOf(r *Request) uint64 {
	if f.asks == 0 {
		f.asks = f.place(r).asks(f.formOf(r))
	}
	return f.asks
}

// asks is the digest of what asks in a prompt, by its form; of all of a prompt in which nothing asks.
func (a *asked) asks(form *normal.Form) uint64 {
	rest := uint64(0)
	if a.text == "" {
		rest = a.other
	}
	var room [2048]byte
	return maphash.Bytes(asksSeed, binary.LittleEndian.AppendUint64(form.Append(room[:0]), rest))
}

// State is whether the entry of an id is there, and whether it has not expired for r.
func (c *Cache) State(r *Request, id policy.ID) (fresh, there bool) {
	e, there := c.state.store.Get(id)
	return there && r.fresh(e, c.opt.Now()), there
}

// Raised reports whether the client of r has raised the hit gate, so that equal forms do not count.
func (c *Cache) Raised(r *Request) bool { return c.opt.raised(r) }
