package proxy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"reprise/internal/redistest"
)

// sharing is a server and the programs on it.
type sharing struct {
	*rig
	server *redistest.Server
}

func newSharing(r *rig) *sharing {
	r.builds = r.builds[:1]
	return &sharing{r, redistest.Start(r.b, redistest.Options{})}
}

// member starts a proxy that shares the server. It is ready at the return.
func (s *sharing) member(settings ...string) *process {
	return s.with("redis://"+s.server.Addr, settings...)
}

// with starts a proxy on a store.
func (s *sharing) with(store string, settings ...string) *process {
	return startProgram(s.b, s.builds[0].path, append([]string{"REPRISE_UPSTREAM=http://" + s.up.addr + "/v1", "REPRISE_STORE=" + store}, settings...)...)
}

// exactHits compares exact hits of one connection, in time, and then of 16, in CPU. It returns also the commands of Redis for a request.
func (s *sharing) exactHits(entries, n int, lanes []lane) (one, many []summary, commands map[string]float64) {
	requests := 0
	commands = s.commands(func() float64 {
		for _, conns := range []int{1, 16} {
			next := again(job{Kind: "chat", Conns: conns, N: n}, entries)
			jobs := once(func() job { requests += n; return next() })
			for i := range lanes {
				lanes[i].jobs = jobs
			}
			one, many = many, s.compare(fmt.Sprintf("exact hits among %d, %d connections", entries, conns), lanes...)
		}
		return float64(requests)
	})
	return one, many, commands
}

// scripted are commands that are called by scripts alone: for them a client sends one evalsha.
var scripted = strings.Fields("hdel hget hmget hset pexpire pttl set get time unlink xlen xrange xtrim xadd getrange hexists incr incrby")

// commands are the commands that clients send during a load, by name, for each of the requests of which load returns the number.
func (s *sharing) commands(load func() (requests float64)) map[string]float64 {
	before := s.server.Calls()
	requests := load()
	sent, list := map[string]float64{}, []string{}
	calls := s.server.Calls()
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if more := calls[name] - before[name]; more > 0 && !slices.Contains(scripted, name) && !strings.HasPrefix(name, "info") {
			sent[name] = float64(more) / requests
			list = append(list, fmt.Sprintf("%.3f %s", sent[name], name))
		}
	}
	s.note("for a request, the beats of the proxies included: %s", strings.Join(list, ", "))
	return sent
}

// sharedExact is a hit whose answer comes from Redis, stored by another proxy.
func sharedExact(r *rig) {
	const entries = 20_000
	s := newSharing(r)
	writer := s.member()
	r.fill(entries, writer)
	reader, memory, bare := s.member(), s.with("memory"), startRole(r.b, "redis", s.server.Addr)
	r.fill(entries, bare, memory)
	writer.settle(time.Minute)
	reader.settle(time.Minute)
	one, _, commands := s.exactHits(entries, 250, []lane{{name: "handler with GET", p: bare}, {name: "exact hit through Redis", p: reader, want: "exact"},
		{name: "exact hit of the memory store", p: memory, want: "exact"}})
	r.report.set("redis-exact", 0, one[1].ratio[p50])
	r.report.set("redis-commands-exact", 0, exactly(commands["mget"]))
}

// sharedNear is a hit whose answer another proxy has stored, and this one has fetched before.
func sharedNear(r *rig) {
	const entries = 1000
	s := newSharing(r)
	writer := s.member()
	reader, memory := s.member(), s.with("memory")
	r.fill(entries, writer, memory)
	writer.settle(time.Minute)
	r.fill(entries, reader)
	reader.settle(time.Minute)
	one, many, commands := s.exactHits(entries, 1000, []lane{{name: "exact hit of the memory store", p: memory, want: "exact"}, {name: "exact hit of the near-cache", p: reader, want: "exact"}})
	r.report.set("redis-near", 0, one[1].ratio[p50])
	r.report.set("redis-near-cpu", 0, many[1].ratio[cpuTime])
	r.report.set("redis-commands-near", 0, exactly(commands["mget"]))
}

// sharedMiss is a miss in shared mode beside one with a file, and what it costs Redis.
func sharedMiss(r *rig) {
	const entries, n = 10_000, 300
	s := newSharing(r)
	member, alone := s.member(), s.with("file:"+r.b.TempDir()+"/reprise.db")
	r.fill(entries-n*(rounds()+1)/2, member, alone)
	member.settle(time.Minute)
	alone.settle(time.Minute)
	misses := float64(n * (rounds() + 1))
	began := time.Now()
	commands := s.commands(func() float64 {
		jobs := once(r.fresh(job{Kind: "chat", Conns: 16, N: n}))
		r.compare("misses at 10,000 entries", lane{name: "bare", p: r.bare, jobs: jobs}, lane{name: "with a file", p: alone, want: "miss", jobs: jobs, base: 0},
			lane{name: "shared", p: member, want: "miss", jobs: jobs, base: 1})
		return misses
	})
	total := -time.Since(began).Seconds() / .3 / misses // the beats, an evalsha each
	for _, n := range commands {
		total += n
	}
	r.report.set("redis-commands-miss", 0, exactly(total))
}

// sharedStart is how long a start with 100,000 entries in Redis takes.
func sharedStart(r *rig) {
	const entries = 100_000
	s := newSharing(r)
	writer := s.member("REPRISE_CAPACITY_ENTRIES=200000")
	r.fill(entries, writer)
	writer.settle(10 * time.Minute)
	writer.stop()
	var took []float64
	for range 3 {
		began := time.Now()
		p := s.member("REPRISE_CAPACITY_ENTRIES=200000")
		took = append(took, time.Since(began).Seconds())
		r.note("a replica with %.0f entries used %.2f s of CPU until it was ready", p.metrics()["reprise_entries"], p.cpu())
		p.stop()
	}
	r.report.set("redis-start", 0, spreadOf(took))
}
