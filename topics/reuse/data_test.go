package reuse

import (
	"os"
	"path/filepath"
	"testing"

	"reprise/internal/dataset"
)

// TestData measures the guards on public pairs below the folder that REPRISE_DATA names: true paraphrases, of which few
// should be lost, and different questions of one field, of which few should pass.
func TestData(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: the guards are not measured")
	}
	for _, set := range []struct {
		file, a, b string
		min, max   float64 // share that passes Check
	}{
		{"clinc150_backtranslated", "a", "b", 0.35, 1},
		{"medical_triplets", "anchor", "positive", 0.25, 1},
		{"medical_triplets", "anchor", "negative", 0, 0.10},
	} {
		pairs, check := 0, 0
		for row, err := range dataset.Rows[map[string]any](filepath.Join(dir, "paraphrase", set.file+".jsonl.gz")) {
			if err != nil {
				t.Fatal(err)
			}
			a, _ := row[set.a].(string)
			b, _ := row[set.b].(string)
			if a == b {
				continue
			}
			pairs++
			if vetoOf(a, b) == Pass {
				check++
			}
		}
		share := float64(check) / float64(pairs)
		t.Logf("%s, %s and %s: %d pairs, the vetoes pass %.3f", set.file, set.a, set.b, pairs, share)
		if share < set.min || share > set.max {
			t.Errorf("%s: the vetoes pass %.3f, want %.2f to %.2f", set.file, share, set.min, set.max)
		}
	}
}
