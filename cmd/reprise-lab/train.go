package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/embed"
	"reprise/internal/suggest"
	"reprise/proxy/continuation"
)

// predictors are what train makes.
var predictors = []string{"lpc"}

// trainFlags are the flags of train.
type trainFlags struct {
	name          string
	conversations files
	out           string
	seed          uint64
	embedder      string
	ablations     bool
	parallel      int
	made          embed.Embedder
	output
}

func runTrain(t cli.Terminal, args []string) error {
	o := &trainFlags{}
	fs := cli.NewFlagSet("reprise-lab train")
	o.register(fs)
	switch {
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		o.name, args = args[0], args[1:]
	case len(args) != 1 || !slices.Contains([]string{"-h", "-help", "--help"}, args[0]):
		return cli.FlagError(fs, "want the name of a predictor first: %s", strings.Join(predictors, " or "))
	}
	return o.start(t, fs, args, trainHelp, o.check, func(ctx context.Context, t cli.Terminal) error {
		o.command = commandOf(fs.Name()+" "+o.name, fs, nil)
		err := o.run(ctx, t)
		if ctx.Err() != nil {
			fmt.Fprintf(t.Err, "%s: interrupted: no model is written\n", fs.Name())
			return cli.ErrInterrupted
		}
		return err
	})
}

func (o *trainFlags) register(fs *flag.FlagSet) {
	fs.Var(&o.conversations, "conversations", "`FILE[,FILE…]` of conversations; may be given several times")
	fs.StringVar(&o.out, "out", "", "`FILE` that gets the model; one that exists is replaced when the new one is complete")
	fs.Uint64Var(&o.seed, "seed", 1, "`N` decides which half of the conversations is held out, and the weights at the start")
	fs.StringVar(&o.embedder, "embedder", embedderBuiltin, "`NAME` is builtin, or model2vec:DIR with the folder of a static model; the proxy must have the same one")
	fs.BoolVar(&o.ablations, "ablations", false, "train and measure models of other inputs too, with responses and without, and one for each file")
	fs.IntVar(&o.parallel, "parallel", 0, "`N` models of --ablations are trained at a time, 0 is one for each processor; the figures do not depend on it")
	o.output.register(fs, "print the figures as one JSON object")
}

func (o *trainFlags) check() (err error) {
	switch {
	case !slices.Contains(predictors, o.name):
		return fmt.Errorf("train %q: want %s%s", o.name, strings.Join(predictors, " or "), suggest.DidYouMean(o.name, predictors))
	case len(o.conversations) == 0:
		return errors.New("want --conversations: a file of recorded conversations")
	case o.out == "":
		return errors.New("want --out: the file that gets the model")
	case o.output.check() != nil:
		return o.output.check()
	case o.parallel < 0:
		return errors.New("--parallel is 0 or more")
	}
	o.made, err = openEmbedder(o.embedder)
	return err
}

func trainHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab train makes a model from recorded conversations.

  reprise-lab train lpc --conversations sgd.jsonl.gz --out lpc.model
  reprise-lab train lpc --conversations a.jsonl,b.jsonl --ablations --html report.html --out lpc.model

Predictors:
  lpc  whether a conversation goes on, from the user's last prompts and the number of the turn: the
       predictor of Learned Prefix Caching. The proxy reads it with REPRISE_HINTS=continues:FILE,
       and reprise-lab replay from --continues

Half of the conversations are held out and measure the model; a fifth of the others decides when
training ends, the calibration and the threshold. Conversations with one first prompt are in one
part. A turn goes on if the user has a later one; in a tree, if any branch does.

Files: OASST1, SGD, ShareGPT, or a log of chat requests, packed with gzip or zstd or not.

Flags:
`)
	cmdline.FlagHelp(w, fs, "conversations", "out", "seed", "embedder", "ablations", "parallel", "json", "html")
}

// run trains and measures; the model is written last.
func (o *trainFlags) run(ctx context.Context, t cli.Terminal) error {
	out, err := createOut("model", o.out)
	if err != nil {
		return err
	}
	defer out.discard()
	set, err := train.Read(ctx, o.conversations, o.seed)
	if err != nil {
		return err
	}
	if set.Skipped > 0 {
		fmt.Fprintf(t.Err, "reprise-lab train: %s records were skipped; the first: %v\n", thousands(set.Skipped), set.Fault)
	}
	workers := o.parallel
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	r, err := train.Run(ctx, set, train.Options{Embedder: o.made, Seed: o.seed, Ablations: o.ablations, Workers: workers, Note: trainProgress(t)})
	if err != nil {
		return err
	}
	page := trainPage(set, r, o.command)
	if err := errors.Join(writeReport(o.report, page), out.commit(func(w io.Writer) error { return writeModel(w, r.Model) })); err != nil {
		return err
	}
	if o.json {
		return json.NewEncoder(t.Out).Encode(r)
	}
	return report.Text(t.Out, page)
}

func trainProgress(t cli.Terminal) func(step string, done, total int) {
	prompts, models := progressOf(t, "texts"), progressOf(t, "models")
	return func(step string, done, total int) {
		if step == "trained" {
			models(step, done, total)
			return
		}
		prompts(step, done, total)
	}
}

func writeModel(w io.Writer, m *continuation.Model) error {
	b, err := m.Marshal()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
