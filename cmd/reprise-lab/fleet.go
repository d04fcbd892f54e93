package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/fleet"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/internal/suggest"
)

// fleetFlags are the flags of fleet.
type fleetFlags struct {
	fleet.Study
	traces          []string
	engines         int
	engine          fleet.Engine
	choosers, loads string
	speed, size     float64 // of the last engine
	copies          int
	limit           int
	output
}

// The most that the flags allow, because a typing error could take all memory or days.
const (
	maxEngines = 64
	maxCopies  = 10_000
)

func runFleet(t cli.Terminal, args []string) error {
	o := &fleetFlags{}
	fs := cli.NewFlagSet("reprise-lab fleet")
	o.register(fs)
	return o.start(t, fs, args, fleetHelp, o.check, func(ctx context.Context, t cli.Terminal) error {
		o.command = commandOf(fs.Name(), fs, o.traces)
		return o.run(ctx, t)
	})
}

func (o *fleetFlags) register(fs *flag.FlagSet) {
	o.engine = fleet.Default()
	fs.Func("trace", "`FILE[,FILE…]` to play, or "+fleet.LoadName+"[:key=value,…]; may be given several times", func(v string) error {
		o.traces = append(o.traces, replay.SplitTraces(v)...)
		return nil
	})
	fs.StringVar(&o.choosers, "choose", "all", "`LIST` of choosers, or all: "+strings.Join(fleet.Choosers(), ", "))
	fs.IntVar(&o.engines, "engines", 4, "`N` engines")
	fs.IntVar(&o.engine.Tokens, "kv", o.engine.Tokens, "`N` tokens that the KV cache of an engine holds")
	fs.IntVar(&o.Block, "block", 0, "`N` tokens of an engine's block; 0: 16, or 64 for traces that distinguish nothing finer")
	fs.IntVar(&o.engine.Queue, "queue", 0, "`N` requests wait in an engine at most, and it refuses more; 0: no limit")
	fs.Float64Var(&o.speed, "last-speed", 1, "`FACTOR` of the speed of the last engine")
	fs.Float64Var(&o.size, "last-kv", 1, "`FACTOR` of the KV cache of the last engine")
	fs.StringVar(&o.loads, "load", "0.5,0.8,1", "`LIST` of rates of requests as shares of the fleet's capacity, which is measured first")
	fs.Float64Var(&o.Rate, "rate", 0, "`N` requests a second instead of --load")
	fs.Float64Var(&o.MaxPause, "pause", 30, "`SECONDS` between the requests of a session at most")
	fs.IntVar(&o.copies, "copies", 1, "`N` copies of each session, as of other users of the same application")
	fs.IntVar(&o.limit, "requests", 0, "play the first `N` requests of a trace and the rest of the sessions that they begin; 0: all")
	fs.IntVar(&o.Proxies, "proxies", 1, "`N` proxies that share the requests and nothing else; with 1, prefix is played with 2 as well")
	fs.IntVar(&o.Leaders, "leaders", 0, "`N` tokens of a prefix from which on a request waits for another one that prefills it; 0: none waits")
	fs.BoolVar(&o.Compare, "responses", false, "add a table of what a response cache in front saves")
	fs.Uint64Var(&o.Seed, "seed", 1, "`N` is the first seed of arrivals, generated traces and choosers")
	fs.IntVar(&o.Seeds, "seeds", 1, "`N` plays of each, whose figures are averaged")
	fs.IntVar(&o.Parallel, "parallel", 0, "`N` plays at a time, 0 is one for each processor; the figures do not depend on it")
	o.output.register(fs, "print one JSON object a line, for each chooser at each load")
}

func (o *fleetFlags) check() error {
	if len(o.traces) == 0 {
		return errors.New("want --trace: a file, or " + fleet.LoadName)
	}
	if err := o.output.check(); err != nil {
		return err
	}
	for _, n := range []struct {
		name               string
		value, least, most int
	}{
		{"engines", o.engines, 1, maxEngines}, {"kv", o.engine.Tokens, 1024, 1 << 30}, {"queue", o.engine.Queue, 0, 1 << 30},
		{"copies", o.copies, 1, maxCopies}, {"requests", o.limit, 0, 1 << 30}, {"proxies", o.Proxies, 1, maxEngines},
		{"leaders", o.Leaders, 0, 1 << 30}, {"seeds", o.Seeds, 1, maxSeeds}, {"parallel", o.Parallel, 0, 1 << 10},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("--%s %d: want %d to %d", n.name, n.value, n.least, n.most)
		}
	}
	if o.Block != 0 && (o.Block < 16 || o.Block > 512 || o.Block&(o.Block-1) != 0) {
		return fmt.Errorf("--block %d: want 0, 16, 32, 64, 128, 256 or 512", o.Block)
	}
	if !(o.speed >= 0.01 && o.speed <= 100 && o.size >= 0.01 && o.size <= 100) {
		return errors.New("--last-speed and --last-kv are factors from 0.01 to 100")
	}
	if !(o.MaxPause >= 0) || !(o.Rate >= 0) {
		return errors.New("--pause and --rate are 0 or more")
	}
	return errors.Join(o.parseChoosers(), o.parseLoads())
}

func (o *fleetFlags) parseChoosers() error {
	known := fleet.Choosers()
	if o.choosers == "all" {
		o.Choosers = known
		return nil
	}
	for name := range strings.SplitSeq(o.choosers, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return fmt.Errorf("chooser %q: want all or some of %s%s", name, strings.Join(known, ", "), suggest.DidYouMean(name, known))
		}
		if !slices.Contains(o.Choosers, name) {
			o.Choosers = append(o.Choosers, name)
		}
	}
	return nil
}

func (o *fleetFlags) parseLoads() error {
	if o.Rate > 0 {
		return nil
	}
	for text := range strings.SplitSeq(o.loads, ",") {
		load, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(load >= 0.01 && load <= 100) {
			return fmt.Errorf("--load %s: want shares of the capacity from 0.01 to 100, as in 0.5,0.8,1", text)
		}
		o.Loads = append(o.Loads, load)
	}
	return nil
}

func fleetHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab fleet plays traces through the choice of a replica and engines in simulated time: which share of the
prompts' tokens the engines had in their KV caches, the time to first token (TTFT), and how even their work was.

  reprise-lab fleet --engines 4 --choose all --trace mooncake_conversation.jsonl.gz
  reprise-lab fleet --trace `+fleet.LoadName+`:tenants=40,system=8000 --choose prefix,least-loaded,oracle --load 0.9
  reprise-lab fleet --trace calls.jsonl.gz --copies 20 --engines 2 --responses --html report.html

An engine is a model of vLLM with a prefix cache, chunked prefill and continuous batching, about as fast as one GPU of 80 GB
with a model of eight billion parameters. The chooser `+fleet.Oracle+` has the rule of prefix and sees the engines' true caches and queues.
A load of 1 is the highest rate at which `+fleet.Oracle+` keeps the 90th percentile of TTFT below twice that of idle engines with empty caches.
Sessions begin at random times; a request follows the answer of the one before it, after the pause that the trace has. Requests
without sessions keep their pattern in time, stretched to the rate. The first and the last tenth of the requests are not counted.

Formats of a trace, which is detected, packed with gzip, zstd or not:
`+fleet.Formats+`
Parameters of `+fleet.LoadName+`: `+fleet.LoadHelp()+`

Flags:
`)
	cmdline.FlagHelp(w, fs, "trace", "engines", "choose", "load", "rate", "kv", "block", "queue", "last-speed", "last-kv", "pause", "copies",
		"requests", "proxies", "leaders", "responses", "seed", "seeds", "parallel", "json", "html")
}

// run plays the traces and prints what is complete, even if it ended early.
func (o *fleetFlags) run(ctx context.Context, t cli.Terminal) error {
	o.Engines = o.fleet()
	traces, err := o.open()
	if err != nil {
		return err
	}
	shown := studyProgress(t)
	page := o.page()
	var all []fleet.Result
	for _, one := range traces {
		s := o.Study
		s.Block = one.Block(o.Block)
		s.OnProgress = func(done, total int) { shown(one.Name, done, total) }
		var played *fleet.Played
		if played, err = s.Run(ctx, one); err != nil {
			break
		}
		all = append(all, played.Results...)
		page.Sections = append(page.Sections, fleetSection(played))
	}
	lines := func(w io.Writer) error { return cmdline.WriteLines(w, all) }
	return o.show(ctx, t, page, lines, "reprise-lab fleet: interrupted: the figures are of the traces that were complete", err)
}

// fleet is the engines.
func (o *fleetFlags) fleet() []fleet.Engine {
	engines := slices.Repeat([]fleet.Engine{o.engine}, o.engines)
	last := &engines[len(engines)-1]
	*last = last.Scaled(o.speed)
	last.Tokens = int(float64(last.Tokens) * o.size)
	return engines
}

// open opens or generates all traces, so that a wrong name is found before the first one is played.
func (o *fleetFlags) open() (all []*fleet.Trace, err error) {
	for _, name := range o.traces {
		var one *fleet.Trace
		if strings.HasPrefix(name, "generate:") {
			if one, err = fleet.Generate(name, o.Seed); err != nil {
				return nil, cli.Usage("reprise-lab fleet", "`reprise-lab fleet --help` has the parameters.", "%v", err)
			}
		} else if one, err = fleet.Open(name); err != nil {
			return nil, err
		}
		if one, err = one.Copies(o.copies); err != nil {
			return nil, cli.Usage("reprise-lab fleet", "", "--copies: %v", err)
		}
		all = append(all, one.First(o.limit))
	}
	return all, nil
}
