package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/matching"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/sim"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	replay.Flags
	matching matching.Flags
	blocks   blockFlags // of block traces
	output

	list          bool
	generate, out string
}

func replayTraces(t cli.Terminal, args []string) error {
	o := &replayFlags{}
	fs := cli.NewFlagSet("reprise-lab replay")
	o.register(fs)
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { replayHelp(w, fs) }); err != nil {
		return err
	}
	play, err := o.choose(cmdline.SetFlags(fs))
	if usage := (*cli.UsageError)(nil); err != nil && !errors.As(err, &usage) {
		return cli.FlagError(fs, "%v", err)
	} else if err != nil {
		return err
	}
	o.command = commandOf(fs.Name(), fs, o.Traces)
	ctx, stop := cli.Interruptible()
	defer stop()
	return play(ctx, t)
}

func (o *replayFlags) register(fs *flag.FlagSet) {
	o.Flags.Register(fs)
	o.matching.Register(fs)
	o.blocks.register(fs)
	o.output.register(fs, "print one JSON object a line, for each policy at each capacity")
	fs.BoolVar(&o.list, "list", false, "print all policies, bounds and workloads of requests, with their parameters and defaults")
	fs.StringVar(&o.generate, "generate", "", "write the workload `NAME` or NAME:key=value,… as a request log")
	fs.StringVar(&o.out, "out", "", "write the workload of --generate to `FILE`, packed if its name ends in .gz; unset: to the standard output")
	fs.Lookup("format").Usage = "`NAME` is the format of the files: " + strings.Join(allFormats(), ", ")
	fs.Lookup("policy").Usage += "; for block traces without it: " + strings.Join(blockPolicies(false), ",")
	fs.Lookup("capacity").Usage = "`LIST` of shares of the distinct requests or blocks (5%), numbers of them (2000) or bytes (64MiB), and for block traces of tokens " +
		"(64000tokens); for block traces without it: " + blockCapacities
}

// choose checks the flags and returns what plays the traces: as blocks or as requests.
func (o *replayFlags) choose(set map[string]bool) (play func(context.Context, cli.Terminal) error, err error) {
	tasks := 0
	for _, asked := range []bool{o.list, o.generate != "", len(o.Traces) > 0} {
		if asked {
			tasks++
		}
	}
	switch {
	case tasks != 1:
		return nil, errors.New("want exactly one of --trace, --list and --generate")
	case o.out != "" && o.generate == "":
		return nil, errors.New("--out goes with --generate")
	case o.output.check() != nil:
		return nil, o.output.check()
	case o.list:
		return writeList, nil
	case o.generate != "":
		return o.writeLog, nil
	}
	ofBlocks, err := o.ofBlocks()
	if err != nil {
		return nil, err
	}
	if ofBlocks {
		return o.runBlocks, o.checkBlocks(set)
	}
	for _, name := range blockNames {
		if set[name] {
			return nil, fmt.Errorf("--%s goes with traces of KV blocks: these are requests", name)
		}
	}
	return o.run, errors.Join(o.Flags.Check(), o.matching.Check())
}

func replayHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab replay plays traces through eviction policies: requests through a cache of answers, or
chains of KV blocks through the prefix cache of an inference engine. It shows how often each policy hits at
which capacity, and how far that is from the optimum, as tables or JSON, or writes the tables with plots as
one HTML file that loads nothing.

  reprise-lab replay --trace requests.jsonl.gz --policy lru,sieve,rac,rac+ --capacity 2.5%,10% --html report.html
  reprise-lab replay --trace mooncake_conversation.jsonl.gz --policy lru,s3fifo,wa --capacity 1%,10%,40GiB
  reprise-lab replay --trace generate:qwen-a --prefill-tokens-per-second 8000 --servers 2 --html report.html
  reprise-lab replay --blocks --trace oasst1_en.jsonl.gz --think 60 --policy lru,lpc --capacity 64000tokens
  reprise-lab replay --mix --trace a.jsonl.gz,b.jsonl.gz,generate:qwen-b --block-size 16 --json
  reprise-lab replay --generate drift --seed 3 --out drift.jsonl.gz
  reprise-lab replay --list

`+replay.Help+`
`+blocksHelp+`
Flags:
`)
	cmdline.FlagHelp(w, fs, "trace", "html", "json", "format", "policy", "capacity", "seed", "warmup", "windows", "parallel", "list", "generate", "out")
	io.WriteString(w, "\nHits, topics and parents of requests:\n")
	cmdline.FlagHelp(w, fs, matching.Names...)
	io.WriteString(w, "\nTraces of KV blocks:\n")
	cmdline.FlagHelp(w, fs, blockNames...)
}

// run plays requests.
func (o *replayFlags) run(ctx context.Context, t cli.Terminal) error {
	with, err := o.Options()
	if err != nil {
		return err
	}
	if !o.json {
		with.Policies = replay.WithBounds(with.Policies)
	}
	traces, err := o.Open(ctx, t.Err)
	if err != nil {
		return err
	}
	traces = o.matching.BesideTemplates(traces)
	html, err := openReport(o.html)
	if err != nil {
		return err
	}
	defer html.discard()
	var all []sim.Result
	var notes []string
	err = o.Play(ctx, t, traces, with, o.matching.Prepare, func(p *replay.Played) error {
		all, notes = append(all, p.Results...), append(notes, p.Notes())
		if o.json {
			if p.Prepared.Model != nil {
				fmt.Fprintln(t.Err, p.Prepared.Note)
			}
			return cmdline.WriteLines(t.Out, p.Results)
		}
		return p.WriteTables(t.Out)
	})
	if len(all) == 0 {
		return err
	}
	page := pageOf(all, o.command, notes...)
	return errors.Join(err, writeReport(html, &page))
}
