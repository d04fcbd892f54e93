package topics

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"reprise/embed"
)

// model is the plainest Topics: a list of members and the anchor of every topic.
type model struct {
	o        Options
	next     TopicID
	members  map[EntryID]*Member
	anchors  map[TopicID]EntryID // of topics with members; 0: stale
	accesses map[ScopeID][]EntryID
	attempts map[EntryID]int
}

func newModel(o Options) *model {
	return &model{
		o: o, members: map[EntryID]*Member{}, anchors: map[TopicID]EntryID{},
		accesses: map[ScopeID][]EntryID{}, attempts: map[EntryID]int{},
	}
}

func (m *model) add(x Member) TopicID {
	if old := m.members[x.ID]; old != nil {
		return old.Topic
	}
	if x.Topic == 0 {
		x.Topic = m.next + 1
	}
	m.next = max(m.next, x.Topic)
	x.Importance, x.Last = 1, x.Seq
	anchor, known := m.anchors[x.Topic]
	if !known || anchor != 0 && m.members[anchor].Importance < 1 {
		m.anchors[x.Topic] = x.ID
	}
	m.members[x.ID] = &x
	m.accesses[x.Scope] = append(m.accesses[x.Scope], x.ID)
	return x.Topic
}

func (m *model) forget(id EntryID) {
	x := m.members[id]
	if x == nil {
		return
	}
	delete(m.members, id)
	delete(m.attempts, id)
	if m.anchors[x.Topic] == id {
		m.anchors[x.Topic] = 0
	}
	if len(m.of(x.Topic)) == 0 {
		delete(m.anchors, x.Topic)
	}
	if !slices.ContainsFunc(m.all(), func(y *Member) bool { return y.Scope == x.Scope }) {
		delete(m.accesses, x.Scope)
	}
}

func (m *model) setImportance(id EntryID, importance float64) (anchor bool) {
	x := m.members[id]
	if x == nil {
		return false
	}
	x.Importance = importance
	if a := m.members[m.anchors[x.Topic]]; a != nil && a != x && !m.o.PaperAnchors && importance > 2*a.Importance {
		m.anchors[x.Topic] = id
		return true
	}
	return false
}

func (m *model) refresh(scope ScopeID) (chosen []EntryID) {
	for topic, anchor := range m.anchors {
		if members := m.of(topic); anchor == 0 && members[0].Scope == scope {
			slices.SortFunc(members, func(a, b *Member) int {
				return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(b.Last, a.Last), cmp.Compare(a.ID, b.ID))
			})
			m.anchors[topic] = members[0].ID
			chosen = append(chosen, members[0].ID)
		}
	}
	slices.Sort(chosen)
	return chosen
}

func (m *model) search(q Query) (r Route) {
	if !slices.ContainsFunc(m.all(), func(x *Member) bool { return x.Scope == q.Scope }) {
		return r
	}
	var near, found []Match
	for _, x := range m.all() {
		if x.Scope != q.Scope {
			continue
		}
		match := Match{x.ID, float64(embed.Dot(q.Vector, x.Vector)), x.Topic}
		if m.anchors[x.Topic] == x.ID {
			near = append(near, match)
		}
		if x.Chain == q.Chain {
			found = append(found, match)
		}
	}
	// The index stores anchors by their topic, so ties go to the lower topic.
	slices.SortFunc(near, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Topic, b.Topic))
	})
	slices.SortFunc(found, Match.compare)
	if near[0].Score >= m.o.Route {
		r.Topic, r.Score = near[0].Topic, near[0].Score
	}
	for _, x := range found[:min(len(found), MaxMatches)] {
		if x.Score >= max(q.Hit, m.o.Hit) {
			r.Matches = append(r.Matches, x)
		}
	}
	if len(found) > 0 && (q.Nearest || len(r.Matches) > 0) {
		r.Nearest = found[0]
	}
	if len(r.Matches) > 0 {
		r.Topic, r.Score = r.Nearest.Topic, r.Nearest.Score
	}
	return r
}

func (m *model) parent(self EntryID, topic TopicID, x Member) (parent EntryID) {
	born, top := x.Seq, 0.0
	if old := m.members[self]; old != nil {
		born = old.Seq
	}
	log := m.accesses[x.Scope]
	for _, id := range log[max(0, len(log)-m.o.Lookback):] {
		c := m.members[id]
		if c == nil || id == self || c.Topic != topic || c.Chain != x.Chain || c.Seq >= born || c.Last >= x.Seq {
			continue
		}
		sim := float64(embed.Dot(c.Vector, x.Vector))
		score := sim / float64(x.Seq-c.Last)
		if sim >= m.o.Edge && (score > top || score == top && id < parent) {
			top, parent = score, id
		}
	}
	return parent
}

func (m *model) touch(id EntryID, seq int64) (parent EntryID, searched bool) {
	x := m.members[id]
	if x == nil {
		return 0, false
	}
	x.Last = max(x.Last, seq)
	if m.members[x.Parent] == nil && m.attempts[id] < maxAttempts {
		searched = true
		request := *x
		request.Seq = seq
		if parent = m.parent(id, x.Topic, request); parent != 0 {
			x.Parent, m.attempts[id] = parent, 0
		} else {
			m.attempts[id]++
		}
	}
	m.accesses[x.Scope] = append(m.accesses[x.Scope], id)
	return parent, searched
}

func (m *model) all() (list []*Member) {
	for _, x := range m.members {
		list = append(list, x)
	}
	return list
}

func (m *model) of(topic TopicID) (list []*Member) {
	for _, x := range m.members {
		if x.Topic == topic {
			list = append(list, x)
		}
	}
	return list
}

// state is topics, anchors and sizes in one line.
func (m *model) state() string {
	var topics []string
	for id, anchor := range m.anchors {
		topics = append(topics, fmt.Sprintf("%03d:%d of %d", id, anchor, len(m.of(id))))
	}
	slices.Sort(topics)
	return strings.Join(topics, " ")
}

func (t *Topics) state() string {
	var topics []string
	for _, i := range t.List(0, 1<<20) {
		topics = append(topics, fmt.Sprintf("%03d:%d of %d", i.ID, i.Anchor, i.Size))
	}
	return strings.Join(topics, " ")
}

// palette holds the vectors of scripts: clusters, near-equal pairs and single ones, no score close to a gate.
var palette = func() (vectors [][]float32) {
	rng := rand.New(rand.NewSource(11))
	for _, centre := range unitVectors(rng, 6, 12) {
		for range 4 {
			member := near(rng, centre, 0.9)
			vectors = append(vectors, member, near(rng, member, 0.98))
		}
	}
	return append(vectors, unitVectors(rng, 8, 12)...)
}()

// play runs a script, 4 bytes a step, on Topics and on the model and compares every answer.
func play(t *testing.T, o Options, script []byte) (*Topics, *model) {
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	got, want := newTopics(o), newModel(o)
	t.Cleanup(got.Close)
	for seq := int64(1); len(script) >= 4; seq++ {
		step(t, got, want, seq, script)
		script = script[4:]
	}
	return got, want
}

func step(t *testing.T, got *Topics, want *model, seq int64, script []byte) {
	op, x, y := script[0], script[1], script[2]
	q := Query{Vector: palette[int(x)%len(palette)], Nearest: script[3]&8 > 0}
	q.Scope[0], q.Chain[0] = script[3]&1, script[3]>>1&1
	id := EntryID(max(1, seq-int64(y)%64)) // one of the last requests, whether it added an entry or not
	if op%8 < 3 {
		id = EntryID(seq)
	}
	switch op % 8 {
	case 0, 1, 2, 3:
		route := checkSearch(t, got, want, q)
		m := Member{ID: id, Scope: q.Scope, Chain: q.Chain, Vector: q.Vector, Topic: route.Topic, Seq: seq}
		if want.members[id] == nil {
			m.Parent, _ = got.Parent(q.Scope, route.Topic, q.Chain, q.Vector, seq)
			if parent := want.parent(0, route.Topic, m); parent != m.Parent {
				t.Fatalf("parent %d, want %d", m.Parent, parent)
			}
		}
		isNew := want.members[id] == nil
		topic, anchor, err := got.Add(m)
		if wantTopic := want.add(m); err != nil || topic != wantTopic {
			t.Fatalf("Add joins %d, %v, want %d", topic, err, wantTopic)
		}
		if wantAnchor := isNew && want.anchors[topic] == id; anchor != wantAnchor {
			t.Fatalf("Add reports %v, want %v: anchor %d", anchor, wantAnchor, want.anchors[topic])
		}
	case 4:
		got.Forget(id, id+1)
		want.forget(id)
		want.forget(id + 1)
	case 5:
		anchor, wantAnchor := got.SetImportance(id, float64(x%16)), want.setImportance(id, float64(x%16))
		if anchor != wantAnchor {
			t.Fatalf("SetImportance reports %v, want %v", anchor, wantAnchor)
		}
	default:
		parent, searched := got.ParentOf(id, seq)
		got.Touch(id, seq, parent, searched)
		if p, s := want.touch(id, seq); p != parent || s != searched {
			t.Fatalf("ParentOf finds %d, %v, want %d, %v", parent, searched, p, s)
		}
	}
	if got.state() != want.state() {
		t.Fatalf("after op %d:\n%s, want\n%s", op%8, got.state(), want.state())
	}
}

func checkSearch(t *testing.T, got *Topics, want *model, q Query) Route {
	t.Helper()
	g, ok := got.Search(q)
	chosen := want.refresh(q.Scope)
	if !ok {
		anchors := got.Refresh(q.Scope)
		if slices.Sort(anchors); !slices.Equal(anchors, chosen) {
			t.Fatalf("Refresh chooses %d, want %d", anchors, chosen)
		}
		g, ok = got.Search(q)
	} else if len(chosen) > 0 {
		t.Fatalf("Search answers while %d are not yet anchors", chosen)
	}
	if !ok {
		t.Fatal("Search asks for a second Refresh")
	}
	w := want.search(q)
	if gs, ws := g.text(), w.text(); gs != ws {
		t.Fatalf("Search finds\n%s, want\n%s", gs, ws)
	}
	return g
}

// text rounds the scores.
func (r Route) text() string {
	text := fmt.Sprintf("%d %.4f nearest %d %.4f:", r.Topic, r.Score, r.Nearest.ID, r.Nearest.Score)
	for _, m := range r.Matches {
		text += fmt.Sprintf(" %d in %d %.4f", m.ID, m.Topic, m.Score)
	}
	return text
}

// settings are gates near and far from each other, a short lookback, and Alg. 5 as printed.
var settings = []Options{
	{Dim: 12, Hit: 0.97, Route: 0.7, Edge: 0.6},
	{Dim: 12, Hit: 0.97, Route: 0.5, Edge: 0.6, Lookback: 5},
	{Dim: 12, Hit: 0.85, Route: 0.7, Edge: 0.3, PaperAnchors: true},
}

func TestTopicsAgainstModel(t *testing.T) {
	for i, o := range settings {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			script := make([]byte, 4*800)
			rand.New(rand.NewSource(int64(i))).Read(script)
			got, want := play(t, o, script)
			if s := got.Stats(); s.Entries != len(want.members) || s.Topics != len(want.anchors) {
				t.Errorf("%d entries and %d topics, want %d and %d", s.Entries, s.Topics, len(want.members), len(want.anchors))
			}
			restart(t, o, want)
		})
	}
}

// restart adds the members of the model to a new Topics, in the order of the last accesses: it answers as the old one.
func restart(t *testing.T, o Options, want *model) {
	got, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	members := want.all()
	slices.SortFunc(members, func(a, b *Member) int { return cmp.Compare(a.Last, b.Last) })
	for _, m := range members {
		if _, _, err := got.Add(*m); err != nil {
			t.Fatal(err)
		}
	}
	want.refresh(ScopeID{})
	want.refresh(ScopeID{1})
	for _, anchor := range want.anchors {
		got.RestoreAnchor(anchor)
	}
	for i, v := range palette {
		q := Query{Vector: v, Nearest: i%2 == 0}
		q.Scope[0] = byte(i / 2 % 2)
		checkSearch(t, got, want, q)
	}
	if id := got.NewTopic(); id <= slices.MaxFunc(members, func(a, b *Member) int { return cmp.Compare(a.Topic, b.Topic) }).Topic {
		t.Errorf("NewTopic = %d, which was used before", id)
	}
}

func FuzzTopics(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 0, 2, 3, 0, 5, 4, 3, 0, 4, 0, 2, 0, 0, 1, 9, 8}, uint8(0))
	f.Add([]byte{1, 9, 1, 1, 2, 8, 2, 3, 6, 0, 1, 0, 4, 0, 0, 0, 3, 9, 7, 10}, uint8(1))
	f.Fuzz(func(t *testing.T, script []byte, setting uint8) {
		play(t, settings[int(setting)%len(settings)], script[:min(len(script), 4*300)])
	})
}
