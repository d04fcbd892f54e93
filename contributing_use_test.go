package reprise_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// engine is an upstream that returns one answer to every request, and counts them.
type engine struct {
	*httptest.Server
	requests atomic.Int64
}

func newEngine(t *testing.T, answer string) *engine {
	e := &engine{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	}))
	t.Cleanup(e.Close)
	return e
}

const chatAnswer = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
	"message":{"role":"assistant","content":"Blue."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

const chatQuestion = `{"model":"m","messages":[{"role":"user","content":"Which colour is the sky?"}]}`

// server is a running program with the toys in it.
type server struct {
	*exec.Cmd
	api string
}

// serve starts the program in front of an engine and returns when it is ready.
func serve(t *testing.T, program string, e *engine, env ...string) *server {
	t.Helper()
	s := &server{Cmd: exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--upstream", e.URL+"/v1", "--log-format", "json")}
	s.Env = append(os.Environ(), env...)
	stderr, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		fmt.Fprintln(&log, lines.Text())
		var line struct{ Msg, API string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "reprise is ready" {
			s.api = line.API
			go io.Copy(io.Discard, stderr)
			return s
		}
	}
	t.Fatalf("the program is not ready:\n%s", log.String())
	return nil
}

// stop ends the program as a service manager does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
}

// ask posts a body and fails unless the answer has the X-Cache header want.
func (s *server) ask(t *testing.T, path, body, want string) {
	t.Helper()
	resp, err := http.Post(s.api+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	if got := resp.Header.Get("X-Cache"); resp.StatusCode != http.StatusOK || got != want {
		t.Errorf("%s: status %d, X-Cache %q, want %q: %s", path, resp.StatusCode, got, want, answer)
	}
}

// useStore restarts the program: the toy has kept the answer.
func useStore(t *testing.T, program string) {
	e := newEngine(t, chatAnswer)
	place := "REPRISE_STORE=toy:" + filepath.Join(t.TempDir(), "answers")
	for _, want := range []string{"miss", "exact"} {
		s := serve(t, program, e, place)
		s.ask(t, "/v1/chat/completions", chatQuestion, want)
		s.stop(t)
	}
	if n := e.requests.Load(); n != 1 {
		t.Errorf("%d requests reached the engine, want 1", n)
	}
}

// useAPI asks the toy the same twice, and something else.
func useAPI(t *testing.T, program string) {
	e := newEngine(t, `{"answer":"Blue."}`)
	s := serve(t, program, e, "REPRISE_STORE=memory")
	const question = `{"model":"m","question":"Which colour is the sky?"}`
	s.ask(t, "/v1/toy", question, "miss")
	s.ask(t, "/v1/toy", question, "exact")
	s.ask(t, "/v1/toy", `{"model":"m","question":"Who wrote Hamlet?"}`, "miss")
	s.stop(t)
	if n := e.requests.Load(); n != 2 {
		t.Errorf("%d requests reached the engine, want 2", n)
	}
}

// usePolicy asks for three answers where two fit: the toy evicts the one used last, which is always the third.
func usePolicy(t *testing.T, program string) {
	e := newEngine(t, chatAnswer)
	s := serve(t, program, e, "REPRISE_STORE=memory", "REPRISE_MODE=exact", "REPRISE_POLICY=toy", "REPRISE_CAPACITY_ENTRIES=2")
	for _, step := range []struct{ of, want string }{
		{"grass", "miss"}, {"snow", "miss"}, {"coal", "miss"}, {"coal", "miss"}, {"grass", "exact"}, {"snow", "exact"},
	} {
		s.ask(t, "/v1/chat/completions", strings.Replace(chatQuestion, "the sky", step.of, 1), step.want)
	}
	s.stop(t)
}
