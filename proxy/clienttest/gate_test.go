package clienttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// gate passes requests on to a server and records them. The first two segments of a path name the framework and the scenario; the rest is
// the path of the API.
type gate struct {
	url string

	mu    sync.Mutex // protects calls
	calls map[string]map[string][]call
}

// call is one request and the head of its answer.
type call struct {
	path       string
	sent       []byte
	status     int
	cache, why string // X-Cache and Cache-Status
}

// body is the request as JSON.
func (c call) body() (v any) {
	_ = json.Unmarshal(c.sent, &v) // what is no JSON is nil
	return v
}

func newGate(t *testing.T, to string) *gate {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{calls: map[string]map[string][]call{}}
	pass := &httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     &http.Transport{DisableCompression: true},
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left
		}
		part := strings.SplitN(r.URL.Path, "/", 4)
		r.Body, r.URL.Path, r.URL.RawPath = io.NopCloser(bytes.NewReader(sent)), "/"+part[3], ""
		pass.ServeHTTP(&noted{w, func(status int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			of := g.calls[part[1]]
			if of == nil {
				of = map[string][]call{}
				g.calls[part[1]] = of
			}
			of[part[2]] = append(of[part[2]], call{r.URL.Path, sent, status, w.Header().Get("X-Cache"), w.Header().Get("Cache-Status")})
		}}, r)
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// taken are the calls of a framework so far, by scenario.
func (g *gate) taken(framework string) map[string][]call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[framework]
}

// noted is an answer whose head is noted before the client gets it.
type noted struct {
	http.ResponseWriter
	note func(status int)
}

func (n *noted) WriteHeader(status int) {
	n.note(status)
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }
