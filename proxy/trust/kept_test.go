package trust

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/redistest"
	"reprise/policy"
	"reprise/proxy"
	"reprise/proxy/cache/shared"
	"reprise/store"
	"reprise/store/file"
	"reprise/store/redis"
)

// kept is an application whose proxies change while it goes on.
type kept struct {
	*testing.T
	*model
	turned  atomic.Bool // the answers depend on the wording from now on, and no more on the question alone
	explore atomic.Bool // whatever may be compared is
	left    []string    // questions that were not asked yet
}

func newKept(t *testing.T) *kept {
	k := &kept{T: t, left: questions(t, faqs)}
	k.model = &model{answer: func(user string) (text, says string) {
		key := user
		if !k.turned.Load() {
			key = bare(user)
		}
		text = fmt.Sprintf("It takes %d days.", 2+hash(key, 1000))
		return text, text
	}}
	return k
}

func (k *kept) draw() float64 {
	if k.explore.Load() {
		return 0
	}
	return never()
}

// take returns the next n questions.
func (k *kept) take(n int) []string {
	all := k.left[:n]
	k.left = k.left[n:]
	return all
}

// served is how often something else than equality has answered, and how often it was to be compared, of all wordings of some questions.
type served struct{ meaning, aliases, extra, explored int }

func (k *kept) ask(r *rig, questions []string) (s served) {
	k.Helper()
	oracle, before := newOracle(), r.explored
	for _, q := range questions {
		for _, way := range wordings {
			known, _ := oracle.known(q, way(q))
			got := r.ask(k, support, way(q))
			switch {
			case got.alias():
				s.aliases++
			case got.cache == "semantic":
				s.meaning++
			case known && !got.hit():
				s.extra++
			}
		}
	}
	s.explored = int(r.explored - before)
	return s
}

// outlives asks proxies of one application in turn. next returns one that goes on where the last one was.
func (k *kept) outlives(r *rig, next func(*rig) *rig) {
	old, older := k.take(15), k.take(15)
	k.explore.Store(true)
	k.ask(r, k.take(5)) // the first answers are compared
	k.explore.Store(false)
	for _, questions := range [][]string{old, older, old, older} {
		k.ask(r, questions)
	}

	r = next(r)
	if got := k.ask(r, k.take(15)); got.extra > 0 || got.explored > 0 || got.meaning < 50 {
		k.Errorf("trust was earned before: %+v of new questions", got)
	}
	if got := k.ask(r, old[:5]); got.aliases < 15 {
		k.Errorf("aliases of before: %+v", got)
	}

	k.turned.Store(true)
	k.explore.Store(true)
	k.ask(r, k.take(5))
	k.explore.Store(false)
	if got := k.ask(r, old[5:]); got.aliases > 0 || got.meaning > 0 {
		k.Errorf("trust has ended: %+v of questions of before", got)
	}

	r = next(r)
	if got := k.ask(r, older); got.aliases > 0 || got.meaning > 0 {
		k.Errorf("trust had ended before: %+v of questions of before", got)
	}
	if got := k.ask(r, k.take(15)); got.aliases > 0 || got.meaning > 0 {
		k.Errorf("trust had ended before: %+v of new questions", got)
	}
}

// TestRestart: what a scope has shown, that it may no more be trusted, and that aliases have fallen survive a restart.
func TestRestart(t *testing.T) {
	k, path := newKept(t), filepath.Join(t.TempDir(), "reprise.db")
	life := func() *rig {
		backing, err := file.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return newRig(t, k.model, k.draw, func(o *proxy.Options) {
			o.Store = openStore(t, store.Options{Limit: policy.Limit{Entries: capacity}, Backing: backing})
		})
	}
	k.outlives(life(), func(r *rig) *rig {
		r.close()
		return life()
	})
}

// TestTwoProxies: the same between two proxies that share a Redis.
func TestTwoProxies(t *testing.T) {
	k, server := newKept(t), redistest.Start(t, redistest.Options{})
	one, other := k.member(server), k.member(server)
	k.outlives(one, func(r *rig) *rig {
		one, other = other, one
		k.follow(r, one)
		return one
	})
}

// member starts a proxy that shares its entries.
func (k *kept) member(server *redistest.Server) *rig {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
	defer cancel()
	link, err := redis.Open(ctx, redis.Options{URL: "redis://" + server.Addr, Space: embed.NewBuiltin().Space(), Name: strconv.Itoa(len(k.left))})
	if err != nil {
		k.Fatal(err)
	}
	limit := policy.Limit{Entries: capacity}
	s, err := shared.New(shared.Options{Link: shared.Link{Log: link, Group: link, Answers: link, Leases: link, Records: link.Backing()}, Limit: limit,
		OnFault: func(step string, err error) { k.Errorf("%s: %v", step, err) }})
	if err != nil {
		k.Fatal(err)
	}
	if err := s.Begin(ctx); err != nil {
		k.Fatal(err)
	}
	r := newRig(k, k.model, k.draw, func(o *proxy.Options) {
		o.Store = openStore(k, store.Options{Outside: true, Keeper: s, Process: link.Process(), Secret: link.Secret(), Backing: link.Backing(), Now: s.Now})
		o.Remote, o.Log, o.Now, o.Purges, o.Ceiling, o.Leads = s, s, s.Now, s.Count, limit, s
	})
	s.Start(r.server.Cache())
	r.ends = append([]func(){r.ends[0], func() { s.Close(context.Background()) }}, append(r.ends[1:], func() { link.Close() })...)
	k.until("the log to be followed", func() bool { return s.Stats().Live })
	return r
}

// follow waits until a proxy has what another one has done: the log has an order.
func (k *kept) follow(done, follows *rig) {
	k.Helper()
	last := k.take(1)[0]
	done.ask(k, support, last)
	k.until("an answer of the other proxy", func() bool { return follows.has(k, support, last) })
}

// until polls. Its time limit bounds a hang.
func (k *kept) until(what string, ok func() bool) {
	k.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			k.Fatalf("timeout while waiting for %s", what)
		}
	}
}
