package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
)

// writeBlocks writes a trace in the format of Mooncake: two conversations that share their first block and grow in turns, and single
// requests between them.
func writeBlocks(t *testing.T) (path string) {
	t.Helper()
	var b strings.Builder
	for i := range 40 {
		ids := []int{0}
		if i%3 == 2 {
			ids = []int{1000 + i, 2000 + i}
		} else {
			for k := range 1 + i/8 {
				ids = append(ids, 100*(i%3+1)+k)
			}
		}
		text, err := json.Marshal(ids)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": 100, "hash_ids": %s}`+"\n", 200*i, 512*len(ids), text)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("chat.jsonl", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "chat.jsonl"
}

// golden compares with a file of the package's folder, which is not the working folder.
func golden(t *testing.T, home, name, got string) {
	t.Helper()
	t.Chdir(home)
	clitest.Golden(t, name, got)
}

var anySeconds = regexp.MustCompile(`"seconds":[-0-9.e]+`)

func TestReplayBlocks(t *testing.T) {
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path := writeBlocks(t)
	session := clitest.Session(program(), "",
		"replay --trace "+path+" --policy lru,fifo --capacity 10%,6",
		"replay --trace "+path+" --policy lru,s3fifo --capacity 8 --second-tier 8 --servers 2 --prefill-seconds 0.1 --prefill-tokens-per-second 2000 --swap-tokens-per-second 20000 --decode-tokens-per-second 500",
		"replay --format mooncake --trace "+path+" --policy lru,belady --capacity 4,3072tokens --warmup 10 --json",
		"replay --trace "+path+" --policy lru --capacity 6 --json --closed-loop --prefill-tokens-per-second 1e4",
	)
	golden(t, home, "replay-blocks.golden", anySeconds.ReplaceAllString(session, `"seconds":0`))
}

// TestReplayBlocksReport: the report has the figures of the tables and does not depend on how many cells are played at a time.
func TestReplayBlocksReport(t *testing.T) {
	path := writeBlocks(t)
	args := []string{"replay", "--trace", path, "--policy", "lru,fifo,lfu", "--capacity", "5%,10%,20%", "--prefill-tokens-per-second", "9000"}
	page, out := runReport(t, append(args, "--parallel", "1")...)
	if again, _ := runReport(t, append(args, "--parallel", "3")...); again != page {
		t.Error("the page depends on --parallel")
	}
	for _, want := range []string{"Hits of the best policy", "Hits by capacity", "TTFT by capacity", "Queued TTFT by capacity", "<dfn>TTFT</dfn>", "<dfn>hits</dfn>", "--prefill-tokens-per-second 9000", "At 10% = 4 blocks"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	figures := 0
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 5 && strings.HasPrefix(f[0], "lru") && strings.Contains(line, "%") {
			figures++
			if cell := ">" + strings.TrimSuffix(f[1], "*") + " %</td>"; !strings.Contains(page, cell) {
				t.Errorf("no %s in the page", cell)
			}
		}
	}
	if figures != 3 || strings.Count(page, "<svg") != 6 {
		t.Errorf("%d lines of lru and %d pictures:\n%s", figures, strings.Count(page, "<svg"), out)
	}
	if page, _ := runReport(t, args[0], args[1], args[2], "--policy", "fifo", "--capacity", "7"); !strings.Contains(page, "Hits at 7") || strings.Count(page, "<svg") != 2 {
		t.Error("one capacity has bars")
	}
}

// TestReplayKind: which traces are played as blocks.
func TestReplayKind(t *testing.T) {
	path := writeBlocks(t)
	talk := "talk.jsonl"
	if err := os.WriteFile(talk, []byte(strings.Repeat(`{"conversations":[{"from":"human","value":"one two three"},{"from":"gpt","value":"four"},{"from":"human","value":"five"},{"from":"gpt","value":"six"}]}`+"\n", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("a.ids", []byte("1\n2\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string // in the output
	}{
		{"--trace a.ids", `"hit_ratio":`},
		{"--trace generate:irm:n=50", `"hit_ratio":`},
		{"--trace generate:growth:tokens=50", `"block_hit_ratio":`},
		{"--trace generate:growth:tokens=50 --format ids", `"block_hit_ratio":`},
		{"--trace " + path, `"block_hit_ratio":`},
		{"--trace " + path + " --format mooncake", `"block_hit_ratio":`},
		{"--trace " + talk, `"hit_ratio":`},
		{"--trace " + talk + " --format sharegpt", `"hit_ratio":`},
		{"--trace " + talk + " --format sharegpt --blocks", `"block_hit_ratio":`},
		{"--trace " + talk + " --blocks --block-size 4 --think 10", `"block_hit_ratio":`},
	} {
		out, messages, code := run(strings.Fields("replay --json --policy lru --capacity 10 " + c.args)...)
		if code != cli.ExitOK || !strings.Contains(out, c.want) || strings.Contains(out, `"blocks"`) != strings.Contains(c.want, "block") {
			t.Errorf("%s: exit %d, %s%s", c.args, code, out, messages)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--trace a.ids," + path, "a.ids is a trace of requests and " + path + " one of blocks: want one kind"},
		{"--trace a.ids --servers 2", "--servers goes with traces of KV blocks"},
		{"--trace " + path + " --model ids", "--model goes with traces of requests"},
		{"--trace " + path + " --format moon", `format "moon": want one of`},
		{"--trace a.ids --blocks --format ids", "--blocks with --format ids: want one of auto, blocks"},
		{"--trace a.ids --blocks", "no known format of block traces"},
		{"--trace none.jsonl --servers 2", "none.jsonl: no such file"},
		{"--trace a.ids --blocks", "`reprise-lab replay --help` has their fields"},
		{"--trace none.jsonl --format mooncake", "none.jsonl: no such file"},
		{"--trace " + path + " --block-size -64", "--block-size -64: want tokens above 0"},
		{"--trace " + path + " --warmup 40", "no requests after a warm-up of 40: it has 40"},
		{"--trace " + path + " --policy lru,oracel", "did you mean oracle?"},
		{"--trace " + path + " --policy lru:x=1", "lru"},
		{"--trace " + path + " --capacity 5x", `capacity "5x": want a share`},
		{"--trace " + path + " --second-tier 0", "--second-tier: capacity"},
		{"--trace " + path + " --servers 2", "--servers goes with --prefill-tokens-per-second"},
		{"--trace " + path + " --prefill-tokens-per-second 0", "prefill of 0 tokens per second: want more than 0"},
		{"--trace " + path + " --prefill-tokens-per-second 9 --servers 0", "--servers 0: want 1 or more"},
		{"--trace " + path + " --prefill-tokens-per-second 9 --swap-tokens-per-second 5", "--swap-tokens-per-second goes with --second-tier"},
		{"--trace " + path + " --bytes-per-token 0", "--bytes-per-token 0: want 1 or more"},
		{"--trace " + path + " --embedder builtin", "--embedder goes with --continues"},
		{"--trace " + path + " --continues none.model", "read model: open none.model"},
		{"--trace " + path + " --continues " + os.DevNull, "read model " + os.DevNull + ": it is a pipe or a device"},
		{"--trace " + path + " --continues a.ids", "bad model"},
		{"--trace " + path + " --continues a.ids --embedder bultin", "did you mean builtin?"},
		{"--trace " + path + " --scale -1", "--scale -1: want a factor"},
		{"--trace " + path + ",generate:growth --mix", "--mix: mix: chat.jsonl has blocks of 512 tokens"},
		{"--trace " + path + " --think -1", "--think -1: want seconds"},
		{"--trace generate:growht", "did you mean growth?"},
		{"--trace generate:growth:token=3", "no parameter"},
		{"--trace " + path + " --json --html x.html", "--json and --html are two forms"},
	} {
		if _, messages, code := run(strings.Fields("replay " + c.args)...); code == cli.ExitOK || !strings.Contains(messages, c.want) {
			t.Errorf("%s: exit %d: %s, want %s", c.args, code, messages, c.want)
		}
	}
}

// TestReplayPredictions: with a model lpc has predictions, and without one a message says that it has none.
func TestReplayPredictions(t *testing.T) {
	path, model := clitest.Write(t, "talks.jsonl", talks()), filepath.Join(t.TempDir(), "lpc.model")
	if _, messages, code := run("train", "lpc", "--conversations", path, "--out", model); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, messages)
	}
	args := []string{"replay", "--blocks", "--block-size", "4", "--trace", path, "--policy", "lpc", "--capacity", "10%", "--json"}
	without, messages, code := run(args...)
	if code != cli.ExitOK || !strings.Contains(messages, "no predictions of which conversations go on") {
		t.Fatalf("exit %d: %s", code, messages)
	}
	with, messages, code := run(append(args, "--continues", model)...)
	if code != cli.ExitOK || strings.Contains(messages, "no predictions") || !strings.Contains(messages, "requests are left out: their conversations trained the model") {
		t.Fatalf("exit %d: %s", code, messages)
	}
	a, b := anySeconds.ReplaceAllString(without, ""), anySeconds.ReplaceAllString(with, "")
	if a == b || !strings.Contains(b, `"policy":"lpc"`) {
		t.Errorf("the predictions change nothing: %s", with)
	}
	args[5] = clitest.Write(t, "others.jsonl", talks())
	others, messages, code := run(append(args, "--continues", model)...)
	if code != cli.ExitOK || !strings.Contains(messages, "no file of this name trained the model: all conversations are played") || strings.Count(messages, "\n") != 1 {
		t.Fatalf("exit %d: %s", code, messages)
	}
	if requests := func(line string) (n struct{ Requests int }) { json.Unmarshal([]byte(line), &n); return n }; requests(others) != requests(without) ||
		requests(with).Requests == 0 || requests(with).Requests >= requests(without).Requests {
		t.Errorf("%v requests without a model, %v with one, %v of another file", requests(without), requests(with), requests(others))
	}
}
