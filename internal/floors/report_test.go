package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
)

// TestReport counts in two packages what each list counts.
func TestReport(t *testing.T) {
	fsys := fstest.MapFS{
		"cmd/reprise/main.go": {Data: []byte("// Command reprise is.\npackage main\n\nimport _ \"reprise/proxy\"\n")},
		"proxy/a.go": {Data: []byte(`package proxy

import "reprise/store"

// T tells.
type T struct {
	store.Inner
	call, again func() error
}

func (T) Own()        {}
func take(*T, int)    { first(); second() }
func list() []*T      { return nil }
`)},
		"proxy/a_test.go":        {Data: []byte("package proxy\n")},
		"store/b.go":             {Data: []byte("package store\n\ntype Inner[P any] struct{}\n\nfunc (*Inner[P]) Promoted() {}\n")},
		"cmd/reprise-lab/lab.go": {Data: []byte("package main\n\nimport _ \"reprise/proxy\"\n")},
		"internal/rig/rig.go":    {Data: []byte("package rig\n")},
	}
	all, err := readSources(fsys)
	if err != nil {
		t.Fatal(err)
	}
	table := readTypes(all)
	if methods := table.all(typeName{"proxy", "T"}); len(methods) != 3 || !methods["Own"] || !methods["take"] || !methods["Promoted"] {
		t.Errorf("T has the methods %v", methods)
	}
	var out bytes.Buffer
	if err := report(&out, fsys, false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"== exported names without a comment, by package (3): 2\n     2  store", "(1): 1\n     1  proxy\n\n== lines over", "== unclear words, by package (1): 1",
		"1  store, by proxy\n", "     22  lines of the product", "      3  lines of the laboratory", "      1  lines in neither", "      1  lines of tests of both",
		"      3  packages linked", "      4  exported names", "      2  struct fields"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, &out)
		}
	}
}
