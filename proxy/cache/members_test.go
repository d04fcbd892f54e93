package cache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/topics"
)

// record is a place of the log of a group: one event, or a purge.
type record struct {
	from  *member
	own   *own // the place in the queue of its author
	ev    Event
	purge *store.Filter
}

// group is a log, and the members that share it.
type group struct {
	t       *testing.T
	rng     *rand.Rand
	now     time.Time
	log     []record
	answers map[store.Key]*store.Entry // as at the end of the log
	purges  int
	gaps    bool // members load what the log says now and then, instead of reading it
	kept    int
	members []*member
	unsure  map[store.Key]bool      // keys of which the log and a member that was ahead of it may disagree whether they are aliases
	loose   map[policy.TopicID]bool // topics of which they may disagree about the anchor
	said    map[string]int
}

// own is an event of a member that it has not read from the log yet.
type own struct {
	ev    Event
	key   store.Key
	purge int  // how many purges of its own the member had made before
	dead  bool // it is not appended any more
	gone  bool // in the log its entry was removed before it
}

// member is a cache with the simplest Log and Remote that keep the rules.
type member struct {
	*rig
	g       *group
	read    int    // places of the log
	purges  int    // of these places
	made    int    // own purges
	queue   []*own // not appended yet
	pending []*own // appended, and not read
}

// claim returns the first own event that a condition holds for.
func (m *member) claim(holds func(o *own) bool) *own {
	for _, all := range [][]*own{m.pending, m.queue} {
		if i := slices.IndexFunc(all, func(o *own) bool { return !o.dead && holds(o) }); i >= 0 {
			return all[i]
		}
	}
	return nil
}

func inserted(o *own) bool { return o.ev.Kind == store.EventInsert }

func removed(o *own) bool { _, yes := o.ev.Reason(); return yes }

func (m *member) Read(ev *Event, _ *Cause) {
	m.g.said[fmt.Sprint(ev.Kind, ev.Applied)]++
	o := &own{ev: *ev, key: ev.Key, purge: m.made}
	if ev.Entry != nil {
		o.key = ev.Entry.Key
	}
	if !ev.Applied {
		m.queue = append(m.queue, o)
		return
	}
	for _, waits := range m.queue { // a purge of another member
		if removed(o) && waits.ev.ID == ev.ID && inserted(waits) {
			m.refuse(waits)
		}
	}
}

// refuse drops an insertion that was made before a purge.
func (m *member) refuse(o *own) {
	o.dead = true
	m.g.unsure[o.key] = true
}

func (m *member) Overrides(ev *Event) bool {
	_, gone := ev.Reason()
	switch {
	case gone:
		return m.protects(ev.ID, 0)
	case ev.Kind == store.EventInsert:
		o := m.claim(func(o *own) bool { return inserted(o) && (o.key == ev.Entry.Key || o.ev.ID == ev.ID) })
		if o != nil && o.ev.ID != ev.ID {
			o.gone = true
		}
		return o != nil
	case ev.Kind == store.EventAnchor:
		o := m.claim(func(o *own) bool { return inserted(o) && o.ev.ID == ev.ID })
		if e, ok := m.state.store.Get(ev.ID); ok && o != nil { // in the log it may be no member of its topic yet
			m.g.loose[e.Topic] = true
		}
		return o != nil && o.gone
	case ev.Kind == store.EventAlias:
		if m.claim(func(o *own) bool { return removed(o) && o.key == ev.Key || o.gone && o.ev.ID == ev.ID }) != nil {
			m.g.unsure[ev.Key] = true
		}
	}
	return false
}

func (m *member) Fetch(_ context.Context, k store.Key, known *store.Entry, _ func() []*store.Entry) (*store.Entry, error) {
	if m.purges != m.g.purges {
		return nil, errShelf
	}
	mine := m.claim(func(o *own) bool { return o.key == k && inserted(o) })
	switch {
	case mine != nil && known != nil && known.ID == mine.ev.ID:
		return mine.ev.Entry, nil
	case mine != nil || m.claim(func(o *own) bool { return o.key == k && removed(o) }) != nil:
		return nil, errShelf
	}
	return m.g.answers[k], nil
}

func (m *member) Serves(*store.Entry) bool { return true }

func (m *member) Follows() (uint64, bool) { return 0, true }

func (m *member) Appended(context.Context, policy.ID) error { return nil }

func (m *member) Purge(_ context.Context, f store.Filter) error {
	m.made++
	m.g.log = append(m.g.log, record{from: m, purge: &f})
	m.g.purges++
	for k, e := range m.g.answers {
		if f.Matches(e) {
			delete(m.g.answers, k)
		}
	}
	return nil
}

// append appends the first events of the queue.
func (m *member) append(n int) {
	if m.purges != m.g.purges {
		return
	}
	for _, o := range m.queue[:min(n, len(m.queue))] {
		if o.dead {
			continue
		}
		m.g.log = append(m.g.log, record{from: m, own: o, ev: m.g.wire(o.ev)})
		m.pending = append(m.pending, o)
		if inserted(o) {
			m.g.answers[o.key] = o.ev.Entry
		} else if a := m.g.answers[o.key]; removed(o) && a != nil && a.ID == o.ev.ID {
			delete(m.g.answers, o.key)
		}
	}
	m.queue = m.queue[min(n, len(m.queue)):]
}

// wire is an event as others read it.
func (g *group) wire(ev Event) Event {
	b, _ := store.AppendEvents(nil, []store.Event{ev}, "plane")
	evs, err := store.DecodeEvents(b, "plane")
	if err != nil {
		g.t.Fatal(err)
	}
	return evs[0]
}

// follow applies the next places of the log.
func (m *member) follow(n int) {
	ctx := m.t.Context()
	for ; n > 0 && m.read < len(m.g.log); n-- {
		r := m.g.log[m.read]
		m.read++
		switch {
		case r.purge != nil:
			m.note(m.follower.ApplyPurge(ctx, *r.purge, r.from == m, m.keeps(r)))
			m.purges++
			continue
		case r.from == m:
			m.pending = slices.DeleteFunc(m.pending, func(o *own) bool { return o == r.own })
			if k := r.ev.Kind; k == store.EventInsert || k == store.EventUse || k == store.EventArrive {
				continue
			}
		}
		m.note(m.follower.Apply(ctx, r.ev))
	}
}

// keeps accepts the entries that were stored here after the purge at r, and those that wait to be appended are refused else.
func (m *member) keeps(r record) func(policy.ID) bool {
	if r.from != m {
		return nil
	}
	place := 0
	for _, before := range m.g.log[:m.read] {
		if before.from == m && before.purge != nil {
			place++
		}
	}
	return func(id policy.ID) bool { return m.protects(id, place) }
}

// protects reports whether an own insertion of an entry, made after so many own purges, is later in the log than its removal.
func (m *member) protects(id policy.ID, purges int) bool {
	o := m.claim(func(o *own) bool { return inserted(o) && o.ev.ID == id && o.purge >= purges })
	if o != nil {
		o.gone = true
	}
	return o != nil
}

func newGroup(t *testing.T, seed uint64, members int) *group {
	g := &group{t: t, rng: rand.New(rand.NewPCG(seed, 5)), now: time.Unix(1_000_000, 0), answers: map[store.Key]*store.Entry{},
		unsure: map[store.Key]bool{}, loose: map[policy.TopicID]bool{}, said: map[string]int{}}
	for i := range members {
		g.join(uint16(i + 1))
	}
	return g
}

func (g *group) join(process uint16) *member {
	m := &member{g: g}
	m.rig = newRig(g.t, func(so *store.Options, o *Options) {
		so.Outside, so.Limit, so.Process, so.MaxAliases = true, policy.Limit{}, process, 1000
		so.Evictor, so.Now = rac.New(rac.Tuned(40)), func() time.Time { return g.now }
		o.Remote, o.Log, o.Now = m, m, so.Now
	})
	g.members = append(g.members, m)
	return m
}

// step plays one random thing at a random member.
func (g *group) step() {
	m := g.members[g.rng.IntN(len(g.members))]
	switch n := g.rng.IntN(100); {
	case n < 50:
		g.ask(m)
	case n < 70:
		m.append(1 + g.rng.IntN(6))
	case n < 90:
		m.follow(1 + g.rng.IntN(12))
	case n < 91:
		g.now = g.now.Add(time.Duration(g.rng.IntN(10)) * time.Minute)
	case n < 92:
		m.Cache.Purge(g.t.Context(), []store.Filter{{Tenant: fmt.Sprint(g.rng.IntN(5))}, {Tenant: "0"}, {Namespace: fmt.Sprint(g.rng.IntN(9))}}[g.rng.IntN(3)])
	case n < 94:
		if all := slices.Collect(m.state.store.All()); len(all) > 0 {
			m.note(m.Drop(g.t.Context(), all[g.rng.IntN(len(all))]))
		}
	case n < 96:
		m.note(m.follower.Trim(policy.Limit{Entries: 40}))
	case n < 97 && g.gaps:
		g.reconcile(m)
	}
}

// reconcile makes a member load what the log says instead of reading it.
func (g *group) reconcile(m *member) {
	m.pending = nil
	for _, o := range m.queue { // made before a purge that the member has not read
		switch {
		case removed(o):
			g.unsure[o.key] = true
		case inserted(o) && m.purges != g.purges:
			m.refuse(o)
		}
	}
	if err := m.follower.Reconcile(g.t.Context(), &listing{g.replay()}, func(id policy.ID) bool { return m.protects(id, 0) }); err != nil {
		g.t.Fatal(err)
	}
	m.read, m.purges = len(g.log), g.purges
	g.said["reconciled"]++
}

// ask plays a request of few prompts in three scopes, whose answers differ from all before.
func (g *group) ask(m *member) {
	n := 1 + min(g.rng.IntN(170), g.rng.IntN(170))
	scope := byte(g.rng.IntN(3))
	q := m.request(letters(n), func(q *Request) {
		q.Scope[0], q.NoCache, q.ExactOnly = scope, g.rng.IntN(8) == 0, g.rng.IntN(12) == 0
	})
	q.Key = keyOf(fmt.Sprint(q.Prompt, q.Scope))
	hit, _, err := m.Lookup(g.t.Context(), q)
	m.note(err)
	var f *Finding
	if hit == nil {
		f = m.find(g.t.Context(), q)
		hit = f.Hit
	}
	if hit != nil {
		m.touch(q, hit.Entry, nil)
		return
	}
	e := m.entry(q, f)
	g.kept++
	e.Answer, e.Created = fmt.Appendf(nil, "answer %d", g.kept), g.now.Add(time.Duration(g.kept))
	e.Expires = g.now.Add(time.Hour)
	e.Labels = &store.Labels{Tenant: fmt.Sprint(scope), Namespace: fmt.Sprint(n % 9)}
	_, _, err = m.Keep(g.t.Context(), q, f, e)
	m.note(err)
}

// settle lets all members append and read everything.
func (g *group) settle() {
	for again := true; again; {
		again = false
		for _, m := range g.members {
			m.follow(len(g.log))
			m.note(m.Settle())
			m.append(len(m.queue))
			again = again || m.read < len(g.log) || len(m.queue) > 0
		}
	}
}

// check compares a member that has read the whole log with what it says.
func (g *group) check(m *member, want *naive) {
	g.t.Helper()
	got := map[policy.ID]string{}
	for e := range m.state.store.All() {
		got[e.ID] = fmt.Sprint(e.Created.UnixNano(), e.Topic, e.Size, e.RecordingSize(), e.Answer == nil)
	}
	for id, e := range want.entries {
		if w := fmt.Sprint(e.Created.UnixNano(), e.topic, e.Size, e.RecordingSize(), true); got[id] != w {
			g.t.Fatalf("member %d: entry %d is %q, want %q", m.read, id, got[id], w)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		g.t.Fatalf("entries that the log does not have: %v", got)
	}
	aliases := 0
	for n := range 171 {
		for scope := range byte(3) {
			k := keyOf(fmt.Sprint(letters(n), store.Scope{scope}))
			e, alias, ok := m.state.store.Lookup(k)
			switch id := want.aliases[k]; {
			case g.unsure[k]:
			case id != 0 && (!ok || !alias || e.ID != id):
				g.t.Fatalf("alias of entry %d: %v %v", id, ok, alias)
			case id == 0 && alias:
				g.t.Fatalf("an alias of entry %d that the log does not have", e.ID)
			case id != 0:
				aliases++
			}
		}
	}
	for _, info := range m.state.topics.List(0, 10_000) {
		id := want.anchors[policy.TopicID(info.ID)]
		if id == 0 || info.Anchor == 0 || g.loose[policy.TopicID(info.ID)] || g.gaps { // the next search chooses one, and says so in the log
			continue
		}
		if g.said["anchors"]++; info.Anchor != topics.EntryID(id) {
			g.t.Fatalf("the anchor of topic %d is %d, want %d", info.ID, info.Anchor, id)
		}
	}
	if st := m.Stats(); st.Store.Faults > 0 || len(m.faults) > 0 {
		g.t.Fatalf("%d faults, %v", st.Store.Faults, m.faults)
	}
	g.said["aliases"] += aliases
}

func (g *group) replay() *naive {
	n := newNaive()
	for _, r := range g.log {
		n.apply(r)
	}
	return n
}

// TestMembersConverge: caches that append to one log and read it with delays, each with changes of its own that the others have not read,
// have what the log says once all of them have read it: over random histories of requests, purges, removals, evictions and expiry.
func TestMembersConverge(t *testing.T) {
	said := map[string]int{}
	for seed := range uint64(20) {
		g := newGroup(t, seed, 2+int(seed%2))
		g.play()
		for what, n := range g.said {
			said[what] += n
		}
	}
	for _, what := range []string{"aliases", "anchors", "insert false", "insert true", "use true", "alias true", "anchor true", "evict true", "expire true",
		"purge true", "arrive true"} {
		if said[what] < 50 {
			t.Errorf("%d of %q test little", said[what], what)
		}
	}
}

// TestMembersReconcile: the same holds where members load now and then what the log says, instead of following it.
func TestMembersReconcile(t *testing.T) {
	n := 0
	for seed := range uint64(20) {
		g := newGroup(t, seed, 2+int(seed%2))
		g.gaps = true
		g.play()
		n += g.said["reconciled"]
	}
	if n < 100 {
		t.Errorf("%d times", n)
	}
}

// play plays a random history, and compares all members with the log from time to time.
func (g *group) play() {
	for i := range 2000 {
		if g.step(); i%500 != 499 {
			continue
		}
		g.settle()
		want := g.replay()
		for _, m := range g.members {
			g.check(m, want)
		}
	}
}
