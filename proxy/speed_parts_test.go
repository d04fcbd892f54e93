package proxy_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// parts are in the order of a whole run.
var parts = []part{
	{"noise", false, noise},
	{"pass", false, passSpeed},
	{"exact", false, exactSpeed},
	{"stream", false, streamSpeed},
	{"one", false, oneSpeed},
	{"miss/0", false, emptySpeed("")},
	{"miss/10000", false, missSpeed("", 10_000)},
	{"miss/100000", false, missSpeed("", 100_000)},
	{"miss/1000000", true, missSpeed("", 1_000_000)},
	{"miss/instructed/0", false, emptySpeed("instructed")},
	{"miss/instructed/10000", false, missSpeed("instructed", 10_000)},
	{"miss/instructed/100000", true, missSpeed("instructed", 100_000)},
	{"miss/instructed/1000000", true, missSpeed("instructed", 1_000_000)},
	{"miss/documents/0", false, emptySpeed("documents")},
	{"miss/documents/10000", false, missSpeed("documents", 10_000)},
	{"miss/documents/100000", true, missSpeed("documents", 100_000)},
	{"miss/words/10000", false, missSpeed("words", 10_000)},
	{"miss/words/100000", true, missSpeed("words", 100_000)},
	{"miss/equal/100000", true, missSpeed("equal", 100_000)},
	{"semantic/100000", false, semanticSpeed},
	{"inserting/100000", false, insertingSpeed},
	{"memory/entry", false, entryMemory},
	{"memory/256MiB", false, fullMemory},
	{"memory/idle", true, idleMemory},
	{"shared/exact", false, sharedExact},
	{"shared/near", false, sharedNear},
	{"shared/miss", false, sharedMiss},
	{"shared/start", false, sharedStart},
}

// noise compares the bare proxy with another one: what differs between them is chance, and so is as much of every other ratio.
func noise(r *rig) {
	jobs := once(again(job{Kind: "nostore", Conns: 16, N: 1000}, 1000))
	r.compare("chats through two equal proxies", lane{name: "bare", p: r.bare, jobs: jobs}, lane{name: "another", p: startRole(r.b, "bare", r.up.addr), jobs: jobs})
}

func passSpeed(r *rig) {
	r.start()
	for _, one := range []struct{ key, title, kind string }{{"pass", "GET of another path", "models"}, {"pass-chat", "chat that is not to be stored", "nostore"}} {
		r.set(one.key, r.compare(one.title, r.against(r.bare, "", again(job{Kind: one.kind, Conns: 16, N: 1000}, 1000))...), cpuTime)
	}
}

func exactSpeed(r *rig) {
	const entries = 1000
	r.start()
	r.fill(entries, append(r.programs, r.mapper)...)
	r.set("exact", r.compare("exact hits among 1,000", r.against(r.mapper, "exact", again(job{Kind: "chat", Conns: 16, N: 1500}, entries))...), cpuTime)
}

func streamSpeed(r *rig) {
	r.start()
	r.set("stream", r.compare("fresh streams of 20 chunks", r.against(r.bare, "miss", r.freshScope(job{Kind: "stream", Conns: 16, N: 150}))...), cpuTime)
	r.set("stream-first", r.compare("fresh streams at one connection", r.against(r.bare, "miss", r.freshScope(job{Kind: "stream", Conns: 1, N: 60}))...), firstByte)
}

// oneSpeed is what a single user waits.
func oneSpeed(r *rig) {
	const entries = 10_000
	r.startFilled(entries)
	r.fill(entries, r.mapper)
	r.set("one-pass", r.compare("one connection: GET of another path", r.against(r.bare, "", again(job{Kind: "models", Conns: 1, N: 250}, entries))...), p50)
	r.set("one-exact", r.compare("one connection: exact hits among 10,000", r.against(r.mapper, "exact", again(job{Kind: "chat", Conns: 1, N: 250}, entries))...), p50)
	r.set("one-miss", r.compare("one connection: misses at 10,000 entries", r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 1, N: 100}))...), p50)
}

// emptySpeed is a miss in a scope that begins empty: each round is in a scope of its own.
func emptySpeed(text string) func(*rig) {
	return func(r *rig) {
		r.text = text
		r.start()
		r.set("miss-0"+text, r.compare("misses, the first 500 of a scope", r.against(r.bare, "miss", r.freshScope(job{Kind: "chat", Conns: 16, N: 500}))...), cpuTime)
	}
}

// missSpeed is a miss where the scope has so many entries. The rounds add their own: a small number is reached in their middle.
func missSpeed(text string, entries int) func(*rig) {
	const n = 300
	return func(r *rig) {
		r.text = text
		filled := entries
		if entries < 50_000 {
			filled -= n * (rounds() + 1) / 2
		}
		r.startFilled(filled)
		r.set("miss-"+strconv.Itoa(entries)+text, r.compare(fmt.Sprintf("misses at %d entries", entries), r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 16, N: n}))...), cpuTime)
	}
}

// semanticSpeed is what a hit by meaning costs above an exact one. Each is by words that were never asked in that form.
func semanticSpeed(r *rig) {
	const entries = 100_000
	r.startFilled(entries)
	exact, semantic := again(job{Kind: "chat", Conns: 16, N: 400}, entries), again(job{Kind: "variant", Conns: 16, N: 200}, entries)
	var lanes []lane
	for i, p := range r.programs {
		lanes = append(lanes, lane{name: r.builds[i].name + ", exact", p: p, base: 2 * i, want: "exact", jobs: once(exact)},
			lane{name: r.builds[i].name + ", semantic", p: p, base: 2 * i, want: "semantic", later: true, jobs: once(semantic)})
	}
	all := r.compare("hits among 100,000", lanes...)
	for i := range r.programs {
		more := make([]float64, rounds())
		for k := range more {
			more[k] = all[2*i+1].each[k] - all[2*i].each[k]
		}
		s := spreadOf(more)
		s.mid = all[2*i+1].mid[cpuTime] - all[2*i].mid[cpuTime]
		r.report.set("semantic-100000", i, s)
	}
}

// insertingSpeed is how long exact hits take, 1,000 a second of them, while other requests insert into their scope.
func insertingSpeed(r *rig) {
	const entries = 100_000
	r.startFilled(entries)
	hits := again(job{Kind: "chat", Conns: 8, N: 1000, Rate: 1000}, entries)
	misses := r.fresh(job{Kind: "chat", Conns: 8, N: 800, Rate: 500, Until: true})
	var lanes []lane
	for i, p := range r.programs {
		lanes = append(lanes, lane{name: r.builds[i].name + ", hits alone", p: p, base: 2 * i, want: "exact", jobs: once(hits)},
			lane{name: r.builds[i].name + ", while 500/s are inserted", p: p, base: 2 * i, want: "exact", jobs: func(int) []job { return []job{hits(), misses()} }})
	}
	all := r.compare("exact hits, 1,000 a second", lanes...)
	for i := range r.programs {
		r.report.set("inserting", i, all[2*i+1].ratio[p99])
	}
}

// entryMemory is what an entry takes beside the bytes of its answer and its vector: the prompt, the keys, the state of the policy and
// the topics, and unused room in maps and slabs.
func entryMemory(r *rig) {
	const entries, vector = 50_000, 4 * 384
	r.start()
	for i, p := range r.programs {
		before := p.heap()
		r.fill(entries, p)
		p.settle(time.Minute)
		used := p.heap() - before
		var list struct {
			Entries []struct{ Bytes int64 }
		}
		if err := json.Unmarshal(p.get(fmt.Sprintf("/admin/entries?limit=%d", entries)), &list); err != nil {
			r.b.Fatal(err)
		}
		kept, answers := float64(len(list.Entries)), 0.0
		for _, e := range list.Entries {
			answers += float64(e.Bytes)
		}
		r.report.set("entry", i, exactly((float64(used)-answers)/kept-vector))
		r.note("%s holds %.0f entries in %.0f topics: %.0f bytes of heap each, %.0f of them its answer as stored, %d its vector; RSS %d MiB, %.2f × the heap in use",
			r.builds[i].name, kept, p.metrics()["reprise_topics"], float64(used)/kept, answers/kept, vector, p.rss()>>20, float64(p.rss())/float64(used+before))
	}
}

// fullMemory fills the builds up to a capacity in bytes, evicts a tenth of the entries, and compares the memory with that capacity.
func fullMemory(r *rig) {
	const capacity, batch = 256 << 20, 2000
	r.start("REPRISE_CAPACITY_ENTRIES=1000000", fmt.Sprintf("REPRISE_CAPACITY_BYTES=%d", capacity))
	for i, p := range r.programs {
		next := r.fresh(job{Addr: p.addr, Kind: "chat", Conns: 16, N: batch})
		for full := 0; full < 10; full++ {
			if r.play(next()); p.metrics()["reprise_bytes"] < .99*capacity {
				full = 0
			}
		}
		p.settle(30 * time.Second)
		r.report.set("rss", i, exactly(float64(p.rss())/capacity))
	}
}

// idleMemory inserts 2,000 entries a second into a full cache for a minute, and looks at what is left of that ten minutes later.
func idleMemory(r *rig) {
	const entries, rate, inserts = 20_000, 2000, 60 * 2000
	r.start(fmt.Sprintf("REPRISE_CAPACITY_ENTRIES=%d", entries))
	for i, p := range r.programs {
		r.fill(entries*11/10, p)
		p.settle(time.Minute)
		heap, m, rss := p.heap(), p.metrics(), p.rss()
		r.play(r.fresh(job{Addr: p.addr, Kind: "chat", Conns: 16, N: inserts, Rate: rate})())
		peak := p.rss()
		time.Sleep(10 * time.Minute)
		after, now := p.heap(), p.metrics()
		r.report.set("idle", i, exactly(float64(after)/float64(heap)))
		r.report.set("goroutines", i, exactly(now["go_goroutines"]-m["go_goroutines"]))
		r.note("%s: heap %d → %d MiB, RSS %d → %d at its peak → %d MiB", r.builds[i].name, heap>>20, after>>20, rss>>20, peak>>20, p.rss()>>20)
	}
}
