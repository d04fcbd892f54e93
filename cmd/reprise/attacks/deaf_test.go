package attacks_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestUpstreamThatReadsNothing: an upstream that takes the connection and not the request is given up like one that does not answer.
// Line 19 of the list in SECURITY.md.
func TestUpstreamThatReadsNothing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
	}()
	p := start(t, "REPRISE_UPSTREAM=http://"+l.Addr().String()+"/v1", "REPRISE_FIRST_BYTE_TIMEOUT=300ms")
	for _, path := range []string{"/v1/chat/completions", "/v1/files"} {
		conn, body := p.dial(), chat(strings.Repeat("long ", 4<<20))
		conn.SetDeadline(time.Now().Add(15 * time.Second)) // bounds a hang
		begin := time.Now()
		go fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v after %v", path, err, time.Since(begin))
			continue
		}
		t.Logf("measured: line 19: %s: %d after %d ms", path, resp.StatusCode, time.Since(begin).Milliseconds())
		if resp.StatusCode != http.StatusGatewayTimeout {
			t.Errorf("%s: status %d", path, resp.StatusCode)
		}
	}
}
