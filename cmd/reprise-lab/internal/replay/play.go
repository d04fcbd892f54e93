package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/sim"
)

// Prepared is a trace with the model that plays it.
type Prepared struct {
	Trace sim.Trace
	Model sim.Model // nil: hits by identity
	Note  string    // describes hits, topics and parents
	// Legend describes what the tables of the results do not show; nil: nothing.
	Legend func([]sim.Result) string
}

// notes is the note and the legend as one paragraph.
func (p *Prepared) notes(results []sim.Result) string {
	return p.Trace.Name() + ": " + strings.TrimSpace(p.Note+". "+strings.ReplaceAll(p.legend(results), "\n", " "))
}

func (p *Prepared) legend(results []sim.Result) string {
	if p.Legend == nil {
		return ""
	}
	return p.Legend(results)
}

// Prepare chooses the model for a trace. It may read the whole trace; progress is called with the requests read so far.
type Prepare func(ctx context.Context, t sim.Trace, progress func(done, total int64)) (*Prepared, error)

// Played is a trace with its results. They are of its first requests if the replay was interrupted or failed.
type Played struct {
	Source   sim.Trace // as it was opened
	Prepared *Prepared
	Results  []sim.Result
}

// empty reports whether no request was counted.
func (p *Played) empty() bool { return len(p.Results) == 0 || p.Results[0].Requests == 0 }

// Notes describes how the trace was played, as one paragraph.
func (p *Played) Notes() string { return p.Prepared.notes(p.Results) }

// Play plays the traces one after the other. It calls show with the results of each, even if its replay ended early.
func (f *Flags) Play(ctx context.Context, t cli.Terminal, traces []sim.Trace, o sim.Options, prepare Prepare, show func(*Played) error) error {
	shown := NewProgress(t.Err)
	o.Progress = shown.Note
	var failed error
	for _, one := range traces {
		shown.Note(0, 0)
		hide := shown.Show(one.Name())
		p, err := play(ctx, one, o, prepare)
		hide()
		if err == nil && p.empty() {
			err = fmt.Errorf("replay %s: no requests after a warm-up of %d", one.Name(), f.Warmup)
		}
		err = errors.Join(err, p.reportSkipped(t.Err))
		if !p.empty() {
			err = errors.Join(err, show(p))
		}
		if ctx.Err() != nil {
			return f.interrupted(t.Err, p)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func play(ctx context.Context, one sim.Trace, o sim.Options, prepare Prepare) (p *Played, err error) {
	p = &Played{Source: one}
	if p.Prepared, err = prepare(ctx, one, o.Progress); err != nil {
		return p, err
	}
	o.Model = p.Prepared.Model
	p.Results, err = sim.Replay(ctx, p.Prepared.Trace, o)
	return p, err
}

// reportSkipped writes how many records of the trace could not be parsed.
func (p *Played) reportSkipped(w io.Writer) (err error) {
	if s, ok := p.Source.(interface{ Skipped() (int, error) }); ok {
		if n, first := s.Skipped(); n > 0 {
			_, err = fmt.Fprintf(w, "%d records were left out; the first: %v\n", n, first)
		}
	}
	return err
}

func (f *Flags) interrupted(w io.Writer, p *Played) error {
	what := "nothing of the trace was played yet"
	if len(p.Results) > 0 {
		what = fmt.Sprintf("the last figures are of the first %d requests", p.Results[0].Requests+int64(f.Warmup))
	}
	fmt.Fprintf(w, "%s: interrupted: %s\n", f.Command, what)
	return cli.ErrInterrupted
}

// WriteTables writes the results as tables, with the notes about how they were played.
func (p *Played) WriteTables(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", p.Prepared.Note)
	writeTables(out, p.Results)
	io.WriteString(out, p.Prepared.legend(p.Results))
	return out.Flush()
}
