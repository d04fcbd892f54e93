package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/cmd/reprise/internal/demo"
	"reprise/internal/traffic"
)

// demoFlags are the flags of the demo, without the settings.
type demoFlags struct {
	input       string
	exit, json  bool
	requests    int64
	concurrency int
	streamEvery int64
	seed        uint64
	priced      bool // by demo.Prices
}

// The built-in workload takes some ten seconds and is large enough that a small cache evicts.
const (
	demoRequests = 1500
	demoCapacity = "150"
	demoModel    = "gpt-4o-mini"
	// The speed of the engine for the built-in workload, in tokens per second: slow enough to show the savings of a cache, fast
	// enough to watch.
	demoPrefill, demoDecode = 10000, 360
)

func demonstrate(t cli.Terminal, args []string) error {
	o := demoFlags{}
	loader := config.NewLoader(true)
	loader.Override("STORE", "memory")
	loader.Override("LOG_LEVEL", "error")
	fs := cli.NewFlagSet("reprise demo")
	loader.Register(fs)
	o.register(fs)
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { demoHelp(w, fs, loader) }); err != nil {
		return err
	}
	if loader.HelpAll {
		demoHelp(t.Out, fs, loader)
		return flag.ErrHelp
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.input == "" {
		loader.Override("CAPACITY_ENTRIES", demoCapacity)
		loader.Override("LOG_PROMPTS", "true") // they are the demo's own
	}
	cfg, err := loader.Load(withoutStore(t.Environ))
	if err != nil {
		return err
	}
	cfg.Explain = o.input == "" && cfg.LogPrompts
	if o.input == "" && cfg.Prices == nil {
		if cfg.Prices, err = demo.Prices(); err != nil {
			return err
		}
		o.priced = true
	}
	if cfg.Store.Shared() != "" {
		return config.Bad("--store: the demo makes up its answers, and would share them with a proxy; allowed is memory or file:PATH")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runDemo(ctx, t, cfg, o)
}

func (o *demoFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&o.input, "input", "", "play `FILE` instead of the built-in workload (- is the standard input)")
	fs.BoolVar(&o.exit, "exit", false, "end after the summary")
	fs.BoolVar(&o.json, "json", false, "print the summary as one JSON object, and end")
	fs.Int64Var(&o.requests, "requests", 0, "end after `N` requests; 0 is the whole file, or the length of the built-in workload")
	fs.IntVar(&o.concurrency, "concurrency", 8, "`N` conversations at once")
	fs.Int64Var(&o.streamEvery, "stream-every", 7, "every `N`th request asks for a stream; 0 is none")
	fs.Uint64Var(&o.seed, "seed", 1, "`N` is the seed of the built-in workload")
	fs.Func("capacity", "`N` entries, as with --capacity-entries; default for the built-in workload: "+demoCapacity, func(v string) error { return fs.Set("capacity-entries", v) })
}

func (o *demoFlags) check() error {
	switch {
	case o.requests < 0, o.streamEvery < 0:
		return &cli.UsageError{Text: "reprise demo: --requests and --stream-every are 0 or more"}
	case o.concurrency < 1 || o.concurrency > 1000:
		return &cli.UsageError{Text: "reprise demo: --concurrency is from 1 to 1000"}
	}
	if o.input == "" && o.requests == 0 {
		o.requests = demoRequests
	}
	return nil
}

func demoHelp(w io.Writer, fs *flag.FlagSet, l *config.Loader) {
	io.WriteString(w, `reprise demo runs the proxy in front of two built-in engines and plays a workload through it.

  reprise demo
  reprise demo --policy lru --capacity 50
  reprise demo --input conversations.jsonl.gz --exit

A file for --input holds, one JSON value a line or as one JSON array, packed with gzip, zstd or not: chat request
bodies, or records of OASST1, SGD or ShareGPT, of which the user's turns are played and answered by the engine.
With --input the engines do not wait; the reported upstream time is the time that they would have taken.

With the built-in workload the operators' page and explain show prompts, which are the demo's own (--log-prompts=false:
they do not), and money by the prices of the models that the workload asks for, unless --prices
has others.

Flags:
`)
	for _, name := range []string{"input", "exit", "json", "requests", "concurrency", "stream-every", "seed", "capacity"} {
		f := fs.Lookup(name)
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  --%-18s %s", name+" "+value, usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			fmt.Fprintf(w, " (default %s)", f.DefValue)
		}
		io.WriteString(w, "\n")
	}
	io.WriteString(w, "\nSettings of the proxy, as flags or from the environment, as with serve:\n")
	l.Help(w)
}

func runDemo(ctx context.Context, t cli.Terminal, cfg *config.Config, o demoFlags) (err error) {
	next, reader, err := o.workload()
	if err != nil {
		return err
	}
	if reader != nil {
		defer reader.Close()
	}
	s, err := newStage(ctx, t, cfg, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	played := s.play(ctx, next, reader)
	if err := s.report(reader); err != nil {
		return err
	}
	switch {
	case played != nil && ctx.Err() != nil:
		return cli.ErrInterrupted
	case played != nil || o.exit || o.json:
		return played
	}
	if err := s.invite(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// workload returns the conversations of the file and its reader, or the built-in ones and nil.
func (o *demoFlags) workload() (next func() (demo.Conversation, error), r *traffic.ConversationReader, err error) {
	if o.input == "" {
		return demo.NewWorkload(o.seed).Next, nil, nil
	}
	if r, err = traffic.OpenConversations(o.input); err != nil {
		return nil, nil, err
	}
	return demo.Recorded(r.Next), r, nil
}

// withoutStore removes REPRISE_STORE, so that simulated answers are not written to the file of a proxy that is configured by
// the same environment. The flag --store still works.
func withoutStore(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, config.Prefix+"STORE=") })
}
