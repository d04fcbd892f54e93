// Package llamatest starts real engines for tests: llama.cpp, as npm's package node-llama-cpp has it, behind a small OpenAI-compatible server
// (folder node), with a model of random weights that the package writes. An engine has slots with KV caches of their own, and counts the tokens
// that it evaluates. It is a process on a free port, which ends with the test, and which can be killed and restarted.
//
// Without node or the package a test is skipped, or fails where REPRISE_TEST_REQUIRE names llama. The package is searched in
// REPRISE_NODE_MODULES, and where `npm ci` puts it in internal/llamatest/node.
package llamatest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"reprise/internal/needs"
	"reprise/internal/redistest"
)

// Options of an engine. The zero value of each is its default.
type Options struct {
	Model   Model // Small
	Slots   int   // requests that run at the same time; 4
	Context int   // tokens of each slot, with those of the answer; 4096
	Threads int   // that evaluate; 1. Two engines with more threads than there are cores wait for each other
	Answer  int   // tokens after which an answer is complete; 0: none is, and each is as long as its request allows
}

// Engine is one running process.
type Engine struct {
	URL    string // without /v1
	Tokens int    // that its slots hold together

	t     testing.TB
	args  []string
	cmd   *exec.Cmd
	stdin io.Closer // the process ends with it, also where the test's process is killed
	ended chan struct{}

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// Stats is what an engine has done since its start, in tokens.
type Stats struct {
	Requests  int `json:"requests"`
	Cancelled int `json:"cancelled"`        // requests whose client left
	Prompt    int `json:"prompt_tokens"`    // of all prompts
	Cached    int `json:"cached_tokens"`    // of these, found in a slot
	Evaluated int `json:"evaluated_tokens"` // of these, evaluated: counted where they go to llama.cpp
	Generated int `json:"generated_tokens"`

	PromptMillis float64 `json:"prompt_ms"` // time of the evaluation of prompts
	Queued       int     `json:"queued"`    // requests that wait for a slot
	Slots        []struct {
		Busy   bool
		Tokens int // that it holds
	}
}

// wait bounds how long a start may take, on a machine that is busy with other tests.
const wait = 3 * time.Minute

// Start starts an engine and waits until its model is loaded.
func Start(t testing.TB, o Options) *Engine {
	t.Helper()
	node, modules := Find(t)
	o = o.withDefaults()
	model := filepath.Join(t.TempDir(), "model.gguf")
	if err := o.Model.Write(model); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(redistest.FreePort(t))
	e := &Engine{URL: "http://127.0.0.1:" + port, Tokens: o.Slots * o.Context, t: t}
	e.args = []string{node, filepath.Join(folder(t), "server.mjs"), "--modules", modules, "--model", model, "--port", port,
		"--slots", strconv.Itoa(o.Slots), "--context", strconv.Itoa(o.Context), "--threads", strconv.Itoa(o.Threads), "--answer", strconv.Itoa(o.Answer)}
	t.Cleanup(e.Kill)
	e.Restart()
	return e
}

func (o Options) withDefaults() Options {
	o.Model, o.Slots, o.Context, o.Threads = cmp.Or(o.Model, Small), cmp.Or(o.Slots, 4), cmp.Or(o.Context, 4096), cmp.Or(o.Threads, 1)
	return o
}

// Find returns the path of node and the folder that has the package node-llama-cpp. Without them it ends the test.
func Find(t testing.TB) (node, modules string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		needs.Missing(t, "llama", "node not found on PATH")
	}
	for _, modules := range []string{os.Getenv("REPRISE_NODE_MODULES"), filepath.Join(folder(t), "node_modules")} {
		if _, err := os.Stat(filepath.Join(modules, "node-llama-cpp", "package.json")); err == nil && modules != "" {
			return node, modules
		}
	}
	needs.Missing(t, "llama", "node-llama-cpp not installed: run npm ci in internal/llamatest/node")
	return "", ""
}

// folder is the one of the server, below the root of the module that the test belongs to.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return filepath.Join(up, "internal", "llamatest", "node")
		}
		if up == filepath.Dir(up) {
			t.Fatalf("no go.mod in %s or above", dir)
		}
	}
}

// Restart starts the process, after Kill with an empty cache, and waits until its model is loaded.
func (e *Engine) Restart() {
	e.t.Helper()
	e.cmd, e.ended = exec.Command(e.args[0], e.args[1:]...), make(chan struct{})
	stdin, err1 := e.cmd.StdinPipe()
	stdout, err2 := e.cmd.StdoutPipe()
	e.cmd.Stderr = (*tail)(e)
	if err1 != nil || err2 != nil {
		e.t.Fatal(err1, err2)
	}
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.stdin = stdin
	ready := make(chan bool, 1)
	go func(cmd *exec.Cmd, ended chan struct{}) {
		lines := bufio.NewReader(stdout)
		_, err := lines.ReadString('\n')
		ready <- err == nil
		io.Copy(io.Discard, lines)
		cmd.Wait() // how it ended does not matter
		close(ended)
	}(e.cmd, e.ended)
	select {
	case ok := <-ready:
		if !ok {
			e.t.Fatalf("the engine ended at its start: %s", e.logs())
		}
	case <-time.After(wait):
		e.t.Fatalf("the engine did not load its model: %s", e.logs())
	}
}

// tail collects what the process writes to its log.
type tail Engine

func (l *tail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

func (e *Engine) logs() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.String()
}

// Kill ends the process as a crash does, and waits for its end. What its slots held is lost.
func (e *Engine) Kill() {
	if e.cmd == nil || e.cmd.Process == nil {
		return
	}
	e.cmd.Process.Kill()
	<-e.ended
	e.stdin.Close()
}

// Runs reports whether the process runs.
func (e *Engine) Runs() bool {
	select {
	case <-e.ended:
		return false
	default:
		return true
	}
}

// Hold makes each answer pause after so many tokens until Release.
func (e *Engine) Hold(tokens int) {
	e.t.Helper()
	e.call(http.MethodPut, fmt.Sprint("/hold?n=", tokens), nil)
}

// Release ends Hold.
func (e *Engine) Release() {
	e.t.Helper()
	e.call(http.MethodDelete, "/hold", nil)
}

// Stats are those of the present process.
func (e *Engine) Stats() (s Stats) {
	e.t.Helper()
	e.call(http.MethodGet, "/stats", &s)
	return s
}

func (e *Engine) call(method, path string, into any) {
	e.t.Helper()
	req, err := http.NewRequest(method, e.URL+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		e.t.Fatalf("%v\n%s", err, e.logs())
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		e.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, body, err)
	}
}

// client has no connection that an engine of an earlier process has closed.
var client = &http.Client{Timeout: wait, Transport: &http.Transport{DisableKeepAlives: true}}
