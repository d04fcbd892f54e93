package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	blockfiles "reprise/policy/sim/blocks/files"
)

func TestGenerateWritesATrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.gz")
	out, messages, code := run("generate", "qwen-a:requests=2000", "--seed", "3", "--scale", "0.5", "--out", path)
	if code != cli.ExitOK || messages != "" {
		t.Fatalf("exit %d: %s", code, messages)
	}
	all, err := blockfiles.Open(path, blockfiles.Auto, blockfiles.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all.Requests); n < 700 || n > 1300 || !all.Generated {
		t.Errorf("%s: %d requests, generated %v", all.Name, n, all.Generated)
	}
	for _, want := range []string{"qwen-a:requests=2000,seed=3 ×0.5, generated: ", " blocks of 16 tokens", "published", "LRU at 1 % of distinct", "of a day, and no target"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestGenerateJSON(t *testing.T) {
	out, messages, code := run("generate", "qwen-b:requests=500", "--json")
	if code != cli.ExitOK || messages != "" {
		t.Fatalf("exit %d: %s", code, messages)
	}
	var first figureLine
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&first); err != nil {
		t.Fatal(err)
	}
	if first.Trace != "qwen-b:requests=500,seed=1" || first.Figure != "ideal hit ratio" || first.Published != .542 || first.Measured <= 0 {
		t.Errorf("the first figure is %+v", first)
	}
}

func TestGenerateList(t *testing.T) {
	out, messages, code := run("generate", "--list")
	if code != cli.ExitOK || messages != "" || !strings.Contains(out, "growth:tokens=1000,step=1") {
		t.Errorf("exit %d: %s\n%s", code, messages, out)
	}
}
