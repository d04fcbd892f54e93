package stores

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for v, want := range map[string]bool{
		"memory": true, "file:a.db": true, "file:/a:b.db": true,
		"": false, "file": false, "file:": false, "memory:": false, "redis://a": false, "a.db": false,
	} {
		if _, ok := Parse(v); ok != want {
			t.Errorf("Parse(%q) is %v, want %v", v, ok, want)
		}
	}
	for _, form := range []string{"memory", "file:PATH"} {
		if !slices.Contains(Forms(), form) {
			t.Errorf("forms %q, want %q among them", Forms(), form)
		}
	}
	for _, form := range Forms() {
		if _, ok := Parse(form); !ok {
			t.Errorf("Parse(%q) is false for one of the forms", form)
		}
	}
}

// TestUnused: a place that is not used is left as it is, and says why; memory stays memory.
func TestUnused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	p, _ := Parse("file:" + path)
	b, err := p.Unused("for a reason").Open()
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Load(nil)
	if err != nil || r.Name != path || r.ReadOnly == nil || !strings.Contains(r.ReadOnly.Error(), "for a reason") {
		t.Errorf("load: %+v, %v", r, err)
	}
	if b.Write(nil) == nil || b.Close() != nil {
		t.Error("a batch was accepted")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was made")
	}
	if b, err := (Place{}).Unused("for a reason").Open(); b != nil || err != nil {
		t.Errorf("memory: %v, %v", b, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if b, err := (Place{}).Open(); b != nil || err != nil {
		t.Errorf("memory: %v, %v", b, err)
	}
	path := filepath.Join(dir, "a.db")
	p, _ := Parse("file:" + path)
	b, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	p, _ = Parse("file:" + filepath.Join(dir, "none", "a.db"))
	if b, err := p.Open(); b != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v, %v", b, err)
	}
}
