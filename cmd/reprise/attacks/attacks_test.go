// Package attacks_test attacks the proxy as a stranger would: a process of its own, sockets, files and signals. Each rule
// that an attack has led to has a test here, named after what must not happen.
//
// REPRISE_ATTACK_BINARY names another build of the program, to see which of the attacks it withstands:
//
//	REPRISE_ATTACK_BINARY=/tmp/old/reprise go test ./cmd/reprise/attacks -v
package attacks_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reprise/internal/built"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))) // many of the tests wait for limits of the proxy to pass
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// build is the program of this tree, or another one.
func build() (string, error) {
	if path := os.Getenv("REPRISE_ATTACK_BINARY"); path != "" {
		return path, nil
	}
	return built.Program()
}

// process is a running `reprise serve`.
type process struct {
	*exec.Cmd
	t          testing.TB
	api, admin string              // base URLs, without /v1
	ready      chan map[string]any // the line of the log that says so
	ended      chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

// start runs serve on free ports, in memory where env names no store, and waits until it is ready. It is killed after the
// test.
func start(t testing.TB, env ...string) *process {
	t.Helper()
	p, err := tryStart(t, env...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tryStart is start for a program that may refuse to start; the error has its log.
func tryStart(t testing.TB, env ...string) (*process, error) {
	t.Helper()
	p := launch(t, env...)
	if err := p.awaitReady(); err != nil {
		return nil, err
	}
	return p, nil
}

// launch is start without waiting.
func launch(t testing.TB, env ...string) *process {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // a hang fails the test; nothing is measured
	p := &process{Cmd: exec.CommandContext(ctx, path, "serve"), t: t, ended: make(chan struct{}), ready: make(chan map[string]any, 1)}
	p.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	p.Env = append(p.Env, "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json", "REPRISE_STORE=memory")
	p.Env = append(p.Env, "REPRISE_HEADER_TIMEOUT=1m") // a busy machine can keep a client waiting for seconds between its dial and its header
	p.Env = append(p.Env, env...)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go p.readLog(stderr)
	t.Cleanup(func() { p.Process.Kill(); <-p.ended; cancel() })
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
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		p.mu.Lock()
		p.log.Write(append(lines.Bytes(), '\n'))
		p.mu.Unlock()
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == "reprise is ready" {
			p.ready <- line
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

// kill ends the process as a crash would, and waits for its end.
func (p *process) kill() {
	p.Process.Kill()
	<-p.ended
}

// signal sends a signal.
func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// memory is the resident memory of the process in KiB, now and at its highest. It skips the test where /proc has neither.
func (p *process) memory() (now, highest int) {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		p.t.Skip("the memory of a process is read from /proc: ", err)
	}
	field := func(name string) int {
		_, rest, _ := strings.Cut(string(status), name+":")
		n, _ := strconv.Atoi(strings.Fields(rest)[0])
		return n
	}
	return field("VmRSS"), field("VmHWM")
}

// metric is the value of a metric without labels, or with exactly these: name{label="value"}.
func (p *process) metric(name string) (value float64, ok bool) {
	p.t.Helper()
	body := p.do(http.MethodGet, p.admin+"/metrics", "").body
	for line := range strings.Lines(body) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				p.t.Fatal(err)
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

// cache is the value of X-Cache: exact, miss, bypass and so on.
func (r reply) cache() string { return r.header.Get("X-Cache") }

// do sends one request; header has names and values in turns.
func (p *process) do(method, url, body string, header ...string) reply {
	p.t.Helper()
	r, err := p.try(method, url, body, header...)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// try is do for a request that may fail.
func (p *process) try(method, url, body string, header ...string) (reply, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return reply{}, err
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
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(got)}, err
}

// client follows no redirects and keeps its connections apart from those of other tests' servers.
var client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// ask sends one chat question.
func (p *process) ask(question string, header ...string) reply {
	p.t.Helper()
	return p.do(http.MethodPost, p.api+"/v1/chat/completions", chat(question), header...)
}

// purge sends a purge to the admin API, e.g. {"all":true,"dry_run":false}.
func (p *process) purge(body string) reply {
	p.t.Helper()
	return p.do(http.MethodPost, p.admin+"/admin/purge", body)
}

// dial opens a raw connection to the API, for messages that no HTTP client sends.
func (p *process) dial() net.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.api, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// chat is the body of a chat request.
func chat(question string) string {
	q, _ := json.Marshal(question)
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%s}]}`, q)
}

// answer is the body of a chat answer.
func answer(text string) string {
	a, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`, a)
}

// upstream is an API that answers as h does; it returns the setting that names it.
func upstream(t testing.TB, h http.HandlerFunc) (setting string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return "REPRISE_UPSTREAM=" + s.URL + "/v1"
}

// echo answers each chat request with a text that names its number, so that every answer differs: equal ones are one answer.
func echo() http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		n++
		text := fmt.Sprintf("answer %d", n)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer(text))
	}
}

// eventually waits until ok holds. It is for what another process does in its own time; a test that waits without success fails by
// the limit.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatal("this did not happen: ", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
