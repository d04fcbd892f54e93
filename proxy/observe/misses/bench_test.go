package misses

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"reprise/proxy/observe"
)

// typical is a request as many applications send it: twelve parts, and a system prompt of 2 KB.
func typical(prompt, user, date string) ask {
	system := strings.Repeat("You are the support agent of Acme and answer politely. ", 18)
	return ask{tenant: "78c9c37fd0467578a85532f418ba777f", prompt: prompt, fields: []string{"endpoint=/v1/chat/completions", "max_tokens=512", "model=gpt-4o", "presence_penalty=0",
		"response_format=json", "seed=1", "temperature=0.2", "tool_choice=auto", "tools=many", "top_p=1", "user=" + user, "system=" + system + "Today is " + date + ". " + system}}
}

// BenchmarkWhy is what finding the reason of a miss takes, and remembering its answer.
//
//	go test ./proxy/observe/misses -run '^$' -bench . -benchmem
func BenchmarkWhy(b *testing.B) {
	b.Run("new", func(b *testing.B) { benchmarkWhy(b, 0, typical("another", "u", "2026-11-23")) })
	b.Run("scope/1", func(b *testing.B) { benchmarkWhy(b, 1, typical("p", "other", "2026-11-22")) })
	b.Run("scope/32", func(b *testing.B) { benchmarkWhy(b, 40, typical("p", "other", "2026-11-22")) })
	b.Run("system", func(b *testing.B) { benchmarkWhy(b, 1, typical("p", "u0", "2026-11-23")) })
	b.Run("kept/scope", func(b *testing.B) {
		w, r := watch(0), typical("p", "u", "2026-11-22").request()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.Asks = uint64(i) + 1
			w.kept(observe.Stamp{}, r, uint64(i), now)
		}
	})
	b.Run("kept/scopes", func(b *testing.B) {
		w, r := watch(0), typical("p", "u", "2026-11-22").request()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.Asks, r.Scope[0], r.Scope[1], r.Scope[2], r.Scope[3] = uint64(i)+1, byte(i), byte(i>>8), byte(i>>16), byte(i>>24)
			w.kept(observe.Stamp{}, r, uint64(i), now)
		}
	})
}

func benchmarkWhy(b *testing.B, scopes int, a ask) {
	w := watch(0)
	for i := range scopes {
		w.keep(typical("p", fmt.Sprint("u", i), "2026-11-22"), uint64(i+1))
	}
	r, f := a.request(), at(now)
	if d := w.Why(r, f, fresh); (d.Why == New) != (scopes == 0) {
		b.Fatal(d.Status())
	}
	b.ReportAllocs()
	for b.Loop() {
		w.Why(r, f, fresh)
	}
}

// BenchmarkCount is what counting a miss takes, with an example of it and without.
func BenchmarkCount(b *testing.B) {
	for _, prompt := range []string{"", strings.Repeat("p", 100), strings.Repeat("p", 5000)} {
		b.Run(fmt.Sprint("prompt/", len(prompt)), func(b *testing.B) {
			w := NewWatch(Options{Prompts: true, Now: func() time.Time { return now }})
			a := &observe.Outcome{NoStore: true}
			if prompt != "" {
				a = example(prompt)
			}
			d := &Diagnosis{Why: Scope, Differs: []Difference{{Part: PartSystem, Byte: 212, Looks: "date"}}}
			b.ReportAllocs()
			for b.Loop() {
				w.count(d, a)
			}
		})
	}
}

// BenchmarkMemory is what a record takes, with a scope of its own and in a scope that it shares.
func BenchmarkMemory(b *testing.B) {
	used := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, own := range []bool{false, true} {
		b.Run(map[bool]string{false: "shared", true: "own"}[own], func(b *testing.B) {
			const n = 50_000
			for b.Loop() {
				w, r := watch(1<<30), typical("p", "u", "2026-11-22").request()
				before := used()
				for i := range n {
					r.Asks = uint64(i) + 1
					if own {
						r.Scope[0], r.Scope[1], r.Scope[2] = byte(i), byte(i>>8), byte(i>>16)
					}
					w.kept(observe.Stamp{}, r, uint64(i), now.Add(time.Hour))
				}
				b.ReportMetric(float64(used()-before)/n, "B/record")
				b.ReportMetric(float64(w.index.bytes)/n, "counted-B/record")
				runtime.KeepAlive(w)
			}
		})
	}
}
