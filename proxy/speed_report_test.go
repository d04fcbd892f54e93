package proxy_test

import (
	"cmp"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// named reports whether -bench contains the last part of a name.
func named(part string) bool {
	return strings.Contains(flag.Lookup("test.bench").Value.String(), part[strings.LastIndex(part, "/")+1:])
}

func rounds() int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("BENCH_ROUNDS"), "15"))
	if err != nil || n < 1 {
		panic("BENCH_ROUNDS is " + os.Getenv("BENCH_ROUNDS") + "; allowed is a whole number from 1")
	}
	return n
}

// spread is a figure over the rounds.
type spread struct{ mid, low, high float64 }

func (s spread) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.mid, s.low, s.high) }

func spreadOf(v []float64) spread { return spread{quantile(v, .5), slices.Min(v), slices.Max(v)} }

// summary is a lane over all rounds. CPU is the mean, because some of it comes in lumps, as garbage collections do. The times are medians.
type summary struct {
	name                         string
	cpu, p50, p99, first50, rate float64
	// ratios to the base in the same round; that of cpu has the ratio of the means in its middle
	cpus, p50s, p99s, firsts spread
	each                     []float64 // CPU of a request in each round
	requests                 int
}

func summarize(name string, own, base []sample) summary {
	s := summary{name: name}
	each := func(of func(*sample) float64) (mid float64, ratios spread) {
		var v, q []float64
		for i := range own {
			v, q = append(v, of(&own[i])), append(q, of(&own[i])/of(&base[i]))
		}
		return quantile(v, .5), spreadOf(q)
	}
	_, s.cpus = each((*sample).perRequest)
	for i := range own {
		s.each = append(s.each, own[i].perRequest())
		s.cpu, s.requests = s.cpu+own[i].cpu*1e6, s.requests+own[i].sent
	}
	s.cpu /= float64(s.requests)
	s.p50, s.p50s = each(func(s *sample) float64 { return s.P50 })
	s.p99, s.p99s = each(func(s *sample) float64 { return s.P99 })
	s.first50, s.firsts = each(func(s *sample) float64 { return s.First50 })
	s.rate, _ = each(func(s *sample) float64 { return float64(s.N) / s.Seconds })
	return s
}

// perRequest is the CPU of one request in µs.
func (s *sample) perRequest() float64 { return s.cpu * 1e6 / float64(s.sent) }

// must is a line of the first table: a figure that is to hold.
type must struct {
	key, what string
	limit     float64
	unit      string
}

var musts = []must{
	{"pass", "CPU, pass-through (GET of another path) / bare proxy", 1.15, "×"},
	{"pass-chat", "CPU, pass-through (chat that is not to be stored) / bare proxy", 1.15, "×"},
	{"exact", "CPU, exact hit / bare map handler", 1.25, "×"},
	{"miss-0", "CPU, miss with 0 entries in its scope / bare proxy", 2.0, "×"},
	{"miss-10000", "CPU, miss with 10,000 entries / bare proxy", 2.2, "×"},
	{"miss-100000", "CPU, miss with 100,000 entries / bare proxy", 3.0, "×"},
	{"miss-1000000", "CPU, miss with 1,000,000 entries / bare proxy", 6.0, "×"},
	{"semantic-100000", "CPU, semantic hit − exact hit at 100,000 entries", 250, "µs"},
	{"stream", "CPU, fresh stream of 20 chunks / bare proxy", 2.0, "×"},
	{"stream-first", "first byte of it at one connection / bare proxy", 1.6, "×"},
	{"one-pass", "p50 at one connection, pass-through / bare proxy", 1.2, "×"},
	{"one-exact", "p50 at one connection, exact hit / bare map handler", 1.25, "×"},
	{"one-miss", "p50 at one connection, miss at 10,000 entries / bare proxy", 1.8, "×"},
	{"inserting", "p99 of exact hits at 100,000 entries, with 500 misses/s / without", 1.5, "×"},
	{"traces-off-exact", "CPU, exact hit, traces off / the other build, from before them", 1.005, "×"},
	{"traces-off-miss", "CPU, miss, traces off / the other build, from before them", 1.005, "×"},
	{"traces-exact", "CPU, exact hit, traces of one request in a hundred / off", 1.03, "×"},
	{"traces-miss", "CPU, miss, traces of one request in a hundred / off", 1.03, "×"},
	{"entry", "memory of an entry beside answer and vector", 700, "bytes"},
	{"rss", "RSS / capacity in bytes when full", 1.6, "×"},
	{"idle", "heap after inserts and idle time / before", 1.1, "×"},
	{"goroutines", "goroutines then − before", 0, ""},
	{"redis-exact", "p50 at one connection, exact hit through Redis / handler that GETs the same bytes", 1.6, "×"},
	{"redis-near", "p50 at one connection, hit of the near-cache / hit of the memory store", 1.1, "×"},
	{"redis-near-cpu", "CPU, hit of the near-cache / hit of the memory store", 1.1, "×"},
	{"redis-commands-exact", "Redis commands that an exact hit waits for", 1, "commands"},
	{"redis-commands-near", "Redis commands that a hit of the near-cache waits for", 0, "commands"},
	{"redis-commands-miss", "Redis commands of a miss, all that follow included", 3, "commands"},
	{"redis-start", "start of a replica with 100,000 entries − HGETALL of their records", 5, "s"},
	{"redis-bytes", "memory of Redis for an entry beside answer and vector", 600, "bytes"},
}

// report collects what the parts have measured.
type report struct {
	filled  string              // folder of filled stores
	figures map[string][]spread // by the key of a must, one for each build
	details []string
}

// set notes the figure of a must for a build, the first of which is this one.
func (r *report) set(key string, build int, v spread) {
	if r.figures == nil {
		r.figures = map[string][]spread{}
	}
	for len(r.figures[key]) <= build {
		r.figures[key] = append(r.figures[key], spread{})
	}
	r.figures[key][build] = v
}

// kept is the file of a store that was filled by a build with these prompts.
func (r *report) kept(one build, entries, scopes int) string {
	t, err := newTexts()
	if err != nil {
		panic(err) // the client has read them before
	}
	prompts := crc32.NewIEEE()
	for i := 0; i < entries; i += 997 {
		io.WriteString(prompts, t.prompt(i, 15))
	}
	return filepath.Join(r.filled, fmt.Sprintf("%s-%d-in-%d-of-%x.db", strings.ReplaceAll(one.name, " ", "-"), entries, scopes, prompts.Sum32()))
}

// note prints a line at once, and again below the tables.
func (r *report) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Println(line)
	r.details = append(r.details, line)
}

func (r *report) add(part, title string, all []summary) {
	fmt.Printf("\n%s: %s\n", part, title)
	for _, s := range all {
		r.detail(part, title, &s)
	}
}

func (r *report) detail(part, title string, s *summary) {
	line := fmt.Sprintf("| %s | %s | %s | %.1f | %s | %.0f | %s | %.0f | %.0f | %.0f |", part, title, s.name, s.cpu, s.cpus, s.p50, s.p50s, s.p99, s.first50, s.rate)
	fmt.Println(line)
	r.details = append(r.details, line)
}

func (r *report) print() {
	if len(r.details) == 0 {
		return
	}
	fmt.Print("\n| figure | at most | measured, and lowest to highest of the rounds | | another build |\n|---|---|---|---|---|\n")
	for _, m := range musts {
		v, ok := r.figures[m.key]
		if !ok {
			continue
		}
		met, other := "yes", ""
		if v[0].mid > m.limit {
			met = "**no**"
		}
		if len(v) > 1 {
			other = m.show(v[1])
		}
		fmt.Printf("| %s | %s | %s | %s | %s |\n", m.what, m.number(m.limit), m.show(v[0]), met, other)
	}
	fmt.Print("\n| part | load | process | CPU µs/request | × base | p50 µs | × base | p99 µs | first byte p50 µs | requests/s |\n|---|---|---|---|---|---|---|---|---|---|\n")
	var notes []string
	for _, line := range r.details {
		if strings.HasPrefix(line, "|") {
			fmt.Println(line)
		} else {
			notes = append(notes, line)
		}
	}
	fmt.Println()
	for _, line := range notes {
		fmt.Println(line)
	}
}

func (m *must) number(v float64) string {
	if m.unit == "×" && m.limit < 1.1 {
		return fmt.Sprintf("%.3f ×", v)
	}
	if m.unit == "×" || m.unit == "commands" || m.unit == "s" {
		return fmt.Sprintf("%.2f %s", v, m.unit)
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, m.unit))
}

func (m *must) show(s spread) string {
	if s.low == s.high {
		return m.number(s.mid)
	}
	return m.number(s.mid) + " (" + strings.TrimSuffix(m.number(s.low), " "+m.unit) + "–" + strings.TrimSuffix(m.number(s.high), " "+m.unit) + ")"
}

// set notes a figure of each build from the lanes of [rig.against].
func (r *rig) set(key string, all []summary, of func(*summary) spread) {
	for i := range r.builds {
		r.report.set(key, i, of(&all[1+i]))
	}
}

func (r *rig) setCPU(key string, all []summary) {
	r.set(key, all, func(s *summary) spread { return s.cpus })
}

// profile writes a CPU profile of each program under its load to the folder that BENCH_PROFILE names.
func (r *rig) profile(title string, lanes []lane) {
	dir := os.Getenv("BENCH_PROFILE")
	if dir == "" {
		return
	}
	clean := strings.NewReplacer(" ", "-", "/", "-", ":", "", ",", "").Replace
	for i := range lanes {
		l := &lanes[i]
		if l.p.admin == "" {
			continue
		}
		done := make(chan []byte)
		go func() { done <- l.p.get("/admin/debug/pprof/profile?seconds=4") }()
		for round := rounds() + 1; ; round++ {
			r.sample(l, round)
			select {
			case profile := <-done:
				path := filepath.Join(dir, clean(r.part+" "+title+" "+l.name)+".pprof")
				if err := os.WriteFile(path, profile, 0o644); err != nil {
					r.b.Fatal(err)
				}
				r.report.note("%s: go tool pprof %s", r.part, path)
			default:
				continue
			}
			break
		}
	}
}
