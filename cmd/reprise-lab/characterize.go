package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/characterize"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/source"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// characterizeFlags are the flags of characterize.
type characterizeFlags struct {
	source.Flags
	window span
	sample float64
	bytes  int64
	output
}

// span is a positive time, or 0.
type span time.Duration

func (s *span) String() string {
	if *s == 0 {
		return "0"
	}
	return time.Duration(*s).String()
}

// Set implements flag.Value.
func (s *span) Set(v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return errors.New("want a time as 60s or 10m, or 0 for a round one")
	}
	*s = span(d)
	return nil
}

func runCharacterize(t cli.Terminal, args []string) error {
	o := &characterizeFlags{}
	fs := cli.NewFlagSet("reprise-lab characterize")
	o.register(fs)
	return o.start(t, fs, args, characterizeHelp, o.check, func(ctx context.Context, t cli.Terminal) error {
		o.command = commandOf(fs.Name(), fs, o.Traces)
		return o.run(ctx, t)
	})
}

func (o *characterizeFlags) register(fs *flag.FlagSet) {
	o.Flags.Register(fs)
	fs.Var(&o.window, "window", "`TIME` of a window of the figures over time, as 60s or 10m; 0: a round one, of which the trace has 30 to 60")
	fs.Float64Var(&o.sample, "sample", 1, "`SHARE` of the blocks, at least a thousand, from which the curve of LRU is estimated; 1: all, and the curve is exact")
	registerBytes(fs, &o.bytes)
	o.output.register(fs, "print one JSON object a line, for each trace")
}

func (o *characterizeFlags) check() error {
	if err := o.output.check(); err != nil {
		return err
	}
	switch {
	case !(o.sample > 0 && o.sample <= 1):
		return fmt.Errorf("--sample %v: want a share above 0, up to 1", o.sample)
	case o.bytes < 1:
		return fmt.Errorf("--bytes-per-token %d: want 1 or more", o.bytes)
	}
	return o.Flags.Check()
}

func characterizeHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab characterize describes requests as the paper KVCache Cache in the Wild does (section 3):
how much a cache of prompt blocks can hit and whose blocks, what capacity that takes, when blocks
return, where in the prompts they are, how long they live, and who sends what.

  reprise-lab characterize --trace requests.jsonl
  reprise-lab characterize --trace requests.jsonl --format mooncake --html report.html
  reprise-lab characterize --trace generate:qwen-a --window 60s --json

Formats:
`+source.Help()+`
Flags:
`)
	cmdline.FlagHelp(w, fs, append(source.Names, "window", "sample", "bytes-per-token", "json", "html")...)
}

// run describes trace by trace, and prints what is complete, even if it ended early.
func (o *characterizeFlags) run(ctx context.Context, t cli.Terminal) error {
	traces, err := o.Open(ctx, t.Err)
	if err != nil {
		return err
	}
	settings := profile.Options{Window: time.Duration(o.window).Seconds(), Sample: o.sample, Seed: o.Seed}
	var profiles []*profile.Profile
	for _, trace := range traces {
		if ctx.Err() != nil {
			break
		}
		p, failed := profile.Of(trace, settings)
		if failed != nil {
			err = fmt.Errorf("characterize %s: %w", trace.Name, failed)
			break
		}
		profiles = append(profiles, p)
	}
	lines := func(w io.Writer) error { return cmdline.WriteLines(w, profiles) }
	return o.show(ctx, t, characterize.Page(profiles, o.bytes, o.command), lines, o.Command+": interrupted: the figures are of the traces that were complete", err)
}
