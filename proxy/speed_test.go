package proxy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/upstream"
)

// BenchmarkSpeed prints the cost of the proxy beside that of a bare proxy or cache. Both are asked in turn by the same client
// in one run, so that the ratios are comparable between machines:
//
//	go test ./proxy -run '^$' -bench Speed -benchtime 1x
func BenchmarkSpeed(b *testing.B) {
	for _, one := range []struct {
		name    string
		measure func(*testing.B)
	}{{"pass", passThroughSpeed}, {"exact", exactSpeed}, {"semantic", semanticSpeed}, {"memory", memoryPerEntry}} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				one.measure(b)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// upstreamReply is a chat answer of some 1.2 KB.
var upstreamReply = []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat("All work and no play. ", 41) + `","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":90,"total_tokens":110}}`)

func instantUpstream(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(upstreamReply)))
	w.Write(upstreamReply)
}

func passThroughSpeed(b *testing.B) {
	up := httptest.NewServer(http.HandlerFunc(instantUpstream))
	defer up.Close()
	target, _ := url.Parse(up.URL)
	bare := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport: upstream.NewTransport(upstream.Limits{}),
	})
	defer bare.Close()
	r := newRigAt(b, nil, http.HandlerFunc(instantUpstream), asServed(b, 1000))
	body := chat("What is the capital of France?")
	plain := func(addr string, header ...string) *site { return newTarget(addr, body, header...) }
	compare(b, "pass-through, a path that is not cached", plain(bare.URL), newPathTarget(r.api.URL, "/v1/moderations", body))
	compare(b, "pass-through, chat with no-cache, no-store", plain(bare.URL), plain(r.api.URL, "Cache-Control: no-cache, no-store"))
	compare(b, "miss and store", plain(bare.URL), fresh(r.api.URL))
}

func exactSpeed(b *testing.B) {
	known := map[[32]byte][]byte{}
	body := chat("What is the capital of France?")
	known[sha256.Sum256([]byte(body))] = upstreamReply
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		out := known[sha256.Sum256(in)]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
		w.Write(out)
	}))
	defer bare.Close()
	r := newRigAt(b, nil, http.HandlerFunc(instantUpstream), asServed(b, 1000))
	r.ask(b, "/v1/chat/completions", body)
	compare(b, "exact hit", newTarget(bare.URL, body), newTarget(r.api.URL, body))
}

// semanticSpeed compares hits by meaning, each by words never seen before, with exact ones, at 10,000 entries in one scope.
func semanticSpeed(b *testing.B) {
	const entries = 10_000
	r := newRigAt(b, nil, http.HandlerFunc(instantUpstream), asServed(b, 2*entries))
	rng := rand.New(rand.NewPCG(1, 2))
	prompts := make([]string, entries)
	for i := range prompts {
		prompts[i] = sentence(rng)
		r.ask(b, "/v1/chat/completions", chat(prompts[i]))
	}
	if n := r.Stats().Entries; n < entries*9/10 {
		b.Fatalf("only %d entries are stored", n)
	}
	before := r.Stats()
	variant := func() string { // the same words, other white space: equal in meaning, unequal as a key
		words := strings.Fields(prompts[rng.IntN(entries)])
		for range 4 {
			words[rng.IntN(len(words))] += " "
		}
		return chat(strings.Join(words, " "))
	}
	compare(b, fmt.Sprintf("semantic hit among %d entries (exact hit as base)", r.Stats().Entries),
		newTarget(r.api.URL, chat(prompts[0])), &site{addr: addrOf(r.api.URL), next: func() []byte { return request(r.api.URL, "/v1/chat/completions", variant()) }})
	after := r.Stats()
	fmt.Printf("  of these: semantic %d, exact %d, misses %d\n", after.Semantic-before.Semantic, after.Exact-before.Exact, after.Misses-before.Misses)
}

// memoryPerEntry fills a proxy and prints what an entry costs beyond the bytes of its answer and its vector: the prompt,
// the keys, the state of the policy and the topics, and unused room in maps and slabs.
func memoryPerEntry(b *testing.B) {
	const entries = 50_000
	r := newRigAt(b, nil, http.HandlerFunc(instantUpstream), asServed(b, entries), func(o *Options) { o.Transport = instantTransport{} })
	rng := rand.New(rand.NewPCG(3, 4))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	h := r.Handler()
	before := heap()
	for range entries {
		req := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(chat(sentence(rng))))
		req.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), req)
	}
	if err := r.store.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	used := heap() - before
	var answers, kept int64
	for e := range r.store.All() {
		answers += int64(len(e.Answer))
		kept++
	}
	vectors := kept * int64(r.opts.Embedder.Dim()) * 4
	fmt.Printf("memory of %d entries in %d topics: %.0f bytes each beyond %d bytes of answer and %d of vector\n", kept, r.Stats().Topics,
		float64(used-answers-vectors)/float64(kept), answers/kept, vectors/kept)
}

// instantTransport is an upstream without a network.
type instantTransport struct{}

func (instantTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(upstreamReply))}, nil
}

var nouns = strings.Fields(`account airport battery bicycle bridge calendar camera candle castle contract coffee compiler cousin database desert diamond
	doctor engine factory feather festival forest garden glacier guitar hammer harbour helmet hospital island jacket journal kernel kitchen
	ladder language lantern library magnet market medicine microphone mirror mountain museum network notebook ocean orchard painting
	parachute passport pension planet printer puzzle railway recipe river robot rocket saddle satellite school sculpture server shadow
	spider statue stadium storm teacher telescope theatre tractor tunnel umbrella vaccine valley village violin volcano wallet window`)

func sentence(rng *rand.Rand) string {
	pick := func() string { return nouns[rng.IntN(len(nouns))] }
	return fmt.Sprintf("How does the %s of a %s change the %s when a %s and the %s of the %s meet?", pick(), pick(), pick(), pick(), pick(), pick())
}

// asServed gives the rig what `reprise serve` has by default: rac+, a store in a file, here for n entries, and no log of requests.
func asServed(b testing.TB, n int) func(*Options) {
	return func(o *Options) {
		o.Logger, o.Store = nil, fileStoreOf(b, "rac+", filepath.Join(b.TempDir(), "reprise.db"), n)
		b.Cleanup(func() { o.Store.Close() })
	}
}

// site is a server to be asked; next gives the bytes of the next request.
type site struct {
	addr string
	next func() []byte
}

func newTarget(base, body string, header ...string) *site {
	raw := request(base, "/v1/chat/completions", body, header...)
	return &site{addr: addrOf(base), next: func() []byte { return raw }}
}

func newPathTarget(base, path, body string) *site {
	raw := request(base, path, body)
	return &site{addr: addrOf(base), next: func() []byte { return raw }}
}

// fresh is a site whose every request is new.
func fresh(base string) *site {
	var mu sync.Mutex
	n := 0
	return &site{addr: addrOf(base), next: func() []byte {
		mu.Lock()
		n++
		i := n
		mu.Unlock()
		return request(base, "/v1/chat/completions", chat("What is the capital of country number "+strconv.Itoa(i)+"?"))
	}}
}

func addrOf(base string) string { return strings.TrimPrefix(base, "http://") }

func request(base, path, body string, header ...string) []byte {
	lines := ""
	for _, h := range header {
		lines += h + "\r\n"
	}
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer sk-test\r\n%sContent-Length: %d\r\n\r\n%s",
		path, addrOf(base), lines, len(body), body)
}

// compare asks both targets in alternating rounds and prints the medians of the rounds and of their ratios.
func compare(b *testing.B, name string, base, ours *site) {
	const rounds = 9
	var p50s, rates [2][]float64
	var ratios [2][]float64
	load(b, base, 1, 100*time.Millisecond)
	load(b, ours, 1, 100*time.Millisecond)
	for range rounds {
		runtime.GC()
		basep50, _ := load(b, base, 1, 250*time.Millisecond)
		ourp50, _ := load(b, ours, 1, 250*time.Millisecond)
		_, baseRate := load(b, base, 16, 250*time.Millisecond)
		_, ourRate := load(b, ours, 16, 250*time.Millisecond)
		p50s[0], p50s[1] = append(p50s[0], basep50), append(p50s[1], ourp50)
		rates[0], rates[1] = append(rates[0], baseRate), append(rates[1], ourRate)
		ratios[0], ratios[1] = append(ratios[0], ourp50/basep50), append(ratios[1], ourRate/baseRate)
	}
	fmt.Printf("%s\n  p50 at 1 connection: base %.0f µs, ours %.0f µs: x %.2f (+%.0f µs)\n  rate at 16 connections: base %.0f/s, ours %.0f/s: x %.2f\n",
		name, median(p50s[0]), median(p50s[1]), median(ratios[0]), median(p50s[1])-median(p50s[0]), median(rates[0]), median(rates[1]), median(ratios[1]))
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// load asks t over n connections for a while, and returns the median latency in microseconds and the rate per second.
// The client is a bare socket: a heavier one would hide the difference.
func load(b *testing.B, t *site, n int, lasting time.Duration) (p50, rate float64) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []float64
	start := time.Now()
	for range n {
		wg.Go(func() {
			took, err := drive(t, start.Add(lasting))
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			all = append(all, took...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return median(all), float64(len(all)) / time.Since(start).Seconds()
}

func drive(t *site, until time.Time) (took []float64, err error) {
	conn, err := net.Dial("tcp", t.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	for time.Now().Before(until) {
		raw := t.next()
		start := time.Now()
		if _, err := conn.Write(raw); err != nil {
			return took, err
		}
		if err := skipResponse(in); err != nil {
			return took, err
		}
		took = append(took, float64(time.Since(start).Nanoseconds())/1e3)
	}
	return took, nil
}

// skipResponse reads one response of known length.
func skipResponse(in *bufio.Reader) error {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		switch {
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")):
			return fmt.Errorf("answer %q", line)
		case len(line) == 2:
			if length < 0 {
				return fmt.Errorf("no Content-Length")
			}
			_, err := in.Discard(length)
			return err
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(line[16 : len(line)-2])); err != nil {
				return err
			}
		}
	}
}
