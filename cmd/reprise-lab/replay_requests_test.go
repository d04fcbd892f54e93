package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/sim"
)

// logFile writes a request log of n requests: 40 topics, few of which are frequent.
func logFile(t *testing.T, name string, n int) string {
	t.Helper()
	var b strings.Builder
	for i, x := 0, uint64(1); i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		topic := (x >> 40 % 40) * (x >> 50 % 40) / 40
		id := topic*20 + x>>33%20
		fmt.Fprintf(&b, `{"id":%d,"topic":%d,"size":%d,"cost":%d}`+"\n", id, topic, 100+id%7*50, 10+id%13)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReplayTable(t *testing.T) {
	path := logFile(t, "log", 3000)
	var first string
	for _, parallel := range []string{"1", "3", "0"} {
		out, talk, code := run("replay", "--trace", path, "--policy", "fifo,lru,lfu,sieve,rac-paper:alpha=1/C", "--capacity", "10%,16KiB", "--parallel", parallel)
		if code != cli.ExitOK || besideProgress(talk) != "" {
			t.Fatalf("exit %d: %s", code, talk)
		}
		if first == "" {
			first = out
			clitest.Golden(t, "replay.golden", strings.ReplaceAll(out, path, "LOG"))
		}
		if out != first {
			t.Errorf("%s in parallel: got\n%s", parallel, out)
		}
	}
}

// line is one object of --json.
type line struct {
	Trace              string  `json:"trace"`
	Policy             string  `json:"policy"`
	Capacity           string  `json:"capacity"`
	Requests           int64   `json:"requests"`
	Hits               int64   `json:"hits"`
	Misses             int64   `json:"misses"`
	HitRatio           float64 `json:"hit_ratio"`
	HitRatioInfinite   float64 `json:"hit_ratio_infinite"`
	NormalizedHitRatio float64 `json:"normalized_hit_ratio"`
	ByteHitRatio       float64 `json:"byte_hit_ratio"`
	TokensSaved        float64 `json:"tokens_saved"`
	TokenHitRatio      float64 `json:"token_hit_ratio"`
	Objective          string  `json:"objective"`
	Evictions          int64   `json:"evictions"`
	Seconds            float64 `json:"seconds"`
	CapacityEntries    int     `json:"capacity_entries"`
	CapacityBytes      int64   `json:"capacity_bytes"`
	Seed               uint64  `json:"seed"`
	Parameters         string  `json:"parameters"`

	Windows []sim.Window `json:"windows"`
}

// decode parses lines and drops the field that differs from run to run.
func decode(t *testing.T, out string) (all []line) {
	t.Helper()
	for text := range strings.Lines(out) {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		var l line
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		l.Seconds = 0
		all = append(all, l)
	}
	return all
}

// shownProgress is what a replay that takes longer than five seconds, as on a busy machine, shows meanwhile.
var shownProgress = regexp.MustCompile(`(?m)^.*: ([0-9,]+ requests read| *[0-9]+ %, [0-9,]+ requests/s.*)\n`)

// besideProgress is what a replay says beside that.
func besideProgress(talk string) string { return shownProgress.ReplaceAllString(talk, "") }

func replayJSON(t *testing.T, args ...string) []line {
	t.Helper()
	out, talk, code := run(append([]string{"replay", "--json"}, args...)...)
	if code != cli.ExitOK || besideProgress(talk) != "" {
		t.Fatalf("%v: exit %d: %s", args, code, talk)
	}
	return decode(t, out)
}

// TestReplayWindows has the figures of each part of a trace: of all policies, and of a panel with who led, and when and why that changed.
func TestReplayWindows(t *testing.T) {
	var first string
	for _, parallel := range []string{"1", "3"} {
		out, talk, code := run("replay", "--trace", "generate:loop:n=6000", "--policy", "lru,sieve,lirs,haz,rac+", "--capacity", "5%,16KiB", "--warmup", "200", "--windows", "5",
			"--parallel", parallel)
		if code != cli.ExitOK || besideProgress(talk) != "" {
			t.Fatalf("exit %d: %s", code, talk)
		}
		if first == "" {
			first = out
			if runtime.GOARCH == "amd64" { // floating-point rounding differs elsewhere, and rac+ depends on it
				clitest.Golden(t, "replay-windows.golden", out)
			}
		}
		if out != first {
			t.Errorf("%s in parallel: got\n%s", parallel, out)
		}
	}
}

func TestReplayJSON(t *testing.T) {
	a, b := logFile(t, "a", 500), logFile(t, "b", 700)
	all := replayJSON(t, "--trace", a+","+b, "--policy", "lru,belady", "--capacity", "20,50", "--warmup", "100")
	if len(all) != 8 {
		t.Fatalf("%d lines: %+v", len(all), all)
	}
	for i, l := range all {
		path, requests := a, int64(400)
		if i >= 4 {
			path, requests = b, 600
		}
		if l.Trace != path || l.Requests != requests || l.Hits+l.Misses != l.Requests || l.Hits == 0 || l.TokensSaved == 0 {
			t.Errorf("line %d: %+v", i, l)
		}
		if strconv.Itoa(l.CapacityEntries) != l.Capacity || l.Seed != 1 || l.Parameters != "" {
			t.Errorf("line %d cannot be played again: %+v", i, l)
		}
	}
}

// TestReplayJSONParameters: a policy with the parameters of a line has the figures of the line.
func TestReplayJSONParameters(t *testing.T) {
	path := logFile(t, "a", 2000)
	first := replayJSON(t, "--trace", path, "--policy", "rac", "--capacity", "5%")[0]
	again := replayJSON(t, "--trace", path, "--policy", "rac:"+first.Parameters, "--capacity", strconv.Itoa(first.CapacityEntries))[0]
	if !strings.Contains(first.Parameters, "alpha=0.") || first.CapacityEntries == 0 {
		t.Errorf("%+v", first)
	}
	if again.Policy, again.Capacity = first.Policy, first.Capacity; !reflect.DeepEqual(again, first) {
		t.Errorf("again %+v, want %+v", again, first)
	}
}

// TestReplayOfTheWritten: a workload that was written to a file and read again has the same results as the generated one, in
// every policy and digit.
func TestReplayOfTheWritten(t *testing.T) {
	const spec = "irm:n=2000,items=300"
	path := filepath.Join(t.TempDir(), "irm.jsonl.gz")
	if out, talk, code := run("replay", "--generate", spec, "--seed", "5", "--out", path); code != cli.ExitOK || out+talk != "" {
		t.Fatalf("exit %d: %s%s", code, out, talk)
	}
	out, _, _ := run("replay", "--generate", spec, "--seed", "5")
	if packed, err := os.ReadFile(path); err != nil || unpack(t, packed) != out || strings.Count(out, "\n") != 2000 {
		t.Errorf("the file differs from the output: %v", err)
	}
	made := replayJSON(t, "--trace", "generate:"+spec, "--seed", "5", "--capacity", "10%")
	read := replayJSON(t, "--trace", path, "--seed", "5", "--capacity", "10%")
	for i := range made {
		made[i].Trace = path
	}
	if !reflect.DeepEqual(made, read) || len(made) < 20 {
		t.Errorf("made\n%+v\nread\n%+v", made, read)
	}
}

func unpack(t *testing.T, packed []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// TestReplayList: every listed policy can be used as it is listed.
func TestReplayList(t *testing.T) {
	out, talk, code := run("replay", "--list")
	if code != cli.ExitOK || besideProgress(talk) != "" {
		t.Fatalf("exit %d: %s", code, talk)
	}
	policies, workloads, _ := strings.Cut(out, "Workloads")
	var listed []string
	for text := range strings.Lines(policies) {
		if name, ok := strings.CutPrefix(strings.TrimRight(text, "\n"), "  "); ok && name[0] != ' ' {
			listed = append(listed, name)
		}
	}
	if names, err := sim.ParsePolicies(strings.Join(listed, ",")); err != nil || len(names) != len(sim.PolicyNames()) {
		t.Errorf("%d of %d policies: %v", len(names), len(sim.PolicyNames()), err)
	}
	for text := range strings.Lines(out) {
		if strings.HasPrefix(text, "   ") && utf8.RuneCountInString(text) > 101 {
			t.Errorf("long line: %s", text)
		}
	}
	if !strings.Contains(workloads, "(the parameters of syn)") || !strings.Contains(workloads, "\n  irm:n=") {
		t.Errorf("the workloads are\n%s", workloads)
	}
}

// TestReplayByMeaning: texts without ids are compared, and the output describes how.
func TestReplayByMeaning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"text":"What do the old whales of bay %d eat in winter?"}`+"\n", i%8)
		fmt.Fprintf(&b, `{"text":"what do the old whales of bay %d eat in winter"}`+"\n", i%8)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"replay", "--trace", path, "--policy", "lru", "--capacity", "4,8"}
	for _, c := range []struct {
		more []string
		hits [2]int64
		says string
	}{
		{nil, [2]int64{40, 72}, "requests: a hit has a cosine of 0.9 or more (judge guard); topics routed from 0.6 on, parents given"},
		{[]string{"--model", "ids"}, [2]int64{0, 0}, "ids: a hit has the id"},
		{[]string{"--guard", "none", "--hit", "0.5", "--route", "0.5", "--parents", "detected"}, [2]int64{79, 79}, "0.5 or more (none guard); topics routed from 0.5 on, parents detected from 0.45 on"},
		{[]string{"--model", "ids", "--topics", "clustered", "--route", "0.7"}, [2]int64{0, 0}, "topics are clustered from 0.7 on"},
	} {
		out, talk, code := run(append(slices.Clone(flags), c.more...)...)
		if code != cli.ExitOK || besideProgress(talk) != "" || !strings.Contains(strings.SplitN(out, "\n", 2)[0], c.says) {
			t.Errorf("%v: exit %d: %s\n%s", c.more, code, talk, out)
		}
		if meaning := strings.HasPrefix(c.says, "ids") || strings.HasPrefix(c.says, "topics are"); meaning == strings.Contains(out, "heuristics, and no bound") {
			t.Errorf("%v: the note on belady is wrong:\n%s", c.more, out)
		}
		out, _, _ = run(append(append(slices.Clone(flags), "--json"), c.more...)...)
		if all := decode(t, out); len(all) != 2 || all[0].Hits != c.hits[0] || all[1].Hits != c.hits[1] {
			t.Errorf("%v: %+v, want %v hits", c.more, all, c.hits)
		}
	}
}

// TestReplayInTemplates: the same questions, bare and behind a template, have nearly as many hits: all but those of before its frame was known.
func TestReplayInTemplates(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `{"text":"What do the old whales of bay %d eat in winter?","topic":7,"conversation":%d}`+"\n", i, i+1)
		fmt.Fprintf(&b, `{"text":"Please, what do the old whales of bay %d eat in winter?","topic":7,"conversation":%d}`+"\n", i, i+1)
	}
	path := clitest.Write(t, "log", b.String())
	out, _, _ := run("replay", "--json", "--trace", path, "--policy", "lru", "--capacity", "300", "--templates")
	all := decode(t, out)
	if len(all) != 2 || all[1].Trace != all[0].Trace+" in templates" || all[0].Hits != 100 || all[1].Hits < 80 || all[1].Hits >= 100 {
		t.Errorf("%+v", all)
	}
	for args, want := range map[string]string{"--model ids": "--templates goes with --model requests", "--trace " + clitest.Write(t, "vectors", `{"vector":[1,0]}`+"\n"): "no template can hold"} {
		if _, talk, code := run(append([]string{"replay", "--templates", "--trace", path}, strings.Fields(args)...)...); code == cli.ExitOK || !strings.Contains(talk, want) {
			t.Errorf("%s: exit %d: %s", args, code, talk)
		}
	}
}

// TestReplayCut: the requests before the damage in a file are played and shown.
func TestReplayCut(t *testing.T) {
	path := logFile(t, "log", 100)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, `{"id":5,"siz`)
	f.Close()
	out, talk, code := run("replay", "--json", "--trace", path, "--policy", "lru", "--capacity", "10")
	if all := decode(t, out); code != cli.ExitFailed || len(all) != 1 || all[0].Requests != 100 || !strings.Contains(talk, "line 101") {
		t.Errorf("exit %d\n%s%s", code, out, talk)
	}
	if _, talk, code := run("replay", "--trace", logFile(t, "short", 10), "--warmup", "10"); code != cli.ExitFailed || !strings.Contains(talk, "no requests after a warm-up of 10") {
		t.Errorf("exit %d: %s", code, talk)
	}
}

// countdown is a context that ends after a number of calls of Err.
type countdown struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) == 0 {
		c.end()
	}
	return c.Context.Err()
}

func TestReplayInterrupted(t *testing.T) {
	path := logFile(t, "log", 60_000)
	ctx := &countdown{}
	ctx.Context, ctx.end = context.WithCancel(t.Context())
	ctx.left.Store(25) // the trace is 15 batches, and read twice
	var out, talk bytes.Buffer
	o := replayFlags{output: output{json: true}}
	o.Flags = replay.Flags{Source: replay.Source{Command: "reprise-lab replay", Traces: []string{path, path}, Format: "auto"}, Policies: "lru,rac", Capacities: "10%", Parallel: 1}
	err := o.run(ctx, cli.Terminal{Out: &out, Err: &talk})
	all := decode(t, out.String())
	if !errors.Is(err, cli.ErrInterrupted) || len(all) != 2 || all[0].Requests == 0 || all[0].Requests >= 60_000 || all[0].Requests != all[1].Requests {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if want := fmt.Sprintf("interrupted: the last figures are of the first %d requests\n", all[0].Requests); !strings.HasSuffix(talk.String(), want) {
		t.Errorf("said %q", talk.String())
	}
	if all[0].Hits+all[0].Misses != all[0].Requests {
		t.Errorf("the counts do not add up: %+v", all[0])
	}
}

// TestReplayGenerateInterrupted: a signal ends generating and writing, and the file is complete up to there.
func TestReplayGenerateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var talk bytes.Buffer
	never := make(chan int)
	if _, err := replay.UnlessInterrupted(ctx, "reprise-lab replay", &talk, func() (int, error) { return <-never, nil }); err != cli.ErrInterrupted {
		t.Errorf("a function that never ends: %v", err)
	}
	if said := talk.String(); said != "reprise-lab replay: interrupted: nothing was generated or played yet\n" {
		t.Errorf("said %q", said)
	}
	o := replayFlags{generate: "irm:n=10", out: filepath.Join(t.TempDir(), "log.gz")}
	written, err := o.writeOut(ctx, nil, &sim.Slice{All: make([]sim.Request, 10)})
	if raw, readErr := os.ReadFile(o.out); written != 0 || err != nil || readErr != nil || len(raw) == 0 {
		t.Errorf("%d written, %d bytes: %v, %v", written, len(raw), err, readErr)
	}
}
