package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -run %s -update writes it anew); got\n%s", path, t.Name(), got)
	}
}

// run is the program in this process.
func run(environ []string, args ...string) (out, talk string, code int) {
	var o, e bytes.Buffer
	code = terminal{&o, &e, environ}.main(args)
	return o.String(), e.String(), code
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"help.golden":        {"help"},
		"help-serve.golden":  {"serve", "--help"},
		"help-demo.golden":   {"help", "demo"},
		"help-replay.golden": {"replay", "--help"},
	} {
		out, talk, code := run(nil, args...)
		if code != exitOK || talk != "" {
			t.Errorf("%v: exit %d, %q", args, code, talk)
		}
		golden(t, name, out)
	}
	if out, _, code := run(nil, "--help"); code != exitOK || !strings.HasPrefix(out, "reprise answers") {
		t.Errorf("--help: exit %d, %q", code, out)
	}
}

// TestStartErrors is what is said to everybody who starts the program in a way that cannot work.
func TestStartErrors(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{
		"",
		"srve",
		"serve --hit-treshold 0.9",
		"serve now",
		"serve --listen",
		"demo --concurrency 0",
		"demo --requests x",
		"demo --input testdata/none.jsonl",
		"demo --input testdata/help.golden",
		"replay",
		"replay --trace testdata/none.ids",
		"replay --trace testdata/errors.golden --format idds",
		"replay --trace testdata/errors.golden --format sgd",
		"replay --trace testdata/errors.golden --policy lru,seive",
		"replay --trace testdata/errors.golden --policy lru:bits=1",
		"replay --trace testdata/errors.golden --capacity 10pct",
		"replay --trace testdata/errors.golden --json --html out.html",
		"replay --generate irm:n=many",
		"replay --list --out x",
		"replay --lits",
		"REPRISE_HIT_TRESHOLD=0.9 serve",
		"REPRISE_MODE=fast REPRISE_CAPACITY_BYTES=1k serve --ttl soon --policy mru",
		"serve --policy rac:alhpa=1/C",
		"REPRISE_TOPIC_HALF_LIFE=1e-9 REPRISE_DEPENDENCY_WEIGHT=2 serve --policy rac:lambda=1",
		"REPRISE_TTL=60d serve",
		"REPRISE_ADMIN_LISTEN=0.0.0.0:8081 serve",
		"REPRISE_STORE=redis://localhost:6379 serve",
		"REPRISE_UPSTREAM=a=http://h1:8000/v1,b=http://h2:8000/v1 serve",
		"REPRISE_ADMIN_TOKEN=sesame-open REPRISE_ADMIN_TOKEN_FILE=/run/token serve",
	} {
		var environ, args []string
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "REPRISE_") {
				environ = append(environ, word)
			} else {
				args = append(args, word)
			}
		}
		out, talk, code := run(environ, args...)
		fmt.Fprintf(&all, "$ %s\n%s%sexit %d\n\n", strings.Join(slices.Concat(environ, []string{"reprise"}, args), " "), out, talk, code)
	}
	golden(t, "errors.golden", all.String())
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	for setting, args := range map[string][]string{
		"REPRISE_LISTEN (--listen)":             {"--listen", taken, "--admin-listen", "127.0.0.1:0"},
		"REPRISE_ADMIN_LISTEN (--admin-listen)": {"--listen", "127.0.0.1:0", "--admin-listen", taken},
	} {
		_, talk, code := run(nil, slices.Concat([]string{"serve", "--store", "memory"}, args)...)
		want := fmt.Sprintf("reprise: listen on %s: the port is in use by another process; change %s\n", taken, setting)
		if code != exitFailed || talk != want {
			t.Errorf("exit %d, %q; want %q", code, talk, want)
		}
	}
}

func TestVersion(t *testing.T) {
	if out, _, code := run(nil, "version"); code != exitOK || !strings.HasPrefix(out, "reprise ") || !strings.Contains(out, "go1.") {
		t.Errorf("exit %d, %q", code, out)
	}
}
