package built

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy is a running `reprise serve`.
type Proxy struct {
	*exec.Cmd
	API, Admin string // base URLs, without /v1, once it is ready

	t     testing.TB
	ready chan map[string]any // the line of the log that says so
	ended chan struct{}

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// life is the time after which a process is killed, so that a hang fails its test with the log. All libraries of a language take several minutes
// with one process, and on a busy machine more than eight.
const life = 18 * time.Minute

// Options say how a process is started.
type Options struct {
	Command []string  // default: the program of this tree, and serve
	Dir     string    // default: the folder of the test
	Log     io.Writer // gets a copy of the log; nil: none does
	Env     []string  // settings
}

// Until waits until ok holds: for what another process does in its own time. Its limit bounds a hang; it is no measure of speed.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout while waiting for %s", what)
		}
	}
}

// Granted is a setting by which every scope is trusted from its first request on, for tests of what follows.
func Granted(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "granted.yaml")
	if err := os.WriteFile(path, []byte("rules:\n  - name: trusted\n    match: {path: \"*\"}\n    trust: granted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "REPRISE_CONFIG=" + path
}

// Start runs serve on free ports with these settings, and waits until it is ready. It is killed after the test.
func Start(t testing.TB, env ...string) *Proxy {
	t.Helper()
	p := Launch(t, Options{Env: env})
	if err := p.AwaitReady(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Launch is Start without waiting. The process is killed after the test, which fails if the log has a data race or a panic.
func Launch(t testing.TB, o Options) *Proxy {
	t.Helper()
	if o.Command == nil {
		path, err := Program()
		if err != nil {
			t.Fatal(err)
		}
		o.Command = []string{path, "serve"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), life)
	p := &Proxy{Cmd: exec.CommandContext(ctx, o.Command[0], o.Command[1:]...), t: t, ready: make(chan map[string]any, 1), ended: make(chan struct{})}
	p.Dir, p.Env = o.Dir, append(cleanEnv(), "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json",
		"REPRISE_CLIENT_TIMEOUT=6m") // a busy machine can keep a client waiting for seconds between its dial and its header
	p.Env = append(p.Env, o.Env...)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.readLog(stderr, o.Log)
	t.Cleanup(func() {
		p.Kill()
		cancel()
		p.sound()
	})
	return p
}

// cleanEnv returns the environment without settings of the program.
func cleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
}

// AwaitReady waits until the process serves, and returns its log as an error if it ends before.
func (p *Proxy) AwaitReady() error {
	select {
	case line := <-p.ready:
		p.API, _ = line["api"].(string)
		p.Admin, _ = line["admin"].(string)
		return nil
	case <-p.ended:
		return fmt.Errorf("the program ended at its start:\n%s", p.Logs())
	}
}

// readyText is the line that says that the process is ready, in a log in the form of text.
var readyText = regexp.MustCompile(`msg="reprise is ready" api=(\S+) admin=(\S+)`)

// readLog collects the log until the process ends, and passes on the line that says that it is ready.
func (p *Proxy) readLog(stderr io.Reader, copies io.Writer) {
	defer close(p.ended)
	for lines := bufio.NewReader(stderr); ; {
		text, err := lines.ReadBytes('\n')
		p.mu.Lock()
		p.log.Write(text)
		p.mu.Unlock()
		if copies != nil {
			copies.Write(text)
		}
		var line map[string]any
		if json.Unmarshal(text, &line) == nil && line["msg"] == "reprise is ready" {
			p.ready <- line
		} else if m := readyText.FindSubmatch(text); m != nil {
			p.ready <- map[string]any{"api": string(m[1]), "admin": string(m[2])}
		}
		if err != nil {
			break
		}
	}
	_ = p.Wait() // the exit code is in ProcessState
}

// Logs returns the log so far.
func (p *Proxy) Logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// sound fails the test if the log has a data race or a panic.
func (p *Proxy) sound() {
	log := p.Logs()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if at := strings.Index(log, bad); at >= 0 {
			p.t.Errorf("the log has %q: %.4000s", bad, log[max(0, at-500):])
		}
	}
}

// Ended returns a channel that is closed when the process has ended.
func (p *Proxy) Ended() <-chan struct{} { return p.ended }

// Kill ends the process as a crash would, and waits for its end.
func (p *Proxy) Kill() {
	p.Process.Kill()
	<-p.ended
}

// Signal sends a signal, which fails the test if the process has ended.
func (p *Proxy) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Stop ends the process as a service manager does, and reports whether it ended by itself with code 0 within the limit.
func (p *Proxy) Stop(limit time.Duration) bool {
	p.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
		return p.ProcessState.ExitCode() == 0
	case <-time.After(limit):
		p.Kill()
		return false
	}
}

// Memory returns the resident memory of the process in KiB, now and at its highest; zeros where /proc has neither.
func (p *Proxy) Memory() (now, highest int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmRSS: %d", &now)
		fmt.Sscanf(line, "VmHWM: %d", &highest)
	}
	return now, highest
}

// Metric returns the value of a metric without labels, or with exactly these: name{label="value"}.
func (p *Proxy) Metric(name string) (value float64, ok bool) {
	r, err := p.Try(context.Background(), http.MethodGet, p.Admin+"/metrics", "")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(r.Body) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return value, err == nil
		}
	}
	return 0, false
}

// Reply is an answer that was read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Cache returns the value of X-Cache: exact, miss, bypass and so on.
func (r Reply) Cache() string { return r.Header.Get("X-Cache") }

// Client follows no redirects and keeps its connections apart from those of other tests' servers.
var Client = &http.Client{Timeout: 8 * time.Minute, Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Try sends one request; header has names and values in turns. An error comes with what was read before it.
func (p *Proxy) Try(ctx context.Context, method, url, body string, header ...string) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := Client.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return Reply{resp.StatusCode, resp.Header, string(got)}, err
}

// Do is Try for a request that must not fail.
func (p *Proxy) Do(method, url, body string, header ...string) Reply {
	p.t.Helper()
	r, err := p.Try(context.Background(), method, url, body, header...)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}
