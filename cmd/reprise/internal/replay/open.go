// Package replay is what the command of that name does: it opens traces of every kind, and shows results.
package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/cmd/reprise/internal/config"
	"reprise/policy/sim"
	"reprise/policy/sim/trace"
	"reprise/policy/sim/workload"
)

// Generated begins the name of a trace that is made and not read.
const Generated = "generate:"

// Formats are the values of --format.
func Formats() []string {
	var all []string
	for _, f := range trace.Formats() {
		all = append(all, string(f))
	}
	return all
}

// CheckFormat reports what is wrong with a value of --format.
func CheckFormat(name string) error {
	if all := Formats(); !slices.Contains(all, name) {
		return fmt.Errorf("format %q: want one of %s%s", name, strings.Join(all, ", "), config.DidYouMean(name, all))
	}
	return nil
}

// Split cuts a list of traces at its commas, but for those between the parameters of a workload.
func Split(list string) []string {
	var all []string
	for piece := range strings.SplitSeq(list, ",") {
		last := len(all) - 1
		if last >= 0 && strings.HasPrefix(all[last], Generated) && strings.Contains(piece, "=") && !strings.HasPrefix(piece, Generated) {
			all[last] += "," + piece
		} else if piece != "" {
			all = append(all, piece)
		}
	}
	return all
}

// Open opens a trace: a file of a format, or "generate:NAME:key=value,…".
func Open(name, format string, seed uint64) (sim.Trace, error) {
	if spec, ok := strings.CutPrefix(name, Generated); ok {
		return Generate(spec, seed)
	}
	if name == "-" {
		return nil, errors.New("open -: the standard input cannot be played, because a trace is read more than once: want a file")
	}
	t, err := trace.Open(name, trace.Format(format))
	if errors.Is(err, trace.ErrChat) {
		return nil, fmt.Errorf("%w: `reprise demo --input` plays them through the proxy", err)
	}
	return t, err
}

// Generate makes a workload of a name with parameters.
func Generate(spec string, seed uint64) (*sim.Slice, error) {
	s, err := workload.Generate(spec, seed)
	if errors.Is(err, workload.ErrUnknown) {
		var known []string
		for _, w := range workload.List() {
			known = append(known, w.Name)
		}
		name, _, _ := strings.Cut(spec, ":")
		return nil, fmt.Errorf("%w%s", err, config.DidYouMean(name, known))
	}
	return s, err
}

// WriteLog writes a trace in memory as a request log until ctx is done, and returns how many requests it wrote.
func WriteLog(ctx context.Context, w io.Writer, s *sim.Slice) (written int, err error) {
	out := bufio.NewWriter(w)
	log := trace.NewWriter(out)
	for written < len(s.All) && ctx.Err() == nil {
		if err := log.Append(trace.RecordOf(s.All[written])); err != nil {
			return written, err
		}
		written++
	}
	return written, out.Flush()
}

// Policies reads the list of --policy.
func Policies(list string) ([]string, error) {
	names, err := sim.ParsePolicies(list)
	if err == nil {
		return names, nil
	}
	for piece := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(piece), ":")
		if name != "all" && !slices.Contains(sim.PolicyNames(), name) && !strings.Contains(name, "=") {
			return nil, fmt.Errorf("%w%s", err, config.DidYouMean(name, sim.PolicyNames()))
		}
	}
	return nil, err
}

// Capacities reads the list of --capacity.
func Capacities(list string) ([]sim.Capacity, error) {
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
