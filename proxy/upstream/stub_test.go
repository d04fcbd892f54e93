package upstream

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/upstream/prefix"
)

// newReplicaTime is any time with whole seconds.
var newReplicaTime = time.Unix(1_800_000_000, 0)

// stub is a replica that answers as its script says and notes what it gets.
type stub struct {
	*httptest.Server
	mu      sync.Mutex
	script  http.HandlerFunc
	got     []string // method, path and body
	headers []http.Header
}

func newStub(t *testing.T, script http.HandlerFunc) *stub {
	s := &stub{script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got, s.headers = append(s.got, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body))), append(s.headers, r.Header)
		script := s.script
		s.mu.Unlock()
		script(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// does replaces the script.
func (s *stub) does(script http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// calls returns what the replica got, and forgets it.
func (s *stub) calls() (got []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, s.got = s.got, nil
	return got
}

// sent returns the headers of all that the replica got so far.
func (s *stub) sent() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.headers)
}

func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func fails(status int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "status %d", status)
	}
}

// breaks closes the connection without an answer.
func breaks(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// firstOf is a chooser by place: the first replica that may be chosen.
type firstOf struct{}

func (firstOf) Choose(_ *prefix.Request, loads []prefix.Load) int { return 0 }

// closedPort is the address of a port on which no process listens. It is the client's end of a connection: a listener's port that was closed
// could be the next server's.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return "http://" + c.LocalAddr().String()
}

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fleetOf is a client in front of targets, the first of which is preferred.
func fleetOf(t *testing.T, targets ...Target) (*Client, *clock) {
	now := &clock{now: newReplicaTime}
	return newClient(t, Options{Replicas: targets, Chooser: firstOf{}, Now: now.Now, SlowStart: -1}), now
}

// path is how a request reaches a replica.
type path struct {
	name string
	send func(t *testing.T, c *Client, r Request) (status int, text string, foreign bool)
}

// paths are the two ways of requests whose bodies are in memory.
var paths = []path{{"call", callOn}, {"pass-through", passOn}}

func request(model, body string) Request {
	return Request{Original: httptest.NewRequest("POST", "/v1/chat/completions", nil), Body: []byte(body), Model: model}
}

func callOn(t *testing.T, c *Client, r Request) (int, string, bool) {
	t.Helper()
	reply, err := c.Call(t.Context(), r)
	if err != nil {
		return 0, err.Error(), false
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Error(err)
	}
	return reply.StatusCode, string(text), reply.Foreign
}

func passOn(t *testing.T, c *Client, r Request) (status int, text string, foreign bool) {
	t.Helper()
	w := httptest.NewRecorder()
	var seen beginning
	if err := c.PassThrough(w, r, &seen); err != nil {
		return 0, err.Error(), false
	}
	return w.Code, w.Body.String(), seen.foreign
}

// beginning notes whether an answer is of another model.
type beginning struct{ foreign bool }

func (b *beginning) Begins(reply *Reply) { b.foreign = reply.Foreign }

// byTurns is a chooser by turns, which leaves a replica out in a part of its turns by its share.
type byTurns struct{ turn int }

func (c *byTurns) Choose(_ *prefix.Request, loads []prefix.Load) int {
	c.turn++
	at := c.turn % len(loads)
	for round := float64(c.turn/len(loads)) * 0.618033988749895; round-float64(int(round)) >= loads[at].Share; {
		at = (at + 1) % len(loads)
	}
	return at
}
