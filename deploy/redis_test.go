package deploy_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	dir, address := t.TempDir(), freePort(t)
	secret := filepath.Join(dir, "redis-password")
	if err := os.WriteFile(secret, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
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
	env := []string{"REPRISE_STORE=redis://" + server.Addr, "REPRISE_REDIS_USERNAME=reprise", "REPRISE_REDIS_PASSWORD=of-the-cache", "REPRISE_UPSTREAM=" + upstream.URL + "/v1"}
	a, b := serve(t, env...), serve(t, env...)
	asked := func(p proxy) string {
		resp, err := http.Post(p.API+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"one question"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body) // the header says where it came from
		return resp.Header.Get("X-Cache")
	}
	asked(a)
	until(t, "a hit at the other proxy", func() bool { return asked(b) == "exact" })
	purge(t, a.Admin, "")
}
