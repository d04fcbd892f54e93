package rac

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
)

func TestRACOrder(t *testing.T) {
	slow := Options{Alpha: 0.001, Lambda: 1}
	with := func(o Options, change func(*Options)) Options { change(&o); return o }
	for _, c := range []struct {
		name, script, want string
		o                  Options
	}{
		{"one topic: frequency", "+1 +2 +3 h1 h1 h2", "[3 2 1]", slow},
		{"one topic: ties by last use", "+1 +2 +3 h1 h3 h2", "[1 3 2]", slow},
		{"the colder topic goes first", "+1/1 +2/2 +3/2", "[1 2 3]", slow},
		{"a hot topic protects all its members", "+1/1 +2/1 h2 h2 +3/2", "[3 1 2]", slow},
		{"a fast decay forgets it", "+1/1 +2/1 h2 h2 +3/2", "[1 3 2]", with(slow, func(o *Options) { o.Alpha = 1 })},
		{"a parent is worth its dependents", "+1 +2 +3/1<1 +4/1<1", "[2 3 4 1]", slow},
		{"not without lambda", "+1 +2 +3/1<1 +4/1<1", "[1 2 3 4]", with(slow, func(o *Options) { o.Lambda = 0 })},
		{"hits of a child credit the parent", "+1 +2/1<1 +3 h2 h3", "[2 3 1]", slow},
		{"a late link credits what the child had", "+1 +2 +3 h2 h2 2<1", "[3 2 1]", slow},
		{"a cap bounds it", "+1 +2 +3 h2 h2 2<1", "[3 1 2]", with(slow, func(o *Options) { o.DepCap = 1 })},
		{"a removed child leaves its credit", "+1 +2/1<1 +3 -2 h3 +4", "[4 1 3]", slow},
		{"no topic stands alone", "+1/0 +2/0 h1 +3/0", "[2 3 1]", slow},
		{"an arrival without answer counts", "+1/1 +2/2 a1", "[2 1]", slow},
		{"the newest may be the victim", "+1/1 h1 +2/2", "[2 1]", slow},
		{"unless protected", "+1/1 h1 +2/2", "[1 2]", with(slow, func(o *Options) { o.Protect = true })},
		{"an empty topic is forgotten", "+1/1 h1 h1 -1 +2/2 +3/1", "[2 3]", slow},
		{"a ghost is not", "+1/1 h1 h1 -1 +2/2 +3/2 +4/1", "[2 3 4]", with(slow, func(o *Options) { o.Ghosts = 1 })},
		{"arrivals of an unknown topic count for nothing", "a1 a1 a1 a1 +2/2 h2 +1/1", "[1 2]", with(slow, func(o *Options) { o.Ghosts = 1 })},
		{"one step of dependents", "+1 +2/1<1 +3/1<2", "[3 1 2]", slow},
		{"an insertion counts", "+1/1 h1 h1 h1 +2/1 +3/2 h3", "[3 2 1]", slow},
		{"importance is a count", "+1/1 h1 h1 +2/1 +3/2", "[3 2 1]", slow},
		{"time by requests", "+1/1 h1 h1 +2/2", "[1 2]", Options{Alpha: 1, NoTSI: true}},
		{"misses credit a topic", "+1/1 +3/1 +4/1 +2/2 h2", "[2 1 3 4]", with(slow, func(o *Options) { o.NoTSI = true })},
		{"without prevalence", "+1/1 h1 h1 h1 h1 +2/2 h2 h2 +3/1", "[3 2 1]", with(slow, func(o *Options) { o.NoTP = true })},
		{"with it", "+1/1 h1 h1 h1 h1 +2/2 h2 +3/1", "[2 3 1]", slow},
		{"without importance", "+1 +2 h1 h1 h2", "[1 2]", with(slow, func(o *Options) { o.NoTSI = true })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(c.o)
			policytest.PlayScript(t, r, c.script)
			checkRAC(t, r)
			if got := policytest.Drain(r); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestRACLinks(t *testing.T) {
	r := New(Options{Alpha: 0.1, Lambda: 2})
	policytest.PlayScript(t, r, "+1 +2 +3 h2")
	for _, c := range []struct {
		child, parent policy.ID
		want          bool
		why           string
	}{
		{2, 9, false, "unknown parent"}, {9, 1, false, "unknown child"}, {2, 2, false, "itself"}, {2, 0, false, "no parent"},
		{1, 2, false, "younger parent"}, {2, 1, true, "older parent"}, {2, 1, false, "has a living parent"},
		{3, 2, true, "a chain"}, {1, 3, false, "a cycle"},
	} {
		if got := r.Link(c.child, c.parent); got != c.want {
			t.Errorf("%s: link of %d to %d: %v", c.why, c.child, c.parent, got)
		}
	}
	for id, want := range map[policy.ID]float64{1: 1 + 2*2, 2: 2 + 2*1, 3: 1, 9: 0} {
		if got := r.Importance(id); got != want {
			t.Errorf("importance of %d: %v, want %v", id, got, want)
		}
	}
	r.Remove(2, policy.Purged)
	if !r.Link(3, 1) {
		t.Error("a child whose parent has gone gets no other")
	}
	same := New(Options{Alpha: 0.1, Lambda: 1})
	same.Insert(policy.Item{ID: 1, Topic: 1}, policy.Tick{Seq: 5})
	same.Insert(policy.Item{ID: 2, Topic: 1, Parent: 1}, policy.Tick{Seq: 5}) // blocks of one request: the parent came first
	same.Insert(policy.Item{ID: 3, Topic: 1}, policy.Tick{Seq: 5})
	if same.Importance(1) != 2 || same.Link(3, 1) {
		t.Errorf("parent born with the child: importance %v after Insert, and Link must refuse", same.Importance(1))
	}
	paper := New(paper())
	policytest.PlayScript(t, paper, "+1 +2")
	if !paper.Link(1, 2) {
		t.Error("the paper's reading refuses a younger parent")
	}
}

// TestRACRemembersTheExpired: an entry that returns after its time has the requests, dependents and parent that it had. One that
// was evicted or purged begins again.
func TestRACRemembersTheExpired(t *testing.T) {
	r := New(Options{Alpha: 0.001, Lambda: 1})
	next := policy.ID(1)
	insert := func(key uint64, parent policy.ID) policy.ID {
		id := next
		next++
		r.Insert(policy.Item{ID: id, Key: key, Topic: policy.TopicID(key), Parent: parent}, policy.Tick{Seq: int64(id)})
		return id
	}
	parent := insert(10, 0)
	for _, c := range []struct {
		why               policy.Reason
		own, ofItsParents float64 // importance of the entry when it is back
	}{{policy.Expired, 3, 4}, {policy.Expired, 4, 5}, {policy.Evicted, 1, 5}, {policy.Purged, 1, 5}} {
		id := next - 1
		if id == parent {
			id = insert(20, parent)
			r.Replace(policy.Item{ID: id}, policy.Tick{Seq: int64(id)}) // which counts as a hit
		}
		r.Remove(id, c.why)
		if got := r.Importance(insert(20, 0)); got != c.own {
			t.Errorf("%v: importance %v, want %v", c.why, got, c.own)
		}
		if got := r.Importance(parent); got != c.ofItsParents {
			t.Errorf("%v: importance of the parent %v, want %v", c.why, got, c.ofItsParents)
		}
	}
}

func TestRACKeepsItsOrderOverALongRun(t *testing.T) {
	for _, alpha := range []float64{1, 0.3} {
		r := New(Options{Alpha: alpha, Lambda: 1})
		const start = int64(5e12) // requests: exponents have been lowered many times
		for i, at := range []int64{1, 2e9, start, start + 1, start + 2} {
			policytest.Op{Kind: policytest.OpInsert, ID: policy.ID(i + 1), Topic: policy.TopicID(i + 1)}.Apply(r, policy.Tick{Seq: at})
			checkRAC(t, r)
		}
		r.Hit(4, policy.Tick{Seq: start + 2})
		if got := policytest.Drain(r); got != "[1 2 3 5 4]" {
			t.Errorf("alpha %v: %s", alpha, got)
		}
	}
}

// TestRACRestores: a RAC that was given the items and states of another names the same victims from there on.
func TestRACRestores(t *testing.T) {
	for _, o := range []Options{paper(), Tuned(40), {Alpha: 0.05, Lambda: 4, Ghosts: 5}} {
		was, is := New(o), New(o)
		ops := policytest.RandomOps(rand.New(rand.NewPCG(11, 12)), 3000)
		for i := range ops {
			ops[i].Topic++ // what stands alone has no topic to export
		}
		half := len(ops) / 2
		for i, op := range ops[:half] {
			op.Apply(was, policy.Tick{Seq: int64(i + 1)})
		}
		restore(is, was)
		checkRAC(t, is)
		for i, op := range ops[half:] {
			at := policy.Tick{Seq: int64(half + i + 1)}
			op.Apply(was, at)
			op.Apply(is, at)
			if op.Kind != policytest.OpInsert {
				continue
			}
			want, ok := was.Victim()
			policytest.WantVictim(t, is, want, ok)
			if i%3 == 0 {
				was.Remove(want, policy.Evicted)
				is.Remove(want, policy.Evicted)
			}
		}
	}
}

// restore does as Persistent says.
func restore(to, from *Policy) {
	var states []policy.EntryState
	topics := map[policy.ID]policy.TopicID{}
	for _, id := range residents(from) {
		s, _ := from.ExportEntry(id)
		states = append(states, s)
		e, _ := from.ids.Find(id)
		topics[id] = from.topics.ids.Key(from.all[e].topic)
	}
	sortStates(states)
	for _, s := range states {
		to.Insert(policy.Item{ID: s.ID, Topic: topics[s.ID], Parent: s.Parent}, policy.Tick{Seq: s.Last})
	}
	for _, s := range states {
		to.ImportEntry(s)
	}
	for slot := range from.topics.all {
		if s, ok := from.ExportTopic(from.topics.ids.Key(uint32(slot))); ok {
			to.ImportTopic(s)
		}
	}
}

func residents(r *Policy) (ids []policy.ID) {
	for e := uint32(1); int(e) < len(r.all); e++ {
		if n, _ := r.ids.Find(r.ids.Key(e)); n == e { // the numbers that are free have chain links as keys
			ids = append(ids, r.ids.Key(e))
		}
	}
	return ids
}

func TestRACImportsNothingWrong(t *testing.T) {
	r := New(Tuned(10))
	policytest.PlayScript(t, r, "+1/1 +2/2")
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, 1e300} {
		r.ImportEntry(policy.EntryState{ID: 1, Freq: v, Dep: v, Born: 1, Last: 1})
		r.ImportTopic(policy.TopicState{ID: 1, LogW: v, Last: 2})
		r.ImportTopic(policy.TopicState{ID: 7, LogW: v, Last: 2})
		checkRAC(t, r)
	}
	r.ImportEntry(policy.EntryState{ID: 99, Freq: 5})
	if s, ok := r.ExportEntry(99); ok {
		t.Errorf("imported an entry that is not resident: %+v", s)
	}
}

// checkRAC checks every invariant between RAC's parts.
func checkRAC(t *testing.T, r *Policy) {
	t.Helper()
	members := 0
	for slot := range r.topics.all {
		x := &r.topics.all[slot]
		all := checkMembers(t, r, x)
		members += len(all)
		if len(all) > 0 != (x.state == topicLive) {
			t.Fatalf("topic slot %d with members %v is %+v", slot, all, x)
		}
		for _, e := range all {
			if r.all[e].topic != uint32(slot) {
				t.Fatalf("member %d of topic slot %d is %+v", e, slot, r.all[e])
			}
		}
	}
	if members != r.ids.Len() {
		t.Fatalf("%d members, %d entries", members, r.ids.Len())
	}
	for _, id := range residents(r) {
		e, _ := r.ids.Find(id)
		x := r.all[e]
		if x.freq < 1 || x.dep < 0 || r.opts.DepCap > 0 && x.dep > r.opts.DepCap && x.dep < 1<<53 {
			t.Fatalf("entry %d is %+v", id, x)
		}
	}
	for _, h := range []container.Heap{r.topics.live, r.topics.ghosts} {
		checkHeap(t, h)
		for _, n := range h.Nodes {
			if want := r.topics.rank(n.Item); want != n {
				t.Fatalf("topic slot %d is seated as %+v, ranks %+v", n.Item, n, want)
			}
		}
	}
	if len(r.topics.ghosts.Nodes) > r.opts.Ghosts {
		t.Fatalf("%d ghosts", len(r.topics.ghosts.Nodes))
	}
}

func checkMembers(t *testing.T, r *Policy, x *topic) (all []uint32) {
	t.Helper()
	checkHeap(t, container.Heap{Nodes: x.members, Place: r.seats.Place, Ties: r.seats.Ties})
	for _, n := range x.members {
		if n != r.rank(n.Item) {
			t.Fatalf("entry %d is seated as %+v, ranks %+v", n.Item, n, r.rank(n.Item))
		}
		all = append(all, n.Item)
	}
	return all
}

func checkHeap(t *testing.T, h container.Heap) {
	t.Helper()
	before := func(a, b container.Node) bool {
		if a.Major != b.Major || a.Minor != b.Minor {
			return a.Major < b.Major || a.Major == b.Major && a.Minor < b.Minor
		}
		return h.Ties(a.Item, b.Item)
	}
	for i, n := range h.Nodes {
		if h.Place[n.Item] != uint32(i+1) {
			t.Fatalf("item %d sits at %d, not at %d", n.Item, i+1, h.Place[n.Item])
		}
		if i > 0 && before(n, h.Nodes[(i-1)/4]) {
			t.Fatalf("place %d of %d ranks before its parent", i, len(h.Nodes))
		}
	}
}

func TestRACInvariantsHoldAfterEveryStep(t *testing.T) {
	for _, o := range append(probes(), modelSettings()...) {
		r := New(o)
		for i, op := range policytest.RandomOps(rand.New(rand.NewPCG(13, 14)), 400) {
			op.Apply(r, policy.Tick{Seq: int64(i + 1)})
			checkRAC(t, r)
			if id, ok := r.Victim(); ok && r.ids.Len() > 20 {
				r.Remove(id, policy.Evicted)
				checkRAC(t, r)
			}
		}
	}
}

// probes are options beyond what the model plays.
func probes() []Options {
	return []Options{
		{Alpha: 0.1, Lambda: 1, YoungParents: true, Protect: true},
		{Alpha: 0.2, Lambda: 2, DepCap: 9, Ghosts: 2, YoungParents: true},
		{Alpha: 0.1, Lambda: 1, worth: policy.TokensPerByte},
		{Alpha: 0.1, Lambda: 1, NoTP: true, Ghosts: 3},
		{Alpha: 0.1, Lambda: 1, NoTSI: true},
	}
}

func sortStates(states []policy.EntryState) {
	slices.SortFunc(states, func(a, b policy.EntryState) int {
		return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.ID, b.ID))
	})
}
