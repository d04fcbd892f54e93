package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics"
)

// tape is a Reader that keeps the log.
type tape struct{ log []Event }

func (l *tape) Read(ev *Event, _ *Cause) { l.log = append(l.log, *ev) }

// life is a cache with restarts, whose log is kept.
type life struct {
	*rig
	t       *testing.T
	rng     *rand.Rand
	tape    *tape
	disk    *storetest.Memory
	evictor func() policy.Evictor
	entries int
	last    policy.Evictor
	said    []*Request // first requests of conversations that were answered
}

func (l *life) start(now time.Time) {
	l.last = l.evictor()
	l.rig = newRig(l.t, func(so *store.Options, o *Options) {
		so.Evictor, so.Limit, so.Backing = l.last, policy.Limit{Entries: l.entries}, l.disk.Reopen()
		so.FlushEvery, o.Readers = time.Hour, []Reader{l.tape}
		if !now.IsZero() {
			so.Now = func() time.Time { return now } // for the load alone
		}
	})
	if !now.IsZero() {
		l.rig.set(now)
	}
}

// restart marks its place in the log: after the removal of what it drops.
func (l *life) restart() {
	for scope := range byte(3) {
		l.state.refresh(topics.ScopeID{scope})
	}
	now, n, before := l.now(), len(l.tape.log), anchorsOf(l.rig)
	if err := l.state.store.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.start(now)
	for topic, anchor := range anchorsOf(l.rig) {
		if _, ok := l.state.store.Get(policy.ID(before[topic])); ok && before[topic] != anchor { // it may have expired meanwhile
			l.t.Errorf("the anchor of topic %d was %d and is %d after a restart", topic, before[topic], anchor)
		}
	}
	for n < len(l.tape.log) && l.tape.log[n].Kind != store.EventAnchor {
		n++
	}
	l.tape.log = slices.Insert(l.tape.log, n, Event{})
}

// step plays one random thing.
func (l *life) step() {
	switch n := l.rng.IntN(100); {
	case n < 88:
		l.ask(l.someRequest())
	case n < 92:
		l.pass(time.Duration(l.rng.IntN(60)) * time.Minute)
	case n < 95:
		l.follower.purge(func(e *store.Entry) bool { return e.ID%7 == policy.ID(n%7) }, nil, false)
	case n < 97:
		l.Sync(l.t.Context())
	case n < 98:
		if e, ok := l.state.store.Get(policy.ID(1 + l.rng.IntN(200))); ok {
			l.Drop(l.t.Context(), e)
		}
	}
}

// someRequest is one of a few prompts, in one of three scopes, some in a conversation, some that want a fresh answer.
func (l *life) someRequest() *Request {
	prompt := letters(1 + min(l.rng.IntN(170), l.rng.IntN(170)))
	q := l.request(prompt, func(q *Request) {
		q.Scope[0] = byte(l.rng.IntN(3))
		q.NoCache = l.rng.IntN(12) == 0
		q.ExactOnly = l.rng.IntN(12) == 0
	})
	if len(l.said) > 0 && l.rng.IntN(4) == 0 {
		before := l.said[l.rng.IntN(len(l.said))]
		q.Scope = before.Scope
		q.Turns = []Turn{{Key: before.Key, Answer: [32]byte{1}, AnswerText: keyOf("answer to " + before.Prompt)}}
	}
	q.Key = keyOf(fmt.Sprint(prompt, q.Scope, q.Turns))
	if len(q.Turns) == 0 && l.rng.IntN(5) == 0 {
		l.said = append(l.said, q)
	}
	return q
}

// TestLogRebuildsTheCache: the log of a cache, applied to an empty one, leads to the same entries, topics, anchors and aliases, and to
// the same victims from there on: over random histories with conversations, replacements, expiry, purges, evictions and restarts.
// What a policy remembers of entries that have left does not survive a restart, so the other cache restarts at the same places.
func TestLogRebuildsTheCache(t *testing.T) {
	for name, evictor := range map[string]func() policy.Evictor{
		"lru": func() policy.Evictor { return classic.NewLRU() },
		"rac": func() policy.Evictor {
			o := rac.Tuned(30)
			o.Protect = false // the newest is found by birth, which a restart replays by last use
			return rac.New(o)
		},
	} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				l := &life{t: t, rng: rand.New(rand.NewPCG(seed, 1)), tape: &tape{}, disk: &storetest.Memory{}, evictor: evictor, entries: 30}
				l.start(time.Time{})
				for i := range 3000 {
					l.step()
					if i%700 == 699 {
						l.restart()
					}
				}
				l.follow()
			})
		}
	}
}

// follow applies the log to another cache and compares.
func (l *life) follow() {
	disk, follower := &storetest.Memory{}, l.evictor()
	start := func() *rig {
		return newRig(l.t, func(so *store.Options, o *Options) {
			so.Evictor, so.Limit, so.Backing, so.FlushEvery = follower, policy.Limit{}, disk.Reopen(), time.Hour
		})
	}
	f := start()
	kinds := map[store.EventKind]int{}
	for _, ev := range l.tape.log {
		if ev.Kind == 0 {
			f.state.store.Close()
			follower = l.evictor()
			f = start()
			continue
		}
		kinds[ev.Kind]++
		if err := f.follower.Apply(l.t.Context(), ev); err != nil {
			l.t.Fatal(err)
		}
	}
	for k := store.EventInsert; k <= store.EventArrive; k++ {
		if kinds[k] == 0 {
			l.t.Errorf("a history without an event of kind %s tests little", k)
		}
	}
	for _, r := range []*rig{l.rig, f} {
		for scope := range byte(3) {
			r.state.refresh(topics.ScopeID{scope})
		}
	}
	same(l.t, "entries", entriesOf(f), entriesOf(l.rig))
	same(l.t, "aliases", f.state.store.Stats().Aliases, l.state.store.Stats().Aliases)
	same(l.t, "topics", topicsOf(f), topicsOf(l.rig))
	same(l.t, "victims", victims(follower), victims(l.last))
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	g, w := fmt.Sprint(got), fmt.Sprint(want)
	if at := 0; g != w || g == "" || g == "[]" {
		for at < min(len(g), len(w)) && g[at] == w[at] {
			at++
		}
		near := func(s string) string { return s[max(0, at-100):min(len(s), at+100)] }
		t.Errorf("%s differ:\n got …%s…\nwant …%s…", what, near(g), near(w))
	}
}

// entriesOf lists entries with all that leads to them.
func entriesOf(r *rig) (all []string) {
	for e := range r.state.store.All() {
		keys := 0
		for n := range 171 {
			for scope := range byte(3) {
				q := Request{Scope: store.Scope{scope}}
				if found, alias, ok := r.state.store.Lookup(keyOf(fmt.Sprint(letters(n), q.Scope, q.Turns))); ok && alias && found.ID == e.ID {
					keys += 1000*n + int(scope)
				}
			}
		}
		all = append(all, fmt.Sprintf("%d: %q of topic %d, parent %d, aliases %d, importance %v", e.ID, e.Answer[:14], e.Topic, e.Parent, keys, r.state.store.Ranks().Importance(e.ID)))
	}
	return all
}

func anchorsOf(r *rig) map[topics.TopicID]topics.EntryID {
	all := map[topics.TopicID]topics.EntryID{}
	for _, info := range r.state.topics.List(0, 1000) {
		all[info.ID] = info.Anchor
	}
	return all
}

// topicsOf lists topics with their sizes and anchors; entriesOf has the members.
func topicsOf(r *rig) (all []string) {
	for _, info := range r.state.topics.List(0, 1000) {
		all = append(all, fmt.Sprintf("%d: anchor %d of %d", info.ID, info.Anchor, info.Size))
	}
	return all
}

// victims empties a policy.
func victims(e policy.Evictor) (all []policy.ID) {
	for {
		id, ok := e.Victim()
		if !ok {
			return all
		}
		all = append(all, id)
		e.Remove(id, policy.Evicted)
	}
}
