package main

import (
	"context"
	"flag"

	"reprise/cmd/reprise/internal/replay"
	"reprise/policy/sim"
)

// registerMatching adds the flags that say what is a hit.
func (o *replayFlags) registerMatching(fs *flag.FlagSet) {
	m := &o.matching
	fs.StringVar(&m.Model, "model", replay.Auto, "`NAME` of what makes a hit: ids (an equal one) or requests (a like meaning); auto is requests for a trace without ids")
	fs.StringVar(&m.Topics, "topics", "", "`NAME` of where topics come from: given by the trace, routed or clustered; unset: routed in the requests model, else given")
	fs.StringVar(&m.Parents, "parents", replay.Given, "`NAME` of where parents come from: given by the trace or, in the requests model, detected")
	fs.Float64Var(&m.Hit, "hit", 0, "`COSINE` from which an answer is shared; unset, as all of these: that of the built-in embedder")
	fs.Float64Var(&m.Route, "route", 0, "`COSINE` to the anchor from which a request is of its topic; that of --hit is the reading of paper 002")
	fs.Float64Var(&m.Edge, "edge", 0, "`COSINE` from which a parent is detected")
	fs.IntVar(&m.Lookback, "lookback", 0, "`N` accesses among which a parent is detected; unset: 64")
	fs.StringVar(&m.Guard, "guard", "strict", "`NAME` of what may refuse an answer to another text: strict, check or none")
}

// replay plays one trace by the model that suits it.
func (o *replayFlags) replay(ctx context.Context, one sim.Trace, with sim.Options) ([]sim.Result, *replay.Prepared, error) {
	played, err := o.matching.Prepare(ctx, one, with.Progress)
	if err != nil {
		return nil, nil, err
	}
	with.Model = played.Model
	results, err := sim.Replay(ctx, played.Trace, with)
	return results, played, err
}
