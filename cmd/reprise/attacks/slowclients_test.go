package attacks_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// dialTo opens a raw connection to one of the two listeners, by its base URL.
func (p *process) dialTo(base string) net.Conn {
	p.t.Helper()
	_, address, _ := strings.Cut(base, "://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

// gauge is the value of a metric that must be there.
func (p *process) gauge(name string) float64 {
	p.t.Helper()
	v, ok := p.metric(name)
	if !ok {
		p.t.Fatal("there is no metric ", name)
	}
	return v
}

const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"

// TestAnnouncedLengthReservesNoMemory is line 10 of the list in SECURITY.md: clients that announce a large body and send
// nothing of it.
func TestAnnouncedLengthReservesNoMemory(t *testing.T) {
	t.Parallel()
	const n = 1500
	p := start(t, upstream(t, echo()))
	p.ask("warm")
	before := p.gauge("go_memstats_heap_alloc_bytes")
	for range n {
		io.WriteString(p.dialTo(p.api), head+"Content-Length: 1048576\r\n\r\n{")
	}
	eventually(t, "all requests are being read", func() bool { return p.gauge("go_goroutines") > n })
	used := p.gauge("go_memstats_heap_alloc_bytes") - before
	t.Logf("measured: %d half-sent requests of 1 MiB hold %.0f MiB of heap", n, used/(1<<20))
	if used > 150<<20 {
		t.Errorf("%d half-sent requests hold %.0f MiB of heap, want at most 150", n, used/(1<<20))
	}
}

// slow are settings under which a slow client is given up within a second.
var slow = []string{"REPRISE_HEADER_TIMEOUT=300ms", "REPRISE_BODY_IDLE_TIMEOUT=300ms", "REPRISE_CLIENT_WRITE_TIMEOUT=300ms", "REPRISE_IDLE_TIMEOUT=1s"}

// answers reads everything that comes until the server closes the connection, and returns the status lines of the answers. It
// fails the test where the connection stays open.
func answers(t *testing.T, what string, c net.Conn) (statuses, whole string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(15 * time.Second)) // a connection that is held stays open for ever
	got, err := io.ReadAll(c)
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		t.Errorf("%s: the connection is still open; it had been answered %.80q", what, got)
	}
	for line := range strings.Lines(string(got)) {
		if rest, ok := strings.CutPrefix(line, "HTTP/1.1 "); ok {
			statuses += rest[:3] + " "
		}
	}
	return strings.TrimSpace(statuses), string(got)
}

// TestUnreadBodyHoldsNoConnection is line 15 of the list in SECURITY.md: a body of which one byte is sent, wherever a request is
// answered without its body being read, on both listeners. The client gets its answer, and the connection ends.
func TestUnreadBodyHoldsNoConnection(t *testing.T) {
	t.Parallel()
	p := start(t, append(slow, upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) }), "REPRISE_ADMIN_TOKEN=sesame-open")...)
	body := "Content-Length: 100\r\n\r\n{"
	huge := "Content-Length: 99999999999\r\n\r\n{"
	chunk := "Transfer-Encoding: chunked\r\n\r\n64\r\n{"
	post := func(path string) string { return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" }
	var all sync.WaitGroup
	for _, tc := range []struct{ what, base, head, status string }{
		{"a body that is read", p.api, head, "408"},
		{"a wrong type", p.api, post("/v1/chat/completions") + "Content-Type: text/plain\r\n", "400"},
		{"a bad connection header", p.api, head + "Connection: Authorization\r\n", "400"},
		{"a bad directive", p.api, head + "X-Reprise-TTL: soon\r\n", "400"},
		{"a bypass", p.api, head + "X-Reprise-Mode: off\r\n", "200 408"}, // the upstream answers without reading
		{"a compressed body", p.api, head + "Content-Encoding: gzip\r\n", "200 408"},
		{"another endpoint", p.api, post("/v1/files"), "200 408"},
		{"a GET with a body", p.api, "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200 408"},
		{"dot segments", p.api, post("/v1/../x"), "400"},
		{"explain without a token", p.api, post("/v1/reprise/explain") + "Content-Type: application/json\r\n", "401 403 408"},
		{"a go-ahead", p.api, post("/v1/chat/completions") + "Content-Type: text/plain\r\nExpect: 100-continue\r\n", "400"},
		{"a go-ahead that is given", p.api, head + "Expect: 100-continue\r\n", "100 408"},
		{"an unknown expectation", p.api, head + "Expect: wonders\r\n", "417"},
		{"OPTIONS *", p.api, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
		{"an upgrade with a body", p.api, "GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", "200 408"},
		{"no token", p.admin, post("/admin/purge"), "401 403"},
		{"a purge", p.admin, post("/admin/purge") + "Authorization: Bearer sesame-open\r\nContent-Type: application/json\r\n", "408"},
		{"an unknown path", p.admin, post("/nothing"), "404"},
		{"a wrong method", p.admin, post("/healthz"), "405"},
		{"health", p.admin, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
		{"metrics", p.admin, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
		{"an unknown expectation of the admin", p.admin, post("/admin/purge") + "Expect: wonders\r\n", "417"},
		{"OPTIONS * of the admin", p.admin, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
	} {
		for form, rest := range map[string]string{"": body, ", huge": huge, ", chunked": chunk} {
			all.Go(func() {
				c := p.dialTo(tc.base)
				io.WriteString(c, tc.head+rest)
				got, whole := answers(t, tc.what+form, c)
				if form != "" {
					return // refused by its length or at its first byte
				}
				for status := range strings.FieldsSeq(got) {
					if !strings.Contains(tc.status, status) {
						t.Errorf("%s%s: answered %q, want %q: %s", tc.what, form, got, tc.status, whole)
					}
				}
				if got == "" {
					t.Errorf("%s%s: not answered", tc.what, form)
				}
			})
		}
	}
	all.Wait()
}
