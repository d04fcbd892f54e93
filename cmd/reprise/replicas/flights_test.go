package replicas_test

import (
	"sync"
	"testing"
	"time"

	"reprise/internal/redistest"
)

// crowd asks one question with many clients at each of some replicas, and returns when all have their answers.
func (f *fleet) crowd(q question, clients int, replicas ...int) (wait func()) {
	var all sync.WaitGroup
	for _, i := range replicas {
		for c := range clients {
			q := q
			q.stream = c%2 == 0
			all.Go(func() { f.ask(i, q) })
		}
	}
	return all.Wait
}

// TestFlightsAreShared: many clients ask two replicas the same at once, and the upstream is asked once. A replica that a busy machine stops for
// longer than a lease lasts loses it, and both ask: this is tolerated twice.
func TestFlightsAreShared(t *testing.T) {
	t.Parallel()
	f := on(t, 2, redistest.Start(t, redistest.Options{}))
	for shared, twice := 0, 0; shared < 3; {
		q := f.freshQuestion(tenants[0])
		release := f.up.hold(q.prompt)
		wait := f.crowd(q, 20, 0, 1)
		eventually(t, "the upstream is asked", func() bool { return len(f.up.callsOf(q.prompt)) > 0 })
		time.Sleep(300 * time.Millisecond) // most clients wait now; those that come later get what is stored
		release()
		wait()
		calls := f.up.callsOf(q.prompt)
		if len(calls) == 1 {
			shared++
		} else if twice++; len(calls) > 2 || twice > 2 {
			t.Fatalf("the upstream was asked %d times", len(calls))
		}
	}
	f.check()
}

// TestFlightOfADeadReplica: the replica that asks the upstream for all is killed, and the requests that wait for it at another one are
// answered all the same.
func TestFlightOfADeadReplica(t *testing.T) {
	t.Parallel()
	f := on(t, 2, redistest.Start(t, redistest.Options{}))
	q := f.freshQuestion(tenants[0])
	release := f.up.hold(q.prompt)
	f.crowd(q, 1, 0)
	eventually(t, "the upstream is asked", func() bool { return len(f.up.callsOf(q.prompt)) == 1 })
	wait := f.crowd(q, 20, 1)
	time.Sleep(300 * time.Millisecond) // most clients wait now; it does not matter for those that come later
	f.replica(0).kill()
	eventually(t, "the other replica asks the upstream", func() bool { return len(f.up.callsOf(q.prompt)) == 2 })
	release()
	wait()
	answered := 0
	for _, a := range f.asks {
		if a.replica == 1 && a.Status == 200 {
			answered++
		}
	}
	if calls := f.up.callsOf(q.prompt); answered != 20 || len(calls) != 2 {
		t.Errorf("%d of 20 clients were answered, by %d calls", answered, len(calls))
	}
	f.check()
}

// TestFlightsWithoutRedis: requests that would share a flight do not wait for a Redis that is gone.
func TestFlightsWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	f := on(t, 2, server)
	server.Freeze()
	defer server.Thaw()
	q := f.freshQuestion(tenants[0])
	f.crowd(q, 20, 0, 1)()
	if calls := f.up.callsOf(q.prompt); len(calls) != 2 {
		t.Errorf("the upstream was asked %d times by two replicas without Redis", len(calls))
	}
	f.check()
}
