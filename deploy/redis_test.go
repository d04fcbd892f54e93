package deploy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/internal/built"
	"reprise/internal/needs"
	"reprise/internal/redistest"
)

// redisScript is what the compose file runs in the container of Redis, as its shell sees it.
func redisScript(t *testing.T) string {
	t.Helper()
	_, after, ok := strings.Cut(read(t, "compose.replicas.yaml"), "    command:\n      - sh\n      - -c\n      - |\n")
	script, _, end := strings.Cut(after, "    secrets:")
	if !ok || !end {
		t.Fatal("the compose file has no command of Redis where the test looks for it")
	}
	return strings.ReplaceAll(strings.ReplaceAll(script, "\n        ", "\n"), "$$", "$")
}

// TestComposeRedis starts Redis by the command of the compose file: it asks for the password of the secret, evicts nothing and writes a log, and
// the process is Redis itself, which gets the signal to stop.
func TestComposeRedis(t *testing.T) {
	shell := needs.Program(t, "sh")
	needs.Program(t, "redis-server")
	cli := needs.Program(t, "redis-cli")
	dir, port := t.TempDir(), strconv.Itoa(redistest.FreePort(t))
	secret := filepath.Join(dir, "redis-password")
	if err := os.WriteFile(secret, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("/run/secrets/redis-password", secret, "--dir /data", "--dir "+dir+" --port "+port).Replace(redisScript(t))
	server := exec.CommandContext(t.Context(), shell, "-c", strings.TrimSpace(script)+"\n")
	log := &strings.Builder{}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ask := func(password string, args ...string) string {
		c := exec.CommandContext(t.Context(), cli, append([]string{"-p", port}, args...)...)
		c.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
		out, _ := c.CombinedOutput() // the text says whether it answers
		return strings.Join(strings.Fields(string(out)), " ")
	}
	until(t, "redis", func() bool { return ask("0123456789abcdef", "ping") == "PONG" })
	if answer := ask("", "get", "x"); !strings.Contains(answer, "NOAUTH") {
		t.Errorf("without a password: %q", answer)
	}
	for setting, want := range map[string]string{"maxmemory-policy": "noeviction", "appendonly": "yes", "maxmemory": "1610612736", "save": ""} {
		if answer := ask("0123456789abcdef", "config", "get", setting); answer != strings.TrimSpace(setting+" "+want) {
			t.Errorf("%q", answer)
		}
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil || !strings.Contains(log.String(), "bye bye") {
		t.Errorf("%v\n%s", err, log)
	}
}

// TestMetricsSeeRedis: the metrics that the alerts of a shared store compare change as the alerts expect, when Redis goes and comes back.
func TestMetricsSeeRedis(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w) }))
	defer upstream.Close()
	server := redistest.Start(t, redistest.Options{AppendOnly: true})
	p := built.Start(t, "REPRISE_STORE=redis://"+server.Addr, "REPRISE_UPSTREAM="+upstream.URL+"/v1")
	is := func(lines ...string) func() bool {
		return func() bool {
			page := metrics(t, p)
			return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(page, "\nreprise_shared_"+line+"\n") })
		}
	}
	healthy := []string{"up 1", "live 1", "keeper 1", "lag_batches 0", "queue_events 0", "queue_purges 0", `queue_dropped_total{kind="insert"} 0`}
	until(t, "a healthy proxy", is(healthy...))
	server.Kill()
	asked(t, p)
	until(t, "a proxy without Redis", is("up 0", "live 0", "keeper 0"))
	if page := metrics(t, p); strings.Contains(page, "\nreprise_shared_queue_events 0\n") {
		t.Error("what was kept without Redis does not wait for it")
	}
	server.Restart()
	until(t, "a healthy proxy again", is(healthy...))
}

func metrics(t *testing.T, p *built.Proxy) string {
	t.Helper()
	resp, err := http.Get(p.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// asked asks one question and returns where the answer came from.
func asked(t *testing.T, p *built.Proxy) string {
	t.Helper()
	resp, err := http.Post(p.API+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"one question"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // the header says it
	return resp.Header.Get("X-Cache")
}

// TestRightsSuffice: a user of Redis with the rights that the READMEs give can do all that the proxies need.
func TestRightsSuffice(t *testing.T) {
	rights := ""
	for _, name := range []string{"README.md", "helm/reprise/README.md"} {
		m := regexp.MustCompile("`(~\\{reprise\\}:\\*[^`]+)`").FindStringSubmatch(read(t, name))
		if m == nil {
			t.Fatalf("%s gives no rights", name)
		}
		if these := strings.Join(strings.Fields(m[1]), " "); rights != "" && rights != these {
			t.Errorf("%s gives %s, and the other one %s", name, these, rights)
		} else {
			rights = these
		}
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w) }))
	defer upstream.Close()
	server := redistest.Start(t, redistest.Options{Password: "of-the-default-user", ACL: []string{"reprise on >of-the-cache " + rights}})
	env := []string{"REPRISE_STORE=redis://reprise@" + server.Addr, "REPRISE_REDIS_PASSWORD=of-the-cache", "REPRISE_UPSTREAM=" + upstream.URL + "/v1"}
	a, b := built.Start(t, env...), built.Start(t, env...)
	asked(t, a)
	until(t, "a hit at the other proxy", func() bool { return asked(t, b) == "exact" })
	purge(t, a.Admin, "")
}
