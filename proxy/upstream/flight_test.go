package upstream

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// written is an outcome that is still being written.
type written struct{ *Recording }

func (w written) Abort(err error) { w.Finish(err) }
func (w written) Release()        { w.Recording.Release() }

// notes is what is noted of a flight.
type notes struct {
	panic   any
	dropped bool
}

func (n *notes) Panicked(v any, _ []byte) { n.panic = v }
func (n *notes) Drop()                    { n.dropped = true }

// TestPanicBecomesEveryWaitersError: whatever a flight runs into, no waiter is left waiting.
func TestPanicBecomesEveryWaitersError(t *testing.T) {
	var noted notes
	fs := NewFlights[written](&noted)
	var key flightKey
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
	fs.Run(f, func(*Flight[written]) bool { panic("boom") }, &noted)
	group.Wait()
	<-f.Done()
	if n, _ := fs.Count(); noted.panic != "boom" || n != 0 || !noted.dropped {
		t.Errorf("reported %v, %d flights left, its end was announced: %v", noted.panic, n, noted.dropped)
	}
}

// TestPanicAfterPublishing cuts the recording rather than leave its readers waiting.
func TestPanicAfterPublishing(t *testing.T) {
	fs := NewFlights[written](new(notes))
	f, _ := fs.Join(flightKey{})
	rec := NewRecording(200, nil)
	fs.Run(f, func(f *Flight[written]) bool {
		f.Publish(written{rec})
		rec.add("half")
		panic("boom")
	}, nil)
	if _, err := rec.NewReader().Wait(context.Background()); err == nil {
		t.Error("half an answer has no error at its end")
	}
}

// TestWhoSharesAFlight: callers of one key share a flight until it is sealed or detached, or its last waiter has left.
func TestWhoSharesAFlight(t *testing.T) {
	fs := NewFlights[written](nil)
	a, _ := fs.Join(flightKey{1})
	if other, isNew := fs.Join(flightKey{2}); !isNew || other == a {
		t.Error("two keys share a flight")
	}
	if fs.Join(flightKey{1}); fs.Seal(a) != 2 {
		t.Error("a flight of two is said to have another number of readers")
	}
	b, isNew := fs.Join(flightKey{1})
	if !isNew || fs.Seal(b) != 1 {
		t.Error("a sealed flight was joined")
	}
	c, _ := fs.Join(flightKey{1})
	fs.Detach()
	d, isNew := fs.Join(flightKey{1})
	if !isNew || d == c {
		t.Error("a detached flight was joined")
	}
	if fs.Leave(c); d.Context().Err() != nil || c.Context().Err() == nil {
		t.Error("the last waiter's leaving cancels another flight than its own")
	}
	fs.Leave(d)
	if e, isNew := fs.Join(flightKey{1}); !isNew || e == d || d.Context().Err() == nil {
		t.Error("a cancelled flight was joined")
	}
}

// TestReadersOfASealedFlight: a waiter that left before the outcome reads nothing; one that saw it is counted for good.
func TestReadersOfASealedFlight(t *testing.T) {
	fs := NewFlights[written](nil)
	f, _ := fs.Join(flightKey{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		fs.Join(flightKey{})
	}
	if err := f.Wait(gone); err == nil {
		t.Error("a client that has left got an outcome that there is not")
	}
	fs.Leave(f)
	f.Publish(written{NewRecording(200, nil)})
	if err := f.Wait(gone); err != nil {
		t.Errorf("a waiter that may have been counted got %v", err)
	}
	fs.Leave(f)
	if n := fs.Seal(f); n != 3 {
		t.Errorf("%d readers, want 3", n)
	}
}

// TestStartDuringWait: flights may start while the end of all is waited for, and none starts after Close. The waiting calls
// must not disturb each other, and each returns when nothing runs. Line 25 of the list in SECURITY.md.
func TestStartDuringWait(t *testing.T) {
	fs := NewFlights[written](nil)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				if err := fs.Wait(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 500 {
				f := fs.Solo()
				fs.Run(f, func(f *Flight[written]) bool { f.Publish(written{}); return true }, nil)
				<-f.Done()
			}
		})
	}
	group.Wait()
	fs.Close()
	f, _ := fs.Join(flightKey{})
	fs.Run(f, func(*Flight[written]) bool { t.Error("a flight started after Close"); return true }, nil)
	<-f.Done()
	if _, err := f.Outcome(); !errors.Is(err, ErrClosing) {
		t.Errorf("error %v", err)
	}
}

// TestWaitForFlights: Wait returns with the last flight, or with its context.
func TestWaitForFlights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := NewFlights[written](nil)
		end := make(chan struct{})
		for range 3 {
			f := fs.Solo()
			fs.Run(f, func(f *Flight[written]) bool { f.Publish(written{}); return false }, nil)
			go func() { <-end; fs.End(f) }()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := fs.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		waited := make(chan error, 2)
		for range 2 {
			go func() { waited <- fs.Wait(t.Context()) }()
		}
		for range 3 {
			synctest.Wait()
			if len(waited) > 0 {
				t.Error("Wait returned while a flight ran")
			}
			end <- struct{}{}
		}
		for range 2 {
			if err := <-waited; err != nil {
				t.Error(err)
			}
		}
	})
}
