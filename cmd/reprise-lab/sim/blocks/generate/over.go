package generate

import (
	"fmt"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Over gives blocks to a trace of which only arrivals, lengths and what continues what are used: each session begins with one of the system
// prompts of qwen-b's programs, drawn by their frequency, and has blocks of its own after it; a request that continues another one has the
// blocks of its prompt and answer first, if its own prompt is at least as long. A prompt that is shorter than the system prompt drawn has
// nothing in common with others. The lengths and times of the trace are kept, so that hit ratios say nothing about where it comes from.
func Over(t *blocks.Trace, seed uint64) (*blocks.Trace, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("generate blocks: %w", err)
	}
	r, program := newRandom(seed, 0x0E4), services()[0]
	all := numbers{tokens: t.Tokens}
	out := *t
	out.Generated, out.Note = true, "blocks are generated"
	out.Requests = append([]blocks.Request(nil), t.Requests...)
	begun := make([]*prefix, len(t.Requests)) // what a request and its answer are, for those that continue it
	for i := range out.Requests {
		req := &out.Requests[i]
		of := &program.services[r.pick(program.popular)]
		if req.After > 0 && begun[req.After-1].tokens <= req.Prompt {
			of = begun[req.After-1]
		} else if of.tokens > req.Prompt {
			of = nil
		}
		stream := all.stream(of, int(req.Prompt+req.Answer)/t.Tokens)
		whole := int(req.Prompt) / t.Tokens
		req.Blocks, req.Filled = stream[:whole:whole], stream[whole:]
		begun[i] = &prefix{tokens: req.Prompt + req.Answer, blocks: stream}
	}
	out.Distinct = int(all.next)
	return &out, nil
}
