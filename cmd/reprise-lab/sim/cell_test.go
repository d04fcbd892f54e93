package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
)

// spy is an LRU that records its calls. Entries are named by the request that made them and the number of their identity.
// They live for 5 requests.
type spy struct {
	classic.LRU
	notes []string
	lies  bool // names a victim that is not resident
	deaf  bool // does not remove
}

func named(id policy.ID) string { return fmt.Sprintf("%d.%d", id>>32, uint32(id)) }

func (s *spy) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *spy) Insert(it policy.Item, at policy.Tick) {
	s.note("+%s key %d topic %d parent %s size %d cost %g offset %d at %g", named(it.ID), it.Key, it.Topic, named(it.Parent),
		it.Size, it.Cost, it.Offset, at.At)
	s.LRU.Insert(it, at)
}

func (s *spy) Hit(id policy.ID, at policy.Tick) {
	s.note("h%s", named(id))
	s.LRU.Hit(id, at)
}

func (s *spy) Remove(id policy.ID, why policy.Reason) {
	s.note("-%s", named(id))
	if !s.deaf {
		s.LRU.Remove(id, why)
	}
}

func (s *spy) Victim() (policy.ID, bool) {
	id, ok := s.LRU.Victim()
	if s.lies {
		id++
	}
	return id, ok
}

func (s *spy) Arrive(topic policy.TopicID, _ policy.Tick) { s.note("a%d", topic) }

func (s *spy) Link(child, parent policy.ID) bool {
	s.note("%s<%s", named(child), named(parent))
	return true
}

func (s *spy) Importance(policy.ID) float64 { return 0 }

func (s *spy) Expired(id policy.ID, at policy.Tick) bool { return at.Seq-int64(id>>32) >= 5 }

// playSpy plays a trace through s at a limit.
func playSpy(t *testing.T, s *spy, limit policy.Limit, all ...Request) (Result, error) {
	t.Helper()
	o := &Options{Parallel: 1}
	trace := &Slice{Title: "spied", All: all}
	p, err := survey(t.Context(), trace, o)
	if err != nil {
		t.Fatal(err)
	}
	c := &cell{result: Result{Policy: "spy", Capacity: "some"}}
	c.open(s, limit, p.ids.n)
	last, err := playAll(t.Context(), newFeed(trace, p, o), []runner{c}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c.finish(last.asked, last.full)
}

func TestCellCallsThePolicy(t *testing.T) {
	s := &spy{}
	r, err := playSpy(t, s, policy.Limit{Entries: 2},
		Request{ID: 7, Topic: 3, At: 10},
		Request{ID: 8, Topic: 4, Parent: 7, Turn: 1, Size: 5, Cost: 6, At: 11},
		Request{ID: 8, Topic: 9, Parent: 7},
		Request{ID: 7, Parent: 7},
		Request{ID: 9, Parent: 5, At: 10},
		Request{ID: 7, Scope: 2, Parent: 8, At: 13},
		Request{ID: 8, Parent: 7, At: 14},
		Request{ID: 7, Scope: 2},
		Request{ID: 7, Scope: 2, At: 20},
		Request{ID: 7, Scope: 2},
		Request{ID: 7, Scope: 2},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a3", "+1.0 key 7 topic 3 parent 0.0 size 1 cost 1 offset 0 at 10",
		"a4", "+2.1 key 8 topic 4 parent 1.0 size 5 cost 6 offset 1 at 11",
		"2.1<1.0", "h2.1",
		"h1.0",                                                                     // no entry is its own parent
		"a0", "+5.2 key 9 topic 0 parent 0.0 size 1 cost 1 offset 0 at 11", "-2.1", // time does not decrease
		"a0", "+6.3 key 17499658949911634529 topic 0 parent 0.0 size 1 cost 1 offset 0 at 13", "-1.0", // no 8 in its scope
		"a0", "+7.1 key 8 topic 0 parent 0.0 size 1 cost 1 offset 0 at 14", "-5.2", // its parent is gone
		"h6.3", "h6.3", "h6.3",
		"-6.3", "a0", "+11.3 key 17499658949911634529 topic 0 parent 0.0 size 1 cost 1 offset 0 at 20", // expired
		"-7.1", "-11.3", // the accounting
	}
	if !slices.Equal(s.notes, want) {
		t.Errorf("calls\n%s\nwant\n%s", strings.Join(s.notes, "\n"), strings.Join(want, "\n"))
	}
	if got, want := show(r), "11 requests, 5 hits, 6 misses, 3 evictions, ratios 0.4545 0.6364 0.7143, bytes 0.3333, tokens 5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCellFindsWhatDoesNotBalance(t *testing.T) {
	for _, c := range []struct {
		spy   spy
		limit policy.Limit
		want  string // "" is nothing
	}{
		{spy{}, policy.Limit{Entries: 1}, ""},
		{spy{}, policy.Limit{Bytes: 7}, ""},
		{spy{lies: true}, policy.Limit{Entries: 1}, "policy spy at some: 2 times no victim"},
		{spy{deaf: true}, policy.Limit{Entries: 1}, "policy spy at some: 1 times no victim"},
		{spy{deaf: true}, policy.Limit{Entries: 3}, "policy spy at some: entry 0 and 0 bytes remain"},
	} {
		_, err := playSpy(t, &c.spy, c.limit, Request{ID: 1, Size: 2}, Request{ID: 2, Size: 4}, Request{ID: 3, Size: 6})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestCellAudits makes each kind of accounting error.
func TestCellAudits(t *testing.T) {
	for want, fault := range map[string]func(*cell){
		"entry 1 is not in the ledger": func(c *cell) { c.born[1] = 9 },
		"2 entries in the ledger, 1":   func(c *cell) { c.born[1] = 0 },
		"3 inserted, 0 removed":        func(c *cell) { c.inserted++ },
		"6 bytes in the ledger, 5":     func(c *cell) { c.sizes[1]-- },
	} {
		c := &cell{}
		c.open(classic.NewLRU(), policy.Limit{Bytes: 10}, 2)
		for who := range c.born {
			c.request(&event{who: uint32(who), size: int64(2 + 2*who)}, int64(who+1))
		}
		fault(c)
		if err := c.audit(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
