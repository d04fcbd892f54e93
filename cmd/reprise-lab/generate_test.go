package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	blockfiles "reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
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
	for _, want := range []string{"qwen-a:requests=2000,seed=3 ×0.5 (generated): ", " blocks of 16 tokens", "published", "LRU at 1 % of distinct", "shown, not demanded"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// TestGenerateShort: figures of which a short trace has nothing are none, and a trace of which a scale leaves nothing is an error.
func TestGenerateShort(t *testing.T) {
	out, messages, code := run("generate", "qwen-a:requests=20", "--json")
	if code != cli.ExitOK || messages != "" || !strings.Contains(out, `"published":152.4,"measured":null}`) {
		t.Errorf("exit %d: %s\n%s", code, messages, out)
	}
	if out, _, code := run("generate", "qwen-a:requests=20"); code != cli.ExitOK || !strings.Contains(out, "152.4          –\n") || strings.Contains(out, "NaN") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	for _, command := range []string{"generate", "characterize", "replay"} {
		_, messages, code := run(command, "--trace", "generate:growth", "--scale", "0.001")
		if code != cli.ExitFailed || !strings.Contains(messages, "factor 0.001 leaves none of its 1 sessions") {
			t.Errorf("%s: exit %d: %s", command, code, messages)
		}
	}
}

func TestGenerateList(t *testing.T) {
	out, messages, code := run("generate", "--list")
	if code != cli.ExitOK || messages != "" || !strings.Contains(out, "growth:tokens=1000,step=1") {
		t.Errorf("exit %d: %s\n%s", code, messages, out)
	}
}

// TestGenerateOut: a trace is the same after it is written and read, packed or not.
func TestGenerateOut(t *testing.T) {
	const spec = "qwen-a:requests=300"
	made, err := generate.New(spec, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.jsonl", "a.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, messages, code := run("generate", "--trace", "generate:"+spec, "--seed", "5", "--out", path); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, messages)
		}
		read, err := blockfiles.Open(path, blockfiles.Auto, blockfiles.Options{})
		if err != nil {
			t.Fatal(err)
		}
		read.Name = made.Name
		if !reflect.DeepEqual(read, made) {
			t.Errorf("%s: the trace differs", name)
		}
	}
}

// TestGenerateMixed: traces are scaled, cut into other blocks and mixed.
func TestGenerateMixed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mix.jsonl")
	out, messages, code := run("generate", "--trace", "generate:qwen-a:requests=200,generate:qwen-b:requests=100", "--mix", "--block-size", "64", "--scale", "2", "--out", path)
	if code != cli.ExitOK || strings.Contains(out, "published") {
		t.Fatalf("exit %d: %s%s", code, out, messages)
	}
	read, err := blockfiles.Open(path, blockfiles.Auto, blockfiles.Options{})
	if err != nil || read.Tokens != 64 || len(read.Requests) < 400 || !read.Generated {
		t.Errorf("%v: %d requests, blocks of %d, generated %v", err, len(read.Requests), read.Tokens, read.Generated)
	}
}
