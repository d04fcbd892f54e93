package proxy_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"reprise/embed"
	"reprise/internal/redistest"
	"reprise/policy"
	"reprise/store"
	shared "reprise/store/redis"
)

// serveRedis is the least that a cache in Redis does: over HTTP, a GET by the hash of the body, with a deadline. A body that is
// new is set to an answer of the upstream's length. A line with a number makes it GET so many answers without HTTP, one after another: the
// reply is the median time in µs.
func serveRedis(addr string) error {
	texts, err := newAnswers()
	if err != nil {
		return err
	}
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, ContextTimeoutEnabled: true})
	defer c.Close()
	get := func(ctx context.Context, key string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		out, err := c.Get(ctx, key).Bytes()
		if errors.Is(err, redis.Nil) {
			out = texts.reply(nil, int64(binary.BigEndian.Uint32([]byte(key[len(key)-4:]))), false)
			err = c.Set(ctx, key, out, 0).Err()
		}
		return out, err
	}
	return serveAnd(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		key := sha256.Sum256(in)
		out, err := get(r.Context(), "bare:"+string(key[:]))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
		w.Write(out)
	}), func(line []byte) (any, error) { return rawGets(line, get) })
}

func rawGets(line []byte, get func(context.Context, string) ([]byte, error)) (p50 float64, err error) {
	var n int
	if err := json.Unmarshal(line, &n); err != nil {
		return 0, err
	}
	var took []float64
	for i := range n {
		key := sha256.Sum256([]byte(strconv.Itoa(i % 1000)))
		began := time.Now()
		if _, err := get(context.Background(), "raw:"+string(key[:])); err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(began).Nanoseconds())/1e3)
	}
	return quantile(took, .5), nil
}

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
	return startProgram(s.b, s.builds[0].path, append([]string{"REPRISE_UPSTREAM=http://" + s.up.addr + "/v1", "REPRISE_STORE=redis://" + s.server.Addr}, settings...)...)
}

// alone starts a proxy with a store of its own.
func (s *sharing) alone(settings ...string) *process {
	return startProgram(s.b, s.builds[0].path, append([]string{"REPRISE_UPSTREAM=http://" + s.up.addr + "/v1"}, settings...)...)
}

// compareAlone compares loads of one connection, in time, and then of 16, in CPU.
func (s *sharing) compareAlone(title string, n int, lanes []lane, load func(conns, n int) func() job) (one, many []summary) {
	play := func(conns, n int) []summary {
		each := once(load(conns, n))
		for i := range lanes {
			lanes[i].jobs = each
		}
		return s.compare(fmt.Sprintf("%s, %d connections", title, conns), lanes...)
	}
	return play(1, n), play(16, 4*n)
}

// counted counts the requests of the jobs that it passes on.
func counted(n *float64, next func() job) func() job {
	return func() job {
		j := next()
		*n += float64(j.N)
		return j
	}
}

// sharedExact is a hit whose answer comes from Redis, stored by another proxy.
func sharedExact(r *rig) {
	const entries = 20_000
	s := newSharing(r)
	writer := s.member()
	r.fill(entries, 15, 1, writer)
	reader, memory, bare := s.member(), s.alone("REPRISE_STORE=memory"), startRole(r.b, "redis", s.server.Addr)
	r.fill(entries, 15, 1, bare, memory)
	writer.settle(time.Minute)
	reader.settle(time.Minute)
	var raw []float64
	for range rounds() {
		var p50 float64
		bare.call(2000, &p50)
		raw = append(raw, p50)
	}
	var one []summary
	hits := 0.0
	commands := s.commands(func() {
		lanes := []lane{{name: "handler with GET", p: bare}, {name: "exact hit through Redis", p: reader, want: "exact"}, {name: "exact hit of the memory store", p: memory, want: "exact"}}
		one, _ = s.compareAlone("exact hits among 20,000", 250, lanes, func(conns, n int) func() job {
			return counted(&hits, again(job{Kind: "chat", Conns: conns, N: n, Words: 15}, entries))
		})
	})
	r.report.set("redis-exact", 0, one[1].p50s)
	r.report.set("redis-commands-exact", 0, exactly(commands["mget"]/hits))
	p50 := spreadOf(raw)
	r.report.note("%s: a GET of 1.2 KB by go-redis without HTTP takes %.0f µs (%.0f–%.0f); an exact hit takes %.0f µs more than one of the memory store, %.2f × such a GET",
		r.part, p50.mid, p50.low, p50.high, one[1].p50-one[2].p50, (one[1].p50-one[2].p50)/p50.mid)
	r.report.note("%s: for an exact hit: %s", r.part, perRequest(commands, hits))
}

func exactly(v float64) spread { return spread{v, v, v} }

// scripted are commands that are called by scripts alone: for them a client sends one evalsha.
var scripted = []string{"hdel", "hget", "hmget", "hset", "pexpire", "pttl", "set", "get", "time", "unlink", "xlen", "xrange", "xtrim", "xadd", "getrange", "hexists", "incr", "incrby"}

// commands are the commands that clients send during a load, by name.
func (s *sharing) commands(load func()) map[string]float64 {
	before := s.server.Calls()
	load()
	sent := map[string]float64{}
	for name, n := range s.server.Calls() {
		if more := n - before[name]; more > 0 && !slices.Contains(scripted, name) && !strings.HasPrefix(name, "info") {
			sent[name] = float64(more)
		}
	}
	return sent
}

// perRequest lists commands by their number for each request.
func perRequest(commands map[string]float64, n float64) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		list = append(list, fmt.Sprintf("%.3f %s", commands[name]/n, name))
	}
	return strings.Join(list, ", ")
}

// sharedNear is a hit whose answer another proxy has stored, and this one has fetched before.
func sharedNear(r *rig) {
	const entries = 1000
	s := newSharing(r)
	writer := s.member()
	reader, memory := s.member(), s.alone("REPRISE_STORE=memory")
	r.fill(entries, 15, 1, writer, memory)
	writer.settle(time.Minute)
	r.fill(entries, 15, 1, reader)
	reader.settle(time.Minute)
	var one, many []summary
	hits := 0.0
	commands := s.commands(func() {
		lanes := []lane{{name: "exact hit of the memory store", p: memory, want: "exact"}, {name: "exact hit of the near-cache", p: reader, want: "exact"}}
		one, many = s.compareAlone("exact hits among 1,000", 400, lanes, func(conns, n int) func() job {
			return counted(&hits, again(job{Kind: "chat", Conns: conns, N: n, Words: 15}, entries))
		})
	})
	r.report.set("redis-near", 0, one[1].p50s)
	r.report.set("redis-near-cpu", 0, many[1].cpus)
	r.report.set("redis-commands-near", 0, exactly(commands["mget"]/hits))
	r.report.note("%s: for a hit of the near-cache, those of the beats of two proxies included: %s", r.part, perRequest(commands, hits))
}

// sharedMiss is a miss in shared mode beside one with a file, and what it costs Redis.
func sharedMiss(r *rig) {
	const entries, n = 10_000, 300
	s := newSharing(r)
	member, alone := s.member(), s.alone("REPRISE_STORE=file:"+r.b.TempDir()+"/reprise.db")
	filled := entries - n*(rounds()+1)/2
	r.fill(filled, 15, 1, member, alone)
	r.next = filled
	member.settle(time.Minute)
	alone.settle(time.Minute)
	var all []summary
	misses := 0.0
	began, server := time.Now(), s.serverCPU()
	commands := s.commands(func() {
		jobs := once(counted(&misses, r.fresh(job{Kind: "chat", Conns: 16, N: n, Words: 15})))
		all = r.compare("misses at 10,000 entries", lane{name: "bare", p: r.bare, jobs: jobs}, lane{name: "with a file", p: alone, want: "miss", jobs: jobs, base: 0},
			lane{name: "shared", p: member, want: "miss", jobs: jobs, base: 1})
	})
	beats := 2 * time.Since(began).Seconds() / .3 // an evalsha each, and a read that finds nothing now and then
	total := -beats / 2
	for _, n := range commands {
		total += n
	}
	r.report.set("redis-commands-miss", 0, exactly(total/misses))
	r.report.note("%s: for a miss: %s; Redis used %.0f µs of CPU for it", r.part, perRequest(commands, misses), (s.serverCPU()-server)*1e6/misses)
	r.report.note("%s: a miss costs %.0f µs of CPU in shared mode, %.0f with a file: %s × ", r.part, all[2].cpu, all[1].cpu, all[2].cpus)
}

// serverCPU is the CPU time of the server in seconds.
func (s *sharing) serverCPU() (sum float64) {
	info := s.server.Info("cpu")
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		v, err := strconv.ParseFloat(info[name], 64)
		if err != nil {
			s.b.Fatal(err)
		}
		sum += v
	}
	return sum
}

// sharedFollowing is what a proxy does while another one answers.
func sharedFollowing(r *rig) {
	s := newSharing(r)
	busy, idle := s.member(), s.member()
	r.fill(5000, 15, 1, busy)
	const n = 2000
	for _, load := range []struct {
		name string
		job  func() job
	}{
		{"misses", r.fresh(job{Kind: "chat", Conns: 16, N: n, Words: 15})},
		{"exact hits", again(job{Kind: "chat", Conns: 16, N: n, Words: 15}, 1000)},
	} {
		var each []float64
		for round := range rounds()/3 + 2 {
			idle.settle(time.Minute)
			began, before := time.Now(), idle.cpu()
			time.Sleep(2 * time.Second)
			rest := (idle.cpu() - before) / time.Since(began).Seconds() // a second
			began, before = time.Now(), idle.cpu()
			j := load.job()
			j.Addr = busy.addr
			r.play(j)
			idle.settle(time.Minute)
			if took := idle.cpu() - before - rest*time.Since(began).Seconds(); round > 0 {
				each = append(each, took*1e6/n*1000)
			}
		}
		got := spreadOf(each)
		r.report.note("%s: to follow 1,000 %s of another proxy takes %.0f µs of CPU (%.0f–%.0f)", r.part, load.name, got.mid, got.low, got.high)
	}
}

// sharedMany is 100,000 entries in Redis: what they take there and in a proxy, and how long a start with them takes.
func sharedMany(r *rig) {
	const entries = 100_000
	s := newSharing(r)
	before := s.used()
	writer := s.member(roomy(entries)...)
	began := time.Now()
	r.fill(entries, 15, 1, writer)
	writer.settle(10 * time.Minute)
	r.report.note("%s: one proxy answered %d prompts in %.0f s", r.part, entries, time.Since(began).Seconds())
	writer.stop()
	held := s.inspect()
	r.report.set("redis-bytes", 0, exactly((s.used()-before-held.answers-held.vectors)/held.entries))
	r.report.note("%s: Redis holds %.0f entries in %.0f bytes each: the answer has %.0f, packed %.0f, the vector %.0f", r.part, held.entries, (s.used()-before)/held.entries,
		held.answers/held.entries, held.packed/held.entries, held.vectors/held.entries)
	var more []float64
	for range 3 {
		list := s.list()
		began := time.Now()
		p := s.member(roomy(entries)...)
		ready := time.Since(began).Seconds()
		cpu := p.cpu()
		more = append(more, ready-list)
		r.report.note("%s: a replica is ready after %.2f s and %.2f s of CPU; HGETALL of all records takes %.2f s", r.part, ready, cpu, list)
		if len(more) == 3 {
			s.noteMember(p, held)
		}
		p.stop()
	}
	r.report.set("redis-start", 0, spreadOf(more))
}

// noteMember notes the memory of a proxy that has started with entries of others.
func (s *sharing) noteMember(p *process, held holding) {
	p.settle(10 * time.Minute)
	const vector = 4 * 384
	m := p.metrics()
	if m["reprise_entries"] < held.entries*.99 {
		s.b.Fatalf("%v of %v entries", m["reprise_entries"], held.entries)
	}
	heap := float64(p.heap())
	s.report.note("%s: a proxy holds %.0f entries in %.0f topics: %.0f bytes of heap each, %d of them the vector; RSS %d MiB", s.part, m["reprise_entries"], m["reprise_topics"],
		heap/held.entries, vector, p.rss()>>20)
}

// used is the memory of the server in bytes, with that of its tables of keys. No proxy is connected then.
func (s *sharing) used() float64 {
	v, err := strconv.ParseFloat(s.server.Info("memory")["used_memory"], 64)
	if err != nil {
		s.b.Fatal(err)
	}
	return v
}

// holding sums up what the server has.
type holding struct {
	entries, answers, vectors float64
	packed                    float64 // answers as they are there
}

const recordBuckets, answersAtOnce = 1024, 500

// list reads all records as a start does, and returns the seconds that it took.
func (s *sharing) list() float64 {
	began := time.Now()
	s.records(func(policy.ID, []byte) {})
	return time.Since(began).Seconds()
}

// records calls fn with the record of each entry.
func (s *sharing) records(fn func(id policy.ID, body []byte)) {
	c := redis.NewClient(&redis.Options{Addr: s.server.Addr, Protocol: 2})
	defer c.Close()
	for _, shelf := range []string{"r", "s"} {
		for from := 0; from < recordBuckets; from += 16 {
			pipe := c.Pipeline()
			var got []*redis.SliceCmd
			for i := from; i < from+16; i++ {
				cmd := redis.NewSliceCmd(s.b.Context(), "hgetall", fmt.Sprintf("{reprise}:%s:%d", shelf, i))
				got = append(got, cmd)
				_ = pipe.Process(s.b.Context(), cmd) // its error is that of Exec
			}
			if _, err := pipe.Exec(s.b.Context()); err != nil {
				s.b.Fatal(err)
			}
			for _, cmd := range got {
				for pair := range slices.Chunk(cmd.Val(), 2) {
					field, body := pair[0].(string), pair[1].(string)
					if store.Kind(field[0]) == store.KindEntry {
						fn(policy.ID(binary.BigEndian.Uint64([]byte(field[1:]))), []byte(body[1:]))
					}
				}
			}
		}
	}
}

// inspect reads every record, and the answer of one entry in ten.
func (s *sharing) inspect() (h holding) {
	space := embed.NewBuiltin().Space()
	link, err := shared.Open(s.b.Context(), shared.Options{URL: "redis://" + s.server.Addr, Prefix: "reprise", Space: space})
	if err != nil {
		s.b.Fatal(err)
	}
	defer link.Close()
	sampled := 0.0
	s.records(func(id policy.ID, body []byte) {
		e, vector, err := store.DecodeRecord(id, body, space)
		if err != nil {
			s.b.Fatal(err)
		}
		h.entries++
		h.vectors += float64(len(store.AppendRecord(nil, e, vector, space)) - len(store.AppendRecord(nil, e, nil, space)))
		if int(h.entries)%10 != 0 {
			return
		}
		f, err := link.Fetch(s.b.Context(), e.Key)
		if err != nil || f.Entry == nil {
			s.b.Fatalf("no answer: %v", err)
		}
		sampled++
		h.answers += float64(len(f.Entry.Answer))
		bare := *f.Entry
		bare.Answer = nil
		h.packed += float64(len(store.AppendAnswer(nil, f.Entry)) - len(store.AppendAnswer(nil, &bare)))
	})
	h.answers *= h.entries / max(sampled, 1)
	h.packed *= h.entries / max(sampled, 1)
	return h
}
