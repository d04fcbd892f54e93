package shared

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/proxy/cache"
	"reprise/store"
)

// TestBatchBeforePurge: a batch whose append has failed reaches the shared store behind a purge that was made since and has another serial.
func TestBatchBeforePurge(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].link.setOnly("write", "refuse", 0)
		all[0].put("b", "kept")
		time.Sleep(time.Millisecond)
		if err := all[0].purge(store.Filter{Model: "a"}); err == nil {
			t.Error("a purge that was not appended has no error")
		}
		all[0].slow(400 * time.Millisecond) // the purge is appended long before it is read
		time.Sleep(3 * time.Second)
		all[0].link.set("", 0)
		time.Sleep(3 * time.Second)
		for _, m := range all {
			m.wants("b", "kept")
		}
		if n := len(s.ids()); n != 1 {
			t.Errorf("%d entries", n)
		}
	})
}

// TestSerialOfPurge: a purge has a serial above that of a batch which is appended before it, whenever it was made.
func TestSerialOfPurge(t *testing.T) {
	q, p := newQueue(1, 1, &counters{}), newPurges()
	p.add(store.Filter{Model: "a"}, time.Now(), false)
	batch := q.nextSerial()
	one, serial, _ := p.next(q.nextSerial)
	if again, same, _ := p.next(q.nextSerial); serial <= batch || again != one || same != serial {
		t.Errorf("serials %d and %d after a batch of %d", serial, same, batch)
	}
}

// TestManyPurges: where too many wait the last one becomes one of everything, also if it is on its way or appended already.
func TestManyPurges(t *testing.T) {
	q, p := newQueue(1, 1, &counters{}), newPurges()
	for range pendingMost {
		p.add(store.Filter{Model: "a"}, time.Now(), false)
	}
	var last *purge
	for range pendingMost {
		one, serial, _ := p.next(q.nextSerial)
		p.attempted(one, serial, nil)
		last = one
	}
	one, tried := p.add(store.Filter{Model: "b"}, time.Now(), false)
	next, _, f := p.next(q.nextSerial)
	if one != last || next != last || f != (store.Filter{}) {
		t.Errorf("%+v is to be appended next", f)
	}
	select {
	case <-tried:
		t.Error("it counts as appended")
	default:
	}
}

// TestLoadBeforePurge: a wait for a purge to be appended ends with that, also where a load before it makes the purge be appended again. One that was
// appended before the load counts as such no more.
func TestLoadBeforePurge(t *testing.T) {
	q, p := newQueue(1, 1, &counters{}), newPurges()
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	made, tried := p.add(store.Filter{Model: "a"}, time.Now(), false)
	_, first, _ := p.next(q.nextSerial)
	p.lost(store.Mark{}, store.Mark{})
	p.attempted(made, first, nil)
	if closed(tried) {
		t.Error("the attempt before the load counts")
	}
	one, serial, _ := p.next(q.nextSerial)
	if one != made || serial == first {
		t.Errorf("serial %d is next after %d", serial, first)
	}
	p.attempted(one, serial, errors.New("refused"))
	if !closed(tried) {
		t.Error("the attempt after the load does not count")
	}
	p.lost(store.Mark{}, store.Mark{})
	if one, serial, _ = p.next(q.nextSerial); one != made {
		t.Fatal("after an error nothing is next")
	}
	p.attempted(one, serial, nil)
	p.lost(store.Mark{}, store.Mark{})
	if one, _, _ = p.next(q.nextSerial); one != made || closed(one.tried) {
		t.Error("it counts as appended after another load")
	}
}

// TestDroppedRemoval: no purge is finished whose removals were dropped.
func TestDroppedRemoval(t *testing.T) {
	q, p := newQueue(1, 1<<20, &counters{}), newPurges()
	remove := func(name string) { q.add(&cache.Event{Kind: store.EventPurge, Key: keyOf(name)}) }
	remove("a")
	p.ending = append(p.ending, ending{marks: []store.Mark{{Purges: 1}}, after: q.last()})
	remove("b")
	done, _ := p.finished(q.has)
	if waits, lost := q.has(1); len(done) != 0 || waits || !lost {
		t.Errorf("%d purges are finished; the first removal waits: %v, was dropped: %v", len(done), waits, lost)
	}
}

// TestPanics: a panic beside the requests is a fault, and the member goes on where it was.
func TestPanics(t *testing.T) {
	among(t, 2, func(t *testing.T, _ *server, all []*member) {
		m, other := all[0], all[1]
		_, done := m.Lead(t.Context(), keyOf("a"))
		m.link.set("panic", 0)
		m.put("a", "first")
		other.put("b", "second")
		time.Sleep(5 * time.Second)
		done()
		for _, step := range []string{"append", "follow", "beat", "lease"} {
			if !slices.ContainsFunc(m.noted(), func(f string) bool { return strings.HasPrefix(f, step+": panic") }) {
				t.Errorf("no fault of %s in %q", step, m.noted())
			}
		}
		m.link.set("", 0)
		time.Sleep(5 * time.Second)
		m.wants("b", "second")
		other.wants("a", "first")
	})
}

// TestPurgeCutShort: a purge whose caller leaves before a silent member is deaf is not confirmed, and one that waits is.
func TestPurgeCutShort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		all := members(t, newServer(), 2, func(o *Options) { o.grace = time.Minute })
		all[0].put("a", "first")
		settle()
		all[1].wants("a", "first")
		all[1].link.set("hold", 0)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, _, err := all[0].cache.Purge(ctx, store.Filter{}); !errors.Is(err, store.ErrUnconfirmed) {
			t.Errorf("cut short: %v", err)
		}
		all[1].wants("a", "first")
		if err := all[0].purge(store.Filter{}); err != nil {
			t.Error(err)
		}
		all[1].wants("a", "")
	})
}

// TestTimeoutOfConnection: the deadline of a fetch may come back as an error of its connection.
func TestTimeoutOfConnection(t *testing.T) {
	s, err := New(Options{Link: newServer().link(1).parts()})
	if err != nil {
		t.Fatal(err)
	}
	s.fetchFault(t.Context(), &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded})
	s.fetchFault(t.Context(), context.DeadlineExceeded)
	s.fetchFault(t.Context(), io.EOF)
	if st := s.Stats(); st.Timeouts != 2 || st.Faults != 3 {
		t.Errorf("%d timeouts, %d faults", st.Timeouts, st.Faults)
	}
}

// TestCloseDoesNotHang: the end of a member does not wait for the end of a call.
func TestCloseDoesNotHang(t *testing.T) {
	among(t, 1, func(t *testing.T, _ *server, all []*member) {
		all[0].link.setOnly("write", "stubborn", 0)
		all[0].put("a", "first")
		settle()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err, took := all[0].Shared.Close(ctx), time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 3*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestBatchReadWhileSent: a batch of unknown fate is read from the log while it is sent again. What is sent stays whole.
func TestBatchReadWhileSent(t *testing.T) {
	q := newQueue(10, 1<<20, &counters{})
	e := &store.Entry{ID: 1, Key: keyOf("a"), Answer: []byte("first")}
	q.add(&store.Event{Kind: store.EventInsert, ID: 1, Entry: e, Vector: []float32{1}})
	q.take(store.Mark{}, false)
	again := q.take(store.Mark{}, false)
	q.confirm(again.serial, 1)
	if one := again.events[0]; one.Entry != e || one.Vector == nil || again.transfer == 0 {
		t.Errorf("sent: %+v, which may take %v", one, again.transfer)
	}
}
