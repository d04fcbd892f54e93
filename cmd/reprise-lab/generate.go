package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/internal/suggest"
	"reprise/policy/sim/blocks"
	blockfiles "reprise/policy/sim/blocks/files"
	"reprise/policy/sim/blocks/generate"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	list  bool
	spec  string
	seed  uint64
	scale float64
	json  bool
	out   string
}

func runGenerate(t cli.Terminal, args []string) error {
	o := &generateFlags{}
	fs := cli.NewFlagSet("reprise-lab generate")
	o.register(fs)
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.spec, args = args[0], args[1:]
	}
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { generateHelp(w, fs) }); err != nil {
		return err
	}
	if o.list == (o.spec != "") {
		return cli.FlagError(fs, "want the name of a generator first, or --list")
	}
	if o.list {
		out := bufio.NewWriter(t.Out)
		listGenerators(out)
		return out.Flush()
	}
	all, err := o.trace(fs)
	if err != nil {
		return err
	}
	return o.write(t, all)
}

func (o *generateFlags) register(fs *flag.FlagSet) {
	fs.BoolVar(&o.list, "list", false, "list the generators and their parameters")
	fs.Uint64Var(&o.seed, "seed", 1, "`N` is the seed of the generator and of --scale")
	fs.Float64Var(&o.scale, "scale", 1, "`FACTOR` of the arrivals: sessions are left out or copied, and times are not stretched")
	fs.BoolVar(&o.json, "json", false, "print the figures as one JSON object a line")
	fs.StringVar(&o.out, "out", "", "write the trace to `FILE`, packed if its name ends in .gz")
}

func generateHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab generate makes a trace of prompts as chains of KV blocks, for replay --trace and other programs. It prints the figures that the
generator is calibrated to, published ones beside those of the trace.

  reprise-lab generate --list
  reprise-lab generate qwen-a
  reprise-lab generate qwen-b:requests=50000 --seed 7 --scale 0.5 --out b.jsonl.gz

Flags:
`)
	cli.FlagHelp(w, fs, "list", "seed", "scale", "json", "out")
}

func listGenerators(w io.Writer) {
	l := cli.NewListing(w)
	io.WriteString(w, "Generators of block traces; all take seed=N:\n\n")
	for _, g := range generate.List() {
		var params []cli.Param
		for _, x := range g.Params {
			params = append(params, cli.Param{Name: x.Name, Value: x.Default, Says: x.Says, Allowed: cli.Allowed(x.Choices, x.Min, x.Max)})
		}
		l.Item(g.Name, g.Says, params)
	}
}

// trace makes the trace.
func (o *generateFlags) trace(fs *flag.FlagSet) (*blocks.Trace, error) {
	all, err := generate.New(o.spec, o.seed)
	if err == nil && o.scale != 1 {
		all, err = generate.Scale(all, o.scale, o.seed)
	}
	if err == nil {
		return all, nil
	}
	meant := ""
	if errors.Is(err, generate.ErrUnknown) {
		var known []string
		for _, g := range generate.List() {
			known = append(known, g.Name)
		}
		name, _, _ := strings.Cut(o.spec, ":")
		meant = suggest.DidYouMean(name, known)
	}
	return nil, cli.Usage(fs.Name(), "`reprise-lab generate --list` lists them with their parameters.", "%v%s", err, meant)
}

// write writes the trace to --out and prints its figures.
func (o *generateFlags) write(t cli.Terminal, all *blocks.Trace) error {
	if o.out != "" {
		if err := writeTrace(o.out, all); err != nil {
			return fmt.Errorf("write %s: %w", o.out, err)
		}
	}
	name, _, _ := strings.Cut(o.spec, ":")
	var figures []generate.Figure
	if target, ok := generate.Published(name); ok {
		figures = generate.Calibration(all, target)
	}
	if o.json {
		out := json.NewEncoder(t.Out)
		for _, f := range figures {
			if err := out.Encode(figureLine{all.Name, f.Name, f.Target, f.Measured, f.Day}); err != nil {
				return err
			}
		}
		return nil
	}
	out := bufio.NewWriter(t.Out)
	last := all.Requests[len(all.Requests)-1].At
	fmt.Fprintf(out, "%s, generated: %s requests in %.0f s, %s blocks of %d tokens\n",
		all.Name, thousands(len(all.Requests)), last-all.Requests[0].At, thousands(all.Distinct), all.Tokens)
	if len(figures) > 0 {
		fmt.Fprintf(out, "\n%-36s %10s %10s\n", "", "published", "here")
	}
	for _, f := range figures {
		day := ""
		if f.Day {
			day = "  of a day, and no target"
		}
		apart := math.Round(1000*(f.Measured/f.Target-1))/10 + 0 // no -0
		fmt.Fprintf(out, "%-36s %10s %10s %+6.1f %%%s\n", f.Name, figureText(f.Target), figureText(f.Measured), apart, day)
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
	Trace     string  `json:"trace"`
	Figure    string  `json:"figure"`
	Published float64 `json:"published"`
	Measured  float64 `json:"measured"`
	Day       bool    `json:"of_a_day,omitempty"`
}

func writeTrace(path string, all *blocks.Trace) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var to io.WriteCloser = f
	if strings.HasSuffix(path, ".gz") {
		to = gzip.NewWriter(f)
	}
	err = blockfiles.Write(to, all)
	if to != f {
		err = errors.Join(err, to.Close())
	}
	return errors.Join(err, f.Close())
}
