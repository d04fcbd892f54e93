package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkHalfSent prints the cost of clients that never complete a request: memory, and the latency of other clients:
//
//	go test ./cmd/reprise -run '^$' -bench HalfSent -benchtime 1x
func BenchmarkHalfSent(b *testing.B) {
	const n = 5000
	p := start(b, "REPRISE_STORE=memory", "REPRISE_CLIENT_TIMEOUT=30s")
	for b.Loop() {
		before, alone := p.rss(b), p.median(b)
		held := make([]net.Conn, n)
		for i := range held {
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.api, "http://"))
			if err != nil {
				b.Fatal(err)
			}
			io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
			held[i] = conn
		}
		fmt.Printf("%d half-sent requests: %.1f KB each, p50 of others x %.2f\n", n, float64(p.rss(b)-before)/n, float64(p.median(b))/float64(alone))
		for _, conn := range held {
			io.Copy(io.Discard, conn) // until the server has closed it
			conn.Close()
		}
	}
}

// rss is the memory of the process in KB.
func (p *process) rss(b *testing.B) (kb int) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		b.Skip("no /proc on this system: ", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fmt.Sscan(rest, &kb)
	return kb
}

// median is the latency of a request that the proxy answers itself.
func (p *process) median(b *testing.B) time.Duration {
	var took []time.Duration
	for range 500 {
		begin := time.Now()
		resp, err := http.Post(p.api+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":1}`))
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2]
}
