package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/internal/built"
	"reprise/internal/enginesim"
)

// metric returns the value of a metric; name is a pattern.
func (p *process) metric(name string) float64 {
	p.t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(p.get("/metrics"))
	if m == nil {
		p.t.Fatalf("there is no metric %s", name)
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// engineURL is the base URL of a simulated engine.
func engineURL(t testing.TB) string {
	srv := httptest.NewServer(enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// repeat sends a request n times, and fails unless each is answered. Its lines in the log are long.
func (p *process) repeat(n int) {
	p.t.Helper()
	for range n {
		r := p.do(http.MethodPost, p.API+"/v1/chat/completions", strings.Replace(question, "gpt-4o-mini", strings.Repeat("m", 128), 1), "X-Request-Id", strings.Repeat("i", 128))
		if r.Status != http.StatusOK {
			p.t.Fatal(r.Status, r.Body)
		}
	}
}

// unread is a reader of the log that stops while its lock is held.
type unread struct{ sync.Mutex }

func (u *unread) Write(p []byte) (int, error) {
	u.Lock()
	defer u.Unlock()
	return len(p), nil
}

// TestLogIsNotRead: the reader of the log stops to read. All requests are answered, what does not fit is dropped and counted, and the process
// ends when it is asked to.
func TestLogIsNotRead(t *testing.T) {
	reader := &unread{}
	p := launch(t, built.Options{Env: []string{"REPRISE_UPSTREAM=" + engineURL(t), "REPRISE_STORE=memory"}, Log: reader})
	reader.Lock()
	const most = 50_000 // some 500 bytes each; a pipe and the buffer hold 2 MiB
	for sent := 0; p.metric("reprise_log_lost_total") == 0; sent += 500 {
		if sent > most {
			t.Fatal("no line is lost, and the pipe is not read")
		}
		p.repeat(500)
	}
	p.repeat(10)
	reader.Unlock()
	p.waitFor("the log lacks lines")
	p.repeat(1)
	p.stop()
}

// TestEndsWhileLogIsNotRead: a full pipe delays the end of the process by some seconds at most.
func TestEndsWhileLogIsNotRead(t *testing.T) {
	reader := &unread{}
	p := launch(t, built.Options{Env: []string{"REPRISE_UPSTREAM=" + engineURL(t), "REPRISE_STORE=memory"}, Log: reader})
	reader.Lock()
	defer reader.Unlock()
	p.repeat(1000) // more than a pipe holds
	p.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { _, err := p.Process.Wait(); ended <- err }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the process waits for the reader of its log")
	}
}

// TestLogIsClosed: the reader of the log has gone. Writing to its pipe would end a process that does not expect that.
func TestLogIsClosed(t *testing.T) {
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, path, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json")
	c.Env = append(os.Environ(), "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory")
	c.Stderr = to
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	to.Close()
	p := &process{Proxy: &built.Proxy{Cmd: c}, t: t}
	for lines := bufio.NewScanner(from); p.API == "" && lines.Scan(); {
		var ready struct{ API, Admin string }
		if json.Unmarshal(lines.Bytes(), &ready) == nil {
			p.API, p.Admin = ready.API, ready.Admin
		}
	}
	from.Close()
	p.loses(t)
}

// loses sends requests until lines of the log are counted as lost, and ends the process.
func (p *process) loses(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); p.metric("reprise_log_lost_total") == 0; {
		p.repeat(10)
		if time.Now().After(end) {
			t.Fatal("no line is lost")
		}
	}
	p.repeat(10)
	p.Process.Signal(syscall.SIGTERM)
	if state, err := p.Process.Wait(); err != nil || state.ExitCode() != 0 {
		t.Errorf("%v, %v", state, err)
	}
}

// TestLogOnFullDisk: the disk of the log is full from the start.
func TestLogOnFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	var addresses [2]string
	for i := range addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = l.Addr().String()
		defer l.Close()
		l.Close()
	}
	p := &process{Proxy: &built.Proxy{Cmd: exec.CommandContext(t.Context(), path, "serve", "--listen", addresses[0], "--admin-listen", addresses[1]),
		API: "http://" + addresses[0], Admin: "http://" + addresses[1]}, t: t}
	p.Env = append(os.Environ(), "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory")
	p.Stderr = full
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	built.Until(t, "the program to be ready, of which there is no log", func() bool {
		resp, err := http.Get(p.Admin + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	p.loses(t)
}

// TestForgedLines: what a client sends in the names of models, ids, paths and headers makes no line of its own, and no credential is logged.
func TestForgedLines(t *testing.T) {
	for _, form := range []string{"json", "text"} {
		p := start(t, "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory", "REPRISE_LOG_LEVEL=info", "REPRISE_LOG_FORMAT="+form)
		const forged = "x\n{\"msg\":\"forged\"}\r\ntime=1 level=ERROR msg=forged\x1b[31m\u2028\u202e"
		name, _ := json.Marshal(forged + strings.Repeat("\n", 1<<20))
		sent := 0
		for _, path := range []string{"/v1/chat/completions", "/v1/%0Aforged/sk-path", "/v1/models?key=sk-query&x=%0Amsg=forged", "/v1/files/sk-file"} {
			p.do(http.MethodPost, p.API+path, strings.Replace(question, `"gpt-4o-mini"`, string(name), 1),
				"Authorization", "Bearer sk-header", "X-Request-Id", "forged \t id", "Referer", "https://user:sk-referer@host/")
			sent++
		}
		p.Signal(syscall.SIGTERM)
		p.end()
		log := p.Logs()
		if n := strings.Count(log, "msg=access") + strings.Count(log, `"msg":"access"`); n != sent {
			t.Errorf("%s: %d lines for %d requests:\n%.4000s", form, n, sent, log)
		}
		for line := range strings.Lines(log) {
			if len(line) > 4<<10 || strings.HasPrefix(line, `{"msg":"forged"`) || strings.HasPrefix(line, "time=1 ") || strings.ContainsAny(line, "\x1b\r\u2028\u202e") {
				t.Errorf("%s: %.300q", form, line)
			}
		}
		for _, credential := range []string{"sk-path", "sk-query", "sk-header", "sk-file", "sk-referer"} {
			if strings.Contains(log, credential) {
				t.Errorf("%s: the log has %s", form, credential)
			}
		}
	}
}

// TestPrices: costs are in the metrics and in the stats; SIGHUP puts another price in force, and a bad file changes nothing.
func TestPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("currency: EUR\nprices:\n  - {model: m*, input: 1000000, output: 0}\n") // of a million tokens
	p := start(t, "REPRISE_UPSTREAM="+engineURL(t), "REPRISE_STORE=memory", "REPRISE_PRICES="+file)
	saved := func() (money, tokens float64) {
		var stats struct {
			Costs struct {
				Currency string
				Saved    struct {
					Cost   float64
					Tokens struct{ Input float64 }
				}
			}
		}
		if err := json.Unmarshal([]byte(p.get("/admin/stats")), &stats); err != nil || stats.Costs.Currency != "EUR" {
			t.Fatal(stats, err)
		}
		return stats.Costs.Saved.Cost, stats.Costs.Saved.Tokens.Input
	}
	p.repeat(2)
	money, tokens := saved()
	if tokens == 0 || money != tokens {
		t.Errorf("%v tokens cost %v", tokens, money)
	}
	if spent := p.metric(`reprise_tenant_cost_spent_total\{currency="EUR",model="m{128}",tenant="\w{32}"\}`); spent != tokens {
		t.Errorf("the miss has cost %v", spent)
	}
	write("currency: EUR\nprices:\n  - {model: m*, input: 2000000, output: 0}\n") // out of bounds
	p.Signal(syscall.SIGHUP)
	if line := p.waitFor("the settings cannot be used and were not reloaded; those from before stay in force"); !strings.Contains(fmt.Sprint(line["error"]), "prices.yaml:3:24: prices[0].input: want a price") {
		t.Errorf("%v", line)
	}
	write("currency: EUR\nprices:\n  - {model: m*, input: 500000, output: 0}\n")
	p.Signal(syscall.SIGHUP)
	if line := p.waitFor("settings reloaded"); line["changed"] != "REPRISE_PRICES (content)" {
		t.Errorf("%v", line)
	}
	p.repeat(1)
	if money, all := saved(); money != tokens+tokens/2 || all != 2*tokens {
		t.Errorf("%v tokens cost %v", all, money)
	}
}
