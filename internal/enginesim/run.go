package enginesim

import (
	"context"
	"time"
)

// run is a job in progress: its blocks, its time, its tokens.
type run struct {
	e       *Engine
	chain   *Chain
	lease   *Lease
	blocks  *Blocks // the pool of the lease; Engine.Reset makes a new one
	start   time.Time
	prompt  int // tokens
	cached  int
	choices []choice
	made    int // tokens made of each choice
}

// begin takes blocks for the prompt.
func (e *Engine) begin(j *job, choices []choice) *run {
	r := &run{e: e, chain: NewChain(j.salt), start: time.Now(), prompt: len(j.prompt), choices: choices}
	hashes := r.chain.Add(j.prompt)
	e.mu.Lock()
	defer e.mu.Unlock()
	r.blocks = e.blocks
	r.lease, r.cached = r.blocks.Begin(hashes, r.prompt)
	e.publishLocked()
	e.stats.PromptTokens += int64(r.prompt)
	e.stats.CachedTokens += int64(r.cached)
	return r
}

// end stores the blocks of the first choice, with which a conversation goes on, and releases all blocks.
func (r *run) end() {
	var tokens []Token
	for _, p := range r.choices[0].pieces[:min(r.made, len(r.choices[0].pieces))] {
		tokens = append(tokens, tokenOf(p))
	}
	hashes := r.chain.Add(tokens)
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.blocks.grow(r.lease, hashes, r.chain.partial())
	r.blocks.End(r.lease)
	r.e.publishLocked()
	for _, c := range r.choices {
		r.e.stats.OutputTokens += int64(min(r.made, len(c.pieces)))
	}
}

// steps is the length of the longest choice: choices are decoded in parallel.
func (r *run) steps() int {
	n := 0
	for _, c := range r.choices {
		n = max(n, len(c.pieces))
	}
	return n
}

// output is the number of tokens of all choices.
func (r *run) output() int {
	n := 0
	for _, c := range r.choices {
		n += len(c.pieces) + len(split(c.args))
	}
	return n
}

// wait returns when n tokens of each choice are made, 0 being the end of the prefill.
func (r *run) wait(ctx context.Context, n int) error {
	o := &r.e.o
	if ctx.Err() != nil {
		return errGone
	}
	if o.paced() {
		due := r.start.Add(time.Duration(float64(n) / o.Decode * float64(time.Second)))
		if d := time.Until(due); d > 0 && o.Sleep(ctx, d) != nil {
			return errGone
		}
	}
	r.made = n
	return nil
}

// headers sets the headers that OpenAI adds to every answer of a model.
func (c *call) headers(r *run) {
	c.Header().Set("Openai-Version", "2020-10-01")
	c.paced = r.e.o.paced()
}

// usage is the usage that chat and completions report.
type usage struct {
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	Total      int           `json:"total_tokens"`
	Details    promptDetails `json:"prompt_tokens_details"`
	Output     outputDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
	Audio  int `json:"audio_tokens"`
}

type outputDetails struct {
	Reasoning int `json:"reasoning_tokens"`
	Audio     int `json:"audio_tokens"`
	Accepted  int `json:"accepted_prediction_tokens"`
	Rejected  int `json:"rejected_prediction_tokens"`
}

func (r *run) usage() *usage {
	out := r.output()
	return &usage{Prompt: r.prompt, Completion: out, Total: r.prompt + out, Details: promptDetails{Cached: r.cached}}
}
