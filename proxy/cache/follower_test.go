package cache

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics"
)

// listed is a Backing with the entries of events, the states that a keeper has written, and no aliases.
func listed(t *testing.T, states *storetest.Memory, log []Event) *storetest.Memory {
	all := states.Clone()
	for _, ev := range log {
		if ev.Kind != store.EventInsert {
			continue
		}
		write := func(r store.Record) error { return all.Write(&store.Batch{Put: []store.Record{r}}) }
		if err := store.RecordsIn(uint64(ev.ID), store.AppendRecord(nil, ev.Entry, ev.Vector, "plane"), "plane", write); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestReconcile: a cache that has lost the log has after it what is listed, found by meaning too, with the anchors, and keeps own entries
// that it asked to keep. What it changes is Applied.
func TestReconcile(t *testing.T) {
	states := &storetest.Memory{}
	from, wrote := newShared(t, func(so *store.Options, _ *Options) {
		so.Backing, so.Keeper = states, storetest.Keeps(func() bool { return true })
	})
	alone := func(q *Request) { q.NoDetect = true }
	for n := range 6 {
		from.ask(from.request(letters(1+20*n), alone))
	}
	for range 20 { // the second of two neighbours becomes the anchor
		from.ask(from.request(letters(21), alone))
	}
	from.note(from.Sync(t.Context()))
	r, s := newShared(t, func(so *store.Options, _ *Options) { so.Process = 2 })
	r.wants(r.request(letters(1)), "miss", 2<<37+1)
	r.wants(r.request(letters(150)), "miss", 2<<37+2)
	r.wants(r.request(letters(170)), "miss", 2<<37+3)
	s.log, s.answers = nil, wrote.answers
	keep := func(id policy.ID) bool { return id == 2<<37+3 }
	if err := r.follower.Reconcile(t.Context(), listed(t, states, wrote.log), keep); err != nil {
		t.Fatal(err)
	}
	var ids []policy.ID
	for e := range r.state.store.All() {
		ids = append(ids, e.ID)
	}
	if want := []policy.ID{1, 2, 3, 4, 5, 6, 2<<37 + 3}; !slices.Equal(ids, want) {
		t.Errorf("entries %v, want %v", ids, want)
	}
	anchors := anchorsOf(r)
	if e, _ := r.Get(2); anchors[topics.TopicID(e.Topic)] != 2 {
		t.Errorf("anchors %v test little", anchors)
	}
	for topic, anchor := range anchorsOf(from) {
		if anchors[topic] != anchor {
			t.Errorf("the anchor of topic %d is %d, want %d", topic, anchors[topic], anchor)
		}
	}
	for _, ev := range s.log {
		if !ev.Applied {
			t.Errorf("%s of entry %d is not Applied", ev.Kind, ev.ID)
		}
	}
	r.wants(r.request(letters(22)), "semantic", 2)
	if id, _, _ := r.Lookup(t.Context(), r.request(letters(101))); id == nil || id.Entry.ID != 6 {
		t.Errorf("found %+v", id)
	}
	if e, ok := r.Get(2); !ok || r.state.store.Ranks().Importance(2) < 15 {
		t.Errorf("%+v of importance %v", e, r.state.store.Ranks().Importance(2))
	}
}

// TestReconcileLetsOthersIn: a change of another request waits for a few entries of many, and what stays is there all the time.
func TestReconcileLetsOthersIn(t *testing.T) {
	const entries = 5000
	exact := func(so *store.Options, o *Options) { so.Evictor, o.Meaning = classic.NewLRU(), false }
	r, s := newShared(t, exact)
	put := func(n int) {
		e := &store.Entry{Key: keyOf(fmt.Sprint(n)), Answer: []byte("a"), Created: r.now(), Expires: r.now().Add(time.Hour)}
		r.Keep(t.Context(), &Request{Key: e.Key, At: r.Tick()}, &Finding{}, e)
	}
	for n := range entries {
		put(n)
	}
	disk := listed(t, &storetest.Memory{}, s.log)
	half := disk.Clone()
	for id := range uint64(entries / 2) {
		half.Write(&store.Batch{Evicted: []uint64{id + 1}})
	}
	if err := r.follower.Reconcile(t.Context(), half, nil); err != nil || r.Stats().Store.Entries != entries/2 {
		t.Fatal(err, r.Stats().Store.Entries)
	}
	i, done := &interrupter{}, make(chan struct{})
	r.state.readers = []Reader{i, readerFunc(func(ev *Event) {
		if _, ok := r.state.store.Get(entries); !ok {
			t.Error("an entry that stays is not there")
		}
		if ev.Kind == store.EventInsert && ev.ID == 100 {
			go func() { r.state.arrive(7, r.Tick()); close(done) }()
		}
	})}
	if err := r.follower.Reconcile(t.Context(), disk, nil); err != nil || r.Stats().Store.Entries != entries {
		t.Fatal(err, r.Stats().Store.Entries)
	}
	<-done
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	if t.Logf("measured: a change waited until %d of %d", i.uses[0], i.n); i.uses[0] == i.n {
		t.Error("a change of another request waited for all")
	}
}

// readerFunc is a function as a Reader.
type readerFunc func(*Event)

func (f readerFunc) Read(ev *Event, _ *Cause) { f(ev) }

// TestKeepIsAskedUnderTheLock: an entry that is stored while a listing is compared is asked for together with its removal, not before.
func TestKeepIsAskedUnderTheLock(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(1)), "miss", 1)
	states := listed(t, &storetest.Memory{}, s.log)
	r.wants(r.request(letters(60)), "miss", 2)
	asked := 0
	err := r.follower.Reconcile(t.Context(), states, func(id policy.ID) bool {
		if asked++; r.state.mu.TryLock() {
			t.Error("asked without the lock")
			r.state.mu.Unlock()
		}
		return false
	})
	if err != nil || asked != 1 || r.state.store.Has(2) || !r.state.store.Has(1) {
		t.Errorf("%v, asked %d times, entry 1 %v, entry 2 %v", err, asked, r.state.store.Has(1), r.state.store.Has(2))
	}
}

// TestAdopt: a cache that adopts a secret and a number serves nothing of before, keeps no answer to a request of before, and makes entries
// and topics under its new number. What it removes is Applied.
func TestAdopt(t *testing.T) {
	r, s := newShared(t, func(so *store.Options, _ *Options) { so.Process = 3 })
	r.wants(r.request(letters(40)), "miss", 3<<37+1)
	hit, _, _ := r.Lookup(t.Context(), r.request(letters(40)))
	early := r.request(letters(120))
	f := r.find(t.Context(), early)
	s.log = nil
	var between *Request // which has seen the purge and the old secret
	r.state.readers = []Reader{readerFunc(func(*Event) { between = r.request(letters(160)) })}
	if err := r.follower.Adopt([32]byte{7}, 4); err != nil {
		t.Fatal(err)
	}
	r.state.readers = nil
	clear(s.answers)
	if id, reason, _ := r.Keep(t.Context(), between, f, r.entry(between, f)); id != 0 || reason != ReasonPurged {
		t.Errorf("kept %d, %q", id, reason)
	}
	if id, reason, _ := r.Keep(t.Context(), early, f, r.entry(early, f)); r.Serves(hit) || id != 0 || reason != ReasonPurged {
		t.Errorf("served %v, kept %d, %q", r.Serves(hit), id, reason)
	}
	for _, ev := range s.log {
		if ev.Kind != store.EventPurge || !ev.Applied {
			t.Errorf("%+v", ev)
		}
	}
	r.wants(r.request(letters(40)), "miss", 4<<37+1)
	e, _ := r.Get(4<<37 + 1)
	if r.Secret() != [32]byte{7} || e.Topic != 4<<37+1 || r.Stats().Topics.Entries != 1 {
		t.Errorf("secret %x, topic %d, %+v", r.Secret(), e.Topic, r.Stats().Topics)
	}
}

// TestCeiling: an answer that would exceed the capacity of all processes by too much is not kept, and Keep says why.
func TestCeiling(t *testing.T) {
	r, s := newShared(t, func(_ *store.Options, o *Options) { o.Ceiling = policy.Limit{Entries: 2} })
	for n := range 3 {
		r.wants(r.request(letters(1+50*n)), "miss", policy.ID(n+1))
	}
	r.wants(r.request(letters(170)), ReasonFull, 0)
	s.log = nil
	r.note(r.follower.Trim(policy.Limit{Entries: 2}))
	if len(s.log) != 1 || s.log[0].Kind != store.EventEvict || s.log[0].Applied {
		t.Errorf("%+v", s.log)
	}
	if st := r.Stats(); st.Store.Entries != 2 || st.Topics.Entries != 2 {
		t.Errorf("%+v", st)
	}
	r.wants(r.request(letters(170)), "miss", 4)
}

// TestAnchorsOfOthers: a use of another process does not move the anchor of a topic here; the event that moves it there does.
func TestAnchorsOfOthers(t *testing.T) {
	r, _ := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(50)), "miss", 2)
	e, _ := r.Get(1)
	topic := topics.TopicID(e.Topic)
	for range 20 {
		r.note(r.follower.Apply(t.Context(), Event{Kind: store.EventUse, ID: 2}))
	}
	if got := anchorsOf(r)[topic]; got != 1 || r.state.store.Ranks().Importance(2) < 15 {
		t.Errorf("anchor %d, importance %v", got, r.state.store.Ranks().Importance(2))
	}
	r.note(r.follower.Apply(t.Context(), Event{Kind: store.EventAnchor, ID: 2}))
	if got := anchorsOf(r)[topic]; got != 2 {
		t.Errorf("anchor %d", got)
	}
}

// TestOverriddenEntryLosesItsAliases: an entry that is stored here again, while the others have removed it or another one has taken its key,
// comes back to them without the aliases that it had.
func TestOverriddenEntryLosesItsAliases(t *testing.T) {
	for what, ev := range map[string]Event{
		"removed":  {Kind: store.EventEvict, ID: 1},
		"replaced": {Kind: store.EventInsert, ID: 99, Entry: &store.Entry{Key: keyOf(letters(40))}},
	} {
		r, s := newShared(t)
		r.wants(r.request(letters(40)), "miss", 1)
		r.wants(r.request(letters(42)), "semantic", 1)
		s.overrides = map[policy.ID]bool{ev.ID: true}
		r.note(r.follower.Apply(t.Context(), ev))
		if st := r.Stats().Store; st.Entries != 1 || st.Aliases != 0 {
			t.Errorf("%s: %d entries, %d aliases", what, st.Entries, st.Aliases)
		}
	}
}

// TestApplyThatPanics: a panic of the topics in an event of others is a fault, and the next event is applied.
func TestApplyThatPanics(t *testing.T) {
	r, _ := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	all := r.state.topics
	r.state.topics = nil
	for _, kind := range []store.EventKind{store.EventUse, store.EventAnchor} {
		r.note(r.follower.Apply(t.Context(), Event{Kind: kind, ID: 1}))
	}
	r.state.topics = all
	r.note(r.follower.Apply(t.Context(), Event{Kind: store.EventEvict, ID: 1}))
	if r.state.store.Has(1) || !slices.Equal(r.faults, []string{"topics", "topics"}) {
		t.Errorf("entry 1 is resident: %v, faults in %v", r.state.store.Has(1), r.faults)
	}
}
