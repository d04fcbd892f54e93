package cache

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/rac"
	"reprise/store"
	"reprise/store/storetest"
)

// other is an embedder of another space: plane turned by some degrees.
type other struct {
	plane
	refuses string               // a text that makes every batch with it fail
	before  func(texts []string) // called with each batch
	blank   bool                 // no text has a vector
	calls   int
	largest int
}

func (o *other) Space() string { return "other" }

func (o *other) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	o.calls++
	o.largest = max(o.largest, len(texts))
	if o.before != nil {
		o.before(texts)
	}
	if o.refuses != "" && slices.Contains(texts, o.refuses) {
		return nil, errPlane
	}
	if o.blank {
		return make([][]float32, len(texts)), nil
	}
	return o.plane.Embed(ctx, texts)
}

var _ embed.Embedder = (*other)(nil)

// reviving is a rig over a backing that another embedder has filled with prompts of 20, 21, ... letters, in topics by tens of degrees.
func reviving(t *testing.T, entries int, e *other) *rig {
	t.Helper()
	disk := &storetest.Memory{}
	former := func(so *store.Options, _ *Options) {
		so.Backing, so.Evictor, so.Limit = disk, rac.New(rac.Tuned(1000)), policy.Limit{}
	}
	r := newRig(t, former)
	for i := range entries {
		if how, _ := r.ask(r.request(letters(20+i), func(q *Request) { q.ExactOnly = false; q.Threshold = 1 })); how != "miss" {
			t.Fatalf("prompt of %d letters: %s", 20+i, how)
		}
	}
	if err := r.state.store.Close(); err != nil {
		t.Fatal(err)
	}
	disk.Reopen()
	return newRig(t, former, func(so *store.Options, o *Options) { so.Space, o.Embedder = "other", e })
}

// run lets Revive work for so long, and returns the reports.
func (r *rig) run(t *testing.T, d time.Duration) (all []Revival) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Cache.Revive(ctx, func(now Revival) { all = append(all, now) })
	}()
	time.Sleep(d)
	stop()
	<-ended
	return all
}

// TestRevive: after a change of the embedder every answer is there for its request at once, and by meaning after the vectors were computed.
func TestRevive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &other{}
		r := reviving(t, 100, e)
		if how, _ := r.ask(r.request(letters(30))); how != "exact" {
			t.Errorf("a known request: %s", how)
		}
		if f := r.find(t.Context(), r.request(letters(41)+" ")); f.Hit != nil || r.Stats().Topics.Entries != 0 {
			t.Errorf("an old vector was compared: %+v, %d entries in topics", f.Hit, r.Stats().Topics.Entries)
		}
		all := r.run(t, time.Minute)
		if first, last := all[0], all[len(all)-1]; first.Left != 100 || first.Done != 0 || last.Left != 0 || last.Done != 100 || len(all) != 2 {
			t.Errorf("reports %+v", all)
		}
		if how, _ := r.ask(r.request(letters(41) + " ")); how != "semantic" {
			t.Errorf("a paraphrase after it: %s", how)
		}
		if e.largest > reviveMost || e.calls > 40 {
			t.Errorf("%d calls, of %d prompts at most", e.calls, e.largest)
		}
	})
}

// TestReviveFaults: an embedder that is down is tried again, less and less often, and one prompt that it refuses keeps no other from its vector.
func TestReviveFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &other{refuses: letters(60)}
		e.broken.Store(true)
		r := reviving(t, 100, e)
		down := r.run(t, time.Hour)
		if e.calls > 100 || len(down) != 1 || down[0].Fault == nil || r.state.store.MissingVectors() != 100 {
			t.Errorf("an hour of an embedder that is down: %d calls, reports %+v", e.calls, down)
		}
		e.broken.Store(false)
		if r.run(t, time.Hour); r.state.store.MissingVectors() != 1 {
			t.Errorf("%d lack a vector, want the one that is refused", r.state.store.MissingVectors())
		}
		e.refuses = ""
		up := r.run(t, time.Hour)
		if last := up[len(up)-1]; last.Left != 0 || last.Fault != nil {
			t.Errorf("the embedder works again: %+v", last)
		}
	})
}

// TestRevivePurge: an entry that is purged, evicted or stored again while its vector is computed does not come back.
func TestRevivePurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &other{}
		r := reviving(t, 20, e)
		e.before = func([]string) {
			e.before = nil
			if _, n, err := r.Purge(t.Context(), store.Filter{}); n != 20 || err != nil {
				t.Errorf("%d purged, %v", n, err)
			}
			q := r.request(letters(25))
			r.Keep(t.Context(), q, &Finding{Vector: at(25)}, r.entry(q, &Finding{Vector: at(25)}))
		}
		r.run(t, time.Minute)
		if st := r.Stats(); st.Topics.Entries != 1 || st.Store.Entries != 1 || st.Store.Lacking != 0 {
			t.Errorf("%d entries in topics, %d in the store, %d lack a vector", st.Topics.Entries, st.Store.Entries, st.Store.Lacking)
		}
	})
}

// TestReviveStops: what was computed before a stop is not computed again after the restart.
func TestReviveStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &other{}
		r := reviving(t, 100, e)
		ctx, stop := context.WithCancel(t.Context())
		e.before = func([]string) {
			if e.calls == 3 {
				stop()
			}
		}
		r.Cache.Revive(ctx, func(Revival) {})
		left := r.state.store.MissingVectors()
		if left == 0 || left == 100 {
			t.Fatalf("%d left after a stop", left)
		}
		e.before = nil
		if all := r.run(t, time.Minute); all[0].Left != left || all[len(all)-1].Done != left {
			t.Errorf("%+v after a stop with %d left", all, left)
		}
	})
}

// TestReviveAnchors: a topic has the anchor again that it had before the restart.
func TestReviveAnchors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := reviving(t, 60, &other{})
		want := map[policy.ID]bool{}
		for e := range r.state.store.Lacking() {
			if e.Anchor {
				want[e.ID] = true
			}
		}
		r.run(t, time.Minute)
		got := 0
		for _, one := range r.state.topics.List(0, 1000) {
			if !want[policy.ID(one.Anchor)] {
				t.Errorf("entry %d is an anchor", one.Anchor)
			}
			got++
		}
		if got != len(want) || got < 2 {
			t.Errorf("%d anchors, want %d", got, len(want))
		}
	})
}

// TestReviveNothing: a prompt that has no vector is tried once, and nothing is reported.
func TestReviveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &other{blank: true}
		r := reviving(t, 10, e)
		if all := r.run(t, time.Hour); len(all) != 0 || e.calls > 2 || r.state.store.MissingVectors() != 0 {
			t.Errorf("reports %+v, %d calls", all, e.calls)
		}
	})
}
