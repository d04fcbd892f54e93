package haz

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/classic"
)

func TestHAZBuckets(t *testing.T) {
	for x := 0.0; x < 1e6; x = x*1.01 + 0.001 {
		want := min(23, math.Floor(2*math.Log2(1+x)))
		if got := lb(x); float64(got) != want {
			t.Fatalf("lb(%v) = %d, want %v", x, got, want)
		}
	}
	for _, edge := range []struct {
		x    float64
		want uint8
	}{{0, 0}, {0.41, 0}, {0.42, 1}, {1, 2}, {3, 4}, {1e30, 23}} {
		if got := lb(edge.x); got != edge.want {
			t.Errorf("lb(%v) = %d, want %d", edge.x, got, edge.want)
		}
	}
}

func TestHAZDecay(t *testing.T) {
	d := newDecay(100)
	if got := d.over(100); got != 0.5 {
		t.Errorf("over a half-life: %v", got)
	}
	if got := d.over(-5); got != 1 {
		t.Errorf("back in time: %v", got)
	}
	for age := 0.0; age < 5000; age += 7 {
		want := math.Exp2(-age / 100)
		if got := d.near(age); math.Abs(got/want-1) > 0.003 {
			t.Fatalf("near(%v) = %v, want %v", age, got, want)
		}
	}
	if got := d.near(1e18); got < 0 || got > 1e-100 {
		t.Errorf("after ages: %v", got)
	}
}

// TestHAZLearns plays a pattern in which recency and the start's belief in topics mislead: the items of a topic that is
// half of all requests never return, and one without a topic returns once, 62 requests later. LRU of 50 entries gets
// nothing, and keeping some 16 of the right entries gets all.
func TestHAZLearns(t *testing.T) {
	play := func(e policy.Evictor) (hits int) {
		l := policy.NewLedger(e, policy.Limit{Entries: 50})
		for i := int64(0); i < 20_000; i++ {
			key, topic := uint64(1_000_000+i), policy.TopicID(1)
			switch {
			case i%4 == 0:
				key, topic = uint64(i+1), 0
			case i%4 == 2:
				key, topic = uint64(max(0, i-62)+1), 0
			}
			at := policy.Tick{Seq: i + 1}
			if l.Has(policy.ID(key)) {
				l.Hit(policy.ID(key), at)
				if i >= 10_000 {
					hits++
				}
				continue
			}
			if a, ok := e.(policy.Arriver); ok {
				a.Arrive(topic, at)
			}
			l.Insert(policy.Item{ID: policy.ID(key), Key: key, Topic: topic}, at, nil)
		}
		return hits
	}
	if got := play(classic.NewLRU()); got != 0 {
		t.Errorf("lru has %d hits: the pattern is too easy", got)
	}
	learns, not := newHAZ(50, samples, 100, 3), newHAZ(50, samples, 100, 3)
	not.model.rate = 0
	if got := play(learns); got < 2300 {
		t.Errorf("haz has %d hits in the second half, want nearly 2500", got)
	}
	if got := play(not); got > 2000 {
		t.Errorf("haz has %d hits without learning: the pattern shows nothing", got)
	}
}

// TestHAZFeatures follows one topic at a capacity of 32, where an age of n requests is in bucket lb(n) and a pause of more
// than 3 requests parts conversations.
func TestHAZFeatures(t *testing.T) {
	h := newHAZ(32, 64, 32, 1)
	h.Insert(policy.Item{ID: 1, Topic: 5, Offset: 7}, policy.Tick{Seq: 1})
	h.Insert(policy.Item{ID: 2, Topic: 5}, policy.Tick{Seq: 2})
	h.Arrive(5, policy.Tick{Seq: 10})
	h.Insert(policy.Item{ID: 3, Topic: 5}, policy.Tick{Seq: 10})
	h.Hit(3, policy.Tick{Seq: 12})
	h.Arrive(6, policy.Tick{Seq: 20})
	h.Insert(policy.Item{ID: 4, Topic: 6}, policy.Tick{Seq: 20})
	h.Mark(2, true)
	h.Mark(4, true)
	h.Mark(4, false)
	h.Mark(99, true) // not known
	half := func(age, life float64) float64 { return math.Exp2(-age / life) }
	slow := half(19, 64) + half(10, 64) + half(8, 64) // the visits at 1, 10 and 12, seen at 20
	fast := half(19, 3.2) + half(10, 3.2) + half(8, 3.2)
	for id, want := range map[policy.ID][features]uint8{
		1: {lb(19), 1, lb(4 * half(19, 128)), lb(slow), lb(4 * fast), lb(8), lb(2), lb(3), 3, 0, 1, 0, 0},
		2: {lb(18), 1, lb(4 * half(18, 128)), lb(slow), lb(4 * fast), lb(8), lb(2), lb(3), 0, 1, 0, 0, 1},
		3: {lb(8), 2, lb(4 * (half(10, 128) + half(8, 128))), lb(slow), lb(4 * fast), lb(8), lb(0), lb(3), 0, 0, 0, lb(2), 0},
		4: {lb(0), 1, lb(4), lb(1), lb(4), lb(0), lb(0), lb(1), 0, 0, 0, 0, 0},
	} {
		p, got := h.point(h.row(t, id)), [features]uint8{}
		for i := range got {
			got[i] = p.bucket(i)
		}
		if got != want {
			t.Errorf("entry %d is at %v, want %v", id, got, want)
		}
	}
}

// TestHAZJoints: a gap and an age have a cell together, those of one use the first.
func TestHAZJoints(t *testing.T) {
	for _, c := range []struct{ gap, age, want uint8 }{
		{0, 0, 0}, {0, 23, 0}, {1, 0, 1}, {2, 1, 1}, {3, 0, 17}, {1, 2, 2}, {23, 23, 128},
	} {
		if got := (point(c.gap)<<bitGap | point(c.age)<<bitAge | 1<<bitAfter | 1<<bitCRF).joint(); got != c.want {
			t.Errorf("gap %d, age %d: cell %d, want %d", c.gap, c.age, got, c.want)
		}
	}
}

// TestHAZNeighbours: the string has for each entry how many came before and after it, in its topic and soon.
func TestHAZNeighbours(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"+1/1 +2/1 +3/1", "1:0,1 2:1,1 3:1,0"},
		{"+1/1 +2/1 h1 h2 h1 h2", "1:1,1 2:1,1"},                         // the same session again
		{"+1/1 +2/1 +3/1 h1 h3", "1:1,2 2:1,1 3:2,1"},                    // 1 is shared by two
		{"+1/1 +2/2 +3/1", "1:0,1 2:0,0 3:1,0"},                          // another topic between
		{"+1/1 +2/2 +3/2 +4/2 +5/2 h1", "1:0,0 2:0,1 3:1,1 4:1,1 5:1,0"}, // nothing follows itself
		{"+1/1 +2/2 +3/2 +4/2 +5/2 +6/1", "1:0,0 2:0,1 3:1,1 4:1,1 5:1,0 6:0,0"},
	} {
		h := newHAZ(40, 64, 40, 1)
		policytest.PlayScript(t, h, c.script)
		var all []string
		for id := policy.ID(1); id < 10; id++ {
			if e, ok := h.find(id); ok {
				x := &h.rows[e]
				all = append(all, fmt.Sprintf("%d:%d,%d", id, x.bucket(featureBefore), x.bucket(featureAfter)))
			}
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%q: %s, want %s", c.script, got, c.want)
		}
	}
}

// TestHAZForesees compares what is learned of entries that return after so many requests with what is right, 2^(-T/h).
func TestHAZForesees(t *testing.T) {
	const capacity = 64
	h := newHAZ(capacity, 64, 1024, 1)
	l := policy.NewLedger(h, policy.Limit{Entries: capacity})
	for i := range int64(30_000) {
		topic, key := policy.TopicID(i%3+1), uint64(i+1)<<8
		if topic < 3 {
			key = uint64(i%(48*int64(topic)))<<8 + uint64(topic) // returns after 48 or 96 requests
		}
		if at := (policy.Tick{Seq: i + 1}); l.Has(policy.ID(key)) {
			l.Hit(policy.ID(key), at)
		} else {
			l.Insert(policy.Item{ID: policy.ID(key), Topic: topic}, at, nil)
		}
	}
	sum, n := [4]forecast{}, [4]float32{}
	for e := range h.rows {
		if topic := h.topics.id(h.rows[e].topic); topic != 0 {
			_, z := h.forecast(uint32(e))
			v := z.foreseen()
			sum[topic][far] += v[far]
			sum[topic][near] += v[near]
			n[topic]++
		}
	}
	for i, horizon := range []float64{capacity, capacity / nearShare} {
		for topic, period := range []float64{0, 48, 96} {
			right := 0.0
			for left := range int(period) {
				right += math.Exp2(-float64(left+1)/horizon) / period
			}
			if got := float64(sum[topic][i] / n[topic]); topic > 0 && math.Abs(got-right) > 0.05 {
				t.Errorf("horizon %v, entries that return after %v requests: foreseen %.3f, want %.3f", horizon, period, got, right)
			}
		}
		if got := sum[3][i] / n[3]; got > 0.02 {
			t.Errorf("horizon %v, entries that never return: foreseen %.3f", horizon, got)
		}
	}
}

// TestHAZGain: what returns after T requests, if at all, is judged at the horizon that suits it.
func TestHAZGain(t *testing.T) {
	for _, c := range []struct {
		far, near float64 // v
		want      float64 // v/(1-v) per horizon, the far one being 1
	}{
		{0.5, 0.1, 1},              // late: the far horizon
		{0.3, 0.2, 8 * 0.25},       // soon or never: the near one
		{2. / 3, 0.2, 2},           // at random: both are the rate
		{0.9, 1 - 1./65, 8 * 64.0}, // at once
	} {
		z := forecast{float32(math.Log(c.far / (1 - c.far))), float32(math.Log(c.near / (1 - c.near)))}
		if got := math.Exp(float64(z.gain())); math.Abs(got/c.want-1) > 1e-4 {
			t.Errorf("v = %v and %v: gain %v, want %v", c.far, c.near, got, c.want)
		}
	}
}

func TestHAZLinks(t *testing.T) {
	h := newHAZ(40, 64, 40, 1)
	policytest.PlayScript(t, h, "+1/1 h1 +2/2 +3/3<1 +4/4")
	for _, c := range []struct {
		child, parent policy.ID
		want          bool
	}{{2, 1, true}, {2, 1, false}, {3, 1, false}, {4, 4, false}, {4, 9, false}, {9, 1, false}} {
		if got := h.Link(c.child, c.parent); got != c.want {
			t.Errorf("link of %d to %d: %v, want %v", c.child, c.parent, got, c.want)
		}
	}
	for id, want := range map[policy.ID]float64{1: 2 + 2, 2: 1, 3: 1, 4: 1, 9: 0} {
		if got := h.Importance(id); got != want {
			t.Errorf("importance of %d: %v, want %v", id, got, want)
		}
	}
	if got := h.row(t, 2).bucket(featureBefore); got != 1 {
		t.Errorf("%d before what was linked, want 1", got)
	}
}

func TestHAZRemembers(t *testing.T) {
	h := newHAZ(4, 64, 2, 1)
	evict := func(id policy.ID) {
		t.Helper()
		h.Remove(id, policy.Evicted)
	}
	uses := func(id policy.ID, want uint8) {
		t.Helper()
		if got := h.row(t, id).bucket(featureFreq); got != want {
			t.Errorf("entry %d has %d uses, want %d", id, got, want)
		}
	}
	insert := func(id policy.ID, key uint64, seq int64) {
		h.Insert(policy.Item{ID: id, Key: key, Topic: 1}, policy.Tick{Seq: seq})
	}
	insert(1, 101, 1)
	h.Hit(1, policy.Tick{Seq: 2})
	insert(2, 102, 3)
	insert(3, 103, 4)
	evict(1)
	insert(4, 101, 6) // a ghost returns
	uses(4, 3)
	h.Remove(4, policy.Purged)
	insert(5, 101, 7)
	uses(5, 1)
	h.Hit(2, policy.Tick{Seq: 8})
	for _, id := range []policy.ID{2, 3, 5} {
		evict(id)
	}
	insert(6, 102, 9) // the oldest of three ghosts, in room for two
	uses(6, 1)
}

func (h *haz) row(t *testing.T, id policy.ID) *row {
	t.Helper()
	e, ok := h.find(id)
	if !ok {
		t.Fatalf("%d is not resident", id)
	}
	return &h.rows[e]
}

// TestHAZTopics: a topic lives as long as a known entry, and then as long as there is room for empty ones.
func TestHAZTopics(t *testing.T) {
	h := newHAZ(1, 64, 0, 1) // room for 4 empty topics
	for i := range 6 {
		id := policy.ID(i + 1)
		h.Insert(policy.Item{ID: id, Topic: policy.TopicID(id)}, policy.Tick{Seq: int64(id)})
		h.Remove(id, policy.Purged)
	}
	h.Arrive(3, policy.Tick{Seq: 7})
	h.Insert(policy.Item{ID: 7, Topic: 3}, policy.Tick{Seq: 7})
	h.Insert(policy.Item{ID: 8}, policy.Tick{Seq: 8})
	h.Remove(8, policy.Purged)
	got := map[policy.TopicID]uint32{}
	for id := policy.TopicID(0); id < 8; id++ {
		if slot, ok := h.topics.slots.Find(id); ok {
			got[id] = h.topics.at(slot).visits
		}
	}
	want := map[policy.TopicID]uint32{3: 2, 4: 1, 5: 1, 6: 1}
	if len(got) != len(want) || got[3] != 2 || h.topics.empty.Len != 3 {
		t.Errorf("topics and visits %v, %d empty; want %v, 3", got, h.topics.empty.Len, want)
	}
}

func TestHAZValuesTokensPerByte(t *testing.T) {
	e, err := specs.New("haz", policy.Options{Capacity: 4, Bytes: true})
	if err != nil {
		t.Fatal(err)
	}
	for id := policy.ID(1); id <= 4; id++ {
		e.Insert(policy.Item{ID: id, Topic: 1, Size: int64(100 * id), Cost: 10}, policy.Tick{Seq: 1})
	}
	if got, want := policytest.Drain(e), "[4 3 2 1]"; got != want {
		t.Errorf("victims %s, want the largest first: %s", got, want)
	}
}

func TestHAZKeepsItsLearning(t *testing.T) {
	a, b := newHAZ(100, 64, 100, 1), newHAZ(400, 64, 400, 1)
	for i := range int64(2000) {
		a.Insert(policy.Item{ID: policy.ID(i + 1), Key: uint64(i%70 + 1), Topic: policy.TopicID(i%5 + 1)}, policy.Tick{Seq: i})
		if i >= 50 {
			a.Remove(policy.ID(i-49), policy.Purged)
		}
	}
	kept := a.AppendLearned(nil)
	apply, err := b.ParseLearned(kept)
	if err != nil {
		t.Fatal(err)
	}
	apply()
	if b.model != a.model {
		t.Error("what is learned differs")
	}
	for _, bad := range [][]byte{nil, kept[:len(kept)-1], append(kept, 0), bytes.Repeat([]byte{0xc7}, len(kept))} {
		if _, err := b.ParseLearned(bad); err == nil {
			t.Errorf("%d damaged bytes are accepted", len(bad))
		}
	}
}

// TestHAZRestarts: what is exported of entries and topics is what an import leaves.
func TestHAZRestarts(t *testing.T) {
	h, fresh := newHAZ(32, 64, 32, 1), newHAZ(32, 64, 32, 1)
	policytest.PlayScript(t, h, "+1/1 h1 h1 +2/1<1 +3/2 h2")
	policytest.PlayScript(t, fresh, "+1/1 +2/1 +3/2")
	for id := policy.ID(1); id <= 3; id++ {
		want, _ := h.ExportEntry(id)
		fresh.ImportEntry(want)
		if got, _ := fresh.ExportEntry(id); got != want {
			t.Errorf("entry %+v, want %+v", got, want)
		}
		topic, ok := h.ExportTopic(policy.TopicID(id))
		fresh.ImportTopic(topic)
		if got, _ := fresh.ExportTopic(policy.TopicID(id)); ok && math.Abs(got.LogW-topic.LogW) > 1e-6 {
			t.Errorf("topic %+v, want %+v", got, topic)
		}
	}
	fresh.ImportTopic(policy.TopicState{ID: 9, LogW: math.NaN()})
	fresh.ImportEntry(policy.EntryState{ID: 99})
	if _, ok := fresh.ExportTopic(9); ok {
		t.Error("a prevalence that is no number is taken")
	}
}

// TestHalved compares with math.Exp2, near to and far from the steps of the table.
func TestHalved(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 1_000_000 {
		x := rng.NormFloat64() * math.Pow(10, float64(i%6-3))
		if i%3 == 0 {
			x = math.Round(x*decaySteps)/decaySteps + float64(i%5-2)*1e-16
		}
		if x < -900 || x > 900 {
			continue
		}
		want := math.Exp2(-x)
		if got := halved(x); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("2^-%v is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{math.Inf(1), 1e300, 1100} {
		if got := halved(x); got != math.Exp2(-1000) {
			t.Errorf("2^-%v is %v", x, got)
		}
	}
}

// TestHAZLogistic compares with the formula.
func TestHAZLogistic(t *testing.T) {
	for x := -15.99; x < 16; x += 0.0137 {
		want := 1 / (1 + math.Exp(-x))
		if got := float64(logistic(float32(x))); math.Abs(got/want-1) > 5e-5 {
			t.Fatalf("logistic(%v) is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float32{-1e30, -16, 16, 1e30} {
		if got := logistic(x); got != logistic(max(-16, min(16, x))) {
			t.Errorf("logistic(%v) is %v", x, got)
		}
	}
}

// TestHAZPace compares with AdaGrad's.
func TestHAZPace(t *testing.T) {
	for _, square := range []float32{1, 0.1, 0.01} {
		pace, sum := float32(1), 0.0
		for i := range 10_000 {
			pace, sum = slower(pace, square), sum+float64(square)
			if want := 1 / math.Sqrt(1+sum); math.Abs(float64(pace)/want-1) > 0.03 {
				t.Fatalf("pace %v after %d gradients of %v², want %v", pace, i+1, square, want)
			}
		}
	}
}

// TestPool: the lowest stay.
func TestPool(t *testing.T) {
	b := pool{}
	for e := uint32(1); e <= 100; e++ {
		b.offer(candidate{e, float32(e * 37 % 101)})
	}
	want := map[uint32]bool{}
	for e := uint32(1); e <= 100; e++ {
		want[e] = e*37%101 <= poolLen
	}
	for _, x := range b.all[:b.n] {
		if !want[x.entry] {
			t.Errorf("entry %d of score %v is in the pool", x.entry, x.score)
		}
	}
	if b.n != poolLen {
		t.Errorf("the pool has %d, want %d", b.n, poolLen)
	}
	first := b.all[0].entry
	b.drop(first)
	b.offer(candidate{first + 1000, 1e9}) // there is room
	b.offer(candidate{first, 50})         // replaces the worst
	if i := b.find(first); i == b.n || b.find(first+1000) != b.n {
		t.Errorf("pool %v", b)
	}
}
