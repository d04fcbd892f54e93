package clienttest

import (
	"regexp"
	"slices"
	"testing"

	"reprise/proxy"
)

// scenario is one or several requests of an application, with a key of its own.
type scenario struct {
	name          string
	fault         string // of the engine, for every request (enginesim.ParseFault)
	first, second string // the X-Cache of each request, through the proxy, the first and the second time
}

var scenarios = []scenario{
	{name: "chat", first: "miss", second: "exact"},
	{name: "chat-stream", first: "miss", second: "exact"},
	{name: "chat-stream-usage", first: "miss", second: "exact"},
	{name: "chat-stream-summed", first: "miss", second: "exact"},
	{name: "stream-then-whole", first: "miss exact", second: "exact exact"},
	{name: "whole-then-stream", first: "miss exact", second: "exact exact"},
	{name: "conversation", first: "miss miss", second: "exact exact"},
	{name: "tools", first: "miss", second: "miss"},
	{name: "tools-stream", first: "miss", second: "miss"},
	{name: "tool-result", first: "miss", second: "exact"},
	{name: "structured", first: "miss", second: "exact"},
	{name: "structured-stream", first: "miss", second: "exact"},
	{name: "completion", first: "miss", second: "exact"},
	{name: "completion-stream", first: "miss", second: "exact"},
	{name: "response", first: "miss", second: "exact"},
	{name: "response-stream", first: "miss", second: "exact"},
	{name: "response-structured", first: "miss", second: "exact"},
	{name: "response-tools", first: "miss", second: "miss"},
	{name: "response-tools-stream", first: "miss", second: "miss"},
	{name: "previous-response", first: "miss bypass", second: "exact bypass"},
	{name: "retrieve-response", first: "miss bypass", second: "exact bypass"},
	{name: "embedding", first: "miss", second: "exact"},
	{name: "embedding-base64", first: "miss", second: "exact"},
	{name: "models", first: "bypass", second: "bypass"},

	{name: "bad-request", first: "miss", second: "miss"},
	{name: "unknown-model", first: "miss", second: "miss"},
	{name: "unauthorized", fault: "status=401", first: "miss", second: "miss"},
	{name: "rate-limit", fault: "status=429, retry-after=7", first: "miss", second: "miss"},
	{name: "rate-limit-stream", fault: "status=429, retry-after=7", first: "miss", second: "miss"},
	{name: "error-in-stream", fault: "error-event", first: "miss", second: "miss"},
	{name: "cut-answer", fault: "cut=20", first: "error", second: "error"},
	{name: "cut-stream", fault: "cut-events=3", first: "miss", second: "miss"},
	{name: "cut-response-stream", fault: "cut-events=5", first: "miss", second: "miss"},
	{name: "abort", fault: "cut-events=3, silence", first: "miss", second: "miss"}, // ends only because the client leaves
}

// withToolCalls are the scenarios that differ where answers that call tools may be stored.
var withToolCalls = []scenario{
	{name: "tools", first: "miss", second: "exact"},
	{name: "tools-stream", first: "miss", second: "exact"},
	{name: "tool-loop", first: "miss miss", second: "exact exact"},
	{name: "response-tools", first: "miss", second: "exact"},
	{name: "response-tools-stream", first: "miss", second: "exact"},
}

func faultOf(name string) string {
	for _, s := range scenarios {
		if s.name == name {
			return s.fault
		}
	}
	return ""
}

// client runs scenarios of one client library against a site and returns what the library returned.
type client struct {
	name  string
	run   func(t *testing.T, site string, scenarios []string) map[string]any
	lacks []string // scenarios that the library has no call for
}

var clients = []client{
	{name: "openai-go", run: inProcess(openaiGo)},
	{name: "go-openai", run: inProcess(goOpenAI), lacks: []string{"chat-stream-summed"}},
	{name: "openai (npm)", run: node("openai")},
	{name: "ai (npm)", run: node("aisdk"), lacks: []string{"chat-stream", "chat-stream-summed", "retrieve-response", "embedding-base64", "models"}},
}

func TestClientsSeeNoDifference(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { compare(t, c, proxy.Options{}, scenarios) })
	}
}

func TestClientsSeeNoDifferenceInKeptToolCalls(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { compare(t, c, proxy.Options{CacheToolCalls: true}, withToolCalls) })
	}
}

// compare runs everything twice at each site. The first run is compared with the first, the second with the second; but where
// every answer of the second came from the cache, it must equal the first.
func compare(t *testing.T, c client, o proxy.Options, scenarios []scenario) {
	compareAt(t, c, scenarios, direct(t), proxied(t, o), nothing)
}

// nothing matches no difference.
var nothing = regexp.MustCompile(`^$`)

// compareAt is compare for an engine, and for a proxy in front of one like it. Differences that match apart are none.
func compareAt(t *testing.T, c client, scenarios []scenario, engine, through *site, apart *regexp.Regexp) {
	scenarios = slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool { return slices.Contains(c.lacks, s.name) })
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	var want, got [2]map[string]any
	var caches [2]map[string]string
	for i := range 2 {
		want[i], got[i] = c.run(t, engine.url, names), c.run(t, through.url, names)
		caches[i] = map[string]string{}
		for _, name := range names {
			caches[i][name] = through.caches(name)
		}
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			equal(t, "first", got[0][s.name], want[0][s.name], apart)
			if s.second == "exact" || s.second == "exact exact" {
				equal(t, "second", got[1][s.name], want[0][s.name], apart)
				fresh(t, got[0][s.name], got[1][s.name])
			} else {
				equal(t, "second", got[1][s.name], want[1][s.name], apart)
			}
			if caches[0][s.name] != s.first || caches[1][s.name] != s.second {
				t.Errorf("X-Cache %q, then %q, want %q, then %q", caches[0][s.name], caches[1][s.name], s.first, s.second)
			}
		})
	}
}

// equal compares the results of a client, except for ids and times, which no two answers share.
func equal(t *testing.T, time string, got, want any, apart *regexp.Regexp) {
	t.Helper()
	for _, d := range differences("", masked("", got), masked("", want)) {
		if !apart.MatchString(d) {
			t.Errorf("%s time: %s", time, d)
		}
	}
}

// fresh checks that answers from the cache have ids of their own.
func fresh(t *testing.T, first, second any) {
	t.Helper()
	before := map[string]bool{}
	answerIDs(first, before)
	after := map[string]bool{}
	answerIDs(second, after)
	for id := range after {
		if before[id] {
			t.Errorf("two answers have the id %s", id)
		}
	}
}
