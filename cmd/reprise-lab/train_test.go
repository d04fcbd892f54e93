package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/proxy/continuation"
)

// talks are conversations whose last prompt has its own words.
func talks() string {
	var b strings.Builder
	for i := range 150 {
		b.WriteString(`{"turns":[`)
		for turn := range i % 4 {
			fmt.Fprintf(&b, `["U","and what about item %d of list %d?"],["S","it is there"],`, turn, i)
		}
		fmt.Fprintf(&b, `["U","thanks, that is all about list %d"],["S","good bye"]]}`+"\n", i)
	}
	return b.String()
}

func TestTrain(t *testing.T) {
	path, model := clitest.Write(t, "talks.jsonl", talks()), filepath.Join(t.TempDir(), "lpc.model")
	page := filepath.Join(t.TempDir(), "report.html")
	out, messages, code := run("train", "lpc", "--conversations", path, "--out", model, "--ablations", "--html", page)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, messages)
	}
	for _, want := range []string{"MCC of the turn alone", "turn alone, majority of the training half", "one vector of the window of 5, with responses"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "Calibration") {
		t.Errorf("report: %v", err)
	}
	first, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := continuation.Load(first); err != nil {
		t.Error(err)
	}
	out, _, code = run("train", "lpc", "--json", "--conversations", path, "--out", model)
	var line struct {
		Sources []struct{ Model struct{ MCC float64 } }
	}
	if err := json.Unmarshal([]byte(out), &line); code != cli.ExitOK || err != nil || len(line.Sources) != 1 || line.Sources[0].Model.MCC < 0.9 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	if second, _ := os.ReadFile(model); string(second) != string(first) {
		t.Error("two runs differ")
	}
}

// TestTrainPage has figures of its own: trained ones differ in their last digits from processor to processor.
func TestTrainPage(t *testing.T) {
	f := continuation.Form{Embedder: "test-2", Dim: 2, Windows: []int{1, 5}, Tokens: 512, Layers: []int{5, 1}, Slope: 1}
	m, err := continuation.NewModel(f, make([]float32, 6))
	if err != nil {
		t.Fatal(err)
	}
	score := func(x float64) train.Score {
		return train.Score{Examples: 1200, GoesOn: 0.4, MCC: x, F1Macro: x + 0.1, Accuracy: x + 0.2, AUC: x + 0.3, AUCInTurn: x + 0.25, Brier: 0.2, BrierBase: 0.24}
	}
	source := func(name string, x float64) train.SourceResult {
		return train.SourceResult{Name: name, Training: 1000, Model: score(x), Majority: score(x - 0.2), Turns: score(x - 0.1),
			Reliability: []train.Bin{{From: 0.2, To: 0.3, Examples: 700, P: 0.25, GoesOn: 0.2}, {From: 0.7, To: 0.8, Examples: 500, P: 0.75, GoesOn: 0.7}}}
	}
	r := &train.Result{Model: m, Sources: []train.SourceResult{source("a.jsonl", 0.4), source("b.jsonl", 0.3), source("all", 0.35)}, Epoch: 4, Epochs: 8, Threshold: 0.45,
		Ablations: []train.Ablation{{Name: "prompt alone", Source: "a.jsonl", Inputs: 3, Score: score(0.38)}, {Name: "dedicated to b.jsonl", Source: "b.jsonl", Inputs: 5, Score: score(0.31)}}}
	var b strings.Builder
	if err := report.Text(&b, trainPage(&train.Set{Sources: []string{"a.jsonl", "b.jsonl"}, Talks: 2500, Seed: 1}, r, "reprise-lab train lpc")); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "train.golden", b.String())
}

// TestTrainKeepsModel: where training fails, the file of an earlier model stays, and nothing is beside it.
func TestTrainKeepsModel(t *testing.T) {
	model := clitest.Write(t, "lpc.model", "an earlier one")
	bad := clitest.Write(t, "talks.jsonl", strings.Repeat(`{"turns":[["U","once"]]}`+"\n", 30))
	if _, messages, code := run("train", "lpc", "--conversations", bad, "--out", model); code != cli.ExitFailed || !strings.Contains(messages, "nothing to learn from") {
		t.Errorf("exit %d: %s", code, messages)
	}
	if text, err := os.ReadFile(model); err != nil || string(text) != "an earlier one" {
		t.Errorf("%q, %v", text, err)
	}
	if all, _ := os.ReadDir(filepath.Dir(model)); len(all) != 1 {
		t.Errorf("%d files in the folder", len(all))
	}
}
