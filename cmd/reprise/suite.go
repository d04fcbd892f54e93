package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"reprise/cmd/reprise/internal/config"
	"reprise/cmd/reprise/internal/report"
	"reprise/cmd/reprise/internal/study"
	"reprise/policy/sim"
)

// suiteFlags are the flags of --suite.
type suiteFlags struct {
	name  string
	seeds int
	data  string
}

const (
	// suiteSeed is the first seed unless one is given: the policies were tuned on 1 to 20.
	suiteSeed = 101
	// mostSeeds keep a slip of the keyboard from running for days.
	mostSeeds = 1000
)

// suiteTakes are the flags that go with --suite.
var suiteTakes = []string{"suite", "seeds", "data", "seed", "trace", "format", "parallel", "json", "html"}

// suiteShrink makes a suite smaller, for tests.
var suiteShrink = 1

func (s *suiteFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&s.name, "suite", "", "play a study, `NAME`: rac is that of the paper, beside --trace where given; regimes compares rac+ with the best baseline")
	fs.IntVar(&s.seeds, "seeds", 5, "`N` traces of each workload of a suite; its first --seed is 101 unless given, as the policies were tuned on 1 to 20")
	fs.StringVar(&s.data, "data", "", "`FOLDER` with dialogue/ and intent/, whose texts a suite plays too")
}

// check reports what is wrong with the flags, given which of them were set.
func (s *suiteFlags) check(set map[string]bool) error {
	if s.name == "" {
		for _, name := range []string{"seeds", "data"} {
			if set[name] {
				return fmt.Errorf("--%s goes with --suite", name)
			}
		}
		return nil
	}
	if !slices.Contains(study.Suites, s.name) {
		return fmt.Errorf("suite %q: want %s%s", s.name, strings.Join(study.Suites, " or "), config.DidYouMean(s.name, study.Suites))
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(suiteTakes, name) {
			return fmt.Errorf("--%s does not go with --suite, which says itself what is played and how", name)
		}
	}
	switch {
	case s.seeds < 1 || s.seeds > mostSeeds:
		return fmt.Errorf("--seeds %d: want 1 to %d", s.seeds, mostSeeds)
	case s.name == "regimes" && set["trace"]:
		return errors.New("--trace does not go with --suite regimes, which plays its own")
	case s.data != "":
		if err := study.CheckData(s.data); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	return nil
}

// playSuite plays a suite and shows what is done, even where that ends early.
func (o *replayFlags) playSuite(ctx context.Context, t terminal) error {
	setup := study.Setup{Parallel: o.parallel, Data: o.suite.data, Shrink: suiteShrink, Progress: suiteProgress(t)}
	for i := range o.suite.seeds {
		setup.Seeds = append(setup.Seeds, o.seed+uint64(i))
	}
	var err error
	if setup.Given, err = o.open(ctx, t); err != nil {
		return err
	}
	html, err := reportFile(o.html)
	if err != nil {
		return err
	}
	page, results, err := study.Run(ctx, o.suite.name, setup)
	page.Command = o.command
	if html != nil {
		err = errors.Join(err, writeReport(html, &page))
	}
	if o.json {
		err = errors.Join(err, writeLines(t.out, results))
	} else {
		err = errors.Join(err, report.Text(t.out, &page))
	}
	if ctx.Err() != nil {
		fmt.Fprintln(t.err, "reprise replay: interrupted: the figures are of what was complete")
		return errInterrupted
	}
	return err
}

// writeLines writes an object a line.
func writeLines(w io.Writer, results []sim.Result) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for i := range results {
		if err := lines.Encode(&results[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// suiteProgress says on a terminal how many traces of a part are played, and elsewhere which parts are.
func suiteProgress(t terminal) func(part string, done, total int) {
	live := isTerminal(t.err)
	return func(part string, done, total int) {
		switch {
		case live && done < total:
			fmt.Fprintf(t.err, "\r\x1b[2K%s: %d of %d traces", part, done, total)
		case live:
			fmt.Fprintf(t.err, "\r\x1b[2K%s: %d traces\n", part, total)
		case done == total:
			fmt.Fprintf(t.err, "%s: %d traces\n", part, total)
		}
	}
}
