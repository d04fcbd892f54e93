package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/redistest"
)

// load runs a Loader over flags and environment.
func load(t *testing.T, env []string, args ...string) (*Config, error) {
	t.Helper()
	l := NewLoader(false)
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	l.Register(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return l.Load(env)
}

func place(v string) Place {
	p, _ := parsePlace(v)
	return p
}

func TestDefaults(t *testing.T) {
	c, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"listen":     c.Listen == "127.0.0.1:8080" && c.AdminListen == "127.0.0.1:8081",
		"upstream":   len(c.Upstreams) == 1 && c.Upstreams[0].Base.String() == "https://api.openai.com/v1",
		"capacity":   c.CapacityEntries == 100_000 && c.CapacityBytes == 1<<30,
		"life":       c.TTL == 24*time.Hour && c.StaleIfError == 0,
		"store":      c.Store == place("file:./reprise.db"),
		"tools":      c.ToolCalls,
		"thresholds": c.Hit == 0 && c.Route == 0 && c.Edge == 0 && c.MaxErrorRate == 0.01,
		"judge":      c.JudgeModel == "",
		"limits": c.HeaderTimeout() == 5*time.Second && c.ClientTimeout == 30*time.Second && c.IdleConnection() == 2*time.Minute &&
			c.UpstreamTimeout == 600*time.Second && c.Drain == 90*time.Second,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

// folder has empty files of the names.
func folder(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestValues gives each kind of value in the forms it may have; the error of a bad one has all that is needed to correct it.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name, value string
		bad         string // part of the message; empty: the value is good
	}{
		{"LISTEN", ":9000", ""},
		{"LISTEN", "[::1]:0", ""},
		{"LISTEN", "9000", "allowed is HOST:PORT"},
		{"LISTEN", "localhost:http", "allowed is HOST:PORT"},
		{"LISTEN", "localhost:65536", "allowed is HOST:PORT"},
		{"ADMIN_TOKEN", "12345678", ""},
		{"ADMIN_TOKEN", "1234567", "8 characters"},
		{"ADMIN_TOKEN", "with a space", "8 characters"},
		{"TLS_CERT", "/no/such/file", "no such file"},
		{"UPSTREAM", "http://127.0.0.1:8000/v1/", ""},
		{"UPSTREAM", "ftp://host/v1", "base URL"},
		{"UPSTREAM", "host:8000", "base URL"},
		{"UPSTREAM", "http://host/v1?key=x", "base URL"},
		{"UPSTREAM", "a=http://h1/v1;dialect=plain", ""},
		{"UPSTREAM", "http://h1/v1,http://h2/v1", "each needs a name"},
		{"MODE", "shadow", ""},
		{"MODE", "Shadow", "semantic, exact, shadow or off"},
		{"HIT_THRESHOLD", "1", ""},
		{"HIT_THRESHOLD", "0", "cosine"},
		{"HIT_THRESHOLD", "1.01", "cosine"},
		{"HIT_THRESHOLD", "NaN", "cosine"},
		{"MAX_ERROR_RATE", "0", ""},
		{"MAX_ERROR_RATE", "0.2", ""},
		{"MAX_ERROR_RATE", "0.21", "from 0 to 0.2"},
		{"MAX_ERROR_RATE", "-0.01", "from 0 to 0.2"},
		{"MAX_ERROR_RATE", "NaN", "from 0 to 0.2"},
		{"MAX_ERROR_RATE", "1%", "from 0 to 0.2"},
		{"JUDGE_MODEL", "gpt-4o-mini", "it is asked under a credential of the operator, and there is none: that needs REPRISE_UPSTREAM_KEY"},
		{"POLICY", "lru", ""},
		{"POLICY", "rac:alpha=0.1/C,lambda=2", ""},
		{"POLICY", "rac+:sample=1000", ""},
		{"POLICY", "lruu", "no policy is called lruu (did you mean lru?); allowed is a policy's name"},
		{"POLICY", "lru:", ""},
		{"POLICY", "lru:k=2", `no parameter "k": lru has none; allowed`},
		{"POLICY", "rac:alhpa=1", `no parameter "alhpa": want alpha, lambda`},
		{"POLICY", "rac:alhpa=1", "(did you mean alpha?)"},
		{"POLICY", "rac:alpha=many", "alpha=many: want a number from 0 to 1000000"},
		{"POLICY", "rac:admission=moon", "admission=moon: want paper or"},
		{"POLICY", "rac:alpha", "want key=value"},
		{"IGNORE_FIELDS", "user,model", "REPRISE_IGNORE_FIELDS=user,model (environment): the field model can change an answer, or how it is read; allowed is user, metadata, safety_identifier, prompt_cache_key, service_tier, priority, and"},
		{"IGNORE_FIELDS", "user,,x", `"" is not the name of a field, such as user`},
		{"IGNORE_PATTERN", `\d{4}`, `REPRISE_IGNORE_PATTERN=\d{4} (environment): the pattern \d{4} has no named group, such as (?P<date>\d{4}-\d\d-\d\d): only what named groups match is ignored; allowed is`},
		{"IGNORE_PATTERN", `(?P<a>x);;(?P<b>`, `the pattern (?P<b>: error parsing regexp: missing closing ): `},
		{"IGNORE_PATTERN", ` ;; `, "there is no pattern"},
		{"POLICY", "rac:alpha=1000C", "REPRISE_CAPACITY_ENTRIES=100000 (default): alpha=1000C: want a number"},
		{"CAPACITY_BYTES", "1.5GiB", ""},
		{"CAPACITY_BYTES", "2000MB", ""},
		{"CAPACITY_BYTES", "1 GiB", ""},
		{"CAPACITY_BYTES", "1Gi", "size"},
		{"CAPACITY_BYTES", "1e30", "size"},
		{"CAPACITY_BYTES", "-1", "size"},
		{"TTL", "7d", ""},
		{"TTL", "1d12h", ""},
		{"TTL", "0", "above 0"},
		{"TTL", "1.5d", "duration"},
		{"TTL", "-1h", "duration"},
		{"TTL", "99999999d", "duration"},
		{"STALE_IF_ERROR", "0", ""},
		{"STORE", "memory", ""},
		{"STORE", "file:", "memory or file:PATH"},
		{"STORE", "redis://host", ""},
		{"STORE", "rediss-sentinel://u:hunter2@a,b/main/1", ""},
		{"STORE", "rediss+sentinel://u:hunter2@host", "memory or file:PATH"},
		{"STORE", "redis://", "memory or file:PATH"},
		{"REDIS_PASSWORD", "a b", "without white space"},
		{"REDIS_TLS", "/no/such", "it has none of these files"},
		{"REDIS_TLS", folder(t, "ca.crt"), "ca.crt has no certificate"},
		{"REDIS_TLS", folder(t, "tls.crt"), "only one of tls.crt and tls.key"},
		{"REDIS_TLS", folder(t, "tls.crt", "tls.key"), "failed to find any PEM data"},
		{"REDIS_PREFIX", "team-a.chat:1", ""},
		{"REDIS_PREFIX", "{a}", "letters, digits"},
		{"REDIS_PREFIX", strings.Repeat("a", 65), "letters, digits"},
		{"SECRET", "fifteen-letters", "16 characters"},
		{"SECRET", "sixteen-letters-", ""},
		{"TENANT_FROM", "header:X-Team", ""},
		{"TENANT_FROM", "header:", "header:NAME"},
		{"TENANT_FROM", "header:X Team", "header:NAME"},
		{"IGNORE_HEADERS", "X-Run-Id, session_id", ""},
		{"IGNORE_HEADERS", "X-Run-Id, cookie", "the header Cookie may hold a credential: it counts in every request, and goes to no upstream for which there is another; allowed is names"},
		{"IGNORE_HEADERS", "X-Run-Id,", `"" is not the name of a header`},
		{"EMBEDDER", "openai:http://h:11434/v1", ""},
		{"EMBEDDER", "openai:http://user:hunter2@host/v1", "no credential"},
		{"EMBEDDER", "openai:", "not a base URL"},
		{"EMBEDDER", "model2vec:", "allowed is builtin, openai"},
		{"LOG_LEVEL", "warn", ""},
		{"LOG_LEVEL", "warning", "debug, info, warn or error"},
		{"UPSTREAM_TIMEOUT", "0", ""},
		{"DRAIN_TIMEOUT", "0s", "above 0"},
		{"TTL", "366d", "at most 365d"},
	} {
		_, err := load(t, []string{Prefix + c.name + "=" + c.value})
		switch {
		case c.bad == "" && err != nil:
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		case c.bad == "":
		case !errors.Is(err, ErrBad):
			t.Errorf("%s=%s: %v, want an error that wraps ErrBad", c.name, c.value, err)
		case !strings.Contains(err.Error(), Prefix+c.name+"=") || !strings.Contains(err.Error(), "(environment)") || !strings.Contains(err.Error(), c.bad):
			t.Errorf("%s=%s: %v, want an error with the name, the source and %q", c.name, c.value, err, c.bad)
		case strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error shows a password: %v", c.name, err)
		}
	}
}

func TestZeroMeansNoLimit(t *testing.T) {
	c, err := load(t, []string{"REPRISE_UPSTREAM_TIMEOUT=0", "REPRISE_CLIENT_TIMEOUT=0s"})
	if err != nil || c.UpstreamTimeout != -1 || c.ClientTimeout != -1 || c.HeaderTimeout() >= 0 || c.IdleConnection() >= 0 {
		t.Errorf("got %v, %+v; want no limits", err, c)
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := load(t, []string{"REPRISE_MODE=fast", "REPRISE_HIT_TRESHOLD=1", "REPRISE_STORE=redis:x"}, "--ttl", "soon")
	want := `4 settings are wrong:
  REPRISE_HIT_TRESHOLD (environment): there is no such setting; did you mean REPRISE_HIT_THRESHOLD?
  REPRISE_MODE=fast (environment): allowed is semantic, exact, shadow or off
  REPRISE_STORE=redis:x (environment): allowed is ` + PlaceForms() + `
  --ttl=soon (flag): allowed is a duration above 0, such as 24h, at most 365d`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestContradictions(t *testing.T) {
	tls := redistest.NewCertificates(t).Dir
	for _, c := range []struct {
		env, want string
	}{
		{"ADMIN_LISTEN=0.0.0.0:8081", "needs REPRISE_ADMIN_TOKEN"},
		{"ADMIN_LISTEN=:8081", "needs REPRISE_ADMIN_TOKEN"},
		{"ADMIN_LISTEN=:8081 ADMIN_TOKEN=long-enough", ""},
		{"ADMIN_LISTEN=localhost:8081", ""},
		{"ADMIN_LISTEN=127.0.0.1:8080", "the same"},
		{"LISTEN=127.0.0.1:0 ADMIN_LISTEN=127.0.0.1:0", ""},
		{"UPSTREAM=http://127.0.0.1:8080/v1", "the proxy itself"},
		{"LISTEN=:8000 UPSTREAM=http://localhost:8000/v1", "the proxy itself"},
		{"LISTEN=10.1.2.3:8000 UPSTREAM=http://10.1.2.3:8000/v1", "the proxy itself"},
		{"LISTEN=10.1.2.3:8000 UPSTREAM=http://localhost:8000/v1", ""},
		{"LISTEN=:8000 UPSTREAM=http://engine:8000/v1", ""},
		{"LISTEN=127.0.0.1:0 UPSTREAM=http://127.0.0.1/v1", ""},
		{"TLS_CERT=config_test.go", "go together"},
		{"TLS_CERT=config_test.go TLS_KEY=config_test.go", "PEM"},
		{"HIT_THRESHOLD=0.8 ROUTE_THRESHOLD=0.8", "is not below"},
		{"HIT_THRESHOLD=0.8 ROUTE_THRESHOLD=0.7", ""},
		{"STORE=redis://h REDIS_TLS=" + tls, "REPRISE_REDIS_TLS=" + tls + " (environment) is for TLS, and REPRISE_STORE=redis://h (environment) is without it"},
		{"STORE=rediss://h REDIS_TLS=" + tls, ""},
		{"REDIS_TLS=" + tls, ""}, // idle
		{"STORE=redis://h REDIS_SENTINEL_PASSWORD=p", "is for sentinels, and REPRISE_STORE=redis://h (environment) has none"},
		{"STORE=redis-sentinel://h/m REDIS_SENTINEL_PASSWORD=p", ""},
	} {
		var env []string
		for kv := range strings.FieldsSeq(c.env) {
			env = append(env, Prefix+kv)
		}
		_, err := load(t, env)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.env, err, c.want)
		}
	}
}

func TestGates(t *testing.T) {
	own := embed.Thresholds{Hit: 0.97, Route: 0.65, Edge: 0.45}
	c, err := load(t, []string{"REPRISE_HIT_THRESHOLD=0.9"})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := c.Gates(own); err != nil || g != (embed.Thresholds{Hit: 0.9, Route: 0.65, Edge: 0.45}) {
		t.Errorf("got %+v, %v", g, err)
	}
	if c, err = load(t, []string{"REPRISE_HIT_THRESHOLD=0.6"}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Gates(own)
	if !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), "REPRISE_ROUTE_THRESHOLD=0.65 (embedder) is not below REPRISE_HIT_THRESHOLD=0.6 (environment)") {
		t.Errorf("got %v", err)
	}
}

func TestFlagWinsOverEnvironment(t *testing.T) {
	c, err := load(t, []string{"REPRISE_MODE=off", "REPRISE_LOG_PROMPTS=false", "REPRISE_POLICY="}, "--mode=exact", "--log-prompts")
	if err != nil {
		t.Fatal(err)
	}
	if c.Mode != "exact" || c.Source("MODE") != "flag" || !c.LogPrompts || c.Source("POLICY") != "default" {
		t.Errorf("mode %q from %s, prompts %v, policy from %s", c.Mode, c.Source("MODE"), c.LogPrompts, c.Source("POLICY"))
	}
}

func TestForeignNames(t *testing.T) {
	if _, err := load(t, []string{"REPRISE_TEST_REQUIRE=node", "REPRISE_DATA=dir", "PATH=/bin", "REPRISE=x"}); err != nil {
		t.Error(err)
	}
}

// TestDemoIgnoresServe: the demo runs in an environment made for serve.
func TestDemoIgnoresServe(t *testing.T) {
	l := NewLoader(true)
	l.Override("STORE", "memory")
	c, err := l.Load([]string{"REPRISE_UPSTREAM=nonsense", "REPRISE_TLS_CERT=/no/such", "REPRISE_UPSTREAM_KEY=k"})
	if err != nil || c.Store != place("memory") || c.UpstreamKey != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, empty, large := write("good", "sesame-open\n"), write("empty", "\n"), write("large", strings.Repeat("x", maxSecret+1))
	for _, c := range []struct {
		env, arg string
		want     string // the token, or part of the error
	}{
		{"ADMIN_TOKEN_FILE=" + good, "", "sesame-open"},
		{"ADMIN_TOKEN_FILE=" + good, "--admin-token=from-the-flag", "from-the-flag"},
		{"ADMIN_TOKEN=from-environment", "--admin-token-file=" + good, "sesame-open"},
		{"ADMIN_TOKEN=from-environment ADMIN_TOKEN_FILE=" + good, "", "REPRISE_ADMIN_TOKEN and REPRISE_ADMIN_TOKEN_FILE are both set"},
		{"ADMIN_TOKEN_FILE=" + empty, "", "the file is empty"},
		{"ADMIN_TOKEN_FILE=" + large, "", "larger than a secret"},
		{"ADMIN_TOKEN_FILE=" + dir, "", "is a directory"},
		{"ADMIN_TOKEN_FILE=" + dir + "/none", "", "/none (environment): no such file"},
		{"MODE_FILE=" + good, "", "REPRISE_MODE_FILE (environment): there is no such setting"},
	} {
		var env, args []string
		for kv := range strings.FieldsSeq(c.env) {
			env = append(env, Prefix+kv)
		}
		if c.arg != "" {
			args = append(args, c.arg)
		}
		cfg, err := load(t, env, args...)
		if err == nil && cfg.AdminToken != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.env, c.arg, err, c.want)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	c, err := load(t, []string{"REPRISE_ADMIN_TOKEN=sesame-open", "REPRISE_UPSTREAM_KEY=sk-sesame", "REPRISE_REDIS_PASSWORD=sesame", "REPRISE_SECRET=sesame-sesame-sesame",
		"REPRISE_STORE=redis-sentinel://me:se/same:sesame@a:1,b:2/main"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range c.Effective() {
		if strings.Contains(v.Value, "sesame") {
			t.Errorf("%s is shown", v.Name)
		}
	}
	for v, want := range map[string]string{"redis://sesame@h": "redis://:xxxxx@h", "redis://:sesame@h:1/2": "redis://:xxxxx@h:1/2", "rediss-cluster://me:sesame@a:1,b:2": "rediss-cluster://me:xxxxx@a:1,b:2",
		"file:a@b": "file:a@b", "redis://h/1": "redis://h/1", "https://h/v1/chat/completions?api-key=sesame": "https://h/v1/chat/completions?xxxxx",
		"azure://me:sesame@h?a=b": "azure://me:xxxxx@h?xxxxx", "https://h/v1?user=a@b&key=sesame": "https://xxxxx", "redis://:se?same@h": "redis://xxxxx"} {
		if got := withoutPassword(v); got != want {
			t.Errorf("%s is shown as %s", v, got)
		}
	}
	if _, err = load(t, []string{"REPRISE_ADMIN_TOKEN=sesame"}); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("got %v, want an error without the token", err)
	}
}

// TestTable checks that every row has a unique name, a default that is allowed, and help texts.
func TestTable(t *testing.T) {
	c := &Config{}
	seen := map[string]bool{}
	for _, s := range NewLoader(false).settings(c) {
		if seen[s.Name] || s.Help == "" || s.Allowed == "" || strings.ToUpper(s.Name) != s.Name {
			t.Errorf("row %+v", s)
		}
		seen[s.Name] = true
		if s.Default == "" {
			continue
		}
		if err := s.parse(s.Default); err != nil {
			t.Errorf("%s: default %q: %v", s.Name, s.Default, err)
		}
	}
	for name := range strings.FieldsSeq("LISTEN ADMIN_LISTEN ADMIN_TOKEN TLS_CERT TLS_KEY UPSTREAM UPSTREAM_KEY MODE HIT_THRESHOLD ROUTE_THRESHOLD " +
		"EDGE_THRESHOLD POLICY CAPACITY_ENTRIES CAPACITY_BYTES TTL STALE_IF_ERROR EMBEDDER STORE TENANT_FROM REDIS_PASSWORD SECRET") {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if len(seen) > 50 {
		t.Errorf("%d settings, and an operator reads 50 at most", len(seen))
	}
}

// FuzzValues: no value of any setting causes a panic, and every accepted one is within its range.
func FuzzValues(f *testing.F) {
	for _, v := range []string{"1", "-1", "1GiB", "30d", "http://h/v1", "a=http://h", "file:x", "header:X", "true", "NaN", "1e309", "d", "KiB"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		c := &Config{}
		for _, s := range NewLoader(false).settings(c) {
			if !slices.Contains([]string{"TLS_CERT", "TLS_KEY", "REDIS_TLS"}, s.Name) { // they open files
				_ = s.parse(v)
			}
		}
		if !(c.Hit >= 0 && c.Hit <= 1) || c.TTL < 0 || c.CapacityBytes < 0 || c.Drain < 0 {
			t.Errorf("%q: %+v", v, c)
		}
	})
}

// TestSharedIsIdle: settings of a shared store are reported where there is none, without their secrets.
func TestSharedIsIdle(t *testing.T) {
	env := []string{"REPRISE_REDIS_PASSWORD=sesame", "REPRISE_REDIS_PREFIX=team"}
	cfg, err := load(t, env)
	if err != nil {
		t.Fatal(err)
	}
	want := "REPRISE_REDIS_PASSWORD=******** (environment) has no effect: REPRISE_STORE=file:./reprise.db (default) belongs to this process alone|REPRISE_REDIS_PREFIX=team (environment) has"
	if idle := strings.Join(cfg.Idle(), "|"); !strings.HasPrefix(idle, want) {
		t.Error(idle)
	}
	if cfg, err = load(t, append(env, "REPRISE_STORE=redis://h")); err != nil || cfg.Idle() != nil {
		t.Errorf("%v, %v", cfg.Idle(), err)
	}
}

// TestPathsNeedKey: paths that limit nothing, because each client's own credential is passed on, are reported at the start.
func TestPathsNeedKey(t *testing.T) {
	for key, want := range map[string]string{"": "REPRISE_API_PATHS=/v1/files (environment) has no effect: without REPRISE_UPSTREAM_KEY", "sk-1": ""} {
		cfg, err := load(t, []string{"REPRISE_API_PATHS=/v1/files", "REPRISE_UPSTREAM_KEY=" + key})
		if err != nil {
			t.Fatal(err)
		}
		if idle := strings.Join(cfg.Idle(), "|"); !strings.HasPrefix(idle, want) || (idle == "") != (want == "") {
			t.Errorf("with the key %q: %q", key, idle)
		}
	}
}
