package topics

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// change repeats one call that changed something, with what it returned.
type change func(t *Topics)

// TestChangesAreReported plays a random history, writes down every change by what the calls return, and applies that log to
// an empty Topics: topics, anchors and parents are the same, although the second one never searches nor refreshes.
func TestChangesAreReported(t *testing.T) {
	for i, o := range settings {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			first, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer first.Close()
			log := history(t, first, rand.New(rand.NewSource(int64(i))))
			second, _ := New(o)
			defer second.Close()
			for _, c := range log {
				c(second)
			}
			if got, want := second.parents(), first.parents(); got != want {
				t.Errorf("parents\n%s, want\n%s", got, want)
			}
			if got, want := second.state(), first.state(); got != want {
				t.Errorf("topics\n%s, want\n%s", got, want)
			}
		})
	}
}

// history plays 2,000 requests and returns the changes they made.
func history(t *testing.T, topics *Topics, rng *rand.Rand) (log []change) {
	anchors := func(ids ...EntryID) {
		log = append(log, func(t *Topics) {
			for _, id := range ids {
				t.RestoreAnchor(id)
			}
		})
	}
	for seq := int64(1); seq <= 2000; seq++ {
		q := Query{Vector: palette[rng.Intn(len(palette))], Scope: ScopeID{byte(rng.Intn(2))}}
		r, ok := topics.Search(q)
		if !ok {
			anchors(topics.Refresh(q.Scope)...)
			r = search(topics, q)
		}
		if old := EntryID(max(1, seq-rng.Int63n(64))); rng.Intn(3) == 0 {
			topics.Forget(old)
			log = append(log, func(t *Topics) { t.Forget(old) })
		}
		if len(r.Matches) == 0 {
			m := Member{ID: EntryID(seq), Scope: q.Scope, Vector: q.Vector, Topic: r.Topic, Seq: seq}
			m.Parent, _ = topics.Parent(q.Scope, r.Topic, q.Chain, q.Vector, seq)
			topic, anchor, err := topics.Add(m)
			if err != nil {
				t.Fatal(err)
			}
			m.Topic = topic
			log = append(log, func(t *Topics) { _, _, _ = t.Add(m) })
			if anchor {
				anchors(m.ID)
			}
			continue
		}
		id, importance := r.Matches[0].ID, float64(rng.Intn(9))
		parent, searched := topics.ParentOf(id, seq)
		topics.Touch(id, seq, parent, searched)
		log = append(log, func(t *Topics) { t.Touch(id, seq, parent, searched) })
		anchor := topics.SetImportance(id, importance)
		log = append(log, func(t *Topics) { t.SetImportance(id, importance) })
		if anchor {
			anchors(id)
		}
	}
	return log
}

// parents lists the parent and the failed attempts of every entry.
func (t *Topics) parents() string {
	var list []string
	for id, e := range t.entries {
		list = append(list, fmt.Sprintf("%04d:%d after %d", id, e.parent, e.attempts))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
