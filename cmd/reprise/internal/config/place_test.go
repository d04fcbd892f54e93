package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestParsePlace(t *testing.T) {
	for v, want := range map[string]bool{
		"memory": true, "file:a.db": true, "file:/a:b.db": true,
		"": false, "file": false, "file:": false, "memory:": false, "redis:a": false, "redis://": false, "redis+tls://a": false, "a.db": false,
	} {
		if _, ok := parsePlace(v); ok != want {
			t.Errorf("parsePlace(%q) is %v, want %v", v, ok, want)
		}
	}
	for _, form := range []string{"memory", "file:PATH"} {
		if _, ok := parsePlace(form); !ok || !slices.Contains(placeForms, form) {
			t.Errorf("%q is not one of the forms %q", form, placeForms)
		}
	}
}

// TestShared: the URLs of shared stores are passed on as they are, and have no backing to open.
func TestSharedPlace(t *testing.T) {
	for v, c := range map[string]struct{ secure, watched bool }{
		"redis://a": {}, "rediss://u:p@a:1/2": {secure: true}, "redis-cluster://a,b": {}, "rediss-cluster://a,b": {secure: true},
		"redis-sentinel://a,b/m": {watched: true}, "rediss-sentinel://a,b/m/1": {true, true},
	} {
		p, ok := parsePlace(v)
		if b, err := p.Open(); !ok || p.Shared() != v || p.secure() != c.secure || p.Watched() != c.watched || b != nil || err != nil {
			t.Errorf("%s: %+v, %v, a backing %v, %v", v, p, ok, b, err)
		}
	}
}

func TestOpenPlace(t *testing.T) {
	dir := t.TempDir()
	if b, err := (Place{}).Open(); b != nil || err != nil {
		t.Errorf("memory: %v, %v", b, err)
	}
	path := filepath.Join(dir, "a.db")
	p, _ := parsePlace("file:" + path)
	b, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	p, _ = parsePlace("file:" + filepath.Join(dir, "none", "a.db"))
	if b, err := p.Open(); b != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v, %v", b, err)
	}
}
