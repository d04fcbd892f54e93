package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
)

// labelled has a pair of one answer that every judge serves, one that none serves, and one of two answers.
const labelled = `{"a":"How do I reset my password?","b":"How do I reset my password? Thank you!","same":true}
{"a":"How do I reset my password?","b":"My account is locked after three attempts.","same":true}
{"a":"How do I reset my password?","b":"How do I reset my wife's password?","same":false}
`

func TestEvaluatePairs(t *testing.T) {
	for name, text := range map[string]string{
		"pairs.jsonl": labelled,
		"pairs.csv":   "a,b,same\nHow do I reset my password?,How do I reset my password? Thank you!,1\nHow do I reset it?,It is locked.,1\nWho is he?,Who is she?,0\n",
		"pairs.tsv":   "a\tb\tsame\nWhy is\\nit so?\tPlease, why is\\nit so?\ttrue\nWho won?\tWho won?\ttrue\nWhy?\tWhere?\tfalse\n",
	} {
		out, messages, code := run("evaluate", "--pairs", clitest.Write(t, name, text))
		if code != cli.ExitOK || !strings.Contains(out, "3 pairs, 2 with one answer.") || !strings.Contains(out, "false hits 0.00 %") {
			t.Errorf("%s: exit %d, %s\n%s", name, code, messages, out)
		}
	}
}

func TestEvaluateLines(t *testing.T) {
	out, messages, code := run("evaluate", "--json", "--max-error", "0.01,0.02", "--pairs", clitest.Write(t, "pairs.jsonl", labelled))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != cli.ExitOK || len(lines) != 6 {
		t.Fatalf("exit %d, %d lines: %s", code, len(lines), messages)
	}
	for i, line := range lines {
		var x scoredLine
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if want := i%3 == 0; x.Served != want || x.By == "" || x.MaxError != []float64{0.01, 0.02}[i/3] {
			t.Errorf("line %d: %+v", i, x)
		}
	}
}

// stream has prompts of 80 classes, each in its own words and with courtesy, and a question of another class beside each.
func stream() string {
	var b strings.Builder
	for round := range 3 {
		for i := range 80 {
			thing := []string{"invoice", "passport", "bicycle", "contract", "ticket", "receipt", "licence", "letter"}[i%8] + " of branch " + string(rune('A'+i/8))
			prompt := "Where do I find the " + thing + "?"
			if round > 0 {
				prompt = "Hello, where do I find the " + thing + "? Thanks!"
			}
			fmt.Fprintf(&b, "{\"prompt\":%q,\"class\":\"%d\"}\n{\"prompt\":\"Why is the %s lost?\",\"class\":\"why %d\"}\n", prompt, i, thing, i)
		}
	}
	return b.String()
}

// TestEvaluateStream: of 80 pairs with equal forms the first five are compared, and half of the others.
func TestEvaluateStream(t *testing.T) {
	path := clitest.Write(t, "requests.jsonl", stream())
	out, messages, code := run("evaluate", "--json", "--seeds", "2", "--max-error", "0,0.02", "--stream", path)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != cli.ExitOK || len(lines) != 4 {
		t.Fatalf("exit %d, %d lines: %s", code, len(lines), messages)
	}
	for _, line := range lines {
		var p struct{ Requests, Repeats, Exact, Form, Wrong int }
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if p.Requests != 480 || p.Repeats != 320 || p.Form < 30 || p.Exact < 200 || p.Wrong != 0 {
			t.Errorf("%s", line)
		}
	}
	again, _, _ := run("evaluate", "--json", "--seeds", "2", "--max-error", "0,0.02", "--stream", path)
	if again != out {
		t.Error("two plays of one seed differ")
	}
}

func TestEvaluateReport(t *testing.T) {
	pairs, requests := clitest.Write(t, "pairs.jsonl", labelled), clitest.Write(t, "requests.jsonl", stream())
	page, out := runReport(t, "evaluate", "--pairs", pairs, "--stream", requests)
	for _, want := range []string{"<svg", "Calibration", "Not served", "Plays", "reprise-lab evaluate", "--pairs " + pairs, "--stream " + requests} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if !strings.Contains(out, "ROC") {
		t.Errorf("no area under the curve:\n%s", out)
	}
}

func TestEvaluateErrors(t *testing.T) {
	unlabelled := clitest.Write(t, "unlabelled.tsv", "odd\tWhy?\tWhere?\n")
	for want, args := range map[string][]string{
		"want --pairs, --stream or --answers":       {},
		"there is no label":                         {"--pairs", unlabelled},
		"--same \"maybe\": want true or false":      {"--same", "maybe", "--pairs", unlabelled},
		"want shares from 0 to 0.2":                 {"--max-error", "0.5", "--pairs", unlabelled},
		"want one of builtin, equal, model2vec:DIR": {"--embedder", "openai", "--pairs", unlabelled},
		"record 2 has 2 fields: want 3":             {"--pairs", clitest.Write(t, "short.csv", "a,b,same\nWhy?,Where?\n")},
		"line 2 is no JSON object":                  {"--pairs", clitest.Write(t, "broken.jsonl", "{\"a\":\"x\",\"b\":\"y\",\"same\":true}\n[]\n")},
		"same is \"perhaps\": want true or":         {"--pairs", clitest.Write(t, "odd.jsonl", "{\"a\":\"x\",\"b\":\"y\",\"same\":\"perhaps\"}\n")},
		"row 1: want prompt and class":              {"--stream", unlabelled},
		"it has no rows":                            {"--pairs", clitest.Write(t, "empty.jsonl", "")},
		"no such file":                              {"--pairs", "absent.csv"},
	} {
		out, messages, code := run(append([]string{"evaluate"}, args...)...)
		if out != "" {
			t.Errorf("%q: there are no figures, and so no heading:\n%s", args, out)
		}
		if code == cli.ExitOK || !strings.Contains(messages, want) {
			t.Errorf("%v: exit %d, %q, want %q", args, code, messages, want)
		}
	}
}

func TestEvaluateAnswers(t *testing.T) {
	text := "# a comment\nshort\tdifferent\t\t\tspam\tham\nshort\tsame\t\t\tspam\tSpam\nfact\tdifferent\tWho?\twho\tIt is Ann who did it.\tIt is Ben who did it.\n" +
		"fact\tdifferent\tWho?\twho\tThe cat sat there.\tthe cat sat there\n"
	path := clitest.Write(t, "answers.tsv", text)
	out, messages, code := run("evaluate", "--answers", path)
	if code != cli.ExitOK || !strings.Contains(out, "called the same") || !strings.Contains(out, "66.67") {
		t.Errorf("exit %d, %s\n%s", code, messages, out)
	}
	out, messages, code = run("evaluate", "--json", "--answers", path)
	var x comparedLine
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &x); err != nil || code != cli.ExitOK || x.Outcome != "different" || x.Why != "short" {
		t.Errorf("exit %d, %v, %s: %+v", code, err, messages, x)
	}
	if _, messages, code = run("evaluate", "--answers", clitest.Write(t, "pairs.jsonl", labelled)); code == cli.ExitOK || !strings.Contains(messages, "want stored, fresh and label") {
		t.Errorf("exit %d, %s", code, messages)
	}
}
