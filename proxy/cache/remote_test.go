package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
)

// shelf is a Remote in a map. It is a Reader, too: the answers of the events that are not Applied come to it.
type shelf struct {
	answers map[store.Key]*store.Entry
	fetches []string // "known" or "unknown" for each
	purges  []store.Filter
	refuse  error // of every fetch and purge
	blind   bool  // nothing may be served
	breaks  uint64
	appends func(policy.ID) error // Appended; nil: it is
	log     []Event
	causes  int

	overrides map[policy.ID]bool
}

var errShelf = errors.New("no answer today")

func (s *shelf) Fetch(_ context.Context, key store.Key, known *store.Entry, _ func() []*store.Entry) (*store.Entry, error) {
	what := "unknown"
	if known != nil {
		what = "known"
	}
	s.fetches = append(s.fetches, what)
	return s.answers[key], s.refuse
}

func (s *shelf) Serves(*store.Entry) bool { return !s.blind }

func (s *shelf) Follows() (uint64, bool) { return s.breaks, !s.blind }

func (s *shelf) Appended(_ context.Context, id policy.ID) error {
	if s.appends == nil {
		return nil
	}
	return s.appends(id)
}

func (s *shelf) Purge(_ context.Context, f store.Filter) error {
	s.purges = append(s.purges, f)
	return s.refuse
}

func (s *shelf) Overrides(ev *Event) bool { return s.overrides[ev.ID] }

func (s *shelf) Read(ev *Event, by *Cause) {
	if by != nil {
		s.causes++
	}
	s.log = append(s.log, *ev)
	if ev.Kind == store.EventInsert && !ev.Applied {
		s.answers[ev.Entry.Key] = s.wire(ev.Entry)
	}
}

// wire is e as another process reads it: what is in its record alone is missing.
func (s *shelf) wire(e *store.Entry) *store.Entry {
	got, err := store.DecodeAnswer(e.ID, e.Key, store.AppendAnswer(nil, e))
	if err != nil {
		panic(err)
	}
	return got
}

// fetched returns the fetches since the last call.
func (s *shelf) fetched() []string {
	all := s.fetches
	s.fetches = nil
	return all
}

// newShared is a rig whose answers are on a shelf.
func newShared(t testing.TB, change ...func(*store.Options, *Options)) (*rig, *shelf) {
	s := &shelf{answers: map[store.Key]*store.Entry{}}
	return newRig(t, append([]func(*store.Options, *Options){func(so *store.Options, o *Options) {
		so.Outside, so.Limit, o.Remote, o.Log = true, policy.Limit{}, s, s
	}}, change...)...), s
}

// TestAnswersFromOutside: answers that are kept elsewhere are served as those of a store of its own, exact, by meaning and as an alias,
// each with one fetch; a miss takes one, too.
func TestAnswersFromOutside(t *testing.T) {
	r, s := newShared(t)
	for _, step := range []struct {
		letters int
		how     string
		fetches []string
	}{
		{40, "miss", []string{"unknown"}},
		{40, "exact", []string{"known"}},
		{43, "semantic", []string{"unknown", "known"}},
		{43, "alias", []string{"known"}},
		{60, "miss", []string{"unknown"}},
	} {
		how, id := r.ask(r.request(letters(step.letters)))
		if how != step.how || !slices.Equal(s.fetched(), step.fetches) {
			t.Errorf("%d letters: %s", step.letters, how)
		}
		if e, _ := r.state.store.Get(id); e.Answer != nil {
			t.Error("the store keeps an answer")
		}
	}
	hit, _, _ := r.Lookup(t.Context(), r.request(letters(43)))
	if got, err := hit.Entry.Recording(); err != nil || string(got) != "answer to "+letters(40) || hit.Entry.Prompt != letters(40) {
		t.Errorf("answer %q, %v", got, err)
	}
}

// TestAsksOnce: a request for a key that is unknown here asks the shared store once, however often it is looked up, unless Asked is taken back;
// one that takes no stored answer does not ask.
func TestAsksOnce(t *testing.T) {
	r, s := newShared(t)
	q, fresh := r.request(letters(40)), r.request(letters(40), func(q *Request) { q.NoCache = true })
	for _, c := range []struct {
		q    *Request
		want int
	}{{q, 1}, {q, 0}, {fresh, 0}} {
		r.Lookup(t.Context(), c.q)
		if got := len(s.fetched()); got != c.want {
			t.Errorf("%d fetches, want %d", got, c.want)
		}
	}
	q.Asked = false
	if r.Lookup(t.Context(), q); len(s.fetched()) != 1 {
		t.Error("no fetch after Asked was taken back")
	}
}

// TestMissingOutside: an entry whose answer the shared store does not have is removed, also for the others, and the next one is asked for.
func TestMissingOutside(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(44), func(q *Request) { q.NoCache = true }), "miss", 2)
	clear(s.answers)
	s.answers[keyOf(letters(44))] = s.wire(s.log[slices.IndexFunc(s.log, func(ev Event) bool { return ev.ID == 2 && ev.Kind == store.EventInsert })].Entry)
	r.wants(r.request(letters(41)), "semantic", 2)
	if _, ok := r.Get(1); ok {
		t.Error("entry 1 stays")
	}
	if !slices.ContainsFunc(s.log, func(ev Event) bool { return ev.Kind == store.EventExpire && ev.ID == 1 && !ev.Applied }) {
		t.Error("the others do not learn that its answer is gone")
	}
	clear(s.answers)
	r.wants(r.request(letters(44)), "miss", 3)
}

// TestUnreachableOutside: where no answer can be had every request is a miss, makes no alias and is counted as none; the entries stay.
func TestUnreachableOutside(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	s.refuse = errShelf
	s.log = nil
	for range 2 {
		r.find(t.Context(), r.request(letters(41)))
	}
	if hit, stale, err := r.Lookup(t.Context(), r.request(letters(40))); hit != nil || stale != nil || err != nil {
		t.Errorf("%v, %v, %v", hit, stale, err)
	}
	for _, ev := range s.log {
		if ev.Kind != store.EventArrive {
			t.Errorf("%s", ev.Kind)
		}
	}
	s.refuse = nil
	r.wants(r.request(letters(40)), "exact", 1)
}

// TestUnknownHere: an answer of another process is found under its key before its event is read, if it may answer the request.
func TestUnknownHere(t *testing.T) {
	other, from := newShared(t, func(so *store.Options, _ *Options) { so.Process = 2 })
	r, s := newShared(t)
	_, id := other.ask(other.request(letters(40)))
	s.answers = from.answers
	r.wants(r.request(letters(40)), "exact", id)
	r.wants(r.request(letters(40), func(q *Request) { q.NoCache = true }), "miss", 1)
	s.answers[keyOf(letters(80))] = s.answers[keyOf(letters(40))]
	r.wants(r.request(letters(80)), "miss", 2) // under its key is the answer to another request
	other.ask(other.request(letters(120)))
	r.pass(time.Minute)
	r.wants(r.request(letters(120), func(q *Request) { q.MaxAge = time.Second }), "miss", 3)
	delete(s.answers, keyOf(letters(160)))
	other.ask(other.request(letters(160)))
	r.pass(time.Hour)
	r.wants(r.request(letters(160)), "miss", 4)
}

// TestReplacedOutside: an answer that another process has put in the place of one that is known here answers repeats of its own request.
// By meaning, and under an alias, it answers none: only its record says whether it may.
func TestReplacedOutside(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(42)), "semantic", 1)
	newer := *s.answers[keyOf(letters(40))]
	newer.Answer, newer.Created = []byte("newer"), newer.Created.Add(time.Second)
	s.answers[newer.Key] = &newer
	hit, _, _ := r.Lookup(t.Context(), r.request(letters(40)))
	if got, err := hit.Entry.Recording(); err != nil || string(got) != "newer" {
		t.Errorf("answer %q, %v", got, err)
	}
	if hit, _, _ := r.Lookup(t.Context(), r.request(letters(42))); hit != nil {
		t.Error("served under an alias")
	}
	if f := r.find(t.Context(), r.request(letters(41))); f.Hit != nil {
		t.Error("served by meaning")
	}
	if _, ok := r.Get(1); !ok {
		t.Error("the entry was removed")
	}
	r.Purge(t.Context(), store.Filter{})
	if r.Serves(hit) {
		t.Error("served after a purge")
	}
}

// TestServesOutside: while a purge of another process could have been missed no hit is served.
func TestServesOutside(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	hit, _, _ := r.Lookup(t.Context(), r.request(letters(40)))
	if s.blind = true; r.Serves(hit) {
		t.Error("served")
	}
	if s.blind = false; !r.Serves(hit) {
		t.Error("refused")
	}
}

// TestStaleOutside: an expired answer is fetched when it is to be served in place of an error, and not before.
func TestStaleOutside(t *testing.T) {
	r, s := newShared(t)
	q := r.stale()
	_, stale, _ := r.Lookup(t.Context(), q)
	if stale == nil || len(s.fetched()) > 0 {
		t.Fatal("not found as stale, or fetched too early")
	}
	hit := r.Stale(t.Context(), q, stale)
	if got, err := hit.Entry.Recording(); err != nil || string(got) != "answer to "+q.Prompt {
		t.Errorf("answer %q, %v", got, err)
	}
	s.refuse = errShelf
	if hit := r.Stale(t.Context(), q, stale); hit != nil {
		t.Errorf("served without an answer: %+v", hit)
	}
}

// TestPurgeOutside: the others purge after this process; where that is not certain the purge says so, and is complete here.
func TestPurgeOutside(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(80)), "miss", 2)
	f := store.Filter{Entry: 1}
	if matched, purged, err := r.Purge(t.Context(), f); matched != 1 || purged != 1 || err != nil || !slices.Equal(s.purges, []store.Filter{f}) {
		t.Errorf("%d, %d, %v, others %v", matched, purged, err, s.purges)
	}
	s.refuse = errShelf
	if matched, purged, err := r.Purge(t.Context(), store.Filter{}); matched != 1 || purged != 1 || !errors.Is(err, store.ErrUnconfirmed) || !errors.Is(err, errShelf) {
		t.Errorf("%d, %d, %v", matched, purged, err)
	}
	if st := r.Stats(); st.Store.Entries != 0 || st.Topics.Entries != 0 {
		t.Errorf("%+v", st)
	}
}

// TestApplyPurge: a purge from the log removes what it selects and refuses what was found or asked for before it; its removals are not for
// the log.
func TestApplyPurge(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	hit, _, _ := r.Lookup(t.Context(), r.request(letters(40)))
	early := r.request(letters(120))
	f := r.find(t.Context(), early)
	s.log = nil
	r.follower.ApplyPurge(t.Context(), store.Filter{Entry: 1}, false, func(id policy.ID) bool { return id == 1 })
	if !r.Serves(hit) {
		t.Error("an entry that is to be kept is not served")
	}
	if err := r.follower.ApplyPurge(t.Context(), store.Filter{Entry: 1}, false, nil); err != nil || r.Serves(hit) {
		t.Errorf("%v, and what was purged is served: %v", err, r.Serves(hit))
	}
	if id, reason, _ := r.Keep(t.Context(), early, f, r.entry(early, f)); id != 0 || reason != ReasonPurged {
		t.Errorf("entry %d, %q", id, reason)
	}
	if len(s.log) != 1 || s.log[0].Kind != store.EventPurge || !s.log[0].Applied || len(s.purges) > 0 {
		t.Errorf("%+v, %v", s.log, s.purges)
	}
}

// TestOverrides: an event that a later change of this process makes void is not applied.
func TestOverrides(t *testing.T) {
	r, s := newShared(t)
	r.wants(r.request(letters(40)), "miss", 1)
	s.overrides = map[policy.ID]bool{1: true}
	for _, resident := range []bool{true, false} {
		if err := r.follower.Apply(t.Context(), Event{Kind: store.EventPurge, ID: 1}); err != nil || r.state.store.Has(1) != resident {
			t.Errorf("%v, and the entry is resident: %v", err, r.state.store.Has(1))
		}
		s.overrides = nil
	}
}

// TestLogKeepsUsesTogether: the log gets every event in order and without a cause, and a use waits as if there were none.
func TestLogKeepsUsesTogether(t *testing.T) {
	reader := &tape{}
	r, s := newShared(t, func(_ *store.Options, o *Options) { o.Readers = nil })
	r.wants(r.request(letters(40)), "miss", 1)
	e, _ := r.Get(1)
	before := len(s.log)
	for i := range mostUses {
		if full := r.Touch(r.request(letters(40)), e, nil); full != (i == mostUses-1) || len(s.log) != before {
			t.Fatalf("use %d: %v, %d events", i, full, len(s.log)-before)
		}
	}
	r.note(r.Settle())
	if len(s.log) != before+mostUses || s.causes > 0 {
		t.Errorf("%d events, %d causes", len(s.log)-before, s.causes)
	}
	r, s = newShared(t, func(_ *store.Options, o *Options) { o.Readers = []Reader{reader} })
	for i := range 40 {
		r.ask(r.request(letters(1 + i*7%90)))
	}
	order := func(log []Event) (all []string) {
		for _, ev := range log {
			all = append(all, fmt.Sprint(ev.Kind, ev.ID, ev.At.Seq))
		}
		return all
	}
	if !slices.Equal(order(s.log), order(reader.log)) || s.causes > 0 {
		t.Errorf("%d events, of a reader %d, %d causes", len(s.log), len(reader.log), s.causes)
	}
}

// TestNamesAreReplicated: the name of an answer leads every process to its entry, answers no request, and what one process removes by it is gone at
// the others.
func TestNamesAreReplicated(t *testing.T) {
	a, wrote := newShared(t)
	b, other := newShared(t, func(so *store.Options, _ *Options) { so.Process = 2 })
	name := keyOf("the name")
	r := a.request(letters(40), func(q *Request) { q.Name = name })
	a.wants(r, "miss", 1)
	apply := func(to *rig, log []Event) {
		for _, ev := range log {
			if !ev.Applied {
				to.note(to.follower.Apply(t.Context(), ev))
			}
		}
	}
	apply(b, wrote.log)
	other.answers = wrote.answers
	asked := *r
	asked.Key = name
	if hit, stale, err := b.Lookup(t.Context(), &asked); hit != nil || stale != nil || err != nil {
		t.Errorf("a name answers a request: %+v, %+v, %v", hit, stale, err)
	}
	e, _, ok := b.state.store.Lookup(name)
	if !ok || e.ID != 1 {
		t.Fatalf("the other process finds %+v", e)
	}
	b.note(b.Drop(t.Context(), e))
	apply(a, other.log)
	if a.state.store.Has(1) || b.state.store.Has(1) {
		t.Error("the entry is still there")
	}
}
