package proxy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// entryMemory is what an entry takes beside the bytes of its answer and its vector: the prompt, the keys, the state of the policy and
// the topics, and unused room in maps and slabs.
func entryMemory(r *rig) {
	const entries, vector = 50_000, 4 * 384
	r.start()
	for i, p := range r.programs {
		before := p.heap()
		r.fill(entries, 15, 1, p)
		p.settle(time.Minute)
		used := p.heap() - before
		r.heapProfile(p)
		var list struct {
			Entries []struct{ Bytes int64 }
		}
		if before == 0 {
			r.report.note("%s: %s has no profile of its heap", r.part, r.builds[i].name)
			continue
		}
		if err := json.Unmarshal(p.get(fmt.Sprintf("/admin/entries?limit=%d", entries)), &list); err != nil {
			r.b.Fatal(err)
		}
		kept, answers := float64(len(list.Entries)), 0.0
		for _, e := range list.Entries {
			answers += float64(e.Bytes)
		}
		beside := (float64(used)-answers)/kept - vector
		r.report.set("entry", i, spread{beside, beside, beside})
		r.report.note("%s: %s holds %.0f entries in %.0f topics: %.0f bytes of heap each, %.0f of them its answer as stored, %d its vector, %.0f the rest; RSS %d MiB, %.2f × the heap in use",
			r.part, r.builds[i].name, kept, p.metrics()["reprise_topics"], float64(used)/kept, answers/kept, vector, beside, p.rss()>>20, float64(p.rss())/float64(used+before))
	}
}

// heapProfile writes a profile of the heap to the folder that BENCH_PROFILE names.
func (r *rig) heapProfile(p *process) {
	dir := os.Getenv("BENCH_PROFILE")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "heap.pprof"), p.get("/admin/debug/pprof/heap"), 0o644); err != nil {
		r.b.Fatal(err)
	}
}

// fullMemory fills the builds up to a capacity in bytes, evicts a tenth of the entries, and compares the memory with that capacity.
func fullMemory(r *rig, kind string, capacity int64, settings ...string) {
	const batch = 2000
	r.start(append(settings, fmt.Sprintf("REPRISE_CAPACITY_BYTES=%d", capacity))...)
	for i, p := range r.programs {
		var m map[string]float64
		for full := 0; full < 10; full++ {
			r.play(job{Addr: p.addr, Kind: kind, Conns: 16, N: batch, From: r.take(batch), Words: 15})
			if m = p.metrics(); m["reprise_bytes"] < .99*float64(capacity) && m["reprise_entries"] < 99_500 {
				full = 0
			}
		}
		p.settle(30 * time.Second)
		rss := float64(p.rss())
		ratio := rss / float64(capacity)
		r.report.set("rss", i, spread{ratio, ratio, ratio})
		r.report.note("%s: %s is full: %.0f entries, %.2f of the capacity by its own count, RSS %.0f MiB: %.2f × the capacity", r.part, r.builds[i].name,
			m["reprise_entries"], m["reprise_bytes"]/float64(capacity), rss/(1<<20), ratio)
	}
}

// idleMemory inserts 2,000 entries a second into a full cache, and looks at what is left of that later. BENCH_LONG=1 makes it a minute of
// inserts and ten of rest.
func idleMemory(r *rig) {
	inserts, rest := 10*time.Second, 20*time.Second
	if os.Getenv("BENCH_LONG") != "" {
		inserts, rest = time.Minute, 10*time.Minute
	}
	const entries, rate = 20_000, 2000
	r.start(fmt.Sprintf("REPRISE_CAPACITY_ENTRIES=%d", entries))
	for i, p := range r.programs {
		r.fill(entries*11/10, 15, 1, p)
		p.settle(time.Minute)
		heap, m, rss := p.heap(), p.metrics(), p.rss()
		n := int(inserts.Seconds() * rate)
		got := r.play(job{Addr: p.addr, Kind: "chat", Conns: 16, N: n, From: r.take(n), Rate: rate, Words: 15})[0]
		peak := p.rss()
		time.Sleep(rest)
		after, now := p.heap(), p.metrics()
		if heap > 0 {
			ratio := float64(after) / float64(heap)
			r.report.set("idle", i, spread{ratio, ratio, ratio})
		}
		more := now["go_goroutines"] - m["go_goroutines"]
		r.report.set("goroutines", i, spread{more, more, more})
		r.report.note("%s: %s: %.0f inserts a second for %.0f s, then %v of rest: heap %d → %d MiB, RSS %d → %d at its peak → %d MiB, goroutines %.0f → %.0f", r.part,
			r.builds[i].name, float64(got.N)/got.Seconds, got.Seconds, rest, heap>>20, after>>20, rss>>20, peak>>20, p.rss()>>20, m["go_goroutines"], now["go_goroutines"])
	}
}
