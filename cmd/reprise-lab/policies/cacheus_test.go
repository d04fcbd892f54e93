package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
)

// playCacheus plays a script in which v evicts, and returns the state: the two lists from their newest ends, the room of the
// second, how many are demoted and how many of the history are fresh.
func playCacheus(t *testing.T, c *Cacheus, script string) string {
	t.Helper()
	for word := range strings.FieldsSeq(script) {
		if word == "v" {
			id, _ := c.Victim()
			c.Remove(id, policy.Evicted)
		} else {
			policytest.PlayScript(t, c, word)
		}
	}
	c.begin()
	ids := func(q container.Queue) (all []policy.ID) {
		for slot := q.Head; slot != 0; slot = c.slots.Cells[slot].Next {
			all = append(all, c.slots.Cells[slot].Name)
		}
		return all
	}
	return fmt.Sprint(ids(c.lru.once), ids(c.lru.reused), c.lru.room, c.lru.demoted, c.lru.fresh)
}

func TestCacheusLists(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"new ones", "+1 +2 +3", "[3 2 1] [] 4 0 0"},
		{"a hit moves to the other list", "+1 +2 +3 h2", "[3 1] [2] 4 0 0"},
		{"which demotes what does not fit", "+1 +2 +3 +4 +5 h1 h2 h3 h4 h5", "[1] [5 4 3 2] 4 1 0"},
		{"a hit on a demoted one gives it room", "+1 +2 +3 +4 +5 h1 h2 h3 h4 h5 h1", "[] [1 5 4 3 2] 5 0 0"},
		{"the oldest once used goes", "+1 +2 +3 h1 v", "[3] [1] 4 0 1"},
		{"its return takes room from the other", "+1 +2 +3 h1 v +2", "[3] [2 1] 3 0 0"},
		{"reused ones go last", "+1 +2 h1 h2 v", "[] [2] 4 0 0"},
		{"their return takes no room", "+1 +2 h1 h2 v +1", "[] [1 2] 4 0 0"},
		{"a purge leaves nothing", "+1 +2 +3 h1 -2 +2", "[2 3] [1] 4 0 0"},
		{"nor one of the newest", "+1 -1 +1 -1", "[] [] 4 0 0"},
		{"a demoted one that goes", "+1 +2 +3 +4 +5 h1 h2 h3 h4 h5 v", "[] [5 4 3 2] 4 0 0"},
	} {
		l := newCacheus(8, 1)
		l.weights = [2]float64{1, 0}
		if got := playCacheus(t, l, c.script); got != c.want {
			t.Errorf("%s: %q: %s, want %s", c.name, c.script, got, c.want)
		}
	}
}

func TestCacheusCounts(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"of equal counts the latest goes", "+1 +2 +3 +4", "[3 2 1 4]"},
		{"the lower count first", "+1 +2 +3 h3 h3 h2", "[1 2 3]"},
		{"a count outlives the eviction", "+1 +2 h2 h2 h2 h1 h1 v +1 h1 h1", "[2 1]"},
	} {
		l := newCacheus(8, 1)
		l.weights = [2]float64{0, 1}
		script, newest := c.script[:len(c.script)-3], c.script[len(c.script)-2:]
		playCacheus(t, l, script)
		policytest.PlayScript(t, l, newest)
		if got := policytest.Drain(l); got != c.want {
			t.Errorf("%s: %q: %s, want %s", c.name, c.script, got, c.want)
		}
	}
}

func TestCacheusLearns(t *testing.T) {
	for _, by := range []adviser{byAge, byCount} {
		c := newCacheus(8, 1)
		c.weights = [2]float64{}
		c.weights[by] = 1
		playCacheus(t, c, "+1 +2 +3 v") // of 1, 2 and 3 the one takes the oldest, the other the latest but the newest
		gone := map[adviser]policy.ID{byAge: 1, byCount: 3}[by]
		if _, ok := c.slots.Find(gone); ok {
			playCacheus(t, c, "v")
		}
		c.weights, c.rate.value = [2]float64{0.5, 0.5}, 0.3
		c.Insert(policy.Item{ID: 9, Key: uint64(gone)}, policy.Tick{})
		if loss := math.Exp(-0.3); math.Abs(c.weights[by]-loss/(1+loss)) > 1e-9 {
			t.Errorf("expert %d: weight %v, want %v", by, c.weights[by], loss/(1+loss))
		}
	}
}

func TestLearningRate(t *testing.T) {
	r := newLearningRate(10, rand.New(rand.NewPCG(1, 2)))
	r.value = 0.5
	period := func(hits int) float64 {
		for i := range 10 {
			if i < hits {
				r.hit()
			} else {
				r.miss()
			}
			r.end()
		}
		return r.value
	}
	for i, c := range []struct {
		hits int
		want float64
	}{
		{4, 0.5 + 0.5*0.5},                 // up from 0 by 0.5, and better: on
		{5, 0.75 + 0.75*0.25},              // again better
		{3, 0.9375 * (1 - 0.1875)},         // worse: back
		{4, 0.76171875 * (1 - 0.17578125)}, // back, and better: further down
	} {
		if got := period(c.hits); math.Abs(got-c.want) > 1e-6 {
			t.Fatalf("period %d: rate %v, want %v", i, got, c.want)
		}
	}
	r.before = r.value
	for i := range 10 {
		if before := r.value; (period(4) != before) != (i == 9) {
			t.Fatalf("idle period %d: rate %v after %v", i, r.value, before)
		}
	}
}

// TestCacheusCountsAgree compares the counts with the entries of the lists and the history.
func TestCacheusCountsAgree(t *testing.T) {
	c := newCacheus(20, 1)
	l := policy.NewLedger(c, policy.Limit{Entries: 20, Bytes: 900})
	r := rand.New(rand.NewPCG(1, 2))
	for seq := int64(1); seq <= 20_000; seq++ {
		l.Insert(policy.Item{ID: policy.ID(seq), Key: 1 + r.Uint64N(60), Size: r.Int64N(100)}, policy.Tick{Seq: seq}, nil)
		l.Hit(policy.ID(seq-r.Int64N(30)), policy.Tick{Seq: seq})
		l.Remove(policy.ID(seq-r.Int64N(300)), policy.Purged)
		demoted, fresh := 0, 0
		for slot := c.lru.once.Head; slot != 0; slot = c.slots.Cells[slot].Next {
			if c.slots.Cells[slot].Val.demoted {
				demoted++
			}
		}
		for _, ghost := range c.lru.past.All() {
			if ghost.fresh {
				fresh++
			}
		}
		if demoted != c.lru.demoted || fresh != c.lru.fresh || c.lru.room < 1 || c.lru.room > 19 {
			t.Fatalf("request %d: %d demoted, %d fresh, room %d; counted %d, %d",
				seq, c.lru.demoted, c.lru.fresh, c.lru.room, demoted, fresh)
		}
		listed := c.lru.once.Len + c.lru.reused.Len
		if c.staged != 0 {
			listed++
		}
		if l.Faults() > 0 || listed != l.Entries() || c.slots.Len() != listed {
			t.Fatalf("request %d: %d entries, %d listed, %d faults", seq, l.Entries(), listed, l.Faults())
		}
	}
}
