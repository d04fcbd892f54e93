package policy_test

import (
	"fmt"

	"reprise/policy"
	"reprise/policy/registry"
)

// A cache of two entries. The ledger calls the policy and keeps the limit; what it returns must be dropped.
func Example() {
	evictor, err := registry.New("lru", policy.Options{Capacity: 2})
	if err != nil {
		panic(err)
	}
	ledger := policy.NewLedger(evictor, policy.Limit{Entries: 2})
	ledger.Insert(policy.Item{ID: 1, Size: 100}, policy.Tick{Seq: 1}, nil)
	ledger.Insert(policy.Item{ID: 2, Size: 100}, policy.Tick{Seq: 2}, nil)
	ledger.Hit(1, policy.Tick{Seq: 3})
	evicted := ledger.Insert(policy.Item{ID: 3, Size: 50}, policy.Tick{Seq: 4}, nil)
	fmt.Println(evicted, ledger.Entries(), ledger.Bytes())
	// Output: [2] 2 150
}

// Policies that follow relations hear of a miss before its answer is there, and of what an answer depends on.
func Example_relations() {
	evictor, err := registry.New("rac", policy.Options{Capacity: 3})
	if err != nil {
		panic(err)
	}
	ledger := policy.NewLedger(evictor, policy.Limit{Entries: 3})
	var evicted []policy.ID
	for seq, it := range []policy.Item{{ID: 1, Topic: 7}, {ID: 2, Topic: 8}, {ID: 3, Topic: 7, Parent: 1}, {ID: 4, Topic: 7, Parent: 1}} {
		at := policy.Tick{Seq: int64(seq + 1)}
		if a, ok := evictor.(policy.Arriver); ok {
			a.Arrive(it.Topic, at)
		}
		evicted = ledger.Insert(it, at, evicted)
	}
	fmt.Println("evicted", evicted, "the topic that nobody returned to")
	fmt.Println("importance of 1:", evictor.(policy.Linker).Importance(1))
	// Output:
	// evicted [2] the topic that nobody returned to
	// importance of 1: 3
}
