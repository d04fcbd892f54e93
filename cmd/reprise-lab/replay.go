package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/matching"
	"reprise/cmd/internal/replay"
	"reprise/policy/sim"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	replay.Flags
	matching matching.Flags
	html     string
	command  string // that makes the same report
}

func replayTraces(t cli.Terminal, args []string) error {
	o := &replayFlags{}
	fs := cli.NewFlagSet("reprise-lab replay")
	o.Register(fs)
	o.matching.Register(fs)
	registerHTML(fs, &o.html)
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { replayHelp(w, fs) }); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return cli.FlagError(fs, "%v", err)
	}
	o.command = commandOf(fs.Name(), fs, o.Traces)
	ctx, stop := cli.Interruptible()
	defer stop()
	return o.run(ctx, t)
}

func (o *replayFlags) check() error {
	if len(o.Traces) == 0 || o.html == "" {
		return errors.New("want --trace and --html; tables without a report are printed by `reprise replay`")
	}
	if err := o.Flags.Check(); err != nil {
		return err
	}
	return o.matching.Check()
}

func replayHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab replay plays traces through eviction policies, prints the tables of `+"`reprise replay`"+` and writes
them with plots as one HTML file that loads nothing.

  reprise-lab replay --trace requests.jsonl.gz --policy lru,sieve,rac,rac+ --capacity 2.5%,10% --html report.html

`+replay.Help+`
Flags:
`)
	cli.FlagHelp(w, fs, "trace", "html", "format", "policy", "capacity", "seed", "warmup", "parallel")
	io.WriteString(w, "\nHits, topics and parents:\n")
	cli.FlagHelp(w, fs, matching.Names...)
}

func (o *replayFlags) run(ctx context.Context, t cli.Terminal) error {
	with, err := o.Options()
	if err != nil {
		return err
	}
	with.Policies = replay.WithBounds(with.Policies)
	traces, err := o.Open(ctx, t.Err)
	if err != nil {
		return err
	}
	html, err := openReport(o.html)
	if err != nil {
		return err
	}
	var all []sim.Result
	var notes []string
	err = o.Play(ctx, t, traces, with, o.matching.Prepare, func(p *replay.Played) error {
		all, notes = append(all, p.Results...), append(notes, p.Notes())
		return p.WriteTables(t.Out)
	})
	page := pageOf(all, o.command, notes...)
	return errors.Join(err, writeReport(html, &page))
}
