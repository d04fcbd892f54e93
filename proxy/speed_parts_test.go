package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// parts are in the order of a whole run.
var parts = []part{
	{"pass", false, passSpeed},
	{"exact", false, exactSpeed},
	{"stream", false, func(r *rig) { streamSpeed(r, "stream") }},
	{"stream-paced", false, func(r *rig) { streamSpeed(r, "paced") }},
	{"one", false, oneSpeed},
	{"miss/0", false, func(r *rig) { emptySpeed(r, 15, 500) }},
	{"miss/10000", false, func(r *rig) { missSpeed(r, 10_000, 1, 200) }},
	{"miss/100000", false, func(r *rig) { missSpeed(r, 100_000, 1, 200) }},
	{"miss/1000000", true, func(r *rig) { missSpeed(r, 1_000_000, 1, 200) }},
}

func passSpeed(r *rig) {
	r.start()
	for _, one := range []struct{ key, title, kind string }{{"pass", "GET of another path", "models"}, {"pass-chat", "chat that is not to be stored", "nostore"}} {
		r.setCPU(one.key, r.compare(one.title, r.against(r.bare, "", again(job{Kind: one.kind, Conns: 16, N: 1000, Words: 15}, 1000))...))
	}
}

func exactSpeed(r *rig) {
	const entries = 1000
	r.start()
	r.fill(entries, 15, 1, append(r.programs, r.mapper)...)
	r.setCPU("exact", r.compare("exact hits among 1,000", r.against(r.mapper, "exact", again(job{Kind: "chat", Conns: 16, N: 1500, Words: 15}, entries))...))
}

func streamSpeed(r *rig, kind string) {
	r.start()
	load := r.compare("fresh streams of 20 chunks", r.against(r.bare, "miss", r.freshScope(job{Kind: kind, Conns: 16, N: 150, Words: 15}))...)
	one := r.compare("fresh streams at one connection", r.against(r.bare, "miss", r.freshScope(job{Kind: kind, Conns: 1, N: 60, Words: 15}))...)
	if kind == "stream" {
		r.setCPU("stream", load)
		r.set("stream-first", one, func(s *summary) spread { return s.firsts })
	}
}

// oneSpeed is what a single user waits.
func oneSpeed(r *rig) {
	const entries = 10_000
	r.start()
	r.fill(entries, 15, 1, append(r.programs, r.mapper)...)
	r.settle()
	p50 := func(s *summary) spread { return s.p50s }
	r.set("one-pass", r.compare("one connection: GET of another path", r.against(r.bare, "", again(job{Kind: "models", Conns: 1, N: 250, Words: 15}, entries))...), p50)
	r.set("one-exact", r.compare("one connection: exact hits among 10,000", r.against(r.mapper, "exact", again(job{Kind: "chat", Conns: 1, N: 250, Words: 15}, entries))...), p50)
	r.set("one-miss", r.compare("one connection: misses at 10,000 entries", r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 1, N: 60, Words: 15}))...), p50)
}

// emptySpeed is a miss in a scope that begins empty: n prompts a round, each round in a scope of its own.
func emptySpeed(r *rig, words, n int) {
	r.start()
	title := fmt.Sprintf("misses of %d words, the first %d of a scope", words, n)
	all := r.compare(title, r.against(r.bare, "miss", r.freshScope(job{Kind: "chat", Conns: 16, N: n, Words: words}))...)
	if words == 15 {
		r.setCPU("miss-0", all)
	}
}

// missSpeed is a miss where the scopes have so many entries in all. The rounds add their own: half of these come before the number is
// reached, half after it.
func missSpeed(r *rig, entries, scopes, n int) {
	filled := entries - n*(rounds()+1)/2
	r.startFilled(filled, scopes)
	title := fmt.Sprintf("misses at %d entries", entries)
	if scopes > 1 {
		title += fmt.Sprintf(" in %d scopes", scopes)
	}
	all := r.compare(title, r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 16, N: n, Words: 15, Scopes: scopes}))...)
	if scopes == 1 {
		r.setCPU("miss-"+strconv.Itoa(entries), all)
	}
}

// startFilled starts all builds with so many entries, capacity enough for twice as many, and lets them come to rest.
func (r *rig) startFilled(n, scopes int) {
	capacity := "REPRISE_CAPACITY_ENTRIES=" + strconv.Itoa(max(2*n, 100_000))
	bytes := "REPRISE_CAPACITY_BYTES=" + strconv.Itoa(max(2*n*10_000, 1<<30))
	for i, one := range r.builds {
		db := filepath.Join(r.b.TempDir(), "reprise.db")
		kept := r.report.kept(one, n, scopes)
		if _, err := os.Stat(kept); err == nil {
			if err := copyFile(db, kept); err != nil {
				r.b.Fatal(err)
			}
		}
		r.startOn(db, capacity, bytes)
		if r.programs[i].metrics()["reprise_entries"] == 0 {
			began := time.Now()
			r.fill(n, 15, scopes, r.programs[i])
			r.report.note("%s: filled %s with %d entries in %.0f s", r.part, one.name, n, time.Since(began).Seconds())
			if n >= 50_000 { // the file is used again
				r.programs[i].stop()
				if err := copyFile(kept, db); err != nil {
					r.b.Fatal(err)
				}
				r.programs = r.programs[:i]
				r.startOn(db, capacity, bytes)
			}
		}
		m := r.programs[i].metrics()
		r.report.note("%s: %s has %.0f entries in %.0f topics, RSS %d MiB", r.part, one.name, m["reprise_entries"], m["reprise_topics"], r.programs[i].rss()>>20)
	}
	r.next = n
	r.settle()
}

// settle lets all builds come to rest: an index that is made in the background is ready then.
func (r *rig) settle() {
	for i, p := range r.programs {
		began, before := time.Now(), p.cpu()
		p.settle(10 * time.Minute)
		if spent := p.cpu() - before; spent > 1 {
			r.report.note("%s: %s used %.1f s of CPU in %.1f s after it was filled", r.part, r.builds[i].name, spent, time.Since(began).Seconds())
		}
	}
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
