package deploy_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"reprise/internal/built"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// program is the path of the proxy, which is built once.
func program(t *testing.T) string {
	t.Helper()
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// proxy is a running `reprise serve`.
type proxy struct {
	API, Admin string

	process *os.Process
	ended   <-chan struct{}
}

// stop sends the signal to drain. The channel is closed when the process has ended.
func (p proxy) stop(t *testing.T) (ended <-chan struct{}) {
	t.Helper()
	if err := p.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return p.ended
}

// serve starts the proxy on free ports and waits until it is ready.
func serve(t *testing.T, env ...string) proxy {
	t.Helper()
	p := exec.CommandContext(t.Context(), program(t), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json")
	p.Env = append(os.Environ(), env...)
	log, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		p.Process.Kill()
		<-ended
	})
	var all []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		all = append(all, lines.Text())
		var line struct {
			Msg, API, Admin string
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "reprise is ready" {
			go func() {
				defer close(ended)
				for lines.Scan() { // a full pipe would stop the proxy
				}
				p.Wait()
			}()
			return proxy{line.API, line.Admin, p.Process, ended}
		}
	}
	close(ended)
	t.Fatalf("the proxy does not start:\n%s", strings.Join(all, "\n"))
	return proxy{}
}
