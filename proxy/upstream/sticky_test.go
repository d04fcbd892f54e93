package upstream

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// holder is a replica that makes objects with ids of its own, and answers 404 to the ids of others.
func holder(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mine, parts := "_"+name, strings.Split(r.URL.Path, "/")
		last := parts[len(parts)-1]
		switch {
		case r.Method == "POST" && slices.Contains([]string{"responses", "files", "batches", "containers"}, last) && !strings.Contains(string(body), "_id"):
			if strings.Contains(string(body), `"stream":true`) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"s%s\"}}\n\n", mine)
				return
			}
			fmt.Fprintf(w, `{"id":"%s%s","metadata":{"id":"x_other"}}`, last[:1], mine)
		case strings.Contains(r.URL.Path+string(body), mine):
			io.WriteString(w, `{"of":"`+name+`"}`)
		default:
			http.Error(w, name+" has no such object", http.StatusNotFound)
		}
	}
}

// sends sends a request by the way that its kind takes, and returns the answer.
func sends(t *testing.T, c *Client, method, path, body string) string {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Authorization", "Bearer of-a-client")
	r.Header.Set("Content-Type", "application/json")
	status, text, _ := passOn(t, c, Request{Original: r, Body: []byte(body)})
	return fmt.Sprint(status, " ", strings.TrimSpace(text))
}

// twoHolders are replicas with state, of which the first one gets the requests without ids, and the clients of two proxies.
func twoHolders(t *testing.T) (a, b *stub, one, other *Client) {
	a, b = newStub(t, nil), newStub(t, nil)
	for name, s := range map[string]*stub{"a": a, "b": b} {
		own := holder(name)
		s.does(func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			last := s.got[len(s.got)-1]
			s.mu.Unlock()
			if _, body, ok := strings.Cut(last, "{"); ok {
				r.Body = io.NopCloser(strings.NewReader("{" + body))
			}
			own(w, r)
		})
	}
	targets := []Target{at(t, b.URL, named("b")), at(t, a.URL, named("a"))}
	one, _ = fleetOf(t, targets...)
	other, _ = fleetOf(t, targets...)
	return a, b, one, other
}

// TestBoundToItsReplica: what names an object by its id reaches the replica that holds it, also by a proxy that has not seen it made, and
// nothing is sent to two of them but questions whether they have it.
func TestBoundToItsReplica(t *testing.T) {
	a, b, one, other := twoHolders(t)
	one.Drain("b", true) // so that a makes the objects
	for _, body := range []string{"{}", `{"stream":true}`} {
		sends(t, one, "POST", "/v1/responses", body)
	}
	for _, path := range []string{"/v1/files", "/v1/batches", "/v1/containers"} {
		sends(t, one, "POST", path, "{}")
	}
	one.Drain("b", false)
	a.calls()
	for _, tc := range []struct{ method, path, body string }{
		{"GET", "/v1/responses/r_a", ""}, {"GET", "/v1/responses/s_a", ""}, {"DELETE", "/v1/responses/r_a", ""}, {"POST", "/v1/responses/r_a/cancel", ""},
		{"GET", "/v1/files/f_a/content", ""}, {"GET", "/v1/batches/b_a", ""}, {"GET", "/v1/containers/c_a/files", ""},
		{"POST", "/v1/responses", `{"previous_response_id":"r_a"}`}, {"POST", "/v1/batches", `{"input_file_id":"f_a"}`}, {"POST", "/v1/chat/completions", `{"messages":[{"content":[{"file":{"file_id":"f_a"}}]}]}`},
	} {
		if got := sends(t, one, tc.method, tc.path, tc.body); got != `200 {"of":"a"}` || len(b.calls()) != 0 || len(a.calls()) != 1 {
			t.Errorf("%s %s %s: %s", tc.method, tc.path, tc.body, got)
		}
		if got := sends(t, other, tc.method, tc.path, tc.body); got != `200 {"of":"a"}` {
			t.Errorf("another proxy, %s %s %s: %s", tc.method, tc.path, tc.body, got)
		}
		for _, got := range b.calls() {
			if !strings.HasPrefix(got, "GET ") || strings.Contains(got, "{") {
				t.Errorf("%s %s: a replica without the object got %s", tc.method, tc.path, got)
			}
		}
		a.calls()
	}
}

// TestUnknownID: an id that no replica has gets the answer of one; a request that may change something is sent to one only.
func TestUnknownID(t *testing.T) {
	a, b, c, _ := twoHolders(t)
	if got := sends(t, c, "GET", "/v1/files/none", ""); !strings.HasPrefix(got, "404 ") || len(a.calls()) != 1 || len(b.calls()) != 1 {
		t.Errorf("a file: %s", got)
	}
	if got := sends(t, c, "POST", "/v1/responses", `{"previous_response_id":"none"}`); !strings.HasPrefix(got, "404 b ") {
		t.Errorf("a response: %s", got)
	}
	if n := len(slices.DeleteFunc(append(a.calls(), b.calls()...), func(s string) bool { return strings.HasPrefix(s, "GET ") })); n != 1 {
		t.Errorf("the request was sent %d times", n)
	}
	if got := sends(t, c, "DELETE", "/v1/files/none", ""); !strings.HasPrefix(got, "404 b ") {
		t.Errorf("a file that is to be deleted: %s", got)
	}
}

// TestEscapedID: an escaped slash is a part of an id, in the question to each replica too.
func TestEscapedID(t *testing.T) {
	asked := make(chan string, 2)
	c, _ := fleetOf(t, at(t, newStub(t, func(w http.ResponseWriter, r *http.Request) { asked <- r.Method + " " + r.RequestURI }).URL, named("a")),
		at(t, newStub(t, fails(404, "")).URL, named("b"))) // without the object: the first one that has it ends the question to all others
	c.Drain("b", true)
	c.table.add("", "a", place(c, "b")) // what must not be taken for it
	if got := sends(t, c, "DELETE", "/v1/files/a%2Fb", ""); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	if m, ok := c.table.find("", "a/b"); !ok {
		t.Errorf("the id is not known: %d", m)
	}
	if got := received(t, "the question", asked); got != "GET /files/a%2Fb" {
		t.Errorf("the question was %s", got)
	}
}

// TestBoundAndDown: a request that needs what one replica holds is not sent to another one.
func TestBoundAndDown(t *testing.T) {
	a, b, c, _ := twoHolders(t)
	c.Drain("b", true)
	sends(t, c, "POST", "/v1/files", "{}")
	c.Drain("b", false)
	a.does(fails(503, ""))
	if got := sends(t, c, "POST", "/v1/batches", `{"input_file_id":"f_a"}`); got != "503 status 503" || len(b.calls()) != 0 {
		t.Errorf("unavailable: %s", got)
	}
	a.Close()
	c.transport.(*Transport).CloseIdleConnections()
	if got := sends(t, c, "GET", "/v1/files/f_a", ""); !strings.HasPrefix(got, "0 ") || len(b.calls()) != 0 {
		t.Errorf("down: %s", got)
	}
}

// TestCredentialOfQuestions: a replica with a key of its own is asked for an id with that, and gets no credential of a client.
func TestCredentialOfQuestions(t *testing.T) {
	a := newStub(t, answers("a"))
	c, _ := fleetOf(t, at(t, a.URL, named("a"), keyed("k")), at(t, closedPort(t), named("b")))
	r := httptest.NewRequest("POST", "/v1/responses", nil)
	r.Header = http.Header{"Authorization": {"Bearer of-a-client"}, "X-Api-Key": {"of-a-client"}, "Content-Type": {"application/json"}}
	callOn(t, c, Request{Original: r, Body: []byte(`{"previous_response_id":"r"}`)})
	if got := a.calls(); len(got) != 2 || got[0] != "GET /responses/r" {
		t.Fatalf("calls %q", got)
	}
	for i, h := range a.headers {
		if h.Get("Authorization") != "Bearer k" || h.Get("X-Api-Key") != "" || (h.Get("Content-Type") != "") != (i == 1) {
			t.Errorf("request %d: %v", i, h)
		}
	}
}
