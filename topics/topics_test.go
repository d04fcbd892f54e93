package topics

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/embed"
)

// plane is the unit vector at an angle in degrees: the cosine of two is that of the angle between them.
func plane(degrees float64) []float32 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return []float32{float32(cos), float32(sin)}
}

// inPlane makes a Topics of the plane: a hit within 14 degrees, a topic within 60, a parent within 53.
func inPlane(t *testing.T, change func(*Options)) *Topics {
	t.Helper()
	o := Options{Dim: 2, Hit: 0.97, Route: 0.5, Edge: 0.6}
	if change != nil {
		change(&o)
	}
	topics, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(topics.Close)
	return topics
}

// search is Search after the Refresh that it needs.
func search(topics *Topics, q Query) Route {
	for {
		if r, ok := topics.Search(q); ok {
			return r
		}
		topics.Refresh(q.Scope)
	}
}

// put adds an entry of the first scope.
func put(t *testing.T, topics *Topics, id EntryID, topic TopicID, degrees float64) TopicID {
	t.Helper()
	topic, _, err := topics.Add(Member{ID: id, Topic: topic, Vector: plane(degrees), Seq: int64(id)})
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

// TestDimKnownLater: without a length nothing is taken and nothing is found, and it is set once.
func TestDimKnownLater(t *testing.T) {
	late, err := New(Options{Hit: 0.9, Route: 0.6, Edge: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	v := []float32{0, 1, 0}
	add := func() error { _, _, err := late.Add(Member{ID: 1, Vector: v, Seq: 1}); return err }
	if add() == nil {
		t.Error("a vector of unknown length is added")
	}
	if r, ok := late.Search(Query{Vector: v}); !ok || r.Topic != 0 {
		t.Errorf("search: %+v, %v", r, ok)
	}
	for _, c := range []struct {
		dim   int
		taken bool
	}{{0, false}, {1, false}, {-3, false}, {3, true}, {3, false}, {4, false}} {
		if err := late.SetDim(c.dim); (err == nil) != c.taken || err != nil && !errors.Is(err, errOptions) {
			t.Errorf("%d: %v", c.dim, err)
		}
	}
	if err := add(); err != nil {
		t.Error(err)
	}
	if r, ok := late.Search(Query{Vector: v}); !ok || r.Nearest.ID != 1 {
		t.Errorf("search after it: %+v, %v", r, ok)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(*Options) {}, ""},
		{func(o *Options) { o.Route = o.Hit }, "one member"},
		{func(o *Options) { o.Route = 0.99 }, "one member"},
		{func(o *Options) { o.Hit = 1.01 }, "Hit"},
		{func(o *Options) { o.Route = 0 }, "Route"},
		{func(o *Options) { o.Edge = math.NaN() }, "Edge"},
		{func(o *Options) { o.Dim = 1 }, "Dim"},
		{func(o *Options) { o.Dim = -2 }, "Dim"},
		{func(o *Options) { o.Lookback = -1 }, "Lookback"},
	} {
		o := Options{Dim: 8, Hit: 0.9, Route: 0.6, Edge: 0.5}
		c.change(&o)
		_, err := New(o)
		if (err == nil) != (c.want == "") {
			t.Errorf("%+v: %v", o, err)
		}
		if err != nil && (!errors.Is(err, errOptions) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", o, err, c.want)
		}
	}
}

// TestAnchors follows the anchor of a topic (paper 002, Alg. 5, with D10): "topic:anchor of size".
func TestAnchors(t *testing.T) {
	for _, c := range []struct {
		name, steps, want string
		paper             bool
	}{
		{"the first member", "add 1, add 2", "001:1 of 2", false},
		{"up to twice as important moves nothing", "add 1, add 2, set 2 2", "001:1 of 2", false},
		{"more than twice as important", "add 1, add 2, set 2 2.1", "001:2 of 2", false},
		{"not back again", "add 1, add 2, set 2 3, set 1 5", "001:2 of 2", false},
		{"as printed, growth moves nothing", "add 1, add 2, set 2 9", "001:1 of 2", true},
		{"stale", "add 1, add 2, forget 1", "001:0 of 1", false},
		{"refreshed by a search", "add 1, add 2, add 3, set 3 1.5, forget 1, search", "001:3 of 2", false},
		{"equal importance: the last used", "add 1, add 2, add 3, touch 2 9, forget 1, search", "001:2 of 2", false},
		{"a member joins a stale topic", "add 1, add 2, set 2 2, forget 1, add 3, search", "001:2 of 2", false},
		{"the other members leave", "add 1, add 2, add 3, forget 2, forget 3", "001:1 of 1", false},
		{"all leave", "add 1, add 2, forget 2, forget 1", "", false},
		{"revived", "add 1, forget 1, add 2", "001:2 of 1", false},
		{"restored", "add 1, add 2, restore 2, restore 2", "001:2 of 2", false},
		{"of unknown entries", "add 1, set 9 9, restore 9, touch 9 9, forget 9", "001:1 of 1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			topics := inPlane(t, func(o *Options) { o.PaperAnchors = c.paper })
			for _, step := range strings.Split(c.steps, ", ") {
				run(t, topics, step)
			}
			if got := topics.state(); got != c.want {
				t.Errorf("%s: %q, want %q", c.steps, got, c.want)
			}
		})
	}
}

func run(t *testing.T, topics *Topics, step string) {
	var verb string
	var id EntryID
	var x float64
	_, _ = fmt.Sscan(step, &verb, &id, &x) // values that a step omits are zero
	switch verb {
	case "add":
		put(t, topics, id, 1, 20*float64(id))
	case "set":
		topics.SetImportance(id, x)
	case "touch":
		touch(topics, id, int64(x))
	case "forget":
		topics.Forget(id)
	case "restore":
		topics.RestoreAnchor(id)
	case "search":
		search(topics, Query{Vector: plane(0)})
	default:
		t.Fatalf("step %q", step)
	}
}

func TestSearch(t *testing.T) {
	topics := inPlane(t, nil)
	put(t, topics, 1, 7, 0)
	put(t, topics, 2, 7, 40)
	put(t, topics, 3, 8, 120)
	for _, c := range []struct {
		name    string
		degrees float64
		hit     float64
		topic   TopicID
		matches []EntryID
	}{
		{"hit on an anchor", 5, 0, 7, []EntryID{1}},
		{"hit on a member beyond its anchor's gate", 53, 0, 7, []EntryID{2}},
		{"routed, no hit", 20, 0, 7, nil},
		{"routed to the nearest anchor", 75, 0, 8, nil},
		{"no topic", 200, 0, 0, nil},
		{"a raised gate", 5, 0.999, 7, nil},
		{"a lowered gate has no effect", 20, 0.1, 7, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := search(topics, Query{Vector: plane(c.degrees), Hit: c.hit})
			var ids []EntryID
			for _, m := range r.Matches {
				ids = append(ids, m.ID)
			}
			if r.Topic != c.topic || !slices.Equal(ids, c.matches) {
				t.Errorf("topic %d, matches %v, want %d, %v", r.Topic, ids, c.topic, c.matches)
			}
		})
	}
	if r := search(topics, Query{Vector: nil}); r.Topic != 0 || r.Matches != nil {
		t.Errorf("a nil vector: found %+v", r)
	}
	if r := search(topics, Query{Vector: plane(20), Nearest: true}); r.Nearest.ID == 0 || len(r.Matches) > 0 {
		t.Errorf("asked for the nearest: %+v", r)
	}
}

// TestIsolation: vectors of another scope are never found; equal ones of another chain share the topic, never an answer.
func TestIsolation(t *testing.T) {
	topics := inPlane(t, nil)
	for id := range EntryID(20) {
		m := Member{ID: id + 1, Topic: 1, Vector: plane(0)}
		m.Scope[0], m.Chain[0] = byte(id/10), byte(id/5)
		m.Topic += TopicID(m.Scope[0])
		if _, _, err := topics.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	for x := range 9 {
		q := Query{Vector: plane(0), Scope: ScopeID{byte(x / 3)}, Chain: ChainID{byte(x % 3)}, Nearest: true}
		r := search(topics, q)
		for _, m := range append(r.Matches, r.Nearest) {
			if m.ID > 0 && (byte(m.ID-1)/10 != q.Scope[0] || byte(m.ID-1)/5 != q.Chain[0]) {
				t.Errorf("scope %d, chain %d finds entry %d", q.Scope[0], q.Chain[0], m.ID)
			}
		}
		if known := x < 3 && x%3 < 2 || x == 5; known != (len(r.Matches) == MaxMatches) {
			t.Errorf("scope %d, chain %d has %d matches", q.Scope[0], q.Chain[0], len(r.Matches))
		}
		if routed := x < 6; routed != (r.Topic != 0) {
			t.Errorf("scope %d is routed to topic %d", q.Scope[0], r.Topic)
		}
	}
}

// TestCrowdedVectors: entries with equal vectors make a search no wider than its bounds, which Stats counts, and those under other earlier turns
// take nothing of it. All of them are forgotten as others are.
func TestCrowdedVectors(t *testing.T) {
	topics, crowd := inPlane(t, nil), ChainID{1}
	n := EntryID(3 * forHits.reads)
	for id := EntryID(1); id <= n; id++ {
		if _, _, err := topics.Add(Member{ID: id, Chain: crowd, Topic: 1, Vector: plane(0), Seq: int64(id)}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, topics, n+1, 2, 10)
	for i, c := range []struct {
		chain   ChainID
		hits    int
		limited int64
	}{{ChainID{}, 1, 0}, {crowd, MaxMatches, 1}, {ChainID{2}, 0, 1}, {crowd, MaxMatches, 2}} {
		r := search(topics, Query{Chain: c.chain, Vector: plane(2)})
		if got := topics.Stats().LimitedHits; len(r.Matches) != c.hits || got != c.limited {
			t.Errorf("search %d: %d hits, %d searches cut so far, want %d and %d", i, len(r.Matches), got, c.hits, c.limited)
		}
	}
	for id := EntryID(1); id <= n; id++ {
		topics.Forget(id)
	}
	if r := search(topics, Query{Chain: crowd, Vector: plane(2)}); len(r.Matches) > 0 || topics.Stats().LimitedHits != 2 {
		t.Errorf("after the crowd left: %v, %d searches cut", r.Matches, topics.Stats().LimitedHits)
	}
}

func TestAdd(t *testing.T) {
	topics := inPlane(t, nil)
	if _, _, err := topics.Add(Member{Vector: plane(0)}); err == nil {
		t.Error("id 0 is added")
	}
	if _, _, err := topics.Add(Member{ID: 1, Vector: []float32{1, 1}}); !errors.Is(err, embed.ErrVector) {
		t.Errorf("a long vector: %v", err)
	}
	if n := len(topics.Stats().Scopes); n != 0 {
		t.Errorf("refused members left %d scopes", n)
	}
	if got := put(t, topics, 1, 0, 0); got != 1 {
		t.Errorf("a new topic is %d", got)
	}
	put(t, topics, 2, 41, 0)
	if got := put(t, topics, 2, 50, 90); got != 41 {
		t.Errorf("a known entry moved to topic %d", got)
	}
	if got := topics.NewTopic(); got != 42 {
		t.Errorf("NewTopic = %d, want one above the highest seen", got)
	}
	topics.SetNext(60)
	topics.SetNext(50)
	if got := put(t, topics, 3, 0, 0); got != 60 {
		t.Errorf("after SetNext: topic %d", got)
	}
}

// TestProcesses: topics made by different processes never have the same id, even when they add each other's.
func TestProcesses(t *testing.T) {
	made := map[TopicID]uint16{}
	processes := []uint16{0, 1, math.MaxUint16}
	var all []*Topics
	for _, n := range processes {
		one := inPlane(t, nil)
		one.SetProcess(n)
		all = append(all, one)
	}
	for id := range EntryID(50) {
		for i, n := range processes {
			topic := put(t, all[i], 3*id+EntryID(i)+1, 0, 0)
			if other, ok := made[topic]; ok {
				t.Fatalf("processes %d and %d both made topic %d", other, n, topic)
			}
			made[topic] = n
			if topic >= 1<<53 {
				t.Errorf("process %d makes topic %d, beyond 53 bits", n, topic)
			}
			for _, other := range all {
				other.SetNext(topic + 1)
				put(t, other, 3*id+EntryID(i)+1, topic, 0)
			}
		}
	}
	for i, want := range []TopicID{51, 1<<37 + 51, math.MaxUint16<<37 + 51} {
		if got := all[i].NewTopic(); got != want {
			t.Errorf("the ids of others moved the next topic of process %d to %d, want %d", processes[i], got, want)
		}
	}
}

func TestForgetFreesScopes(t *testing.T) {
	topics := inPlane(t, nil)
	for i := range EntryID(600) {
		m := Member{ID: i + 1, Scope: ScopeID{byte(i % 2)}, Vector: plane(float64(i)), Topic: TopicID(i%2 + 1)}
		if _, _, err := topics.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	for i := range EntryID(600) {
		if i%2 == 0 || i < 599 {
			topics.Forget(i+1, i+1)
		}
	}
	s := topics.Stats()
	if s.Entries != 1 || s.Topics != 1 || len(s.Scopes) != 1 || s.Scopes[0].Scope != (ScopeID{1}) {
		t.Errorf("stats %+v", s)
	}
	if len(topics.entries) != 1 {
		t.Errorf("%d entries are left in the map", len(topics.entries))
	}
}

func TestListing(t *testing.T) {
	topics := inPlane(t, nil)
	for i := range EntryID(10) {
		m := Member{ID: 10 - i, Scope: ScopeID{byte(i % 2)}, Vector: plane(0), Topic: TopicID(i/2*2 + i%2 + 1)}
		if _, _, err := topics.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	put(t, topics, 11, 1, 0)
	var ids []TopicID
	for after := TopicID(0); ; {
		page := topics.List(after, 3)
		if len(page) == 0 {
			break
		}
		for _, i := range page {
			ids = append(ids, i.ID)
		}
		after = page[len(page)-1].ID
	}
	if want := []TopicID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(ids, want) {
		t.Errorf("pages of topics %v, want %v", ids, want)
	}
	if got, want := topics.List(0, 1)[0], (TopicInfo{ID: 1, Size: 2, Anchor: 10}); got != want {
		t.Errorf("topic 1 is %+v, want %+v", got, want)
	}
}

// TestImportanceWaitsForNoSearch: an importance that moves no anchor is set while a search has the lock of the scope.
func TestImportanceWaitsForNoSearch(t *testing.T) {
	topics, err := New(Options{Dim: 12, Hit: 0.97, Route: 0.7, Edge: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	for id := range EntryID(2) {
		if _, _, err := topics.Add(Member{ID: id + 1, Vector: palette[0], Topic: 1}); err != nil {
			t.Fatal(err)
		}
	}
	s := topics.scope(ScopeID{})
	s.mu.RLock()
	done := make(chan bool)
	go func() { done <- topics.SetImportance(2, 1.5) }()
	select {
	case anchor := <-done:
		if anchor {
			t.Error("1.5 is not twice the importance of the anchor")
		}
	case <-time.After(time.Minute):
		t.Fatal("waits for the search")
	}
	s.mu.RUnlock()
	if !topics.SetImportance(2, 2.5) || topics.entry(2).importance != 2.5 {
		t.Error("2.5 makes no anchor")
	}
}

// TestConcurrent runs all methods at once, for the race detector, while graphs are built and scopes made and freed.
func TestConcurrent(t *testing.T) {
	topics, err := New(Options{Dim: 12, Hit: 0.97, Route: 0.7, Edge: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	topics.graphs.min, topics.graphs.share = 40, 1e9
	var workers sync.WaitGroup
	for w := range EntryID(4) {
		workers.Go(func() {
			rng := rand.New(rand.NewSource(int64(w)))
			for i := range EntryID(400) {
				v := near(rng, palette[rng.Intn(len(palette))], 0.9)
				scope := ScopeID{byte(rng.Intn(3))}
				r := search(topics, Query{Scope: scope, Vector: v})
				id := w*1000 + i + 1
				if _, _, err := topics.Add(Member{ID: id, Scope: scope, Vector: v, Topic: r.Topic, Seq: int64(id)}); err != nil {
					t.Error(err)
				}
				touch(topics, w*1000+EntryID(rng.Intn(400)), int64(id))
				topics.SetImportance(w*1000+EntryID(rng.Intn(400)), float64(rng.Intn(9)))
				topics.Parent(scope, r.Topic, ChainID{}, v, int64(id))
				if rng.Intn(5) > 0 {
					topics.Forget(id - EntryID(rng.Intn(9)))
				}
				if i%100 == 0 {
					topics.List(0, 10)
				}
			}
		})
	}
	workers.Wait()
	topics.Close()
	listed := 0
	for _, i := range topics.List(0, 1<<20) {
		listed += i.Size
	}
	if s := topics.Stats(); listed != s.Entries || len(topics.entries) != s.Entries {
		t.Errorf("topics list %d entries, scopes count %d, the map holds %d", listed, s.Entries, len(topics.entries))
	}
}
