package workload

import (
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

// mixModels join streams of the other models. The published comparison has none of this kind.
var mixModels = []model{
	{Info{"mix", "stretches of sessions, independent draws, deep returns, a loop and scans, in turns drawn at random", []Param{
		requests("20000"),
		{Name: "stretch", Says: "requests from one turn to the next; 1: all are mixed", Default: "500", Min: 1, Max: 1e8, Whole: true},
	}}, mixed},
}

// parts are the streams that mixed joins; each turn is equally likely to be of any of them.
var parts = []string{"syn:long=0", "irm", "lru:median=300,new=0.25", "loop", "zscan"}

// mixed continues each part where its last turn ended, so that a stretch may cut a session in two, as with users who are
// active at the same time. Parts have no item, topic or conversation in common.
func mixed(a params.Args) ([]sim.Request, error) {
	n, r := a.Whole("n"), &random{a.Seed}
	streams := make([][]sim.Request, len(parts))
	for i, spec := range parts {
		s, err := generate(alone, extend(spec, "n="+params.Text(a.Num("n"))), r.next())
		if err != nil {
			return nil, err
		}
		streams[i] = s.All
	}
	var all []sim.Request
	for len(all) < n {
		i := r.below(len(streams))
		turn := min(a.Whole("stretch"), n-len(all))
		for _, req := range streams[i][:turn] {
			all = append(all, ofPart(req, uint64(i)))
		}
		streams[i] = streams[i][turn:]
	}
	return all, nil
}

// ofPart renumbers the identities in a request so that they differ from those of the other parts.
func ofPart(req sim.Request, part uint64) sim.Request {
	for _, name := range []*uint64{&req.ID, &req.Topic, &req.Conversation, &req.Parent} {
		if *name != 0 {
			*name = *name*uint64(len(parts)) + part
		}
	}
	return req
}
