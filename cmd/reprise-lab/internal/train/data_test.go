package train

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"reprise/internal/dataset"
)

// TestOnData: on real dialogues, below the folder that REPRISE_DATA names, the text says more than the turn.
func TestOnData(t *testing.T) {
	if os.Getenv("REPRISE_DATA") == "" {
		t.Skip("REPRISE_DATA is not set: nothing is learned from public dialogues")
	}
	var talks bytes.Buffer
	n := 0
	for line, err := range dataset.Lines(filepath.Join(os.Getenv("REPRISE_DATA"), "dialogue/sgd.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		talks.Write(line)
		talks.WriteByte('\n')
		if n++; n == 1500 {
			break
		}
	}
	_, r := run(t, writeFile(t, "sgd.jsonl", talks.String()), Options{})
	s := r.Sources[0]
	t.Logf("of %d requests: MCC %.3f, by the turn %.3f and %.3f; Brier %.3f, of the share %.3f", s.Model.Examples, s.Model.MCC, s.Majority.MCC, s.Turns.MCC, s.Model.Brier, s.Model.BrierBase)
	if s.Model.MCC < 0.25 || s.Model.MCC <= max(s.Majority.MCC, s.Turns.MCC) || s.Model.Brier >= s.Model.BrierBase {
		t.Errorf("%+v", s)
	}
}
