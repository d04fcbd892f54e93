package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/internal/traffic"
)

// writeLog writes a workload as a request log.
func (o *replayFlags) writeLog(ctx context.Context, t cli.Terminal) error {
	made, err := replay.UnlessInterrupted(ctx, o.Command, t.Err, func() (*sim.Slice, error) { return replay.Generate(o.generate, o.Seed) })
	switch {
	case errors.Is(err, cli.ErrInterrupted):
		return err
	case err != nil:
		return cli.Usage(o.Command, replay.Hint, "%v", err)
	}
	written, err := o.writeOut(ctx, t.Out, made)
	if ctx.Err() != nil {
		fmt.Fprintf(t.Err, "%s: interrupted: the first %d of %d requests are written\n", o.Command, written, len(made.All))
		return cli.ErrInterrupted
	}
	return err
}

// writeOut writes to --out, or to out if that is not set, and returns the number of requests.
func (o *replayFlags) writeOut(ctx context.Context, out io.Writer, made *sim.Slice) (written int, err error) {
	if o.out == "" {
		return writeRequests(ctx, out, made)
	}
	f, err := os.Create(o.out)
	if err != nil {
		return 0, err
	}
	var to io.WriteCloser = f
	if strings.HasSuffix(o.out, ".gz") {
		to = gzip.NewWriter(f)
	}
	written, err = writeRequests(ctx, to, made)
	if to != f {
		err = errors.Join(err, to.Close())
	}
	return written, errors.Join(err, f.Close())
}

// writeRequests writes a request log until ctx is done, and returns the number of requests.
func writeRequests(ctx context.Context, w io.Writer, s *sim.Slice) (written int, err error) {
	out := bufio.NewWriter(w)
	log := traffic.NewWriter(out)
	for written < len(s.All) && ctx.Err() == nil {
		if err := log.Append(trace.RecordOf(s.All[written])); err != nil {
			return written, err
		}
		written++
	}
	return written, out.Flush()
}
