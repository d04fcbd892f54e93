// Package clitest helps to test programs made of package cli.
package clitest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files")

// Golden compares got with a file of testdata. With -update it writes the file.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -run %s -update writes it); got\n%s", path, t.Name(), got)
	}
}

// Write writes a file in a folder of the test and returns its path.
func Write(t testing.TB, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Run runs a program in this process and returns what it writes to stdout and stderr, and its exit code.
func Run(p *cli.Program, environ []string, args ...string) (out, messages string, code int) {
	var o, e bytes.Buffer
	code = p.Main(cli.Terminal{Out: &o, Err: &e, Environ: environ}, args)
	return o.String(), e.String(), code
}

// Session runs command lines, which are words between spaces, variables of the environment with the prefix first, and returns
// all output and exit codes as a terminal would show them.
func Session(p *cli.Program, prefix string, commands ...string) string {
	var all strings.Builder
	for _, command := range commands {
		var environ, args []string
		for _, word := range strings.Fields(command) {
			if prefix != "" && strings.HasPrefix(word, prefix) {
				environ = append(environ, word)
			} else {
				args = append(args, word)
			}
		}
		out, messages, code := Run(p, environ, args...)
		fmt.Fprintf(&all, "$ %s\n%s%sexit %d\n\n", strings.Join(slices.Concat(environ, []string{p.Name}, args), " "), out, messages, code)
	}
	return all.String()
}
