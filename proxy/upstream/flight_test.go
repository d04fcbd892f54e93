package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// written is an outcome that is still being written.
type written struct{ *Recording }

func (w written) Abort(err error) { w.Finish(err) }
func (w written) Release()        { w.Recording.Release() }

// TestPanicBecomesEveryWaitersError: whatever a flight runs into, no waiter is left waiting.
func TestPanicBecomesEveryWaitersError(t *testing.T) {
	var reported any
	fs := NewFlights[written](func(v any, _ []byte) { reported = v })
	var key Key
	f, isNew := fs.Join(key)
	if !isNew {
		t.Fatal("the first to join did not get a new flight")
	}
	var group sync.WaitGroup
	for range 5 {
		g, isNew := fs.Join(key)
		if isNew || g != f {
			t.Fatal("a second flight")
		}
		group.Go(func() {
			defer fs.Leave(g)
			if err := g.Wait(context.Background()); err != nil {
				t.Error(err)
			}
			var crash *PanicError
			if _, err := g.Outcome(); !errors.As(err, &crash) || crash.Value != "boom" {
				t.Errorf("error %v", err)
			}
		})
	}
	fs.Start(f, func(*Flight[written]) { panic("boom") })
	group.Wait()
	<-f.Done()
	if n, _ := fs.Count(); reported != "boom" || n != 0 {
		t.Errorf("reported %v, %d flights left", reported, n)
	}
}

// TestPanicAfterPublishing cuts the recording rather than leave its readers waiting.
func TestPanicAfterPublishing(t *testing.T) {
	fs := NewFlights[written](func(any, []byte) {})
	f, _ := fs.Join(Key{})
	rec := NewRecording(200, nil)
	fs.Start(f, func(f *Flight[written]) {
		f.Publish(written{rec})
		fmt.Fprint(rec, "half")
		panic("boom")
	})
	if _, err := rec.Wait(context.Background(), 1<<20); err == nil {
		t.Error("half an answer has no error at its end")
	}
}

// TestWhoSharesAFlight: callers of one key share a flight until it is sealed or detached, or its last waiter has left.
func TestWhoSharesAFlight(t *testing.T) {
	fs := NewFlights[written](nil)
	a, _ := fs.Join(Key{1})
	if other, isNew := fs.Join(Key{2}); !isNew || other == a {
		t.Error("two keys share a flight")
	}
	if fs.Join(Key{1}); fs.Seal(a) {
		t.Error("a flight of two is said to have one waiter")
	}
	b, isNew := fs.Join(Key{1})
	if !isNew || !fs.Seal(b) {
		t.Error("a sealed flight was joined")
	}
	c, _ := fs.Join(Key{1})
	fs.Detach()
	d, isNew := fs.Join(Key{1})
	if !isNew || d == c {
		t.Error("a detached flight was joined")
	}
	if fs.Leave(c); d.Context().Err() != nil || c.Context().Err() == nil {
		t.Error("the last waiter's leaving cancels another flight than its own")
	}
	fs.Leave(d)
	if e, isNew := fs.Join(Key{1}); !isNew || e == d || d.Context().Err() == nil {
		t.Error("a cancelled flight was joined")
	}
}
