package source

import (
	"context"
	"io"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
)

// parse returns the flags of a command line.
func parse(t *testing.T, args ...string) *Flags {
	t.Helper()
	f := &Flags{}
	fs := cli.NewFlagSet("reprise-lab test")
	f.Register(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

const mooncake = `{"timestamp": 0, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 600, "output_length": 9, "hash_ids": [1, 3]}
`

func TestOpen(t *testing.T) {
	f := parse(t, "--trace", clitest.Write(t, "a.jsonl", mooncake)+",generate:growth:tokens=30,step=3", "--seed", "7")
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	all, err := f.Open(context.Background(), io.Discard)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d traces: %v", len(all), err)
	}
	if a := all[0]; a.Name != "a.jsonl" || a.Generated || a.Tokens != 512 || a.Distinct != 3 || len(a.Requests) != 2 {
		t.Errorf("file: %+v", a)
	}
	if b := all[1]; b.Name != "growth:tokens=30,step=3,seed=7" || !b.Generated || len(b.Requests) != 10 {
		t.Errorf("generator: %s, %d requests", b.Name, len(b.Requests))
	}
}

func TestWrong(t *testing.T) {
	path := clitest.Write(t, "a.jsonl", mooncake)
	for _, c := range []struct{ args, want string }{
		{"", "want --trace: a file, or generate:NAME"},
		{"--trace x --format mooncaek", "did you mean mooncake?"},
		{"--trace x --block-size -1", "--block-size -1: want tokens above 0"},
		{"--trace x --block-size 5000", "block size 5000: want 1 to 4096"},
		{"--trace x --think -2", "--think -2: want seconds above 0"},
		{"--trace x --think Inf", "--think +Inf: want seconds above 0"},
		{"--trace none.jsonl", "none.jsonl: no such file"},
		{"--trace generate:qwen-q", "did you mean qwen-"},
		{"--trace generate:growth:step=0", "step=0: want a whole number from 1"},
		{"--trace " + path + " --format sessions", "line 1"},
	} {
		f := parse(t, strings.Fields(c.args)...)
		err := f.Check()
		if err == nil {
			_, err = f.Open(context.Background(), io.Discard)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

func TestGenerator(t *testing.T) {
	for name, want := range map[string]bool{"generate:growth": true, "generate:growth:tokens=3": true, "generate:irm": false, "growth": false, "generate:": false, "a.gz": false} {
		if Generator(name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
}

// TestHelp: each format has its line, and no line is too wide.
func TestHelp(t *testing.T) {
	text := Help()
	for _, f := range Formats() {
		if !strings.Contains(text, "  "+f+" ") {
			t.Errorf("no %s in the help", f)
		}
	}
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 101 {
			t.Errorf("too wide: %s", line)
		}
	}
}
