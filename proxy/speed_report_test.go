package proxy_test

import (
	"fmt"
	"slices"
	"strings"
)

// figure is what is measured of a lane in a round.
type figure int

const (
	cpuTime figure = iota // of a request, in µs
	p50
	p99
	firstByte // median
	figures
)

// of is a figure of a round.
func (f figure) of(s *sample) float64 {
	return [figures]float64{s.cpu * 1e6 / float64(s.sent), s.P50, s.P99, s.First50}[f]
}

// spread is a figure over the rounds.
type spread struct{ mid, low, high float64 }

func (s spread) String() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.mid, s.low, s.high) }

func spreadOf(v []float64) spread { return spread{quantile(v, .5), slices.Min(v), slices.Max(v)} }

func exactly(v float64) spread { return spread{v, v, v} }

// summary is a lane over all rounds.
type summary struct {
	name     string
	mid      [figures]float64 // medians; of the CPU the mean, because some of it comes in lumps, as garbage collections do
	ratio    [figures]spread  // to the base in the same round; in the middle of that of the CPU is the ratio of the means
	least    float64          // CPU of a request in the round that took the least, in µs
	rate     float64          // requests a second
	each     []float64        // CPU of a request in each round
	requests int
}

func summarize(name string, own, base []sample) summary {
	s := summary{name: name}
	var rates []float64
	for f := range figures {
		var v, q []float64
		for i := range own {
			v, q = append(v, f.of(&own[i])), append(q, f.of(&own[i])/f.of(&base[i]))
		}
		s.mid[f], s.ratio[f] = quantile(v, .5), spreadOf(q)
		if f == cpuTime {
			s.each, s.least = v, slices.Min(v)
		}
	}
	all := 0.0
	for i := range own {
		all, s.requests = all+own[i].cpu*1e6, s.requests+own[i].sent
		rates = append(rates, float64(own[i].N)/own[i].Seconds)
	}
	s.mid[cpuTime], s.rate = all/float64(s.requests), quantile(rates, .5)
	return s
}

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
	{"miss-0instructed", "the same behind an instruction of 60 words: 0 entries", 2.6, "×"},
	{"miss-10000instructed", "– 10,000 entries", 2.86, "×"},
	{"miss-100000instructed", "– 100,000 entries", 3.9, "×"},
	{"miss-1000000instructed", "– 1,000,000 entries", 6.0, "×"},
	{"miss-0documents", "the same behind documents of 1,500 words, in two frames; what reading them costs comes on top of the limit: 0 entries", 2.6, "×"},
	{"miss-10000documents", "– 10,000 entries", 2.86, "×"},
	{"miss-100000documents", "– 100,000 entries", 3.9, "×"},
	{"miss-10000words", "the same of invented words: 10,000 entries", 2.86, "×"},
	{"miss-100000words", "– 100,000 entries", 3.9, "×"},
	{"miss-100000equal", "the same with 100,000 equal vectors", 3.9, "×"},
	{"semantic-100000", "CPU, semantic hit − exact hit at 100,000 entries", 250, "µs"},
	{"stream", "CPU, fresh stream of 20 chunks / bare proxy", 2.0, "×"},
	{"stream-first", "first byte of it at one connection / bare proxy", 1.6, "×"},
	{"one-pass", "p50 at one connection, pass-through / bare proxy", 1.2, "×"},
	{"one-exact", "p50 at one connection, exact hit / bare map handler", 1.25, "×"},
	{"one-miss", "p50 at one connection, miss at 10,000 entries / bare proxy", 1.8, "×"},
	{"inserting", "p99 of exact hits at 100,000 entries, with 500 misses/s / without", 1.5, "×"},
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
	{"redis-start", "start of a replica with 100,000 entries", 8, "s"},
}

// report collects what the parts have measured.
type report struct {
	figures map[string][]spread // by the key of a must, one for each build
	details []string
	notes   []string
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

// note prints a line at once, and again below the tables.
func (r *report) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Println(line)
	r.notes = append(r.notes, line)
}

// detail notes a lane, which is compared with base.
func (r *report) detail(part, title string, s, base *summary) {
	line := fmt.Sprintf("| %s | %s | %s | %.1f | %s | %.1f | %.2f | %.0f | %s | %.0f | %.0f | %.0f |", part, title, s.name, s.mid[cpuTime], s.ratio[cpuTime], s.least, s.least/base.least,
		s.mid[p50], s.ratio[p50], s.mid[p99], s.mid[firstByte], s.rate)
	fmt.Println(line)
	r.details = append(r.details, line)
}

func (r *report) print() {
	if len(r.figures) == 0 && len(r.details) == 0 {
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
		fmt.Printf("| %s | %.6g %s | %s | %s | %s |\n", m.what, m.limit, m.unit, m.show(v[0]), met, other)
	}
	fmt.Print("\n| part | load | process | CPU µs/request | × base | least round | × base | p50 µs | × base | p99 µs | first byte p50 µs | requests/s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	fmt.Printf("%s\n\n%s\n", strings.Join(r.details, "\n"), strings.Join(r.notes, "\n"))
}

func (m *must) show(s spread) string {
	if s.low == s.high {
		return fmt.Sprintf("%.4g %s", s.mid, m.unit)
	}
	return fmt.Sprintf("%.4g %s (%.4g–%.4g)", s.mid, m.unit, s.low, s.high)
}
