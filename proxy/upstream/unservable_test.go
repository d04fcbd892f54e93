package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBoundToAnotherModel: what a request names by an id is at a replica that does not serve the request's model.
func TestBoundToAnotherModel(t *testing.T) {
	for _, way := range paths {
		a, b := newStub(t, answers(`{"id":"resp_a"}`)), newStub(t, answers("b"))
		c, _ := fleetOf(t, at(t, a.URL, named("a"), serving("m")), at(t, b.URL, named("b"), serving("n")))
		send := func(model, body string) (int, string) {
			r := request(model, body)
			r.Original = httptest.NewRequest("POST", "/v1/responses", nil)
			status, text, _ := way.send(t, c, r)
			return status, text
		}
		send("m", "{}")
		if status, text := send("n", `{"model":"n","previous_response_id":"resp_a"}`); status != 200 {
			t.Errorf("%s: %d %s", way.name, status, text)
		}
	}
}

// TestOnlyFallbacksServe: a model that only fallbacks serve is asked of them also while they are to be left alone.
func TestOnlyFallbacksServe(t *testing.T) {
	for _, way := range paths {
		a, b := newStub(t, answers("a")), newStub(t, fails(429, "60"))
		c, _ := fleetOf(t, at(t, a.URL, named("a"), serving("m")), at(t, b.URL, named("b"), fallback, keyed("k"), serving("n")))
		for range 3 {
			if status, text, _ := way.send(t, c, request("n", `{"model":"n"}`)); status != 429 {
				t.Errorf("%s: %d %s", way.name, status, text)
			}
		}
		if n := len(a.calls()); n != 0 || len(b.calls()) != 3 {
			t.Errorf("%s: %d calls of a model that the replica does not serve", way.name, n)
		}
		a.does(fails(503, "60"))
		way.send(t, c, request("of-nobody", `{"model":"of-nobody"}`))
		way.send(t, c, request("of-nobody", `{"model":"of-nobody"}`))
		if n := len(b.calls()); n != 0 {
			t.Errorf("%s: with the operator's credential a client had %d calls of a model that is not on the list", way.name, n)
		}
	}
}

// TestSentAfterRefusal: the answer of a replica that refused a request says nothing of another one, which may have worked on it.
func TestSentAfterRefusal(t *testing.T) {
	for _, way := range paths {
		a, b := newStub(t, fails(429, "1")), newStub(t, breaks)
		c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
		if status, text, _ := way.send(t, c, request("m", "{}")); status != 0 || !strings.Contains(text, ErrClosed.Error()) {
			t.Errorf("%s: %d %s", way.name, status, text)
		}
	}
}

// TestTrailerNames: a client that announces a trailer of no valid name takes no replica away from the others.
func TestTrailerNames(t *testing.T) {
	a, b := newStub(t, answers("a")), newStub(t, answers("b"))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b")))
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.PassThrough(w, Request{Original: r}, nil); err != nil && !errors.Is(err, errOfBody) {
			w.WriteHeader(502)
			io.WriteString(w, err.Error())
		}
	}))
	defer front.Close()
	for range 6 {
		conn := dialTo(t, front.URL)
		io.WriteString(conn, "POST /v1/files HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: a b\r\n\r\n1\r\nx\r\n0\r\n\r\n")
		if got := readAnswer(t, conn); !strings.HasPrefix(got, "200") {
			t.Error(got)
		}
	}
	for _, s := range c.Upstreams() {
		if s.Health.Failures != 0 {
			t.Errorf("%s: %+v", s.Name, s.Health)
		}
	}
}

func dialTo(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func readAnswer(t *testing.T, conn net.Conn) string {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(text), " ", err)
}

// TestIDsOfTenants: an id that a fallback made for one tenant leads no other tenant there, where the operator's credential would let it
// read what the id names.
func TestIDsOfTenants(t *testing.T) {
	a, b := newStub(t, fails(503, "60")), newStub(t, answers(`{"id":"resp_b"}`))
	c, _ := fleetOf(t, at(t, a.URL, named("a")), at(t, b.URL, named("b"), fallback, keyed("of-the-operator")))
	send := func(tenant, method, path, body string) (int, string) {
		r := request("m", body)
		r.Tenant, r.Original = tenant, httptest.NewRequest(method, path, nil)
		if r.Body = []byte(body); body == "" {
			r.Body, r.Model = nil, ""
		}
		status, text, _ := passOn(t, c, r)
		return status, text
	}
	if status, text := send("one", "POST", "/v1/responses", `{"model":"m"}`); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := send("one", "GET", "/v1/responses/resp_b", ""); status != 200 {
		t.Errorf("its own tenant: %d %s", status, text)
	}
	b.calls()
	for _, method := range []string{"GET", "DELETE"} {
		if status, text := send("other", method, "/v1/responses/resp_b", ""); status == 200 || len(b.calls()) != 0 {
			t.Errorf("another tenant, %s: %d %s", method, status, text)
		}
	}
}

// TestSlowToFind: a replica that does not say whether it has an id holds up no other one that has it.
func TestSlowToFind(t *testing.T) {
	asked := make(chan struct{})
	over := tripFunc(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "a" {
			<-r.Context().Done()
			select {
			case <-asked:
			default:
				t.Error("the replicas are asked one after the other")
			}
			return nil, r.Context().Err()
		}
		if r.Method == http.MethodGet {
			close(asked)
		}
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("b"))}, nil
	})
	c := newClient(t, Options{Replicas: []Target{at(t, "http://a", named("a")), at(t, "http://b", named("b"))}, Transport: over, HealthInterval: -1})
	r := request("m", `{"previous_response_id":"r"}`)
	r.Original = httptest.NewRequest("POST", "/v1/responses", nil)
	if _, text, _ := callOn(t, c, r); text != "b" {
		t.Errorf("the answer is %s", text)
	}
}
