package attacks_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reprise/internal/built"
	"strings"
	"sync"
	"syscall"
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
	v, ok := p.Metric(name)
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
	p := start(t, upstream(t, echo()), "REPRISE_CLIENT_TIMEOUT=3m")
	p.ask("warm")
	before := p.gauge("go_memstats_heap_alloc_bytes")
	for range n {
		io.WriteString(p.dialTo(p.API), head+"Content-Length: 1048576\r\n\r\n{")
	}
	built.Until(t, "all requests are being read", func() bool { return p.gauge("go_goroutines") > n })
	used := p.gauge("go_memstats_heap_alloc_bytes") - before
	t.Logf("measured: %d half-sent requests of 1 MiB hold %.0f MiB of heap", n, used/(1<<20))
	if used > 150<<20 {
		t.Errorf("%d half-sent requests hold %.0f MiB of heap, want at most 150", n, used/(1<<20))
	}
}

// slow are settings under which a client is given up within a second once its header has come. A client that these tests expect an
// answer for sends its body together with its header, or has other limits: no pause of a busy machine may count against it.
var slow = []string{"REPRISE_CLIENT_TIMEOUT=300ms"}

// answers reads everything that comes until the server closes the connection, and returns the status lines of the answers. It
// fails the test where the connection stays open.
func answers(t *testing.T, what string, c net.Conn) (statuses, whole string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute)) // a connection that is held stays open for ever
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
	setting := upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) })
	// net/http waits for the bodies of the requests that it answers itself for as long as for their headers
	p := start(t, append(slow, setting, "REPRISE_ADMIN_TOKEN=sesame-open")...)
	body := "Content-Length: 100\r\n\r\n{"
	huge := "Content-Length: 99999999999\r\n\r\n{"
	chunk := "Transfer-Encoding: chunked\r\n\r\n64\r\n{"
	post := func(path string) string { return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" }
	var all sync.WaitGroup
	for _, tc := range []struct{ what, base, head, status string }{
		{"a body that is read", p.API, head, "408"},
		{"a wrong type", p.API, post("/v1/chat/completions") + "Content-Type: text/plain\r\n", "400"},
		{"a bad connection header", p.API, head + "Connection: Authorization\r\n", "400"},
		{"a bad directive", p.API, head + "X-Reprise-TTL: soon\r\n", "400"},
		{"a bypass", p.API, head + "X-Reprise-Mode: off\r\n", "200 408"}, // the upstream answers without reading
		{"a compressed body", p.API, head + "Content-Encoding: gzip\r\n", "200 408"},
		{"another endpoint", p.API, post("/v1/files"), "200 408"},
		{"a GET with a body", p.API, "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200 408"},
		{"dot segments", p.API, post("/v1/../x"), "400"},
		{"explain without a token", p.API, post("/v1/reprise/explain") + "Content-Type: application/json\r\n", "401 403 408"},
		{"a go-ahead", p.API, post("/v1/chat/completions") + "Content-Type: text/plain\r\nExpect: 100-continue\r\n", "400"},
		{"a go-ahead that is given", p.API, head + "Expect: 100-continue\r\n", "100 408"},
		{"an unknown expectation", p.API, head + "Expect: wonders\r\n", "417"},
		{"OPTIONS *", p.API, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
		{"an upgrade with a body", p.API, "GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", "200 408"},
		{"no token", p.Admin, post("/admin/purge"), "401 403"},
		{"a purge", p.Admin, post("/admin/purge") + "Authorization: Bearer sesame-open\r\nContent-Type: application/json\r\n", "408"},
		{"an unknown path", p.Admin, post("/nothing"), "404"},
		{"a wrong method", p.Admin, post("/healthz"), "405"},
		{"health", p.Admin, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
		{"metrics", p.Admin, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
		{"an unknown expectation of the admin", p.Admin, post("/admin/purge") + "Expect: wonders\r\n", "417"},
		{"OPTIONS * of the admin", p.Admin, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n", "200"},
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

// TestDrippedBodyDoesNotLive is line 16 of the list in SECURITY.md: a body that comes a byte at a time, on every path that reads
// one, and a slow body of an honest client beside it. The honest client has the default limits, so that no pause of a busy machine
// counts against it: package clientio has the least rate that is enough, in virtual time.
func TestDrippedBodyDoesNotLive(t *testing.T) {
	t.Parallel()
	setting := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer("one"))
	})
	// a window that no pause of this process fills: the rate alone ends the connections
	p := start(t, setting, "REPRISE_ADMIN_TOKEN=sesame-open", "REPRISE_CLIENT_TIMEOUT=5s")
	patient := start(t, setting)
	honest := "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
	purge := "POST /admin/purge HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame-open\r\nContent-Type: application/json\r\n"
	body := chat(strings.Repeat("slow ", 800))
	var all sync.WaitGroup
	for _, tc := range []struct {
		what, base, head string
		each             int // bytes every 50 ms
		status           string
	}{
		{"the cached path", p.API, head, 1, "408"},
		{"the pass-through", p.API, "POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\n", 1, "408"},
		{"a bypass", p.API, head + "X-Reprise-Mode: off\r\n", 1, "408"},
		{"a purge", p.Admin, purge, 1, "408"},
		{"an honest client", patient.API, honest, 256, "200"},
		{"an honest upload", patient.API, "POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\n", 256, "200"},
	} {
		for _, chunked := range []bool{false, true} {
			all.Go(func() {
				c, begin := p.dialTo(tc.base), time.Now()
				done := make(chan struct{})
				go func() {
					defer close(done)
					drip(c, tc.head+"Connection: close\r\n", body, tc.each, chunked)
				}()
				got, whole := answers(t, tc.what, c)
				c.Close()
				<-done
				if got != tc.status {
					t.Errorf("%s, chunked %v: answered %q after %v, want %s: %s", tc.what, chunked, got, time.Since(begin), tc.status, whole)
				}
			})
		}
	}
	all.Wait()
}

// drip sends a request, of its body some bytes every 50 ms, until the connection takes no more.
func drip(c net.Conn, head, body string, each int, chunked bool) {
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
	if chunked {
		length = "Transfer-Encoding: chunked\r\n\r\n"
	}
	io.WriteString(c, head+length)
	for pace := time.NewTicker(50 * time.Millisecond); body != ""; <-pace.C {
		part := body[:min(each, len(body))]
		body = body[len(part):]
		if chunked {
			part = fmt.Sprintf("%x\r\n%s\r\n", len(part), part)
		}
		if _, err := io.WriteString(c, part); err != nil {
			return
		}
	}
	if chunked {
		io.WriteString(c, "0\r\n\r\n")
	}
}

// TestLargeBodyIsRefusedLegibly: clients that send a body over the limit read the 413, and not a connection that was reset. It is
// line 15 of the list in SECURITY.md.
func TestLargeBodyIsRefusedLegibly(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	url := p.API + "/v1/chat/completions"
	large := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(large, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, chunked := range []bool{false, true} {
		refusedLegibly(t, fmt.Sprint("Go, chunked ", chunked), func() (string, error) {
			f, err := os.Open(large)
			if err != nil {
				t.Fatal(err)
			}
			req, _ := http.NewRequest(http.MethodPost, url, f)
			req.Header.Set("Content-Type", "application/json")
			if !chunked {
				req.ContentLength = 40 << 20
			}
			resp, err := built.Client.Do(req)
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			return fmt.Sprint(resp.StatusCode, " ", string(body)), err
		})
	}
	for _, cmd := range [][]string{
		{"curl", "-sS", "-o", "-", "-w", "%{http_code}", "-H", "Content-Type: application/json", "--data-binary", "@" + large, url},
		{"curl", "-sS", "-o", "-", "-w", "%{http_code}", "-H", "Expect:", "-H", "Content-Type: application/json", "--data-binary", "@" + large, url},
		{"curl", "-sS", "-o", "-", "-w", "%{http_code}", "-H", "Expect:", "-H", "Transfer-Encoding: chunked", "-H", "Content-Type: application/json", "--data-binary", "@" + large, url},
		{"python3", "-c", `
import http.client, sys
c = http.client.HTTPConnection(sys.argv[1].split("/")[2], timeout=60)
c.request("POST", "/v1/chat/completions", open(sys.argv[2], "rb").read(), {"Content-Type": "application/json"})
r = c.getresponse()
print(r.status, r.read().decode())`, url, large},
		{"node", "-e", `
fetch(process.argv[1], {method: "POST", headers: {"Content-Type": "application/json"}, body: require("fs").readFileSync(process.argv[2])})
	.then(async r => console.log(r.status, await r.text()))`, url, large},
	} {
		if _, err := exec.LookPath(cmd[0]); err != nil {
			t.Logf("%s is not installed", cmd[0])
			continue
		}
		refusedLegibly(t, fmt.Sprint(cmd[:3]), func() (string, error) {
			out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput()
			return string(out), err
		})
	}
	if r := p.ask("afterwards"); r.Status != 200 {
		t.Errorf("afterwards: %d", r.Status)
	}
}

// refusedLegibly fails the test where what a client shows of its answer is not the 413. The proxy waits for two seconds for a client that
// has stopped sending. An attempt in which a busy machine stopped the client for longer shows nothing, hence a few of them.
func refusedLegibly(t *testing.T, who string, attempt func() (shown string, err error)) {
	t.Helper()
	for left := 4; ; left-- {
		begin := time.Now()
		shown, err := attempt()
		if err == nil && strings.Contains(shown, "413") && strings.Contains(shown, "request_too_large") {
			return
		}
		if left == 0 || time.Since(begin) < 2*time.Second {
			t.Errorf("%s: %v: %s", who, err, shown)
			return
		}
	}
}

// TestSlowHeadersAndHandshakesHoldNoConnection: a header that comes a byte at a time, on a new connection and after an answer,
// and a TLS handshake that does not go on. It is line 16 of the list in SECURITY.md.
func TestSlowHeadersAndHandshakesHoldNoConnection(t *testing.T) {
	t.Parallel()
	setting := upstream(t, echo())
	settings := append(slow, setting)
	plain, secure := start(t, settings...), start(t, append(settings, certificate(t)...)...)
	first := "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	var all sync.WaitGroup
	for _, tc := range []struct {
		what, base, first string
		then              string // is dripped for ever
	}{
		{"a header", plain.API, "", "POST /v1/chat/completions HTTP/1.1\r\nX-Long: " + strings.Repeat("x", 1000)},
		{"an endless header", plain.API, "POST / HTTP/1.1\r\n", strings.Repeat("A: b\r\n", 500)},
		{"empty lines", plain.API, "", strings.Repeat("\r\n", 1000)},
		{"a header of the admin", plain.Admin, "", "GET /metrics HTTP/1.1\r\nX-Long: " + strings.Repeat("x", 1000)},
		{"a second header", plain.Admin, first, "GET /metrics HTTP/1.1\r\nX-Long: " + strings.Repeat("x", 1000)},
		{"a second header of which little comes", plain.Admin, first, "GE"},
		{"nothing", plain.API, "", ""},
		{"nothing over TLS", secure.API, "", ""},
		{"a handshake", secure.API, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", strings.Repeat("x", 1000)},
	} {
		all.Go(func() {
			c := plain.dialTo(tc.base)
			io.WriteString(c, tc.first)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for pace := time.NewTicker(50 * time.Millisecond); tc.then != ""; <-pace.C {
					if _, err := io.WriteString(c, tc.then[:1]); err != nil {
						return
					}
					tc.then = tc.then[1:]
				}
			}()
			answers(t, tc.what, c)
			c.Close()
			<-done
		})
	}
	all.Wait()
}

// TestChunksWithoutContentHoldNoConnection: bodies whose chunks carry next to nothing. It is line 16 of the list in SECURITY.md.
func TestChunksWithoutContentHoldNoConnection(t *testing.T) {
	t.Parallel()
	const most = 256 << 20 // in chunks of one byte, 32 MiB take 192 MiB
	p := start(t, append(slow, upstream(t, echo()))...)
	for what, again := range map[string]string{
		"tiny chunks":          strings.Repeat("1\r\n \r\n", 10_000),
		"chunk extensions":     ";" + strings.Repeat("x", 1000),
		"an endless line":      strings.Repeat("0", 1000),
		"trailers":             "0\r\n" + strings.Repeat("X: y\r\n", 1000),
		"extensions per chunk": "1;" + strings.Repeat("x", 100) + "\r\n \r\n",
	} {
		for _, base := range []string{p.API, p.Admin} {
			c := p.dialTo(base)
			path := map[bool]string{true: "/v1/chat/completions", false: "/admin/purge"}[base == p.API]
			io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
			sent, done := 0, make(chan struct{})
			go func() {
				defer close(done)
				if strings.HasPrefix(again, ";") {
					io.WriteString(c, "1")
				}
				for sent < most {
					n, err := io.WriteString(c, again)
					if sent += n; err != nil {
						return
					}
				}
			}()
			answers(t, what, c)
			c.Close()
			if <-done; sent >= most {
				t.Errorf("%s: the proxy read %d MiB of it", what, sent>>20)
			}
		}
	}
}

// TestClientsThatNeverReadAreCut: answers that are not taken, on both listeners. It is line 15 of the list in SECURITY.md.
func TestClientsThatNeverReadAreCut(t *testing.T) {
	t.Parallel()
	p := start(t, append(slow, upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 16<<20)) }))...)
	before := p.gauge("go_goroutines")
	for range 10 {
		io.WriteString(p.dialTo(p.API), "GET /v1/large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		c := p.dialTo(p.Admin)
		go io.WriteString(c, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 2000)) // some 30 MB of answers
	}
	built.Until(t, "the goroutines of clients that never read end", func() bool { return p.gauge("go_goroutines") < before+5 })
}

// TestHalfSentRequestsEnd is lines 15 and 16 of the list in SECURITY.md in numbers: 2,000 requests half-sent, then the
// goroutines and files of the process are what they were.
func TestHalfSentRequestsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("2,000 connections")
	}
	t.Parallel()
	const n = 2000
	p := start(t, upstream(t, echo()), "REPRISE_CLIENT_TIMEOUT=3s", "REPRISE_ADMIN_TOKEN=sesame-open")
	goroutines, files := p.gauge("go_goroutines"), p.gauge("process_open_fds")
	conns := make([]net.Conn, 0, n)
	for i := range n {
		c, err := net.Dial("tcp", strings.TrimPrefix([]string{p.API, p.API, p.API, p.Admin}[i%4], "http://"))
		if err != nil {
			if errors.Is(err, syscall.EMFILE) {
				t.Skip("this process may not open 2,000 connections: ", err)
			}
			t.Fatal(err)
		}
		conns = append(conns, c)
		io.WriteString(c, []string{
			head + "Content-Length: 1048576\r\n\r\n{",
			"POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1048576\r\n\r\n{",
			head + "X-Reprise-TTL: soon\r\nContent-Length: 1000\r\n\r\n{", // refused, but its rest would be read
			"POST /admin/purge HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{",
		}[i%4])
	}
	most := p.gauge("go_goroutines")
	r := p.ask("meanwhile")
	built.Until(t, "goroutines and files return", func() bool {
		return p.gauge("go_goroutines") < goroutines+20 && p.gauge("process_open_fds") < files+20
	})
	t.Logf("measured: %d half-sent requests: %.0f goroutines before, %.0f during, %.0f after", n, goroutines, most, p.gauge("go_goroutines"))
	for _, c := range conns {
		c.Close()
	}
	if r.Status != 200 {
		t.Errorf("meanwhile: %d %s", r.Status, r.Body)
	}
}
