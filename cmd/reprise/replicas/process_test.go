package replicas_test

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
	"reprise/internal/built"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// life bounds that of a process: a hang fails the test, and nothing is measured.
const life = 8 * time.Minute

// process is a running `reprise serve`.
type process struct {
	*exec.Cmd
	t          testing.TB
	name       string              // the upstream sees it: another one for each process
	api, admin string              // base URLs, without /v1
	ready      chan map[string]any // the line of the log that says so
	ended      chan struct{}
	gone       atomic.Bool // the test has killed it

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// launch runs serve on free ports with these settings. It is killed after the test, and the test fails if the process has had a data race
// or a panic.
func launch(t testing.TB, name string, env ...string) *process {
	t.Helper()
	path, err := built.AsTests()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), life)
	p := &process{Cmd: exec.CommandContext(ctx, path, "serve"), t: t, name: name, ended: make(chan struct{}), ready: make(chan map[string]any, 1)}
	p.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	p.Env = append(p.Env, "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json", "REPRISE_HEADER_TIMEOUT=1m",
		"REPRISE_MAX_ERROR_RATE=0") // nothing is explored: no two answers of the engine are alike, and what is compared would prove wrong
	p.Env = append(p.Env, env...)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go p.readLog(stderr)
	t.Cleanup(func() { p.kill(); cancel(); p.sound() })
	return p
}

// awaitReady waits until the process serves, and returns its log as an error where it ends before.
func (p *process) awaitReady() error {
	select {
	case line := <-p.ready:
		p.api, _ = line["api"].(string)
		p.admin, _ = line["admin"].(string)
		return nil
	case <-p.ended:
		return fmt.Errorf("the program ended at its start:\n%s", p.logs())
	}
}

// readLog collects the log until the process ends, and passes on the line that says that it is ready.
func (p *process) readLog(stderr io.Reader) {
	defer close(p.ended)
	for lines := bufio.NewReader(stderr); ; {
		text, err := lines.ReadBytes('\n')
		p.mu.Lock()
		p.log.Write(text)
		p.mu.Unlock()
		var line map[string]any
		if json.Unmarshal(text, &line) == nil && line["msg"] == "reprise is ready" {
			p.ready <- line
		}
		if err != nil {
			break
		}
	}
	_ = p.Wait() // the exit code is in ProcessState
}

// logs is the log so far.
func (p *process) logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// sound fails the test if the log has a data race, a panic or a prompt.
func (p *process) sound() {
	log := p.logs()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:", "canary"} {
		if at := strings.Index(log, bad); at >= 0 {
			p.t.Errorf("the log of %s has %q: %.4000s", p.name, bad, log[max(0, at-500):])
		}
	}
}

// kill ends the process as a crash would, and waits for its end.
func (p *process) kill() {
	p.gone.Store(true)
	p.Process.Kill()
	<-p.ended
}

// freeze stops the process until thaw.
func (p *process) freeze() { p.signal(syscall.SIGSTOP) }

func (p *process) thaw() { p.signal(syscall.SIGCONT) }

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// metric is the value of a metric without labels, or with exactly these: name{label="value"}.
func (p *process) metric(name string) (value float64, ok bool) {
	p.t.Helper()
	r, err := p.try(context.Background(), http.MethodGet, p.admin+"/metrics", "")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(r.body) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				p.t.Error(err)
			}
			return v, true
		}
	}
	return 0, false
}

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// client keeps connections open for all clients of a test at once. It waits for a process that a test has stopped.
var client = &http.Client{Timeout: life, Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}

// try sends one request; header has names and values in turns. An error comes with what was read before it.
func (p *process) try(ctx context.Context, method, url, body string, header ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(got)}, err
}

// limit is how long a test waits for what another process does in its own time. It measures nothing: a machine that is busy with other tests, or
// a sentinel that was stopped, which then does nothing for half a minute, must not reach it.
const limit = 3 * time.Minute

// eventually waits until ok holds. A test that has failed already does not wait for long.
func eventually(t testing.TB, what string, ok func() bool) bool {
	t.Helper()
	for begin := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if took := time.Since(begin); took > limit || t.Failed() && took > limit/6 {
			t.Errorf("this did not happen within %v: %s", took.Round(time.Second), what)
			return false
		}
	}
	return true
}
