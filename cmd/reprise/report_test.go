package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// replayHTML runs replay with --html and returns the page.
func replayHTML(t *testing.T, args ...string) (page, out string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(strings.Repeat("older and longer ", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, talk, code := run(nil, append([]string{"replay", "--html", path}, args...)...)
	if code != exitOK {
		t.Fatalf("%v: exit %d: %s", args, code, talk)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "older and longer") || !strings.HasSuffix(string(text), "</html>\n") {
		t.Fatalf("%v: %v, or not the whole file is replaced", args, err)
	}
	return string(text), out
}

// TestReplayHTML: the report has what the tables have, and is the same whatever runs at a time.
func TestReplayHTML(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a <b> & 'c'.jsonl")
	log, err := os.ReadFile(logFile(t, "log", 2000))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--trace", path, "--policy", "lru,sieve,rac,rac+,rac-paper:alpha=1/C", "--capacity", "5%,10%,16KiB"}
	page, out := replayHTML(t, append(args, "--parallel", "1")...)
	if again, _ := replayHTML(t, append(args, "--parallel", "3")...); again != page {
		t.Error("another page, with other policies at a time")
	}
	for _, want := range []string{"rac-paper:alpha=1/C", "a &lt;b&gt; &amp; &#39;c&#39;.jsonl", "--html report.html", "belady-bypass", "at 16KiB", "<svg"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "--parallel") || strings.Count(page, "<svg") != 1 {
		t.Errorf("the page is\n%s", page)
	}
	figures := 0
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 6 && f[0] == "rac+" {
			figures++
			if cell := "<td>" + f[1] + " %</td>"; !strings.Contains(page, cell) {
				t.Errorf("no %s in the page", cell)
			}
		}
	}
	if figures != 3 {
		t.Errorf("%d lines of rac+ in\n%s", figures, out)
	}
}

// smallSuites makes the suites as small as they go.
func smallSuites(t *testing.T) {
	suiteShrink = 50
	t.Cleanup(func() { suiteShrink = 1 })
}

func TestReplaySuite(t *testing.T) {
	smallSuites(t)
	given := logFile(t, "log", 300)
	page, out := replayHTML(t, "--suite", "rac", "--seeds", "2", "--trace", given)
	for _, want := range []string{"What the paper claims", "RQ1", "RQ2", "RQ3", "RQ4", "Regimes", "Seeds 101, 102.", filepath.Base(given)} {
		if !strings.Contains(page, want) || !strings.Contains(out, want) {
			t.Errorf("no %s in the page or in the output", want)
		}
	}
	if strings.Contains(out, "No traces were given") || !strings.Contains(page, "reprise replay --trace "+given+" --html report.html --seeds 2 --suite rac") {
		t.Errorf("the command or what it played is not told:\n%s", out)
	}
}

// TestReplaySuiteJSON: all results are there, and each is there once.
func TestReplaySuiteJSON(t *testing.T) {
	smallSuites(t)
	out, talk, code := run(nil, "replay", "--suite", "regimes", "--seeds", "2", "--seed", "5", "--json")
	if code != exitOK || !strings.Contains(talk, "long regimes: ") {
		t.Fatalf("exit %d: %s", code, talk)
	}
	seen := map[string]bool{}
	for _, l := range decode(t, out) {
		name := l.Trace + " " + l.Policy + " " + l.Capacity
		if seen[name] || !strings.Contains(l.Trace, "seed=5") && !strings.Contains(l.Trace, "seed=6") {
			t.Errorf("%s comes twice, or with a wrong seed", name)
		}
		seen[name] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d results", len(seen))
	}
}

func TestReplaySuiteErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--suite rca", `suite "rca": want rac or regimes; did you mean rac?`},
		{"--suite rac --seeds 0", "--seeds 0: want 1 to 1000"},
		{"--suite rac --policy lru", "--policy does not go with --suite"},
		{"--suite rac --capacity 5%", "--capacity does not go with --suite"},
		{"--suite rac --model ids", "--model does not go with --suite"},
		{"--suite rac --list", "want exactly one of --trace, --suite, --list and --generate"},
		{"--suite regimes --trace x", "--trace does not go with --suite regimes"},
		{"--list --seeds 3", "--seeds goes with --suite"},
		{"--list --data x", "--data goes with --suite"},
		{"--suite rac --data /none", "--data: stat /none/dialogue/oasst1_en.jsonl.gz"},
	} {
		out, talk, code := run(nil, append([]string{"replay"}, strings.Fields(c.args)...)...)
		if code != exitUsage || out != "" || !strings.Contains(talk, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, talk)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "none", "x.html")
	for _, args := range [][]string{{"--suite", "rac"}, {"--trace", "generate:irm:n=10", "--policy", "lru"}} {
		_, talk, code := run(nil, append([]string{"replay", "--html", nowhere}, args...)...)
		if code != exitFailed || !strings.Contains(talk, "write report: open "+nowhere) {
			t.Errorf("%v: exit %d: %s", args, code, talk)
		}
	}
	smallSuites(t)
	dir := t.TempDir()
	for _, name := range []string{"dialogue/oasst1_en.jsonl.gz", "dialogue/sgd.jsonl.gz", "intent/clinc150.jsonl.gz", "intent/banking77.jsonl.gz", "intent/hwu64.jsonl.gz"} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, talk, code := run(nil, "replay", "--suite", "rac", "--seeds", "1", "--data", dir); code != exitFailed || !strings.Contains(talk, "read texts: ") {
		t.Errorf("exit %d: %s", code, talk)
	}
}
