package observe

import (
	"errors"
	"strings"
	"testing"

	"reprise/store"
)

// counter counts what it is called with, and panics where it is to.
type counter struct {
	ended, forgot int
	panics        bool
}

func (c *counter) Ended(*Outcome) {
	if c.ended++; c.panics {
		panic("a bug")
	}
}
func (c *counter) Forget(store.Filter) { c.forgot++ }

type faults []error

func (f *faults) Unobserved(err error) { *f = append(*f, err) }

// TestPanicOfOneObserver: the others read the outcome all the same, also while the request itself panics, and that panic goes on.
func TestPanicOfOneObserver(t *testing.T) {
	var reported faults
	all := []*counter{{}, {panics: true}, {panics: true}, {}}
	l := NewList(&reported, []Observer{all[0], all[1], all[2], all[3]})
	cut := errors.New("the answer is cut")
	func() {
		defer func() {
			if v := recover(); v != cut {
				t.Errorf("the panic of the request became %v", v)
			}
		}()
		defer func() { l.Ended(&Outcome{}) }()
		panic(cut)
	}()
	for i, c := range all {
		if c.ended != 1 {
			t.Errorf("observer %d: %d outcomes", i, c.ended)
		}
	}
	if len(reported) != 2 || !strings.Contains(reported[0].Error(), "*observe.counter: panic: a bug") {
		t.Errorf("reported: %v", reported)
	}
}

// TestForget: a purge reaches observers and other memories, and what came before it is stale then.
func TestForget(t *testing.T) {
	watching, other := &counter{}, &counter{}
	l := NewList(nil, []Observer{watching}, other)
	before := l.Stamp()
	if before.Stale() || (Stamp{}).Stale() {
		t.Error("stale before a purge")
	}
	l.Forget(store.Filter{})
	if !before.Stale() || l.Stamp().Stale() || watching.forgot != 1 || other.forgot != 1 {
		t.Errorf("after a purge: %v, %d and %d", before.Stale(), watching.forgot, other.forgot)
	}
}

// TestEndedAllocatesNothing: an observer costs a request no memory.
func TestEndedAllocatesNothing(t *testing.T) {
	l, o := NewList(nil, []Observer{&counter{}, &counter{}, Spans{}}), &Outcome{Answered: true}
	if n := testing.AllocsPerRun(100, func() { l.Ended(o) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
