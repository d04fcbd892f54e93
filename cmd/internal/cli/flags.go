package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"reprise/internal/suggest"
)

// NewFlagSet returns the flags of a command. Its name is that of the program and the command, as in "reprise serve".
func NewFlagSet(name string) *flag.FlagSet { return flag.NewFlagSet(name, flag.ContinueOnError) }

// ParseFlags parses the flags of a command that has no other arguments. If help was asked for, it is written to the output,
// and the error is flag.ErrHelp.
func ParseFlags(t Terminal, fs *flag.FlagSet, args []string, help func(io.Writer)) error {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(t.Out)
		return err
	case err != nil:
		if wrong := wrongValue(fs, err); wrong != "" {
			return FlagError(fs, "%s", wrong)
		}
		return FlagError(fs, "%s%s", err, suggestFlag(fs, err))
	case fs.NArg() > 0:
		return Usage(fs.Name(), "`"+fs.Name()+" --help` lists them.", "%q is too much: it takes flags only", fs.Arg(0))
	}
	return nil
}

// FlagError returns a UsageError about the flags of a command.
func FlagError(fs *flag.FlagSet, format string, args ...any) error {
	help := " --help"
	if fs.Lookup("help-all") != nil {
		help = " --help-all"
	}
	return Usage(fs.Name(), "`"+fs.Name()+help+"` lists the flags.", format, args...)
}

// suggestFlag completes package flag's message about an unknown flag, which ends in its name.
func suggestFlag(fs *flag.FlagSet, err error) string {
	_, name, ok := strings.Cut(err.Error(), "not defined: -")
	if !ok {
		return ""
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
	return suggest.DidYouMean("--"+strings.TrimLeft(name, "-"), known)
}

// wrongValue says what is allowed where package flag says "parse error" or "value out of range" alone; "" for other errors.
func wrongValue(fs *flag.FlagSet, err error) string {
	text, found := strings.CutPrefix(err.Error(), "invalid ")
	if _, after, ok := strings.Cut(text, "value "); ok {
		text = after
	}
	at := strings.LastIndex(text, " for flag -")
	if at < 0 {
		at = strings.LastIndex(text, " for -")
	}
	if !found || at < 0 {
		return ""
	}
	value, rest := text[:at], text[at+strings.Index(text[at:], "-")+1:]
	name, why, _ := strings.Cut(rest, ": ")
	f := fs.Lookup(name)
	if f == nil || kind(f) == "" || why != "parse error" && why != "value out of range" {
		return ""
	}
	return fmt.Sprintf("--%s=%s; allowed is %s", name, value, kind(f))
}

// kind is what package flag reads for a flag; "" for the kinds that say it themselves.
func kind(f *flag.Flag) string {
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return ""
	}
	switch g.Get().(type) {
	case int, int64:
		return "a whole number"
	case uint, uint64:
		return "a whole number from 0"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case time.Duration:
		return "a duration such as 10m"
	}
	return ""
}

// Quote quotes a word for a shell if it needs that.
func Quote(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\n'\"$&|;<>()*?\\`!#~{}[]") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
