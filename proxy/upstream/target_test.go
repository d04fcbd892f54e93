package upstream

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reprise/proxy/upstream/dialect"
)

// at is the target at a URL; changes are made to it.
func at(t *testing.T, address string, changes ...func(*Target)) Target {
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Base: base}
	for _, change := range changes {
		change(&target)
	}
	return target
}

func named(name string) func(*Target)   { return func(t *Target) { t.Name = name } }
func keyed(key string) func(*Target)    { return func(t *Target) { t.Key = key } }
func fallback(t *Target)                { t.Fallback = true }
func drained(t *Target)                 { t.Drain = true }
func checked(path string) func(*Target) { return func(t *Target) { t.Health = path } }

// serving adds models, each NAME or NAME>MAPPED.
func serving(models ...string) func(*Target) {
	return func(t *Target) {
		for _, m := range models {
			name, mapped, _ := strings.Cut(m, ">")
			t.Models = append(t.Models, Model{name, mapped})
		}
	}
}

func TestTargets(t *testing.T) {
	const a, b = "http://a.example/v1", "http://b.example/v1"
	for _, tc := range []struct {
		name    string
		targets []Target
		says    string // "": valid
	}{
		{"two", []Target{at(t, a), at(t, b)}, ""},
		{"names", []Target{at(t, a, named("x")), at(t, b, named("x"))}, `two upstreams are called "x"`},
		{"names in another case", []Target{at(t, a, named("x")), at(t, b, named("X"))}, `two upstreams are called "X"`},
		{"a name with a space", []Target{at(t, a, named("x y"))}, `upstream "x y": a name is made of`},
		{"a long name", []Target{at(t, a, named(strings.Repeat("x", 65)))}, "a name is made of up to 64"},
		{"addresses", []Target{at(t, a, named("x")), at(t, a, named("y"))}, "upstreams x and y have the same address http://a.example/v1"},
		{"addresses spelled otherwise", []Target{at(t, a, named("x")), at(t, "http://A.example.:80/v1/", named("y"))}, "upstreams x and y have the same address"},
		{"hosts with two paths", []Target{at(t, a, named("x")), at(t, "http://a.example/v2", named("y"))}, ""},
		{"a dialect", []Target{at(t, a, named("x"), func(t *Target) { t.Dialect = "klingon" })}, `upstream x: dialect "klingon" is not one of ` + strings.Join(dialect.Names(), ", ")},
		{"models", []Target{at(t, a, named("x"), serving("m", "m>n"))}, `upstream x: model "m" is given twice`},
		{"a model without a name", []Target{at(t, a, named("x"), serving(""))}, "upstream x: a model has no name"},
		{"a capacity", []Target{at(t, a, named("x"), func(t *Target) { t.Capacity = -1 })}, "upstream x: capacity -1 must not be negative"},
		{"a health check", []Target{at(t, a, named("x"), checked("health"))}, `upstream x: health check "health" is not a path such as /health`},
		{"no primary", []Target{at(t, a, fallback, keyed("k"))}, "every upstream is a fallback: at least one must not be"},
		{"a fallback without a key", []Target{at(t, a), at(t, b, named("x"), fallback)}, "fallback upstream x needs a key of its own"},
		{"a fallback with a key", []Target{at(t, a), at(t, b, fallback, keyed("k"))}, ""},
		{"a fallback on the same host", []Target{at(t, a, named("x")), at(t, a, named("y"), fallback, serving("m>n"))}, ""},
		{"a fallback on the same host with another port", []Target{at(t, a), at(t, "http://a.example:81/v1", named("y"), fallback)}, "fallback upstream y needs a key"},
		{"a fallback on the host of a fallback", []Target{at(t, a), at(t, b, fallback, keyed("k")), at(t, "http://b.example/v2", named("y"), fallback)}, "fallback upstream y needs a key"},
		{"all at once", []Target{at(t, "ftp://a", named("x")), at(t, b, named("x y"))}, `upstream "x y"`},
	} {
		c, err := New(Options{Replicas: tc.targets, HealthInterval: -1})
		switch {
		case tc.says == "" && err != nil, tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
			t.Errorf("%s: %v", tc.name, err)
		case err == nil:
			c.Close()
		}
	}
}

// TestKeysOfTargets: a fallback gets its own key only, other targets the common one where they have none.
func TestKeysOfTargets(t *testing.T) {
	c := newClient(t, Options{Key: "common", Replicas: []Target{at(t, "http://a.example/v1"), at(t, "http://b.example/v1", keyed("b")),
		at(t, "http://c.example/v1", fallback, keyed("c")), at(t, "http://a.example/v2", named("d"), fallback)}})
	keys := func() (all string) {
		for _, r := range c.replicas {
			all += r.key() + " "
		}
		return all
	}
	if got := keys(); got != "common b c common " {
		t.Error(got)
	}
	c.SetKeys("new", []Target{{}, {Key: "b2"}, {Key: "c"}, {}})
	if got := keys(); got != "new b2 c new " {
		t.Errorf("after a change: %s", got)
	}
	for _, s := range c.Upstreams() {
		if s.Target.Key != "" {
			t.Errorf("the status of %s has a key", s.Name)
		}
	}
}

func TestModelNames(t *testing.T) {
	r := newReplica(Target{Models: []Model{{Name: "m"}, {Name: "n", Mapped: `o"<`}}, Fallback: true}, Concurrency{})
	for _, tc := range []struct{ model, body, sent, name string }{
		{"m", `{"model":"m"}`, `{"model":"m"}`, "m"},
		{"n", `{ "messages":[{"model":"n"}], "model" : "n" , "x":1.0}`, `{ "messages":[{"model":"n"}], "model" : "o\"\u003c" , "x":1.0}`, `o"<`},
		{"n", `{"model":"\u006e"}`, `{"model":"o\"\u003c"}`, `o"<`},
		{"n", `{"model":"m"}`, `{"model":"m"}`, "n"},
		{"n", `text with {"model":"n"}`, `text with {"model":"n"}`, "n"},
		{"n", ``, ``, "n"},
		{"other", `{"model":"other"}`, `{"model":"other"}`, "other"},
	} {
		if sent, name := r.mapped([]byte(tc.body), tc.model); string(sent) != tc.sent || name != tc.name {
			t.Errorf("%s in %s: %s in %s", tc.model, tc.body, name, sent)
		}
	}
	if r.foreign("m") || !r.foreign("n") || r.foreign("other") || r.foreign("") {
		t.Error("the answers of another model are not known")
	}
	if r.target.Fallback = false; r.foreign("n") {
		t.Error("a target that is no fallback has another model")
	}
}

func TestRetryAfter(t *testing.T) {
	now := newReplicaTime
	for _, tc := range []struct{ seconds, ms, want string }{
		{"5", "", "5s"}, {"0.5", "", "500ms"}, {"0", "", "0s"}, {"-1", "", "0s"}, {"soon", "", "0s"}, {"", "", "0s"}, {"NaN", "", "0s"}, {"+Inf", "", "0s"}, {"1e300", "", "0s"},
		{"5", "250", "250ms"}, {"5", "x", "5s"}, {"5", "NaN", "5s"}, {now.Add(7e9).UTC().Format(http.TimeFormat), "", "7s"}, {now.Add(-7e9).UTC().Format(http.TimeFormat), "", "0s"},
	} {
		h := http.Header{"Retry-After": {tc.seconds}, "Retry-After-Ms": {tc.ms}}
		if got := fmt.Sprint(retryAfter(h, now)); got != tc.want {
			t.Errorf("%q, %q: %s, want %s", tc.seconds, tc.ms, got, tc.want)
		}
	}
}
