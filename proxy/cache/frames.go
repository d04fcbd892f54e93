package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"reprise/store"
	"reprise/topics"
	"reprise/topics/frames"
)

// asked is a request as it is compared with others: its frame is a part of its scope, and what its slots hold beside the ask is a part of its chain.
type asked struct {
	scope store.Scope
	chain topics.ChainID
	other uint64 // a digest of the prompt without what asks; 0: all of it asks
	text  string // what asks; empty: no other prompt gets its answer
	slots string // where nothing asks: what varies, by which it has a topic
	free  bool   // neither a label nor a declaration says that this part asks
}

// vectorText is the text whose vector places the request.
func (a *asked) vectorText() string {
	if a.text == "" {
		return a.slots
	}
	return a.text
}

// cutter cuts prompts of one frame.
type cutter interface {
	Cut(p *frames.Prompt) (c frames.Cut, ok bool)
}

// narrowed cuts prompts of a scope in which a client has named what asks.
type narrowed struct {
	by cutter // without that; nil: its prompts have no frame
	to *frames.Declared
}

// Cut implements cutter.
func (n *narrowed) Cut(p *frames.Prompt) (c frames.Cut, ok bool) {
	c, ok = frames.Whole(p.Text), true
	if n.by != nil {
		c, ok = n.by.Cut(p)
	}
	return n.to.Within(c, p.Text), ok
}

// templates are the frames of all scopes. Where there are too many scopes, one goes that is asked in seldom: whoever makes up scopes, or frames in one,
// moves no others.
type templates struct {
	mu     sync.Mutex // protects what follows
	all    map[store.Scope]*template
	framed map[store.Scope]placed // by the scope with the frame
	moves  map[store.Scope]int    // scopes in which other frames are in force than when their entries were placed, and how often that has changed
	clock  uint64                 // prompts
}

// template is what is learnt of one scope.
type template struct {
	uses, last uint64        // prompts, halved as time goes by, and the clock of the last one; guarded by the lock of templates, as is placed
	placed     []store.Scope // scopes with a frame of this one, the oldest first

	mu      sync.Mutex // held while a prompt is looked for
	learner frames.Learner
}

// placed is a scope and what cuts the prompts in it.
type placed struct {
	base store.Scope
	cut  cutter
}

const (
	mostTemplates = 1024    // scopes, each of up to 48 KiB where prompts are long and alike
	mostPlaced    = 128     // scopes with a frame of one scope
	halfLife      = 1 << 16 // prompts of all scopes
	sampled       = 16      // scopes of which the least used goes
)

// of is what is learnt of a scope, in which a prompt is asked.
func (t *templates) of(base store.Scope) *template {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[base]
	if one == nil {
		if t.all == nil {
			t.all, t.framed = map[store.Scope]*template{}, map[store.Scope]placed{}
		}
		for len(t.all) >= mostTemplates {
			t.dropLocked(t.leastLocked())
		}
		one = new(template)
		t.all[base] = one
	}
	t.clock++
	one.uses, one.last = one.weight(t.clock)+1, t.clock
	return one
}

func (one *template) weight(now uint64) uint64 { return one.uses >> min((now-one.last)/halfLife, 63) }

// leastLocked is the least used of some scopes.
func (t *templates) leastLocked() (least store.Scope) {
	n, weight := 0, uint64(0)
	for base, one := range t.all { // begins at a random place
		if w := one.weight(t.clock); n == 0 || w < weight {
			least, weight = base, w
		}
		if n++; n == sampled {
			break
		}
	}
	return least
}

func (t *templates) dropLocked(base store.Scope) {
	for _, framed := range t.all[base].placed {
		delete(t.framed, framed)
	}
	delete(t.all, base)
	delete(t.moves, base)
}

// place notes by what the prompts of a scope with a frame are cut.
func (t *templates) place(framed, base store.Scope, by cutter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[base]
	if _, known := t.framed[framed]; known || one == nil {
		return
	}
	if len(one.placed) >= mostPlaced {
		delete(t.framed, one.placed[0])
		one.placed = one.placed[1:]
	}
	one.placed = append(one.placed, framed)
	t.framed[framed] = placed{base, by}
}

func (t *templates) placed(framed store.Scope) (p placed, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok = t.framed[framed]
	return p, ok
}

// mostKept is how many bytes of frames are kept for the next start.
const mostKept = 256 << 10

// kept are the frames of a scope as they are kept.
type kept struct {
	Scope  store.Scope     `json:"scope"`
	Frames []*frames.Frame `json:"frames,omitempty"`
	Ask    string          `json:"ask,omitempty"`  // an expression that was declared
	Under  store.Scope     `json:"under,omitzero"` // the scope with it
}

// Append appends what is learnt and declared for the next start, by scope; nothing where there is none.
func (t *templates) Append(b []byte) []byte {
	t.mu.Lock()
	all, framed := maps.Clone(t.all), maps.Clone(t.framed)
	t.mu.Unlock()
	add := func(k *kept) {
		line, err := json.Marshal(k)
		if err == nil && len(b)+len(line) < mostKept {
			b = append(append(b, line...), '\n')
		}
	}
	for _, base := range sorted(all) {
		if in := all[base].inForce(); len(in) > 0 {
			add(&kept{Scope: base, Frames: in})
		}
	}
	for _, under := range sorted(framed) {
		if d, ok := framed[under].cut.(*frames.Declared); ok {
			add(&kept{Scope: framed[under].base, Ask: d.String(), Under: under})
		}
	}
	return b
}

func sorted[T any](of map[store.Scope]T) []store.Scope {
	return slices.SortedFunc(maps.Keys(of), func(a, b store.Scope) int { return bytes.Compare(a[:], b[:]) })
}

// inForce are the frames of a scope.
func (t *template) inForce() []*frames.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.learner.Frames()
}

// Framed is a frame in force in a scope, or what an operator has declared there.
type Framed struct {
	Base  store.Scope
	Under []store.Scope // where entries are whose prompts have it
	Frame *frames.Frame // nil: Ask is declared
	Ask   *frames.Declared
}

// Framed lists what is in force, in the order of the scopes.
func (c *Cache) Framed() (all []Framed) {
	t := &c.state.templates
	t.mu.Lock()
	of, framed := maps.Clone(t.all), maps.Clone(t.framed)
	t.mu.Unlock()
	for _, base := range sorted(of) {
		for _, f := range of[base].inForce() {
			one := Framed{Base: base, Frame: f}
			for _, id := range f.IDs() {
				one.Under = append(one.Under, underFrame(base, id))
			}
			all = append(all, one)
		}
	}
	for _, under := range sorted(framed) {
		if d, ok := framed[under].cut.(*frames.Declared); ok {
			all = append(all, Framed{Base: framed[under].base, Under: []store.Scope{under}, Ask: d})
		}
	}
	return all
}

// restore puts frames in force that were kept, in scopes of which nothing is known yet. What cannot be read is learnt again.
func (t *templates) restore(body []byte) {
	for line := range bytes.Lines(body) {
		var k kept
		if json.Unmarshal(line, &k) != nil {
			continue
		}
		if k.Ask != "" {
			if d, err := frames.Declare(k.Ask, mostKept); err == nil {
				t.of(k.Scope) // to be placed in
				t.place(k.Under, k.Scope, d)
			}
			continue
		}
		if slices.Contains(k.Frames, nil) {
			continue
		}
		one := t.of(k.Scope)
		one.mu.Lock()
		one.learner.Restore(k.Frames)
		one.mu.Unlock()
		for _, f := range k.Frames[:min(len(k.Frames), frames.Most)] {
			for _, id := range f.IDs() {
				t.place(underFrame(k.Scope, id), k.Scope, f)
			}
		}
	}
}

// base is the scope in which a scope with a frame was placed, or itself.
func (t *templates) base(framed store.Scope) store.Scope {
	if p, ok := t.placed(framed); ok {
		return p.base
	}
	return framed
}

// forget drops what was learnt of scopes that are not among those with entries left: frames have texts that eight prompts had in common, and of a
// scope whose entries were evicted before, or never stored, nobody can tell whose these are.
func (t *templates) forget(left map[store.Scope]struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for base := range t.all {
		if _, is := left[base]; !is {
			t.dropLocked(base)
		}
	}
}

// dropFrames drops the frames of scopes without entries: what was kept of them may be older than a purge.
func (s *state) dropFrames() {
	left := map[store.Scope]struct{}{}
	for e := range s.store.All() {
		left[s.templates.base(e.Scope)] = struct{}{}
	}
	s.templates.forget(left)
}

// moved notes that entries of a scope may belong under other frames.
func (t *templates) moved(base store.Scope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.moves == nil {
		t.moves = map[store.Scope]int{}
	}
	if t.moves[base] > 0 || len(t.moves) < mostTemplates {
		t.moves[base]++
	}
}

// toMove returns the scopes of moved.
func (t *templates) toMove() map[store.Scope]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.moves)
}

// endMoves ends those of toMove in which no other frame has come into force since.
func (t *templates) endMoves(done map[store.Scope]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.moves, func(base store.Scope, changes int) bool { return done[base] == changes })
}

// moving reports whether entries of a scope may be in another place than their prompts say.
func (t *templates) moving(base store.Scope) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.moves[base] > 0
}

// underFrame is a scope with a frame in it.
func underFrame(base store.Scope, id [32]byte) store.Scope {
	if id == ([32]byte{}) {
		return base
	}
	return both(base, id)
}

// behind is a chain with what else must be equal.
func behind(chain topics.ChainID, rest [32]byte) topics.ChainID {
	if rest == ([32]byte{}) {
		return chain
	}
	return both(chain, rest)
}

func both(a, b [32]byte) [32]byte {
	var link [2 * 32]byte
	copy(link[:], a[:])
	copy(link[32:], b[:])
	return sha256.Sum256(link[:])
}

// ask cuts the prompt of r by the frames of its scope, from which they are learnt where learn is set.
func (s *state) ask(r *Request, learn bool) *asked {
	turns := s.turns.chain(r)
	if r.Vector != nil || r.Prompt == "" {
		return &asked{scope: r.Scope, chain: turns, text: r.Prompt}
	}
	by, cut := s.cut(r, learn)
	a := &asked{scope: underFrame(r.Scope, cut.ID), chain: behind(turns, cut.Rest)}
	a.take(&cut, r.Prompt)
	if by != nil {
		s.templates.place(a.scope, r.Scope, by)
	}
	return a
}

// unframed is where r would be placed if its prompt had no frame.
func (s *state) unframed(r *Request) *asked {
	cut := frames.Whole(r.Prompt)
	a := &asked{scope: r.Scope, chain: behind(s.turns.chain(r), cut.Rest)}
	a.take(&cut, r.Prompt)
	return a
}

// ask places r, whose prompt is compared.
func (f *Finding) ask(s *state, r *Request, learn bool) {
	f.asked = s.ask(r, learn)
	f.Chain = f.asked.chain
	f.Nothing = r.Narrow != nil && f.asked.text == ""
}

// place is where r was placed; where nothing was compared, by its prompt alone.
func (f *Finding) place(r *Request) *asked {
	if f.asked == nil {
		cut := frames.Whole(r.Prompt)
		f.asked = &asked{scope: r.Scope}
		f.asked.take(&cut, r.Prompt)
	}
	return f.asked
}

// cut cuts the prompt of r, by what its client has named too.
func (s *state) cut(r *Request, learn bool) (by cutter, cut frames.Cut) {
	if by, cut = s.cutFor(r, learn); r.Narrow != nil {
		return &narrowed{by, r.Narrow}, r.Narrow.Within(cut, r.Prompt)
	}
	return by, cut
}

// cutFor cuts the prompt of r as the operator has declared, or as it is learnt.
func (s *state) cutFor(r *Request, learn bool) (by cutter, cut frames.Cut) {
	if r.Ask != nil {
		if cut, ok := r.Ask.Cut(&frames.Prompt{Text: r.Prompt}); ok {
			s.templates.of(r.Scope) // to be placed in
			return r.Ask, cut
		}
	}
	p := frames.Read(r.Prompt)
	if frame := s.templates.find(r.Scope, p, learn); frame != nil {
		if cut, ok := frame.Cut(p); ok {
			return frame, cut
		}
	}
	return nil, frames.Whole(r.Prompt)
}

// find finds the frame of a prompt, and learns from it.
func (t *templates) find(base store.Scope, p *frames.Prompt, learn bool) (frame *frames.Frame) {
	one := t.of(base)
	one.mu.Lock()
	defer one.mu.Unlock()
	if !learn {
		return one.learner.Find(p)
	}
	frame, changed := one.learner.Observe(p)
	if changed {
		t.moved(base)
	}
	return frame
}

// alike reports whether r and e, an alias of its key, are alike in all but what is declared to ask. The alias may be older than the declaration, or
// come from a client that has named nothing.
func (r *Request) alike(e *store.Entry) bool {
	same := func(d *frames.Declared) bool {
		a, ok := d.Cut(&frames.Prompt{Text: r.Prompt})
		b, matches := d.Cut(&frames.Prompt{Text: e.Prompt})
		return ok == matches && a.Rest == b.Rest
	}
	if n := r.Narrow; n != nil {
		whole := frames.Cut{To: len(r.Prompt)}
		if c := n.Within(whole, r.Prompt); c.From == c.To || !same(n) {
			return false
		}
	}
	return r.Ask == nil || same(r.Ask)
}

// take takes over the parts of a prompt.
func (a *asked) take(c *frames.Cut, prompt string) {
	a.text, a.slots = prompt[c.From:c.To], c.Slots
	a.free = c.ID != [32]byte{} && !c.Named
	if c.From > 0 || c.To < len(prompt) {
		a.other = maphash.Comparable(asksSeed, [2]uint64{maphash.String(asksSeed, prompt[:c.From]), maphash.String(asksSeed, prompt[c.To:])})
	}
}

// Asked returns what the prompt of e asks, and what another prompt asks that is under the same frame.
func (c *Cache) Asked(e *store.Entry, prompt string) (stored, asked string) {
	other := store.Entry{Scope: e.Scope, Chain: e.Chain, Prompt: prompt}
	return c.state.templates.asks(e).text, c.state.templates.asks(&other).text
}

// asks is what a stored prompt asks, as its entry was placed.
func (t *templates) asks(e *store.Entry) (a asked) {
	c := t.cut(e)
	a.take(&c, e.Prompt)
	return a
}

// cut cuts the prompt of e as it was placed: by the frame of its scope, where that is known. An entry whose chain has nothing of its prompt, as those of
// before there were frames, was compared as a whole.
func (t *templates) cut(e *store.Entry) (c frames.Cut) {
	ok := false
	if p, known := t.placed(e.Scope); known {
		c, ok = p.cut.Cut(frames.Read(e.Prompt))
	}
	if !ok {
		c = frames.Whole(e.Prompt)
	}
	if c.Rest != [32]byte{} && e.Chain == [32]byte{} {
		c = frames.Cut{To: len(e.Prompt)}
	}
	return c
}
