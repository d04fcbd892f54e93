package gate

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/internal/apierror"
)

var credentials = []string{"Authorization", "Api-Key", "X-Api-Key"}

// ask checks a request that is given as "METHOD URL|Name: value|…", and returns the code of the refusal.
func ask(g *Gate, text string) (code string, answer http.Header) {
	line, rest, _ := strings.Cut(text, "|")
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, nil)
	for field := range strings.SplitSeq(rest, "|") {
		name, value, _ := strings.Cut(field, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case name != "":
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	var refused *apierror.Error
	if errors.As(g.Check(w, r), &refused) {
		return refused.Code, w.Header()
	}
	return "", w.Header()
}

const evil = "Origin: https://evil.example"

func TestCheck(t *testing.T) {
	key := []string{"client-key-1", "client-key-2"}
	open := Options{Credentials: credentials}
	loopback := Options{Access: Access{Loopback: true, Trusted: []string{"Proxy.lan", "localhost:3000"}}, Credentials: credentials}
	keyed := Options{Access: Access{Loopback: true, Trusted: []string{"localhost:3000"}}, Keyed: true, Credentials: credentials}
	shared := Options{Access: Access{Loopback: true}, Shared: true, Credentials: credentials}
	clients := Options{Access: Access{ClientKeys: key, Trusted: []string{"app.example"}}, Keyed: true, Credentials: credentials}
	const local = "POST http://localhost:8080/v1/chat/completions"
	const named = "POST http://proxy.example/v1/chat/completions"
	for _, tc := range []struct {
		name    string
		o       Options
		request string
		want    string
	}{
		{"as ever", open, named, ""},
		{"CONNECT", open, "CONNECT http://proxy.example/", "method_not_allowed"},
		{"TRACE", open, "TRACE http://proxy.example/v1/models", "method_not_allowed"},
		{"PRI", open, "PRI http://proxy.example/", "method_not_allowed"},
		{"lower case", open, "post http://proxy.example/v1/models", "method_not_allowed"},
		{"webdav", open, "PROPFIND http://proxy.example/", "method_not_allowed"},

		{"page without a credential", open, named + "|" + evil, "foreign_origin"},
		{"page with its own credential", open, named + "|" + evil + "|Authorization: Bearer sk-1", ""},
		{"its preflight", open, "OPTIONS http://proxy.example/v1/chat/completions|" + evil, ""},
		{"websocket with its own credential", open, "GET http://proxy.example/v1/realtime|" + evil + "|Sec-Websocket-Protocol: realtime, openai-insecure-api-key.sk-1", ""},
		{"websocket without", open, "GET http://proxy.example/v1/realtime|" + evil + "|Sec-Websocket-Protocol: realtime", "foreign_origin"},

		{"loopback", loopback, local, ""},
		{"loopback by address", loopback, "GET http://127.0.0.1:8080/v1/models", ""},
		{"loopback by IPv6", loopback, "GET http://[::1]:8080/v1/models", ""},
		{"loopback without Host", loopback, local + "|Host: ", ""},
		{"rebinding", loopback, named + "|Authorization: Bearer sk-1", "unknown_host"},
		{"rebinding by a name that begins well", loopback, local + "|Host: 127.0.0.1.evil.example", "unknown_host"},
		{"trusted name", loopback, local + "|Host: PROXY.lan:1", ""},
		{"absolute form", loopback, "GET http://evil.example/v1/models", "unknown_host"},

		{"key: local", keyed, local, ""},
		{"key: page", keyed, local + "|" + evil, "foreign_origin"},
		{"key: page with a credential", keyed, local + "|" + evil + "|Authorization: Bearer x", "foreign_origin"},
		{"key: page on another port", keyed, local + "|Origin: http://localhost:3001", "foreign_origin"},
		{"key: trusted page", keyed, local + "|Origin: http://localhost:3000", ""},
		{"key: page that reads", keyed, "GET http://localhost:8080/v1/models|" + evil, "foreign_origin"},
		{"key: preflight", keyed, "OPTIONS http://localhost:8080/v1/models|" + evil + "|Access-Control-Request-Method: POST", "foreign_origin"},
		{"key: null", keyed, local + "|Origin: null", "foreign_origin"},
		{"key: form", keyed, local + "|Sec-Fetch-Site: cross-site", "foreign_origin"},
		{"key: own page", keyed, local + "|Origin: http://localhost:8080|Sec-Fetch-Site: same-origin", ""},
		{"key: rebinding", keyed, local + "|Host: evil.example|Origin: http://evil.example|Sec-Fetch-Site: same-origin", "unknown_host"},
		{"shared: page with any credential", shared, local + "|" + evil + "|Authorization: Bearer x", "foreign_origin"},

		{"client: none", clients, named, "invalid_api_key"},
		{"client: wrong", clients, named + "|Authorization: Bearer client-key-3", "invalid_api_key"},
		{"client: a part", clients, named + "|Authorization: Bearer client-key-", "invalid_api_key"},
		{"client: empty", clients, named + "|Authorization: Bearer ", "invalid_api_key"},
		{"client: no scheme", clients, named + "|Authorization: client-key-1", "invalid_api_key"},
		{"client: bearer", clients, named + "|Authorization: bearer client-key-2", ""},
		{"client: x-api-key", clients, named + "|X-Api-Key: client-key-1", ""},
		{"client: api-key", clients, named + "|Api-Key: client-key-1", ""},
		{"client: in the query", clients, "GET http://proxy.example/v1/models?api-key=client-key-1", "invalid_api_key"},
		{"client: websocket", clients, "GET http://proxy.example/v1/realtime|Sec-Websocket-Protocol: realtime,openai-insecure-api-key.client-key-1", ""},
		{"client: explain", clients, "POST http://proxy.example/v1/reprise/explain|X-Reprise-Admin-Token: token", "invalid_api_key"},
		{"client: page", clients, named + "|" + evil + "|Authorization: Bearer client-key-1", "foreign_origin"},
		{"client: trusted page", clients, named + "|Origin: https://app.example|Authorization: Bearer client-key-1", ""},
		{"client: trusted page without a key", clients, named + "|Origin: https://app.example", "invalid_api_key"},
		{"client: its preflight", clients, "OPTIONS http://proxy.example/v1/models|Origin: https://app.example|Access-Control-Request-Method: GET", ""},
		{"client: OPTIONS", clients, "OPTIONS http://proxy.example/v1/models", "invalid_api_key"},
	} {
		got, header := ask(New(tc.o), tc.request)
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if (got == "invalid_api_key") != (header.Get("WWW-Authenticate") == "Bearer") || (got == "method_not_allowed") != (header.Get("Allow") != "") {
			t.Errorf("%s: %v", tc.name, header)
		}
	}
}

// TestRefusalsSayWhatHelps: the message of a refusal names the value that allows the request, and nothing that would not.
func TestRefusalsSayWhatHelps(t *testing.T) {
	open, keyed := New(Options{Credentials: credentials}), New(Options{Keyed: true, Families: []string{"/v1/chat/completions"}})
	for _, tc := range []struct{ origin, site, says string }{
		{"http://localhost:3000", "", `web pages of "http://localhost:3000"; REPRISE_TRUSTED_HOSTS can allow them, by "localhost:3000"`},
		{"app://notes.example", "cross-site", `by "notes.example"`},
		{"null", "cross-site", `web pages of "null"; a page whose Origin has no host cannot be allowed`},
		{"", "cross-site", "web pages of other sites; a page whose Origin has no host cannot be allowed"},
	} {
		for g, credential := range map[*Gate]bool{open: true, keyed: false} {
			r := httptest.NewRequest("POST", "http://localhost/v1/chat/completions", nil)
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			if tc.site != "" {
				r.Header.Set("Sec-Fetch-Site", tc.site)
			}
			err := g.Check(httptest.NewRecorder(), r)
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "a credential of its own") != credential {
				t.Errorf("%+v: %v", tc, err)
			}
		}
	}
	for request, says := range map[string]string{
		"GET /v1/chat/completions":     "; this path takes POST.",
		"POST /v1/models":              "; this path takes GET.",
		"POST /chat/completions":       "; the base URL of a client ends in /v1.",
		"POST /v1/chat/completion":     "; REPRISE_API_PATHS can add it.",
		"POST /v1/v1/chat/completions": "; REPRISE_API_PATHS can add it.",
	} {
		method, path, _ := strings.Cut(request, " ")
		if err := keyed.Path(method, &url.URL{Path: path}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", request, err)
		}
	}
}

func TestPath(t *testing.T) {
	extra, err := ParsePath("GET /v1/files/*/content")
	if err != nil {
		t.Fatal(err)
	}
	below, err := ParsePath("/api/**")
	if err != nil {
		t.Fatal(err)
	}
	keyed := New(Options{Keyed: true, Families: []string{"/v1/new"}, Access: Access{Paths: []Path{extra, below}}})
	open := New(Options{})
	const dirty, unknown = "invalid_path", "path_not_allowed"
	for _, tc := range []struct {
		request     string
		open, keyed string
	}{
		{"POST /v1/chat/completions", "", ""},
		{"OPTIONS /v1/chat/completions", "", ""},
		{"GET /v1/chat/completions", "", unknown},
		{"POST /v1/new", "", ""},
		{"GET /v1/models", "", ""},
		{"HEAD /v1/models", "", ""},
		{"DELETE /v1/models/ft", "", unknown},
		{"GET /v1/models/org/name-1.5", "", ""},
		{"GET /v1/models/org%2Fname-1.5", "", ""},
		{"GET /v1/responses/resp_1", "", ""},
		{"GET /v1/responses/resp_1/input_items", "", ""},
		{"POST /v1/responses/resp_1/cancel", "", ""},
		{"POST /v1/responses/resp_1/other", "", unknown},
		{"POST /openai/responses", "", ""},
		{"POST /openai/files", "", unknown},
		{"GET /v1/responses/", "", unknown},
		{"GET /v1/files", "", unknown},
		{"GET /v1/files/f/content", "", ""},
		{"GET /v1/files/f/content/more", "", unknown},
		{"GET /v1/files//content", "", unknown},
		{"DELETE /v1/files/f/content", "", unknown},
		{"GET /v1/organization/usage/completions", "", unknown},
		{"POST /v1/realtime/sessions", "", unknown},
		{"GET /v1/realtime", "", ""},
		{"DELETE /api/x/y", "", ""},
		{"POST /api/x//y", "", unknown},
		{"POST /api/", "", unknown},
		{"POST /flush_cache", "", unknown},
		{"POST /reset_prefix_cache", "", unknown},
		{"GET /metrics", "", unknown},
		{"GET /", "", unknown},
		{"POST //v1/chat/completions", "", unknown},
		{"POST /v1//chat/completions", "", unknown},
		{"POST /v1/chat/completions/", "", unknown},
		{"POST /V1/chat/completions", "", unknown},
		{"POST /v1/chat%2fcompletions", "", ""},
		{"POST /v1/models/%", "", unknown},
		{"GET /%761/models", dirty, dirty},
		{"GET /v1%2fmodels", dirty, dirty},
		{"GET /v1/../metrics", dirty, dirty},
		{"GET /v1/%2e%2e/metrics", dirty, dirty},
		{"GET /v1/.%2E/metrics", dirty, dirty},
		{"GET /v1/%252e%252e/metrics", dirty, dirty},
		{"GET /v1/%25252e%25252e/metrics", dirty, dirty},
		{"GET /v1/%25zz/%252e%252e/metrics", dirty, dirty},
		{"GET /v1/models/..%2f..%2fmetrics", dirty, dirty},
		{"GET /v1/models/x%2f..%2f..%2fmetrics", dirty, dirty},
		{"GET /v1/models/..;/metrics", dirty, dirty},
		{"GET /v1/models/..%3b/metrics", dirty, dirty},
		{"GET /v1/models/.", dirty, dirty},
		{"GET /v1/models/..%5cmetrics", dirty, dirty},
		{"GET /v1/models/a%00b", dirty, dirty},
		{"GET /v1/models/a%0d%0aX:%20y", dirty, dirty},
		{"GET /v1/models/a%7f", dirty, dirty},
		{"GET /v1/models/%c0%ae%c0%ae/metrics", dirty, dirty},
		{"GET /v1/models/a..b", "", ""},
		{"GET /v1/models/...", "", ""},
		{"GET /v1/models/50%25", "", ""},
		{"GET /v1/models/modèle", "", ""},
	} {
		method, path, _ := strings.Cut(tc.request, " ")
		u := &url.URL{RawPath: path}
		var err error
		if u.Path, err = url.PathUnescape(path); err != nil {
			u.Path, u.RawPath = path, ""
		}
		for g, want := range map[*Gate]string{open: tc.open, keyed: tc.keyed} {
			got := ""
			var refused *apierror.Error
			if errors.As(g.Path(method, u), &refused) {
				got = refused.Code
			}
			if got != want {
				t.Errorf("%s, keyed %v: %q, want %q", tc.request, g == keyed, got, want)
			}
		}
	}
	for _, u := range []*url.URL{{}, {Path: "*"}, {Opaque: "x"}} {
		if open.Path("GET", u) == nil {
			t.Errorf("%v is a path", u)
		}
	}
}

func TestParsePath(t *testing.T) {
	for text, want := range map[string]string{
		"/v1/files": "", "GET /v1/files/*": "", "POST /v1/files/**": "", "/**": "",
		"": "has no path", "v1/files": "has no path", "get /v1/files": "does not begin with one of GET", "GET v1": "has no path", "TRACE /v1": "does not begin",
		"/v1//files": "has a segment", "/v1/../x": "has a segment", "/v1/fi*": "has a segment", "/v1/**/x": "has a segment", "/": "has a segment", "/v1/a%20b": "has a segment",
	} {
		_, err := ParsePath(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestStraighten: what could lead an upstream around the checks is not forwarded.
func TestStraighten(t *testing.T) {
	for _, tc := range []struct {
		header, value string
		keyed, kept   bool
	}{
		{"Upgrade", "websocket", true, true}, {"Upgrade", "WebSocket", false, true}, {"Upgrade", "h2c", false, false}, {"Upgrade", "websocket, h2c", false, false},
		{"X-Http-Method-Override", "DELETE", true, false}, {"X-Http-Method-Override", "DELETE", false, true}, {"X-Original-Url", "/metrics", true, false},
		{"X_http_method_override", "DELETE", true, false}, {"X-Forwarded-Uri", "/metrics", true, false}, {"X-Portkey-Custom-Host", "http://x", true, false},
		{"X-Portkey-Config", "pc-1", true, false}, {"X-Portkey-Config", "{}", false, true},
		{"X-Anything", "x", true, false}, {"X-Anything", "x", false, true}, {"X-Route", "x", true, true}, {"X_route", "x", true, false},
		{"Authorization", "x", true, true}, {"X-Acme-Token", "x", true, true}, {"Traceparent", "x", true, true}, {"X-Stainless-Lang", "js", true, true},
		{"Content-Type", "application/json", true, true}, {"Openai-Beta", "x", true, true}, {"Openai-Organization", "x", true, false},
		{"Sec-Websocket-Protocol", "realtime", true, true}, {"X-Reprise-Mode", "off", true, true}, {"X-Gateway-Destination-Endpoint", "10.0.0.1", true, false},
	} {
		r := httptest.NewRequest("GET", "/v1/models", nil)
		r.Header.Set(tc.header, tc.value)
		if err := New(Options{Keyed: tc.keyed, Headers: []string{"x-route"}}).Check(httptest.NewRecorder(), r); err != nil || (r.Header.Get(tc.header) != "") != tc.kept {
			t.Errorf("%+v: %v, %v", tc, r.Header, err)
		}
	}
}

// FuzzPath: what passes has no dot segment in any number of decodings, and a keyed gate passes nothing that an open one refuses.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"/v1/models/a", "/v1/%2e%2e/x", "/v1/models/%25252e", "/a;b/..;c", "//", "/%"} {
		f.Add("GET", seed)
	}
	open, keyed := New(Options{}), New(Options{Keyed: true})
	f.Fuzz(func(t *testing.T, method, raw string) {
		u, err := url.ParseRequestURI(raw)
		if err != nil {
			return
		}
		if open.Path(method, u) != nil {
			if keyed.Path(method, u) == nil {
				t.Fatalf("%q is refused without a key alone", raw)
			}
			return
		}
		path := u.EscapedPath()
		for range 6 {
			if slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), func(s string) bool { return s == "." || s == ".." }) {
				t.Fatalf("%q hides a dot segment", raw)
			}
			path = unescape(path)
		}
	})
}

// BenchmarkCheck is the cost for each request, with and without client keys.
func BenchmarkCheck(b *testing.B) {
	for name, o := range map[string]Options{
		"loopback": {Access: Access{Loopback: true}},
		"clients":  {Access: Access{ClientKeys: []string{"client-key-1"}}, Keyed: true},
	} {
		b.Run(name, func(b *testing.B) {
			g, r, w := New(o), httptest.NewRequest("POST", "http://127.0.0.1:8080/v1/chat/completions", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer client-key-1")
			b.ReportAllocs()
			for b.Loop() {
				if err := g.Check(w, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
