package clienttest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/internal/enginesim"
)

// framework is a module of folder node or python that runs a framework or a client library as applications do, at its own defaults.
type framework struct {
	name      string
	scenarios []string // nil: all of the module
	packages  string   // of Python: the folder that has them
}

// language runs the scenarios of a module at several sites, one site after the other, and returns their results at each.
type language func(t *testing.T, f framework, sites []string) []map[string]any

var frameworks = []framework{
	{name: "raw"}, {name: "langchain"}, {name: "langgraph"}, {name: "llamaindex"}, {name: "compatible"}, {name: "agents"}, {name: "mastra"}, {name: "instructor"}, {name: "anthropic"},
	{name: "openai", scenarios: []string{"chat", "chat-stream-summed", "steps", "steps-stream", "response-steps", "steps-at-server", "reasoning", "reasoning-at-server", "structured", "response", "response-stream", "embedding"}},
	{name: "aisdk", scenarios: []string{"chat", "chat-stream-usage", "steps", "steps-stream", "response-steps", "response-steps-stream", "response-conversation", "reasoning", "reasoning-stream", "structured", "response", "response-stream", "embedding"}},
}

// refusals are scenarios that end in an error, which is never stored. Their faults are the engine's.
var refusals = map[string]enginesim.Fault{
	"unauthorized":  {Status: http.StatusUnauthorized},
	"unknown-model": {},
	"rate-limit":    {Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}},
	"too-long":      {},

	"timeout":        {Delay: neverAnswers},
	"timeout-stream": {Delay: neverAnswers},
}

// neverAnswers is longer than any client waits.
const neverAnswers = 24 * time.Hour

// atServer are scenarios of a conversation that the server keeps, or can read only in one account, with the X-Cache of the request that begins it from
// the second time on. Those that continue it pass by the cache.
var atServer = map[string]string{"tools-thread": "bypass", "steps-at-server": "exact", "reasoning-at-server": "exact", "reasoning-sealed": "miss"}

// idsInText are scenarios whose library writes the ids of calls into the text of its prompts. No two answers have the same ids, so after the first
// answer each run asks, and gets, something else.
var idsInText = map[string]bool{"tools-as-text": true, "tools-as-text-stream": true}

// retried is the scenario of an engine that is busy at first. The framework asks again after a second.
const retried = "retried"

// TestFrameworks: each framework gets the same results from the engine, and from the program at its defaults, the first and the second time,
// and after a restart. From the second time on each call of a run is a hit, those of a loop with tools included.
func TestFrameworks(t *testing.T) {
	nodeRunner(t)
	compareFrameworks(t, frameworks, func(t *testing.T, f framework, sites []string) []map[string]any {
		return nodeAt(t, f.name, sites, f.scenarios)
	})
}

func compareFrameworks(t *testing.T, frameworks []framework, in language) {
	engine := httptest.NewServer(atGoogle(loopEngine()))
	t.Cleanup(engine.Close)
	behind := httptest.NewServer(atGoogle(loopEngine()))
	t.Cleanup(behind.Close)
	dir := t.TempDir()

	p := serve(t, dir, behind.URL+"/v1")
	runs := runFrameworks(t, "before", frameworks, in, newGate(t, engine.URL), newGate(t, p.API), newGate(t, p.API))
	want, first, second := runs[0], runs[1], runs[2]
	stop(t, p)
	restarted := runFrameworks(t, "restarted", frameworks, in, newGate(t, serve(t, dir, behind.URL+"/v1").API))[0]
	for _, f := range frameworks {
		name := f.name
		t.Run(name, func(t *testing.T) {
			first[name].equal(t, "first", want[name])
			for when, again := range map[string]map[string]run{"second": second, "restarted": restarted} {
				again[name].equal(t, when, want[name])
				again[name].hit(t, when, first[name])
				for scenario, result := range again[name].results {
					fresh(t, first[name].results[scenario], result)
				}
			}
		})
	}
}

// atGoogle serves Gemini's paths for OpenAI's API too.
func atGoogle(engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/v1beta/openai/"); ok {
			r.URL.Path, r.URL.RawPath = "/v1/"+rest, ""
		}
		engine.ServeHTTP(w, r)
	})
}

// loopEngine is an engine whose faults are those of the scenario that the key of a request names.
func loopEngine() *enginesim.Engine {
	var mu sync.Mutex // protects busy
	busy := map[string]bool{}
	return enginesim.New(enginesim.Options{Context: 4096, Models: append(slices.Clone(enginesim.DefaultModels), claude, "gpt-5"), Fault: func(r *http.Request) enginesim.Fault {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
		if strings.HasSuffix(key, "-"+retried) {
			mu.Lock()
			defer mu.Unlock()
			if !busy[key] {
				busy[key] = true
				return enginesim.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}}
			}
			return enginesim.Fault{}
		}
		for name, fault := range refusals {
			if strings.HasSuffix(key, "-"+name) {
				return fault
			}
		}
		return enginesim.Fault{}
	}})
}

// claude is the model that the module of Anthropic's library asks for.
const claude = "claude-sonnet-5-5"

// cachedPart matches the tokens of a prompt that an engine had before, which are those of any request.
var cachedPart = regexp.MustCompile(`(?i)^\S*cache`)

// run is one run of all scenarios of a framework: their results, and their calls.
type run struct {
	results map[string]any
	calls   map[string][]call
}

// runFrameworks runs all frameworks through gates, as many at once as the machine has cores, and returns the runs at each gate by framework. A
// process runs its scenarios at all of them.
func runFrameworks(t *testing.T, when string, frameworks []framework, in language, gates ...*gate) []map[string]run {
	t.Helper()
	var mu sync.Mutex // protects runs
	runs := make([]map[string]run, len(gates))
	for i := range runs {
		runs[i] = map[string]run{}
	}
	t.Run(when, func(t *testing.T) {
		for _, f := range frameworks {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				sites := make([]string, len(gates))
				for i, g := range gates {
					sites[i] = g.url + "/" + f.name
				}
				results := in(t, f, sites)
				mu.Lock()
				defer mu.Unlock()
				for i, g := range gates {
					runs[i][f.name] = run{results[i], g.taken(f.name)}
				}
			})
		}
	})
	return runs
}

// equal checks that the scenarios have the results that they have without the proxy.
func (r run) equal(t *testing.T, when string, want run) {
	t.Helper()
	for _, scenario := range slices.Sorted(maps.Keys(want.results)) {
		if idsInText[scenario] {
			continue
		}
		for _, d := range differences("", linked(r.results[scenario]), linked(want.results[scenario])) {
			if !cachedPart.MatchString(d) {
				t.Errorf("%s, %s time: %s", scenario, when, d)
			}
		}
	}
}

// hit checks that each call is a hit, unless its scenario ends in an error, is one at the server or is in idsInText; of one that is not it
// reports what the proxy gives as the reason, and in which members the request differs from that of the first time.
func (r run) hit(t *testing.T, when string, first run) {
	t.Helper()
	for _, scenario := range slices.Sorted(maps.Keys(r.calls)) {
		if _, refused := refusals[scenario]; refused {
			continue
		}
		calls := r.calls[scenario]
		earlier := slices.DeleteFunc(slices.Clone(first.calls[scenario]), func(c call) bool { return c.status >= 400 })
		if idsInText[scenario] {
			calls, earlier = calls[:1], earlier[:1]
		}
		if len(calls) != len(earlier) {
			t.Errorf("%s, %s time: %d calls, %d the first time", scenario, when, len(calls), len(earlier))
			continue
		}
		for i, c := range calls {
			if want := wanted(scenario, i); c.cache != want {
				t.Errorf("%s, %s time, call %d (%s): X-Cache %q, want %q; Cache-Status %q, status %d; the request and that of the first time: %s",
					scenario, when, i+1, c.path, c.cache, want, c.why, c.status, joined(differences("", c.body(), earlier[i].body())))
			}
		}
	}
}

// wanted is the X-Cache of a call of a scenario from the second time on.
func wanted(scenario string, call int) string {
	begin, kept := atServer[scenario]
	switch {
	case kept && call > 0:
		return "bypass"
	case kept:
		return begin
	}
	return "exact"
}

// joined is the first of some differences between the request and that of the first time.
func joined(differences []string) string {
	const most = 3
	switch n := len(differences); {
	case n == 0:
		return "the same"
	case n > most:
		return strings.Join(differences[:most], "; ") + "; and " + strconv.Itoa(n-most) + " more"
	}
	return strings.Join(differences, "; ")
}
