// Package attacks_test attacks the proxy as a stranger would: a process of its own, sockets, files and signals. Each rule
// that an attack has led to has a test here, named after what must not happen.
//
// REPRISE_TEST_PROGRAM names another build of the program, to see which of the attacks it withstands:
//
//	REPRISE_TEST_PROGRAM=/tmp/old/reprise go test ./cmd/reprise/attacks -v
package attacks_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reprise/internal/built"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))) // many of the tests wait for limits of the proxy to pass
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// process is a running `reprise serve`.
type process struct {
	*built.Proxy
	t testing.TB
}

// start runs serve, in memory where env names no store, and waits until it is ready. It is killed after the test.
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
	if err := p.AwaitReady(); err != nil {
		return nil, err
	}
	return p, nil
}

// launch is start without waiting.
func launch(t testing.TB, env ...string) *process {
	t.Helper()
	return &process{built.Launch(t, built.Options{Env: append([]string{"REPRISE_STORE=memory"}, env...)}), t}
}

// memory returns the resident memory of the process in KiB, now and at its highest. It skips the test where /proc has neither.
func (p *process) memory() (now, highest int) {
	p.t.Helper()
	now, highest = p.Memory()
	if now == 0 {
		p.t.Skip("the memory of a process is read from /proc")
	}
	return now, highest
}

// reply is an answer that was read to its end.
type reply = built.Reply

// try sends one request, which may fail; header has names and values in turns.
func (p *process) try(method, url, body string, header ...string) (reply, error) {
	return p.Try(context.Background(), method, url, body, header...)
}

// ask sends one chat question.
func (p *process) ask(question string, header ...string) reply {
	p.t.Helper()
	return p.Do(http.MethodPost, p.API+"/v1/chat/completions", chat(question), header...)
}

// purge sends a purge to the admin API, e.g. {"all":true,"dry_run":false}.
func (p *process) purge(body string) reply {
	p.t.Helper()
	return p.Do(http.MethodPost, p.Admin+"/admin/purge", body)
}

// dial opens a raw connection to the API, for messages that no HTTP client sends.
func (p *process) dial() net.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.API, "http://"))
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
