package attacks_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"reprise/internal/built"
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
	p := start(t, "REPRISE_UPSTREAM=http://"+l.Addr().String()+"/v1", "REPRISE_UPSTREAM_TIMEOUT=300ms")
	body := chat(strings.Repeat("long ", 4<<20))
	for _, path := range []string{"/v1/chat/completions", "/v1/files"} {
		conn := p.dial()
		conn.SetDeadline(time.Now().Add(time.Minute)) // bounds a hang
		begin := time.Now()
		go func() {
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(body))
			io.WriteString(conn, body)
		}()
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

// TestWebsocketThatIsNotRead: a websocket of which one end takes nothing ends like an answer that is not read: it would hold its place among
// the websockets for ever. Line 17 of the list in SECURITY.md.
func TestWebsocketThatIsNotRead(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"client", "upstream"} {
		flood := func(c net.Conn) {
			for p := make([]byte, 64<<10); ; {
				if _, err := c.Write(p); err != nil {
					return
				}
			}
		}
		p := start(t, "REPRISE_CLIENT_TIMEOUT=300ms", "REPRISE_UPSTREAM_TIMEOUT=300ms", upstream(t, func(w http.ResponseWriter, r *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			t.Cleanup(func() { c.Close() })
			if end == "client" {
				flood(c)
			}
		}))
		var c net.Conn
		built.Until(t, "a websocket opens", func() bool { // the upstream, too, has 300 ms for its answer
			c = p.dial()
			fmt.Fprint(c, "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			status := make([]byte, 12)
			io.ReadFull(c, status)
			return string(status) == "HTTP/1.1 101"
		})
		if end == "upstream" {
			go flood(c)
		}
		built.Until(t, "the websocket that the "+end+" does not read ends", func() bool {
			n, _ := p.Metric(`reprise_upstream_calls{kind="upgraded"}`)
			return n == 0
		})
	}
}
