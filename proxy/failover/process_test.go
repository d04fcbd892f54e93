//go:build unix

// Package failover_test runs the proxy in front of engines that are processes, which are killed, frozen and started again while requests
// are under way. Each engine writes down every request that reaches it, so that one that was sent twice is found.
package failover_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/enginesim"
)

// roleVariable makes this test binary an engine: its address, the file for its requests, and the output tokens of a second.
const roleVariable = "REPRISE_FAILOVER_ENGINE"

func TestMain(m *testing.M) {
	if role := strings.Fields(os.Getenv(roleVariable)); len(role) == 3 {
		beEngine(role[0], role[1], role[2])
	}
	os.Exit(m.Run())
}

// beEngine serves an engine until the process ends.
func beEngine(address, file, decode string) {
	log, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	var l net.Listener
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the port may still be in use
		if l, err = net.Listen("tcp", address); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		panic(err)
	}
	var speed float64
	fmt.Sscan(decode, &speed)
	engine := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}, Decode: speed, OnRequest: func(path string, _ http.Header, body []byte) {
		if strings.HasSuffix(path, "/completions") {
			var r struct{ Messages []struct{ Content string } }
			json.Unmarshal(body, &r)
			fmt.Fprintf(log, "%s\n", r.Messages[len(r.Messages)-1].Content) // one write, which O_APPEND makes atomic
		}
	}})
	fmt.Println("ready")
	panic(http.Serve(l, engine))
}

// engine is an engine in a process of its own.
type engine struct {
	t       *testing.T
	address string
	file    string
	decode  string
	cmd     *exec.Cmd
}

// newEngine starts an engine on a free port.
func newEngine(t *testing.T, file, decode string) *engine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	e := &engine{t: t, address: l.Addr().String(), file: file, decode: decode}
	e.start()
	t.Cleanup(e.kill)
	return e
}

// start starts the process and waits until it listens.
func (e *engine) start() {
	e.t.Helper()
	self, err := os.Executable()
	if err != nil {
		e.t.Fatal(err)
	}
	e.cmd = exec.Command(self)
	e.cmd.Env, e.cmd.Stderr = append(os.Environ(), roleVariable+"="+e.address+" "+e.file+" "+e.decode), os.Stderr
	out, err := e.cmd.StdoutPipe()
	if err == nil {
		err = e.cmd.Start()
	}
	if err != nil {
		e.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		e.t.Fatalf("an engine did not start: %q, %v", line, err)
	}
}

// kill ends the process at once.
func (e *engine) kill() {
	if e.cmd != nil {
		e.cmd.Process.Kill()
		e.cmd.Wait()
		e.cmd = nil
	}
}

// freeze stops the process, or lets it go on.
func (e *engine) freeze(frozen bool) {
	signal := syscall.SIGCONT
	if frozen {
		signal = syscall.SIGSTOP
	}
	if err := e.cmd.Process.Signal(signal); err != nil {
		e.t.Fatal(err)
	}
}

// requests are those that the engines with one file got, by their last message, each with how often.
func requests(t *testing.T, file string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(string(text)) {
		got[strings.TrimSpace(line)]++
	}
	return got
}

// post sends a chat request and returns the answer's status and text, an error if the answer broke off or never came.
func post(ctx context.Context, api, prompt string, stream bool) (status int, text string, err error) {
	body, _ := json.Marshal(map[string]any{"model": "m", "stream": stream, "max_tokens": 10, "messages": []any{map[string]string{"role": "user", "content": prompt}}})
	r, err := http.NewRequestWithContext(ctx, "POST", api+"/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// twice are the requests that engines got more than once.
func twice(got map[string]int) (names []string) {
	for name, n := range got {
		if n > 1 {
			names = append(names, fmt.Sprintf("%s: %d times", name, n))
		}
	}
	slices.Sort(names)
	return names
}
