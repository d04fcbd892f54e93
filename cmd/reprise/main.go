// Command reprise is a caching proxy for LLM APIs: a prompt whose answer is already known, word for word or in meaning, is
// answered from the cache.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"reprise/cmd/reprise/internal/config"
)

// Exit codes. An unknown one means failure.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitBadConfig   = 5
	exitInterrupted = 130
)

// terminal is what a command talks to.
type terminal struct {
	out, err io.Writer // data and talk
	environ  []string
}

// command is one word after the program's name.
type command struct {
	name, says string
	run        func(t terminal, args []string) error
}

func commands() []command {
	return []command{
		{"serve", "the proxy", serve},
		{"demo", "the proxy, a built-in engine and a workload: no key, network or configuration needed", demonstrate},
		{"replay", "a trace through eviction policies at any capacities: hit ratios, and how far from the optimum", replayTraces},
		{"version", "what this binary is", version},
		{"help", "this text, or that of a command: reprise help serve", help},
	}
}

func main() {
	t := terminal{os.Stdout, os.Stderr, os.Environ()}
	os.Exit(t.main(os.Args[1:]))
}

// main runs a command and turns its error into words and an exit code, at this one place.
func (t terminal) main(args []string) int {
	err := t.dispatch(args)
	switch usage := (*usageError)(nil); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintln(t.err, usage.text)
		return exitUsage
	case errors.Is(err, config.ErrBad):
		fmt.Fprintf(t.err, "reprise: %v\n`reprise serve --help` lists every setting.\n", err)
		return exitBadConfig
	default:
		fmt.Fprintf(t.err, "reprise: %v\n", err)
		return exitFailed
	}
}

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// errInterrupted ends a command that was told to stop before it was done.
var errInterrupted = errors.New("interrupted")

func (t terminal) dispatch(args []string) error {
	if len(args) == 0 {
		return &usageError{strings.TrimRight(shortHelp(), "\n")}
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	var known []string
	for _, c := range commands() {
		if c.name == name {
			return c.run(t, args[1:])
		}
		known = append(known, c.name)
	}
	return &usageError{fmt.Sprintf("reprise: there is no command %q%s\n`reprise help` lists them.", args[0], config.DidYouMean(args[0], known))}
}

func shortHelp() string {
	var b strings.Builder
	b.WriteString("reprise answers LLM requests from a cache: what was asked before, in the same words or in the same sense,\n" +
		"does not reach the GPU again.\n\nTry it:\n  reprise demo\n  REPRISE_UPSTREAM=https://api.openai.com/v1 reprise serve\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-8s %s\n", c.name, c.says)
	}
	b.WriteString("\n`reprise COMMAND --help` tells more. Exit codes: 0 done, 1 failed, 2 wrong usage, 5 bad configuration, 130 interrupted.\n")
	return b.String()
}

func help(t terminal, args []string) error {
	if len(args) > 0 && args[0] != "help" && !strings.HasPrefix(args[0], "-") {
		return t.dispatch([]string{args[0], "--help"})
	}
	_, err := io.WriteString(t.out, shortHelp())
	return err
}

func version(t terminal, args []string) error {
	if len(args) > 0 {
		_, err := fmt.Fprintln(t.out, "reprise version\n\nPrints version, commit and Go release of this binary.")
		return err
	}
	release, commit := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		release = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " " + s.Value
			}
		}
		release += commit + " " + info.GoVersion
	}
	_, err := fmt.Fprintln(t.out, "reprise", release)
	return err
}

// parseFlags reads the flags of a command. Help goes to the output, because it was asked for.
func parseFlags(t terminal, fs *flag.FlagSet, args []string, help func(io.Writer)) error {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(t.out)
		return err
	case err != nil:
		return &usageError{fmt.Sprintf("reprise %s: %s%s\n`reprise %[1]s --help` lists the flags.", fs.Name(), err, suggestFlag(fs, err))}
	case fs.NArg() > 0:
		return &usageError{fmt.Sprintf("reprise %s: %q is too much: it takes flags only\n`reprise %[1]s --help` lists them.", fs.Name(), fs.Arg(0))}
	}
	return nil
}

// suggestFlag completes package flag's message about an unknown flag, which ends in its name.
func suggestFlag(fs *flag.FlagSet, err error) string {
	_, name, ok := strings.Cut(err.Error(), "not defined: -")
	if !ok {
		return ""
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
	return config.DidYouMean("--"+strings.TrimLeft(name, "-"), known)
}
