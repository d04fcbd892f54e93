package upstream

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// start is when every test begins.
var boardStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// shares are the shares of all members at a time after start, for limit.
func sharesOf(b *board, after time.Duration, limit limited) string {
	list := make([]float64, len(b.members))
	b.shares(boardStart.Add(after), limit, false, list)
	var text []string
	for _, s := range list {
		text = append(text, fmt.Sprintf("%.1f", s))
	}
	return strings.Join(text, " ")
}

func failTimes(b *board, i, times int, after time.Duration) (ejected time.Duration) {
	for range times {
		ejected, _ = b.failed(boardStart.Add(after), i, limited{Tenant: "t"})
	}
	return ejected
}

// TestEjectionsDouble: each ejection that follows soon after another lasts twice as long, up to five minutes; after a quiet time the
// first one counts again.
func TestEjectionsDouble(t *testing.T) {
	b, at := newBoard(2, 0), time.Duration(0)
	failTimes(b, 0, 4, at)
	for n, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		got := failTimes(b, 0, 1, at)
		if got != want*time.Second {
			t.Fatalf("ejection %d lasts %v, want %ds", n+1, got, want)
		}
		at += got
	}
	b.succeeded(boardStart, 0, limited{Tenant: "t"})
	if got := failTimes(b, 0, 5, at+longestEjection+time.Second); got != firstEjection {
		t.Errorf("an ejection long after the others lasts %v", got)
	}
}

func TestLastIsNotEjected(t *testing.T) {
	b := newBoard(3, 0)
	b.drain(boardStart, 2, true)
	if failTimes(b, 0, 5, 0) == 0 || failTimes(b, 1, 50, 0) != 0 || sharesOf(b, 0, limited{}) != "0.0 1.0 0.0" {
		t.Errorf("shares %s", sharesOf(b, 0, limited{}))
	}
	if failTimes(b, 1, 1, 10*time.Second) == 0 {
		t.Error("a failing member is not ejected although another is back")
	}
}

func TestBoardChecks(t *testing.T) {
	b := newBoard(2, 0)
	for n, step := range []struct {
		works, changed bool
		want           string
	}{{false, false, "1.0 1.0"}, {false, true, "0.0 1.0"}, {false, false, "0.0 1.0"}, {true, true, "1.0 1.0"}, {true, false, "1.0 1.0"}, {false, false, "1.0 1.0"}} {
		if changed := b.checked(boardStart, 0, step.works); changed != step.changed || sharesOf(b, 0, limited{}) != step.want {
			t.Errorf("check %d: changed %v, shares %s", n, changed, sharesOf(b, 0, limited{}))
		}
	}
}

func TestBoardSlowStart(t *testing.T) {
	b := newBoard(3, 10*time.Second)
	b.drain(boardStart, 2, true)
	b.drain(boardStart, 2, false)
	failTimes(b, 0, 5, 0)
	for after, want := range map[int]string{0: "0.0 1.0 0.1", 5: "0.0 1.0 0.5", 10: "0.1 1.0 1.0", 16: "0.6 1.0 1.0", 20: "1.0 1.0 1.0"} { // in any order
		if got := sharesOf(b, time.Duration(after)*time.Second, limited{}); got != want {
			t.Errorf("after %ds: %s, want %s", after, got, want)
		}
	}
	b.nowGone(1)
	if b.nowGone(1) {
		t.Error("a member is gone twice")
	}
	b.begun(boardStart.Add(time.Minute), 1)
	if got := sharesOf(b, time.Minute, limited{}); got != "1.0 0.1 1.0" || !b.nowGone(1) {
		t.Errorf("after a restart: %s", got)
	}
}

func TestAside(t *testing.T) {
	b, own := newBoard(2, time.Minute), limited{Tenant: "t", Model: "m"}
	b.setAside(boardStart, 0, 5*time.Second)
	b.setAside(boardStart, 0, 2*time.Second)
	b.limit(boardStart, 1, own, 24*time.Hour)
	for _, step := range []struct {
		after time.Duration
		limit limited
		want  string
	}{{0, own, "0.0 0.0"}, {0, limited{Tenant: "other", Model: "m"}, "0.0 1.0"}, {0, limited{Tenant: "t", Model: "n"}, "0.0 1.0"}, {0, limited{}, "0.0 1.0"},
		{4 * time.Second, own, "0.0 0.0"}, {5 * time.Second, own, "1.0 0.0"}, {longestAside, own, "1.0 1.0"}} {
		if got := sharesOf(b, step.after, step.limit); got != step.want {
			t.Errorf("after %v, for %v: %s, want %s", step.after, step.limit, got, step.want)
		}
	}
	b.limit(boardStart, 1, limited{Model: "m"}, time.Minute)
	if got := sharesOf(b, 0, limited{Tenant: "other", Model: "m"}); got != "0.0 0.0" {
		t.Errorf("a limit of all tenants is none of one: %s", got)
	}
}

// TestFailsForAModel: a member that fails for a model at a path gets nothing of these, and is shown as ejected once it answers nothing else either.
func TestFailsForAModel(t *testing.T) {
	b, about := newBoard(2, 0), limited{Model: "m", Path: "/v1/chat/completions"}
	at := time.Duration(0)
	fail := func(want time.Duration) {
		t.Helper()
		if got, ofModel := b.failed(boardStart.Add(at), 0, about); got != want || ofModel != (want > 0) {
			t.Errorf("ejected for %v, of the model %v; want %v", got, ofModel, want)
		}
		at += want
	}
	fail(0)
	fail(10 * time.Second)
	before := at - time.Second
	for limit, want := range map[limited]string{about: "0.0 1.0", {Tenant: "t", Model: "m", Path: about.Path}: "0.0 1.0", {Model: "n", Path: about.Path}: "1.0 1.0", {Model: "m", Path: "/v1/embeddings"}: "1.0 1.0"} {
		if got := sharesOf(b, before, limit); got != want {
			t.Errorf("for %+v: %s, want %s", limit, got, want)
		}
	}
	if h := b.health(boardStart.Add(before), 0); h.Condition != Up || h.Limits != 1 {
		t.Errorf("it answers others: %+v", h)
	}
	fail(20 * time.Second)
	fail(40 * time.Second)
	if h := b.health(boardStart.Add(at-time.Second), 0); h.Condition != Ejected || !h.Until.Equal(boardStart.Add(at)) {
		t.Errorf("it answers nothing: %+v", h)
	}
	if got, _ := b.failed(boardStart, 1, about); got != 0 || sharesOf(b, before, about) != "0.0 1.0" {
		t.Error("the other one is ejected too")
	}
	b.failed(boardStart, 1, about)
	if got := sharesOf(b, before, about); got != "0.0 1.0" {
		t.Errorf("the last one is ejected: %s", got)
	}
	b.succeeded(boardStart.Add(at), 0, about)
	if h := b.health(boardStart.Add(at), 0); h.Condition != Up || h.Failures != 0 || h.Limits != 0 {
		t.Errorf("after an answer: %+v", h)
	}
}

// TestNewProcess: a member whose process was gone is not ejected for what that one did.
func TestNewProcess(t *testing.T) {
	b := newBoard(2, 0)
	failTimes(b, 0, 5, 0)
	b.checked(boardStart, 0, true)
	if got := sharesOf(b, 0, limited{}); got != "0.0 1.0" {
		t.Errorf("a good check ends an ejection: %s", got)
	}
	b.nowGone(0)
	b.checked(boardStart, 0, true)
	if got := sharesOf(b, 0, limited{}); got != "1.0 1.0" || failTimes(b, 0, 4, 0) != 0 {
		t.Errorf("a new process: %s", got)
	}
}

// TestLimitsAreBounded: tenants cannot make a table grow without bound, neither by the number of names nor by their length.
func TestLimitsAreBounded(t *testing.T) {
	b := newBoard(1, 0)
	for i := range 2 * mostLimits {
		b.limit(boardStart, 0, limited{Tenant: fmt.Sprint(i)}, time.Minute)
	}
	if n := b.health(boardStart, 0).Limits; n != mostLimits {
		t.Errorf("%d limits", n)
	}
	two := newBoard(2, 0)
	for i := range 2 * mostLimits {
		two.failed(boardStart, 0, limited{Model: fmt.Sprint(i)})
	}
	if n := len(two.members[0].failing); n > mostLimits {
		t.Errorf("failures of %d models are held", n)
	}
	for _, long := range []limited{{Model: strings.Repeat("m", longestNames+1)}, {Model: "m", Path: strings.Repeat("/", longestNames)}} {
		long.Tenant = "t"
		three := newBoard(3, 0)
		for range 4 {
			three.failed(boardStart, 0, long)
		}
		three.limit(boardStart, 1, limited{Model: long.Model + long.Path}, time.Minute)
		if got := sharesOf(three, 0, long); got != "1.0 1.0 1.0" || len(three.members[0].failing)+len(three.members[1].limits) != 0 {
			t.Errorf("a name of %d bytes is held: %s", len(long.Model)+len(long.Path), got)
		}
		if ejected, ofModel := three.failed(boardStart, 0, long); ejected == 0 || ofModel {
			t.Errorf("five failures with long names: ejected for %v, of the model %v", ejected, ofModel)
		}
	}
	b.limit(boardStart.Add(time.Hour), 0, limited{Tenant: "last"}, time.Minute)
	if n := b.health(boardStart.Add(time.Hour), 0).Limits; n != 1 || len(b.members[0].limits) != 1 {
		t.Errorf("%d limits, %d are held", n, len(b.members[0].limits))
	}
}

func TestConditions(t *testing.T) {
	b := newBoard(9, time.Minute)
	b.drain(boardStart, 0, true)
	b.checked(boardStart, 1, false)
	b.checked(boardStart, 1, false)
	failTimes(b, 2, 5, 0)
	b.setAside(boardStart, 3, time.Minute)
	b.drain(boardStart, 4, true)
	b.drain(boardStart, 4, false)
	failTimes(b, 5, 1, 0)
	b.nowGone(7)
	b.nowGone(8)
	b.begun(boardStart.Add(-time.Hour), 8)
	var got []string
	for i := range 9 {
		s := b.health(boardStart, i)
		got = append(got, fmt.Sprintf("%s %d", s.Condition, s.Failures))
	}
	if text := strings.Join(got, ", "); text != "draining 0, down 0, ejected 4, aside 0, starting 0, up 1, up 0, failing 0, up 0" {
		t.Error(text)
	}
	one := newBoard(1, 0)
	failTimes(one, 0, 4, 0)
	before := one.health(boardStart, 0).Condition
	failTimes(one, 0, 1, 0)
	if s := one.health(boardStart, 0); before != Up || s != (Health{Condition: Failing, Share: 1, Failures: 5}) {
		t.Errorf("the only member: %s, %+v", before, s)
	}
}

func BenchmarkShares(b *testing.B) {
	board, list := newBoard(8, time.Minute), make([]float64, 8)
	b.ReportAllocs()
	for b.Loop() {
		board.shares(boardStart, limited{}, false, list)
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
		b := newBoard(2, 0)
		for _, tenant := range tc.served {
			b.succeeded(boardStart, 0, limited{Tenant: string(tenant)})
		}
		var ejected time.Duration
		for _, tenant := range tc.failed {
			d, _ := b.failed(boardStart.Add(tc.quiet), 0, limited{Tenant: tenant})
			ejected = max(ejected, d)
		}
		if (ejected > 0) != tc.ejected {
			t.Errorf("%s: ejected for %v", tc.name, ejected)
		}
	}
}
