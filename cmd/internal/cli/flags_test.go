package cli

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestWrongValues: the error of a flag says which values are allowed.
func TestWrongValues(t *testing.T) {
	for arg, want := range map[string]string{
		"--number=x":                   `x demo: --number="x"; allowed is a whole number`,
		"--number=9999999999999999999": `allowed is a whole number`,
		"--seed=-1":                    `--seed="-1"; allowed is a whole number from 0`,
		"--share=a for flag -b: c":     `--share="a for flag -b: c"; allowed is a number`,
		"--exit=maybe":                 `--exit="maybe"; allowed is true or false`,
		"--wait=5":                     `--wait="5"; allowed is a duration such as 10m`,
		"--nmber=5":                    `not defined: -nmber; did you mean --number?`,
	} {
		fs := NewFlagSet("x demo")
		fs.Int("number", 0, "")
		fs.Uint64("seed", 0, "")
		fs.Float64("share", 0, "")
		fs.Bool("exit", false, "")
		fs.Duration("wait", time.Second, "")
		if err := ParseFlags(Terminal{}, fs, []string{arg}, func(io.Writer) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
