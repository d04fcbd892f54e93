package health

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// start is when every test begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// shares are the shares of all members at a time after start, for limit.
func shares(b *Board, after time.Duration, limit Limit) string {
	list := make([]float64, len(b.members))
	b.Shares(start.Add(after), limit, false, list)
	var text []string
	for _, s := range list {
		text = append(text, fmt.Sprintf("%.1f", s))
	}
	return strings.Join(text, " ")
}

func fail(b *Board, i, times int, after time.Duration) (ejected time.Duration) {
	for range times {
		ejected = b.Failed(start.Add(after), i, "t")
	}
	return ejected
}

func TestFailuresInARow(t *testing.T) {
	b := New(2, 0)
	if fail(b, 0, 4, 0) != 0 {
		t.Error("four failures eject a member")
	}
	b.Succeeded(start, 0, "t")
	if fail(b, 0, 4, 0) != 0 {
		t.Error("failures before and after an answer are counted together")
	}
	if got := fail(b, 0, 1, 0); got != firstEjection || shares(b, 9*time.Second, Limit{}) != "0.0 1.0" || shares(b, 10*time.Second, Limit{}) != "1.0 1.0" {
		t.Errorf("the fifth failure in a row ejects for %v", got)
	}
}

// TestEjectionsDouble: each ejection that follows soon after another lasts twice as long, up to five minutes; after a quiet time the
// first one counts again.
func TestEjectionsDouble(t *testing.T) {
	b, at := New(2, 0), time.Duration(0)
	fail(b, 0, 4, at)
	for n, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		got := fail(b, 0, 1, at)
		if got != want*time.Second {
			t.Fatalf("ejection %d lasts %v, want %ds", n+1, got, want)
		}
		at += got
	}
	b.Succeeded(start, 0, "t")
	if got := fail(b, 0, 5, at+longestEjection+time.Second); got != firstEjection {
		t.Errorf("an ejection long after the others lasts %v", got)
	}
}

func TestLastIsNotEjected(t *testing.T) {
	b := New(3, 0)
	b.Drain(start, 2, true)
	if fail(b, 0, 5, 0) == 0 || fail(b, 1, 50, 0) != 0 || shares(b, 0, Limit{}) != "0.0 1.0 0.0" {
		t.Errorf("shares %s", shares(b, 0, Limit{}))
	}
	if fail(b, 1, 1, 10*time.Second) == 0 {
		t.Error("a failing member is not ejected although another is back")
	}
}

func TestChecks(t *testing.T) {
	b := New(2, 0)
	for n, step := range []struct {
		works, changed bool
		want           string
	}{{false, false, "1.0 1.0"}, {false, true, "0.0 1.0"}, {false, false, "0.0 1.0"}, {true, true, "1.0 1.0"}, {true, false, "1.0 1.0"}, {false, false, "1.0 1.0"}} {
		if changed := b.Checked(start, 0, step.works); changed != step.changed || shares(b, 0, Limit{}) != step.want {
			t.Errorf("check %d: changed %v, shares %s", n, changed, shares(b, 0, Limit{}))
		}
	}
}

// TestAlive: a member that answers requests needs no checks, one that fails some of them does.
func TestAlive(t *testing.T) {
	b := New(2, 0)
	if b.Alive(0, start) {
		t.Error("a member that has never answered is alive")
	}
	b.Begun(start.Add(time.Second), 0)
	if !b.Alive(0, start) || b.Alive(0, start.Add(time.Second)) {
		t.Error("an answer counts wrongly")
	}
	b.Failed(start.Add(2*time.Second), 0, "t")
	if b.Alive(0, start) {
		t.Error("a member whose last request failed is alive")
	}
}

func TestSlowStart(t *testing.T) {
	b := New(3, 10*time.Second)
	b.Drain(start, 2, true)
	b.Drain(start, 2, false)
	fail(b, 0, 5, 0)
	for after, want := range map[int]string{0: "0.0 1.0 0.1", 5: "0.0 1.0 0.5", 10: "0.1 1.0 1.0", 16: "0.6 1.0 1.0", 20: "1.0 1.0 1.0"} { // in any order
		if got := shares(b, time.Duration(after)*time.Second, Limit{}); got != want {
			t.Errorf("after %ds: %s, want %s", after, got, want)
		}
	}
	b.Gone(1)
	if b.Gone(1) {
		t.Error("a member is gone twice")
	}
	b.Begun(start.Add(time.Minute), 1)
	if got := shares(b, time.Minute, Limit{}); got != "1.0 0.1 1.0" || !b.Gone(1) {
		t.Errorf("after a restart: %s", got)
	}
}

func TestAside(t *testing.T) {
	b, own := New(2, time.Minute), Limit{Tenant: "t", Model: "m"}
	b.Aside(start, 0, 5*time.Second)
	b.Aside(start, 0, 2*time.Second)
	b.Limited(start, 1, own, 24*time.Hour)
	for _, step := range []struct {
		after time.Duration
		limit Limit
		want  string
	}{{0, own, "0.0 0.0"}, {0, Limit{Tenant: "other", Model: "m"}, "0.0 1.0"}, {0, Limit{Tenant: "t", Model: "n"}, "0.0 1.0"}, {0, Limit{}, "0.0 1.0"},
		{4 * time.Second, own, "0.0 0.0"}, {5 * time.Second, own, "1.0 0.0"}, {longestAside, own, "1.0 1.0"}} {
		if got := shares(b, step.after, step.limit); got != step.want {
			t.Errorf("after %v, for %v: %s, want %s", step.after, step.limit, got, step.want)
		}
	}
	b.Limited(start, 1, Limit{Model: "m"}, time.Minute)
	if got := shares(b, 0, Limit{Tenant: "other", Model: "m"}); got != "0.0 0.0" {
		t.Errorf("a limit of all tenants is none of one: %s", got)
	}
}

// TestNewProcess: a member whose process was gone is not ejected for what that one did.
func TestNewProcess(t *testing.T) {
	b := New(2, 0)
	fail(b, 0, 5, 0)
	b.Checked(start, 0, true)
	if got := shares(b, 0, Limit{}); got != "0.0 1.0" {
		t.Errorf("a good check ends an ejection: %s", got)
	}
	b.Gone(0)
	b.Checked(start, 0, true)
	if got := shares(b, 0, Limit{}); got != "1.0 1.0" || fail(b, 0, 4, 0) != 0 {
		t.Errorf("a new process: %s", got)
	}
}

// TestLimitsAreBounded: tenants cannot make a table grow without bound.
func TestLimitsAreBounded(t *testing.T) {
	b := New(1, 0)
	for i := range 2 * mostLimits {
		b.Limited(start, 0, Limit{Tenant: fmt.Sprint(i)}, time.Minute)
	}
	if n := b.State(start, 0).Limits; n != mostLimits {
		t.Errorf("%d limits", n)
	}
	b.Limited(start.Add(time.Hour), 0, Limit{Tenant: "last"}, time.Minute)
	if n := b.State(start.Add(time.Hour), 0).Limits; n != 1 || len(b.members[0].limits) != 1 {
		t.Errorf("%d limits, %d are held", n, len(b.members[0].limits))
	}
}

func TestConditions(t *testing.T) {
	b := New(9, time.Minute)
	b.Drain(start, 0, true)
	b.Checked(start, 1, false)
	b.Checked(start, 1, false)
	fail(b, 2, 5, 0)
	b.Aside(start, 3, time.Minute)
	b.Drain(start, 4, true)
	b.Drain(start, 4, false)
	fail(b, 5, 1, 0)
	b.Gone(7)
	b.Gone(8)
	b.Begun(start.Add(-time.Hour), 8)
	var got []string
	for i := range 9 {
		s := b.State(start, i)
		got = append(got, fmt.Sprintf("%s %d", s.Condition, s.Failures))
	}
	if text := strings.Join(got, ", "); text != "draining 0, down 0, ejected 4, aside 0, starting 0, up 1, up 0, failing 0, up 0" {
		t.Error(text)
	}
	one := New(1, 0)
	fail(one, 0, 4, 0)
	before := one.State(start, 0).Condition
	fail(one, 0, 1, 0)
	if s := one.State(start, 0); before != Up || s != (State{Condition: Failing, Share: 1, Failures: 5}) {
		t.Errorf("the only member: %s, %+v", before, s)
	}
}

// TestAtOnce is for the race detector.
func TestAtOnce(t *testing.T) {
	b := New(2, time.Second)
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for range 200 {
				b.Failed(start, i, "t")
				b.Gone(i)
				b.Checked(start, i, true)
				b.Begun(start, i)
				b.Succeeded(start, i, "t")
				b.Limited(start, i, Limit{}, time.Second)
				b.Shares(start, Limit{}, false, make([]float64, 2))
				b.State(start, i)
			}
		})
	}
	wg.Wait()
}

func BenchmarkShares(b *testing.B) {
	board, list := New(8, time.Minute), make([]float64, 8)
	b.ReportAllocs()
	for b.Loop() {
		board.Shares(start, Limit{}, false, list)
	}
}

// TestOneTenantsFailures: requests of one tenant that fail do not take a replica from the others that it answers, unless theirs fail too, or
// it cannot be reached.
func TestOneTenantsFailures(t *testing.T) {
	for _, tc := range []struct {
		name    string
		served  string        // the tenants with good answers before
		quiet   time.Duration // since then
		failed  []string      // the tenants of the failures in a row
		ejected bool
	}{
		{"one tenant fails while another one is answered", "a", 0, []string{"b", "b", "b", "b", "b", "b"}, false},
		{"the other one's answer is long ago", "a", time.Minute, []string{"b", "b", "b", "b", "b"}, true},
		{"no other one was answered", "b", 0, []string{"b", "b", "b", "b", "b"}, true},
		{"of three tenants, one fails", "acb", 0, []string{"b", "b", "b", "b", "b"}, false},
		{"two tenants fail", "ab", 0, []string{"b", "b", "b", "b", "a"}, true},
		{"it cannot be reached", "a", 0, []string{"b", "b", "b", "b", ""}, true},
	} {
		b := New(2, 0)
		for _, tenant := range tc.served {
			b.Succeeded(start, 0, string(tenant))
		}
		var ejected time.Duration
		for _, tenant := range tc.failed {
			ejected = max(ejected, b.Failed(start.Add(tc.quiet), 0, tenant))
		}
		if (ejected > 0) != tc.ejected {
			t.Errorf("%s: ejected for %v", tc.name, ejected)
		}
	}
}
