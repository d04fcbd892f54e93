package proxy_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parts are in the order of a whole run.
var parts = []part{
	{"noise", false, noise},
	{"pass", false, passSpeed},
	{"exact", false, exactSpeed},
	{"stream", false, func(r *rig) { streamSpeed(r, "stream") }},
	{"stream-paced", false, func(r *rig) { streamSpeed(r, "paced") }},
	{"one", false, oneSpeed},
	{"miss/0", false, func(r *rig) { emptySpeed(r, 500) }},
	{"miss/10000", false, func(r *rig) { missSpeed(r, 10_000, 1) }},
	{"miss/100000", false, func(r *rig) { missSpeed(r, 100_000, 1) }},
	{"miss/1000000", true, func(r *rig) { missSpeed(r, 1_000_000, 1) }},
	{"full/100000", false, fullSpeed},
	{"semantic/10000", false, func(r *rig) { semanticSpeed(r, 10_000) }},
	{"semantic/100000", false, func(r *rig) { semanticSpeed(r, 100_000) }},
	{"semantic/1000000", true, func(r *rig) { semanticSpeed(r, 1_000_000) }},
	{"inserting/100000", false, insertingSpeed},
	{"scopes/10000", false, func(r *rig) { missSpeed(r, 10_000, 1000) }},
	{"scopes/100000", true, func(r *rig) { missSpeed(r, 100_000, 1000) }},
	{"scopes/1000000", true, func(r *rig) { missSpeed(r, 1_000_000, 1000) }},
	{"store-memory/10000", false, func(r *rig) { missSpeed(r, 10_000, 1, "REPRISE_STORE=memory") }},
	{"words/150", false, func(r *rig) { wordsSpeed(r, 150, 200) }},
	{"words/1500", false, func(r *rig) { wordsSpeed(r, 1500, 60) }},
	{"traces", false, tracesSpeed},
	{"memory/entry", false, entryMemory},
	{"memory/256MiB", false, func(r *rig) { fullMemory(r, "chat", 256<<20, "REPRISE_CAPACITY_ENTRIES=1000000") }},
	{"memory/1GiB", true, func(r *rig) { fullMemory(r, "long", 1<<30) }},
	{"memory/4GiB", true, func(r *rig) { fullMemory(r, "long", 4<<30, "REPRISE_CAPACITY_ENTRIES=1000000") }},
	{"idle", false, idleMemory},
	{"shared/exact", false, sharedExact},
	{"shared/near", false, sharedNear},
	{"shared/miss", false, sharedMiss},
	{"shared/following", false, sharedFollowing},
	{"shared/100000", false, sharedMany},
}

// noise compares the bare proxy with another one: what differs between them is chance, and so is as much of every other ratio.
func noise(r *rig) {
	jobs := once(again(job{Kind: "nostore", Conns: 16, N: 1000, Words: 15}, 1000))
	r.compare("chats through two equal proxies", lane{name: "bare", p: r.bare, jobs: jobs}, lane{name: "another", p: startRole(r.b, "bare", r.up.addr), jobs: jobs})
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
	r.set("one-miss", r.compare("one connection: misses at 10,000 entries", r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 1, N: 100, Words: 15}))...), p50)
}

// emptySpeed is a miss in a scope that begins empty: n prompts a round, each round in a scope of its own.
func emptySpeed(r *rig, n int) {
	r.start()
	title := fmt.Sprintf("misses, the first %d of a scope", n)
	r.setCPU("miss-0", r.compare(title, r.against(r.bare, "miss", r.freshScope(job{Kind: "chat", Conns: 16, N: n, Words: 15}))...))
}

// wordsSpeed is what longer prompts cost.
func wordsSpeed(r *rig, words, n int) {
	r.start()
	long := job{Kind: "chat", Conns: 16, N: n, Words: words}
	r.compare(fmt.Sprintf("misses of %d words, the first %d of a scope", words, n), r.against(r.bare, "miss", r.freshScope(long))...)
	r.fill(100, words, 1, append(r.programs, r.mapper)...)
	r.compare(fmt.Sprintf("exact hits of %d words", words), r.against(r.mapper, "exact", again(long, 100))...)
	long.Kind = "nostore"
	r.compare(fmt.Sprintf("pass-through of chats of %d words", words), r.against(r.bare, "", again(long, 100))...)
}

// missSpeed is a miss where the scopes have so many entries in all. The rounds add their own: a small number is reached in their middle.
func missSpeed(r *rig, entries, scopes int, settings ...string) {
	const n = 300
	filled := entries
	if entries < 50_000 {
		filled -= n * (rounds() + 1) / 2
	}
	r.startFilled(filled, scopes, append(roomy(entries), settings...)...)
	title := fmt.Sprintf("misses at %d entries", entries)
	if scopes > 1 {
		title += fmt.Sprintf(" in %d scopes", scopes)
	}
	all := r.compare(title, r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 16, N: n, Words: 15, Scopes: scopes}))...)
	if scopes == 1 && len(settings) == 0 {
		r.setCPU("miss-"+strconv.Itoa(entries), all)
	}
	r.state()
}

// fullSpeed is a miss whose entry evicts another one, at the capacity that is the default.
func fullSpeed(r *rig) {
	r.startFilled(100_000, 1)
	lanes := r.against(r.bare, "miss", r.fresh(job{Kind: "chat", Conns: 16, N: 200, Words: 15}))
	for i := range lanes {
		lanes[i].alike = true
	}
	r.compare("misses at the default capacity, each evicts an entry", lanes...)
	r.state()
}

// semanticSpeed is what a hit by meaning costs above an exact one. Each is by words that were never asked in that form.
func semanticSpeed(r *rig, entries int) {
	r.startFilled(entries, 1, roomy(entries)...)
	exact, semantic := again(job{Kind: "chat", Conns: 16, N: 400, Words: 15}, entries), again(job{Kind: "variant", Conns: 16, N: 200, Words: 15}, entries)
	var lanes []lane
	for i, p := range r.programs {
		lanes = append(lanes, lane{name: r.builds[i].name + ", exact", p: p, base: 2 * i, want: "exact", jobs: once(exact)},
			lane{name: r.builds[i].name + ", semantic", p: p, base: 2 * i, want: "semantic", later: true, jobs: once(semantic)})
	}
	all := r.compare(fmt.Sprintf("hits among %d", entries), lanes...)
	for i := range r.programs {
		more := make([]float64, rounds())
		for k := range more {
			more[k] = all[2*i+1].each[k] - all[2*i].each[k]
		}
		s := spreadOf(more)
		s.mid = all[2*i+1].cpu - all[2*i].cpu
		r.report.set("semantic-"+strconv.Itoa(entries), i, s)
		r.report.note("%s: %s: a semantic hit costs %.0f µs of CPU more than an exact one (%.0f–%.0f)", r.part, r.builds[i].name, s.mid, s.low, s.high)
	}
}

// insertingSpeed is how long exact hits take, 1,000 a second of them, while other requests insert into their scope.
func insertingSpeed(r *rig) {
	const entries = 100_000
	r.startFilled(entries, 1, roomy(entries)...)
	hits := again(job{Kind: "chat", Conns: 8, N: 1000, Rate: 1000, Words: 15}, entries)
	misses := r.fresh(job{Kind: "chat", Conns: 8, N: 800, Rate: 500, Until: true, Words: 15})
	var lanes []lane
	for i, p := range r.programs {
		lanes = append(lanes, lane{name: r.builds[i].name + ", hits alone", p: p, base: 2 * i, want: "exact", jobs: once(hits)},
			lane{name: r.builds[i].name + ", while 500/s are inserted", p: p, base: 2 * i, want: "exact", jobs: func(int) []job { return []job{hits(), misses()} }})
	}
	all := r.compare("exact hits, 1,000 a second", lanes...)
	for i := range r.programs {
		r.report.set("inserting", i, all[2*i+1].p99s)
	}
}

// roomy are settings with which so many entries and those of the rounds are kept.
func roomy(entries int) []string {
	return []string{"REPRISE_CAPACITY_ENTRIES=" + strconv.Itoa(max(2*entries, 100_000)), "REPRISE_CAPACITY_BYTES=" + strconv.Itoa(max(entries*10_000, 1<<30))}
}

// startFilled starts all builds with so many entries, and lets them come to rest. Many entries come from a file that the same build wrote
// before, if there is one, and otherwise each from a request, after which the build is started again.
func (r *rig) startFilled(n, scopes int, settings ...string) {
	const many = 50_000
	for i, one := range r.builds {
		db, from := filepath.Join(r.b.TempDir(), "reprise.db"), 0
		if n >= many {
			from = r.copyKept(db, one, n, scopes)
		}
		r.startOn(db, settings...)
		if r.programs[i].metrics()["reprise_entries"] == 0 { // of another format
			from = 0
		}
		for from < n {
			began, to := time.Now(), min(n, from+keepStep)
			r.fillFrom(from, to, 15, scopes, r.programs[i])
			r.report.note("%s: %s answered prompts %d to %d in %.0f s", r.part, one.name, from, to, time.Since(began).Seconds())
			if from = to; n >= many {
				r.programs[i].stop()
				r.keep(db, one, to, scopes)
				r.programs = r.programs[:i]
				r.startOn(db, settings...)
			}
		}
	}
	r.next = n
	r.settle()
	r.state()
}

// keepStep is after how many entries a store that is being filled is kept: a run that is ended goes on from there the next time.
const keepStep = 250_000

// copyKept copies the longest store of up to n entries that a build kept, and returns its number of entries.
func (r *rig) copyKept(db string, one build, n, scopes int) int {
	for ; n > 0; n = (n - 1) / keepStep * keepStep {
		kept := r.report.kept(one, n, scopes)
		if _, err := os.Stat(kept); err == nil {
			r.copyStore(db, kept)
			return n
		}
	}
	return 0
}

// keep keeps a store of n entries, and no longer that of one step before.
func (r *rig) keep(db string, one build, n, scopes int) {
	const partly = ".part"
	kept := r.report.kept(one, n, scopes)
	r.copyStore(kept+partly, db)
	files, err := filepath.Glob(kept + partly + "*") // the store's own file is the first, and its presence makes the copy count: it is renamed last
	if err != nil {
		r.b.Fatal(err)
	}
	for _, file := range slices.Backward(files) {
		if err := os.Rename(file, kept+strings.TrimPrefix(file, kept+partly)); err != nil {
			r.b.Fatal(err)
		}
	}
	if before := (n - 1) / keepStep * keepStep; before > 0 {
		files, _ := filepath.Glob(r.report.kept(one, before, scopes) + "*")
		for _, file := range files {
			_ = os.Remove(file) // otherwise it takes room
		}
	}
}

// state notes what the builds hold.
func (r *rig) state() {
	for i, p := range r.programs {
		m := p.metrics()
		r.report.note("%s: %s has %.0f entries in %.0f topics, RSS %d MiB", r.part, r.builds[i].name, m["reprise_entries"], m["reprise_topics"], p.rss()>>20)
	}
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

// copyStore copies the file of a store, if there is one, and what is kept beside it.
func (r *rig) copyStore(to, from string) {
	files, err := filepath.Glob(from + "*")
	if err != nil {
		r.b.Fatal(err)
	}
	for _, file := range files {
		if err := copyFile(to+strings.TrimPrefix(file, from), file); err != nil {
			r.b.Fatal(err)
		}
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
