package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/proxy/upstream/dialect"
)

// fault is what a replica does with each request.
type fault struct {
	name    string
	answer  string // that it sends; see serve
	after   string // that it sends to a request without our field; "": answer
	ending  ending
	key     string // the operator's
	refuses bool   // it shows that it has not worked on the request, so that another replica may get it
	works   bool   // it may have worked on it
}

// ending is what a replica does after its answer.
type ending uint8

const (
	stays  ending = iota // it waits for another request
	closes               // it closes the connection
	resets               // it does so with a reset
	hangs                // it leaves the request without the rest of its answer
	down                 // no process listens
)

func whole(status string, fields ...string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n" + strings.Join(append(fields, "\r\n"), "\r\n") + "{}"
}

func naming(status string) string {
	const body = `{"error":"Unknown parameter: stream_options"}`
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

var faults = []fault{
	{name: "works", answer: whole("200 OK"), works: true},
	{name: "works, once for a connection", answer: whole("200 OK", "Connection: close"), ending: closes, works: true},
	{name: "down", ending: down, refuses: true},
	{name: "closes before its answer", ending: closes, works: true},
	{name: "resets before its answer", ending: resets, works: true},
	{name: "closes in its header", answer: "HTTP/1.1 200 OK\r\nContent-", ending: closes, works: true},
	{name: "closes in its answer", answer: "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", ending: closes, works: true},
	{name: "resets in its answer", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", ending: resets, works: true},
	{name: "hangs", ending: hangs, works: true},
	{name: "hangs after an early answer", answer: "HTTP/1.1 103 Early Hints\r\n\r\n", ending: hangs, works: true},
	{name: "hangs in its answer", answer: "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", ending: hangs, works: true},
	{name: "400", answer: whole("400 Bad Request"), works: true},
	{name: "400 for our field", answer: naming("400 Bad Request"), after: whole("200 OK"), works: true},
	{name: "422 for our field", answer: naming("422 Unprocessable Entity"), after: whole("200 OK"), works: true},
	{name: "400 for our field, always", answer: naming("400 Bad Request"), after: naming("400 Bad Request"), works: true},
	{name: "400 for our field, then 429", answer: naming("400 Bad Request"), after: whole("429 Too Many Requests"), refuses: true},
	{name: "400 for our field, then 503", answer: naming("400 Bad Request"), after: whole("503 Service Unavailable", "Retry-After: 1"), refuses: true},
	{name: "400 for our field, then 500", answer: naming("400 Bad Request"), after: whole("500 Internal Server Error"), works: true},
	{name: "500 for our field", answer: whole("500 Internal Server Error"), after: whole("200 OK"), works: true},
	{name: "500 for our field, then 429", answer: whole("500 Internal Server Error"), after: whole("429 Too Many Requests"), refuses: true},
	{name: "401", answer: whole("401 Unauthorized"), works: true},
	{name: "401 for the operator", answer: whole("401 Unauthorized"), key: "k", refuses: true},
	{name: "403 for the operator", answer: whole("403 Forbidden"), key: "k", refuses: true},
	{name: "404", answer: whole("404 Not Found"), refuses: true},
	{name: "429", answer: whole("429 Too Many Requests"), refuses: true},
	{name: "429 with a time", answer: whole("429 Too Many Requests", "Retry-After: 7"), refuses: true},
	{name: "429, once for a connection", answer: whole("429 Too Many Requests", "Connection: close"), ending: closes, refuses: true},
	{name: "500", answer: whole("500 Internal Server Error"), works: true},
	{name: "502", answer: whole("502 Bad Gateway"), works: true},
	{name: "503", answer: whole("503 Service Unavailable"), refuses: true},
	{name: "503 with a time", answer: whole("503 Service Unavailable", "Retry-After: 7"), refuses: true},
	{name: "504", answer: whole("504 Gateway Timeout"), works: true},
	{name: "529", answer: whole("529 Overloaded"), refuses: true},
	{name: "no HTTP", answer: "SSH-2.0-OpenSSH_9.6\r\n\r\n", ending: closes, works: true},
	{name: "another protocol", answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", ending: closes, works: true},
	{name: "a status that is none", answer: "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", works: true},
}

// faulty is a replica with a fault.
type faulty struct {
	*fault
	url string
	got atomic.Int64 // requests
}

func newFaulty(t *testing.T, of *fault) *faulty {
	if of.ending == down {
		return &faulty{fault: of, url: closedPort(t)}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f := &faulty{fault: of, url: "http://" + l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c.(*net.TCPConn))
		}
	}()
	return f
}

func (f *faulty) serve(c *net.TCPConn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		f.got.Add(1)
		body, _ := io.ReadAll(r.Body)
		answer := f.answer
		if f.after != "" && !strings.Contains(string(body), "stream_options") {
			answer = f.after
		}
		io.WriteString(c, answer)
		switch f.ending {
		case resets:
			c.SetLinger(0)
			return
		case closes:
			return
		case hangs:
			io.Copy(io.Discard, c)
			return
		}
	}
}

// mostCalls is the largest number of times that n replicas get one request.
func mostCalls(n int) int { return n + 1 }

// TestMostCalls: whatever the replicas do, they get one request as often as mostCalls says at most, and one of them at most works on it. If
// all others refuse it, one that works answers it.
func TestMostCalls(t *testing.T) {
	var fleets [][]*fault
	for i := range faults {
		f, works := &faults[i], &faults[0]
		fleets = append(fleets, []*fault{f}, []*fault{f, f, f}, []*fault{f, works, f}, slices.Repeat([]*fault{f}, 9), append(slices.Repeat([]*fault{f}, 9), works))
	}
	random := rand.New(rand.NewPCG(26, 4))
	for range 60 {
		fleet := make([]*fault, 1+random.IntN(8))
		for i := range fleet {
			fleet[i] = &faults[random.IntN(len(faults))]
		}
		fleets = append(fleets, fleet)
	}
	for _, fleet := range fleets {
		for _, way := range paths {
			t.Run("", func(t *testing.T) {
				t.Parallel() // of which some wait for a limit
				callFaulty(t, fleet, way)
			})
		}
	}
}

func callFaulty(t *testing.T, fleet []*fault, way path) {
	var replicas []*faulty
	var targets []Target
	var text []string
	for i, f := range fleet {
		r := newFaulty(t, f)
		replicas, targets, text = append(replicas, r), append(targets, at(t, r.url, named(fmt.Sprint("r", i)), keyed(f.key))), append(text, f.name)
	}
	limit, hanging := time.Minute, slices.ContainsFunc(fleet, func(f *fault) bool { return f.ending == hangs })
	if hanging {
		limit = 100 * time.Millisecond
	}
	c := newClient(t, Options{Replicas: targets, Chooser: firstOf{}, Limits: Limits{FirstByte: limit, BetweenBytes: limit}})
	r := request("m", `{"model":"m","stream":true}`)
	if way.name == "call" {
		r.Want = dialect.Intent{StreamUsage: true}
	}
	status := statusOf(t, c, way, r)
	calls, worked := int64(0), 0
	for _, r := range replicas {
		n := r.got.Load()
		if calls += n; n > 0 && r.works {
			worked++
		}
		if n > 2 {
			t.Errorf("%s, %s: %d calls of one replica", way.name, text, n)
		}
	}
	if most := int64(mostCalls(len(fleet))); calls > most || worked > 1 {
		t.Errorf("%s, %s: %d calls, of which %d may have been worked on; at most are %d and 1", way.name, text, calls, worked, most)
	}
	first := slices.IndexFunc(fleet, func(f *fault) bool { return !f.refuses })
	if !hanging && first >= 0 && fleet[first] == &faults[0] && status != http.StatusOK {
		t.Errorf("%s, %s: status %d", way.name, text, status)
	}
	if l := c.Load(); l.Calls != 0 {
		t.Errorf("%s, %s: %d calls are still counted", way.name, text, l.Calls)
	}
	for _, s := range c.Upstreams() {
		if s.Load.InFlight != 0 {
			t.Errorf("%s, %s: %+v", way.name, text, s)
		}
	}
}

// statusOf sends r and reads the answer, which may break off; 0: there is none.
func statusOf(t *testing.T, c *Client, way path, r Request) (status int) {
	if way.name != "call" {
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				t.Error(v)
			}
		}()
		w := httptest.NewRecorder()
		if c.PassThrough(w, r, nil) != nil {
			return 0
		}
		return w.Code
	}
	reply, err := c.Call(t.Context(), r)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, reply.Body)
	reply.Body.Close()
	return reply.StatusCode
}

// TestMostConnections: where each connection is closed before anything is written to it, each replica is tried over a few of them.
func TestMostConnections(t *testing.T) {
	for _, n := range []int{1, 3, 9} {
		var targets []Target
		for i := range n {
			targets = append(targets, Target{Name: fmt.Sprint("r", i), Base: &url.URL{Scheme: "http", Host: fmt.Sprintf("r%d.example", i), Path: "/v1"}})
		}
		over := &breaking{steps: []try{{0, true, io.EOF}}}
		c := newClient(t, Options{Replicas: targets, Transport: over})
		if _, err := c.Call(t.Context(), request("m", "{}")); !errors.Is(err, errUnsent) || over.tries != n*mostConnections {
			t.Errorf("%d replicas: %v after %d connections", n, err, over.tries)
		}
	}
}

// TestStaleConnections: a connection that a replica has closed while it was idle costs no request, and none is sent twice.
func TestStaleConnections(t *testing.T) {
	for _, n := range []int{1, 3} {
		var targets []Target
		var stubs []*stub
		for i := range n {
			s := newStub(t, answers("fine"))
			stubs, targets = append(stubs, s), append(targets, at(t, s.URL, named(fmt.Sprint("r", i))))
		}
		c, _ := fleetOf(t, targets...)
		for _, way := range paths {
			for round := range 5 {
				if status, text, _ := way.send(t, c, request("m", "{}")); status != 200 {
					t.Errorf("%s, round %d: %d %s", way.name, round, status, text)
				}
				calls := 0
				for _, s := range stubs {
					calls += len(s.calls())
					s.CloseClientConnections()
				}
				if calls != 1 {
					t.Errorf("%s, round %d: %d calls", way.name, round, calls)
				}
			}
		}
	}
}
