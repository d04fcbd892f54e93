package cache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics"
	"reprise/topics/reuse"
)

// plane is an embedder of two dimensions: a prompt of n letters lies at n degrees.
type plane struct {
	broken atomic.Bool
	calls  atomic.Int64
	space  string // "": plane
}

var errPlane = errors.New("no vector today")

func (p *plane) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.broken.Load() {
		return nil, errPlane
	}
	p.calls.Add(1)
	var all [][]float32
	for _, t := range texts {
		all = append(all, at(float64(len(t))))
	}
	return all, nil
}

func (p *plane) Dim() int                     { return 2 }
func (p *plane) Space() string                { return cmp.Or(p.space, "plane") }
func (p *plane) Thresholds() embed.Thresholds { return gates }

func at(degrees float64) []float32 {
	s, c := math.Sincos(degrees * math.Pi / 180)
	return []float32{float32(c), float32(s)}
}

func cosine(degrees float64) float64 { return math.Cos(degrees * math.Pi / 180) }

// gates of the tests, in degrees: an answer is shared up to 5, a topic up to 30, a parent up to 60.
var gates = embed.Thresholds{Hit: cosine(5), Route: cosine(30), Edge: cosine(60)}

func letters(n int) string { return strings.Repeat("a", n) }

// rig is a cache with its parts. Faults fail the test unless some are expected.
type rig struct {
	*Cache
	t        testing.TB
	embedder *plane
	time     atomic.Pointer[time.Time] // the store reads it while it writes
	faults   []string
	last     *Finding
}

func (r *rig) now() time.Time { return *r.time.Load() }

func (r *rig) set(now time.Time) { r.time.Store(&now) }

func (r *rig) pass(d time.Duration) { r.set(r.now().Add(d)) }

func newRig(t testing.TB, change ...func(*store.Options, *Options)) *rig {
	t.Helper()
	r := &rig{t: t, embedder: &plane{}}
	r.set(time.Unix(1_000_000, 0))
	so := store.Options{Evictor: rac.New(rac.Tuned(8)), Limit: policy.Limit{Entries: 8}, Now: r.now, Space: "plane"}
	o := Options{Meaning: true, Embedder: r.embedder, Thresholds: gates, Now: so.Now}
	for _, f := range change {
		f(&so, &o)
	}
	var err error
	if o.Store, err = store.Open(so); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Store.Close() })
	dim := o.Embedder.Dim()
	if e, ok := o.Embedder.(*remote); ok {
		dim = e.Dim()
	}
	o.Topics, err = topics.New(topics.Options{Dim: dim, Hit: o.Thresholds.Hit, Route: o.Thresholds.Route, Edge: o.Thresholds.Edge})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cache, err = New(o); err != nil {
		t.Fatal(err)
	}
	if err := r.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func keyOf(prompt string) store.Key { return sha256.Sum256([]byte(prompt)) }

func (r *rig) request(prompt string, change ...func(*Request)) *Request {
	q := &Request{Key: keyOf(prompt), Scope: store.Scope{1}, Prompt: prompt, At: r.Tick(), Epoch: r.Epoch(), MaxAge: -1}
	for _, f := range change {
		f(q)
	}
	return q
}

func (r *rig) entry(q *Request, f *Finding) *store.Entry {
	e := &store.Entry{Answer: []byte("answer to " + q.Prompt), AnswerHash: keyOf("answer to " + q.Prompt), Created: r.now(), Expires: r.now().Add(time.Hour)}
	if f.Compared || f.Vector != nil {
		e.Prompt, e.Vector = q.Prompt, f.Vector
	}
	return e
}

// touch counts a use as the proxy does.
func (r *rig) touch(q *Request, e *store.Entry, vector []float32) {
	if r.Touch(q, e, vector) {
		r.note(r.Settle())
	}
}

// ask plays one request as the proxy does and returns how it was answered, and by which entry.
func (r *rig) ask(q *Request) (how string, id policy.ID) {
	ctx := r.t.Context()
	hit, _, err := r.Lookup(ctx, q)
	r.note(err)
	if hit != nil {
		r.touch(q, hit.Entry, nil)
		if hit.Alias {
			return "alias", hit.Entry.ID
		}
		return "exact", hit.Entry.ID
	}
	f := r.find(ctx, q)
	if f.Hit != nil {
		r.touch(q, f.Hit.Entry, f.Vector)
		return "semantic", f.Hit.Entry.ID
	}
	id, reason, err := r.Keep(ctx, q, f, r.entry(q, f))
	r.note(err)
	if reason != "" {
		return reason, 0
	}
	return "miss", id
}

func (r *rig) find(ctx context.Context, q *Request) *Finding {
	f, err := r.Find(ctx, q)
	r.note(err)
	r.last = f
	return f
}

// note keeps the step of a fault.
func (r *rig) note(err error) {
	r.t.Helper()
	var f *Fault
	switch {
	case err == nil:
	case errors.As(err, &f):
		r.faults = append(r.faults, f.Step)
	default:
		r.t.Errorf("not a fault: %v", err)
	}
}

func (r *rig) wants(q *Request, how string, id policy.ID) {
	r.t.Helper()
	if got, by := r.ask(q); got != how || by != id {
		r.t.Errorf("%d letters: %s by entry %d, want %s by %d", len(q.Prompt), got, by, how, id)
	}
}

func TestOneRequestAfterTheOther(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(40)), "exact", 1)
	r.wants(r.request(letters(43)), "semantic", 1)
	r.wants(r.request(letters(43)), "alias", 1)
	r.wants(r.request(letters(43), func(q *Request) { q.ExactOnly = true }), "miss", 2)
	r.wants(r.request(letters(60)), "miss", 3)
	r.wants(r.request(letters(40), func(q *Request) { q.Scope, q.Key[0] = store.Scope{2}, 9 }), "miss", 4)
	r.wants(r.request(letters(40), func(q *Request) { q.NoCache = true }), "miss", 1) // a new answer, in the place of the old
	one, _ := r.state.store.Get(1)
	three, _ := r.state.store.Get(3)
	four, _ := r.state.store.Get(4)
	if one.Topic != three.Topic || one.Topic == four.Topic {
		t.Errorf("topics %d, %d, %d", one.Topic, three.Topic, four.Topic)
	}
	if len(r.faults) > 0 {
		t.Errorf("faults in %v", r.faults)
	}
}

// TestDropSparesTheNextAnswer: of an answer that cannot be read, only itself is dropped, not the one that took its place and its id.
func TestDropSparesTheNextAnswer(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	unreadable, _ := r.state.store.Get(1)
	r.pass(time.Second)
	r.wants(r.request(letters(40), func(q *Request) { q.NoCache = true }), "miss", 1)
	r.note(r.Drop(t.Context(), unreadable))
	r.wants(r.request(letters(40)), "exact", 1)
	fresh, _ := r.state.store.Get(1)
	r.note(r.Drop(t.Context(), fresh))
	if _, ok := r.state.store.Get(1); ok {
		t.Error("an answer that cannot be read stays")
	}
}

// TestExpiredAnswerKeepsItsPlace: an answer that expired is not served; the next one takes its place with id, aliases and importance.
func TestExpiredAnswerKeepsItsPlace(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(42)), "semantic", 1)
	for range 9 {
		r.ask(r.request(letters(40)))
	}
	r.note(r.Settle())
	importance := r.state.store.Ranks().Importance(1)
	r.pass(time.Hour + time.Minute)
	r.wants(r.request(letters(41)), "miss", 2) // near to an expired answer only
	second, _ := r.state.store.Get(2)
	r.note(r.Drop(t.Context(), second))
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(42)), "alias", 1)
	if got := r.state.store.Ranks().Importance(1); got < importance || importance < 10 {
		t.Errorf("importance was %v and is %v", importance, got)
	}
}

// TestExpiredKeyBecomesAnAlias: a request whose own answer has expired is answered by another entry, and the next time by its key.
func TestExpiredKeyBecomesAnAlias(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.pass(time.Hour + time.Minute)
	r.wants(r.request(letters(42)), "miss", 2)
	r.wants(r.request(letters(40)), "semantic", 2)
	r.wants(r.request(letters(40)), "alias", 2)
}

// TestReplacementKeepsItsTopic: an answer that can be found by meaning takes the place of one that cannot. Store and topics agree on
// its topic, although the request was routed to another one.
func TestReplacementKeepsItsTopic(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(60), func(q *Request) { q.ExactOnly = true }), "miss", 2)
	r.wants(r.request(letters(60), func(q *Request) { q.NoCache = true }), "miss", 2)
	f := r.find(t.Context(), r.request(letters(61)))
	if f.Hit == nil || f.Hit.Entry.ID != 2 || policy.TopicID(f.Hit.Topic) != f.Hit.Entry.Topic {
		t.Fatalf("found %+v, of entry %+v", f.Hit, f.Hit.Entry)
	}
}

// TestIDsOfAProcess: store and topics make ids of the same form, each with the number of the process, and a restart goes on after both.
func TestIDsOfAProcess(t *testing.T) {
	disk := &storetest.Memory{}
	var last policy.TopicID
	for range 2 {
		r := newRig(t, func(so *store.Options, _ *Options) { so.Process, so.Backing = 7, disk.Reopen() })
		id := policy.ID(7<<37) + 1
		if last != 0 {
			id = policy.ID(last) + 1
		}
		r.wants(r.request(letters(40+int(id%2)*60)), "miss", id)
		e, _ := r.state.store.Get(id)
		if uint64(e.Topic) != uint64(id) || r.state.store.MaxTopic() != e.Topic {
			t.Errorf("entry %d has topic %d, the highest of the process is %d", id, e.Topic, r.state.store.MaxTopic())
		}
		last = e.Topic
		r.state.store.Close()
	}
}

// TestReplacedBetweenSearchAndVerify: an entry that the topics still have, and whose answer was replaced by one for exact repeats only,
// answers nothing by meaning.
func TestReplacedBetweenSearchAndVerify(t *testing.T) {
	r := newRig(t, func(_ *store.Options, o *Options) {
		o.Judge = Vetoes(func(cached, asked string) reuse.Veto {
			if cached != asked {
				return "differs"
			}
			return ""
		})
	})
	r.wants(r.request(letters(40)), "miss", 1)
	r.state.store.Put(&store.Entry{Key: keyOf(letters(40)), Scope: store.Scope{1}, Answer: []byte("for exact repeats only")}, r.Tick())
	if f := r.find(t.Context(), r.request(letters(41))); f.Hit != nil {
		t.Errorf("hit %+v", f.Hit.Entry)
	}
}

// TestAliasOfAnAnswerForExactRepeats: an alias does not lead to an answer that may only be repeated word for word, which has taken the
// place of the one that the alias was made for.
func TestAliasOfAnAnswerForExactRepeats(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(42)), "semantic", 1)
	r.wants(r.request(letters(40), func(q *Request) { q.NoCache, q.ExactOnly = true, true }), "miss", 1)
	r.wants(r.request(letters(42)), "miss", 2)
	r.wants(r.request(letters(40)), "exact", 1)
}

// TestExpiredEntriesHideNothing: a fresh entry is found behind as many expired ones as a search returns.
func TestExpiredEntriesHideNothing(t *testing.T) {
	r := newRig(t)
	for n := range policy.ID(topics.MaxMatches) {
		r.wants(r.request(letters(40), func(q *Request) { q.Key[0], q.ExactOnly, q.NoCache = byte(n), false, true }), "miss", n+1)
	}
	r.pass(time.Hour + time.Minute)
	r.wants(r.request(letters(44)), "miss", topics.MaxMatches+1)
	r.wants(r.request(letters(41)), "semantic", topics.MaxMatches+1)
}

// TestExpiredEntriesHaveABound: however many expired entries are alike, a request removes only some of them.
func TestExpiredEntriesHaveABound(t *testing.T) {
	r := newRig(t, func(so *store.Options, _ *Options) { so.Limit.Entries = 200 })
	for n := range 100 {
		r.ask(r.request(letters(40), func(q *Request) { q.Key[0], q.NoCache = byte(n), true }))
	}
	r.pass(time.Hour + time.Minute)
	before := r.Stats().Store.Entries
	r.find(t.Context(), r.request(letters(41)))
	if removed := before - r.Stats().Store.Entries; removed == 0 || removed > mostBlocked*topics.MaxMatches {
		t.Errorf("%d of %d entries are removed", removed, before)
	}
}

// stale keeps an answer that may be served in place of an error for another half an hour, and returns its request.
func (r *rig) stale() *Request {
	q := r.request(letters(40))
	f := r.find(r.t.Context(), q)
	e := r.entry(q, f)
	e.StaleUntil = e.Expires.Add(time.Hour)
	r.Keep(r.t.Context(), q, f, e)
	r.pass(90 * time.Minute)
	return q
}

func TestStaleAnswer(t *testing.T) {
	r := newRig(t)
	q := r.stale()
	hit, stale, _ := r.Lookup(t.Context(), r.request(letters(40)))
	if hit != nil || stale == nil || r.Stale(t.Context(), q, stale) == nil {
		t.Fatalf("half an hour after its end: %v, %v", hit, stale)
	}
	r.pass(time.Hour)
	if r.Stale(t.Context(), q, stale) != nil {
		t.Error("stale for longer than allowed")
	}
	if _, stale, _ := r.Lookup(t.Context(), r.request(letters(40))); stale != nil {
		t.Error("found as stale after its time")
	}
}

// TestPurgeOfAStaleAnswer: an expired answer is not served in place of an error if a purge removes it while the upstream is asked.
func TestPurgeOfAStaleAnswer(t *testing.T) {
	r := newRig(t)
	r.stale()
	q := r.request(letters(40))
	_, stale, _ := r.Lookup(t.Context(), q)
	r.follower.purge(func(e *store.Entry) bool { return e.ID != stale.Entry.ID }, nil, false)
	if r.Stale(t.Context(), q, stale) == nil {
		t.Error("not served after a purge of others")
	}
	r.Purge(t.Context(), store.Filter{Entry: stale.Entry.ID})
	if r.Stale(t.Context(), q, stale) != nil {
		t.Error("served after its purge")
	}
}

func TestJudgeAndShadow(t *testing.T) {
	odd := func(cached, asked string) reuse.Veto {
		if len(asked)%2 == 1 {
			return "odd"
		}
		return ""
	}
	r := newRig(t, func(_ *store.Options, o *Options) { o.Judge = Vetoes(odd) })
	r.wants(r.request(letters(40)), "miss", 1)
	if f := r.find(t.Context(), r.request(letters(41))); f.Hit != nil || len(f.Vetoes) != 1 || f.Vetoes[0] != "odd" || f.Near == 0 || f.Nearest() != f.Near {
		t.Errorf("%+v", f)
	}
	if f := r.find(t.Context(), r.request(letters(41), func(q *Request) { q.Scope = store.Scope{2} })); f.Nearest() != 0 {
		t.Errorf("entry %d, and its scope has none", f.Nearest())
	}
	shadow, inShadow := newRig(t), func(q *Request) { q.Shadow = true }
	shadow.wants(shadow.request(letters(40), inShadow), "miss", 1)
	if f := shadow.find(t.Context(), shadow.request(letters(41), inShadow)); f.Hit != nil || !f.Shadow || f.Nearest() != f.Explore.Entry.ID {
		t.Errorf("%+v", f)
	}
	shadow.wants(shadow.request(letters(41), inShadow), "miss", 2)
}

// TestPurge: what was purged is gone, and an answer whose request came before is not kept.
func TestPurge(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(80)), "miss", 2)
	early := r.request(letters(120))
	f := r.find(t.Context(), early)
	matched, purged, err := r.Purge(t.Context(), store.Filter{Entry: 1})
	if matched != 1 || purged != 1 || errors.Join(err, r.Sync(t.Context())) != nil {
		t.Fatalf("%d matched, %d purged, %v", matched, purged, err)
	}
	if id, reason, _ := r.Keep(t.Context(), early, f, r.entry(early, f)); id != 0 || reason != ReasonPurged {
		t.Errorf("entry %d, %q", id, reason)
	}
	r.wants(r.request(letters(80)), "exact", 2)
	r.wants(r.request(letters(40)), "miss", 3)
}

// TestExplain: an explanation says what a request would get, and changes nothing.
func TestExplain(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	for n, want := range map[int]string{40: "exact", 42: "semantic", 60: "miss", 170: "miss"} {
		x, err := r.Explain(t.Context(), r.request(letters(n)))
		r.note(err)
		got := "miss"
		if x.Hit != nil && x.Hit.Topic != 0 {
			got = "semantic"
		} else if x.Hit != nil {
			got = "exact"
		}
		if got != want || len(x.Candidates) != 1 || x.Candidates[0].OverGate != (n < 46) {
			t.Errorf("%d letters: %s, %+v", n, got, x.Candidates)
		}
	}
	if st := r.state.store.Stats(); st.Entries != 1 || st.Aliases != 0 {
		t.Errorf("%+v", st)
	}
}

// TestFaultsCostOnlyTheHit: a step that fails or panics is reported, and the request goes on as a miss.
func TestFaultsCostOnlyTheHit(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.embedder.broken.Store(true)
	if f := r.find(t.Context(), r.request(letters(41))); f.Hit != nil || f.Degraded != "embed" {
		t.Errorf("%+v", f)
	}
	r.embedder.broken.Store(false)
	broken := newRig(t, func(_ *store.Options, o *Options) {
		o.Judge = Vetoes(func(string, string) reuse.Veto { panic("injected") })
	})
	broken.wants(broken.request(letters(40)), "miss", 1)
	if f := broken.find(t.Context(), broken.request(letters(41))); f.Hit != nil || f.Degraded != "topics" {
		t.Errorf("%+v", f)
	}
	if got := strings.Join(append(r.faults, broken.faults...), " "); got != "embed topics" {
		t.Errorf("faults in %q", got)
	}
}

// TestLeavingCallerIsNoFault: a caller that leaves counts neither for the embedder nor against it.
func TestLeavingCallerIsNoFault(t *testing.T) {
	r := newRig(t)
	left, leave := context.WithCancel(context.Background())
	leave()
	for i, healthy := range []bool{false, false, false, false, true, false} {
		ctx := context.Background()
		if healthy { // the caller has left
			ctx = left
		}
		r.embedder.broken.Store(!healthy)
		if f := r.find(ctx, r.request(letters(40))); (f.Degraded == "") != healthy || f.Vector != nil {
			t.Errorf("call %d: %+v", i, f)
		}
	}
	if !r.Degraded() || len(r.faults) != 5 {
		t.Errorf("after five failures and a caller that left: degraded %v, faults in %v", r.Degraded(), r.faults)
	}
}
