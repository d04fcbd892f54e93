package clienttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"reprise/internal/built"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// program is a running `reprise serve`.
type program struct {
	*exec.Cmd
	api, admin string // base URLs, without /v1
	ended      chan struct{}

	mu  sync.Mutex // protects log
	log bytes.Buffer
}

// serve starts the program in folder dir, where it has its file of answers, and waits until it is ready. Its settings are the defaults, except
// for its upstream and free ports. It is killed after the test.
func serve(t *testing.T, path, dir, upstream string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(path, "serve"), ended: make(chan struct{})}
	p.Dir = dir
	p.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	p.Env = append(p.Env, "REPRISE_UPSTREAM="+upstream, "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json")
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill(); <-p.ended })
	ready := make(chan map[string]any, 1)
	go p.readLog(stderr, ready)
	select {
	case line := <-ready:
		p.api, _ = line["api"].(string)
		p.admin, _ = line["admin"].(string)
	case <-p.ended:
		t.Fatalf("the program ended at its start:\n%s", p.logs())
	}
	return p
}

// readLog collects the log until the process ends, and passes on the line that says that it is ready.
func (p *program) readLog(stderr io.Reader, ready chan<- map[string]any) {
	defer close(p.ended)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.log.Write(append(lines.Bytes(), '\n'))
		p.mu.Unlock()
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) == nil && line["msg"] == "reprise is ready" {
			ready <- line
		}
	}
	_ = p.Wait() // the exit code is in ProcessState
}

func (p *program) logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// stop ends the program as an operator does.
func (p *program) stop(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("the program ended with code %d:\n%s", code, p.logs())
	}
}
