package torture

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"reprise/proxy"
	"reprise/proxy/upstream"
)

// faults is the matrix. What cannot be made here is named with its reason; a change that makes it possible replaces the reason
// by a function.
func faults() []fault {
	return append(append(upstreamFaults(), embedderFaults()...), selfFaults()...)
}

// brief are limits that a silent peer reaches soon.
var brief = proxy.Limits{Limits: upstream.Limits{FirstByte: 200 * time.Millisecond, BetweenBytes: 200 * time.Millisecond}}

// usual is the load of one phase.
func usual() load { return load{clients: pick(16, 8), each: pick(60, 8)} }

// storm runs a world through the usual phases: load, load with the fault, load without it, and a check that all works again.
func storm(w *world, r *report, on, off func()) {
	w.run(1, usual())
	w.checkFlight(r)
	w.during(on, off, func() {
		l := usual()
		if w.u.limit > 0 {
			l.each /= 2 // each call waits for a limit
		}
		w.run(2, l)
	})
	w.run(3, usual())
	w.checkFlight(r)
	w.checkHealed(r)
}

// during runs do while the fault is in force.
func (w *world) during(on, off, do func()) {
	w.h.fault.from = w.h.tick()
	on()
	do()
	off()
	w.h.fault.to = w.h.tick()
}

// behaving is a fault of the upstream's answers. A part of the calls is answered well, so that answers are stored meanwhile.
func behaving(name, what string, s setup, sound int, make func(w *world) []behaviour) fault {
	return fault{name: name, what: what, run: func(t *testing.T, seed uint64, r *report) *world {
		on := func(w *world) {
			all := make(w)
			for range len(all) * sound / 4 {
				all = append(all, healthy)
			}
			w.up.behave(all...)
		}
		sameDecisions(t, seed, r, s, on)
		w := newWorld(t, seed, s)
		storm(w, r, func() { on(w) }, w.up.heal)
		return w
	}}
}

// these is a list of behaviours that needs no world.
func these(b ...behaviour) func(*world) []behaviour { return func(*world) []behaviour { return b } }

func upstreamFaults() []fault {
	short := setup{limits: brief, rules: rules{limit: brief.FirstByte}}
	blind := setup{rules: rules{blind: true}}
	return []fault{
		{name: "F1", what: "upstream refuses connections", run: func(t *testing.T, seed uint64, r *report) *world {
			w := newWorld(t, seed, blind)
			storm(w, r, w.up.shut, w.up.open)
			return w
		}},
		{name: "F2", what: "name of the upstream cannot be resolved", run: func(t *testing.T, seed uint64, r *report) *world {
			var n names
			n.works.Store(true)
			defer n.use()()
			s := blind
			s.host = "upstream.invalid"
			w := newWorld(t, seed, s)
			storm(w, r, func() { n.works.Store(false); w.up.drop() }, func() { n.works.Store(true) })
			return w
		}},
		{name: "F3", what: "TLS: expired and foreign certificates", apart: true, run: badCertificates},
		behaving("F4", "accepts and says nothing", short, 1, these(silent)),
		behaving("F5", "header, then silence", short, 1, these(silentAfterHeader)),
		behaving("F6", "one byte at a time", setup{}, 4, these(slow(pick(1<<20, 100)))),
		behaving("F7", "reset at 20 offsets", setup{}, 1, these(cutsAt(pick(200, 20))...)),
		behaving("F8", "ends without a terminal event", setup{}, 1, these(withoutEnd)),
		{name: "F9", what: "vanishes: sockets open, nothing comes", run: func(t *testing.T, seed uint64, r *report) *world {
			w := newWorld(t, seed, setup{limits: brief, rules: rules{limit: brief.FirstByte, blind: true}})
			storm(w, r, w.up.freeze, func() { w.up.drop(); w.up.thaw() })
			return w
		}},
		behaving("F10", "429 with and without Retry-After", setup{}, 1, these(failing(429), failing(429, "Retry-After: 1"), failing(429, "Retry-After: soon"))),
		behaving("F11", "500, 502, 503, 504, 529", setup{}, 1, these(failing(500), failing(502), failing(503), failing(504), failing(529))),
		behaving("F12", "error inside a stream under status 200", setup{}, 1, these(errorInside)),
		{name: "F13", what: "wrong Content-Length", apart: true, run: func(t *testing.T, seed uint64, r *report) *world {
			// Blind: a body that is longer than its length looks complete, and the next request may take its connection.
			w := newProcess(t, seed, launch{setup: setup{rules: rules{blind: true}}})
			storm(w, r, func() { w.up.behave(wrongLength(-30), wrongLength(-300), wrongLength(40), healthy) }, w.up.heal)
			return w
		}},
		behaving("F14", "gzip that is none, and that is a bomb", setup{}, 1, these(gzipped(pick(256<<20, 16<<20))...)),
		behaving("F15", "HTML under status 200", setup{}, 1, these(
			says("HTML", []byte("<html><body>Sign in</body></html>\n"), "Content-Type: text/html"),
			says("HTML as JSON", []byte("<html><body>Sign in</body></html>\n"), "Content-Type: application/json"),
			says("HTML as a stream", []byte("<html><body>Sign in</body></html>\n"), "Content-Type: text/event-stream"))),
		behaving("F16", "split events, CR LF, comments, 1 MiB event", setup{}, 1, these(oddEvents...)),
		behaving("F17", "two finish reasons, no usage", setup{}, 1, these(oddEnds...)),
		{name: "F18", what: "answers after its clients have left", run: func(t *testing.T, seed uint64, r *report) *world {
			w := newWorld(t, seed, setup{})
			w.run(1, usual())
			w.during(func() { w.up.behave(late(20*time.Millisecond), healthy) }, w.up.heal, func() {
				l := usual()
				l.leave = 2
				w.run(2, l)
			})
			w.run(3, usual())
			w.checkFlight(r)
			w.checkHealed(r)
			return w
		}},
		{name: "F19", what: "redirects", run: redirects},
	}
}

// redirects: the proxy follows none, or it would send the credential of a client elsewhere.
func redirects(t *testing.T, seed uint64, r *report) *world {
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	w := newWorld(t, seed, setup{})
	storm(w, r, func() {
		w.up.behave(redirect(301, elsewhere.URL), redirect(302, elsewhere.URL), redirect(303, elsewhere.URL), redirect(307, elsewhere.URL), redirect(308, elsewhere.URL))
	}, w.up.heal)
	r.check("I2", followed.Load() == 0, "%d redirects were followed", followed.Load())
	return w
}

// badCertificates changes the certificate of the upstream.
func badCertificates(t *testing.T, seed uint64, r *report) *world {
	good, expired, foreign, roots := certificates(t)
	var now atomic.Pointer[tls.Certificate]
	now.Store(good)
	w := newProcess(t, seed, launch{env: []string{"SSL_CERT_FILE=" + roots}, setup: setup{rules: rules{blind: true}, tls: &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return now.Load(), nil }}}})
	storm(w, r, func() {
		now.Store(expired)
		if seed%2 == 0 {
			now.Store(foreign)
		}
		w.up.drop()
	}, func() { now.Store(good) })
	return w
}

// sameDecisions asks one client's questions in two new worlds, one after the other, with the fault in the middle, and compares how
// each was answered.
func sameDecisions(t *testing.T, seed uint64, r *report, s setup, on func(*world)) {
	var runs [2][]string
	for i := range runs {
		for tries, undisturbed := 0, false; !undisturbed && tries < 20; tries++ {
			runs[i], undisturbed = decisions(t, seed, s, on)
		}
	}
	compareDecisions(r, seed, runs)
}

// decisions is one run of sameDecisions. It is disturbed where a busy machine has used up the limit of a call that is answered well.
func decisions(t *testing.T, seed uint64, s setup, on func(*world)) (all []string, undisturbed bool) {
	s.still, undisturbed = true, true
	w := newWorld(t, seed, s)
	defer w.finish()
	rng := rand.New(rand.NewPCG(seed, 4242))
	n := pick(60, 12)
	if s.limits.FirstByte > 0 {
		n = 3 // each call waits for a limit
	}
	for k := range 3 * n {
		switch k {
		case n:
			on(w)
		case 2 * n:
			w.up.heal()
		}
		a := w.ask(newQuestion(rng), 0)
		if faulty := n <= k && k < 2*n; !faulty && w.u.limit > 0 && a.took >= w.u.limit {
			undisturbed = false
		}
		decision := fmt.Sprintf("%s %d %s", a.cache, a.status, a.cacheNote)
		if a.err == nil { // how much of an answer comes before a reset depends on the network
			decision += " " + a.form.text
		}
		all = append(all, decision)
	}
	return all, undisturbed
}

func compareDecisions(r *report, seed uint64, runs [2][]string) {
	for k, decision := range runs[0] {
		r.check("I12", decision == runs[1][k], "request %d of seed %d was answered with %s, and the second time with %s", k, seed, decision, runs[1][k])
	}
}

func embedderFaults() []fault {
	return []fault{
		embedding("F20", "embedder is dead", true, func(e *embedder) { e.behave(embedDead) }),
		embedding("F21", "embedder takes 5 s", true, func(e *embedder) { e.behave(embedSlow) }),
		embedding("F22", "embedder: wrong length, NaN, zeros, rows", true, func(e *embedder) { e.behave(embedWrong()) }),
		embedding("F23", "embedder: the model was replaced", false, func(e *embedder) { e.behave(embedOther) }),
		embedding("F24", "embedder: 429", true, func(e *embedder) { e.behave(embedLimited) }),
	}
}

// embedding is a fault of the embedder, of which no request may fail. Where it fails at every call it is left alone: it gets five
// calls in a row, those that were under way at that time, and one a second.
func embedding(name, what string, failing bool, on func(*embedder)) fault {
	return fault{name: name, what: what, run: func(t *testing.T, seed uint64, r *report) *world {
		w := newWorld(t, seed, setup{embedder: true, limits: proxy.Limits{Embed: 250 * time.Millisecond}})
		w.run(1, usual())
		w.checkFlight(r)
		l := usual()
		began, calls, left := time.Now(), int64(0), w.h.results()["left"]
		w.during(func() { calls = w.emb.requests.Load(); on(w.emb) }, func() {
			calls = w.emb.requests.Load() - calls
			w.emb.heal()
		}, func() { w.run(2, l) })
		if failing {
			left = w.h.results()["left"] - left // a call whose client leaves is no failure
			most := int64(5+l.clients+1+left) + int64(time.Since(began)/time.Second)
			r.check("I8", calls <= most, "the embedder that fails was called %d times by %d requests in %v, allowed are %d", calls, l.clients*l.each, time.Since(began), most)
		}
		w.run(3, usual())
		w.checkFlight(r)
		w.checkHealed(r)
		w.checkMeaning(r)
		return w
	}}
}
