package registry

import (
	"math/rand/v2"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestLedgerAccountsBalance compares the counts of a ledger with sums over inserts and removes.
func TestLedgerAccountsBalance(t *testing.T) {
	for _, name := range Names() {
		e, err := New(name, policy.Options{Capacity: 50})
		if err != nil {
			t.Fatal(err)
		}
		l := policy.NewLedger(e, policy.Limit{Entries: 50, Bytes: 2000})
		r := rand.New(rand.NewPCG(5, 6))
		sizes := map[policy.ID]int64{}
		total := int64(0)
		drop := func(id policy.ID) { total -= sizes[id]; delete(sizes, id) }
		for i, op := range policytest.RandomOps(r, 5000) {
			at := policy.Tick{Seq: int64(i + 1)}
			switch op.Kind {
			case policytest.OpInsert:
				sizes[op.ID] = int64(r.IntN(120))
				total += sizes[op.ID]
				for _, id := range l.Insert(policy.Item{ID: op.ID, Topic: op.Topic, Parent: op.Parent, Size: sizes[op.ID]}, at, nil) {
					drop(id)
				}
			case policytest.OpRemove:
				if l.Remove(op.ID, policy.Purged) {
					drop(op.ID)
				}
			default:
				op.Apply(e, at)
			}
			if l.Entries() != len(sizes) || l.Bytes() != total || l.Bytes() > 2000 || l.Entries() > 50 || l.Faults() != 0 {
				t.Fatalf("%s, op %d: %d entries, %d bytes, %d faults; want %d, %d, 0", name, i, l.Entries(), l.Bytes(),
					l.Faults(), len(sizes), total)
			}
		}
	}
}
