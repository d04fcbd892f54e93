package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/source"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/cmd/reprise-lab/sim/workload"
	"reprise/internal/suggest"
)

// requestFormats are the values of --format for traces of requests.
func requestFormats() []string {
	var all []string
	for _, f := range trace.Formats() {
		all = append(all, string(f))
	}
	return all
}

// allFormats are the values of --format.
func allFormats() []string {
	all := requestFormats()
	for _, f := range source.Formats() {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// ofBlocks reports whether the traces are played as KV blocks: if --blocks or --format says so, or if each is a generator of blocks or a
// file that has them. Recorded conversations, which can be played both ways, are requests without --blocks.
func (o *replayFlags) ofBlocks() (bool, error) {
	asRequests, asBlocks := requestFormats(), source.Formats()
	switch {
	case !slices.Contains(allFormats(), o.Format):
		return false, fmt.Errorf("format %q: want one of %s%s", o.Format, strings.Join(allFormats(), ", "), suggest.DidYouMean(o.Format, allFormats()))
	case o.blocks.asked && !slices.Contains(asBlocks, o.Format):
		return false, fmt.Errorf("--blocks with --format %s: want one of %s", o.Format, strings.Join(asBlocks, ", "))
	case o.blocks.asked:
		return true, nil
	}
	kind := ""
	for i, name := range o.Traces {
		this := "requests"
		switch {
		case source.Generator(name):
			this = "blocks"
		case strings.HasPrefix(name, "generate:"):
			if err := checkGenerated(name); err != nil {
				return false, err
			}
		case o.Format == string(trace.Auto):
			if _, ok := replay.BlockFormat(name); ok {
				this = "blocks"
			} else if _, err := os.Stat(name); err != nil { // before flags are judged by what it is not
				return false, err
			}
		case !slices.Contains(asRequests, o.Format):
			this = "blocks"
		}
		if i > 0 && this != kind {
			return false, fmt.Errorf("%s is a trace of %s and %s one of %s: want one kind (with --blocks, conversations are blocks too)", o.Traces[0], kind, name, this)
		}
		kind = this
	}
	return kind == "blocks", nil
}

// checkGenerated reports a generated trace whose name is neither a workload of requests nor a generator of blocks.
func checkGenerated(trace string) error {
	spec := strings.TrimPrefix(trace, "generate:")
	name, _, _ := strings.Cut(spec, ":")
	known := source.Generators()
	for _, w := range workload.List() {
		known = append(known, w.Name)
	}
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("%s: want one of %s%s", trace, strings.Join(known, ", "), suggest.DidYouMean(name, known))
}
