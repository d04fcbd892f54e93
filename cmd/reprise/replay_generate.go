package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"reprise/cmd/reprise/internal/replay"
	"reprise/policy/sim"
)

// unlessInterrupted is what f makes, which cannot be told to stop: a signal leaves it behind, and the command ends.
func unlessInterrupted[T any](ctx context.Context, t terminal, f func() (T, error)) (T, error) {
	type result struct {
		made T
		err  error
	}
	done := make(chan result, 1)
	go func() {
		made, err := f()
		done <- result{made, err}
	}()
	select {
	case r := <-done:
		return r.made, r.err
	case <-ctx.Done():
		fmt.Fprintln(t.err, "reprise replay: interrupted: nothing was generated or played yet")
		var none T
		return none, errInterrupted
	}
}

// writeLog writes a workload as a request log.
func (o *replayFlags) writeLog(ctx context.Context, t terminal) error {
	made, err := unlessInterrupted(ctx, t, func() (*sim.Slice, error) { return replay.Generate(o.generate, o.seed) })
	switch {
	case errors.Is(err, errInterrupted):
		return err
	case err != nil:
		return &usageError{"reprise replay: " + err.Error() + "\n`reprise replay --list` tells more."}
	}
	written, err := o.writeOut(ctx, t.out, made)
	if ctx.Err() != nil {
		fmt.Fprintf(t.err, "reprise replay: interrupted: the first %d of %d requests are written\n", written, len(made.All))
		return errInterrupted
	}
	return err
}

// writeOut writes to --out, or else to out, and returns how many requests.
func (o *replayFlags) writeOut(ctx context.Context, out io.Writer, made *sim.Slice) (written int, err error) {
	if o.out == "" {
		return replay.WriteLog(ctx, out, made)
	}
	f, err := os.Create(o.out)
	if err != nil {
		return 0, err
	}
	var to io.WriteCloser = f
	if strings.HasSuffix(o.out, ".gz") {
		to = gzip.NewWriter(f)
	}
	written, err = replay.WriteLog(ctx, to, made)
	if to != f {
		err = errors.Join(err, to.Close())
	}
	return written, errors.Join(err, f.Close())
}
