package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/internal/built"
	"reprise/internal/redistest"
)

// embedderRig is a proxy with an embedding server behind a network that can fail.
type embedderRig struct {
	*models
	t       *testing.T
	net     *redistest.Proxy
	store   string // the setting
	up      *engine
	settled string // what readyz says of the store
	resent  int    // how often the vector of one text may be computed a second time
}

const otherLength = "the embedding server returns vectors of another length: exact hits only, and nothing stored is changed. Serve the former model again, " +
	"or restart the proxy to compute all vectors again"

// withEmbedder runs a test with a store file, and with Redis.
func withEmbedder(t *testing.T, test func(r *embedderRig)) {
	for _, kind := range []string{"file", "redis"} {
		t.Run(kind, func(t *testing.T) {
			r := &embedderRig{models: newModels(t), t: t, up: newEngine(t), store: "file:" + filepath.Join(t.TempDir(), "a.db"), settled: "ready\n"}
			if kind == "redis" {
				r.store, r.settled = "redis://"+redistest.Start(t, redistest.Options{}).Addr, "ready\nredis: shared\n"
			}
			r.net = redistest.NewProxy(t, strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/v1"))
			test(r)
		})
	}
}

// start starts the proxy with a model of 64 dimensions.
func (r *embedderRig) start() *process {
	r.t.Helper()
	p := start(r.t, built.Granted(r.t), "REPRISE_STORE="+r.store, r.up.setting, "REPRISE_EMBEDDER=openai:http://"+r.net.Addr+"/v1", "REPRISE_EMBEDDER_MODEL=64")
	if strings.Contains(r.settled, "redis") {
		p.awaitShared()
	}
	return p
}

// fill runs a proxy with the embedder, and stores three answers.
func (r *embedderRig) fill() {
	r.t.Helper()
	p := r.start()
	for _, word := range firstWords[:3] {
		if got := p.cached(prompt(word + " the taste of fresh bread.")); got != "miss" {
			r.t.Errorf("%s: %s", word, got)
		}
	}
	r.awaits(p, "works")
	p.stop()
}

// awaits waits for a state, and checks that readyz and the metric agree on it.
func (r *embedderRig) awaits(p *process, state string) {
	r.t.Helper()
	built.Until(r.t, "the embedder to be "+state, func() bool {
		status, body := p.ready()
		if status != http.StatusOK {
			r.t.Errorf("readyz: %d %s", status, body)
		}
		return body == r.settled+"embedder: "+state+"\n"
	})
	page := p.get("/metrics")
	for _, one := range []string{"works", "away", "wrong-dimension"} {
		is := 0
		if one == state {
			is = 1
		}
		if line := fmt.Sprintf("reprise_embedder_state{state=%q} %d\n", one, is); !strings.Contains(page, line) {
			r.t.Errorf("%s: the metrics have no line %s", state, line)
		}
	}
}

// without checks what a proxy does without vectors: it answers exactly and by the form of a prompt what it has, says of a miss why, and keeps
// its answer.
func (r *embedderRig) without(p *process, stored []string, word string) {
	r.t.Helper()
	for _, one := range stored {
		if got := p.finds(prompt(one + " the taste of fresh bread.")); got != "exact" {
			r.t.Errorf("%s: %s", one, got)
		}
	}
	resp := p.ask(prompt(word + " the taste of fresh bread."))
	io.Copy(io.Discard, resp.Body)
	if got := resp.Header.Get("Cache-Status"); !strings.Contains(got, "fwd=uri-miss; stored") || !strings.Contains(got, "degraded=embed") {
		r.t.Errorf("a miss without vectors: %s", got)
	}
	built.Until(r.t, "an exact hit", func() bool { return p.finds(prompt(word+" the taste of fresh bread.")) == "exact" })
	if got := p.finds(prompt(word + " the taste of fresh bread")); got != "semantic" {
		r.t.Errorf("the same form: %s", got)
	}
	if got := p.finds(prompt(word + " the flavor of newly baked bread.")); got == "semantic" {
		r.t.Error("a hit by meaning without vectors")
	}
}

// with waits until the embedder works, and checks that prompts are compared with every stored one, of which each vector was computed once.
func (r *embedderRig) with(p *process, words ...string) {
	r.t.Helper()
	r.awaits(p, "works")
	built.Until(r.t, "all vectors", func() bool { return p.lacking() == 0 })
	for _, word := range words {
		built.Until(r.t, "a hit by meaning of "+word, func() bool { return p.finds(prompt(word+" the flavor of newly baked bread.")) == "semantic" })
		if n := r.times(word + " the taste of fresh bread."); n < 1 || n > 1+r.resent {
			r.t.Errorf("the vector of %s was computed %d times", word, n)
		}
	}
	resp := p.ask(prompt("Name three rivers of the north that freeze in winter."))
	if got := resp.Header.Get("Cache-Status"); strings.Contains(got, "degraded") {
		r.t.Errorf("a miss with vectors: %s", got)
	}
}

// TestEmbedderDeadAtStart: the proxy starts with what is stored, and finds by meaning once the embedding server is there, also what it has stored
// meanwhile, and also where no process has known the length of its vectors before.
func TestEmbedderDeadAtStart(t *testing.T) {
	withEmbedder(t, func(r *embedderRig) {
		r.fill()
		r.net.Cut()
		p := r.start()
		if said := p.Logs(); !strings.Contains(said, "the embedding server does not answer: exact hits only") {
			r.t.Errorf("the log does not say it:\n%s", said)
		}
		r.awaits(p, "away")
		r.without(p, firstWords[:3], firstWords[3])
		r.net.Heal()
		p.logged("the embedding server works: prompts are compared by meaning, and entries without a vector get theirs")
		r.with(p, firstWords[:4]...)
		p.stop()

		p = r.start()
		r.with(p, firstWords[:4]...)
		p.stop()
	})
}

// TestEmbedderUnknownAtStart: where nothing is stored the length of vectors is known only from the first answer, and what was stored before gets its
// vector.
func TestEmbedderUnknownAtStart(t *testing.T) {
	withEmbedder(t, func(r *embedderRig) {
		r.net.Cut()
		p := r.start()
		r.awaits(p, "away")
		r.without(p, nil, firstWords[0])
		p.stop()
		p = r.start()
		r.without(p, firstWords[:1], firstWords[1])
		r.net.Heal()
		p.logged("the embedding server has answered for the first time: its vectors are taken from now on")
		r.with(p, firstWords[:2]...)
		p.stop()

		r.net.Cut()
		p = r.start()
		r.awaits(p, "away")
		r.net.Heal()
		r.with(p, firstWords[:2]...)
		p.stop()
	})
}

// TestEmbedderSlowAtStart: an embedding server that takes a connection and does not answer keeps no proxy from its start, and no request for
// longer than its limit.
func TestEmbedderSlowAtStart(t *testing.T) {
	withEmbedder(t, func(r *embedderRig) {
		r.fill()
		r.net.Hold()
		r.resent = 1 // what was sent arrives in the end
		p := r.start()
		r.awaits(p, "away")
		r.without(p, firstWords[:3], firstWords[3])
		r.net.Heal()
		r.with(p, firstWords[:4]...)
		p.stop()
	})
}

// TestEmbedderOfAnotherLength: vectors of another length than a store file has are not compared, and those that are stored stay. A server
// that answers at the start would have another space.
func TestEmbedderOfAnotherLength(t *testing.T) {
	withEmbedder(t, func(r *embedderRig) {
		if strings.HasPrefix(r.store, "redis") {
			return // no proxy knows the length before its server answers
		}
		r.fill()
		r.other.Store(128)
		for i := range 2 {
			r.net.Cut()
			p := r.start()
			r.net.Heal()
			r.awaits(p, "wrong-dimension")
			p.logged(otherLength)
			if said := p.Logs(); !strings.Contains(said, "128 dimensions, want 64") {
				r.t.Errorf("the log does not name both lengths:\n%s", said)
			}
			r.without(p, firstWords[:3+i], firstWords[3+i])
			r.awaits(p, "wrong-dimension")
			if i == 1 {
				r.other.Store(0)
				r.with(p, firstWords[:3]...)
				for _, word := range firstWords[3:5] {
					if got := p.finds(prompt(word + " the flavor of newly baked bread.")); got != "semantic" {
						r.t.Errorf("what was stored meanwhile: %s", got)
					}
				}
			}
			p.stop()
		}
	})
}

// TestEmbedderDies: an embedding server that goes while the proxy runs, and comes back, also with another model for a while.
func TestEmbedderDies(t *testing.T) {
	withEmbedder(t, func(r *embedderRig) {
		p := r.start()
		r.awaits(p, "works")
		p.cached(prompt(firstWords[0] + " the taste of fresh bread."))
		r.net.Cut()
		r.without(p, firstWords[:1], firstWords[1])
		r.awaits(p, "away")
		r.net.Heal()
		r.with(p, firstWords[:2]...)

		r.other.Store(128)
		r.without(p, firstWords[:2], firstWords[2])
		r.awaits(p, "wrong-dimension")
		r.other.Store(0)
		r.awaits(p, "works")
		built.Until(t, "all vectors", func() bool { return p.lacking() == 0 })
		built.Until(t, "a hit by meaning", func() bool {
			return p.finds(prompt(firstWords[2]+" the flavor of newly baked bread.")) == "semantic"
		})
		p.stop()
	})
}

// TestEmbedderLateAtOne: of two proxies on one Redis the embedding server is late at one alone. That one takes the vectors that the other has
// computed, and computes none of them again.
func TestEmbedderLateAtOne(t *testing.T) {
	server, m, up := redistest.Start(t, redistest.Options{}), newModels(t), newEngine(t)
	net := redistest.NewProxy(t, strings.TrimSuffix(strings.TrimPrefix(m.url, "http://"), "/v1"))
	env := slices.Concat([]string{"REPRISE_STORE=redis://" + server.Addr, up.setting}, m.env("64"))
	net.Cut()
	one := start(t, env...)
	late := start(t, append(env, "REPRISE_EMBEDDER=openai:http://"+net.Addr+"/v1")...)
	one.awaitShared()
	late.awaitShared()
	for _, word := range firstWords {
		one.cached(prompt(word + " the taste of fresh bread."))
	}
	built.Until(t, "the answers at the other proxy", func() bool { return late.lacking() == len(firstWords) })
	late.exact(t)
	net.Heal()
	late.logged("the embedding server has answered for the first time: its vectors are taken from now on")
	built.Until(t, "the vectors at the other proxy", func() bool { return late.lacking() == 0 })
	built.Until(t, "a hit by meaning", func() bool {
		return late.finds(prompt(firstWords[0]+" the flavor of newly baked bread.")) == "semantic"
	})
	for _, word := range firstWords {
		if n := m.times(word + " the taste of fresh bread."); n != 1 {
			t.Errorf("the vector of %s was computed %d times", word, n)
		}
	}
	one.stop()
	late.stop()
}
