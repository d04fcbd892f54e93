package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/evaluate"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/embed"
)

// evaluateFlags are the flags of evaluate.
type evaluateFlags struct {
	pairs, streams files
	answers        files
	same           string
	embedder       string
	gate           float64
	errors         string
	seeds          int
	shown          int
	label          string
	maxErrors      []float64
	made           embed.Embedder
	words          bool
	output
}

// files is the value of a flag that may be given several times.
type files []string

func (f *files) String() string { return strings.Join(*f, ",") }

// Set implements flag.Value.
func (f *files) Set(v string) error {
	*f = append(*f, strings.Split(v, ",")...)
	return nil
}

const embedderEqual = "equal"

func runEvaluate(t cli.Terminal, args []string) error {
	o := &evaluateFlags{}
	fs := cli.NewFlagSet("reprise-lab evaluate")
	o.register(fs)
	return o.start(t, fs, args, evaluateHelp, o.check, func(ctx context.Context, t cli.Terminal) error {
		o.command = commandOf(fs.Name(), fs, nil)
		return o.run(ctx, t)
	})
}

func (o *evaluateFlags) register(fs *flag.FlagSet) {
	fs.Var(&o.pairs, "pairs", "`FILE[,FILE…]` of labelled pairs; may be given several times")
	fs.Var(&o.streams, "stream", "`FILE[,FILE…]` of requests with the class of their answer; may be given several times")
	fs.Var(&o.answers, "answers", "`FILE[,FILE…]` of labelled answers, for the comparator of answers; may be given several times")
	fs.StringVar(&o.same, "same", "", "`BOOL` is the label of all pairs of files that have none: true or false")
	fs.StringVar(&o.embedder, "embedder", embedderBuiltin, "`NAME` is builtin, model2vec:DIR with the folder of a static model, or equal: all texts are near, so that the judge alone decides")
	fs.Float64Var(&o.gate, "hit", 0, "`COSINE` is the least similarity of a hit; unset: the embedder's own")
	fs.StringVar(&o.errors, "max-error", "0.01", "`LIST` of the largest expected shares of wrong answers among those served by meaning")
	fs.IntVar(&o.seeds, "seeds", 0, "`N` plays of each stream in random orders; 0: one in the order of the file")
	fs.IntVar(&o.shown, "show", 20, "`N` pairs of different meaning that are served are printed")
	o.output.register(fs, "print JSON lines: one for each pair and each play")
}

func (o *evaluateFlags) check() error {
	switch {
	case len(o.pairs)+len(o.streams)+len(o.answers) == 0:
		return errors.New("want --pairs, --stream or --answers: a file")
	case o.output.check() != nil:
		return o.output.check()
	case !(o.gate >= 0 && o.gate <= 1):
		return fmt.Errorf("--hit %v: want a cosine above 0, at most 1", o.gate)
	case o.seeds < 0 || o.seeds > maxSeeds:
		return fmt.Errorf("--seeds %d: want 0 to %d", o.seeds, maxSeeds)
	case o.shown < 0:
		return fmt.Errorf("--show %d: want 0 or more", o.shown)
	}
	switch o.same {
	case "":
	case "true":
		o.label = "same"
	case "false":
		o.label = "different"
	default:
		return fmt.Errorf("--same %q: want true or false", o.same)
	}
	return errors.Join(o.parseErrors(), o.makeEmbedder())
}

func (o *evaluateFlags) parseErrors() error {
	for text := range strings.SplitSeq(o.errors, ",") {
		delta, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(delta >= 0 && delta <= 0.2) {
			return fmt.Errorf("--max-error %s: want shares from 0 to 0.2, as in 0.01,0.02", text)
		}
		o.maxErrors = append(o.maxErrors, delta)
	}
	return nil
}

func (o *evaluateFlags) makeEmbedder() (err error) {
	if o.embedder == embedderEqual {
		o.made = evaluate.Equal{}
		return nil
	}
	o.words = o.embedder == embedderBuiltin
	o.made, err = openEmbedder(o.embedder, embedderEqual)
	return err
}

func evaluateHelp(w io.Writer, fs *flag.FlagSet) {
	io.WriteString(w, `reprise-lab evaluate measures how often a stored answer would be served for another prompt, and how often that is wrong:
precision, recall, false hits, the ROC curve of the similarity, by edit and by veto, the calibration of the estimated probability,
and for streams the error and the hits of a proxy that explores and learns.

  reprise-lab evaluate --pairs questions.tsv
  reprise-lab evaluate --pairs different.tsv --same false --embedder equal
  reprise-lab evaluate --answers answers.tsv
  reprise-lab evaluate --stream requests.jsonl --max-error 0.01,0.02,0.05 --seeds 5 --html report.html

Files:
`+evaluate.Formats+`
Flags:
`)
	cmdline.FlagHelp(w, fs, "pairs", "stream", "answers", "same", "embedder", "hit", "max-error", "seeds", "show", "json", "html")
}

func (o *evaluateFlags) options(maxError float64) evaluate.Options {
	return evaluate.Options{Embedder: o.made, Words: o.words, Gate: o.gate, MaxError: maxError}
}

// run measures file by file, and prints what is complete, even if it ended early.
func (o *evaluateFlags) run(ctx context.Context, t cli.Terminal) error {
	var err error
	page := o.page()
	out := json.NewEncoder(t.Out)
	for _, path := range o.pairs {
		if err != nil {
			break
		}
		err = o.runPairs(ctx, t, path, page, out)
	}
	for _, path := range o.streams {
		if err != nil {
			break
		}
		err = o.runStream(ctx, t, path, page, out)
	}
	for _, path := range o.answers {
		if err != nil {
			break
		}
		err = o.runAnswers(path, page, out)
	}
	if len(page.Sections) > 0 {
		err = errors.Join(err, writeReport(o.report, page))
	}
	if !o.json && len(page.Sections) > 0 {
		err = errors.Join(err, report.Text(t.Out, page))
	}
	if ctx.Err() != nil {
		fmt.Fprintln(t.Err, "reprise-lab evaluate: interrupted: the figures are of the files that were complete")
		return cli.ErrInterrupted
	}
	return err
}

// scoredLine is a pair in JSON.
type scoredLine struct {
	File       string   `json:"file"`
	Kind       string   `json:"kind,omitempty"`
	A          string   `json:"a"`
	B          string   `json:"b"`
	Same       bool     `json:"same"`
	Served     bool     `json:"served"`
	By         string   `json:"by"`
	Edits      []string `json:"edits,omitempty"`
	P          float64  `json:"p"`
	Similarity float64  `json:"similarity"`
	MaxError   float64  `json:"max_error"`
}

func (o *evaluateFlags) runPairs(ctx context.Context, t cli.Terminal, path string, page *report.Page, out *json.Encoder) error {
	pairs, err := evaluate.ReadPairs(ctx, path, o.label, o.made)
	if err != nil {
		return err
	}
	shown := progressOf(t, "pairs")
	for _, delta := range o.maxErrors {
		scored, err := evaluate.Pairs(ctx, pairs, o.options(delta), func(done, total int) { shown(path, done, total) })
		if err != nil {
			return err
		}
		for i := range scored {
			if x := &scored[i]; o.json {
				line := scoredLine{path, x.Kind, x.A, x.B, x.Same, x.Served, x.By, x.Classes(), x.Verdict.P, x.Similarity, delta}
				if err := out.Encode(&line); err != nil {
					return err
				}
			}
		}
		page.Sections = append(page.Sections, o.pairsSection(path, delta, evaluate.Summarise(scored)))
	}
	return nil
}

func (o *evaluateFlags) runStream(ctx context.Context, t cli.Terminal, path string, page *report.Page, out *json.Encoder) error {
	requests, err := evaluate.ReadStream(path)
	if err != nil {
		return err
	}
	shown := progressOf(t, "plays")
	var plays []evaluate.Play
	for _, delta := range o.maxErrors {
		for seed := range max(o.seeds, 1) {
			if o.seeds > 0 {
				seed++
			}
			p, err := evaluate.Stream(ctx, requests, o.options(delta), uint64(seed))
			if err != nil {
				return err
			}
			plays = append(plays, *p)
			shown(path, len(plays), len(o.maxErrors)*max(o.seeds, 1))
			if o.json {
				if err := out.Encode(p); err != nil {
					return err
				}
			}
		}
	}
	page.Sections = append(page.Sections, streamSection(path, plays))
	return nil
}

// comparedLine is a pair of answers in JSON.
type comparedLine struct {
	File      string  `json:"file"`
	Kind      string  `json:"kind,omitempty"`
	Stored    string  `json:"stored"`
	Fresh     string  `json:"fresh"`
	Same      bool    `json:"same"`
	Outcome   string  `json:"outcome"`
	Why       string  `json:"why"`
	Closeness float64 `json:"closeness"`
}

var outcomes = [...]string{"unknown", "same", "different"}

func (o *evaluateFlags) runAnswers(path string, page *report.Page, out *json.Encoder) error {
	all, err := evaluate.ReadAnswers(path)
	if err != nil {
		return err
	}
	for i := range all {
		if x := &all[i]; o.json {
			line := comparedLine{path, x.Kind, x.Stored, x.Fresh, x.Same, outcomes[x.Outcome], x.Why, x.Closeness}
			if err := out.Encode(&line); err != nil {
				return err
			}
		}
	}
	page.Sections = append(page.Sections, o.answersSection(path, all))
	return nil
}
