package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/internal/enginesim"
)

// TestDoctorBesideAnInstance: a running proxy is recognised, and goes on as before: it keeps its file, and stores answers.
func TestDoctorBesideAnInstance(t *testing.T) {
	sim := httptest.NewServer(enginesim.New(enginesim.Options{Models: []string{"llama"}}))
	defer sim.Close()
	engine := sim.URL + "/v1"
	path := "file:" + filepath.Join(t.TempDir(), "r.db")
	p := start(t, "REPRISE_UPSTREAM="+engine, "REPRISE_STORE="+path, "REPRISE_LOG_LEVEL=debug")
	environ := []string{"REPRISE_UPSTREAM=" + engine, "REPRISE_STORE=" + path, "REPRISE_MEMORY_LIMIT=1GiB",
		"REPRISE_LISTEN=" + strings.TrimPrefix(p.API, "http://"), "REPRISE_ADMIN_LISTEN=" + strings.TrimPrefix(p.Admin, "http://")}
	ask := func(want string) {
		t.Helper()
		resp, err := http.Post(p.API+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"llama","messages":[{"role":"user","content":"How are you?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got := resp.Header.Get("X-Cache"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	ask("miss")
	for range 3 {
		out, talk, code := run(environ, "doctor")
		for _, want := range []string{"listener.api            127.0.0.1:", "is that of the", "in use; it checked when it was opened", "says: ready", "oldest change is"} {
			if code != cli.ExitOK || talk != "" || !strings.Contains(out, want) {
				t.Fatalf("exit %d, %q, lacks %q:\n%s", code, talk, want, out)
			}
		}
	}
	ask("exact")
	if out, _, code := run([]string{"REPRISE_UPSTREAM=" + p.Admin, "REPRISE_STORE=memory", "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0"}, "doctor"); code != 2 || !strings.Contains(out, "is the admin listener of a") {
		t.Errorf("the admin listener as the upstream: exit %d\n%s", code, out)
	}
	if n := p.metric(`reprise_requests_total\{endpoint="other",result="error"\}`); n != 0 {
		t.Errorf("the doctor was counted %g times", n)
	}
	p.Signal(syscall.SIGTERM)
	p.end()
	if text := p.Logs(); strings.Contains(text, "method_not_allowed") || strings.Contains(text, "OPTIONS") {
		t.Errorf("the doctor was logged: %s", text)
	}
	if out, talk, code := run(environ, "doctor"); code != cli.ExitOK || !strings.Contains(out, "records check") || !strings.Contains(out, "no instance runs at") {
		t.Errorf("afterwards: exit %d, %q\n%s", code, talk, out)
	}
}

// TestDoctorOfTheDemo: nothing is wrong with the built-in engines, nor with the models that their list has.
func TestDoctorOfTheDemo(t *testing.T) {
	api, _ := startDemo(t)
	for upstream, want := range map[string]string{api + "/v1": "one token of gpt-4o-mini", "a=" + api + "/v1;models=gpt-4o": "one token of gpt-4o in"} {
		out, talk, code := run([]string{"REPRISE_UPSTREAM=" + upstream, "REPRISE_STORE=memory", "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_MEMORY_LIMIT=1GiB"}, "doctor")
		if code != cli.ExitOK || talk != "" || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %q, lacks %q:\n%s", upstream, code, talk, want, out)
		}
	}
}

// TestDoctorExitCodes: all well, warnings, errors, and a flag that does not exist.
func TestDoctorExitCodes(t *testing.T) {
	sim := httptest.NewServer(enginesim.New(enginesim.Options{Models: []string{"llama"}}))
	defer sim.Close()
	engine := sim.URL + "/v1"
	for setting, want := range map[string]int{"": 0, "REPRISE_API_PATHS=/v1/files": 1, "REPRISE_TTL=600d": 2} {
		out, talk, code := run([]string{"REPRISE_UPSTREAM=" + engine, "REPRISE_STORE=memory", "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_MEMORY_LIMIT=1GiB", setting}, "doctor")
		if code != want || (talk == "") != (want == 0) {
			t.Errorf("%q: exit %d, want %d; %q\n%s", setting, code, want, talk, out)
		}
	}
	if _, talk, code := run(nil, "doctor", "--fixx"); code != cli.ExitUsage || !strings.Contains(talk, "--fix") {
		t.Errorf("exit %d, %q", code, talk)
	}
}
