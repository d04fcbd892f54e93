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
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/kvstudy"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/internal/suggest"
)

// studyFlags are the flags of study.
type studyFlags struct {
	replay.Source
	name     string
	seeds    int
	parallel int
	data     string
	only     string // parts of the study of regimes
	policies string // that it compares too
	output
}

const (
	// studySeed is the first seed unless one is given: designs and parameters were chosen with seeds below 100.
	studySeed = 101
	// maxSeeds bounds --seeds, because a typing error could cost days.
	maxSeeds = 1000
)

// studyNames are the studies of both kinds: of requests with answers, and of KV blocks.
var studyNames = slices.Concat(study.Names, kvstudy.Names)

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
		return cli.FlagError(fs, "want the name of a study first: %s", strings.Join(studyNames, " or "))
	}
	return o.start(t, fs, args, studyHelp, o.check, func(ctx context.Context, t cli.Terminal) error {
		o.command = commandOf(fs.Name()+" "+o.name, fs, o.Traces)
		return o.run(ctx, t)
	})
}

func (o *studyFlags) register(fs *flag.FlagSet) {
	o.Source.Register(fs)
	fs.Uint64Var(&o.Seed, "seed", studySeed, "`N` is the first seed of workloads and policies; these were designed with seeds below 100")
	fs.IntVar(&o.seeds, "seeds", 5, "`N` traces of each workload, from as many seeds")
	fs.StringVar(&o.data, "data", "", "`FOLDER` with the recorded traces that are played too: dialogue/ and intent/, of regimes traces/ and kv/ too; or kv/ and dialogue/")
	fs.StringVar(&o.only, "only", "", "`LIST` of the parts of regimes to play: "+strings.Join(study.Parts, ","))
	fs.StringVar(&o.policies, "policy", "", "`LIST` of policies, each with parameters if need be, that regimes compares with the others too")
	fs.IntVar(&o.parallel, "parallel", 0, "`N` traces at a time, 0 is one for each processor; the figures do not depend on it")
	o.output.register(fs, "print one JSON object a line, for each policy at each capacity")
}

func (o *studyFlags) check() error {
	if !slices.Contains(studyNames, o.name) {
		return fmt.Errorf("study %q: want %s%s", o.name, strings.Join(studyNames, " or "), suggest.DidYouMean(o.name, studyNames))
	}
	if err := o.output.check(); err != nil {
		return err
	}
	switch {
	case o.seeds < 1 || o.seeds > maxSeeds:
		return fmt.Errorf("--seeds %d: want 1 to %d", o.seeds, maxSeeds)
	case o.parallel < 0:
		return errors.New("--parallel is 0 or more")
	case o.name != "rac" && o.name != "lpc" && len(o.Traces) > 0:
		return fmt.Errorf("--trace does not go with the study %s, which plays its own", o.name)
	case o.name != "regimes" && o.only+o.policies != "":
		return fmt.Errorf("--only and --policy do not go with the study %s: want regimes", o.name)
	}
	if err := o.checkData(); err != nil {
		return err
	}
	return o.Source.Check()
}

// ofBlocks reports whether the study is one of prefix caches.
func (o *studyFlags) ofBlocks() bool { return slices.Contains(kvstudy.Names, o.name) }

func (o *studyFlags) checkData() (err error) {
	switch {
	case !o.ofBlocks():
		var s study.Setup
		if s, err = o.setup(); err == nil {
			err = study.Check(o.name, s)
		}
	case o.data != "":
		if err = kvstudy.CheckData(o.data); err != nil {
			err = fmt.Errorf("--data: %w", err)
		}
	}
	return err
}

// setup is that of a study of requests, without what plays it.
func (o *studyFlags) setup() (s study.Setup, err error) {
	s = study.Setup{Data: o.data, Parallel: o.parallel, Shrink: studyShrink}
	if o.only != "" {
		s.Only = strings.Split(o.only, ",")
	}
	if o.policies != "" {
		if s.Designs, err = sim.ParsePolicies(o.policies); err != nil {
			return s, fmt.Errorf("--policy: %w", err)
		}
	}
	for i := range o.seeds {
		s.Seeds = append(s.Seeds, o.Seed+uint64(i))
	}
	return s, nil
}

func studyHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab study plays many traces, with several seeds each, through all eviction policies and compares them.

  reprise-lab study regimes
  reprise-lab study rac --html report.html
  reprise-lab study regimes --data DIR --only traces,blocks --policy rac+:factor=1 --html report.html
  reprise-lab study wa --data DIR --html report.html
  reprise-lab study lpc --data DIR --trace sharegpt.json --html report.html

Studies:
  rac      the study of the RAC paper, measured again, with the regimes; traces of --trace are played too
  regimes  rac+ against the best of all others: generated workloads that each break some policy (regimes, long), and of --data
           real texts (texts), traces of storage and databases (traces), agents' blocks (blocks); bytes is the named ones, or all,
           under a capacity in bytes too, and alone, only so
  wa       "KVCache Cache in the Wild", measured again: eviction of KV blocks by the workload
  lpc      "Learned Prefix Caching for Efficient LLM Inference", measured again: a predictor is trained, and the conversations
           that it has not seen are played; --trace adds files of conversations, as of ShareGPT
  prefix   "A Study of Prefix Sharing in LLM Serving", measured again: block sizes, capacities, policies

Ctrl-C prints what is complete. The formats of traces are listed by `+"`reprise-lab replay --help`"+`.

Flags:
`)
	cmdline.FlagHelp(w, fs, "seeds", "seed", "data", "only", "policy", "trace", "format", "parallel", "json", "html")
}

// run plays the study and prints what is complete, even if it ended early.
func (o *studyFlags) run(ctx context.Context, t cli.Terminal) error {
	given, err := o.given(ctx, t)
	if err != nil {
		return err
	}
	page, lines, err := o.play(ctx, t, given)
	page.Command = o.command
	return o.show(ctx, t, &page, lines, o.Command+": interrupted: the figures are of what was complete", err)
}

// given are the traces of --trace for a study that does not read them itself.
func (o *studyFlags) given(ctx context.Context, t cli.Terminal) ([]sim.Trace, error) {
	if o.ofBlocks() {
		return nil, nil
	}
	return o.Open(ctx, t.Err)
}

// play returns the page, and what writes the results as JSON lines.
func (o *studyFlags) play(ctx context.Context, t cli.Terminal, given []sim.Trace) (page report.Page, lines func(io.Writer) error, err error) {
	s, err := o.setup()
	if err != nil {
		return page, nil, err
	}
	if o.ofBlocks() {
		var results []blocks.Result
		page, results, err = kvstudy.Run(ctx, o.name, kvstudy.Setup{Seeds: s.Seeds, Chats: o.Traces, Parallel: o.parallel, Data: o.data, Shrink: studyShrink, Progress: studyProgress(t)})
		return page, func(w io.Writer) error { return cmdline.WriteLines(w, results) }, err
	}
	var results []sim.Result
	s.Given, s.Progress = given, studyProgress(t)
	page, results, err = study.Run(ctx, o.name, s)
	return page, func(w io.Writer) error { return cmdline.WriteLines(w, results) }, err
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
