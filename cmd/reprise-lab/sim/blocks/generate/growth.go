package generate

import (
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

var growthModels = []model{
	{Info{"growth", "one prompt that grows by a token a request, in blocks of one token (paper 003 §2.2.3)", []Param{
		{Name: "tokens", Says: "of the last prompt", Default: "1000", Min: 1, Max: 20000, Whole: true},
		{Name: "step", Says: "tokens from one prompt to the next", Default: "1", Min: 1, Max: 20000, Whole: true},
	}}, growth},
}

// growth has one request a second; each is the whole prompt of the one before and step tokens more, and the last has all.
func growth(a params.Args) *blocks.Trace {
	n, step := a.Whole("tokens"), a.Whole("step")
	t := &blocks.Trace{Tokens: 1, Kinds: []string{"text"}, Distinct: n}
	all := (&numbers{tokens: 1}).append(nil, n)
	for size := min(step, n); ; size = min(size+step, n) {
		turn := int32(len(t.Requests) + 1)
		t.Requests = append(t.Requests, blocks.Request{
			At: float64(turn - 1), After: turn - 1, Think: 1, Prompt: int32(size), Blocks: all[:size], Turn: turn, Session: 1, User: 1, GoesOn: size < n,
		})
		if size == n {
			return t
		}
	}
}
