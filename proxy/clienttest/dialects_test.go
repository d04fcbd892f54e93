package clienttest

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"reprise/internal/enginesim"
	"reprise/internal/enginesim/strict"
	"reprise/proxy"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
)

// unlikeHosts are the scenarios of a dialect in which the proxy answers as OpenAI does and not as the upstream: an answer that was stored
// from a stream has the usage that the stream reported, which is none at an upstream that is not asked for it; and a stream that is made
// from a stored answer has none unless the client asks, while some hosts report it always.
var unlikeHosts = map[string]string{"plain": "stream-then-whole", "fireworks": "whole-then-stream", "mistral": "whole-then-stream"}

// cachedTokens are not the same: each tenant has a salt of its own at the engine behind the proxy.
var cachedTokens = regexp.MustCompile(`cached_tokens|cachedInputTokens|cacheReadTokens|noCacheTokens`)

// various are dialects of which each has another way to take and refuse fields. Those that start a process for each run are tested with
// these alone.
var various = []string{"openai", "vllm", "smg", "dynamo", "mistral"}

// silent are the dialects that have no field for what the proxy wants of a chat.
var silent = []string{"generic", "plain", "anthropic", "llamacpp"}

// TestClientsSeeNoDialect: client libraries get the same results from the strict fake of each upstream, directly and through the proxy with
// all hints, and the same hits. The scenarios are those whose requests the upstream takes from the client.
func TestClientsSeeNoDialect(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			sent := requestsOf(t, c)
			for _, name := range dialect.Names() {
				if strings.Contains(c.name, "npm") && !slices.Contains(various, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					kept := slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool { return refused(t, name, sent[s.name]) || unlikeHosts[name] == s.name })
					if len(kept) < 12 {
						t.Errorf("%d scenarios are left", len(kept))
					}
					through := newStrictEngine(name)
					compareAt(t, c, kept, newSite(t, enginesim.New(enginesim.Options{Strict: name}), settledNow), proxiedTo(t, proxy.Options{Hints: proxy.Hints{Affinity: true}}, through.engine,
						upstream.Target{Dialect: name, Version: "1.3", SessionKey: "x-user-id", Salt: true}), cachedTokens)
					through.check(t, slices.Contains(silent, name))
				})
			}
		})
	}
}

// strictEngine is a strict fake that counts the hints that it gets.
type strictEngine struct {
	engine *enginesim.Engine

	mu    sync.Mutex // protects hints
	hints int
}

func newStrictEngine(name string) *strictEngine {
	e := &strictEngine{}
	e.engine = enginesim.New(enginesim.Options{Strict: name, OnRequest: func(path string, header http.Header, body []byte) {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, value := range [][]byte{[]byte(`"p1-`), []byte(`"s1-`)} {
			if bytes.Contains(body, value) {
				e.hints++
			}
		}
		for _, values := range header {
			if strings.HasPrefix(values[0], "p1-") || strings.HasPrefix(values[0], "c1-") {
				e.hints++
			}
		}
	}})
	return e
}

// check wants that nothing was refused and, unless the dialect is silent, that hints came.
func (e *strictEngine) check(t *testing.T, silent bool) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := e.engine.Stats().Refused; n > 0 {
		t.Errorf("%d requests were refused", n)
	}
	if e.hints > 0 == silent {
		t.Errorf("%d hints came", e.hints)
	}
}

// requestsOf are the requests of a client, by scenario.
func requestsOf(t *testing.T, c client) map[string][]strict.Request {
	engine, sent := enginesim.New(enginesim.Options{}), map[string][]strict.Request{}
	s := newSite(t, nil, settledNow)
	s.mu.Lock() // clients that are processes order nothing here
	s.api = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of a client that does not leave here
		r.Body = io.NopCloser(bytes.NewReader(body))
		name := s.serving
		sent[name] = append(sent[name], strict.Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
		engine.ServeHTTP(w, r)
	})
	s.mu.Unlock()
	var names []string
	for _, scenario := range scenarios {
		if !slices.Contains(c.lacks, scenario.name) {
			names = append(names, scenario.name)
		}
	}
	c.run(t, s.url, names)
	s.mu.Lock()
	defer s.mu.Unlock()
	return sent
}

// refused reports whether an upstream refuses one of the requests.
func refused(t *testing.T, name string, requests []strict.Request) bool {
	t.Helper()
	kind, err := strict.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(requests, func(r strict.Request) bool { return kind.Check(r).Status > 0 })
}
