package llamatest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// TestModelIsDeterministic: what engines answer and count is equal in each run, on each machine.
func TestModelIsDeterministic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := Small.Write(path); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file)
	if got, want := hex.EncodeToString(sum[:]), "e1e380f0ad0ea8a0f70c486be4aa5044892942dfef2af287b5937653a2437282"; got != want || len(file) != 9350144 {
		t.Errorf("%d bytes with the hash %s, want %s", len(file), got, want)
	}
}

func TestWordsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range Words {
		w := Word(i)
		if len(w) != 4 || seen[w] {
			t.Errorf("word %d is %q", i, w)
		}
		seen[w] = true
	}
}
