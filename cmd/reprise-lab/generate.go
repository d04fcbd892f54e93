package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/source"
	"reprise/cmd/reprise-lab/sim/blocks"
	blockfiles "reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	source.Flags
	list bool
	json bool
	out  string
}

func runGenerate(t cli.Terminal, args []string) error {
	o := &generateFlags{}
	fs := cli.NewFlagSet("reprise-lab generate")
	o.register(fs)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.Traces, args = []string{"generate:" + args[0]}, args[1:]
	}
	return new(output).start(t, fs, args, generateHelp, o.check, o.run)
}

func (o *generateFlags) register(fs *flag.FlagSet) {
	o.Flags.Register(fs)
	fs.BoolVar(&o.list, "list", false, "list the generators and their parameters")
	fs.BoolVar(&o.json, "json", false, "print the figures as one JSON object a line")
	fs.StringVar(&o.out, "out", "", "write the trace to `FILE` in the format blocks, packed if its name ends in .gz; one that exists is replaced when the new one is complete")
}

func (o *generateFlags) check() error {
	switch {
	case o.list == (len(o.Traces) > 0):
		return errors.New("want the name of a generator first, --trace, or --list")
	case o.list:
		return nil
	case o.out != "" && len(o.Traces) > 1 && !o.Mix:
		return errors.New("--out takes one trace: want --mix, which makes one of all")
	}
	return o.Flags.Check()
}

func generateHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab generate makes a trace of prompts as chains of KV blocks: from a seed, or from other traces that it
scales, mixes or cuts into other blocks. It prints the figures that a generator is calibrated to, published ones
beside those of the trace.

  reprise-lab generate --list
  reprise-lab generate qwen-a
  reprise-lab generate qwen-b:requests=50000 --seed 7 --scale 0.5 --out b.jsonl.gz
  reprise-lab generate --mix --block-size 512 --trace mooncake_conversation.jsonl.gz,generate:qwen-a --out mix.jsonl.gz

The commands replay, characterize and study play such files. Formats that are read:
`+source.Help()+`
Flags:
`)
	cmdline.FlagHelp(w, fs, append(append([]string{"list"}, source.Names...), "json", "out")...)
}

func listGenerators(w io.Writer) {
	l := cmdline.NewListing(w)
	io.WriteString(w, "Generators of block traces; all take seed=N:\n\n")
	for _, g := range generate.List() {
		l.Item(g.Name, g.Says, replay.Params(g.Params))
	}
}

// run makes the traces, writes the one of --out, and prints the figures of all.
func (o *generateFlags) run(ctx context.Context, t cli.Terminal) error {
	if o.list {
		out := bufio.NewWriter(t.Out)
		listGenerators(out)
		return out.Flush()
	}
	var out *outFile
	if o.out != "" {
		made, err := createOut("trace", o.out)
		if err != nil {
			return err
		}
		out = made
		defer out.discard()
	}
	traces, err := o.Open(ctx, t.Err)
	if err != nil {
		return err
	}
	if out != nil {
		packed := strings.HasSuffix(o.out, ".gz")
		if err := out.commit(func(w io.Writer) error { return writeTrace(w, traces[0], packed) }); err != nil {
			return err
		}
	}
	for _, one := range traces {
		if err := o.describe(t.Out, one); err != nil {
			return err
		}
	}
	return nil
}

func writeTrace(w io.Writer, t *blocks.Trace, packed bool) error {
	buffered := bufio.NewWriter(w)
	if !packed {
		return errors.Join(blockfiles.Write(buffered, t), buffered.Flush())
	}
	z := gzip.NewWriter(buffered)
	return errors.Join(blockfiles.Write(z, t), z.Close(), buffered.Flush())
}

// describe prints a trace and its figures.
func (o *generateFlags) describe(w io.Writer, all *blocks.Trace) error {
	name, _, _ := strings.Cut(all.Name, ":")
	var figures []generate.Figure
	if target, ok := generate.Published(name); ok && all.Generated {
		figures = generate.Calibration(all, target)
	}
	if o.json {
		return cmdline.WriteLines(w, figureLines(all, figures))
	}
	out := bufio.NewWriter(w)
	last := all.Requests[len(all.Requests)-1].At
	fmt.Fprintf(out, "%s: %s in %.0f s\n", nameOfTrace(all), cli.Fold(aboutTrace(all), 0, 100), last-all.Requests[0].At)
	if len(figures) > 0 {
		fmt.Fprintf(out, "\n%-36s %10s %10s\n", "", "published", "here")
	}
	for _, f := range figures {
		note := ""
		if f.Shown {
			note = "  shown, not demanded"
		}
		if math.IsNaN(f.Measured) {
			fmt.Fprintf(out, "%-36s %10s %10s%s\n", f.Name, figureText(f.Target), "–", note)
			continue
		}
		apart := math.Round(1000*(f.Measured/f.Target-1))/10 + 0 // no -0
		fmt.Fprintf(out, "%-36s %10s %10s %+6.1f %%%s\n", f.Name, figureText(f.Target), figureText(f.Measured), apart, note)
	}
	return out.Flush()
}

// figureText is a number with four digits, or more before the point.
func figureText(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// figureLine is a line of --json.
type figureLine struct {
	Trace     string   `json:"trace"`
	Figure    string   `json:"figure"`
	Published float64  `json:"published"`
	Measured  *float64 `json:"measured"` // null: a short trace has nothing of it
	Shown     bool     `json:"not_demanded,omitempty"`
}

func figureLines(t *blocks.Trace, figures []generate.Figure) (all []figureLine) {
	for _, f := range figures {
		line := figureLine{Trace: t.Name, Figure: f.Name, Published: f.Target, Shown: f.Shown}
		if !math.IsNaN(f.Measured) {
			line.Measured = &f.Measured
		}
		all = append(all, line)
	}
	return all
}
