package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
)

// remote is plane behind a server, which is dead, slow or of another length at times.
type remote struct {
	plane
	known    atomic.Bool // the length of its vectors
	answered atomic.Bool
	dials    int
	other    bool          // the server returns vectors of another length
	takes    time.Duration // for one call
}

var _ embed.Remote = (*remote)(nil)

// working is a remote that has answered.
func working() *remote {
	r := &remote{}
	r.known.Store(true)
	r.answered.Store(true)
	return r
}

func (r *remote) Dim() int {
	if r.known.Load() {
		return 2
	}
	return 0
}

func (r *remote) Space() string {
	if r.known.Load() {
		return "plane"
	}
	return ""
}

func (r *remote) Answered() bool { return r.answered.Load() }

func (r *remote) Dial(ctx context.Context) error {
	r.dials++
	if err := r.fails(ctx); err != nil {
		return err
	}
	r.known.Store(true)
	r.answered.Store(true)
	return nil
}

func (r *remote) fails(ctx context.Context) error {
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case r.broken.Load():
		return errPlane
	case r.other && r.known.Load():
		return fmt.Errorf("%w: 3, want 2", embed.ErrDim)
	}
	return nil
}

func (r *remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if !r.known.Load() {
		return nil, errors.New("called before its length is known")
	}
	if err := r.fails(ctx); err != nil {
		return nil, err
	}
	return r.plane.Embed(ctx, texts)
}

// lateRig is a rig with a remote embedder over a backing, where space is what is known of it at the start.
func lateRig(t *testing.T, disk *storetest.Memory, e *remote) *rig {
	t.Helper()
	return newRig(t, func(so *store.Options, o *Options) {
		so.Backing, so.Evictor, so.Limit, so.Space = disk, rac.New(rac.Tuned(1000)), policy.Limit{}, e.Space()
		so.Former = storetest.Spaces(func(space string) (string, int) {
			if space == "plane" {
				e.known.Store(true)
			}
			if !e.known.Load() {
				return "", 0
			}
			return "plane", 2
		})
		o.Embedder, o.EmbedLimit = e, 300*time.Millisecond
	})
}

// reports are those of Revive as text.
func reports(all []Revival) (texts []string) {
	for _, one := range all {
		texts = append(texts, fmt.Sprintf("%s %q %v left %d", one.Embedder, one.Space, one.Fault != nil, one.Left))
	}
	return texts
}

// TestLateEmbedder: until the embedder answers, requests are answered by key and their entries lack a vector; from then on they are found by
// meaning, and a restart has their vectors.
func TestLateEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, e := &storetest.Memory{}, &remote{}
		e.broken.Store(true)
		r := lateRig(t, disk, e)
		ask := func(n int, end string) (how string) {
			how, _ = r.ask(r.request(letters(n)+end, func(q *Request) { q.Threshold = 0 }))
			return how
		}
		for n := 20; n < 80; n += 20 {
			if first, again := ask(n, ""), ask(n, ""); first != "miss" || again != "exact" {
				t.Errorf("before the first answer: %s, %s", first, again)
			}
		}
		if f, faults := r.find(t.Context(), r.request(letters(41))), len(r.faults); f.Degraded != "embed" || !f.Compared || f.Vector != nil || faults != 4 || e.calls.Load() != 0 {
			t.Errorf("a miss before the first answer: %+v, %d faults, %d calls", f, faults, e.calls.Load())
		}
		down := r.run(t, time.Minute)
		if state, err := r.Cache.Embedder(); state != EmbedderAway || err == nil || e.dials > 10 {
			t.Errorf("after a minute: %s, %v, %d checks", state, err, e.dials)
		}
		if got, want := reports(down), []string{`away "" true left 3`}; !slices.Equal(got, want) {
			t.Errorf("reports %q, want %q", got, want)
		}
		e.broken.Store(false)
		up := r.run(t, time.Minute)
		if got, want := reports(up), []string{`away "" true left 3`, `away "plane" false left 3`, `works "" false left 3`, `works "" false left 3`, `works "" false left 0`}; !slices.Equal(got, want) {
			t.Errorf("reports %q, want %q", got, want)
		}
		if how := ask(41, ""); how != "semantic" {
			t.Errorf("with the embedder: %s", how)
		}
		r.faults = nil
		if err := r.state.store.Close(); err != nil {
			t.Fatal(err)
		}

		disk.Reopen()
		e = &remote{}
		e.broken.Store(true)
		r = lateRig(t, disk, e)
		if st := r.Stats(); !e.known.Load() || st.Store.Lacking != 0 || st.Topics.Entries != 3 {
			t.Errorf("the store names the space: %v, %d lack a vector, %d in topics", e.known.Load(), st.Store.Lacking, st.Topics.Entries)
		}
	})
}

// TestWrongLength: an embedder whose vectors have another length is a state of its own, changes nothing that is stored, and works again with the
// right one.
func TestWrongLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := working()
		r := lateRig(t, &storetest.Memory{}, e)
		r.ask(r.request(letters(20)))
		e.other = true
		if f := r.find(t.Context(), r.request(letters(60))); f.Degraded != "embed" {
			t.Errorf("a miss: %+v", f)
		}
		r.faults = nil
		if all := r.run(t, time.Minute); !slices.Equal(reports(all), []string{`wrong-dimension "" true left 0`}) {
			t.Errorf("reports %q", reports(all))
		}
		if how, _ := r.ask(r.request(letters(20))); how != "exact" || r.Stats().Topics.Entries != 1 {
			t.Errorf("what is stored: %s", how)
		}
		e.other = false
		if all := r.run(t, time.Minute); !slices.Equal(reports(all), []string{`works "" false left 0`}) {
			t.Errorf("reports %q", reports(all))
		}
	})
}

// TestSlowEmbedder: one that answers after the limit of a request does not work, and is asked less and less often.
func TestSlowEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &remote{takes: time.Second}
		r := lateRig(t, &storetest.Memory{}, e)
		all := r.run(t, time.Hour)
		state, err := r.Cache.Embedder()
		if state != EmbedderAway || err == nil || e.dials > 300 || len(all) != 1 || all[0].Space != "plane" {
			t.Errorf("%s, %v, %d checks, reports %q", state, err, e.dials, reports(all))
		}
		e.takes = 0
		r.run(t, time.Minute)
		if state, err := r.Cache.Embedder(); state != EmbedderWorks || err != nil {
			t.Errorf("in time: %s, %v", state, err)
		}
	})
}

// TestTakeVectors: entries get the vectors that a shared store has of them, without an event that others would read.
func TestTakeVectors(t *testing.T) {
	disk := &storetest.Memory{}
	r := lateRig(t, disk, working())
	for n := 20; n < 80; n += 20 {
		r.ask(r.request(letters(n)))
	}
	if err := r.state.store.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := &remote{}
	other := newRig(t, func(so *store.Options, o *Options) {
		so.Space, so.Former, so.Limit, o.Embedder = "", storetest.Spaces(func(string) (string, int) { return "", 0 }), policy.Limit{}, e
	})
	for n := 20; n < 80; n += 20 {
		q := other.request(letters(n))
		f := &Finding{Compared: true}
		one := other.entry(q, f)
		if _, _, err := other.Keep(t.Context(), q, f, one); err != nil {
			t.Fatal(err)
		}
	}
	e.known.Store(true)
	if err := other.state.topics.SetDim(2); err != nil {
		t.Fatal(err)
	}
	other.state.store.SetSpace("plane", 2)
	if err := other.follower.TakeVectors(t.Context(), disk); err != nil {
		t.Error(err)
	}
	if st := other.Stats(); st.Store.Lacking != 0 || st.Topics.Entries != 3 {
		t.Errorf("%d lack a vector, %d in topics", st.Store.Lacking, st.Topics.Entries)
	}
}

// TestAdoptBesideRequests: the embedder answers while requests are answered and kept, and each entry has its vector in the end.
func TestAdoptBesideRequests(t *testing.T) {
	e := &remote{}
	r := lateRig(t, &storetest.Memory{}, e)
	var asking sync.WaitGroup
	for worker := range 4 {
		asking.Go(func() {
			for i := range 50 {
				q := &Request{Key: keyOf(fmt.Sprint(worker, i)), Scope: store.Scope{1}, Prompt: letters(4*i + worker + 1), At: r.Tick(), Epoch: r.Epoch(), MaxAge: -1}
				if hit, _, err := r.Lookup(t.Context(), q); hit != nil || err != nil {
					t.Errorf("a new request: %v, %v", hit, err)
				}
				f, _ := r.Find(t.Context(), q)
				if f.Hit != nil {
					continue
				}
				if _, reason, err := r.Keep(t.Context(), q, f, r.entry(q, f)); reason != "" || err != nil {
					t.Errorf("keep: %s, %v", reason, err)
				}
				if f.Vector == nil && i == 10 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Cache.Revive(ctx, func(Revival) {})
	}()
	asking.Wait()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if st := r.Stats(); st.Store.Lacking == 0 && st.Topics.Entries == st.Store.Entries && st.Store.Entries > 0 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%d entries lack a vector, %d of %d in topics", st.Store.Lacking, st.Topics.Entries, st.Store.Entries)
		}
	}
	stop()
	<-ended
}

// TestNoVectorBeforeItIsTaken: what shares the store is given the space before the first vector is made.
func TestNoVectorBeforeItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &remote{}
		r := lateRig(t, &storetest.Memory{}, e)
		ctx, stop := context.WithCancel(t.Context())
		var f *Finding
		r.Cache.Revive(ctx, func(now Revival) {
			if now.Space != "" {
				f, _ = r.Find(t.Context(), r.request(letters(20)))
			}
			if now.Embedder == EmbedderWorks {
				stop()
			}
		})
		if f == nil || f.Vector != nil || f.Degraded != "embed" {
			t.Errorf("while the space is adopted: %+v", f)
		}
		if f, err := r.Find(t.Context(), r.request(letters(20))); f.Vector == nil || err != nil {
			t.Errorf("afterwards: %+v, %v", f, err)
		}
	})
}
