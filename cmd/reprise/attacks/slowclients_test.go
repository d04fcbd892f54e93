package attacks_test

import (
	"io"
	"net"
	"strings"
	"testing"
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
