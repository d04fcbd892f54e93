package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/kvstudy"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/internal/traffic"
)

// writeLog writes a generated workload as a request log.
func writeLog(t *testing.T, path, spec string) {
	t.Helper()
	made, err := replay.Generate(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	log := traffic.NewWriter(&b)
	for _, r := range made.All {
		if err := log.Append(trace.RecordOf(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runReport runs a command with --html and returns the page and the output.
func runReport(t *testing.T, args ...string) (page, out string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(strings.Repeat("older and longer ", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, messages, code := run(append(args, "--html", path)...)
	if code != cli.ExitOK {
		t.Fatalf("%v: exit %d: %s", args, code, messages)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "older and longer") || !strings.HasSuffix(string(text), "</html>\n") {
		t.Fatalf("%v: %v, or not the whole file is replaced", args, err)
	}
	return string(text), out
}

// TestReplayReport: the report has the figures of the tables, and does not depend on how many policies are played at a time.
func TestReplayReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a <b> & 'c'.jsonl")
	writeLog(t, path, "irm:n=2000,items=600")
	args := []string{"replay", "--trace", path, "--policy", "lru,sieve,rac,rac+,rac-paper:alpha=1/C", "--capacity", "5%,10%,16KiB"}
	page, out := runReport(t, append(args, "--parallel", "1")...)
	if again, _ := runReport(t, append(args, "--parallel", "3")...); again != page {
		t.Error("the page depends on --parallel")
	}
	for _, want := range []string{"rac-paper:alpha=1/C", "a &lt;b&gt; &amp; &#39;c&#39;.jsonl", "reprise-lab replay", "--html report.html", "belady-bypass", "at 16KiB", "<svg"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "--parallel") || strings.Count(page, "<svg") != 2 { // of one plot, wide and narrow
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

// TestReplayReportWindows: the report plots the windows, and of a panel who led, its regret and the changes of its leader.
func TestReplayReportWindows(t *testing.T) {
	args := []string{"replay", "--trace", "generate:loop:n=6000", "--policy", "lru,lirs,rac+", "--capacity", "5%"}
	page, out := runReport(t, append(args, "--windows", "4")...)
	page = html.UnescapeString(page)
	for _, want := range []string{"Hit ratio by window at 5%", "Who led rac+ by window at 5%", "Regret of rac+ by window at 5%", "Changes of the leader of rac+ at 5%", ">haz<", ">lirs 100 %<",
		"Regret: what the best policy", "--windows 4"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if strings.Count(page, "<svg") != 4 { // two plots, wide and narrow
		t.Errorf("%d pictures", strings.Count(page, "<svg"))
	}
	if !strings.Contains(out, "rac+ by window") || !strings.Contains(out, "lirs leads in place of haz") {
		t.Errorf("no windows in\n%s", out)
	}
	if page, _ := runReport(t, append(args, "--windows", "1")...); strings.Contains(page, "<svg") || !strings.Contains(page, "Changes of the leader") {
		t.Error("a plot of one window, or no changes")
	}
	if page, _ := runReport(t, args...); strings.Contains(page, "window") {
		t.Error("windows without --windows")
	}
}

// smallStudies makes the studies as small as possible.
func smallStudies(t *testing.T) {
	studyShrink = 50
	t.Cleanup(func() { studyShrink = 1 })
}

func TestStudyReport(t *testing.T) {
	smallStudies(t)
	given := filepath.Join(t.TempDir(), "log")
	writeLog(t, given, "irm:n=300,items=100")
	page, out := runReport(t, "study", "rac", "--seeds", "2", "--trace", given)
	for _, want := range []string{"What the paper claims", "RQ1", "RQ2", "RQ3", "RQ4", "regimes", "Seeds 101, 102.", filepath.Base(given)} {
		if !strings.Contains(page, want) || !strings.Contains(out, want) {
			t.Errorf("no %s in the page or in the output", want)
		}
	}
	if strings.Contains(out, "No traces were given") || !strings.Contains(page, "reprise-lab study rac --html report.html --seeds 2 --trace "+given) {
		t.Errorf("the command or its traces are missing:\n%s", out)
	}
}

// TestStudyJSON: every result is there once.
func TestStudyJSON(t *testing.T) {
	smallStudies(t)
	out, messages, code := run("study", "regimes", "--seeds", "2", "--seed", "5", "--json")
	if code != cli.ExitOK || !strings.Contains(messages, "long regimes: ") {
		t.Fatalf("exit %d: %s", code, messages)
	}
	seen := map[string]bool{}
	for text := range strings.Lines(out) {
		var l sim.Result
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
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

// TestBlockStudies: a study of prefix caches writes a report, and all results as lines.
func TestBlockStudies(t *testing.T) {
	smallStudies(t)
	for _, name := range kvstudy.Names {
		page, out := runReport(t, "study", name, "--seeds", "2")
		if want := "reprise-lab study " + name + " --html report.html --seeds 2"; !strings.Contains(page, want) || !strings.Contains(out, "Seeds 101, 102") {
			t.Errorf("%s: no command or no seeds in\n%s", name, out)
		}
		lines, _, code := run("study", name, "--seeds", "2", "--json")
		results := 0
		for line := range strings.Lines(lines) {
			var r blocks.Result
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Trace == "" || r.Policy == "" || r.Capacity == "" {
				t.Fatalf("%s: %v", line, err)
			}
			results++
		}
		if code != cli.ExitOK || results < 100 {
			t.Errorf("%s: exit %d with %d lines", name, code, results)
		}
	}
}

func TestStudyWrongData(t *testing.T) {
	smallStudies(t)
	dir := t.TempDir()
	for _, name := range []string{"dialogue/oasst1_en.jsonl.gz", "dialogue/sgd.jsonl.gz", "intent/clinc150.jsonl.gz", "intent/banking77.jsonl.gz", "intent/hwu64.jsonl.gz"} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, messages, code := run("study", "rac", "--seeds", "1", "--data", dir); code != cli.ExitFailed || !strings.Contains(messages, "read texts: ") {
		t.Errorf("exit %d: %s", code, messages)
	}
}

// TestNoReportWithoutResults: a command that ends before its first result keeps the report of an earlier one, and leaves no other file.
func TestNoReportWithoutResults(t *testing.T) {
	for _, args := range []string{
		"replay --trace generate:growth --policy lru --warmup 100000",
		"characterize --trace generate:growth --window 1ns",
		"evaluate --pairs none.jsonl",
		"train lpc --conversations none.jsonl --out " + filepath.Join(t.TempDir(), "a.model"),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "report.html")
		if err := os.WriteFile(path, []byte("earlier"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, messages, code := run(append(strings.Fields(args), "--html", path)...)
		if left, err := os.ReadFile(path); err != nil || code == cli.ExitOK || messages == "" || string(left) != "earlier" {
			t.Errorf("%s: exit %d, %s, report %.40q, %v", args, code, messages, left, err)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
			t.Errorf("%s: %v, %v", args, all, err)
		}
	}
}

// TestReportToLinkAndDevice: a link to a report stays a link, and a device is written as it is.
func TestReportToLinkAndDevice(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.html")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "report.html"), nil, 0o600), os.Symlink("report.html", link)); err != nil {
		t.Skip("no links: ", err)
	}
	for _, path := range []string{link, os.DevNull} {
		if _, messages, code := run("replay", "--trace", "generate:growth:tokens=200", "--policy", "lru", "--capacity", "50", "--html", path); code != cli.ExitOK {
			t.Fatalf("%s: exit %d: %s", path, code, messages)
		}
	}
	at, err := os.Readlink(link)
	if page, _ := os.ReadFile(link); at != "report.html" || !strings.HasSuffix(string(page), "</html>\n") {
		t.Errorf("link to %q, %v, page %.40q", at, err, page)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}
