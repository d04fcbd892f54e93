package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/report"
)

// registerHTML adds the flag of the report.
func registerHTML(fs *flag.FlagSet, path *string) {
	fs.StringVar(path, "html", "", "write a report to `FILE`")
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
