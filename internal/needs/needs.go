// Package needs ends tests that need a program which this machine lacks: they are skipped, unless REPRISE_TEST_REQUIRE names it.
package needs

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Program returns the path of the first of names that is on PATH. Without any of them it ends the test as Missing does, under the first name.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, names[0], names[0]+" not found on PATH")
	return ""
}

// Missing ends a test that needs something of a program: it fails where REPRISE_TEST_REQUIRE, a list with commas, names the program or the
// part of its name before the first hyphen, and is skipped with why elsewhere.
func Missing(t testing.TB, program, why string) {
	t.Helper()
	short, _, _ := strings.Cut(program, "-")
	if required := strings.Split(os.Getenv("REPRISE_TEST_REQUIRE"), ","); slices.Contains(required, program) || slices.Contains(required, short) {
		t.Fatalf("%s, and REPRISE_TEST_REQUIRE names %s", why, short)
	}
	t.Skip("skipped: " + why)
}
