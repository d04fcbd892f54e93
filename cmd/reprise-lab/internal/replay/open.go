// Package replay is what the replays of both programs share: it opens traces, plays them and writes tables of the results.
package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/cmd/reprise-lab/sim/workload"
	"reprise/internal/suggest"
)

// generated is the prefix of a generated trace: "generate:NAME:key=value,…".
const generated = "generate:"

// formats lists the values of --format.
func formats() []string {
	var all []string
	for _, f := range trace.Formats() {
		all = append(all, string(f))
	}
	return all
}

func checkFormat(name string) error {
	if ofBlocks(files.Format(name)) {
		return fmt.Errorf("format %s: %s", name, elsewhere)
	}
	if all := formats(); !slices.Contains(all, name) {
		return fmt.Errorf("format %q: want one of %s%s", name, strings.Join(all, ", "), suggest.DidYouMean(name, all))
	}
	return nil
}

// SplitTraces cuts a list of traces at its commas, except those between the parameters of a generated trace.
func SplitTraces(list string) []string {
	var all []string
	for piece := range strings.SplitSeq(list, ",") {
		last := len(all) - 1
		if last >= 0 && strings.HasPrefix(all[last], generated) && strings.Contains(piece, "=") && !strings.HasPrefix(piece, generated) {
			all[last] += "," + piece
		} else if piece != "" {
			all = append(all, piece)
		}
	}
	return all
}

// Open opens a file of the format, or generates a trace.
func Open(name, format string, seed uint64) (sim.Trace, error) {
	if spec, ok := strings.CutPrefix(name, generated); ok {
		return Generate(spec, seed)
	}
	if name == "-" {
		return nil, errors.New("open -: the standard input cannot be played, because a trace is read more than once: want a file")
	}
	if trace.Format(format) == trace.Auto {
		if f, ok := BlockFormat(name); ok && f != files.Chat {
			return nil, fmt.Errorf("open %s: format %s: %s", name, f, elsewhere)
		}
	}
	t, err := trace.Open(name, trace.Format(format))
	if errors.Is(err, trace.ErrChat) {
		return nil, fmt.Errorf("%w: `reprise demo --input` plays them through the proxy, and `reprise-lab replay` through the prefix cache of an engine", err)
	}
	return t, err
}

// elsewhere is what to do with a trace of KV blocks.
const elsewhere = "this is a trace of KV blocks, which an engine's prefix cache holds and not the cache of answers: `reprise-lab replay` plays it"

// BlockFormat returns the format of a file that is a trace of KV blocks by its first record. Recorded conversations are none here: they
// can be played both ways.
func BlockFormat(path string) (files.Format, bool) {
	f, err := files.Detect(path)
	return f, err == nil && ofBlocks(f)
}

// ofBlocks reports whether the files of a format can only be played as KV blocks.
func ofBlocks(f files.Format) bool {
	return slices.Contains(files.Formats(), f) && !slices.Contains(formats(), string(f))
}

// Params are the parameters of a generator in the form of cmdline.Listing.
func Params(all []workload.Param) (params []cmdline.Param) {
	for _, x := range all {
		params = append(params, cmdline.Param{Name: x.Name, Value: x.Default, Says: x.Says, Allowed: cmdline.Allowed(x.Choices, x.Min, x.Max)})
	}
	return params
}

// Generate generates the workload of a spec, "NAME" or "NAME:key=value,…".
func Generate(spec string, seed uint64) (*sim.Slice, error) {
	s, err := workload.Generate(spec, seed)
	if errors.Is(err, workload.ErrUnknown) {
		var known []string
		for _, w := range workload.List() {
			known = append(known, w.Name)
		}
		name, _, _ := strings.Cut(spec, ":")
		return nil, fmt.Errorf("%w%s", err, suggest.DidYouMean(name, known))
	}
	return s, err
}

// parsePolicies parses the list of --policy.
func parsePolicies(list string) ([]string, error) {
	names, err := sim.ParsePolicies(list)
	if err == nil {
		return names, nil
	}
	for piece := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(piece), ":")
		if name != "all" && !slices.Contains(sim.PolicyNames(), name) && !strings.Contains(name, "=") {
			return nil, fmt.Errorf("%w%s", err, suggest.DidYouMean(name, sim.PolicyNames()))
		}
	}
	return nil, err
}

// parseCapacities parses the list of --capacity.
func parseCapacities(list string) ([]sim.Capacity, error) {
	var all []sim.Capacity
	for piece := range strings.SplitSeq(list, ",") {
		c, err := sim.ParseCapacity(piece)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all, nil
}
