//go:build unix

package cache_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/store/file"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// bench is a cache as the proxy has it: the default policy, the built-in embedder, a file that is written twice a second.
type bench struct {
	*cache.Cache
	store    *store.Store
	made     int
	rand     *rand.Rand
	words    []string
	embedder *embed.Builtin
}

func newBench(b *testing.B, limit policy.Limit, path string) *bench {
	b.Helper()
	evictor, err := registry.New("rac+", policy.Options{Capacity: limit.Entries, Bytes: limit.Bytes > 0})
	if err != nil {
		b.Fatal(err)
	}
	so := store.Options{Evictor: evictor, Limit: limit}
	if path != "" {
		if so.Backing, err = file.Open(path); err != nil {
			b.Fatal(err)
		}
	}
	s, err := store.Open(so)
	if err != nil {
		b.Fatal(err)
	}
	gates := (*embed.Builtin)(nil).Thresholds()
	t, err := topics.New(topics.Options{Dim: 384, Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge})
	if err != nil {
		b.Fatal(err)
	}
	c, err := cache.New(cache.Options{Store: s, Topics: t, Meaning: true, Embedder: embed.NewBuiltin(), Thresholds: gates,
		Judge: func(r *evidence.Rates) cache.Judge { return &reuse.Judge{Words: true, MaxError: 0.01, Rates: r} }})
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Restore(b.Context()); err != nil {
	}
	b.Cleanup(func() { t.Close(); s.Close() })
	x := &bench{Cache: c, store: s, embedder: embed.NewBuiltin(), rand: rand.New(rand.NewPCG(1, 2))}
	for range 5000 {
		w := make([]byte, 3+x.rand.IntN(7))
		for i := range w {
			w[i] = byte('a' + x.rand.IntN(26))
		}
		x.words = append(x.words, string(w))
	}
	return x
}

// text is some random words.
func (x *bench) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(x.words[x.rand.IntN(len(x.words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// asked is one new request with its vector and its answer of 1.2 KB.
type asked struct {
	r *cache.Request
	f *cache.Finding
	e *store.Entry
}

func (x *bench) ask() asked {
	x.made++
	prompt := fmt.Sprint(x.text(15+x.rand.IntN(60)), x.made)
	vs, _ := x.embedder.Embed(context.Background(), []string{prompt})
	v := vs[0]
	now := time.Now()
	a := asked{r: &cache.Request{Key: sha256.Sum256([]byte(prompt)), Scope: store.Scope{1}, Prompt: prompt, MaxAge: -1}, f: &cache.Finding{Vector: v}}
	a.e = &store.Entry{Labels: &store.Labels{Tenant: "0123456789abcdef0123456789abcdef", Namespace: "default", Model: "gpt-4o-mini", Endpoint: "chat"},
		Prompt: prompt, Vector: v, Answer: []byte(x.text(1200)[:1200]), AnswerHash: sha256.Sum256([]byte(prompt)),
		InputTokens: 50, OutputTokens: 300, UpstreamTime: time.Second, Created: now, Expires: now.Add(24 * time.Hour)}
	if x.rand.IntN(2) == 0 { // of a topic that others have
		a.f.Route.Topic = topics.TopicID(1 + x.rand.IntN(1+x.made/4))
	}
	return a
}

func (x *bench) keep(b *testing.B, a asked) policy.ID {
	a.r.At = x.Tick()
	id, reason, err := x.Keep(context.Background(), a.r, a.f, a.e)
	if err != nil || id == 0 && reason != cache.ReasonPolicy {
		b.Fatal(reason, err)
	}
	return id
}

// cpu is what the process has used, its background work included.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkKeep is what a stored answer costs here in CPU, the file and the collector included, at 4,000 a second.
func BenchmarkKeep(b *testing.B) {
	for _, c := range []struct {
		name     string
		resident int
		file     bool
	}{{"memory/10000", 10_000, false}, {"file/0", 0, true}, {"file/10000", 10_000, true}, {"file/100000-full", 100_000, true}} {
		b.Run(c.name, func(b *testing.B) {
			path := ""
			if c.file {
				path = filepath.Join(b.TempDir(), "r.db")
			}
			x := newBench(b, policy.Limit{Entries: 100_000}, path)
			for range c.resident {
				x.keep(b, x.ask())
			}
			_ = x.Sync(b.Context())
			x.run(b)
		})
	}
}

func (x *bench) run(b *testing.B) {
	const perTick, every = 40, 10 * time.Millisecond
	all := make([]asked, b.N)
	for i := range all {
		all[i] = x.ask()
	}
	runtime.GC()
	before, start := cpu(), time.Now()
	b.ResetTimer()
	for i := range all {
		x.keep(b, all[i])
		if i%perTick == perTick-1 {
			time.Sleep(time.Until(start.Add(time.Duration(i/perTick+1) * every)))
		}
	}
	_ = x.Sync(context.Background())
	b.ReportMetric(float64((cpu()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHeap is what an entry takes in memory beside its answer, its prompt and its vector, in store, topics and policy together.
func BenchmarkHeap(b *testing.B) {
	for _, n := range []int{50_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x := newBench(b, policy.Limit{Entries: 100_000}, "")
				before, texts := heap(), 0
				for range n {
					a := x.ask()
					texts += len(a.e.Prompt)
					x.keep(b, a)
				}
				used := heap() - before - texts - n*(1280+4*384) // 1280: the size class of the answer
				b.ReportMetric(float64(used)/float64(n), "B/entry")
				runtime.KeepAlive(x)
			}
		})
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// BenchmarkTouch is what the use of a random entry costs here, where uses are applied together.
func BenchmarkTouch(b *testing.B) {
	for _, resident := range []int{1000, 20_000} {
		b.Run(fmt.Sprint(resident), func(b *testing.B) {
			x := newBench(b, policy.Limit{Entries: 100_000}, "")
			var all []asked
			for range resident {
				a := x.ask()
				x.keep(b, a)
				all = append(all, a)
			}
			b.ReportAllocs()
			for b.Loop() {
				a := all[x.rand.IntN(resident)]
				a.r.At = x.Tick()
				if x.Touch(a.r, a.e, nil) {
					_ = x.Settle()
				}
			}
		})
	}
}

// BenchmarkRequest is what the cache takes in CPU for a request of some 45 words that is answered under its key, and for one that is not
// answered and whose answer is stored, beside 10,000 others.
func BenchmarkRequest(b *testing.B) {
	x := newBench(b, policy.Limit{Entries: 100_000}, "")
	var known []asked
	for range 10_000 {
		a := x.ask()
		x.keep(b, a)
		known = append(known, a)
	}
	b.Run("exact", func(b *testing.B) {
		before := cpu()
		for b.Loop() {
			a := known[x.rand.IntN(len(known))]
			a.r.At = x.Tick()
			hit, _, err := x.Lookup(b.Context(), a.r)
			if hit == nil || err != nil {
				b.Fatal("no hit", err)
			}
			if x.Touch(a.r, hit.Entry, nil) {
				_ = x.Settle()
			}
		}
		b.ReportMetric(float64((cpu()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	})
	b.Run("miss", func(b *testing.B) {
		all := make([]asked, b.N)
		for i := range all {
			all[i] = x.ask()
		}
		runtime.GC()
		before := cpu()
		b.ResetTimer()
		for _, a := range all {
			a.r.At = x.Tick()
			if hit, _, _ := x.Lookup(b.Context(), a.r); hit != nil {
				b.Fatal("a hit")
			}
			f, err := x.Find(b.Context(), a.r)
			if err != nil || f.Hit != nil {
				b.Fatal("a hit", err)
			}
			a.f = f
			x.keep(b, a)
		}
		b.ReportMetric(float64((cpu()-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	})
}
