package attacks_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCrowdsStayUnderTheLimit: line 13 of the list in SECURITY.md. Many small things at once are charged too: requests that are
// half sent, with long headers, and calls of the upstream.
func TestCrowdsStayUnderTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 128
	release := make(chan struct{})
	var free sync.Once
	defer free.Do(func() { close(release) })
	var calls atomic.Int64
	setting := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(body), "hold") {
			calls.Add(1)
			w.(http.Flusher).Flush()
			<-release
		}
		io.WriteString(w, answer("a"))
	})
	long := strings.Repeat("h", 50<<10)
	for _, c := range []struct {
		name    string
		clients int
		message func(i int) string
	}{
		{"half-sent bodies", 3000, func(int) string {
			return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat(" ", 15<<10)
		}},
		{"long headers", 3000, func(int) string {
			return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Long: " + long + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
		}},
		{"small calls", 3000, func(i int) string {
			body := fmt.Sprintf(`{"model":"m","user":"hold %d","messages":[{"role":"user","content":"x"}]}`, i)
			return fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}},
	} {
		p := start(t, "REPRISE_MEMORY_LIMIT=128MiB", setting)
		p.ask("What is small?")
		var conns []net.Conn
		for i := range c.clients {
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.API, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
			if _, err := io.WriteString(conn, c.message(i)); err != nil {
				break // refused already
			}
		}
		hit := p.ask("What is small?")
		bodies, _ := p.Metric(`reprise_memory_used_bytes{kind="bodies"}`)
		recordings, _ := p.Metric(`reprise_memory_used_bytes{kind="recordings"}`)
		refused, _ := p.Metric(`reprise_refused_total{reason="memory"}`)
		_, highest := p.memory()
		t.Logf("measured: %d %s: highest %d MiB of %d; charged %.0f and %.0f MiB, %.0f refused; a hit: %d %s", c.clients, c.name, highest>>10, limit,
			bodies/(1<<20), recordings/(1<<20), refused, hit.Status, hit.Cache())
		if highest>>10 > limit*15/10 { // connections are not charged
			t.Errorf("%s: the process took %d MiB of %d", c.name, highest>>10, limit)
		}
		for _, conn := range conns {
			conn.Close()
		}
		p.Kill()
	}
}
