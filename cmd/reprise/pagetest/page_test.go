// Package pagetest opens the operators' page in a real browser: the program as a process, with and without requests behind it, and Chromium
// driven by puppeteer-core. REPRISE_PAGE_SHOTS=DIR keeps screenshots.
package pagetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/built"
	"reprise/internal/enginesim"
	"reprise/internal/needs"
)

// longest is how long one script may take: it waits for a browser on a machine that may be busy, and nothing is measured.
const longest = 8 * time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// process is a running `reprise serve`.
type process struct{ *built.Proxy }

// serve runs the program until the end of the test, in memory where env names no store.
func serve(t *testing.T, env ...string) *process {
	t.Helper()
	return &process{built.Start(t, append([]string{"REPRISE_STORE=memory", built.Granted(t)}, env...)...)}
}

// engine answers every model.
func engine(t *testing.T) string {
	s := httptest.NewServer(enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}}))
	t.Cleanup(s.Close)
	return "REPRISE_UPSTREAM=" + s.URL + "/v1"
}

// ask sends a prompt, and reads the answer.
func (p *process) ask(t *testing.T, model, prompt string, header ...string) {
	p.send(t, map[string]any{"model": model, "messages": []any{map[string]string{"role": "user", "content": prompt}}}, header...)
}

// send sends a request, and reads the answer.
func (p *process) send(t *testing.T, request any, header ...string) {
	body, _ := json.Marshal(request)
	req, err := http.NewRequest("POST", p.API+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// hostile is what a client may send where a page could take it for something else.
const hostile = "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>\u202e\u0007${1}{{2}}"

// fill makes requests with every result that needs no fault: exact, by meaning, miss, bypass and error.
func (p *process) fill(t *testing.T) {
	for i := range 12 {
		p.ask(t, "gpt-4o-mini", fmt.Sprintf("How do I reset my password in release %d?", i%7))
		p.ask(t, "gpt-4o-mini", fmt.Sprintf("Hello, how do I reset my password in release %d? Thanks!", i%7))
		p.ask(t, "llama-3", "Where can I download my invoices?")
		p.ask(t, "llama-3", "Where can I download my invoices?", "Cache-Control", "no-store")
	}
	p.ask(t, hostile, hostile)
	p.ask(t, "m", "x", "X-Reprise-Mode", "nonsense")
	p.ask(t, "m", "x", "Authorization", "Bearer another")
	p.ask(t, "m", strings.Repeat(hostile, 100))
	p.ask(t, "m", fmt.Sprint("Something else each time: ", time.Now()))
}

// script runs node/NAME.mjs, whose lines of output are checks: their names, and what is wrong, "" if nothing is. again is called at each line
// that asks for something, and its answer is the script's input.
func script(t *testing.T, name string, config map[string]any, again func(ask string) string) {
	t.Helper()
	needs.Program(t, "node")
	config["chromium"] = needs.Program(t, "chromium", "chromium-browser", "google-chrome")
	for _, pkg := range []string{"puppeteer-core", "axe-core"} {
		if _, err := os.Stat(filepath.Join("node", "node_modules", pkg, "package.json")); err != nil {
			needs.Missing(t, "chromium", "node_modules not installed: run npm ci --prefix cmd/reprise/pagetest/node")
		}
	}
	config["shots"] = os.Getenv("REPRISE_PAGE_SHOTS")
	given, _ := json.Marshal(config)
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join("node", name+".mjs"), string(given))
	in, out := pipes(t, cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	checks := 0
	lines := bufio.NewScanner(out)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var line struct {
			Check, Wrong, Ask string
			Took              int // milliseconds
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("%s: %s", err, lines.Text())
			continue
		}
		if line.Ask != "" {
			fmt.Fprintln(in, again(line.Ask))
			continue
		}
		t.Logf("%5d ms  %s", line.Took, line.Check)
		if checks++; line.Wrong != "" {
			t.Errorf("%s: %s", line.Check, line.Wrong)
		}
	}
	if err := cmd.Wait(); err != nil || checks == 0 {
		t.Fatalf("%s: %v, after %d checks\n%s", name, err, checks, &stderr)
	}
	t.Logf("%s: %d checks", name, checks)
}

func pipes(t *testing.T, cmd *exec.Cmd) (in io.Writer, out io.Reader) {
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// TestViews opens every view, with data and without, light and dark, on a phone, a desk and a wall: no fault in the console, no serious
// finding of axe-core, no request to another host, nothing wider than the window.
func TestViews(t *testing.T) {
	full, empty := serve(t, engine(t), "REPRISE_TENANT_FROM=none"), serve(t, engine(t))
	full.fill(t)
	script(t, "views", map[string]any{"sites": map[string]string{"full": full.Admin, "empty": empty.Admin}}, nil)
}

// TestMisses opens the view of misses with examples, where prompts may be shown and where not: what is in them, and the buttons that copy a setting.
func TestMisses(t *testing.T) {
	env := []string{engine(t), "REPRISE_TENANT_FROM=none", "REPRISE_IGNORE_FIELDS=metadata"}
	sites := map[string]string{}
	for kind, may := range map[string]string{"prompts": "true", "lengths": "false"} {
		p := serve(t, append(env, "REPRISE_LOG_PROMPTS="+may)...)
		p.fill(t)
		for i := range 5 {
			p.send(t, map[string]any{"model": "llama-3", "user": fmt.Sprint("u-", i), "messages": []any{map[string]string{"role": "user", "content": "Where can I download my invoices?"}}})
			p.send(t, map[string]any{"model": "llama-3", "messages": []any{map[string]string{"role": "user", "content": strings.Repeat("A long text. ", 200) + fmt.Sprint(i)}}})
			system := fmt.Sprintf("You are the agent of Acme. Today is 2026-11-%d.", 10+i)
			p.send(t, map[string]any{"model": "llama-3", "messages": []any{map[string]string{"role": "system", "content": system}, map[string]string{"role": "user", "content": "Where is my parcel?"}}})
		}
		p.ask(t, hostile, hostile+kind)
		sites[kind] = p.Admin
	}
	script(t, "misses", map[string]any{"sites": sites}, nil)
}

// TestUse goes through the page with the keyboard alone; looks for requests; and runs each command that the page shows.
func TestUse(t *testing.T) {
	p := serve(t, engine(t), "REPRISE_TENANT_FROM=none")
	p.fill(t)
	script(t, "use", map[string]any{"site": p.Admin}, func(ask string) string {
		if command, ok := strings.CutPrefix(ask, "run "); ok {
			return run(t, command)
		}
		p.fill(t)
		return "done"
	})
}

// run runs a command of the page, and returns the begin of its output.
func run(t *testing.T, command string) string {
	needs.Program(t, "curl")
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl ", "curl --fail-with-body --max-time 5 ", 1)+" | head -c 60 | tr -d '\\n'").CombinedOutput()
	return fmt.Sprintf("%v %s", err, out)
}

// TestToken: with an admin token the page asks for it, and shows nothing before.
func TestToken(t *testing.T) {
	p := serve(t, engine(t), "REPRISE_ADMIN_TOKEN=s3cret-token")
	script(t, "token", map[string]any{"site": p.Admin, "token": "s3cret-token"}, nil)
}

// TestRestart: an open page follows a proxy that is gone and comes back.
func TestRestart(t *testing.T) {
	upstream := engine(t)
	p := serve(t, upstream)
	script(t, "restart", map[string]any{"site": p.Admin}, func(ask string) string {
		switch ask {
		case "kill":
			p.Kill()
		case "start":
			p = serve(t, upstream, "REPRISE_ADMIN_LISTEN="+strings.TrimPrefix(p.Admin, "http://"))
		}
		return "done"
	})
}

// TestWhatIf opens the view of other settings behind enough requests for curves: figures, keyboard, and the buttons that copy a variable.
func TestWhatIf(t *testing.T) {
	p := serve(t, engine(t), "REPRISE_TENANT_FROM=none", "REPRISE_CAPACITY_ENTRIES=60")
	for i := range 2400 {
		subject := min(i*7919%173, i*104729%173, i%173)
		prompt := fmt.Sprintf("How do I reset my password in release %d?", subject)
		if i%9 == 0 {
			prompt = fmt.Sprintf("Please tell me, how do I reset my password in release %d", subject)
		}
		p.ask(t, "m", prompt)
	}
	script(t, "policy", map[string]any{"site": p.Admin}, nil)
}

// TestReview: verdicts, purges and what takes them back, with the mouse and the keyboard.
func TestReview(t *testing.T) {
	p := serve(t, engine(t), "REPRISE_TENANT_FROM=none", "REPRISE_LOG_PROMPTS=true")
	for i := range 16 {
		p.ask(t, "gpt-4o", fmt.Sprintf("What does plan %d cost?", i))
		p.ask(t, "gpt-4o", fmt.Sprintf("Hi, what does plan %d cost", i))
	}
	p.fill(t)
	p.ask(t, "m", "How do I reset my "+hostile+" password?")
	p.ask(t, "m", "Please tell me, how do I reset my "+hostile+" password?")
	p.ask(t, "m", "How do I reset my password?")
	p.ask(t, "m", "How do I reset my old password?")
	more := 0
	script(t, "review", map[string]any{"site": p.Admin}, func(string) string {
		more++
		p.ask(t, "m", fmt.Sprintf("Hello, how do I reset my password? Thanks%s", strings.Repeat("!", more)))
		return "done"
	})
}
