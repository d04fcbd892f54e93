// Package cli is the command line that the programs of this module share: commands, flags, help texts and exit codes.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"reprise/internal/suggest"
)

// Exit codes of all programs.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Terminal is the environment of a command.
type Terminal struct {
	Out, Err io.Writer // results, and messages to the user
	Environ  []string
}

// Command is one of the commands of a program.
type Command struct {
	Name, Summary string
	Run           func(t Terminal, args []string) error
}

// Program is a binary with commands.
type Program struct {
	Name     string
	Intro    string    // start of the help: purpose and examples
	Commands []Command // without version and help, which every program has
	// Explain returns message and exit code of an error that is particular to this program, or code 0. It may be nil.
	Explain func(error) (message string, code int)
	Codes   string // completes the list of exit codes in the help with those of Explain; empty: none
}

// UsageError is a command line that cannot be run. Its text is the whole message to the user.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// Usage returns a UsageError about a command: its name, what is wrong, and what helps, which is a line of its own.
func Usage(command, hint, format string, args ...any) error {
	text := command + ": " + fmt.Sprintf(format, args...)
	if hint != "" {
		text += "\n" + hint
	}
	return &UsageError{text}
}

// ErrInterrupted ends a command that a signal stopped before it was done.
var ErrInterrupted = errors.New("interrupted")

// Main runs the command that args name and returns the exit code. All errors are reported here.
func (p *Program) Main(t Terminal, args []string) int {
	err := p.dispatch(t, args)
	switch usage := (*UsageError)(nil); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return ExitOK
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintln(t.Err, usage.Text)
		return ExitUsage
	}
	if p.Explain != nil {
		if message, code := p.Explain(err); code != 0 {
			fmt.Fprintln(t.Err, message)
			return code
		}
	}
	fmt.Fprintf(t.Err, "%s: %v\n", p.Name, err)
	return ExitFailed
}

func (p *Program) commands() []Command {
	return append(p.Commands[:len(p.Commands):len(p.Commands)],
		Command{"version", "what this binary is", p.version},
		Command{"help", "this text, or that of a command: " + p.Name + " help " + p.Commands[0].Name, p.help})
}

func (p *Program) dispatch(t Terminal, args []string) error {
	if len(args) == 0 {
		return &UsageError{strings.TrimRight(p.shortHelp(), "\n")}
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	var known []string
	for _, c := range p.commands() {
		if c.Name == name {
			return c.Run(t, args[1:])
		}
		known = append(known, c.Name)
	}
	return Usage(p.Name, "`"+p.Name+" help` lists them.", "there is no command %q%s", args[0], suggest.DidYouMean(args[0], known))
}

func (p *Program) shortHelp() string {
	var b strings.Builder
	b.WriteString(p.Intro + "\nCommands:\n")
	width := 8
	for _, c := range p.commands() {
		width = max(width, len(c.Name))
	}
	for _, c := range p.commands() {
		fmt.Fprintf(&b, "  %-*s %s\n", width, c.Name, c.Summary)
	}
	fmt.Fprintf(&b, "\n`%s COMMAND --help` has the details. Exit codes: 0 done, 1 failed, 2 wrong usage, %s130 interrupted.\n", p.Name, p.Codes)
	return b.String()
}

func (p *Program) help(t Terminal, args []string) error {
	if len(args) > 0 && args[0] != "help" && !strings.HasPrefix(args[0], "-") {
		return p.dispatch(t, []string{args[0], "--help"})
	}
	_, err := io.WriteString(t.Out, p.shortHelp())
	return err
}

func (p *Program) version(t Terminal, args []string) error {
	if len(args) > 0 {
		_, err := fmt.Fprintf(t.Out, "%s version\n\nPrints version, commit and Go release of this binary.\n", p.Name)
		return err
	}
	r := ReadRelease()
	text := p.Name + " " + r.Version
	for _, more := range []string{r.Commit, r.Go} {
		if more != "" {
			text += " " + more
		}
	}
	_, err := fmt.Fprintln(t.Out, text)
	return err
}

// Interruptible returns a context that ends with the first signal to stop. A second signal ends the process at once. The
// caller calls stop.
func Interruptible() (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// IsTerminal reports whether w is a terminal that can redraw lines.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Size is how many columns and rows a terminal has, 0 where w is none.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		columns, rows, _ = term.GetSize(int(f.Fd()))
	}
	return columns, rows
}
