package replay

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
)

// Hint is the line after an error about the name of a policy or a workload.
const Hint = "`reprise-lab replay --list` lists policies and workloads."

// Source are the flags that select the traces.
type Source struct {
	Command string // as the user types it, for messages
	Traces  []string
	Format  string
	Seed    uint64
}

// Register adds the flags except --seed, whose default depends on the command.
func (s *Source) Register(fs *flag.FlagSet) {
	s.Command = fs.Name()
	fs.Func("trace", "`FILE[,FILE…]` to play, or generate:NAME[:key=value,…] for a workload of `reprise-lab replay --list`; may be given several times", func(v string) error {
		s.Traces = append(s.Traces, SplitTraces(v)...)
		return nil
	})
	fs.StringVar(&s.Format, "format", string(trace.Auto), "`NAME` is the format of the files: "+strings.Join(formats(), ", "))
}

// Check reports a wrong value.
func (s *Source) Check() error { return checkFormat(s.Format) }

// Open opens all traces, so that a wrong name is found before the first one is played, which may take long.
func (s *Source) Open(ctx context.Context, out io.Writer) (all []sim.Trace, err error) {
	for _, name := range s.Traces {
		one, err := UnlessInterrupted(ctx, s.Command, out, func() (sim.Trace, error) { return Open(name, s.Format, s.Seed) })
		if err != nil && strings.HasPrefix(name, generated) && !errors.Is(err, cli.ErrInterrupted) {
			return nil, cli.Usage(s.Command, Hint, "%v", err)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Flags are the flags of a replay.
type Flags struct {
	Source
	Policies, Capacities string
	Warmup, Parallel     int
	Windows              int
}

// Register adds the flags.
func (f *Flags) Register(fs *flag.FlagSet) {
	f.Source.Register(fs)
	fs.Uint64Var(&f.Seed, "seed", 1, "`N` is the seed of policies and workloads")
	fs.StringVar(&f.Policies, "policy", "all", "`LIST` of policies, each with parameters if need be: lru,rac:alpha=1/C,lambda=2")
	fs.StringVar(&f.Capacities, "capacity", "2.5%,10%,20%", "`LIST` of shares of the distinct requests, entries (100) and bytes (64MiB)")
	fs.IntVar(&f.Warmup, "warmup", 0, "the first `N` requests of each trace are played and not counted")
	fs.IntVar(&f.Windows, "windows", 0, "divide the requests that count into `N` equal parts, and show the figures of each: hit ratio, regret, who led and why that changed")
	fs.IntVar(&f.Parallel, "parallel", 0, "`N` policies at a time, 0 is one for each processor; the figures do not depend on it")
}

// Check reports a wrong value.
func (f *Flags) Check() error {
	if f.Warmup < 0 || f.Parallel < 0 {
		return errors.New("--warmup and --parallel are 0 or more")
	}
	if f.Windows < 0 || f.Windows > sim.MostWindows {
		return fmt.Errorf("--windows %d: want 0 to %d", f.Windows, sim.MostWindows)
	}
	return f.Source.Check()
}

// Options returns the options of the replay.
func (f *Flags) Options() (o sim.Options, err error) {
	o = sim.Options{Seed: f.Seed, Warmup: f.Warmup, Windows: f.Windows, Parallel: f.Parallel}
	if o.Policies, err = parsePolicies(f.Policies); err != nil {
		return o, cli.Usage(f.Command, Hint, "%v", err)
	}
	if o.Capacities, err = parseCapacities(f.Capacities); err != nil {
		return o, cli.Usage(f.Command, "", "%v", err)
	}
	return o, nil
}

// UnlessInterrupted returns the result of f, which cannot be stopped: when ctx ends first, the command ends and f goes on
// in the background.
func UnlessInterrupted[T any](ctx context.Context, command string, out io.Writer, f func() (T, error)) (T, error) {
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
		fmt.Fprintf(out, "%s: interrupted: nothing was generated or played yet\n", command)
		var none T
		return none, cli.ErrInterrupted
	}
}
