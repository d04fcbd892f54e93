package llamatest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reprise/internal/built"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Main runs the tests of a package that uses Serve, and removes what they have built. It returns the exit code.
func Main(m *testing.M) int {
	defer built.Remove()
	return m.Run()
}

// Proxy is a running `reprise serve`.
type Proxy struct {
	URL, Admin string // base URLs, without /v1

	t testing.TB

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// Serve runs the program in front of engines, called a, b and so on, with these settings. It ends with the test, which fails if the process
// has had a data race or a panic.
func Serve(t testing.TB, engines []*Engine, env ...string) *Proxy {
	t.Helper()
	path, err := built.AsTests()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // a hang fails the test; nothing is measured
	cmd := exec.CommandContext(ctx, path, "serve")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	cmd.Env = append(cmd.Env, "REPRISE_LISTEN=127.0.0.1:0", "REPRISE_ADMIN_LISTEN=127.0.0.1:0", "REPRISE_LOG_FORMAT=json", "REPRISE_STORE=memory",
		"REPRISE_HEADER_TIMEOUT=5m", "REPRISE_UPSTREAM="+upstreams(engines))
	cmd.Env = append(cmd.Env, env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Proxy{t: t}
	ready, ended := make(chan map[string]any, 1), make(chan struct{})
	go func() {
		defer close(ended)
		p.readLog(stderr, ready)
		_ = cmd.Wait() // its log says what happened
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
		cancel()
		p.sound()
	})
	select {
	case line := <-ready:
		p.URL, _ = line["api"].(string)
		p.Admin, _ = line["admin"].(string)
	case <-ended:
		t.Fatalf("the program ended at its start:\n%s", p.logs())
	}
	return p
}

// upstreams is the setting for engines.
func upstreams(engines []*Engine) string {
	var list []string
	for i, e := range engines {
		list = append(list, fmt.Sprintf("%c=%s/v1;dialect=llamacpp;capacity=%d", 'a'+i, e.URL, e.Tokens))
	}
	return strings.Join(list, ",")
}

// readLog collects the log until the process ends, and passes on the line that says that it is ready.
func (p *Proxy) readLog(stderr io.Reader, ready chan<- map[string]any) {
	for lines := bufio.NewReader(stderr); ; {
		text, err := lines.ReadBytes('\n')
		p.mu.Lock()
		p.log.Write(text)
		p.mu.Unlock()
		var line map[string]any
		if json.Unmarshal(text, &line) == nil && line["msg"] == "reprise is ready" {
			ready <- line
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// sound fails the test if the log has a data race or a panic.
func (p *Proxy) sound() {
	log := p.logs()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if at := strings.Index(log, bad); at >= 0 {
			p.t.Errorf("the log has %q: %.4000s", bad, log[max(0, at-500):])
		}
	}
}
