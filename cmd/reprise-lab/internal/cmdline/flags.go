// Package cmdline has what the commands of the laboratory share: help of flags, lists of things with parameters, and lines of JSON.
package cmdline

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"reprise/cmd/internal/cli"
)

// SetFlags returns the names of the flags that were set.
func SetFlags(fs *flag.FlagSet) map[string]bool {
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	return set
}

// FlagHelp writes the usage of flags in lines of at most 100 characters.
func FlagHelp(w io.Writer, fs *flag.FlagSet, names ...string) {
	for _, name := range names {
		f := fs.Lookup(name)
		value, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		name = strings.TrimSpace(name + " " + value)
		if len(name) > 20 { // the usage begins on a line of its own
			name += "\n" + strings.Repeat(" ", 24)
		}
		fmt.Fprintf(w, "  --%-20s %s\n", name, cli.Fold(usage, 25, 100))
	}
}

// CommandLine returns a command with the flags of fs that were set, quoted for a shell. Function values returns the values of
// a flag, one for each time it is repeated; none leaves it out.
func CommandLine(command string, fs *flag.FlagSet, values func(*flag.Flag) []string) string {
	words := []string{command}
	fs.Visit(func(f *flag.Flag) {
		for _, value := range values(f) {
			words = append(words, "--"+f.Name)
			if b, ok := f.Value.(interface{ IsBoolFlag() bool }); !ok || !b.IsBoolFlag() {
				words = append(words, cli.Quote(value))
			}
		}
	})
	return strings.Join(words, " ")
}
