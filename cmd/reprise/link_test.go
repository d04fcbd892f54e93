package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// plotting are the modules that draw plots, with their fonts and image formats.
var plotting = []string{"gonum.org/", "golang.org/x/image/", "codeberg.org/go-fonts/", "codeberg.org/go-latex/", "codeberg.org/go-pdf/", "git.sr.ht/~sbinet/",
	"github.com/ajstarks/svgo", "github.com/golang/freetype/", "reprise/cmd/reprise-lab"}

// plottingOf returns the packages of plotting that the program in a folder links.
func plottingOf(t *testing.T, folder string) (found []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	for imported := range strings.FieldsSeq(string(out)) {
		if slices.ContainsFunc(plotting, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }) {
			found = append(found, imported)
		}
	}
	return found
}

// TestNoPlotting: the proxy's binary links no plotting and no fonts. The laboratory does, which shows that the check finds them.
func TestNoPlotting(t *testing.T) {
	for _, imported := range plottingOf(t, ".") {
		t.Errorf("cmd/reprise links %s; plots belong to cmd/reprise-lab", imported)
	}
	if lab := plottingOf(t, "../reprise-lab"); len(lab) < 40 {
		t.Errorf("of cmd/reprise-lab only %d packages of plotting are found: %v", len(lab), lab)
	}
}
