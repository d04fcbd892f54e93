package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"reprise/cmd/reprise/internal/replay"
	"reprise/cmd/reprise/internal/report"
)

// reportFile opens the file of --html, nil where none is wanted: what takes minutes shall not fail for the name in the end.
func reportFile(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return f, nil
}

// writeReport replaces what the file held, and closes it. A pipe or a device holds nothing.
func writeReport(f *os.File, p *report.Page) error {
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err == nil {
		err = report.HTML(f, p)
	}
	return errors.Join(err, f.Close())
}

// commandOf is a command that makes the same figures: the flags that were set, but for how many run at a time.
func commandOf(fs *flag.FlagSet, traces []string) string {
	var words []string
	for _, t := range traces {
		words = append(words, "--trace", t)
	}
	fs.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		switch f.Name {
		case "parallel", "trace":
			return
		case "html":
			value = filepath.Base(value)
		}
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			words = append(words, "--"+f.Name)
		} else {
			words = append(words, "--"+f.Name, value)
		}
	})
	return replay.Command(words...)
}
