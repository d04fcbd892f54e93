package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
)

// run runs the program in this process.
func run(args ...string) (out, messages string, code int) {
	return clitest.Run(program(), nil, args...)
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"help.golden":              {"help"},
		"help-study.golden":        {"study", "--help"},
		"help-replay.golden":       {"help", "replay"},
		"help-generate.golden":     {"generate", "--help"},
		"help-fleet.golden":        {"fleet", "--help"},
		"help-evaluate.golden":     {"evaluate", "--help"},
		"help-train.golden":        {"train", "--help"},
		"help-characterize.golden": {"characterize", "--help"},
	} {
		out, messages, code := run(args...)
		if code != cli.ExitOK || messages != "" {
			t.Errorf("%v: exit %d, %q", args, code, messages)
		}
		clitest.Golden(t, name, out)
	}
	if out, _, code := run("--version"); code != cli.ExitOK || !strings.HasPrefix(out, "reprise-lab ") || !strings.Contains(out, "go1.") {
		t.Errorf("--version: exit %d, %q", code, out)
	}
}

// TestStartErrors shows the errors of command lines that cannot work.
func TestStartErrors(t *testing.T) {
	clitest.Golden(t, "errors.golden", clitest.Session(program(), "",
		"",
		"studdy rac",
		"study",
		"study rca",
		"study --seeds 2 rac",
		"study rac regimes",
		"study rac --seeds 0",
		"study rac --policy lru",
		"study rac --capacity 5%",
		"study rac --model ids",
		"study rac --json --html out.html",
		"study rac --format idds --trace x",
		"study rac --trace testdata/none.ids",
		"study regimes --trace x",
		"study regimes --only regimes,trace",
		"study regimes --only regimes,texts",
		"study regimes --only traces --data testdata",
		"study regimes --only blocks --data testdata",
		"study regimes --policy lru,rac+:factor=seven",
		"study prefix --trace x",
		"study prefix --data testdata/none",
		"study rac --data testdata/none",
		"study rac --html testdata/none/x.html",
		"replay",
		"replay --trace generate:qwenn-a",
		"replay --trace testdata/errors.golden --format moncake",
		"replay --html out.html",
		"replay --trace generate:qwen-a --windows 5",
		"replay --trace generate:irm:n=10 --html out.html --policy lru,seive",
		"replay --trace generate:irm:n=10 --html out.html --json",
		"replay --trace generate:irm:n=10 --policy lru --html testdata/none/x.html",
		"replay --trace testdata/none.ids",
		"replay --trace testdata/errors.golden --format idds",
		"replay --trace testdata/errors.golden --format sgd",
		"replay --trace testdata/errors.golden --policy lru,seive",
		"replay --trace testdata/errors.golden --policy lru:bits=1",
		"replay --trace testdata/errors.golden --capacity 10pct",
		"replay --trace testdata/errors.golden --windows 1001",
		"replay --generate irm:n=many",
		"replay --list --out x",
		"replay --lits",
		"characterize",
		"characterize --trace testdata/none.jsonl",
		"characterize --trace testdata/errors.golden",
		"characterize --trace x --format mooncak",
		"characterize --trace x --window -1s",
		"characterize --trace x --window 60",
		"characterize --trace x --sample 0",
		"characterize --trace x --sampel 1",
		"characterize --trace x --json --html out.html",
		"characterize --trace generate:qwen-c",
		"characterize --trace generate:growth --html testdata/none/x.html",
		"fleet",
		"fleet --trace testdata/none.jsonl",
		"fleet --trace testdata/errors.golden",
		"fleet --trace generate:irm",
		"fleet --trace generate:tenants:tenant=5",
		"fleet --trace generate:tenants:turns=0",
		"fleet --trace generate:tenants --choose prefix,orakle",
		"fleet --trace generate:tenants --load 0.5,x",
		"fleet --trace generate:tenants --engines 0",
		"fleet --trace generate:tenants --block 24",
		"fleet --trace generate:tenants --last-kv 0",
		"fleet --trace generate:tenants --pause -1",
		"fleet --trace generate:tenants --json --html out.html",
		"fleet --trace generate:tenants --html testdata/none/x.html",
		"train",
		"train lcp --conversations x --out y",
		"train lpc --out y",
		"generate",
		"generate --list qwen-a",
		"generate qwen-a --list",
		"generate qwen-c",
		"generate qwen-a:request=5",
		"generate growth --scale 0",
		"generate growth --out testdata/none/x",
		"generate growth --out ../reprise-lab",
		"generate --trace generate:growth,generate:qwen-a --out x",
		"generate --trace testdata/errors.golden --format blocs --out x",
		"train lpc --conversations x",
		"train lpc --conversations testdata/none --out testdata/none/x.model",
		"train lpc --conversations x --out testdata",
		"train lpc --conversations x --out y --embedder builtins",
		"train lpc --conversations x --out y --json --html z",
		"train lpc --conversations x --out y --parallel -1",
	))
}

// TestReadmeCommands runs README's commands of this program, the studies in their small form.
func TestReadmeCommands(t *testing.T) {
	smallStudies(t)
	readme, err := os.ReadFile("../../docs/laboratory.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^go run \./cmd/reprise-lab ([^#\n]*)`).FindAllStringSubmatch(string(readme), -1)
	if len(commands) != 10 {
		t.Fatalf("README has %d commands, want 10", len(commands))
	}
	data, err := filepath.Abs("../../policy")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(data, "policy"); err != nil {
		t.Fatal(err)
	}
	writeLog(t, "requests.jsonl", "irm:n=500,items=100")
	writeReadmeTraces(t)
	for _, c := range commands {
		args := strings.Fields(c[1])
		if args[0] == "study" {
			args = append(args, "--seeds", "1")
		}
		if out, messages, code := run(args...); code != cli.ExitOK || out == "" {
			t.Errorf("%s: exit %d: %s", c[1], code, messages)
		}
		if i := slices.Index(args, "--html"); i >= 0 {
			if _, err := os.Stat(args[i+1]); err != nil {
				t.Errorf("%s: %v", c[1], err)
			}
		}
	}
}

// TestReadmeReplay: the page's command prints the table there, to the digit.
func TestReadmeReplay(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("floating-point rounding differs on " + runtime.GOARCH + ", and rac+ depends on it")
	}
	page, err := os.ReadFile("../../docs/laboratory.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```\n\\$ reprise(?:-lab)? (replay .*?)```").FindStringSubmatch(string(page))
	if shown == nil {
		t.Fatal("the page shows no replay")
	}
	lines := strings.Split(strings.TrimSpace(shown[1]), "\n")
	out, talk, code := run(strings.Fields(lines[0])...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, talk)
	}
	for _, line := range lines[1:] {
		if !strings.Contains(out, line+"\n") {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
}

// writeReadmeTraces writes a small file for each name in README's commands about KV blocks.
func writeReadmeTraces(t *testing.T) {
	var mooncake, calls, chats strings.Builder
	for i := range 60 {
		fmt.Fprintf(&mooncake, `{"timestamp":%d,"input_length":%d,"output_length":9,"hash_ids":[0,%d]}`+"\n", 1000*i, 600+i, 1+i%7)
		fmt.Fprintf(&calls, `{"timestamp":%d,"session_id":"s%d","input":"%s","output":"done"}`+"\n", 1e6*i, i%5, strings.Repeat("step ", 20+i))
		end := ""
		if i%2 == 0 {
			end = `,{"from":"human","value":"and then?"},{"from":"gpt","value":"that is all"}`
		}
		fmt.Fprintf(&chats, `{"conversations":[{"from":"human","value":"question %d"},{"from":"gpt","value":"yes"}%s]}`+"\n", i, end)
	}
	for name, text := range map[string]*strings.Builder{"mooncake_conversation.jsonl.gz": &mooncake, "agent.jsonl": &calls, "chats.jsonl": &chats} {
		if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil { // a name ending in .gz is no promise that it is packed
			t.Fatal(err)
		}
	}
}
