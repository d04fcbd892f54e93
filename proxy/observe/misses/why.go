package misses

import (
	"cmp"
	"slices"
	"unique"

	"reprise/proxy/observe/align"
)

// Bounds of what is looked through for one miss.
const (
	mostNear   = 16   // answers to the same in other places, the last ones
	mostWalked = 128  // those that have left included
	mostListed = 4096 // for an explanation
	mostPlaces = 3    // differences of one text that are named
)

// fetching is the step of the cache that gets an answer from the shared store.
const fetching = "fetch"

// Why finds why r missed. alive returns what has become of an entry; it is called without the lock. The cost is a microsecond or two, and
// that of comparing system prompts where these differ.
func (w *Watch) Why(r *Request, f *Facts, alive func(id uint64) Life) *Diagnosis {
	return w.diagnose(r, f, alive, mostNear, mostWalked)
}

// Explain is Why, and looks through all that is remembered.
func (w *Watch) Explain(r *Request, f *Facts, alive func(id uint64) Life) *Diagnosis {
	return w.diagnose(r, f, alive, mostListed, mostListed)
}

func (w *Watch) diagnose(r *Request, f *Facts, alive func(id uint64) Life, most, walked int) *Diagnosis {
	switch {
	case f.Form:
		return &Diagnosis{Why: whyForm, hit: true, nearest: f.Nearest}
	case f.Request:
		return &Diagnosis{Why: whyRequest, hit: f.Fresh, nearest: f.Nearest}
	case f.Shadow:
		return &Diagnosis{Why: whyShadow, hit: true, nearest: f.Nearest}
	case f.Explored:
		return &Diagnosis{Why: whyExplored, hit: true, nearest: f.Nearest}
	case f.Expired:
		return &Diagnosis{Why: whyExpired, What: f.Short, hit: true, nearest: f.Nearest}
	case f.Refused:
		return &Diagnosis{Why: whyRefused, nearest: f.Nearest}
	case f.Away:
		return &Diagnosis{Why: whyDegraded, What: fetching, hit: true, nearest: f.Nearest}
	case r.Asks == 0:
		return f.rest()
	}
	l := &look{Request: r, Facts: f, alive: alive, count: most == mostListed}
	w.look(l, most, walked)
	d := l.fate()
	if d == nil {
		d = w.nearest(l, l.near)
	}
	if d != nil {
		return d
	}
	d = f.rest()
	if l.foreign != nil {
		d.all = func() *Diagnosis { return w.nearest(l, []near{*l.foreign}) }
	}
	return d
}

// rest is the reason where the same is kept nowhere.
func (f *Facts) rest() *Diagnosis {
	switch {
	case f.Veto != "":
		return &Diagnosis{Why: whyVeto, What: f.Veto, hit: true, nearest: f.Nearest}
	case f.Degraded != "":
		return &Diagnosis{Why: whyDegraded, What: f.Degraded}
	case f.Near:
		return &Diagnosis{Why: whyBelow, nearest: f.Nearest}
	}
	return &Diagnosis{Why: whyNew}
}

// look is a request with what one look at the index has found.
type look struct {
	*Request
	*Facts
	alive func(id uint64) Life
	count bool // scopes

	here    record // what became of it in the same place; without an owner: nothing is known
	reason  string // why that was not kept, or what has decided its life
	near    []near // the same in other places, of the same owner, the last ones first
	foreign *near  // of another owner
	parts   []part
	names   []string // of parts, by their numbers; they only become more
}

// near is an answer to the same in another place.
type near struct {
	number, id uint64
	scope      *scope // whose texts are read under the lock
	same       bool   // it is that of the request
	parts      []part
	known      bool
	behind     bool // what else is in the prompt is another text
	turns      bool // the conversation before it is another one
	unsure     bool // it is not known whether it is
	distance   int
}

// look looks l up.
func (w *Watch) look(l *look, most, walked int) {
	who := ownerOf(l.Request)
	w.mu.Lock()
	defer w.mu.Unlock()
	x := &w.index
	if here := x.at(x.places[x.place(l.Request)]); here != nil && here.owner == who && (here.scope == nil || here.scope.key == l.Scope) {
		l.here, l.reason = *here, x.names[here.reason]
	}
	for n := x.owns[x.own(l.Request)]; len(l.near) < most && walked > 0; walked-- {
		one := x.at(n)
		if one == nil {
			break
		}
		if one.owner == who && !one.gone {
			l.consider(n, one)
		}
		n = one.before
	}
	if n := x.asked[l.Asks]; len(l.near) == 0 {
		if one := x.at(n); one != nil && one.owner != who {
			other := nearOf(l.Request, n, one)
			l.foreign = &other
		}
	}
	if len(l.near) > 0 || l.foreign != nil {
		l.parts = x.partsOf(l.Request, make([]part, 0, len(l.Parts)+2))
	}
	l.names = x.names
}

// consider adds a record, unless it is in the same place, or may be.
func (l *look) consider(n uint64, one *record) {
	if other := nearOf(l.Request, n, one); !other.same || other.turns || other.behind {
		l.near = append(l.near, other)
	}
}

func nearOf(r *Request, n uint64, one *record) near {
	partly := one.place == 0 // it has a conversation that is not known
	s := one.scope
	return near{number: n, id: one.id, scope: s, same: s.key == r.Scope, parts: s.parts, known: s.known, behind: one.behind != r.Behind, turns: !partly && one.talk != r.Talk || partly && r.Talk == 0, unsure: partly && r.Talk != 0}
}

// fate is the reason where the same was asked in the same place; nil where it was not.
func (l *look) fate() *Diagnosis {
	switch {
	case l.here.owner == unique.Handle[owner]{}:
		return nil
	case l.here.scope == nil:
		return &Diagnosis{Why: whyNotStored, What: l.reason, hit: l.reason != "status" && l.reason != "error"} // an error would have been no hit
	}
	switch life := l.alive(l.here.id); {
	case life == Stale || life == Gone && l.here.until <= l.Now.Unix():
		return &Diagnosis{Why: whyExpired, What: l.reason, hit: true, nearest: l.here.id}
	case life == Gone:
		return &Diagnosis{Why: whyEvicted, hit: true, nearest: l.here.id}
	case l.Raised:
		return &Diagnosis{Why: whyBelow, nearest: l.here.id}
	case l.Veto != "" || l.Degraded != "":
		return l.rest()
	}
	return &Diagnosis{Why: whyExactOnly, hit: true, nearest: l.here.id}
}

// unknownParts is how many differences count for a scope of which the parts are not known: it is not the nearest where another one is.
const unknownParts = 1 << 16

// distance is in how many parts l differs from o.
func (l *look) distance(o *near, room []uint16) (n int) {
	if o.turns {
		n++
	}
	if o.behind {
		n++
	}
	switch {
	case o.same:
		return n
	case !o.known:
		return n + unknownParts
	}
	return n + len(differences(l.parts, o.parts, cap(room), room))
}

// nearest is the reason where the same is kept in one of several places; nil where none of them is left.
func (w *Watch) nearest(l *look, all []near) *Diagnosis {
	var room [64]uint16
	for i := range all {
		all[i].distance = l.distance(&all[i], room[:0])
	}
	at := 0
	for ; at < len(all); at++ {
		least := at
		for i := at + 1; i < len(all); i++ {
			if all[i].distance < all[least].distance {
				least = i
			}
		}
		nearest := all[least]
		copy(all[at+1:least+1], all[at:least]) // the order of the others stays
		if all[at] = nearest; l.alive(nearest.id) == Fresh {
			break
		}
	}
	w.forget(all[:at])
	if at == len(all) {
		return nil
	}
	d := w.diagnosis(l, &all[at])
	if l.count {
		l.countScopes(d, all[at:])
	}
	return d
}

// forget notes that entries have left.
func (w *Watch) forget(gone []near) {
	if len(gone) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range gone {
		if one := w.index.at(g.number); one != nil && one.id == g.id {
			one.gone = true
		}
	}
}

// diagnosis says in what l differs from o.
func (w *Watch) diagnosis(l *look, o *near) *Diagnosis {
	d := &Diagnosis{Why: whyScope, hit: !o.turns && !o.behind && !o.unsure, nearest: o.id}
	switch {
	case o.same && o.behind:
		d.Why = whyContext
		return d
	case o.same:
		d.Why = whyChain
		return d
	case o.known && l.Parts != nil:
		var room [64]uint16
		w.places(l, o, d, differences(l.parts, o.parts, len(room), room[:0]))
	}
	if o.behind {
		d.Differs = append(d.Differs, difference{Part: partContext, Byte: -1})
	}
	if o.turns {
		d.Differs = append(d.Differs, difference{Part: partTurns, Byte: -1})
	}
	return d
}

// places adds the differences in parts to d, those of the system prompt first.
func (w *Watch) places(l *look, o *near, d *Diagnosis, parts []uint16) {
	type stored struct {
		name, text string
		part       uint16
		index      int
	}
	var texts []stored
	w.mu.Lock()
	for _, t := range o.scope.texts {
		if slices.Contains(parts, t.part) && t.text != "" {
			texts = append(texts, stored{l.names[t.part], t.text, t.part, t.index})
		}
	}
	w.mu.Unlock()
	var own []Text
	if len(texts) > 0 && l.System != nil {
		own = l.System()
	}
	placed := map[uint16]bool{}
	for _, t := range texts {
		if is, ok := nth(own, t.name, t.index); ok {
			for _, one := range is.compare(t.text) {
				one.Part, one.Index = t.name, t.index
				d.Differs = append(d.Differs, one)
				placed[t.part] = true
			}
		}
	}
	names := make([]string, 0, len(parts))
	for _, p := range parts {
		if !placed[p] {
			names = append(names, l.names[p])
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	for _, name := range names {
		d.Differs = append(d.Differs, difference{Part: name, Byte: -1})
	}
}

// rank is the order of names.
func rank(name string) int {
	if name == PartSystem {
		return 0
	}
	return 1
}

// nth is the text of a part with an index.
func nth(all []Text, part string, index int) (t Text, ok bool) {
	for _, t := range all {
		if t.Part == part {
			if index == 0 {
				return t, true
			}
			index--
		}
	}
	return Text{}, false
}

// compare returns the places in which t differs from the text of another scope.
func (t *Text) compare(other string) (all []difference) {
	text := t.Text[:min(len(t.Text), longestText)] // as that of the other is
	cut := max(len(text), len(other)) == longestText
	for _, d := range align.Texts(text, other, mostPlaces) {
		if cut && len(all) > 0 && d.End == len(text) {
			break // where one text is longer than the other, their ends are cut at different places
		}
		class := looks(d)
		all = append(all, difference{Byte: t.place(d.Byte), Looks: class, shape: shapeOf(text[min(d.Byte, len(text)):], class)})
	}
	return all
}

// looks is the class of a difference, in one word.
func looks(d align.Difference) string {
	switch d.Looks {
	case align.Timestamp:
		if d.Clock {
			return "time"
		}
		return "date"
	case align.UUID:
		return "uuid"
	case align.Token:
		return "id"
	case align.Number, align.Name:
		return string(d.Looks)
	case align.Whitespace:
		return "space"
	case align.TextOrder, align.KeyOrder:
		return "order"
	}
	return "text"
}

// countScopes counts the other scopes of some places, of which the first one is there.
func (l *look) countScopes(d *Diagnosis, all []near) {
	d.Alike = true
	seen := map[*scope]bool{}
	var first []uint16
	for i := range all {
		o := &all[i]
		if seen[o.scope] || o.same || i > 0 && l.alive(o.id) != Fresh {
			continue
		}
		seen[o.scope] = true
		d.Scopes++
		var room [64]uint16
		parts := differences(l.parts, o.parts, len(room), room[:0])
		if d.Scopes == 1 {
			first = slices.Clone(parts)
		}
		d.Alike = d.Alike && o.known && slices.Equal(first, parts) && o.turns == all[0].turns
	}
}
