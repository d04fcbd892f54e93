package replicas_test

import (
	"reprise/internal/built"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is a running `reprise serve`.
type process struct {
	*built.Proxy
	t    testing.TB
	name string      // the upstream sees it: another one for each process
	gone atomic.Bool // the test has killed it
}

// launch runs serve on free ports with these settings. It is killed after the test, and the test fails if the log of the process has a data
// race, a panic or a prompt.
func launch(t testing.TB, name string, env ...string) *process {
	t.Helper()
	path, err := built.AsTests()
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{"REPRISE_MAX_ERROR_RATE=0"}, env...) // nothing is explored: no two answers of the engine are alike, and what is compared would prove wrong
	p := &process{Proxy: built.Launch(t, built.Options{Command: []string{path, "serve"}, Env: append([]string{built.Granted(t)}, env...)}), t: t, name: name}
	t.Cleanup(func() {
		p.kill()
		if at := strings.Index(p.Logs(), "canary"); at >= 0 {
			t.Errorf("the log of %s has a prompt: %.4000s", name, p.Logs()[max(0, at-500):])
		}
	})
	return p
}

// kill ends the process as a crash would, and waits for its end.
func (p *process) kill() {
	p.gone.Store(true)
	p.Kill()
}

// freeze stops the process until thaw.
func (p *process) freeze() { p.Signal(syscall.SIGSTOP) }

func (p *process) thaw() { p.Signal(syscall.SIGCONT) }

// reply is an answer that was read to its end.
type reply = built.Reply

// limit is how long a test waits for what another process does in its own time. It measures nothing: a machine that is busy with other tests, or
// a sentinel that was stopped, which then does nothing for half a minute, must not reach it.
const limit = 3 * time.Minute

// eventually waits until ok holds. A test that has failed already does not wait for long.
func eventually(t testing.TB, what string, ok func() bool) bool {
	t.Helper()
	for begin := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if took := time.Since(begin); took > limit || t.Failed() && took > limit/6 {
			t.Errorf("this did not happen within %v: %s", took.Round(time.Second), what)
			return false
		}
	}
	return true
}
