package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/internal/built"
	"reprise/internal/enginesim"
	"reprise/internal/redistest"
)

// refused starts serve with settings that cannot work, and returns what it prints. A start that hangs fails the test.
func refused(t *testing.T, env ...string) string {
	t.Helper()
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitBadConfig {
		t.Errorf("%v: exit %d, want %d:\n%s", env, code, exitBadConfig, out)
	}
	return string(out)
}

// engine is an upstream that counts its calls.
type engine struct {
	setting string // REPRISE_UPSTREAM=URL
	calls   chan struct{}
}

func newEngine(t testing.TB) *engine {
	e := &engine{calls: make(chan struct{}, 1000)}
	sim := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.calls <- struct{}{}
		sim.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	e.setting = "REPRISE_UPSTREAM=" + srv.URL + "/v1"
	return e
}

// cached asks, with a credential where one is given, and returns X-Cache, when the whole answer has been read.
func (p *process) cached(body string, credential ...string) string {
	p.t.Helper()
	var header []string
	if len(credential) > 0 {
		header = []string{"Authorization", "Bearer " + credential[0]}
	}
	r := p.do(http.MethodPost, p.API+"/v1/chat/completions", body, header...)
	if r.Status != http.StatusOK {
		p.t.Fatalf("%d %s", r.Status, r.Body)
	}
	return r.Cache()
}

// has reports whether p has the answer, without asking the upstream.
func (p *process) has(body string) bool { return p.finds(body) == "exact" }

// finds returns X-Cache of a request that asks no upstream.
func (p *process) finds(body string) string {
	p.t.Helper()
	return p.do(http.MethodPost, p.API+"/v1/chat/completions", body, "Cache-Control", "only-if-cached").Cache()
}

// shares asks one proxy, and waits until another one has the answer.
func shares(t *testing.T, a, b *process, body string) {
	t.Helper()
	a.awaitShared()
	a.cached(body)
	built.Until(t, "the answer at the other proxy", func() bool { return b.has(body) })
}

// awaitShared waits until p takes part in the shared store. On a busy machine it may have started without it, and what it keeps before that is
// not shared.
func (p *process) awaitShared() {
	p.t.Helper()
	built.Until(p.t, "the log to be followed", func() bool { _, body := p.ready(); return strings.Contains(body, "redis: shared") })
}

// prompt is a request for a text of several words.
func prompt(text string) string {
	return fmt.Sprintf(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":%q}]}`, text)
}

// ready is the body of /readyz.
func (p *process) ready() (status int, body string) {
	p.t.Helper()
	r := p.do(http.MethodGet, p.Admin+"/readyz", "")
	return r.Status, r.Body
}

func (p *process) stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitOK {
		p.t.Errorf("exit %d\n%s", code, p.Logs())
	}
}

// TestRedisRefuses: what is wrong with a shared store ends the start, with the setting and what is allowed, and without a password.
func TestRedisRefuses(t *testing.T) {
	server := redistest.Start(t, redistest.Options{Password: "right-password", ACL: []string{"reader on >hunter2 ~* +@read"}})
	host := server.Addr
	at := func(rest string) string { return "REPRISE_STORE=redis://:right-password@" + host + rest }
	for _, c := range []struct {
		name string
		env  []string
		want []string // parts of the message
	}{
		{"port", []string{"REPRISE_STORE=redis://someone:hunter2@localhost:port"}, []string{"REPRISE_STORE="}},
		{"database that is no number", []string{"REPRISE_STORE=redis://localhost:1/first"}, []string{"REPRISE_STORE="}},
		{"option", []string{"REPRISE_STORE=redis://localhost:1?protocol=3"}, []string{"REPRISE_STORE="}},
		{"sentinel without a master", []string{"REPRISE_STORE=redis-sentinel://localhost:1"}, []string{"REPRISE_STORE="}},
		{"no such host", []string{"REPRISE_STORE=redis://no-such-host.invalid"}, []string{"REPRISE_STORE=", "no-such-host.invalid"}},
		{"no password", []string{"REPRISE_STORE=redis://" + host}, []string{"REPRISE_REDIS_PASSWORD"}},
		{"wrong password", []string{"REPRISE_STORE=redis://:hunter2@" + host}, []string{"REPRISE_REDIS_PASSWORD"}},
		{"wrong password of its own", []string{"REPRISE_STORE=redis://" + host, "REPRISE_REDIS_PASSWORD=hunter2"}, []string{"REPRISE_REDIS_PASSWORD"}},
		{"user without rights", []string{"REPRISE_STORE=redis://reader:hunter2@" + host}, []string{"REPRISE_"}},
		{"database", []string{at("/99")}, []string{"REPRISE_STORE=", "99"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			talk := refused(t, c.env...)
			for _, part := range c.want {
				if !strings.Contains(talk, part) {
					t.Errorf("no %q in\n%s", part, talk)
				}
			}
			if strings.Contains(talk, "hunter2") || strings.Contains(talk, "right-password") {
				t.Errorf("a password is shown:\n%s", talk)
			}
		})
	}
}

// TestRedisDiffers: a proxy whose secret or data are not those of the store does not start; another prefix is another store.
func TestRedisDiffers(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, up.setting, "REPRISE_SECRET=a-secret-of-this-cache"}
	a := start(t, env...)
	with := func(more ...string) []string { return slices.Concat(env, more) }
	if talk := refused(t, with("REPRISE_SECRET=another-secret-altogether")...); !strings.Contains(talk, "REPRISE_SECRET") || strings.Contains(talk, "altogether") {
		t.Error(talk)
	}
	b := start(t, with("REPRISE_REDIS_PREFIX=other", "REPRISE_SECRET=another-secret-altogether")...)
	a.cached(question)
	if got := b.cached(question); got != "miss" {
		t.Errorf("with another prefix: %s", got)
	}
	server.Must("HSET", "{reprise}:head", "schema", "99")
	if talk := refused(t, env...); !strings.Contains(talk, "REPRISE_REDIS_PREFIX") {
		t.Error(talk)
	}
	a.stop()
	b.stop()
}

// TestRedisDoesNotFit: a server that evicts by itself, or has less memory than the capacity, is reported at the start.
func TestRedisDoesNotFit(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	server.Must("CONFIG", "SET", "maxmemory", "500mb")
	for _, c := range []struct {
		eviction, capacity string
		evicts, small      bool
	}{
		{"noeviction", "300MiB", false, false},
		{"allkeys-lru", "300MiB", true, false},
		{"noeviction", "600MiB", false, true},
	} {
		server.Must("CONFIG", "SET", "maxmemory-policy", c.eviction)
		a := start(t, "REPRISE_STORE=redis://"+server.Addr, "REPRISE_CAPACITY_BYTES="+c.capacity, up.setting)
		talk := a.Logs()
		if strings.Contains(talk, "may evict any key") != c.evicts || strings.Contains(talk, "is full before REPRISE_CAPACITY_BYTES") != c.small {
			t.Errorf("%s, %s:\n%s", c.eviction, c.capacity, talk)
		}
		a.stop()
	}
}

// TestRedisEmptied: the log says it where Redis was emptied, which no state of the proxy shows.
func TestRedisEmptied(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	a := start(t, "REPRISE_STORE=redis://"+server.Addr, up.setting)
	a.cached(question)
	built.Until(t, "the answer in Redis", func() bool { return fmt.Sprint(server.Must("XLEN", "{reprise}:log")) != "0" })
	server.Must("FLUSHALL")
	a.waitFor("shared store: the entries are loaded anew")
	a.stop()
}

// TestSharedStatus: the state of the shared store is shown to the operator, without a secret.
func TestSharedStatus(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{Password: "sesame"}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, "REPRISE_REDIS_PASSWORD=sesame", up.setting}
	a, b := start(t, env...), start(t, env...)
	get := func(p *process, path string) string {
		body := p.get(path)
		if strings.Contains(body, "sesame") {
			t.Errorf("%s shows a password: %s", path, body)
		}
		return body
	}
	built.Until(t, "both members", func() bool {
		var state struct{ Members []any }
		return json.Unmarshal([]byte(get(a, "/admin/shared")), &state) == nil && len(state.Members) == 2
	})
	get(a, "/admin/config")
	built.Until(t, "both members in the metrics", func() bool { return strings.Contains(get(b, "/metrics"), "reprise_shared_members 2") })
	server.Must("SET", "{reprise}:keeper", "nobody")
	built.Until(t, "a foreign value in the metrics", func() bool {
		return strings.Contains(get(a, "/metrics")+get(b, "/metrics"), "reprise_shared_unserved_total{reason=\"foreign\"} 1\n")
	})
	a.stop()
	b.stop()
}

// TestRedisHasBothForms: of a stream that has no object, another proxy has both answers, each once.
func TestRedisHasBothForms(t *testing.T) {
	server, calls := redistest.Start(t, redistest.Options{}), make(chan struct{}, 100)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Stream bool }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if r.Method == http.MethodPost {
			calls <- struct{}{}
		}
		if asked.Stream { // without usage, which objects always have
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"role":"assistant","content":"Paris"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"Paris"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	t.Cleanup(up.Close)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, "REPRISE_UPSTREAM=" + up.URL + "/v1"}
	a, b := start(t, env...), start(t, env...)
	b.awaitShared()
	object := prompt("What is the capital of France?")
	stream := strings.TrimSuffix(object, "}") + `,"stream":true}`
	shares(t, a, b, stream)
	shares(t, b, a, object)
	for _, p := range []*process{a, b} {
		for _, body := range []string{object, stream, object} {
			if got := p.cached(body); got != "exact" {
				t.Errorf("%s for %s", got, body)
			}
		}
	}
	if n := len(calls); n != 2 {
		t.Errorf("%d upstream calls", n)
	}
}
