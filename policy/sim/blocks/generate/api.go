package generate

import (
	"reprise/policy/sim/blocks"
	"reprise/policy/sim/internal/params"
)

// calls is a type of request of programs: one of many system prompts, and data of the request.
type calls struct {
	name    string
	share   float64 // of the requests
	own     length  // tokens of the request alone
	answer  length
	prompts []prefix
	popular []float64
	bare    float64 // share of requests without a system prompt
}

func services() []calls {
	answer := length{37.5, 1.38, 8192}
	return []calls{
		{name: "api", share: 150936, own: length{260, 1.1, 12000}, answer: answer, prompts: pool(3000, length{380, .9, 8000}), popular: zipf(3000, 1.2, 0), bare: .05},
		{name: "text", share: 21864, own: length{260, 1.1, 12000}, answer: answer, prompts: pool(300, length{380, .9, 8000}), popular: zipf(300, 1.2, 0), bare: .05},
	}
}

func qwenB(a params.Args) *blocks.Trace {
	r, all, kinds := newRandom(a.Seed, 0xB), numbers{}, services()
	t := &blocks.Trace{Tokens: blockTokens}
	var cum []float64
	total := 0.0
	for _, k := range kinds {
		total += k.share
		cum = append(cum, total)
		t.Kinds = append(t.Kinds, k.name)
	}
	n, at := a.Whole("requests"), 0.0
	for i := range n {
		kind := r.pick(cum)
		req := kinds[kind].request(r, &all)
		req.At, req.Kind, req.Turn, req.Session = at, uint16(kind), 1, uint32(i+1)
		t.Requests = append(t.Requests, req)
		at += r.ExpFloat64() / a.Num("rate")
	}
	t.Distinct = int(all.next)
	return t
}

func (c *calls) request(r random, all *numbers) blocks.Request {
	var p *prefix
	tokens := r.length(c.own)
	if r.Float64() >= c.bare {
		p = &c.prompts[r.pick(c.popular)]
		tokens += p.tokens
	}
	answer := r.length(c.answer)
	stream := all.stream(p, int((tokens+answer)/blockTokens))
	whole := tokens / blockTokens
	return blocks.Request{Prompt: tokens, Answer: answer, Blocks: stream[:whole:whole], Filled: stream[whole:]}
}
