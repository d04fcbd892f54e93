package attacks_test

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// relayed are requests that an open relay would forward under the operator's credential. Each begins with "METHOD PATH".
var relayed = []string{
	"POST /flush_cache", "POST /reset_prefix_cache", "GET /metrics", "GET /server_info", "GET /", "GET /v1", "POST /v1/",
	"GET /v1/files", "DELETE /v1/models/ft-1", "GET /v1/organization/api_keys", "POST /v1/organization/projects", "GET /v1/usage", "GET /v1/fine_tuning/jobs",
	"GET /v1/chat/completions", "GET /v1/chat/completions/chatcmpl-1", "POST /v1/realtime/client_secrets", "GET /v1/vector_stores", "GET /v1/threads/t",
	"PUT /v1/chat/completions", "PATCH /v1/models", "POST /v1/models", "POST /v1/unload_lora_adapter", "CONNECT localhost:443", "TRACE /v1/models", "FLUSH /v1/models",
	"GET /v1/models/../../metrics", "GET /v1/models/%2e%2e/%2e%2e/metrics", "GET /v1/models/%252e%252e/%252e%252e/metrics", "GET /v1/models/..%2f..%2fmetrics",
	"GET /v1/models/..;/..;/metrics", "GET /v1/models/..%5c..%5cmetrics", "GET /v1/responses/resp_rx0123456789abcdef01234567_../../metrics",
	"GET http://localhost/metrics", "GET //metrics", "GET /v1//metrics", "GET /V1/models", "POST /v1/chat/completions/../../../flush_cache", "POST /v1/chat/completions/",
	"GET /metrics?/v1/models", "GET /metrics#/v1/models", "GET /metrics;/v1/models", "OPTIONS /flush_cache",
}

// TestUpstreamKeyIsNoOpenRelay is line 2 of the list in SECURITY.md: under the operator's credential, only paths of inference are forwarded.
func TestUpstreamKeyIsNoOpenRelay(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_UPSTREAM_KEY=sk-operator")
	for _, line := range relayed {
		p.raw(strings.ReplaceAll(line+" HTTP/1.1|Host: localhost|Content-Length: 2|Content-Type: application/json||{}", "|", "\r\n"), 1)
		for _, c := range up.take() {
			t.Errorf("%s reached the upstream: %+v", line, c)
		}
	}
	for _, line := range []string{"GET /v1/models", "GET /v1/models/org/model-1.5", "POST /v1/moderations", "POST /v1/chat/completions", "GET /v1/responses/resp_1"} {
		method, path, _ := strings.Cut(line, " ")
		body := ""
		if method == "POST" {
			body = chat("What is a relay?")
		}
		r := p.Do(method, p.API+path, body, "Authorization", "Bearer of-the-client")
		if calls := up.take(); r.Status != 200 || len(calls) != 1 || calls[0].key != "Bearer sk-operator" {
			t.Errorf("%s: %d, the upstream got %+v: %s", line, r.Status, calls, r.Body)
		}
	}
	if r := p.Do("GET", p.API+"/v1/files", ""); r.Status != 404 || !strings.Contains(r.Body, "REPRISE_API_PATHS") {
		t.Errorf("a path that is not forwarded: %d %s", r.Status, r.Body)
	}
}

// TestWebPagesCannotUseTheKey is line 2 of the list in SECURITY.md: a page that a browser on this machine shows, of any site or under a
// name that was made to lead here, gets nothing of a proxy that holds a key.
func TestWebPagesCannotUseTheKey(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_UPSTREAM_KEY=sk-operator")
	_, authority, _ := strings.Cut(p.API, "://")
	pages := [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://localhost:3000"}, {"Origin", "http://127.0.0.1:1"},
		{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Host", "evil.example", "Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin"}, {"Host", "evil.example"},
		{"Host", "localhost.evil.example"}, {"Host", "127.0.0.1.evil.example:8080"}, {"Origin", "http://" + authority + ".evil.example"},
		{"Origin", "https://evil.example", "Authorization", "Bearer any"},
	}
	for _, header := range pages {
		for _, path := range []string{"/v1/chat/completions", "/v1/moderations"} {
			r := p.Do("POST", p.API+path, chat("What does a page get?"), header...)
			if calls := up.take(); len(calls) > 0 || r.Status != 403 {
				t.Errorf("%s for %v: %d, the upstream got %+v", path, header, r.Status, calls)
			}
		}
	}
	websocket := []string{"Origin", "https://evil.example", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	for what, r := range map[string]reply{
		"websocket": p.Do("GET", p.API+"/v1/realtime", "", websocket...),
		"preflight": p.Do("OPTIONS", p.API+"/v1/chat/completions", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"),
	} {
		if r.Status != 403 {
			t.Errorf("%s: %d", what, r.Status)
		}
	}
	for _, header := range [][]string{{}, {"Origin", p.API}, {"Origin", p.API, "Sec-Fetch-Site", "same-origin"}, {"Host", "LOCALHOST."}, {"Host", "[::1]:80"}} {
		if r := p.Do("POST", p.API+"/v1/moderations", chat("And who may?"), header...); r.Status != 200 {
			t.Errorf("%v: %d %s", header, r.Status, r.Body)
		}
	}
}

// TestRebindingReadsNothing is line 3 of the list in SECURITY.md: a name that a page's server made to lead to loopback opens neither
// listener, also where the proxy holds no key.
func TestRebindingReadsNothing(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()), "REPRISE_TENANT_FROM=none")
	p.ask("a question of another")
	for _, url := range []string{p.API + "/v1/chat/completions", p.Admin + "/admin/entries", p.Admin + "/metrics"} {
		method, body := "GET", ""
		if strings.HasSuffix(url, "completions") {
			method, body = "POST", chat("a question of another")
		}
		r := p.Do(method, url, body, "Host", "evil.example", "Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin")
		if r.Status != 403 || strings.Contains(r.Body, "answer 1") {
			t.Errorf("%s: %d %s", url, r.Status, r.Body)
		}
	}
	if r := p.Do("GET", p.Admin+"/readyz", "", "Host", "pod.example"); r.Status != 200 {
		t.Errorf("a probe: %d", r.Status)
	}
}

// TestRelayNeedsClientKeys is line 2 of the list in SECURITY.md: with a key and a listener that others can reach, the program does not
// start without client keys.
func TestRelayNeedsClientKeys(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		_, err := tryStart(t, upstream(t, echo()), "REPRISE_UPSTREAM_KEY=sk-operator", "REPRISE_LISTEN="+listen)
		if err == nil || !strings.Contains(err.Error(), "REPRISE_CLIENT_KEYS") {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if _, err := tryStart(t, upstream(t, echo()), "REPRISE_CLIENT_KEYS=client-key-1"); err == nil || !strings.Contains(err.Error(), "REPRISE_UPSTREAM_KEY") {
		t.Errorf("client keys alone: %v", err)
	}
}

// TestClientKeys is line 2 of the list in SECURITY.md: each request needs a key of a client, which the upstream never sees, and clients
// with different keys share nothing.
func TestClientKeys(t *testing.T) {
	t.Parallel()
	up := &witness{}
	var leaked []string
	look := func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "client-key") {
				leaked = append(leaked, name)
			}
		}
		up.ServeHTTP(w, r)
	}
	p := start(t, upstream(t, look), "REPRISE_UPSTREAM_KEY=sk-operator", "REPRISE_CLIENT_KEYS=client-key-1, client-key-2", "REPRISE_LISTEN=0.0.0.0:0", "REPRISE_ADMIN_TOKEN=sesame-open")
	p.API = strings.Replace(strings.Replace(p.API, "[::]", "127.0.0.1", 1), "0.0.0.0", "127.0.0.1", 1)
	const question = "What needs a key?"
	for _, header := range [][]string{{}, {"Authorization", "Bearer wrong"}, {"Authorization", "Basic client-key-1"}, {"Authorization", "Bearer client-key-"}, {"X-Api-Key", "CLIENT-KEY-1"}, {"Cookie", "client-key-1"}} {
		for _, path := range []string{"/v1/chat/completions", "/v1/moderations", "/v1/reprise/explain", "/v1/models", "/none"} {
			r := p.Do("POST", p.API+path+"?api-key=client-key-1", chat(question), header...)
			if calls := up.take(); r.Status != 401 || r.Header.Get("WWW-Authenticate") == "" || !strings.Contains(r.Body, `"invalid_api_key"`) || len(calls) > 0 {
				t.Errorf("%s with %v: %d %s", path, header, r.Status, r.Body)
			}
		}
	}
	for i, header := range [][]string{{"Authorization", "Bearer client-key-1"}, {"X-Api-Key", "client-key-1"}, {"Api-Key", "client-key-1"}, {"Authorization", "bearer client-key-2"}} {
		for _, want := range []string{"miss", "exact"} { // each is a tenant of its own
			if r := p.ask(question, append(header, "Host", "proxy.example")...); r.Status != 200 || r.Cache() != want {
				t.Errorf("%v: %d %s, want %s: %s", header, r.Status, r.Cache(), want, r.Body)
			}
		}
		if calls := up.take(); len(calls) != 1 || calls[0].key != "Bearer sk-operator" {
			t.Errorf("%d: the upstream got %+v", i, calls)
		}
	}
	if r := p.Do("POST", p.API+"/v1/reprise/explain", chat(question), "Authorization", "Bearer client-key-1", "X-Reprise-Admin-Token", "sesame-open"); r.Status != 200 {
		t.Errorf("explain: %d %s", r.Status, r.Body)
	}
	if len(leaked) > 0 {
		t.Error("the upstream got the client's key in ", slices.Compact(leaked))
	}
}

// TestPagesOfOtherSitesCannotPurge is line 3 of the list in SECURITY.md.
func TestPagesOfOtherSitesCannotPurge(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	p.ask("What is kept?")
	const all = `{"all":true,"dry_run":false}`
	forged := [][]string{
		{"Content-Type", "text/plain", "Origin", "https://evil.example"}, {"Content-Type", "text/plain", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		{"Content-Type", "text/plain", "Origin", "null"}, {"Content-Type", "text/plain"}, {"Content-Type", "text/plain; application/json"},
		{"Content-Type", "multipart/form-data; boundary=application/json"}, {"Content-Type", "application/x-www-form-urlencoded", "Origin", "http://localhost:3000"},
		{"Content-Type", "application/json", "Origin", "https://evil.example"}, {"Content-Type", "application/json", "Sec-Fetch-Site", "same-site"},
		{"Content-Type", "application/json", "Host", "evil.example", "Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin"},
	}
	for _, header := range forged {
		r := p.Do("POST", p.Admin+"/admin/purge", all, header...)
		if n, _ := p.Metric("reprise_entries"); n != 1 || r.Status < 400 {
			t.Errorf("%v: %d, %v entries are left: %s", header, r.Status, n, r.Body)
			p.ask("What is kept?")
		}
	}
	if r := p.purge(all); r.Status != 200 {
		t.Errorf("the operator's own: %d %s", r.Status, r.Body)
	}
}

// TestNoTunnelToTheUpstream is line 2 of the list in SECURITY.md: no other protocol than that of websockets is changed to, because all that
// follows would pass unseen, and no header names another method or path.
func TestNoTunnelToTheUpstream(t *testing.T) {
	t.Parallel()
	passed := make(chan string, 10)
	p := start(t, "REPRISE_UPSTREAM_KEY=sk-operator", upstream(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Upgrade", "X-HTTP-Method-Override", "X-Original-URL"} {
			if v := r.Header.Get(name); v != "" {
				passed <- name + ": " + v
			}
		}
		if r.Header.Get("Upgrade") != "" {
			socket(w, r)
		}
	}))
	for _, to := range []string{"h2c", "TLS/1.3", "websocket, h2c"} {
		c := p.dial()
		io.WriteString(c, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: "+to+"\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("%s: %+v, %v", to, resp, err)
		}
	}
	p.Do("POST", p.API+"/v1/moderations", "{}", "X-HTTP-Method-Override", "DELETE", "X-Original-URL", "/flush_cache")
	close(passed)
	for what := range passed {
		t.Error("the upstream got ", what)
	}
}

// TestPipelinedIdentity is line 4 of the list in SECURITY.md: of requests sent at once on one connection, each counts with its own key.
func TestPipelinedIdentity(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_UPSTREAM_KEY=sk-operator", "REPRISE_CLIENT_KEYS=client-key-1")
	const one = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n"
	const key = "Authorization: Bearer client-key-1\r\n"
	c := p.dial()
	io.WriteString(c, one+key+"\r\n"+one+"\r\n"+one+key+"Connection: close\r\n\r\n")
	text, err := io.ReadAll(c)
	if err != nil || strings.Count(string(text), "HTTP/1.1 200") != 2 || strings.Count(string(text), "HTTP/1.1 401") != 1 || len(up.take()) != 2 {
		t.Errorf("%v: %s", err, text)
	}
}
