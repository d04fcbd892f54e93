package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/report"
)

// output is the form in which a command shows its results.
type output struct {
	json    bool
	html    string // path of the report; "": none is wanted
	command string // that makes the same figures
	report  *outFile
}

// register adds the flags; json says what the lines of JSON are.
func (o *output) register(fs *flag.FlagSet, json string) {
	fs.BoolVar(&o.json, "json", false, json)
	fs.StringVar(&o.html, "html", "", "write a report to `FILE`")
}

func (o *output) check() error {
	if o.json && o.html != "" {
		return errors.New("--json and --html are two forms of one result: want one of them")
	}
	return nil
}

// show writes what is complete: the report, and the text or the lines of JSON. If ctx has ended it says which figures these are.
func (o *output) show(ctx context.Context, t cli.Terminal, page *report.Page, lines func(io.Writer) error, interrupted string, err error) error {
	if len(page.Sections) > 0 {
		err = errors.Join(err, writeReport(o.report, page))
		if o.json {
			err = errors.Join(err, lines(t.Out))
		} else {
			err = errors.Join(err, report.Text(t.Out, page))
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintln(t.Err, interrupted)
		return cli.ErrInterrupted
	}
	return err
}

// start parses and checks the flags of a command, opens its report, and runs it until it is done or interrupted.
func (o *output) start(t cli.Terminal, fs *flag.FlagSet, args []string, help func(io.Writer, *flag.FlagSet), check func() error, run func(context.Context, cli.Terminal) error) (err error) {
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { help(w, fs) }); err != nil {
		return err
	}
	if err := check(); err != nil {
		return cli.FlagError(fs, "%v", err)
	}
	if o.report, err = openReport(o.html); err != nil {
		return err
	}
	defer o.report.discard()
	ctx, stop := cli.Interruptible()
	defer stop()
	return run(ctx, t)
}

// openReport opens the file of --html. It is opened before the first trace is played, so that a wrong name does not cost
// minutes. The result is nil if no report is wanted.
func openReport(path string) (*outFile, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return createOut("report", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return &outFile{what: "report", temp: f}, nil
}

// writeReport writes a page to a file that openReport opened. Until then a report of before stays as it is.
func writeReport(f *outFile, p *report.Page) error {
	if f == nil {
		return nil
	}
	return f.commit(func(w io.Writer) error { return report.HTML(w, p) })
}

// commandOf returns the command that makes the same figures again. It leaves out --parallel, on which they do not depend, and
// the folder of the report.
func commandOf(name string, fs *flag.FlagSet, traces []string) string {
	return cmdline.CommandLine(name, fs, func(f *flag.Flag) []string {
		switch f.Name {
		case "parallel":
			return nil
		case "trace":
			return traces
		case "html":
			return []string{filepath.Base(f.Value.String())}
		}
		return []string{f.Value.String()}
	})
}
