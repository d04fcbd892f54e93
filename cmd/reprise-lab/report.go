package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/report"
)

// registerHTML adds the flag of the report.
func registerHTML(fs *flag.FlagSet, path *string) {
	fs.StringVar(path, "html", "", "write a report to `FILE`")
}

// openReport opens the file of --html. It is opened before the first trace is played, so that a wrong name does not cost
// minutes. The result is nil if no report is wanted.
func openReport(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return f, nil
}

// writeReport replaces the content of a file that openReport opened, and closes it. Pipes and devices are not truncated.
func writeReport(f *os.File, p *report.Page) error {
	if f == nil {
		return nil
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err == nil {
		err = report.HTML(f, p)
	}
	return errors.Join(err, f.Close())
}

// commandOf returns the command that makes the same figures again. It leaves out --parallel, on which they do not depend, and
// the folder of the report.
func commandOf(name string, fs *flag.FlagSet, traces []string) string {
	return cli.CommandLine(name, fs, func(f *flag.Flag) []string {
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
