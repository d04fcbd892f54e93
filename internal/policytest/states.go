package policytest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"reprise/internal/container"
	"reprise/policy"
)

// playKeys asks for the keys of a script one by one, and "-7" purges one.
func playKeys(t *testing.T, e policy.Evictor, capacity int, script string) {
	t.Helper()
	l := policy.NewLedger(e, policy.Limit{Entries: capacity})
	resident := map[uint64]policy.ID{}
	key := map[policy.ID]uint64{}
	for i, word := range strings.Fields(script) {
		at := policy.Tick{Seq: int64(i + 1)}
		name, purge := strings.CutPrefix(word, "-")
		k, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		id, ok := resident[k]
		switch {
		case purge:
			l.Remove(id, policy.Purged)
			delete(resident, k)
		case ok:
			l.Hit(id, at)
		default:
			id = policy.ID(1000 + i)
			resident[k], key[id] = id, k
			for _, v := range l.Insert(policy.Item{ID: id, Key: k}, at, nil) {
				delete(resident, key[v])
			}
		}
	}
	if l.Faults() != 0 {
		t.Errorf("%q: %d faults", script, l.Faults())
	}
}

// KeysIn returns the keys in a queue, its head first.
func KeysIn[T any](s *container.Slots[policy.ID, T], q *container.Queue, key func(container.Cell[policy.ID, T]) uint64) string {
	var keys []string
	for slot := q.Head; slot != 0; slot = s.Cells[slot].Next {
		keys = append(keys, fmt.Sprint(key(s.Cells[slot])))
	}
	return strings.Join(keys, " ")
}

// KeysOf returns the keys of ghosts, the oldest first.
func KeysOf(g *container.Ghosts) string {
	var keys []string
	for key := range g.All() {
		keys = append(keys, fmt.Sprint(key))
	}
	return strings.Join(keys, " ")
}

// CheckStates plays scripts through new policies and compares their states. A case is its title, its script, and what is in the queues after it.
func CheckStates[E policy.Evictor](t *testing.T, capacity int, fresh func() E, state func(E) string, cases [][3]string) {
	t.Helper()
	for _, c := range cases {
		t.Run(c[0], func(t *testing.T) {
			e := fresh()
			playKeys(t, e, capacity, c[1])
			if got := state(e); got != c[2] {
				t.Errorf("%s:\n got %s\nwant %s", c[1], got, c[2])
			}
		})
	}
}
