package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// process is a process of the benchmark: the program, or this test binary in a role.
type process struct {
	*exec.Cmd
	b     testing.TB
	in    io.WriteCloser
	out   *bufio.Reader
	addr  string // of what it serves
	admin string // base URL of the program's admin API
}

// startRole starts this test binary again.
func startRole(b testing.TB, role, arg string) *process {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p := &process{Cmd: exec.Command(self), b: b}
	p.Env, p.Stderr = append(os.Environ(), roleVariable+"="+role+" "+arg), os.Stderr
	if role != "map" && role != "bare" && role != "redis" {
		p.Env = append(p.Env, "GOGC=400") // only what is compared collects as usual
	}
	if p.in, err = p.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	p.launch(p.StdoutPipe)
	line, err := p.out.ReadString('\n')
	if err != nil {
		b.Fatalf("start %s: %v", role, err)
	}
	p.addr = strings.TrimSpace(line)
	return p
}

// startProgram starts a build of the program on free ports, with the settings of BENCH_SETTINGS and more, and waits until it is ready.
func startProgram(b testing.TB, path string, settings ...string) *process {
	b.Helper()
	p := &process{Cmd: exec.Command(path, "serve"), b: b}
	p.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	p.Env = append(p.Env, "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json")
	p.Env = append(append(p.Env, settings...), strings.Fields(os.Getenv("BENCH_SETTINGS"))...)
	p.launch(p.StderrPipe)
	var log strings.Builder
	for {
		line, err := p.out.ReadBytes('\n')
		log.Write(line)
		var ready struct{ Msg, API, Admin string }
		if json.Unmarshal(line, &ready) == nil && ready.Msg == "reprise is ready" {
			p.addr, p.admin = strings.TrimPrefix(ready.API, "http://"), ready.Admin
			go io.Copy(io.Discard, p.out)
			return p
		}
		if err != nil {
			b.Fatalf("%s did not start: %s", path, log.String())
		}
	}
}

func (p *process) launch(pipe func() (io.ReadCloser, error)) {
	out, err := pipe()
	if err == nil {
		p.out, err = bufio.NewReaderSize(out, 1<<20), p.Start()
	}
	if err != nil {
		p.b.Fatal(err)
	}
	p.b.Cleanup(p.kill)
}

func (p *process) kill() {
	p.Process.Kill()
	_ = p.Wait() // killed
}

// stop ends the program as an operator does, so that its file is complete.
func (p *process) stop() {
	if err := p.Process.Signal(os.Interrupt); err != nil {
		p.b.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		p.b.Fatalf("the program ended with %v", err)
	}
}

// call sends a line to a role and reads its answer into v.
func (p *process) call(line, v any) {
	p.b.Helper()
	text, err := json.Marshal(line)
	if err == nil {
		_, err = p.in.Write(append(text, '\n'))
	}
	if err != nil {
		p.b.Fatal(err)
	}
	answer, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(answer, v)
	}
	if err != nil {
		p.b.Fatalf("answer %q: %v", answer, err)
	}
}

// cpu is the CPU time of the process in seconds: that of its threads, to the nanosecond. Threads of Go do not end.
func (p *process) cpu() (seconds float64) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Process.Pid))
	if err != nil || len(tasks) == 0 {
		p.b.Skip("the kernel does not say how long a thread has run: no /proc/PID/task/TID/schedstat")
	}
	for _, task := range tasks {
		line, err := os.ReadFile(task)
		if err != nil {
			p.b.Fatal(err)
		}
		ran, _, _ := bytes.Cut(line, []byte(" "))
		ns, err := strconv.ParseFloat(string(ran), 64)
		if err != nil {
			p.b.Fatal(err)
		}
		seconds += ns / 1e9
	}
	return seconds
}

// settle waits until the process does nothing any more: what a load leaves to be done later, such as writing to the file, is its cost too.
// It gives up after the limit: then the load goes on being paid in the next one.
func (p *process) settle(limit time.Duration) {
	const quiet, step = 700 * time.Millisecond, 100 * time.Millisecond // the store writes twice a second
	used, since := p.cpu(), time.Now()
	for end := since.Add(limit); time.Since(since) < quiet && time.Now().Before(end); {
		time.Sleep(step)
		if now := p.cpu(); now-used > step.Seconds()/50 {
			used, since = now, time.Now()
		} else {
			used = now
		}
	}
}

// rss is the resident memory in bytes.
func (p *process) rss() (kib int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	if _, bad := fmt.Sscan(rest, &kib); err != nil || bad != nil {
		p.b.Fatal(err, bad)
	}
	return kib << 10
}

// get reads a path of the program's admin API.
func (p *process) get(path string) []byte {
	resp, err := http.Get(p.admin + path)
	if err != nil {
		p.b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.b.Fatalf("GET %s: %d, %v", path, resp.StatusCode, err)
	}
	return body
}

// metrics are the values of the program's metrics without labels.
func (p *process) metrics() map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(string(p.get("/metrics"))) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				all[name] = n
			}
		}
	}
	return all
}

// heap is the memory that is in use after two collections, in bytes. What pools hold goes with the second.
func (p *process) heap() (n int64) {
	for range 2 {
		_, rest, _ := strings.Cut(string(p.get("/admin/debug/pprof/heap?gc=1&debug=1")), "# HeapAlloc = ")
		if _, err := fmt.Sscan(rest, &n); err != nil {
			p.b.Fatal(err)
		}
	}
	return n
}
