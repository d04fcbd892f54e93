package classic

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestExpiryKeepsThePlace: what had earned a place in the long list has it again when it returns.
func TestExpiryKeepsThePlace(t *testing.T) {
	place := map[string]func(policy.Evictor) bool{
		"s3fifo": func(e policy.Evictor) bool {
			s := e.(*s3fifo)
			return s.slots.Cells[s.staged].Val.main
		},
		"lirs": func(e policy.Evictor) bool { return e.(*lirs).staged.returned },
	}
	for name, script := range map[string]string{
		"s3fifo": "+1 h1 h1 +2 +3 +4 .",
		"lirs":   "+2 +1 +3 h1",
	} {
		e, err := specs.New(name, policy.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		policytest.PlayScript(t, e, script)
		e.Remove(1, policy.Expired)
		e.Insert(policy.Item{ID: 20, Key: 1}, policy.Tick{Seq: 22})
		if !place[name](e) {
			t.Errorf("%s: what expired is a newcomer", name)
		}
	}
}
