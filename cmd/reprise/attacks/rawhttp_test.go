package attacks_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// seen is a request as the upstream got it.
type seen struct {
	method, path, key, body string
	header                  http.Header
}

// witness is an upstream that records its requests.
type witness struct {
	mu   sync.Mutex
	list []seen
}

// note keeps a request, unless it is incomplete: then it returns an error.
func (u *witness) note(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.list = append(u.list, seen{r.Method, r.RequestURI, r.Header.Get("Authorization"), string(body), r.Header})
	}
	return err
}

func (u *witness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if u.note(r) != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answer("an answer"))
}

// take returns what has come since the last take.
func (u *witness) take() []seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.list
	u.list = nil
	return list
}

// rawMessages are HTTP/1 messages on which readers differ, with our verdict: the statuses of the answers, whether the connection is
// open afterwards, and how many requests reach the upstream. PATH, AUTH, SIZE and BODY are filled in; a line ends with CRLF, where ~ is in
// place of that with LF alone, and ¬ is a NUL, ^ a CR.
var rawMessages = []struct{ name, text, want string }{
	{"a request", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE||BODY", "200 open 1"},
	{"two at once", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE||BODYGET /v1/second HTTP/1.1|Host: localhost|AUTH||", "200 200 open 2"},
	{"chunked", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||CHUNK0||", "200 open 1"},
	{"chunked, with extensions and a trailer", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||CHUNK0;a=b|X-Trailer: 1||", "200 open 1"},

	{"length and chunks", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|Transfer-Encoding: chunked||CHUNK0||", "400 closed 0"},
	{"chunks and length", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked|SIZE||CHUNK0||", "400 closed 0"},
	{"chunks and length, after another", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE||BODYPOST /v1/second HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked|Content-Length: 3||0||", "200 400 closed 1"},
	{"a hidden request", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: 4|Transfer-Encoding: chunked||0||GET /v1/hidden HTTP/1.1|Host: localhost||", "400 closed 0"},
	{"a hidden header", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|X: y~Transfer-Encoding: chunked||CHUNK0||", "400 closed 0"},
	{"a folded header", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|X: y| Transfer-Encoding: chunked||BODY", "400 closed 0"},
	{"a folded value", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding:| chunked||CHUNK0||", "400 closed 0"},
	{"chunks in HTTP/1.0", "POST PATH HTTP/1.0|Host: localhost|AUTH|Connection: keep-alive|Transfer-Encoding: chunked||CHUNK0||", "400 closed 0"},
	{"LF for CRLF", "POST PATH HTTP/1.1~Host: localhost~AUTH~SIZE~~BODY", "400 closed 0"},
	{"chunked twice", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked|Transfer-Encoding: chunked||CHUNK0||", "501 closed 0"},
	{"gzip, chunked", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: gzip, chunked||CHUNK0||", "501 closed 0"},
	{"identity", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: identity|SIZE||BODY", "400 closed 0"},
	{"xchunked", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: xchunked||CHUNK0||", "501 closed 0"},
	{"space before a colon", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding : chunked||CHUNK0||", "400 closed 0"},
	{"two lengths", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|Content-Length: 1||BODY", "400 closed 0"},
	{"a length twice", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|SIZE||BODY", "200 open 1"},
	{"a list of lengths", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: 5, 5||hello", "400 closed 0"},
	{"a signed length", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: +5||hello", "400 closed 0"},
	{"a negative length", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: -1||", "400 closed 0"},
	{"a hexadecimal length", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: 0x5||hello", "400 closed 0"},
	{"a huge length", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: 99999999999999999999||", "400 closed 0"},
	{"an empty length", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length:||", "400 closed 0"},
	{"a bad chunk size", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||x|a|0||", "400 closed 0"},
	{"0x before a chunk size", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||0x1|a|0||", "400 closed 0"},
	{"a huge chunk size", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||fffffffffffffffff|a|0||", "400 closed 0"},
	{"LF after a chunk size", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||1~a|0||", "400 closed 0"},
	{"no line end after a chunk", "POST PATH HTTP/1.1|Host: localhost|AUTH|Transfer-Encoding: chunked||1|aXX0||", "400 closed 0"},
	{"a body cut short", "POST PATH HTTP/1.1|Host: localhost|AUTH|Content-Length: 100||hello", "408 closed 0"},
	{"a header cut short", "POST PATH HTTP/1.1|Host: localhost|AUTH|", "closed 0"},

	{"no Host", "GET /v1/x HTTP/1.1|AUTH||", "400 closed 0"},
	{"two Hosts", "GET /v1/x HTTP/1.1|Host: localhost|Host: localhost|AUTH||", "400 closed 0"},
	{"a Host with a space", "GET /v1/x HTTP/1.1|Host: local host|AUTH||", "400 closed 0"},
	{"another Host", "GET /v1/x HTTP/1.1|Host: evil.example|AUTH||", "403 open 0"},
	{"an empty Host", "GET /v1/x HTTP/1.1|Host:|AUTH||", "200 open 1"},
	{"HTTP/1.0", "GET /v1/x HTTP/1.0|AUTH||", "200 closed 1"},
	{"HTTP/1.0, kept open", "GET /v1/x HTTP/1.0|Connection: keep-alive|AUTH||", "200 open 1"},
	{"HTTP/1.2", "GET /v1/x HTTP/1.2|Host: localhost|AUTH||", "200 open 1"},
	{"HTTP/0.9", "GET /v1/x|", "400 closed 0"},
	{"HTTP/2.0", "GET /v1/x HTTP/2.0|Host: localhost|AUTH||", "505 closed 0"},
	{"the preface of HTTP/2", "PRI * HTTP/2.0||SM||", "405 closed 0"},
	{"PRI", "PRI * HTTP/1.1|Host: localhost|AUTH||", "405 open 0"},
	{"CONNECT", "CONNECT upstream.example:443 HTTP/1.1|Host: localhost|AUTH||", "405 open 0"},
	{"CONNECT to a local name", "CONNECT localhost:443 HTTP/1.1|Host: localhost|AUTH||", "405 open 0"},
	{"TRACE", "TRACE /v1/x HTTP/1.1|Host: localhost|AUTH||", "405 open 0"},
	{"lower case", "post PATH HTTP/1.1|Host: localhost|AUTH|SIZE||BODY", "405 open 0"},
	{"a method of WebDAV", "PROPFIND /v1/x HTTP/1.1|Host: localhost|AUTH||", "405 open 0"},
	{"no method", " /v1/x HTTP/1.1|Host: localhost|AUTH||", "400 closed 0"},

	{"absolute form", "GET http://localhost/v1/x HTTP/1.1|Host: localhost|AUTH||", "200 open 1"},
	{"absolute form of another", "GET http://evil.example/v1/x HTTP/1.1|Host: localhost|AUTH||", "403 open 0"},
	{"absolute form without a path", "GET http://localhost HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"opaque form", "GET mailto:x HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"authority form", "GET localhost:80 HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"asterisk form", "GET * HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"OPTIONS of all", "OPTIONS * HTTP/1.1|Host: localhost|AUTH||", "200 open 0"},
	{"a space in the path", "GET /v1/x y HTTP/1.1|Host: localhost|AUTH||", "400 closed 0"},
	{"a NUL in the path", "GET /v1/x¬y HTTP/1.1|Host: localhost|AUTH||", "400 closed 0"},
	{"an escaped NUL", "GET /v1/x%00y HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"dots", "GET /v1/../x HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"escaped dots", "GET /v1/%2E%2e/x HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"dots in an id", "GET /v1/responses/resp_rx0123456789abcdef01234567_../models HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"escaped dots in an id", "GET /v1/responses/resp_rx0123456789abcdef01234567_%2e%2e/models HTTP/1.1|Host: localhost|AUTH||", "200 open 1"}, // an id that nothing has made
	{"dots behind an id", "GET /v1/responses/resp_rx0123456789abcdef01234567_a%2f..%2f..%2fmodels HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"a backslash", "GET /v1/..\\x HTTP/1.1|Host: localhost|AUTH||", "400 open 0"},
	{"a fragment", "GET /v1/x#y HTTP/1.1|Host: localhost|AUTH||", "200 open 1"},
	{"two slashes", "GET //v1/x HTTP/1.1|Host: localhost|AUTH||", "200 open 1"},

	{"a CR in a value", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|X: a^b||", "400 closed 0"},
	{"a NUL in a value", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|X: a¬b||", "400 closed 0"},
	{"a line without a colon", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|X||", "400 closed 0"},
	{"a header without a name", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|: x||", "400 closed 0"},
	{"a name with a space", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|X Y: z||", "400 closed 0"},
	{"2,000 headers", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|" + strings.Repeat("X: y|", 2000) + "|", "200 open 1"},
	{"a header of 80 KiB", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|X: " + strings.Repeat("y", 80<<10) + "||", "431 closed 0"},
	{"Connection: Authorization", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|Connection: Authorization||", "400 open 0"},
	{"Connection: close", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|Connection: close||", "200 closed 1"},
	{"a go-ahead", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|Expect: 100-continue||BODY", "100 200 open 1"},
	{"another expectation", "POST PATH HTTP/1.1|Host: localhost|AUTH|SIZE|Expect: nothing||BODY", "417 closed 0"},
	{"an upgrade to HTTP/2", "GET /v1/x HTTP/1.1|Host: localhost|AUTH|Connection: Upgrade, HTTP2-Settings|Upgrade: h2c|HTTP2-Settings: AAMAAABkAAQAAP__||", "200 open 1"},
	{"a line end before the request", "|GET /v1/x HTTP/1.1|Host: localhost|AUTH||", "400 closed 0"},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03||", "400 closed 0"},
}

// TestRawMessages is line 4 of the list in SECURITY.md: no message reaches the upstream twice, under another credential or another
// path, and none hangs.
func TestRawMessages(t *testing.T) {
	t.Parallel()
	up := &witness{}
	// each message comes at once, so that only what never comes is waited for
	setting := upstream(t, up.ServeHTTP)
	p := start(t, setting, "REPRISE_CLIENT_TIMEOUT=300ms")
	for _, path := range []string{"/v1/moderations", "/v1/chat/completions"} {
		for i, m := range rawMessages {
			if path != "/v1/moderations" && !strings.Contains(m.text, "PATH") {
				continue
			}
			key := fmt.Sprintf("Bearer raw-%d", i)
			got := p.raw(rawText(m.text, path, key, i), len(strings.Fields(m.want))-2)
			calls := up.take()
			if got = fmt.Sprint(got, " ", len(calls)); got != m.want {
				t.Errorf("%s at %s: %s, want %s", m.name, path, got, m.want)
			}
			for _, c := range calls {
				if c.key != key || !strings.Contains(m.text+path, strings.TrimSuffix(c.path, "%23y")) {
					t.Errorf("%s: the upstream got %+v", m.name, c)
				}
			}
		}
	}
}

// rawText fills a message in. Each body is another.
func rawText(text, path, key string, n int) string {
	body := chat("raw message " + strconv.Itoa(n))
	return strings.NewReplacer("PATH", path, "AUTH", "Authorization: "+key+"\r\nContent-Type: application/json", "SIZE", "Content-Length: "+strconv.Itoa(len(body)),
		"BODY", body, "CHUNK", fmt.Sprintf("%x\r\n%s\r\n", len(body), body), "|", "\r\n", "~", "\n", "¬", "\x00", "^", "\r").Replace(text)
}

// raw sends a message and returns the statuses of the answers, and whether the connection takes another request after so many.
func (p *process) raw(message string, answers int) (verdict string) {
	p.t.Helper()
	c := p.dial()
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute)) // a hang fails the test
	io.WriteString(c, message)
	for in, n := bufio.NewReader(c), 0; ; n++ {
		if n == answers && n > 0 {
			io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n") // fails where the connection is closed
		}
		resp, err := http.ReadResponse(in, nil)
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout():
			return verdict + "hangs"
		case err != nil:
			return verdict + "closed"
		case n == answers && n > 0:
			return verdict + "open"
		}
		verdict += strconv.Itoa(resp.StatusCode) + " "
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return verdict + "cut"
		}
	}
}
