package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/continuation"
	"reprise/proxy/upstream"
)

// TestUpstreams reads what every option means.
func TestUpstreams(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(t, []string{"REPRISE_UPSTREAM=a=http://h1:8000/v1;version=0.29;models=m1|m2>their/name:1;capacity=200000;events=tcp://h1:5557;replay=tcp://h1:5558;" +
		"metrics=/metrics;health=/health;drain;trust;salt;session-key=X-Session, b = https://api.example.com/v1 ; dialect=plain ; fallback;key-file=" + key +
		",c=http://h1:8000/other/v1;key-env=THIRD", "REPRISE_UPSTREAM_KEY=common", "THIRD=from-the-environment"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Upstreams); n != 3 {
		t.Fatalf("%d upstreams", n)
	}
	a, b, third := c.Upstreams[0], c.Upstreams[1], c.Upstreams[2]
	for what, ok := range map[string]bool{
		"names":    a.Name == "a" && b.Name == "b" && third.Name == "c",
		"bases":    a.Base.String() == "http://h1:8000/v1" && b.Base.String() == "https://api.example.com/v1",
		"dialects": a.Dialect == "" && b.Dialect == "plain" && a.Version == "0.29",
		"models":   slices.Equal(a.Models, []upstream.Model{{Name: "m1"}, {Name: "m2", Mapped: "their/name:1"}}) && b.Models == nil,
		"figures":  a.Capacity == 200000 && b.Capacity == 0,
		"sockets":  a.Events == "tcp://h1:5557" && a.Replay == "tcp://h1:5558" && a.Metrics == "/metrics" && a.Health == "/health",
		"flags":    a.Drain && a.Trust && a.Salt && !a.Fallback && b.Fallback && !b.Drain && !b.Trust && !b.Salt,
		"session":  a.SessionKey == "X-Session",
		"keys":     a.Key == "" && b.Key == "from-a-file" && third.Key == "from-the-environment",
		"key of":   c.KeyOf(&a) == "common" && c.KeyOf(&b) == "from-a-file" && c.KeyOf(&third) == "from-the-environment",
	} {
		if !ok {
			t.Errorf("%s: %+v", what, c.Upstreams)
		}
	}
	for _, v := range c.Effective() {
		if strings.Contains(v.Value, "from-") {
			t.Errorf("%s shows a key: %s", v.Name, v.Value)
		}
	}
}

// TestBadUpstreams: each mistake is an error of the start that names the upstream, what is wrong with it, and what is allowed.
func TestBadUpstreams(t *testing.T) {
	for _, tc := range []struct{ value, want string }{
		{"a=http://h1/v1,b=http://h2/v1", ""},
		{"http://h1/v1;dialect=plain;salt", ""},
		{"http://h1/a=b/v1", ""},
		{"a=http://h1/v1;models=big,a2=http://h1/v1;models=big>small;fallback", ""}, // the same host and its key
		{"a=http://h1/v1,A=http://h2/v1", "upstream A: an upstream before it has the same name"},
		{"a=http://h1/v1,b=http://h1/v1/", "upstream b: it has the URL of upstream a"},
		{"a=http://h1/v1,http://h2/v1", "each needs a name, and http://h2/v1 has none"},
		{"http://h1/v1 http://h2/v1", "there is white space in its URL: between two upstreams belongs a comma"},
		{"a=http://h1/v1 b=http://h2/v1", "upstream a: there is white space in its URL"},
		{",", "it names no upstream"},
		{"a b=http://h1/v1", `"a b" is no name of an upstream`},
		{"a=h1:8000", "upstream a: not a base URL"},
		{"a=http://u:hunter2@h1/v1", "upstream a: a URL is shown in logs and may hold no credential"},
		{"a=http://h1/v1;dialect=plian", "upstream a: dialect=plian: allowed is " + oneOf([]string{"generic"})[:7]},
		{"a=http://h1/v1;dialect=plian", "(did you mean plain?)"},
		{"a=http://h1/v1;dialct=plain", `upstream a: there is no option "dialct" (did you mean dialect?)`},
		{"a=http://h1/v1;key=sk-hunter2", `upstream a: there is no option "key"`},
		{"a=http://h1/v1;key-env=sk-hunter2", "upstream a: key-env: allowed is the name of an environment variable"},
		{"a=http://h1/v1;key-env=REPRISE_KEY", "does not begin with REPRISE_"},
		{"a=http://h1/v1;key-env=NO_SUCH", "upstream a: key-env=NO_SUCH: the environment has no such variable"},
		{"a=http://h1/v1;key-file=/no/such", "upstream a: key-file=/no/such: no such file"},
		{"a=http://h1/v1;key-env=A;key-file=b", "key-env and key-file are both given"},
		{"a=http://h1/v1;salt;salt", "upstream a: the option salt is given twice"},
		{"a=http://h1/v1;salt=yes", "upstream a: the option salt has no value"},
		{"a=http://h1/v1;capacity=many", "upstream a: capacity=many: allowed is a whole number of tokens"},
		{"a=http://h1/v1;version=latest", "upstream a: version=latest: allowed is a version such as 0.29"},
		{"a=http://h1/v1;models=", "upstream a: models=: allowed is names of models"},
		{"a=http://h1/v1;models=m|m", "upstream a: models=m|m: allowed is names of models"},
		{"a=http://h1/v1;models=m>", "allowed is names of models"},
		{"a=http://h1/v1;events=h:5557", "upstream a: events=h:5557: allowed is tcp://HOST:PORT"},
		{"a=http://h1/v1;replay=tcp://h:5558", "upstream a: replay needs events"},
		{"a=http://h1/v1;health=health", "upstream a: health=health: allowed is a path"},
		{"a=http://h1/v1;metrics=ftp://h/m", "allowed is a path such as /metrics, or a URL"},
		{"a=http://h1/v1;session-key=Authorization", "the name of a header that holds no credential"},
		{"a=http://h1/v1;fallback", "every upstream is a fallback"},
		{"a=http://h1/v1,b=http://h2/v1;fallback", "upstream b: a fallback on a host of its own needs key-env or key-file"},
		{"a=http://h1/v1,b=http://127.0.0.1:8080/v1", "is the proxy itself"},
		{"https://api.openai.com/v1/chat/completions", "the base URL is https://api.openai.com/v1"},
		{"a=http://h1:8000/v1/chat/completions/", "upstream a: the base URL is http://h1:8000/v1"},
		{"http://h1:11434/api/chat", "the base URL is http://h1:11434/v1"},
		{"http://h1/api/v1/responses", "the base URL is http://h1/api/v1"},
		{"https://api.openai.com", "the base URL is https://api.openai.com/v1"},
		{"https://api.anthropic.com/", "the base URL is https://api.anthropic.com/v1"},
		{"https://mine.openai.azure.com/", "the base URL is azure://mine.openai.azure.com"},
		{"https://mine.openai.azure.com/openai/deployments/d/chat/completions", "the base URL is azure://mine.openai.azure.com"},
		{"https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21", "the base URL is azure://mine.openai.azure.com"},
		{"http://h1/v1?a=hunter2", "not a base URL"},
		{"azure://mine", "azure://mine is no Azure OpenAI resource: azure://RESOURCE.openai.azure.com"},
		{"azure://", "azure:// is no Azure OpenAI resource: azure://RESOURCE.openai.azure.com"},
		{"azure://mine.openai.azure.com/openai", "is no Azure OpenAI resource"},
		{"anthropic://u:hunter2@h", "is no Anthropic API"},
		{"anthropic://h/v1", "is no Anthropic API: anthropic://"},
	} {
		_, err := load(t, []string{"REPRISE_UPSTREAM=" + tc.value})
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.value, err)
		case tc.want == "":
		case !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), "REPRISE_UPSTREAM=") || !strings.Contains(err.Error(), "(environment)") || !strings.Contains(err.Error(), tc.want):
			t.Errorf("%s: %v, want an error with the name, the source and %q", tc.value, err, tc.want)
		case strings.Contains(err.Error(), "hunter2"):
			t.Errorf("the error shows a credential: %v", err)
		}
	}
}

// TestProviders: the scheme names the API of a provider, with its base URL, its dialect and the header of its key.
func TestProviders(t *testing.T) {
	for value, want := range map[string][3]string{
		"anthropic://": {"https://api.anthropic.com/v1", "anthropic", "X-Api-Key"},
		"a=anthropic://gateway.example:8443;dialect=generic": {"https://gateway.example:8443/v1", "generic", "X-Api-Key"},
		"https://api.anthropic.com/v1":                       {"https://api.anthropic.com/v1", "anthropic", "X-Api-Key"},
		"azure://mine.openai.azure.com/":                     {"https://mine.openai.azure.com/openai/v1", "azure-openai", "Api-Key"},
		"https://mine.openai.azure.com/openai/v1":            {"https://mine.openai.azure.com/openai/v1", "azure-openai", "Api-Key"},
		"https://api.openai.com/v1":                          {"https://api.openai.com/v1", "", ""},
		"http://127.0.0.1:8000":                              {"http://127.0.0.1:8000", "", ""},
	} {
		c, err := load(t, []string{"REPRISE_UPSTREAM=" + value})
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		u := c.Upstreams[0]
		if [3]string{u.Base.String(), u.Dialect, u.KeyHeader} != want {
			t.Errorf("%s: %s, %s, %s, want %v", value, u.Base, u.Dialect, u.KeyHeader, want)
		}
		if line := u.Base.RequestURI(); line[0] != '/' {
			t.Errorf("%s: a request is for %s", value, line)
		}
	}
}

// TestSaltWithoutField: where tenants are to be kept apart and the dialect has no field for it, the start says so.
func TestSaltWithoutField(t *testing.T) {
	for _, tc := range []struct{ upstream, hints, want string }{
		{"a=http://h1/v1;dialect=vllm;salt", "affinity", ""},
		{"a=http://h1/v1;dialect=vllm,b=http://h2/v1", "salt", ""},
		{"a=http://h1/v1;dialect=vllm;salt,b=http://h2/v1;salt", "affinity", "salt of upstream b has no effect"},
		{"http://h1/v1;salt", "affinity", "salt of upstream http://h1/v1 has no effect"},
		{"a=http://h1/v1,b=http://h2/v1;dialect=openai", "salt", "salt has no effect, because no upstream"},
	} {
		c, err := load(t, []string{"REPRISE_UPSTREAM=" + tc.upstream, "REPRISE_HINTS=" + tc.hints})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Idle(), "|"); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s with the hints %s: the start says %q, want %q", tc.upstream, tc.hints, got, tc.want)
		}
	}
}

// TestKeysOfUpstreams: an operator's credential needs client keys where others can reach the proxy, and these need one for every upstream.
func TestKeysOfUpstreams(t *testing.T) {
	for _, tc := range []struct{ env, want string }{
		{"UPSTREAM=a=http://h1/v1;key-env=K LISTEN=127.0.0.1:0", ""},
		{"UPSTREAM=a=http://h1/v1;key-env=K LISTEN=:8080", "the credential of an upstream (key-env or key-file in REPRISE_UPSTREAM): that needs REPRISE_CLIENT_KEYS"},
		{"UPSTREAM=a=http://h1/v1,b=http://h2/v1;key-env=K;fallback LISTEN=:8080", "that needs REPRISE_CLIENT_KEYS"},
		{"UPSTREAM=a=http://h1/v1;key-env=K LISTEN=:8080 CLIENT_KEYS=long-enough", ""},
		{"UPSTREAM=a=http://h1/v1,b=http://h2/v1;key-env=K LISTEN=:8080 CLIENT_KEYS=long-enough", "upstream a: with REPRISE_CLIENT_KEYS it needs key-env"},
		{"UPSTREAM=a=http://h1/v1,b=http://h2/v1;key-env=K LISTEN=:8080 CLIENT_KEYS=long-enough UPSTREAM_KEY=k", ""},
		{"UPSTREAM=a=http://h1/v1 LISTEN=:8080 CLIENT_KEYS=long-enough", "REPRISE_CLIENT_KEYS needs REPRISE_UPSTREAM_KEY"},
	} {
		env := []string{"K=secret"}
		for kv := range strings.FieldsSeq(tc.env) {
			env = append(env, Prefix+kv)
		}
		_, err := load(t, env)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.env, err, tc.want)
		}
	}
}

// TestReloadKeysOfUpstreams: the key in a file is read again, and the list itself waits for a restart.
func TestReloadKeysOfUpstreams(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	read := func(content, list string) *Config {
		t.Helper()
		if err := os.WriteFile(key, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := load(t, []string{"REPRISE_UPSTREAM=" + list + ";key-file=" + key})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := read("first", "a=http://h1/v1")
	m, changed, restart, err := c.Reloaded(read("second", "a=http://h1/v1"))
	if err != nil || m.Upstreams[0].Key != "second" || !slices.Equal(changed, []string{"REPRISE_UPSTREAM (keys)"}) || len(restart) > 0 {
		t.Errorf("%v: changed %q, restart %q", err, changed, restart)
	}
	if _, changed, _, err := m.Reloaded(read("second", "a=http://h1/v1")); err != nil || len(changed) > 0 {
		t.Errorf("%v: changed %q, though nothing did", err, changed)
	}
	m, changed, restart, err = c.Reloaded(read("third", "a=http://h2/v1"))
	if err != nil || m.Upstreams[0].Key != "first" || m.Upstreams[0].Base.Host != "h1" || len(changed) > 0 || !slices.Equal(restart, []string{"REPRISE_UPSTREAM"}) {
		t.Errorf("%v: changed %q, restart %q", err, changed, restart)
	}
}

// TestContinues: a model is for the embedder that it was trained with.
func TestContinues(t *testing.T) {
	m, err := continuation.NewModel(continuation.Form{Embedder: "e", Dim: 1, Windows: []int{1}, Tokens: 9, Layers: []int{2, 1}}, make([]float32, 3))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lpc.model")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(t, []string{"REPRISE_HINTS=affinity,continues:" + path})
	if err != nil || c.Routing.Continues == nil {
		t.Fatalf("%v", err)
	}
	if err := errors.Join(c.CheckContinues("e", 1), c.CheckContinues("", 0)); err != nil {
		t.Error(err)
	}
	err = c.CheckContinues("other", 1)
	if err == nil || !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "want the same one") {
		t.Errorf("%v", err)
	}
}

// TestRouting reads the settings beside the list of upstreams.
func TestRouting(t *testing.T) {
	lines := filepath.Join(t.TempDir(), "volatile")
	if err := os.WriteFile(lines, []byte("# dates\n\n^Today is \\d{4}-\\d\\d-\\d\\d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(t, []string{"REPRISE_HINTS=affinity, salt, warm:5000", "REPRISE_CANONICAL=chat=C2,responses=C3:" + lines})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Routing
	if !slices.Equal(r.Hints, []string{"affinity", "salt", "warm"}) || len(r.Canonical) != 2 || r.Canonical["chat"] != "C2" || r.Canonical["responses"] != "C3" ||
		len(r.Volatile) != 1 || !r.Volatile[0].MatchString("Today is 2026-01-02.") || r.WarmBudget != 5000 {
		t.Errorf("%+v", r)
	}
	if c, err = load(t, []string{"REPRISE_HINTS=none", "REPRISE_CANONICAL=C3"}); err != nil || len(c.Routing.Hints) > 0 || c.Routing.Canonical["completions"] != "C3" {
		t.Errorf("%v: %+v", err, c)
	}
	for _, tc := range []struct{ name, value, want string }{
		{"HINTS", "afinity", `no hint is called "afinity" (did you mean affinity?)`},
		{"HINTS", "salt,salt", "salt is given twice"},
		{"HINTS", ",", "allowed is none, or some of affinity"},
		{"HINTS", "warm:many", "whole number of tokens a minute"},
		{"HINTS", "continues", "continues needs the file of a model"},
		{"HINTS", "continues:/no/such", "no such file"},
		{"HINTS", "continues:upstreams_test.go", "bad model: it begins with"},
		{"HINTS", "continues:" + os.DevNull, "it is a pipe or a device"},
		{"HINTS", "warm", "warm needs a budget of tokens a minute: warm:100000"},
		{"CANONICAL", "C1", `no level is called "C1"`},
		{"CANONICAL", "chat=C2,chat=C3", "two levels for one endpoint"},
		{"CANONICAL", "C2,chat=C3", "two levels for one endpoint"},
		{"CANONICAL", "chats=C2", `no endpoint is called "chats" (did you mean chat?)`},
		{"CANONICAL", "C3:/no/such", "no such file"},
		{"CANONICAL", "C2:/no/such", "only C3 has a file"},
		{"CANONICAL", "chat=C3:a,responses=C3:b", "two files of expressions"},
		{"CANONICAL", "C3:upstreams_test.go", "line "},
	} {
		_, err := load(t, []string{Prefix + tc.name + "=" + tc.value})
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), Prefix+tc.name) {
			t.Errorf("%s=%s: %v, want %q", tc.name, tc.value, err, tc.want)
		}
	}
}
