package replicas_test

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/internal/redistest"
)

// monitor counts the commands that clients send to a server. Commands that a script calls are not counted.
type monitor struct {
	mu    sync.Mutex // guards count
	count map[string]int
}

// sentCommand is a line of MONITOR: time, database and client, command.
var sentCommand = regexp.MustCompile(`^\+[0-9.]+ \[\d+ [0-9.:]+\] "(\w+)"`)

func newMonitor(t *testing.T, server *redistest.Server) *monitor {
	t.Helper()
	c, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, "MONITOR\r\n")
	m := &monitor{count: map[string]int{}}
	lines := bufio.NewReaderSize(c, 1<<20)
	if ok, err := lines.ReadString('\n'); ok != "+OK\r\n" {
		t.Fatal(ok, err)
	}
	go func() {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if command := sentCommand.FindStringSubmatch(line); command != nil {
				m.mu.Lock()
				m.count[strings.ToLower(command[1])]++
				m.mu.Unlock()
			}
		}
	}()
	return m
}

// counted are the commands so far.
func (m *monitor) counted() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}

// during counts the commands while do runs, and until the replicas have appended all that follows and read it; less what the replicas send in that time when nothing is asked.
func (m *monitor) during(f *fleet, idle map[string]float64, do func()) map[string]float64 {
	before, begin := m.counted(), time.Now()
	do()
	eventually(f.t, "replicas with nothing to append or to read", func() bool {
		return !slices.ContainsFunc(f.replicas, func(p *process) bool {
			queued, ok := p.Metric("reprise_shared_queue_events")
			lag, also := p.Metric("reprise_shared_lag_batches")
			return !ok || !also || queued+lag > 0
		})
	})
	after, took := m.counted(), time.Since(begin).Seconds()
	sent := map[string]float64{}
	for name, n := range after {
		if extra := float64(n-before[name]) - idle[name]*took; extra > 0 {
			sent[name] = extra
		}
	}
	return sent
}

func sum(counts map[string]float64) (n float64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func inWords(counts map[string]float64) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %.1f", name, counts[name]))
	}
	return strings.Join(all, ", ")
}

// TestCommandsPerRequest counts what Redis is asked for by requests, with MONITOR: a hit whose answer is at hand asks for nothing, one whose answer
// is fetched asks once. A miss asks for the answer and for the lease of its flight at once; with the events that follow and the end of the lease,
// both in batches, it takes three commands at most.
func TestCommandsPerRequest(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	f := on(t, 2, server)
	m := newMonitor(t, server)
	const quiet, n = 3, 320
	before := m.counted()
	time.Sleep(quiet * time.Second) // what is measured
	idle := map[string]float64{}
	for name, c := range m.counted() {
		idle[name] = float64(c-before[name]) / quiet
	}
	questions := make([]question, n)
	for i := range questions {
		questions[i] = f.freshQuestion(tenants[0])
	}
	askAll := func(replica int, result string) func() {
		return func() {
			var clients sync.WaitGroup
			for c := range 8 {
				clients.Go(func() {
					for i := c; i < n; i += 8 {
						if a := f.ask(replica, questions[i]); a.result() != result && f.lateFor(a.start.Add(-time.Second), a.end, 0, 1) == 0 {
							t.Errorf("replica %d: %s, want %s", replica, a.result(), result)
						}
					}
				})
			}
			clients.Wait()
		}
	}
	t.Logf("measured: commands a second of 2 replicas without requests: %s", inWords(idle))
	for _, phase := range []struct {
		name    string
		replica int
		result  string
		read    float64 // answers read, most of a request
		all     float64 // commands, most of a request
	}{
		{"miss", 0, "miss", 1, 3},
		{"hit that is fetched", 1, "exact", 1, 1.3},
		{"hit that is at hand", 1, "exact", 0, 0.3},
	} {
		begin := time.Now()
		sent := m.during(f, idle, askAll(phase.replica, phase.result))
		late := f.lateFor(begin, time.Now(), 0, 1)
		read := (sent["mget"] + sent["get"]) / n
		// Uses wait for others for 50 ms, so their batches, of which each is appended once and read by both, depend on the time and not on the requests.
		batches := time.Since(begin).Seconds()/0.05 + 1
		t.Logf("measured: %s: %.2f answers read a request, %.2f commands; for %d requests %s; the machine was late for %v", phase.name, read, sum(sent)/n, n, inWords(sent), late)
		if (read > phase.read || sum(sent) > max(phase.all*n, read*n+3*batches)) && late == 0 {
			t.Errorf("%s: %.2f answers read a request and %.2f commands", phase.name, read, sum(sent)/n)
		}
	}
	f.check()
}

// TestCommandsPerItem: of a list of embeddings a replica fetches what the other one has stored, 64 inputs by a command, and asks the engine for the
// rest.
func TestCommandsPerItem(t *testing.T) {
	t.Parallel()
	const n = 200
	server := redistest.Start(t, redistest.Options{})
	f := on(t, 2, server)
	m := newMonitor(t, server)
	inputs := make([]string, n)
	for i := range inputs {
		inputs[i] = fmt.Sprintf(`"%0*d"`, 1+i%9, i)
	}
	ask := func(replica int, inputs []string) reply {
		t.Helper()
		got, err := f.replica(replica).Try(t.Context(), http.MethodPost, f.replica(replica).API+"/v1/embeddings", `{"model":"m","input":[`+strings.Join(inputs, ",")+`]}`, "Authorization", tenants[0])
		if err != nil || got.Status != http.StatusOK {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	m.during(f, nil, func() { ask(0, inputs) })
	for _, phase := range []struct {
		inputs []string
		known  int
		reads  float64
	}{
		{append([]string{`"new"`}, inputs...), n, 1 + (n+63)/64}, // one more for the key of the list
		{inputs, n, 1},
	} {
		var got reply
		calls := len(f.up.callsOf(""))
		sent := m.during(f, nil, func() { got = ask(1, phase.inputs) })
		t.Logf("measured: a list of %d inputs, of which %d are stored by the other replica: %s", len(phase.inputs), phase.known, inWords(sent))
		if sent["mget"] > phase.reads {
			t.Errorf("%v reads, want %v at most", sent["mget"], phase.reads)
		}
		if more := len(f.up.callsOf("")) - calls; (more == 0) != (len(phase.inputs) == phase.known) {
			t.Errorf("%d more calls", more)
		}
		vectors := gjson.Get(got.Body, "data.#.embedding").Array()
		for i, v := range vectors {
			if own := phase.inputs[i] == `"new"`; (v.Get("0").Int() != 0) != own || int(v.Get("1").Int()) != len(phase.inputs[i])-2 {
				t.Errorf("input %s has %s", phase.inputs[i], v.Raw)
			}
		}
		if len(vectors) != len(phase.inputs) || !strings.Contains(got.Header.Get("Cache-Status"), fmt.Sprintf("partial=%d/%d", phase.known, len(phase.inputs))) && phase.known < len(phase.inputs) {
			t.Errorf("%d vectors, %s", len(vectors), got.Header.Get("Cache-Status"))
		}
	}
}
