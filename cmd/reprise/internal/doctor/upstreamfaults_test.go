package doctor

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"reprise/internal/enginesim"
)

var upstreamFaults = []fault{
	{"a host without an address", "error upstream.name", "has no address", func(p *patient) { p.set("UPSTREAM", "http://none.invalid/v1") }},
	{"a port that refuses", "error upstream.connection", "connection refused", func(p *patient) { p.set("UPSTREAM", "http://"+refusing(p.t)+"/v1") }},
	{"a certificate of the upstream that has expired", "error upstream.tls", "expired", func(p *patient) { p.secured(authority.issue(server{ends: -time.Hour})) }},
	{"a certificate of the upstream for another name", "error upstream.tls", "127.0.0.1", func(p *patient) { p.secured(authority.issue(server{name: "other.example"})) }},
	{"a certificate of the upstream by an unknown authority", "error upstream.tls", "unknown authority", func(p *patient) {
		p.secured(newAuthority("another authority").issue(server{}))
	}},
	{"a certificate of the upstream that expires soon", "warning upstream.tls", "in 2 days", func(p *patient) { p.secured(authority.issue(server{ends: 70 * time.Hour})) }},
	{"an upstream without TLS", "error upstream.tls", "", func(p *patient) { p.set("UPSTREAM", strings.Replace(p.env["REPRISE_UPSTREAM"], "http:", "https:", 1)) }},
	{"a silent upstream", "error upstream.answer", "no answer in time", func(p *patient) { p.set("UPSTREAM", "http://"+occupied(p)+"/v1") }},
	{"an upstream that fails", "error upstream.answer", "status 503", func(p *patient) { p.upstream(status("/v1/models", 503)) }},
	{"an upstream with too many requests", "warning upstream.answer", "status 429", func(p *patient) { p.upstream(status("/v1/models", 429)) }},
	{"a credential that is refused", "error upstream.credential", "status 401", func(p *patient) {
		p.set("UPSTREAM_KEY", "sk-of-the-operator")
		p.upstream(status("/v1/", 401))
	}},
	{"a model that is missing", "error upstream.models", "no model \\\"lama-3\\\"; did you mean llama-3?", func(p *patient) {
		p.set("UPSTREAM", "a="+p.env["REPRISE_UPSTREAM"]+";models=llama|gpt-4o>lama-3")
	}},
	{"a judge that is missing", "error upstream.models", "no model \\\"judge\\\"", func(p *patient) { p.set("UPSTREAM_KEY", "any", "JUDGE_MODEL", "judge") }},
	{"a base URL without its path", "error upstream.models", "/v1 in REPRISE_UPSTREAM", func(p *patient) {
		p.set("UPSTREAM", strings.TrimSuffix(p.env["REPRISE_UPSTREAM"], "/v1"))
	}},
	{"a base URL with another path", "error upstream.models", "/v1/models has a list", func(p *patient) {
		p.set("UPSTREAM", strings.TrimSuffix(p.env["REPRISE_UPSTREAM"], "/v1")+"/v2")
	}},
	{"a base URL without the path of a gateway", "error upstream.models", "/llm/v1/models has a list", func(p *patient) {
		url := serve(p.t, http.StripPrefix("/llm", soundEngine()), nil)
		p.set("UPSTREAM", url+"/llm")
	}},
	{"an upstream without a list of models", "warning upstream.models", "no list of models at this base URL", func(p *patient) { p.upstream(status("/v1/models", 404)) }},
	{"streams that fail", "error upstream.stream", "status 500", func(p *patient) { p.upstream(status("/v1/chat/completions", 500)) }},
	{"streams that break off", "error upstream.stream", "breaks off", func(p *patient) {
		p.upstream(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPost {
				r.Header.Set(enginesim.FaultHeader, "cut=100")
			}
			next.ServeHTTP(w, r)
		})
	}},
	{"answers that are no streams", "error upstream.stream", "no stream but", func(p *patient) {
		p.answers(func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"choices":[]}`)
		})
	}},
	{"streams without usage", "warning upstream.usage", "reports no usage", func(p *patient) { p.answers(streamOf("")) }},
	{"answers without cached_tokens", "warning upstream.cached-tokens", "report no cached_tokens", func(p *patient) {
		other := p.env["REPRISE_UPSTREAM"]
		p.answers(streamOf(`"usage":{"prompt_tokens":90,"completion_tokens":1},`))
		p.set("UPSTREAM", "a="+other+",b="+p.env["REPRISE_UPSTREAM"])
	}},
	{"clocks that differ", "warning upstream.clock", "ahead of that of this machine", func(p *patient) {
		p.upstream(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(10*time.Minute).UTC().Format(http.TimeFormat))
			next.ServeHTTP(w, r)
		})
	}},
}

// soundEngine is an upstream in which all is well.
func soundEngine() http.Handler {
	return enginesim.New(enginesim.Options{Models: []string{"text-embedding-3-small", "llama", "llama-3"}})
}

// serve starts a server, with TLS where there is a certificate, and returns its URL.
func serve(t *testing.T, h http.Handler, c *tls.Certificate) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	if c == nil {
		s.Start()
	} else {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{*c}}
		s.StartTLS()
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// refusing is an address at which nothing listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// secured makes the upstream one with TLS.
func (p *patient) secured(c *issuer) { p.set("UPSTREAM", serve(p.t, soundEngine(), c.tls())+"/v1") }

// upstream makes the upstream one behind a handler.
func (p *patient) upstream(h func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	sound := soundEngine()
	p.set("UPSTREAM", serve(p.t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h(w, r, sound) }), nil)+"/v1")
}

// status answers paths that begin so with a status.
func status(path string, code int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasPrefix(r.URL.Path, path) {
			w.WriteHeader(code)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// answers makes the upstream one that answers requests for streams so.
func (p *patient) answers(answer func(http.ResponseWriter)) {
	p.upstream(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost {
			answer(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// streamOf is a stream of one word with members of its last event.
func streamOf(members string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"}}]}\n\ndata: {\"id\":\"1\",%s\"choices\":[]}\n\ndata: [DONE]\n\n", members)
	}
}

// TestCosts: without --no-spend an upstream whose credential is set gets streams of one token, and with it none.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		flags  []string
		key    string
		stream bool
	}{{nil, "", true}, {nil, "sk-of-the-operator", true}, {[]string{"--no-spend"}, "sk-of-the-operator", false}, {[]string{"--no-spend"}, "", true}} {
		p := newPatient(t)
		if c.key != "" {
			p.set("UPSTREAM_KEY", c.key)
		}
		posts := 0
		p.upstream(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPost {
				posts++
				body, _ := io.ReadAll(r.Body)
				if !bytes.Contains(body, []byte(`"max_tokens":1,`)) || !bytes.Contains(body, []byte(`"model":"llama"`)) {
					t.Errorf("asked for %s", body)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			if got := r.Header.Get("Authorization"); c.key != "" && got != "Bearer "+c.key {
				t.Errorf("the credential is %q", got)
			}
			next.ServeHTTP(w, r)
		})
		r, printed := p.examine(c.flags...)
		if len(r.complaints()) > 0 || (posts > 0) != c.stream || posts > 1 || strings.Contains(printed, "sk-of") {
			t.Errorf("%v: %d streams; %s", c, posts, printed)
		}
	}
}

// TestNamedModels: where the settings name the models, an upstream without a list is no fault.
func TestNamedModels(t *testing.T) {
	p := newPatient(t)
	p.upstream(status("/v1/models", 404))
	p.set("UPSTREAM", "a="+p.env["REPRISE_UPSTREAM"]+";models=llama")
	if r, printed := p.examine(); len(r.complaints()) > 0 || !strings.Contains(printed, "the settings name 1 model") || !strings.Contains(printed, "one token of llama") {
		t.Error(printed)
	}
}

// TestAnthropic: its API is asked in its own form.
func TestAnthropic(t *testing.T) {
	p := newPatient(t)
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Anthropic-Version") == "" || r.Header.Get("X-Api-Key") != "sk-ant-1":
			w.WriteHeader(401)
		case r.URL.Path == "/v1/models":
			io.WriteString(w, `{"data":[{"type":"model","id":"claude-opus-5"},{"type":"model","id":"claude-haiku-5"}]}`)
		case r.URL.Path == "/v1/messages":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":90,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n"+
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
		default:
			w.WriteHeader(404)
		}
	}), authority.issue(server{}).tls())
	p.set("UPSTREAM", "anthropic://"+strings.TrimPrefix(url, "https://"), "UPSTREAM_KEY", "sk-ant-1")
	r, printed := p.examine()
	if len(r.complaints()) > 0 || !strings.Contains(printed, "one token of claude-haiku-5") {
		t.Error(printed)
	}
}

// quiet takes what the servers of these tests report of their clients.
var quiet = log.New(io.Discard, "", 0)
