package enginesim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// job is one request as the model gets it, whatever its endpoint.
type job struct {
	question Question
	prompt   []Token
	asked    string   // text of the last user turn
	params   string   // everything else that the answer depends on
	salt     string   // cache_salt
	choices  int      // n
	limit    int      // output tokens; 0 is no limit
	stop     []string // texts that end an answer
	tool     *toolSpec
	format   map[string]any // the schema of the answer; nil is text
}

// choice is one answer. Its text is cut into tokens, the pieces.
type choice struct {
	pieces  []string
	tool    string // the name of the function whose arguments the text is
	refusal bool   // the text is a refusal
	finish  string
}

func (c *choice) text() string { return strings.Join(c.pieces, "") }

// answer computes the choices. It is pure, except for a scripted reply.
func (j *job) answer(o *Options, f *Fault) []choice {
	out := make([]choice, j.choices)
	for i := range out {
		out[i] = j.choice(o, i, f)
	}
	return out
}

func (j *job) choice(o *Options, index int, f *Fault) choice {
	c := choice{finish: "stop"}
	rng := j.rng(index)
	var text string
	switch {
	case f.Refusal != "":
		text, c.refusal = f.Refusal, true
	case j.tool != nil:
		text, c.tool, c.finish = compact(fill(rng, j.tool.Parameters)), j.tool.Name, j.tool.finish
	case j.format != nil:
		text = compact(fill(rng, j.format))
	default:
		text = j.compose(o, rng)
	}
	c.cut(text, j)
	if f.FinishReason != "" {
		c.finish = f.FinishReason
	}
	return c
}

func (j *job) compose(o *Options, rng *rand.Rand) string {
	if o.Reply != nil {
		if text, ok := o.Reply(j.question); ok {
			return text
		}
	}
	return compose(rng, j.asked)
}

// cut ends the text at a stop text or at the limit of the request.
func (c *choice) cut(text string, j *job) {
	for _, s := range j.stop {
		text, _, _ = strings.Cut(text, s)
	}
	c.pieces = split(text)
	if j.limit > 0 && len(c.pieces) > j.limit {
		c.pieces, c.finish = c.pieces[:j.limit], "length"
	}
}

// rng is seeded with everything that the answer depends on.
func (j *job) rng(index int) *rand.Rand {
	buf := make([]byte, 0, 64+8*len(j.prompt)+len(j.params))
	buf = append(append(buf, j.question.Model...), 0)
	buf = append(append(buf, j.params...), 0)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(index))
	for _, t := range j.prompt {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(t))
	}
	sum := sha256.Sum256(buf)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}

func compact(v any) string {
	b, _ := json.Marshal(v) // cannot fail: v comes from decoded JSON
	return string(b)
}

// run is a job in progress: its blocks, its time, its tokens.
type run struct {
	e       *Engine
	chain   *Chain
	lease   *Lease
	start   time.Time
	prompt  int // tokens
	cached  int
	choices []choice
	made    int // tokens made of each choice
}

// begin takes blocks for the prompt.
func (e *Engine) begin(j *job, choices []choice) *run {
	r := &run{e: e, chain: NewChain(j.salt), start: e.o.Now(), prompt: len(j.prompt), choices: choices}
	hashes := r.chain.Add(j.prompt)
	e.mu.Lock()
	defer e.mu.Unlock()
	r.lease, r.cached = e.blocks.Begin(hashes, r.prompt)
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
	r.e.blocks.Grow(r.lease, hashes, r.chain.Partial())
	r.e.blocks.End(r.lease)
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
		n += len(c.pieces)
	}
	return n
}

// wait returns when n tokens of each choice are made, 0 being the end of the prefill.
func (r *run) wait(ctx context.Context, n int) error {
	o := &r.e.o
	if ctx.Err() != nil {
		return errGone
	}
	due := r.start.Add(clock(r.prompt-r.cached, o.Prefill*o.Speed) + clock(n, o.Decode*o.Speed))
	if o.Prefill > 0 || o.Decode > 0 {
		if d := due.Sub(o.Now()); d > 0 {
			if err := o.Sleep(ctx, d); err != nil {
				return errGone
			}
		}
	}
	r.made = n
	return nil
}

// modelled is the time of the run at speed 1, whether or not wait waits for it.
func (r *run) modelled() time.Duration {
	prefill, decode := r.e.o.Prefill, r.e.o.Decode
	if prefill == 0 {
		prefill = NominalPrefill
	}
	if decode == 0 {
		decode = NominalDecode
	}
	return clock(r.prompt-r.cached, prefill) + clock(r.steps(), decode)
}

// clock is the time of n tokens at a rate; 0 at rate 0.
func clock(n int, rate float64) time.Duration {
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(n) / rate * float64(time.Second))
}

// headers sets the headers that OpenAI adds to every answer of a model.
func (c *call) headers(r *run) {
	h := c.Header()
	h.Set("Openai-Processing-Ms", strconv.FormatInt(r.modelled().Milliseconds(), 10))
	h.Set("Openai-Version", "2020-10-01")
	c.paced = r.e.o.Prefill > 0 || r.e.o.Decode > 0
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
