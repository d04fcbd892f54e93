package enginesim

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkChat answers a small prompt without a network.
func BenchmarkChat(b *testing.B) {
	for _, mode := range []struct{ name, body string }{{"whole", askWhole}, {"stream", askStream}} {
		b.Run(mode.name, func(b *testing.B) {
			e := New(Options{})
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(mode.body))
					e.ServeHTTP(httptest.NewRecorder(), r)
				}
			})
		})
	}
}

// BenchmarkLoopback measures the rate of the engine over kept connections, and that of a handler that only reads and echoes.
func BenchmarkLoopback(b *testing.B) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	for _, h := range []struct {
		name    string
		handler http.Handler
	}{{"engine", New(Options{})}, {"echo", echo}} {
		b.Run(h.name, func(b *testing.B) { benchLoopback(b, h.handler) })
	}
}

func benchLoopback(b *testing.B, h http.Handler) {
	s := httptest.NewServer(h)
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := client.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(askWhole))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// BenchmarkBlocks is a request of 64 blocks, with an answer of 4 in a pool in which the heads of a third of the prompts are resident.
func BenchmarkBlocks(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var prompts [][]BlockHash
	for range 200 {
		head := randomBlocks(random, 56)
		for range 10 {
			c := NewChain("")
			hashes := c.Add(head)
			prompts = append(prompts, append(hashes, c.Add(randomBlocks(random, 12))...))
		}
	}
	random.Shuffle(len(prompts), func(i, j int) { prompts[i], prompts[j] = prompts[j], prompts[i] })
	pool := NewBlocks(4096)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h := prompts[i%len(prompts)]
		l, _ := pool.Begin(h[:64], 64*BlockTokens+5)
		pool.grow(l, h[64:], true)
		pool.End(l)
	}
	b.ReportMetric(float64(pool.evictions)/float64(b.N), "evictions/op")
}

func randomBlocks(random *rand.Rand, n int) []Token {
	tokens := make([]Token, n*BlockTokens)
	for i := range tokens {
		tokens[i] = Token(random.Uint64())
	}
	return tokens
}
