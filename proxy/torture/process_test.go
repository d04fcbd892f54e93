package torture

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"reprise/internal/built"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http's transport logs there; the log of a process is checked in F13
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// process is a running `reprise serve`.
type process struct {
	*exec.Cmd
	api, admin string
	ended      chan struct{}
}

// launch is how a process is started.
type launch struct {
	setup
	program string   // default: the program of this tree
	shell   string   // commands before the program starts, in a shell of its own; "" is no shell
	private bool     // the shell gets mounts of its own
	env     []string // settings
}

// newProcess starts a world whose proxy is a process of its own. It fails the test unless the process becomes ready.
func newProcess(t testing.TB, seed uint64, l launch) *world {
	t.Helper()
	w := bareWorld(t, seed, l.setup)
	t.Cleanup(w.finish)
	if err := w.start(l); err != nil {
		t.Fatal(err)
	}
	return w
}

// start starts a process for w, which has none, and returns when it is ready; the error of one that ends has its log.
func (w *world) start(l launch) error {
	path := l.program
	if path == "" {
		var err error
		if path, err = built.Program(); err != nil {
			w.t.Fatal(err)
		}
	}
	cmd := exec.Command(path, "serve")
	if l.shell != "" {
		cmd = exec.Command("sh", "-c", l.shell+` && exec "$0" serve`, path)
	}
	if l.private {
		cmd = exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount"}, cmd.Args...)...)
	}
	p := &process{Cmd: cmd, ended: make(chan struct{})}
	p.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	p.Env = append(p.Env, "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json", "REPRISE_LOG_LEVEL=debug",
		"REPRISE_STORE=memory", "REPRISE_ADMIN_TOKEN=canary-admin-token", "REPRISE_TTL=60s", "REPRISE_STALE_IF_ERROR=60s", "REPRISE_CAPACITY_ENTRIES=40",
		"REPRISE_CAPACITY_BYTES=1MiB", "REPRISE_UPSTREAM="+w.up.base(), "REPRISE_HEADER_TIMEOUT=1m")
	p.Env = append(p.Env, l.env...)
	w.h.capacity = 1 << 20
	stderr, err := p.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		w.t.Fatal(err)
	}
	ready := make(chan map[string]any, 1)
	go p.readLog(stderr, w.log, ready)
	select {
	case line := <-ready:
		p.api, _ = line["api"].(string)
		p.admin, _ = line["admin"].(string)
	case <-p.ended:
		return fmt.Errorf("the program ended at its start:\n%s", w.log.String())
	}
	w.proc, w.api, w.admin = p, p.api, p.admin
	w.end = sync.OnceFunc(func() { p.kill() })
	return nil
}

// readLog copies the log until the process ends, and passes on the line that says that it is ready.
func (p *process) readLog(stderr io.Reader, log io.Writer, ready chan<- map[string]any) {
	defer close(p.ended)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		log.Write(append(lines.Bytes(), '\n'))
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == "reprise is ready" {
			ready <- line
		}
	}
	_ = p.Wait() // the exit code is in ProcessState
}

// alive reports whether the proxy has not ended.
func (w *world) alive() bool {
	if w.proc == nil {
		return true
	}
	select {
	case <-w.proc.ended:
		return false
	default:
		return true
	}
}

// highest is the highest resident memory of the process in bytes, 0 where /proc does not say.
func (p *process) highest() int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	fmt.Sscan(rest, &kib)
	return kib << 10
}

// descriptors are those that the process has open, 0 where /proc does not say.
func (p *process) descriptors() int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Process.Pid))
	return len(files)
}

// kill ends the process as a crash would, and waits for its end.
func (p *process) kill() {
	p.Process.Kill()
	<-p.ended
}

// stop ends the process by SIGTERM and reports whether it ended by itself with code 0.
func (p *process) stop(limit time.Duration) bool {
	p.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
		return p.ProcessState.ExitCode() == 0
	case <-time.After(limit):
		p.kill()
		return false
	}
}

// crash kills the process of w and records that it was down until up returns.
func (w *world) crash(up func()) {
	from := w.h.tick()
	w.h.mu.Lock()
	w.h.down = append(w.h.down, span{from, 0})
	w.h.mu.Unlock()
	w.proc.kill()
	up()
	w.h.mu.Lock()
	w.h.down[len(w.h.down)-1].to = w.h.clock + 1
	w.h.mu.Unlock()
}

// hasMounts reports whether a process may have mounts of its own here.
var hasMounts = sync.OnceValue(func() bool {
	return exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /tmp").Run() == nil
})
