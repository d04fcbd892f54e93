package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/internal/built"
	"reprise/internal/enginesim"
)

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// process is a running `reprise serve`.
type process struct {
	*built.Proxy
	t       testing.TB
	passed  int // bytes of the log, by waitFor
	entries float64
}

// start runs serve on free ports and waits for its start line.
func start(t testing.TB, env ...string) *process {
	t.Helper()
	return launch(t, built.Options{Env: env})
}

func launch(t testing.TB, o built.Options) *process {
	t.Helper()
	p := &process{Proxy: built.Launch(t, o), t: t}
	if err := p.AwaitReady(); err != nil {
		t.Fatal(err)
	}
	p.entries, _ = p.waitFor("reprise is ready")["entries"].(float64)
	return p
}

// waitFor returns the next line of the log with a message.
func (p *process) waitFor(msg string) map[string]any {
	p.t.Helper()
	for ended := false; ; time.Sleep(5 * time.Millisecond) {
		log := p.Logs()
		for line := range strings.Lines(log[p.passed:]) {
			p.passed += len(line)
			var found map[string]any
			if json.Unmarshal([]byte(line), &found) == nil && found["msg"] == msg || strings.Contains(line, `msg="`+msg+`"`) {
				return found
			}
		}
		if ended {
			p.t.Fatalf("the log ends without %q:\n%s", msg, log)
		}
		select {
		case <-p.Ended():
			ended = true
		default:
		}
	}
}

// end waits for the process and returns its exit code.
func (p *process) end() int {
	<-p.Ended()
	return p.ProcessState.ExitCode()
}

const question = `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"What is a drain?"}]}`

// do sends one request and reads its answer; header has names and values in turns.
func (p *process) do(method, url, body string, header ...string) built.Reply {
	p.t.Helper()
	r, err := p.Try(context.Background(), method, url, body, header...)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *process) ask(body string) *http.Response {
	p.t.Helper()
	resp, err := http.Post(p.API+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// gatedEngine is an engine whose streams stop after a few tokens until the gate is opened.
func gatedEngine(t *testing.T) (url string, open func()) {
	gate := make(chan struct{})
	open = sync.OnceFunc(func() { close(gate) })
	var mu sync.Mutex
	waits := 0
	engine := enginesim.New(enginesim.Options{Decode: 1000, Sleep: func(ctx context.Context, _ time.Duration) error {
		mu.Lock()
		waits++
		pass := waits <= 3
		mu.Unlock()
		if pass {
			return nil
		}
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	srv := httptest.NewServer(engine)
	t.Cleanup(func() { open(); srv.Close() })
	return srv.URL + "/v1", open
}

// TestDrain: after SIGTERM readiness fails and new connections are refused. The open stream ends, its answer is stored in the
// file, and the next start serves it.
func TestDrain(t *testing.T) {
	upstream, open := gatedEngine(t)
	env := []string{"REPRISE_UPSTREAM=" + upstream, "REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "answers.db")}
	p := start(t, env...)
	if status, body := p.ready(); status != http.StatusOK {
		t.Errorf("readyz is %d %s", status, body)
	}

	stream := bufio.NewReader(p.ask(strings.Replace(question, "{", `{"stream":true,`, 1)).Body)
	if line, err := stream.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: {") {
		t.Fatalf("stream begins with %q, %v", line, err)
	}
	p.Signal(syscall.SIGTERM)
	p.waitFor("draining")
	for status := 0; status != http.StatusServiceUnavailable; status, _ = p.ready() { // shortly after the line in the log
	}
	for { // the listener closes shortly after too
		fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := fresh.Get(p.API + "/v1/models")
		if err != nil {
			break
		}
		resp.Body.Close()
	}
	open()
	rest, err := io.ReadAll(stream)
	if err != nil || !bytes.Contains(rest, []byte("data: [DONE]")) {
		t.Errorf("the stream was cut: %v, ends with %q", err, rest[max(0, len(rest)-100):])
	}
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d\n%s", code, p.Logs())
	}

	p = start(t, env...)
	if p.entries != 1 {
		t.Errorf("%v entries after the restart, want 1", p.entries)
	}
	if got := p.ask(question).Header.Get("X-Cache"); got != "exact" {
		t.Errorf("after the restart X-Cache is %q, want exact", got)
	}
	p.Signal(syscall.SIGINT)
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d\n%s", code, p.Logs())
	}
}

// TestDrainDelay: until its end readiness fails and requests are answered.
func TestDrainDelay(t *testing.T) {
	p := start(t, "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory", "REPRISE_DRAIN_DELAY=1h")
	p.Signal(syscall.SIGTERM)
	p.waitFor("draining")
	for status := 0; status != http.StatusServiceUnavailable; status, _ = p.ready() { // shortly after the line in the log
	}
	if resp := p.ask(question); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d while it waits", resp.StatusCode)
	}
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", code, cli.ExitInterrupted, p.Logs())
	}

	p = start(t, "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory", "REPRISE_DRAIN_DELAY=10ms")
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d\n%s", code, p.Logs())
	}
}

// TestDrainIsCut: a second signal ends the process at once, and a stream that does not end is cut at the drain timeout.
func TestDrainIsCut(t *testing.T) {
	for timeout, want := range map[string]int{"1h": cli.ExitInterrupted, "50ms": cli.ExitOK} {
		upstream, _ := gatedEngine(t)
		p := start(t, "REPRISE_UPSTREAM="+upstream, "REPRISE_STORE=memory", "REPRISE_DRAIN_TIMEOUT="+timeout)
		stream := bufio.NewReader(p.ask(strings.Replace(question, "{", `{"stream":true,`, 1)).Body)
		if _, err := stream.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		p.Signal(syscall.SIGTERM)
		if p.waitFor("draining"); want == cli.ExitInterrupted {
			p.Signal(syscall.SIGTERM)
		}
		if code := p.end(); code != want || strings.Contains(p.Logs(), "answers were still under way") != (want == cli.ExitOK) {
			t.Errorf("%s: exit %d, want %d\n%s", timeout, code, want, p.Logs())
		}
		if rest, err := io.ReadAll(stream); err == nil {
			t.Errorf("%s: the stream ends as if it were complete: %q", timeout, rest)
		}
	}
}

// TestAdminConfig: the settings in force can be read, with their sources and without secrets.
func TestAdminConfig(t *testing.T) {
	p := start(t, "REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:9/v1", "REPRISE_UPSTREAM_KEY=sk-sesame", "REPRISE_HIT_THRESHOLD=0.99")
	body := p.get("/admin/config")
	var values []struct{ Name, Value, Source string }
	if err := json.Unmarshal([]byte(body), &values); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	got := map[string]string{}
	for _, v := range values {
		got[v.Name] = v.Value + " " + v.Source
	}
	for name, want := range map[string]string{"REPRISE_HIT_THRESHOLD": "0.99 environment", "REPRISE_STORE": "memory environment",
		"REPRISE_UPSTREAM_KEY": "******** environment", "REPRISE_MODE": "semantic default", "REPRISE_LISTEN": "127.0.0.1:0 environment"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if !strings.HasSuffix(got["REPRISE_ROUTE_THRESHOLD"], " embedder") || strings.Contains(body, "sesame") {
		t.Errorf("got %s", body)
	}
	p.Signal(syscall.SIGTERM)
	if code := p.end(); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
}

// TestStoreInUse: the error of a second process on a file names the file and the setting to change.
func TestStoreInUse(t *testing.T) {
	place := "file:" + filepath.Join(t.TempDir(), "a.db")
	start(t, "REPRISE_STORE="+place)
	_, talk, code := run(nil, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", place)
	if code != cli.ExitFailed || !strings.Contains(talk, "a.db") || !strings.Contains(talk, "another process") || !strings.Contains(talk, "REPRISE_STORE") {
		t.Errorf("exit %d: %s", code, talk)
	}
}

// demoProcess runs the demo until its output has a line with the text until. It returns the reader of the rest.
func demoProcess(t *testing.T, until string, args ...string) (cmd *exec.Cmd, output *bufio.Reader, before string) {
	t.Helper()
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, path, slices.Concat([]string{"demo"}, free, args)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	output = bufio.NewReader(out)
	for !strings.Contains(before, until) {
		line, err := output.ReadString('\n')
		if before += line; err != nil {
			t.Fatalf("no %q in\n%s", until, before)
		}
	}
	return cmd, output, before
}

// TestDemoInterrupted: Ctrl-C ends the demo with the summary of what was played.
func TestDemoInterrupted(t *testing.T) {
	cmd, output, _ := demoProcess(t, "reprise demo: clients", "--requests", "1000000", "--json")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(output)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted || !bytes.Contains(rest, []byte(`"requests":`)) {
		t.Errorf("exit %d: %s", code, rest)
	}
}

// TestDemoStaysUp: the command that it prints is an exact hit.
func TestDemoStaysUp(t *testing.T) {
	cmd, output, before := demoProcess(t, "/admin/topics", "--requests", "40")
	url := between(t, before, "curl -si ", " -H")
	body := between(t, before, "-d '", "'")
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("X-Cache"); got != "exact" {
		t.Errorf("%s: X-Cache is %q, want exact", body, got)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(output)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, rest)
	}
}

func between(t *testing.T, s, after, before string) string {
	t.Helper()
	_, rest, ok := strings.Cut(s, after)
	part, _, found := strings.Cut(rest, before)
	if !ok || !found {
		t.Fatalf("no text between %q and %q in\n%s", after, before, s)
	}
	return part
}
