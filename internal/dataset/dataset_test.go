package dataset

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packed writes a file of these lines and returns its path.
func packed(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRows(t *testing.T) {
	type row struct{ Text string }
	read := func(path string) (texts []string, failed error) {
		for r, err := range Rows[row](path) {
			if err != nil {
				return texts, err
			}
			texts = append(texts, r.Text)
		}
		return texts, nil
	}
	if got, err := read(packed(t, "a.jsonl.gz", `{"text":"one"}`, `{"text":"two"}`)); err != nil || !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("two rows: %q, %v", got, err)
	}
	broken := packed(t, "b.jsonl.gz", `{"text":"one"}`, `{"text":`)
	if got, err := read(broken); err == nil || !strings.Contains(err.Error(), broken) || len(got) != 1 {
		t.Errorf("a broken row: %q, %v", got, err)
	}
	whole, err := os.ReadFile(packed(t, "c.jsonl.gz", `{"text":"one"}`, `{"text":"two"}`))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.jsonl.gz")
	if err := os.WriteFile(cut, whole[:len(whole)-8], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(cut); err == nil {
		t.Error("a file that is cut has no error")
	}
	if _, err := read(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

func TestUserTexts(t *testing.T) {
	path := packed(t, "a.jsonl.gz", `{"text":"one","role":"user"}`, `{"text":"an answer","role":"assistant"}`, `{"question":"two"}`, `{"prompt":"three"}`,
		`{"turns":[["U","four"],["S","an answer"]]}`, `{"text":5}`)
	var got []string
	err := UserTexts(filepath.Dir(path), func(text string) {
		if text != "" {
			got = append(got, text)
		}
	})
	if want := []string{"one", "two", "three", "four"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
