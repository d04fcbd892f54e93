package upstream

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// lateEnd is a transport that looks for the end of a request's body only when the client has the beginning of the answer.
type lateEnd struct {
	begun chan struct{}
	end   chan error
}

func (l lateEnd) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.ReadFull(r.Body, make([]byte, r.ContentLength)); err != nil {
		return nil, err
	}
	answer, in := io.Pipe()
	go func() {
		io.WriteString(in, "begin")
		<-l.begun
		_, err := r.Body.Read(make([]byte, 1))
		l.end <- err
		in.Close()
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: answer}, nil
}

// sizes of bodies: one that is read before it is sent, and one that is not.
var sizes = []int{9, firstBytes + 1}

// TestBodyIsOpenDuringTheAnswer: the transport can still read the end of a body when the answer has begun.
func TestBodyIsOpenDuringTheAnswer(t *testing.T) {
	for _, size := range sizes {
		bodyIsOpen(t, strings.Repeat("x", size))
	}
}

func bodyIsOpen(t *testing.T, body string) {
	base, err := url.Parse("http://upstream.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	late := lateEnd{make(chan struct{}), make(chan error, 1)}
	c, err := New(Options{Replicas: []Target{{Base: base}}, Transport: late})
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(passTo(t, c))
	defer api.Close()
	resp, err := http.Post(api.URL+"/v1/other", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, len("begin"))); err != nil {
		t.Fatal(err)
	}
	close(late.begun)
	if err := received(t, "the end of the body", late.end); err != io.EOF {
		t.Errorf("the end of the body reads as %v", err)
	}
}

// unread is a transport that answers without a look at the body.
type unread struct{}

func (unread) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("no"))}, nil
}

// TestUnreadBody: the connection can be used again after an answer that came before the body was read.
func TestUnreadBody(t *testing.T) {
	base, err := url.Parse("http://upstream.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Replicas: []Target{{Base: base}}, Transport: unread{}})
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	api := httptest.NewUnstartedServer(passTo(t, c))
	api.Config.ErrorLog = log.New(&lines, "", 0)
	api.Start()
	for i := range 20 {
		resp, err := http.Post(api.URL+"/v1/other", "application/json", strings.NewReader(strings.Repeat("x", sizes[i%2])))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	api.Close()
	if lines.Len() > 0 {
		t.Error(lines.String())
	}
}

// TestGoAhead: the body of a client that waits for a go-ahead (Expect: 100-continue) is not read before the replica has given one.
func TestGoAhead(t *testing.T) {
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			io.Copy(io.Discard, r.Body)
		} else {
			w.WriteHeader(http.StatusExpectationFailed)
		}
	}))
	defer replica.Close()
	base, err := url.Parse(replica.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, Options{Replicas: []Target{{Base: base}}})
	for path, want := range map[string]string{"/read": "200, the body was read: true", "/refused": "417, the body was read: false"} {
		body := strings.NewReader("body")
		r := httptest.NewRequest("POST", path, body)
		r.Header.Set("Expect", "100-continue")
		w := httptest.NewRecorder()
		passTo(t, c).ServeHTTP(w, r)
		if got := fmt.Sprintf("%d, the body was read: %v", w.Code, body.Len() == 0); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestEarlyAnswerAfterTheEnd: what a transport reports of a request after its error changes no response and begins no limit.
func TestEarlyAnswerAfterTheEnd(t *testing.T) {
	var trace *httptrace.ClientTrace
	var sent *sentBody
	fails := tripFunc(func(r *http.Request) (*http.Response, error) {
		sent = r.Body.(*sentBody)
		trace = httptrace.ContextClientTrace(r.Context())
		return nil, io.EOF
	})
	r := httptest.NewRequest("POST", "http://upstream.example/v1/other", io.MultiReader(strings.NewReader("body")))
	w := httptest.NewRecorder()
	if _, err := sendOver(t, fails, time.Hour, r, w); err == nil {
		t.Fatal("no error")
	}
	if err := trace.Got1xxResponse(http.StatusEarlyHints, textproto.MIMEHeader{"Link": {"x"}}); err != nil {
		t.Error(err)
	}
	sent.Read(make([]byte, 1))
	trace.WroteRequest(httptrace.WroteRequestInfo{})
	if sent.trip.timer.Stop() {
		t.Error("the trip that has ended holds a timer")
	}
	if w.Code != http.StatusOK || len(w.Header()) > 0 {
		t.Errorf("status %d, %v", w.Code, w.Header())
	}
}

type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestHeaderComesFirst: a client gets the header of an answer whose body is late, or never comes, and no type that the replica has not sent.
func TestHeaderComesFirst(t *testing.T) {
	rest := make(chan struct{})
	replica := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		if r.URL.Path != "/stream" {
			w.Header().Set("Content-Length", "6")
		}
		w.(http.Flusher).Flush()
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
		holds(t, rest)
		io.WriteString(w, "<html>")
	})
	base, err := url.Parse(replica.URL)
	if err != nil {
		t.Fatal(err)
	}
	api := newStub(t, passTo(t, newClient(t, Options{Replicas: []Target{{Base: base}}})).ServeHTTP)
	for _, path := range []string{"/late", "/cut", "/stream"} {
		resp, err := http.Get(api.URL + path)
		if err != nil {
			t.Fatal(path, err)
		}
		if path != "/cut" {
			select {
			case rest <- struct{}{}:
			case <-time.After(20 * time.Second):
				t.Fatal(path, ": no handler waits; status ", resp.StatusCode)
			}
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if path == "/stream" {
			resp.ContentLength += 7
		}
		if path != "/cut" && (string(text) != "<html>" || err != nil) || path == "/cut" && err == nil || resp.ContentLength != 6 || resp.Header["Content-Type"] != nil {
			t.Errorf("%s: %q, %v, %v", path, text, err, resp.Header)
		}
	}
}

// TestHeaderGoesWithTheBody: header and beginning of a body go in one write where both are there, and the header alone where the body is
// late.
func TestHeaderGoesWithTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for wait, want := range map[time.Duration]string{0: "header write", headerWait / 2: "header write", 2 * headerWait: "header flush write"} {
			w := &steps{}
			w.WriteHeader(http.StatusOK)
			begun := HoldHeader(w)
			time.Sleep(wait)
			begun()
			w.Write(nil)
			time.Sleep(time.Second)
			if got := strings.TrimSpace(w.got); got != want {
				t.Errorf("body after %v: %s, want %s", wait, got, want)
			}
		}
	})
}

// steps is a ResponseWriter that notes how it is used.
type steps struct{ got string }

func (s *steps) Header() http.Header         { return http.Header{} }
func (s *steps) Write(p []byte) (int, error) { s.got += "write "; return len(p), nil }
func (s *steps) WriteHeader(int)             { s.got += "header " }
func (s *steps) Flush()                      { s.got += "flush " }
