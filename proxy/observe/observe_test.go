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

func TestHead(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aéb", 2, "a"}, {"aéb", 3, "aé"}, {"\U0001f600x", 3, ""}, {"\x80\x80\x80\x80\x80\x80", 5, "\x80"}, {"", 0, ""}} {
		if got := Head(tc.text, tc.most); got != tc.want {
			t.Errorf("Head(%q, %d) = %q, not %q", tc.text, tc.most, got, tc.want)
		}
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/models": "/v1/models", "/v1/files/file-abc/content": "/v1/files/*/content", "/": "/", "": "/",
		"/v1/models/sk-proj-0123": "/v1/models/*", "/what is the capital of France?": "/*", "/v1/threads/a/runs/b/steps/c/d": "/v1/threads/*/runs/*/steps/...",
		"//v1": "//v1", "/v1/chat/../secret": "/v1/chat/*/*", "/V1": "/*", "/v1/files/a\nb": "/v1/files/*", "/openai/deployments/my name/chat/completions": "/openai/deployments/*/chat/completions",
	} {
		if got := Path(path); got != want {
			t.Errorf("Path(%q) = %q, not %q", path, got, want)
		}
	}
}
