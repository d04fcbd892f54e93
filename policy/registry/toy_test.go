package registry

import (
	"testing"

	"reprise/policy"
	"reprise/policy/internal/spec"
)

// toySpec is a new policy: with a spec like this and its name in the list, it can be made, replayed and served.
var toySpec = spec.Spec{
	Name: "toy", Says: "last in, first out",
	Params: []policy.Param{{Name: "spare", Says: "the newest entries that stay", Default: "0", Max: 1e12}},
	New:    func(a spec.Args) policy.Evictor { return &toy{spare: a.Whole("spare")} },
}

type toy struct {
	ids   []policy.ID
	spare int
}

func (y *toy) Insert(it policy.Item, _ policy.Tick) {
	if y.find(it.ID) < 0 {
		y.ids = append(y.ids, it.ID)
	}
}

func (y *toy) Hit(policy.ID, policy.Tick) {}

func (y *toy) Victim() (policy.ID, bool) {
	if len(y.ids) == 0 {
		return 0, false
	}
	return y.ids[max(0, len(y.ids)-1-y.spare)], true
}

func (y *toy) Remove(id policy.ID, _ policy.Reason) {
	if i := y.find(id); i >= 0 {
		y.ids = append(y.ids[:i:i], y.ids[i+1:]...)
	}
}

func (y *toy) find(id policy.ID) int {
	for i, x := range y.ids {
		if x == id {
			return i
		}
	}
	return -1
}

// TestNewPolicyIsOneFileAndOneLine adds a policy to the list and runs what every policy must do through it.
func TestNewPolicyIsOneFileAndOneLine(t *testing.T) {
	all := append(spec.Set{&toySpec}, policies...)
	for _, name := range []string{"toy", "toy:spare=2"} {
		t.Run(name, func(t *testing.T) {
			conform(t, func() policy.Evictor {
				e, err := all.New(name, policy.Options{Capacity: 8})
				if err != nil {
					t.Fatal(err)
				}
				return e
			})
		})
	}
}
