package proxy

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/proxy/cache"
	"reprise/store"
)

// elsewhere is where the answers of a proxy are kept: its Remote and its Log.
type elsewhere struct {
	mu      sync.Mutex
	answers map[store.Key]*store.Entry
	blind   atomic.Bool // no answer may be served, though it is fetched
	blinks  atomic.Bool // an answer may be served when it is looked for, and not when it is to be written
	asked   atomic.Int64
}

func (s *elsewhere) Read(ev *cache.Event, _ *cache.Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.Kind == store.EventInsert {
		s.answers[ev.Entry.Key] = ev.Entry
	}
}

func (s *elsewhere) Overrides(*cache.Event) bool { return false }

func (s *elsewhere) Fetch(_ context.Context, k store.Key, _ *store.Entry, _ func() []*store.Entry) (*store.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[k], nil
}

func (s *elsewhere) Serves(*store.Entry) bool {
	return !s.blind.Load() && !(s.blinks.Load() && s.asked.Add(1)%2 == 0)
}

func (s *elsewhere) Follows() (uint64, bool) { return 0, !s.blind.Load() }

func (s *elsewhere) Appended(context.Context, policy.ID) error { return nil }

func (s *elsewhere) Purge(context.Context, store.Filter) error { return nil }

// TestAnswersThatMayNotBeServed: a request whose answers are all found, and refused at the last moment, ends at the upstream.
func TestAnswersThatMayNotBeServed(t *testing.T) {
	where := &elsewhere{answers: map[store.Key]*store.Entry{}}
	var asked atomic.Int64
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		instantUpstream(w, r)
	})
	r := newRigAt(t, nil, up, func(o *Options) {
		var err error
		if o.Store, err = store.Open(store.Options{Evictor: classic.NewLRU(), Outside: true, Space: o.Embedder.Space()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Store.Close() })
		o.Remote, o.Log = where, where
	})
	results := func() (all []string) {
		for _, prompt := range []string{capital, similar, capital} {
			all = append(all, r.ask(t, "/v1/chat/completions", chat(prompt)).cache())
		}
		return all
	}
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.counted(t, 1)
	if got := results(); got[0] != "exact" || got[1] != "semantic" || got[2] != "exact" || asked.Load() != 1 {
		t.Errorf("%v, %d calls of the upstream", got, asked.Load())
	}
	where.blind.Store(true)
	if got := results(); got[0] != "miss" || got[1] != "miss" || got[2] != "miss" || asked.Load() != 4 {
		t.Errorf("%v, %d calls of the upstream", got, asked.Load())
	}
}

// TestStaleThatMayNotBeServed: a request that the upstream fails, and whose expired answer is refused at the last moment, asks the upstream once
// more, and that answer is the result.
func TestStaleThatMayNotBeServed(t *testing.T) {
	where := &elsewhere{answers: map[store.Key]*store.Entry{}}
	var asked, fails atomic.Int64
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); fails.Load() > 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		instantUpstream(w, r)
	})
	var passed atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	r := newRigAt(t, nil, up, func(o *Options) {
		var err error
		if o.Store, err = store.Open(store.Options{Evictor: classic.NewLRU(), Outside: true, Space: o.Embedder.Space(), Now: now}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Store.Close() })
		o.Remote, o.Log, o.Now, o.TTL, o.StaleIfError = where, where, now, time.Hour, 24*time.Hour
	})
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.counted(t, 1)
	passed.Store(int64(2 * time.Hour))
	fails.Store(1)
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "stale" || asked.Load() != 2 {
		t.Errorf("%s, %d calls of the upstream", got.cache(), asked.Load())
	}
	where.blinks.Store(true)
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.status != http.StatusInternalServerError || got.cache() != "miss" || asked.Load() != 4 {
		t.Errorf("%d, %s, %d calls of the upstream", got.status, got.cache(), asked.Load())
	}
}
