package main

import (
	"bufio"
	"context"
	"io"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim/workload"
)

// writeList writes every policy and every workload with its parameters.
func writeList(_ context.Context, t cli.Terminal) error {
	w := bufio.NewWriter(t.Out)
	l := cmdline.NewListing(w)
	io.WriteString(w, "Policies, for --policy; C is the capacity in entries, so that 2C or 0.1/C are numbers too:\n\n")
	for _, p := range policies.All {
		var params []cmdline.Param
		for _, x := range p.Params {
			params = append(params, cmdline.Param{Name: x.Name, Value: x.Default, Says: x.Says, Allowed: cmdline.Allowed(x.Choices, x.Min, x.Max)})
		}
		l.Item(p.Name, p.Says, params)
	}
	io.WriteString(w, "\nBounds, also for --policy; they use the whole trace, so that no proxy can run them:\n\n")
	l.Item("belady", "evicts the answer whose next request comes last: no policy that keeps every new answer has more hits", nil)
	l.Item("belady-bypass", "the same, and a new answer may be refused: no policy has more hits", nil)
	l.Item("infinite", "keeps everything", nil)
	l.Item("count-oracle", "evicts the answer with the fewest requests still to come, without using when they come", nil)
	io.WriteString(w, "\nWorkloads, for --generate and --trace generate:NAME; all take seed=N:\n\n")
	for _, g := range workload.List() {
		l.Item(g.Name, g.Says, replay.Params(g.Params))
	}
	return w.Flush()
}
