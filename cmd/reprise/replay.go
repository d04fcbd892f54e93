package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/matching"
	"reprise/cmd/internal/replay"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	replay.Flags
	matching      matching.Flags
	json, list    bool
	generate, out string
}

func replayTraces(t cli.Terminal, args []string) error {
	o, err := parseReplay(t, args)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible()
	defer stop()
	return o.run(ctx, t)
}

func parseReplay(t cli.Terminal, args []string) (*replayFlags, error) {
	o, moved := &replayFlags{}, &movedFlags{}
	fs := cli.NewFlagSet("reprise replay")
	o.register(fs)
	moved.register(fs)
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { replayHelp(w, fs) }); err != nil {
		return nil, err
	}
	if err := moved.check(fs, o.Traces); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, cli.FlagError(fs, "%v", err)
	}
	return o, nil
}

func (o *replayFlags) register(fs *flag.FlagSet) {
	o.Flags.Register(fs)
	o.matching.Register(fs)
	fs.BoolVar(&o.json, "json", false, "print one JSON object a line, for each policy at each capacity")
	fs.BoolVar(&o.list, "list", false, "print all policies, bounds and workloads, with their parameters and defaults")
	fs.StringVar(&o.generate, "generate", "", "write the workload `NAME` or NAME:key=value,… as a request log")
	fs.StringVar(&o.out, "out", "", "write the workload of --generate to `FILE`, packed if its name ends in .gz; unset: to the standard output")
}

func (o *replayFlags) check() error {
	tasks := 0
	for _, asked := range []bool{o.list, o.generate != "", len(o.Traces) > 0} {
		if asked {
			tasks++
		}
	}
	switch {
	case tasks != 1:
		return errors.New("want exactly one of --trace, --list and --generate")
	case o.out != "" && o.generate == "":
		return errors.New("--out goes with --generate")
	}
	if err := o.Flags.Check(); err != nil {
		return err
	}
	return o.matching.Check()
}

func replayHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise replay plays traces, which are lists of past or made-up requests, through eviction policies. It
shows how often each policy hits at which capacity, and how far that is from the optimum.

  reprise replay --trace requests.jsonl.gz --policy lru,sieve,rac,rac+ --capacity 2.5%,10%
  reprise replay --trace generate:syn:long=0.7 --json
  reprise replay --generate drift --seed 3 --out drift.jsonl.gz
  reprise replay --list

`+replay.Help+`Reports with plots, and studies over many traces, are made by another program: reprise-lab help.

Flags:
`)
	cli.FlagHelp(w, fs, "trace", "format", "policy", "capacity", "seed", "warmup", "windows", "parallel", "json", "list", "generate", "out")
	io.WriteString(w, "\nHits, topics and parents:\n")
	cli.FlagHelp(w, fs, matching.Names...)
}

func (o *replayFlags) run(ctx context.Context, t cli.Terminal) error {
	switch {
	case o.list:
		out := bufio.NewWriter(t.Out)
		writeList(out)
		return out.Flush()
	case o.generate != "":
		return o.writeLog(ctx, t)
	}
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
	return o.Play(ctx, t, traces, with, o.matching.Prepare, func(p *replay.Played) error { return o.show(t, p) })
}

// show prints the results of a trace.
func (o *replayFlags) show(t cli.Terminal, p *replay.Played) error {
	if !o.json {
		return p.WriteTables(t.Out)
	}
	if p.Prepared.Model != nil {
		fmt.Fprintln(t.Err, p.Prepared.Note)
	}
	return cli.WriteLines(t.Out, p.Results)
}

// movedFlags are the flags of reprise-lab that replay once had. Their error names the command to run instead.
type movedFlags struct{ suite, seeds, data, html string }

func (m *movedFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&m.suite, "suite", "", "")
	fs.StringVar(&m.seeds, "seeds", "", "")
	fs.StringVar(&m.data, "data", "", "")
	fs.StringVar(&m.html, "html", "", "")
}

// check returns an error if one of the flags is set.
func (m *movedFlags) check(fs *flag.FlagSet, traces []string) error {
	for _, name := range []string{"suite", "seeds", "data", "html"} {
		if !cli.SetFlags(fs)[name] {
			continue
		}
		command := "reprise-lab replay"
		if name != "html" {
			command = "reprise-lab study " + cmp.Or(m.suite, "NAME")
		}
		run := cli.CommandLine(command, fs, func(f *flag.Flag) []string {
			switch {
			case f.Name == "suite", f.Name == "json" && name == "html":
				return nil
			case f.Name == "trace":
				return traces
			}
			return []string{f.Value.String()}
		})
		return cli.Usage(fs.Name(), "", "studies and reports are made by another program; instead of --%s, run\n  %s", name, run)
	}
	return nil
}
