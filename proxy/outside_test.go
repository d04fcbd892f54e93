package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
	fails   atomic.Int64 // fetches that fail from that one on; 0: none
	fetches atomic.Int64
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
	if n, fails := s.fetches.Add(1), s.fails.Load(); fails > 0 && n >= fails {
		return nil, errors.New("no answer")
	}
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

// TestItemsOutside: where the shared store does not answer in the middle of a list, it is not asked for the rest, and the upstream is; also where
// what was fetched does not fit the upstream's answer.
func TestItemsOutside(t *testing.T) {
	in := make([]string, 50)
	for i := range in {
		in[i] = fmt.Sprintf(`"%d"`, i)
	}
	list := `{"model":"m","input":[` + strings.Join(in, ",") + `]}`
	for _, c := range []struct {
		fails  int64
		model  string
		asked  int // inputs of each call
		result string
	}{
		{0, "", 0, "exact"},
		{2, "", 50, "miss"}, // the first fetch is for the key of the list
		{5, "", 47, "miss"},
		{5, "other", 47, "miss"},
	} {
		where, u := &elsewhere{answers: map[store.Key]*store.Entry{}}, &embedder{}
		r := newRigAt(t, nil, u, func(o *Options) {
			var err error
			if o.Store, err = store.Open(store.Options{Evictor: classic.NewLRU(), Outside: true, Space: o.Embedder.Space()}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { o.Store.Close() })
			o.Remote, o.Log = where, where
		})
		r.ask(t, embedPath, list)
		u.bodies, u.model = nil, c.model
		where.fetches.Store(0)
		where.fails.Store(c.fails)
		got := r.ask(t, embedPath, list)
		if got.cache() != c.result || !equalJSON(got.body, u.answer(list, c.model)) {
			t.Errorf("%+v: %s", c, status(got))
		}
		for i, body := range u.bodies {
			if n := len(inputsOf(body)); i == 0 && n != c.asked || i == 1 && body != list || i > 1 {
				t.Errorf("%+v: call %d is for %d inputs", c, i, n)
			}
		}
		if n := where.fetches.Load(); c.fails > 0 && n > c.fails+1 || (len(u.bodies) == 2) != (c.model != "") {
			t.Errorf("%+v: %d fetches, %d calls", c, n, len(u.bodies))
		}
	}
}
