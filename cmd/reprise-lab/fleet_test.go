package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/internal/fleet"
)

// writeCalls writes a trace of the format calls: sessions of several turns with a common beginning.
func writeCalls(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	common := strings.Repeat("You are an agent that repairs programs. ", 60)
	for session := range 60 {
		prompt := fmt.Sprintf("%s Task %d: ", common, session)
		for turn := range 3 {
			prompt += strings.Repeat(fmt.Sprintf("Result %d of call %d. ", session, turn), 40)
			answer := strings.Repeat("I try another way. ", 5)
			line, err := json.Marshal(map[string]any{"timestamp": 1_000_000 * (3*session + turn), "session_id": fmt.Sprint(session), "input": prompt, "output": answer})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
			prompt += answer
		}
	}
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFleet(t *testing.T) {
	out, messages, code := run("fleet", "--trace", writeCalls(t), "--trace", fleet.LoadName+":tenants=6,conversations=60,repeat=0.3", "--choose",
		"least-loaded,round-robin,oracle", "--load", "0.6,1", "--kv", "20000", "--engines", "2", "--last-speed", "0.5", "--responses", "--copies", "2")
	if code != cli.ExitOK || !strings.Contains(messages, "calls.jsonl: ") {
		t.Fatalf("exit %d: %s", code, messages)
	}
	clitest.Golden(t, "fleet.golden", out)
}

func TestFleetReport(t *testing.T) {
	args := []string{"fleet", "--trace", fleet.LoadName + ":tenants=6,conversations=40", "--load", "0.5,1", "--kv", "30000", "--queue", "4"}
	page, _ := runReport(t, append(args, "--parallel", "1")...)
	again, out := runReport(t, append(args, "--parallel", "3")...)
	if page != again {
		t.Error("the page depends on --parallel")
	}
	for _, want := range []string{"<svg", "oracle", "prefix, 2 proxies", "reprise-lab fleet --html report.html"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	lines, messages, code := run(append(args, "--json")...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, messages)
	}
	n := 0
	for line := range strings.Lines(lines) {
		var r fleet.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Requests == 0 {
			t.Fatalf("%s: %v", line, err)
		}
		if n++; r.Proxies == 1 && !strings.Contains(out, fmt.Sprintf("%.3g s", r.TTFT.Mean)) {
			t.Errorf("the figures of %s are not in the table", r.Chooser)
		}
	}
	if n != 2*(len(fleet.Choosers())+1) {
		t.Errorf("%d lines", n)
	}
}
