package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/replay"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/internal/suggest"
)

// studyFlags are the flags of study.
type studyFlags struct {
	replay.Source
	name     string
	seeds    int
	parallel int
	data     string
	json     bool
	html     string
	command  string // that makes the same figures
}

const (
	// studySeed is the first seed unless one is given: the policies were tuned on 1 to 20.
	studySeed = 101
	// maxSeeds bounds --seeds, because a typing error could cost days.
	maxSeeds = 1000
)

// studyShrink makes a study smaller, for tests.
var studyShrink = 1

func runStudy(t cli.Terminal, args []string) error {
	o := &studyFlags{}
	fs := cli.NewFlagSet("reprise-lab study")
	o.register(fs)
	switch {
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		o.name, args = args[0], args[1:]
	case len(args) != 1 || !slices.Contains([]string{"-h", "-help", "--help"}, args[0]):
		return cli.FlagError(fs, "want the name of a study first: %s", strings.Join(study.Names, " or "))
	}
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { studyHelp(w, fs) }); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return cli.FlagError(fs, "%v", err)
	}
	o.command = commandOf(fs.Name()+" "+o.name, fs, o.Traces)
	ctx, stop := cli.Interruptible()
	defer stop()
	return o.run(ctx, t)
}

func (o *studyFlags) register(fs *flag.FlagSet) {
	o.Source.Register(fs)
	fs.Uint64Var(&o.Seed, "seed", studySeed, "`N` is the first seed of workloads and policies; the policies were tuned on 1 to 20")
	fs.IntVar(&o.seeds, "seeds", 5, "`N` traces of each workload, from as many seeds")
	fs.StringVar(&o.data, "data", "", "`FOLDER` with dialogue/ and intent/, whose texts are played too")
	fs.IntVar(&o.parallel, "parallel", 0, "`N` traces at a time, 0 is one for each processor; the figures do not depend on it")
	fs.BoolVar(&o.json, "json", false, "print one JSON object a line, for each policy at each capacity")
	registerHTML(fs, &o.html)
}

func (o *studyFlags) check() error {
	switch {
	case !slices.Contains(study.Names, o.name):
		return fmt.Errorf("study %q: want %s%s", o.name, strings.Join(study.Names, " or "), suggest.DidYouMean(o.name, study.Names))
	case o.json && o.html != "":
		return errors.New("--json and --html are two forms of one result: want one of them")
	case o.seeds < 1 || o.seeds > maxSeeds:
		return fmt.Errorf("--seeds %d: want 1 to %d", o.seeds, maxSeeds)
	case o.parallel < 0:
		return errors.New("--parallel is 0 or more")
	case o.name == "regimes" && len(o.Traces) > 0:
		return errors.New("--trace does not go with the study regimes, which plays its own")
	}
	if o.data != "" {
		if err := study.CheckData(o.data); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	return o.Source.Check()
}

func studyHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab study plays many traces, with several seeds each, through all eviction policies and compares them.

  reprise-lab study regimes
  reprise-lab study rac --html report.html
  reprise-lab study regimes --data DIR --json

Studies:
  rac      the study of the RAC paper, measured again, with the regimes; traces of --trace are played too
  regimes  rac+ against the best of all other policies, in generated workloads that each break some policy

Ctrl-C prints what is complete. The formats of traces are listed by `+"`reprise-lab replay --help`"+`.

Flags:
`)
	cli.FlagHelp(w, fs, "seeds", "seed", "data", "trace", "format", "parallel", "json", "html")
}

// run plays the study and prints what is complete, even if it ended early.
func (o *studyFlags) run(ctx context.Context, t cli.Terminal) error {
	setup := study.Setup{Parallel: o.parallel, Data: o.data, Shrink: studyShrink, Progress: studyProgress(t)}
	for i := range o.seeds {
		setup.Seeds = append(setup.Seeds, o.Seed+uint64(i))
	}
	var err error
	if setup.Given, err = o.Open(ctx, t.Err); err != nil {
		return err
	}
	html, err := openReport(o.html)
	if err != nil {
		return err
	}
	page, results, err := study.Run(ctx, o.name, setup)
	page.Command = o.command
	err = errors.Join(err, writeReport(html, &page))
	if o.json {
		err = errors.Join(err, replay.WriteLines(t.Out, results))
	} else {
		err = errors.Join(err, report.Text(t.Out, &page))
	}
	if ctx.Err() != nil {
		fmt.Fprintf(t.Err, "%s: interrupted: the figures are of what was complete\n", o.Command)
		return cli.ErrInterrupted
	}
	return err
}

// studyProgress reports the number of traces of a part that were played: on a terminal each of them, elsewhere only the last.
func studyProgress(t cli.Terminal) func(part string, done, total int) { return progressOf(t, "traces") }

// progressOf shows how many of some things are done: on a terminal always, else when all are.
func progressOf(t cli.Terminal, things string) func(part string, done, total int) {
	live := cli.IsTerminal(t.Err)
	return func(part string, done, total int) {
		switch {
		case live && done < total:
			fmt.Fprintf(t.Err, "\r\x1b[2K%s: %d of %d %s", part, done, total, things)
		case live:
			fmt.Fprintf(t.Err, "\r\x1b[2K%s: %d %s\n", part, total, things)
		case done == total:
			fmt.Fprintf(t.Err, "%s: %d %s\n", part, total, things)
		}
	}
}
