package torture

import (
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"reprise/internal/built"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http's transport logs there; the log of a process is checked in F13
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// launch is how a process is started.
type launch struct {
	setup
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
	path, err := built.Program()
	if err != nil {
		w.t.Fatal(err)
	}
	command := []string{path, "serve"}
	if l.shell != "" {
		command = []string{"sh", "-c", l.shell + ` && exec "$0" serve`, path}
	}
	if l.private {
		command = append([]string{"unshare", "--user", "--map-root-user", "--mount"}, command...)
	}
	p := built.Launch(w.t, built.Options{Command: command, Log: w.log, Env: append([]string{"REPRISE_LOG_LEVEL=debug", "REPRISE_STORE=memory",
		"REPRISE_ADMIN_TOKEN=canary-admin-token", "REPRISE_TTL=60s", "REPRISE_STALE_IF_ERROR=60s", "REPRISE_CAPACITY_ENTRIES=40",
		"REPRISE_CAPACITY_BYTES=1MiB", "REPRISE_UPSTREAM=" + w.up.base()}, l.env...)})
	w.h.capacity = 1 << 20
	if err := p.AwaitReady(); err != nil {
		return err
	}
	w.proc, w.api, w.admin, w.end = p, p.API, p.Admin, p.Kill
	return nil
}

// alive reports whether the proxy has not ended.
func (w *world) alive() bool {
	if w.proc == nil {
		return true
	}
	select {
	case <-w.proc.Ended():
		return false
	default:
		return true
	}
}

// descriptors returns how many files the process of w has open, 0 where /proc does not say.
func (w *world) descriptors() int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.proc.Process.Pid))
	return len(files)
}

// crash kills the process of w and records that it was down until up returns.
func (w *world) crash(up func()) {
	from := w.h.tick()
	w.h.mu.Lock()
	w.h.down = append(w.h.down, span{from, 0})
	w.h.mu.Unlock()
	w.proc.Kill()
	up()
	w.h.mu.Lock()
	w.h.down[len(w.h.down)-1].to = w.h.clock + 1
	w.h.mu.Unlock()
}

// hasMounts reports whether a process may have mounts of its own here.
var hasMounts = sync.OnceValue(func() bool {
	return exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /tmp").Run() == nil
})
