package redis

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"reprise/internal/redistest"
	"reprise/policy"
	"reprise/policy/registry"
)

// The policy RAC as a script: the second way to evict over one capacity, compared here with the keeper that applies the log. It is not
// part of the program: see BenchmarkStaticPolicy.

//go:embed testdata/rac.lua
var racScript string

// scripted is RAC in a server.
type scripted struct {
	client   *redis.Client
	script   *redis.Script
	alpha    string
	ghosts   int
	capacity int
}

func newScripted(tb testing.TB, server *redistest.Server, alpha float64, capacity int) *scripted {
	c := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 2})
	tb.Cleanup(func() { c.Close() })
	if err := c.FlushDB(tb.Context()).Err(); err != nil {
		tb.Fatal(err)
	}
	return &scripted{c, redis.NewScript(racScript), strconv.FormatFloat(alpha, 'g', -1, 64), capacity, capacity}
}

func word(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

func parentWord(id policy.ID) string {
	if id == 0 {
		return ""
	}
	return word(uint64(id))
}

// topicWord is the name of a topic; 0 is one of the entry alone.
func topicWord(topic policy.TopicID, id policy.ID) string {
	if topic == 0 {
		return "\xff" + word(uint64(id))[1:]
	}
	return word(uint64(topic) >> 1)
}

func (s *scripted) run(tb testing.TB, seq int64, args ...any) string {
	out, err := s.script.Run(tb.Context(), s.client, []string{"{static}:"}, append([]any{s.alpha, seq, s.ghosts}, args...)...).Text()
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func (s *scripted) hit(tb testing.TB, id, parent policy.ID, seq int64) {
	s.run(tb, seq, "hit", word(uint64(id)), parentWord(parent))
}

func (s *scripted) miss(tb testing.TB, it policy.Item, seq int64) (victims []policy.ID) {
	for b := range slices.Chunk([]byte(s.run(tb, seq, "miss", topicWord(it.Topic, it.ID), word(uint64(it.ID)), parentWord(it.Parent), s.capacity)), 8) {
		victims = append(victims, policy.ID(binary.BigEndian.Uint64(b)))
	}
	return victims
}

// local is a policy of the program, called in the same order.
type local struct {
	evictor policy.Evictor
	ledger  *policy.Ledger
}

func newLocal(tb testing.TB, spec string, capacity int) *local {
	e, err := registry.New(spec, policy.Options{Capacity: capacity})
	if err != nil {
		tb.Fatal(err)
	}
	return &local{e, policy.NewLedger(e, policy.Limit{Entries: capacity})}
}

func (l *local) hit(id, parent policy.ID, seq int64) {
	if linker, ok := l.evictor.(policy.Linker); ok && parent != 0 {
		linker.Link(id, parent)
	}
	l.ledger.Hit(id, policy.Tick{Seq: seq, At: float64(seq)})
}

func (l *local) miss(it policy.Item, seq int64) []policy.ID {
	at := policy.Tick{Seq: seq, At: float64(seq)}
	if a, ok := l.evictor.(policy.Arriver); ok {
		a.Arrive(it.Topic, at)
	}
	return l.ledger.Insert(it, at, nil)
}

// TestStaticPolicy: the script names the victims of the policy "rac", in their order. Alpha is below 1: from there on the policy compares
// sums of powers of 2 exactly, and the script no closer than a billionth.
func TestStaticPolicy(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	const capacity, requests = 40, 4000
	for _, alpha := range []float64{0, .001, 3.0 / capacity, .3} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("alpha %g, seed %d", alpha, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 8))
				s, l := newScripted(t, server, alpha, capacity), newLocal(t, fmt.Sprintf("rac:alpha=%g", alpha), capacity)
				resident := map[uint64]policy.ID{}
				evicted, topics := 0, uint64(23)
				if alpha > 0 { // without decay topics that lost their entries tie, and a tie goes by names here, by age there
					topics += 60 * seed
				}
				for seq := int64(1); seq <= requests; seq++ {
					name := uint64(rng.ExpFloat64() * 60)
					parent := resident[uint64(rng.ExpFloat64()*60)]
					if rng.IntN(2) == 0 {
						parent = 0
					}
					if id := resident[name]; id != 0 {
						s.hit(t, id, parent, seq)
						l.hit(id, parent, seq)
						continue
					}
					it := policy.Item{ID: policy.ID(seq), Key: uint64(seq), Topic: policy.TopicID(name%topics) << 1, Parent: parent}
					resident[name] = it.ID
					got, want := s.miss(t, it, seq), l.miss(it, seq)
					if !slices.Equal(got, want) {
						t.Fatalf("request %d evicts %v, the policy %v", seq, got, want)
					}
					for n, id := range resident {
						if slices.Contains(got, id) {
							delete(resident, n)
							evicted++
						}
					}
				}
				if evicted < requests/10 {
					t.Errorf("only %d evictions", evicted)
				}
			})
		}
	}
}

// BenchmarkStaticPolicy compares RAC by script with policies of the program on requests by Zipf's law whose popular ones change: hits, and what
// the server does for a request. A keeper adds nothing there beyond the log, which has one command for many requests.
func BenchmarkStaticPolicy(b *testing.B) {
	server := redistest.Start(b, redistest.Options{})
	const capacity = 400
	rng := rand.New(rand.NewPCG(4, 4))
	zipf := rand.NewZipf(rng, 1.2, 8, 4000)
	all := make([]uint64, 30_000)
	for i := range all {
		all[i] = (zipf.Uint64()*7919+uint64(i)/200)%4001 + 1
	}
	for range b.N {
		playScripted(b, server, all, capacity)
	}
	for _, name := range []string{"rac", "rac+", "lru"} {
		l := newLocal(b, name, capacity)
		hits := played(all, func(id policy.ID, seq int64) { l.hit(id, 0, seq) }, l.miss)
		b.ReportMetric(100*float64(hits)/float64(len(all)), name+"-hits%")
	}
}

// played plays requests through a cache, by what it does at a hit and at a miss, which returns the victims. It returns the hits.
func played(all []uint64, hit func(id policy.ID, seq int64), miss func(it policy.Item, seq int64) []policy.ID) (hits int) {
	resident, names := map[uint64]policy.ID{}, map[policy.ID]uint64{}
	for i, name := range all {
		seq := int64(i + 1)
		if id := resident[name]; id != 0 {
			hits++
			hit(id, seq)
			continue
		}
		id := policy.ID(seq)
		resident[name], names[id] = id, name
		for _, gone := range miss(policy.Item{ID: id, Key: name, Topic: policy.TopicID(name/9+1) << 1}, seq) {
			delete(resident, names[gone])
			delete(names, gone)
		}
	}
	return hits
}

// playScripted plays requests through the script, and reports what the server spent for it.
func playScripted(b *testing.B, server *redistest.Server, all []uint64, capacity int) {
	s := newScripted(b, server, 3/float64(capacity), capacity)
	before := number(b, server, "memory", "used_memory")
	server.Must("CONFIG", "RESETSTAT")
	spent := cpuOf(b, server)
	hits := played(all, func(id policy.ID, seq int64) { s.hit(b, id, 0, seq) }, func(it policy.Item, seq int64) []policy.ID { return s.miss(b, it, seq) })
	n := float64(len(all))
	calls := 0
	for name, count := range server.Calls() {
		if name != "evalsha" && name != "info" && name != "config|resetstat" {
			calls += count
		}
	}
	b.ReportMetric(100*float64(hits)/n, "script-hits%")
	b.ReportMetric((cpuOf(b, server)-spent)*1e6/n, "µs-server/request")
	b.ReportMetric(float64(calls)/n, "calls-in-script/request")
	b.ReportMetric((number(b, server, "memory", "used_memory")-before)/float64(capacity), "B-server/entry")
}

func number(b *testing.B, server *redistest.Server, section, field string) float64 {
	v, err := strconv.ParseFloat(server.Info(section)[field], 64)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// cpuOf is the CPU time of a server in seconds.
func cpuOf(b *testing.B, server *redistest.Server) float64 {
	return number(b, server, "cpu", "used_cpu_user") + number(b, server, "cpu", "used_cpu_sys")
}
