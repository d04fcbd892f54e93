// Package source opens the block traces of the laboratory's commands: of files and of generators, as they are, scaled or mixed.
package source

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
	"reprise/internal/suggest"
	"reprise/internal/traffic"
)

// generated is the prefix of a generated trace: "generate:NAME:key=value,…".
const generated = "generate:"

// Hint is the line after an error about a generator.
const Hint = "`reprise-lab generate --list` lists the generators and their parameters."

// Flags select block traces. A command registers them, checks them and opens the traces.
type Flags struct {
	Command string   // as the user types it, for messages
	Traces  []string // files, and generate:NAME:key=value,…
	Format  string   // of the files: one of package files
	Seed    uint64   // of generators, and of what a reader samples
	Shape

	// Model predicts, for formats with text, whether a conversation goes on; nil: none has a prediction. Of a file that it was trained with the
	// trace has only the conversations that were held out.
	Model *train.Predictor
}

// Shape is how a trace is cut, changed and put together.
type Shape struct {
	BlockSize int     // tokens of a block; 0: those of the file, or the reader's default
	Think     float64 // mean seconds between an answer and the next turn, where the format has no times; 0: the reader's default
	Scale     float64 // factor of the rate of arrivals
	Mix       bool    // interleave all traces into one
}

// Names are the flags that Register adds, in the order of the help.
var Names = slices.Concat([]string{"trace", "format"}, ShapeNames, []string{"seed"})

// ShapeNames are the flags of Shape.
var ShapeNames = []string{"block-size", "think", "scale", "mix"}

// Register adds all flags.
func (f *Flags) Register(fs *flag.FlagSet) {
	f.Command = fs.Name()
	fs.Func("trace", "`FILE[,FILE…]`, or generate:NAME[:key=value,…] for a generator of `reprise-lab generate --list`; may be given several times", func(v string) error {
		f.Traces = append(f.Traces, replay.SplitTraces(v)...)
		return nil
	})
	fs.StringVar(&f.Format, "format", string(files.Auto), "`NAME` is the format of the files: "+strings.Join(Formats(), ", "))
	fs.Uint64Var(&f.Seed, "seed", 1, "`N` is the seed of generators and of everything that is sampled")
	f.Shape.Register(fs)
}

// Register adds the flags of a shape.
func (s *Shape) Register(fs *flag.FlagSet) {
	fs.IntVar(&s.BlockSize, "block-size", 0, "`N` tokens of a block: blocks of another size are joined or parted; 0: those of the file, or 16 where it has text or lengths alone")
	fs.Float64Var(&s.Think, "think", 0, "`SECONDS` from an answer to the next turn on average, for conversations recorded without times; 0: 100")
	fs.Float64Var(&s.Scale, "scale", 1, "`FACTOR` of the rate of arrivals; the pattern over time stays")
	fs.BoolVar(&s.Mix, "mix", false, "interleave all traces into one, by time")
}

// Formats lists the values of --format for block traces.
func Formats() []string {
	var all []string
	for _, f := range files.Formats() {
		all = append(all, string(f))
	}
	return all
}

// Check reports a wrong value.
func (f *Flags) Check() error {
	if len(f.Traces) == 0 {
		return errors.New("want --trace: a file, or generate:NAME")
	}
	if all := Formats(); !slices.Contains(all, f.Format) {
		return fmt.Errorf("format %q: want one of %s%s", f.Format, strings.Join(all, ", "), suggest.DidYouMean(f.Format, all))
	}
	return f.Shape.Check()
}

// Check reports a wrong value.
func (s *Shape) Check() error {
	switch {
	case s.BlockSize < 0:
		return fmt.Errorf("--block-size %d: want tokens above 0, or 0 for the default", s.BlockSize)
	case !(s.Think >= 0) || math.IsInf(s.Think, 0):
		return fmt.Errorf("--think %g: want seconds above 0, or 0 for the default", s.Think)
	case !(s.Scale >= 0.001 && s.Scale <= 1000):
		return fmt.Errorf("--scale %g: want a factor from 0.001 to 1000", s.Scale)
	}
	return (files.Options{Tokens: s.BlockSize, Think: s.Think}).Validate()
}

// Generator reports whether a trace is generate:NAME with the name of a generator of block traces.
func Generator(trace string) bool {
	spec, ok := strings.CutPrefix(trace, generated)
	name, _, _ := strings.Cut(spec, ":")
	return ok && slices.Contains(Generators(), name)
}

// Generators lists the names of generators of block traces.
func Generators() []string {
	var all []string
	for _, g := range generate.List() {
		all = append(all, g.Name)
	}
	return all
}

// Open reads or generates all traces, so that a wrong name is found before the first one is played. With Mix there is one.
func (f *Flags) Open(ctx context.Context, out io.Writer) (all []*blocks.Trace, err error) {
	for _, name := range f.Traces {
		one, err := replay.UnlessInterrupted(ctx, f.Command, out, func() (opened, error) { return f.open(name) })
		if err != nil {
			return nil, err
		}
		if one.predictions != "" {
			fmt.Fprintf(out, "%s: %s\n", one.trace.Name, one.predictions)
		}
		all = append(all, one.trace)
	}
	if !f.Mix || len(all) < 2 {
		return all, nil
	}
	mixed, err := generate.Mix("mix", all...)
	if err != nil {
		return nil, cli.Usage(f.Command, "", "--mix: %v", err)
	}
	return []*blocks.Trace{mixed}, nil
}

// opened is a trace, and which of its conversations have predictions.
type opened struct {
	trace       *blocks.Trace
	predictions string
}

func (f *Flags) open(name string) (o opened, err error) {
	if o, err = f.read(name); err != nil || f.Scale == 1 {
		return o, err
	}
	if o.trace, err = generate.Scale(o.trace, f.Scale, f.Seed); err != nil {
		return o, fmt.Errorf("--scale: %w", err)
	}
	return o, nil
}

func (f *Flags) read(name string) (o opened, err error) {
	if spec, ok := strings.CutPrefix(name, generated); ok {
		o.trace, err = f.generate(spec)
		return o, err
	}
	with := files.Options{Tokens: f.BlockSize, Think: f.Think, Seed: f.Seed}
	if f.Model != nil {
		o, err = predicted(name, files.Format(f.Format), with, f.Model)
	} else {
		o.trace, err = files.Open(name, files.Format(f.Format), with)
	}
	if errors.Is(err, traffic.ErrFormat) && f.Format == string(files.Auto) {
		err = fmt.Errorf("%w; `%s --help` has their fields", err, f.Command)
	}
	return o, err
}

func (f *Flags) generate(spec string) (*blocks.Trace, error) {
	t, err := generate.New(spec, f.Seed)
	if err == nil && f.BlockSize != 0 {
		t, err = files.Recut(t, f.BlockSize)
	}
	if err == nil {
		return t, nil
	}
	meant := ""
	if errors.Is(err, generate.ErrUnknown) {
		name, _, _ := strings.Cut(spec, ":")
		meant = suggest.DidYouMean(name, Generators())
	}
	return nil, cli.Usage(f.Command, Hint, "%v%s", err, meant)
}

// Help describes the formats, in lines of at most 100 characters.
func Help() string {
	var b strings.Builder
	for line := range strings.Lines(files.Help()) {
		name, says, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(&b, "  %-11s %s\n", name, cli.Fold(says, 14, 100))
	}
	return b.String()
}
