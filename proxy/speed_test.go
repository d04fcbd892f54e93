package proxy_test

import (
	"cmp"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkSpeed measures the program where its users pay: client, program, upstream and the bare handlers beside it are a process
// each, on loopback, and a cost is the CPU time of a process per request. Loads go to the processes in turn, so that ratios are
// comparable between machines. The program has its default settings, a store in a file included; only its capacity is raised where more
// entries are kept.
//
// A ratio is of its run. Bare, which takes 75 to 90 µs of a machine that does nothing else, takes 110 to 170 beside other work, while a search
// among 100,000 entries goes from .4 to 1.2 ms; its rounds after a large scan cost 10 µs more. Client, upstream and body change it by less.
//
//	REPRISE_DATA=dir   real questions from the texts of users in the *.jsonl.gz files below dir; default: words drawn by Zipf's law
//	BENCH_AGAINST=path another build of the program, measured in the same rounds
//	BENCH_BINARY=path  the program; default: built from this tree
//	BENCH_SETTINGS=…   settings of the program, such as "REPRISE_POLICY=lru REPRISE_MODE=exact"
//	BENCH_ROUNDS=n     rounds of each load; default 15
//	BENCH_PROFILE=path a CPU profile of the program, of the first ten seconds of the last load
//
// A part is selected by its name: go test ./proxy -run '^$' -bench 'Speed/^miss$/^10000$' -benchtime 1x; the misses behind an instruction or
// a document, of invented words and with equal vectors are Speed/miss/instructed and so on. Long parts, such as those with
// 1,000,000 entries, run only where -bench has the last part of their name. All others take some ten minutes on two cores that do nothing else:
//
//	go test ./proxy -run '^$' -bench Speed -benchtime 1x -timeout 1h
//
// The parts of several proxies that share one Redis are "shared/…"; without redis-server they are skipped.
//
// The figure of a load includes what the program does in the background between its rounds and after the last one, such as writing to its
// file. The part "noise" shows how far two equal processes are apart.
func BenchmarkSpeed(b *testing.B) {
	var r report
	program := os.Getenv("BENCH_BINARY")
	if program == "" {
		program = filepath.Join(b.TempDir(), "reprise")
		if out, err := exec.Command("go", "build", "-o", program, "reprise/cmd/reprise").CombinedOutput(); err != nil {
			b.Fatalf("go build: %v: %s", err, out)
		}
	}
	for _, one := range parts {
		b.Run(one.name, func(b *testing.B) {
			if one.long && !named(one.name) {
				b.Skip("a long part, which runs only where -bench names it")
			}
			for b.Loop() {
				one.measure(newRig(b, &r, one.name, program))
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	r.print()
}

type part struct {
	name    string
	long    bool
	measure func(*rig)
}

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

// rig is the processes of one part.
type rig struct {
	b                *testing.B
	report           *report
	part             string
	up, bare, mapper *process
	client           *process
	builds           []build
	programs         []*process // one for each build
	text             string     // of prompts, a job's Text, for filling and for fresh prompts
	next             int        // number of the next prompt that was never asked
	scope            int        // number of the next scope that was never used
}

// build is a program to be measured.
type build struct{ name, path string }

func newRig(b *testing.B, report *report, part, program string) *rig {
	r := &rig{b: b, report: report, part: part, builds: []build{{"reprise", program}}, scope: 1_000_001}
	if other := os.Getenv("BENCH_AGAINST"); other != "" {
		r.builds = append(r.builds, build{"other build", other})
	}
	r.up = startRole(b, "upstream", "")
	r.bare, r.mapper, r.client = startRole(b, "bare", r.up.addr), startRole(b, "map", ""), startRole(b, "client", "")
	return r
}

// start starts all builds, each on a file of its own.
func (r *rig) start(settings ...string) {
	for range r.builds {
		r.startNext(settings...)
	}
}

func (r *rig) startNext(settings ...string) {
	settings = append([]string{"REPRISE_UPSTREAM=http://" + r.up.addr + "/v1", "REPRISE_STORE=file:" + filepath.Join(r.b.TempDir(), "reprise.db")}, settings...)
	r.programs = append(r.programs, startProgram(r.b, r.builds[len(r.programs)].path, settings...))
}

// startFilled starts all builds, lets each answer so many prompts once, and waits until they are at rest: an index that is made in the
// background is ready then.
func (r *rig) startFilled(n int, settings ...string) {
	r.start(append([]string{"REPRISE_CAPACITY_ENTRIES=" + strconv.Itoa(max(2*n, 100_000)), "REPRISE_CAPACITY_BYTES=" + strconv.Itoa(max(n*10_000, 1<<30))}, settings...)...)
	r.fill(n, r.programs...)
	for i, p := range r.programs {
		p.settle(10 * time.Minute)
		m := p.metrics()
		r.note("%s has %.0f entries in %.0f topics, RSS %d MiB", r.builds[i].name, m["reprise_entries"], m["reprise_topics"], p.rss()>>20)
	}
}

// play lets the client play jobs at the same time, and returns their results.
func (r *rig) play(jobs ...job) []result {
	var results []result
	r.client.call(jobs, &results)
	for i, one := range results {
		if one.Error != "" {
			r.b.Fatalf("%s, %s at %s: %s", r.part, jobs[i].Kind, jobs[i].Addr, one.Error)
		}
	}
	return results
}

// fill lets every process answer so many prompts once: the numbers from 0 on.
func (r *rig) fill(n int, processes ...*process) {
	const batch = 10_000 // so that the client's memory stays small
	for _, p := range processes {
		for at := 0; at < n; at += batch {
			r.play(job{Addr: p.addr, Kind: "chat", Text: r.text, Conns: 16, N: min(batch, n-at), From: at})
		}
	}
	r.next = max(r.next, n)
}

// lane is one of the things that are compared: a process under a load. The first of its jobs is measured.
type lane struct {
	name  string
	p     *process
	base  int // the lane that it is compared with; its own number: none
	want  string
	later bool // each round ends when the process is at rest: where several lanes use one process, and leave work to the background
	jobs  func(round int) []job
}

// sample is one round of a lane.
type sample struct {
	result
	cpu  float64 // seconds, of the process while the client waited
	sent int     // requests of all jobs
}

func (r *rig) sample(l *lane, round int) sample {
	jobs, n := l.jobs(round), 0
	for i := range jobs {
		jobs[i].Addr = l.p.addr
	}
	before := l.p.cpu()
	all := r.play(jobs...)
	if l.later {
		l.p.settle(5 * time.Second)
	}
	first := all[0]
	got := map[string]int{"exact": first.Exact, "semantic": first.Semantic, "miss": first.Miss}
	if l.want != "" && got[l.want] < first.N*98/100 {
		r.b.Fatalf("%s, %s: of %d answers %v, and all of them should be %s", r.part, l.name, first.N, got, l.want)
	}
	for _, one := range all {
		n += one.N
	}
	return sample{first, l.p.cpu() - before, n}
}

// compare plays every lane in each round, the order of which changes from round to round. The first round warms up. Where a process has
// one lane, all that it does between the rounds, and until it is at rest after the last one, is part of the cost of that lane.
func (r *rig) compare(title string, lanes ...lane) []summary {
	samples, total, users := make([][]sample, len(lanes)), make([]float64, len(lanes)), map[*process]int{}
	var seen, now tally
	r.up.call("", &seen)
	defer r.profile()()
	for round := range rounds() + 1 {
		for k := range lanes {
			i := (k + round) % len(lanes)
			s := r.sample(&lanes[i], round)
			if round == 0 {
				total[i] = -lanes[i].p.cpu()
				users[lanes[i].p]++
				continue
			}
			samples[i] = append(samples[i], s)
		}
	}
	if r.up.call("", &now); now.Conns-seen.Conns > 64+(now.Requests-seen.Requests)/50 {
		r.note("%s: connections to the upstream do not stay open: %d new ones for %d requests", title, now.Conns-seen.Conns, now.Requests-seen.Requests)
	}
	all := make([]summary, len(lanes))
	for i, l := range lanes {
		all[i] = summarize(l.name, samples[i], samples[l.base])
		if users[l.p] == 1 {
			l.p.settle(5 * time.Second)
			all[i].mid[cpuTime] = (total[i] + l.p.cpu()) * 1e6 / float64(all[i].requests)
		}
		all[i].ratio[cpuTime].mid = all[i].mid[cpuTime] / all[l.base].mid[cpuTime]
		r.report.detail(r.part, title, &all[i], &all[l.base])
	}
	return all
}

// profile begins the profile that is asked for, and returns what waits for it.
func (r *rig) profile() (wait func()) {
	path := os.Getenv("BENCH_PROFILE")
	if path == "" || len(r.programs) == 0 {
		return func() {}
	}
	done := make(chan error, 1)
	go func() {
		resp, err := http.Get(r.programs[0].admin + "/admin/debug/pprof/profile?seconds=10")
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(resp.Body); err == nil {
				err = os.WriteFile(path, body, 0o644)
			}
		}
		done <- err
	}()
	return func() {
		if err := <-done; err != nil {
			r.b.Fatal(err)
		}
	}
}

// against is the lanes of a load for the bare process and for all builds. All of them get the same jobs.
func (r *rig) against(bare *process, want string, jobs func() job) []lane {
	each := once(jobs)
	lanes := []lane{{name: "bare", p: bare, jobs: each}}
	for i, p := range r.programs {
		lanes = append(lanes, lane{name: r.builds[i].name, p: p, want: want, jobs: each})
	}
	return lanes
}

// set notes a figure of each build from the lanes of against.
func (r *rig) set(key string, all []summary, of figure) {
	for i := range r.builds {
		r.report.set(key, i, all[1+i].ratio[of])
	}
}

func (r *rig) note(format string, args ...any) { r.report.note(r.part+": "+format, args...) }

// once makes the jobs of a lane of those of a load: the lanes that share them get the same one in a round.
func once(next func() job) func(round int) []job {
	last, same := -1, job{}
	return func(round int) []job {
		if round != last {
			last, same = round, next()
		}
		return []job{same}
	}
}

// fresh are jobs of prompts that were never asked.
func (r *rig) fresh(j job) func() job {
	return func() job {
		j.From, j.Text = r.next, r.text
		r.next += j.N
		return j
	}
}

// freshScope are fresh jobs in a scope that is empty at the beginning of each.
func (r *rig) freshScope(j job) func() job {
	next := r.fresh(j)
	return func() job {
		j := next()
		j.Scope = r.scope
		r.scope++
		return j
	}
}

// again are jobs of prompts that have been answered, drawn from the first n.
func again(j job, n int) func() job {
	return func() job {
		j.From, j.Among = j.From+j.N, n
		return j
	}
}
