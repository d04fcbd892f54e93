package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"reprise/cmd/reprise/internal/replay"
	"reprise/cmd/reprise/internal/report"
	"reprise/policy/sim"
	"reprise/policy/sim/trace"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	traces             []string
	format             string
	policies, capacity string
	seed               uint64
	warmup, parallel   int
	json               bool
	html               string
	list               bool
	generate, out      string
	suite              suiteFlags
	matching           replay.Matching
	command            string // that makes the same figures again
}

func replayTraces(t terminal, args []string) error {
	o := replayFlags{}
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	o.register(fs)
	if err := parseFlags(t, fs, args, func(w io.Writer) { replayHelp(w, fs) }); err != nil {
		return err
	}
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if err := o.check(set); err != nil {
		return err
	}
	if o.suite.name != "" && !set["seed"] {
		o.seed = suiteSeed
	}
	o.command = commandOf(fs, o.traces)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	return o.run(ctx, t)
}

func (o *replayFlags) register(fs *flag.FlagSet) {
	fs.Func("trace", "`FILE[,FILE…]` to play, or generate:NAME[:key=value,…] for a workload of --list; may be given several times", func(v string) error {
		o.traces = append(o.traces, replay.Split(v)...)
		return nil
	})
	fs.StringVar(&o.format, "format", string(trace.Auto), "`NAME` of the files' format: "+strings.Join(replay.Formats(), ", "))
	fs.StringVar(&o.policies, "policy", "all", "`LIST` of policies, each with parameters if need be: lru,rac:alpha=1/C,lambda=2")
	fs.StringVar(&o.capacity, "capacity", "2.5%,10%,20%", "`LIST` of shares of the distinct requests, entries (100) and bytes (64MiB)")
	fs.Uint64Var(&o.seed, "seed", 1, "`N` that policies and workloads draw from")
	fs.IntVar(&o.warmup, "warmup", 0, "the first `N` requests of each trace are played and not counted")
	fs.IntVar(&o.parallel, "parallel", 0, "`N` policies at a time, 0 is one for each processor; the figures do not depend on it")
	fs.BoolVar(&o.json, "json", false, "print one JSON object a line, for each policy at each capacity")
	fs.StringVar(&o.html, "html", "", "write a report to `FILE`")
	o.suite.register(fs)
	fs.BoolVar(&o.list, "list", false, "print all policies, bounds and workloads, with their parameters and defaults")
	fs.StringVar(&o.generate, "generate", "", "write the workload `NAME` or NAME:key=value,… as a request log")
	o.registerMatching(fs)
	fs.StringVar(&o.out, "out", "", "write what --generate makes to `FILE`, packed where that ends in .gz; unset: to the standard output")
}

func (o *replayFlags) check(set map[string]bool) error {
	wrong := func(format string, args ...any) error {
		return &usageError{"reprise replay: " + fmt.Sprintf(format, args...) + "\n`reprise replay --help` lists the flags."}
	}
	tasks := 0
	for _, asked := range []bool{o.list, o.generate != "", o.suite.name != "" || len(o.traces) > 0} {
		if asked {
			tasks++
		}
	}
	switch {
	case tasks != 1:
		return wrong("want exactly one of --trace, --suite, --list and --generate")
	case o.json && o.html != "":
		return wrong("--json and --html are two forms of one result: want one of them")
	case o.out != "" && o.generate == "":
		return wrong("--out goes with --generate")
	case o.warmup < 0 || o.parallel < 0:
		return wrong("--warmup and --parallel are 0 or more")
	}
	if err := replay.CheckFormat(o.format); err != nil {
		return wrong("%v", err)
	}
	if err := o.suite.check(set); err != nil {
		return wrong("%v", err)
	}
	if err := o.matching.Check(); err != nil {
		return wrong("%v", err)
	}
	return nil
}

func replayHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise replay plays traces, which are lists of past or made-up requests, through eviction policies, and
tells which policy hits how often at which capacity, and how far that is from the optimum.

  reprise replay --trace requests.jsonl.gz --policy lru,sieve,rac,rac+ --capacity 2.5%,10%
  reprise replay --trace generate:syn:long=0.7 --json
  reprise replay --generate drift --seed 3 --out drift.jsonl.gz
  reprise replay --suite rac --html report.html
  reprise replay --list

A trace is what a workload of --list makes, or a file, packed with gzip, zstd or not, in one of these
formats:
  requests        a request log, as REPRISE_RECORD=FILE has the proxy write it: one JSON object a line,
                  with one of id, text and vector, and what is known of at (seconds), topic,
                  conversation, parent (an id), scope, turn, size (bytes) and cost (tokens)
  ids             one number or name a line
  csv             a table whose first row names columns as the fields of a request log; without that:
                  time, id, size
  oracle-general  libCacheSim's records of 24 bytes
  oasst, sgd, sharegpt
                  recorded conversations, in which each turn of a user is a request

A request is a hit when the answer to one of equal id and scope is in the cache (--model ids), or one of
like meaning, as the proxy has it (--model requests), which is what a trace is played by that has texts
or vectors and no ids. Topics can be given by the trace, routed as in the proxy, or clustered before.
The table shows beside the policies three bounds: belady, the optimum of a cache that keeps every new
answer, belady-bypass, that of one that may refuse it, and the infinite cache.
Ctrl-C prints what is done.

Flags:
`)
	flagHelp(w, fs, "trace", "format", "policy", "capacity", "seed", "warmup", "parallel", "json", "html", "suite", "seeds", "data", "list", "generate", "out")
	io.WriteString(w, "\nWhat is a hit, and what policies are told:\n")
	flagHelp(w, fs, "model", "topics", "parents", "hit", "route", "edge", "lookback", "guard")
}

// flagHelp writes what flags do in lines of at most 100 letters.
func flagHelp(w io.Writer, fs *flag.FlagSet, names ...string) {
	for _, name := range names {
		f := fs.Lookup(name)
		value, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(w, "  --%-20s %s\n", strings.TrimSpace(name+" "+value), report.Fold(usage, 25, 100))
	}
}

func (o *replayFlags) run(ctx context.Context, t terminal) error {
	switch {
	case o.list:
		out := bufio.NewWriter(t.out)
		replay.List(out)
		return out.Flush()
	case o.generate != "":
		return o.writeLog(ctx, t)
	case o.suite.name != "":
		return o.playSuite(ctx, t)
	}
	policies, err := replay.Policies(o.policies)
	if err != nil {
		return &usageError{"reprise replay: " + err.Error() + "\n`reprise replay --list` tells more."}
	}
	capacities, err := replay.Capacities(o.capacity)
	if err != nil {
		return &usageError{"reprise replay: " + err.Error()}
	}
	if !o.json {
		policies = replay.WithBounds(policies)
	}
	traces, err := o.open(ctx, t)
	if err != nil {
		return err
	}
	return o.playAll(ctx, t, traces, sim.Options{Policies: policies, Capacities: capacities, Seed: o.seed, Warmup: o.warmup, Parallel: o.parallel})
}

// open opens all traces before the first is played, which may take long.
func (o *replayFlags) open(ctx context.Context, t terminal) (all []sim.Trace, err error) {
	for _, name := range o.traces {
		one, err := unlessInterrupted(ctx, t, func() (sim.Trace, error) { return replay.Open(name, o.format, o.seed) })
		if err != nil && strings.HasPrefix(name, replay.Generated) && !errors.Is(err, errInterrupted) {
			return nil, &usageError{"reprise replay: " + err.Error() + "\n`reprise replay --list` tells more."}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// playAll plays the traces one after the other, and shows of each what is done even where it ends early.
func (o *replayFlags) playAll(ctx context.Context, t terminal, traces []sim.Trace, with sim.Options) error {
	html, err := reportFile(o.html)
	if err != nil {
		return err
	}
	progress := replay.Progress{Out: t.err, Live: isTerminal(t.err)}
	with.Progress = progress.Note
	var all []sim.Result
	var notes []string
	var failed error
	for _, one := range traces {
		progress.Note(0, 0)
		hide := progress.Show(one.Name())
		results, played, err := o.replay(ctx, one, with)
		hide()
		if all = append(all, results...); len(results) > 0 {
			notes = append(notes, played.Notes(results))
		}
		if err == nil && results[0].Requests == 0 {
			err = fmt.Errorf("replay %s: no requests after a warm-up of %d", one.Name(), o.warmup)
		}
		err = errors.Join(err, o.show(t, one, played, results))
		if ctx.Err() != nil {
			failed = o.interrupted(t, results)
			break
		}
		failed = errors.Join(failed, err)
	}
	if html != nil {
		page := replay.Page(all, o.command, notes...)
		failed = errors.Join(failed, writeReport(html, &page))
	}
	return failed
}

// show prints the results of a trace.
func (o *replayFlags) show(t terminal, one sim.Trace, played *replay.Prepared, results []sim.Result) error {
	if skipping, ok := one.(interface{ Skipped() (int, error) }); ok {
		if n, first := skipping.Skipped(); n > 0 {
			fmt.Fprintf(t.err, "%d records were left out; the first: %v\n", n, first)
		}
	}
	if len(results) == 0 || results[0].Requests == 0 {
		return nil // nothing was played but for the warm-up
	}
	if o.json {
		if played.Model != nil {
			fmt.Fprintln(t.err, played.Note)
		}
		return writeLines(t.out, results)
	}
	out := bufio.NewWriter(t.out)
	fmt.Fprintf(out, "%s\n\n", played.Note)
	replay.Tables(out, results)
	io.WriteString(out, played.Legend(results))
	return out.Flush()
}

func (o *replayFlags) interrupted(t terminal, results []sim.Result) error {
	what := "nothing of the trace was played yet"
	if len(results) > 0 {
		what = fmt.Sprintf("the last figures are of the first %d requests", results[0].Requests+int64(o.warmup))
	}
	fmt.Fprintln(t.err, "reprise replay: interrupted:", what)
	return errInterrupted
}
