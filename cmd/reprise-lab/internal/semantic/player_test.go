package semantic

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/proxy/cache"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// at is a vector of a plane, at an angle in degrees.
func at(degrees float64) []float32 {
	s, c := math.Sincos(degrees * math.Pi / 180)
	return []float32{float32(c), float32(s)}
}

// The gates of the tests, in degrees: an answer is shared up to 10, a topic to 30, a parent to 60.
func options() Options {
	cos := func(degrees float64) float64 { return math.Cos(degrees * math.Pi / 180) }
	return Options{Labels: Routed, Topics: topics.Options{Dim: 2, Hit: cos(10), Route: cos(30), Edge: cos(60)}}
}

// recorder is LRU that notes every call.
type recorder struct {
	*classic.LRU
	notes   []string
	expires map[policy.ID]bool
}

func (t *recorder) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

func (t *recorder) Insert(it policy.Item, at policy.Tick) {
	t.note("+%d of %d under %d", it.ID, it.Topic, it.Parent)
	t.LRU.Insert(it, at)
}

func (t *recorder) Hit(id policy.ID, at policy.Tick) {
	t.note("h%d", id)
	t.LRU.Hit(id, at)
}

func (t *recorder) Arrive(topic policy.TopicID, _ policy.Tick) { t.note("a%d", topic) }

func (t *recorder) Link(child, parent policy.ID) bool {
	t.note("%d<%d", child, parent)
	return true
}

func (t *recorder) Importance(policy.ID) float64 { return 1 }

func (t *recorder) Expired(id policy.ID, _ policy.Tick) bool { return t.expires[id] }

// said makes a request.
func said(id uint64, degrees float64, more ...func(*sim.Request)) sim.Request {
	r := sim.Request{ID: id, Content: &sim.Content{Vector: at(degrees)}}
	for _, change := range more {
		change(&r)
	}
	return r
}

func text(s string) func(*sim.Request) { return func(r *sim.Request) { r.Content.Text = s } }
func worded(s string) func(*sim.Request) {
	return func(r *sim.Request) { r.Content = &sim.Content{Text: s} }
}
func topic(n uint64) func(*sim.Request)   { return func(r *sim.Request) { r.Topic = n } }
func parent(id uint64) func(*sim.Request) { return func(r *sim.Request) { r.Parent = id } }
func scope(n uint64) func(*sim.Request)   { return func(r *sim.Request) { r.Scope = n } }
func chain(n uint64) func(*sim.Request)   { return func(r *sim.Request) { r.Chain = n } }
func speechless(r *sim.Request)           { r.Content = nil }

// play plays requests through a cache of some entries and returns the verdicts, "h" or "m", and the calls of the policy.
func play(t *testing.T, o Options, entries int, e *recorder, all ...sim.Request) (verdicts, calls string) {
	t.Helper()
	e.LRU = classic.NewLRU()
	p, err := New(o)(e, policy.Limit{Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		hit, _, err := p.Play(&all[i], policy.Tick{Seq: int64(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		verdicts += map[bool]string{true: "h", false: "m"}[hit]
	}
	if n, _, faults := p.Residents(); faults != 0 || n > entries {
		t.Errorf("%d faults, %d entries", faults, n)
	}
	return verdicts, strings.Join(e.notes, " ")
}

func TestPlayer(t *testing.T) {
	given, detect, strict := options(), options(), options()
	given.Labels, detect.Detect, strict.Judge = Given, true, func(rates *evidence.Rates) cache.Judge {
		return &reuse.Judge{Words: true, MaxError: 0.01, Rates: rates}
	}
	for _, c := range []struct {
		name    string
		o       Options
		entries int
		all     []sim.Request
		want    string
		calls   string
	}{
		{"exact, near, in the topic, far", options(), 9, []sim.Request{said(1, 0), said(1, 0), said(2, 9), said(3, 20), said(4, 90)},
			"mhhmm", "+1 of 1 under 0 h1 h1 a1 +2 of 1 under 0 +3 of 2 under 0"},
		// The second is known by the first from then on, though another is nearer to it by then.
		{"alias", options(), 9, []sim.Request{said(1, 0), said(2, 9), said(3, 12), said(2, 9)}, "mhmh", "+1 of 1 under 0 h1 a1 +2 of 1 under 0 h1"},
		{"an alias goes with its entry", options(), 1, []sim.Request{said(1, 0), said(2, 9), said(3, 90), said(2, 9)}, "mhmm",
			"+1 of 1 under 0 h1 +2 of 2 under 0 +3 of 3 under 0"},
		{"scopes and chains share nothing", options(), 9, []sim.Request{said(1, 0), said(1, 0, scope(5)), said(2, 1, chain(5)), said(1, 0, scope(5))}, "mmmh",
			"+1 of 1 under 0 +2 of 2 under 0 a1 +3 of 1 under 0 h2"},
		{"by identity alone", options(), 9, []sim.Request{said(1, 0, speechless), said(1, 0, speechless), said(2, 0), said(3, 0, speechless)}, "mhmm",
			"+1 of 1 under 0 h1 +2 of 2 under 0 +3 of 3 under 0"},
		{"a text without a vector", options(), 9, []sim.Request{said(1, 0, speechless, worded("hm")), said(1, 0, speechless, worded("hm")), said(2, 0, speechless, worded("hm"))},
			"mhm", "+1 of 1 under 0 h1 +2 of 2 under 0"},
		{"given topics", given, 9, []sim.Request{said(1, 0, topic(7)), said(2, 9, topic(8)), said(3, 20, topic(8)), said(4, 90)}, "mhmm",
			"a7 +1 of 7 under 0 h1 a8 +2 of 8 under 0 +3 of 0 under 0"},
		{"given parents", options(), 9, []sim.Request{said(1, 0), said(2, 90, parent(1)), said(2, 90, parent(1)), said(3, 180, parent(9))}, "mmhm",
			"+1 of 1 under 0 +2 of 2 under 1 2<1 h2 +3 of 3 under 0"},
		{"detected parents", detect, 9, []sim.Request{said(1, 0), said(2, 20, parent(9)), said(3, 90, parent(1))}, "mmm",
			"+1 of 1 under 0 a1 +2 of 1 under 1 +3 of 2 under 0"},
		{"guards", strict, 9, []sim.Request{said(1, 0, text("how do I open 5 doors")), said(2, 1, text("how do I open 6 doors")), said(3, 2, text("How do I open 6 doors?"))}, "mmh",
			"+1 of 1 under 0 a1 +2 of 1 under 0 h2"},
	} {
		got, calls := play(t, c.o, c.entries, &recorder{}, c.all...)
		if got != c.want || calls != c.calls {
			t.Errorf("%s: got %s, %q\nwant %s, %q", c.name, got, calls, c.want, c.calls)
		}
	}
}

// TestPlayerExpiry: what has expired answers neither by identity nor by meaning.
func TestPlayerExpiry(t *testing.T) {
	for _, next := range []sim.Request{said(1, 0), said(2, 1)} {
		e := &recorder{expires: map[policy.ID]bool{1: true}}
		if got, _ := play(t, options(), 9, e, said(1, 0), next, next); got != "mmh" {
			t.Errorf("request %d: %s", next.ID, got)
		}
	}
}

// maxAliases is how many other requests an entry is known by.
const maxAliases = 16

// TestPlayerAliases: the oldest of too many makes room.
func TestPlayerAliases(t *testing.T) {
	all := []sim.Request{said(1, 0)}
	for i := range uint64(maxAliases + 1) {
		all = append(all, said(10+i, 5))
	}
	e := &recorder{LRU: classic.NewLRU()}
	p, err := New(options())(e, policy.Limit{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		p.Play(&all[i], policy.Tick{Seq: int64(i + 1)})
	}
	for id, want := range map[uint64]bool{1: true, 10: false, 11: true, 10 + maxAliases: true} {
		if e, _, ok := p.(*player).store.Lookup(keyOf(id, 0)); ok != want || ok && e.ID != 1 {
			t.Errorf("request %d is known: %v, want %v", id, ok, want)
		}
	}
}

// TestPlayerOptions: what the topics do not take is an error and no panic.
func TestPlayerOptions(t *testing.T) {
	o := options()
	o.Topics.Hit = 2
	if _, err := New(o)(classic.NewLRU(), policy.Limit{}); err == nil {
		t.Error("a gate of 2 is no cosine")
	}
}

// TestReplayIsDeterministic plays a trace twice, one cell at a time and all at once.
func TestReplayIsDeterministic(t *testing.T) {
	s := &sim.Slice{Title: "plane"}
	for i := range 3000 {
		x := uint64(i) * 0x9E3779B97F4A7C15 >> 40
		s.All = append(s.All, said(1+x%700, float64(x%700)*360/700, parent(x%31), scope(x%2)))
	}
	var before []sim.Result
	for _, parallel := range []int{1, 4, 0} {
		o := sim.Options{Policies: []string{"lru", "rac", "rac+", "belady"}, Capacities: []sim.Capacity{{Entries: 9}, {Share: .05}}, Model: New(options()), Parallel: parallel, Windows: 3}
		got, err := sim.Replay(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Seconds = 0
		}
		if before != nil && !reflect.DeepEqual(got, before) || got[1].Hits == 0 || got[1].Hits == got[1].Requests || len(got[5].Windows) != 3 || got[5].Windows[2].Panel == nil {
			t.Errorf("%d in parallel: the figures differ, or prove nothing: %d hits", parallel, got[1].Hits)
		}
		before = got
	}
}
