package fleet

// Engine is the size and the speed of an engine. The time of a step is Step, and more for each token that it prefills or decodes.
type Engine struct {
	Tokens int `json:"kv_tokens"` // that its KV cache holds
	Budget int `json:"budget"`    // tokens of one step, prefilled and decoded
	Seqs   int `json:"seqs"`      // requests that run at a time
	Queue  int `json:"queue"`     // requests that wait; it refuses more. 0: no limit

	Step      float64 `json:"step"`      // seconds of each step
	Prefill   float64 `json:"prefill"`   // seconds for a token of a prompt
	Attention float64 `json:"attention"` // seconds for a token of a prompt and each token before it
	Decode    float64 `json:"decode"`    // seconds for a token of an answer
	Context   float64 `json:"context"`   // seconds for a token of an answer and each token before it
}

// Default is about a model of eight billion parameters on one GPU with 3.3 TB/s and 80 GB (Llama 3.1 8B on an H100), from its roofline: 16 GB
// of weights are read in a step, 16 GFLOP and 128 KB of KV cache for a token, at half of the peak. Only ratios of its figures matter here.
func Default() Engine {
	return Engine{Tokens: 400_000, Budget: 8192, Seqs: 256, Step: 6e-3, Prefill: 40e-6, Attention: 1.3e-9, Decode: 20e-6, Context: 40e-9}
}

// Scaled is an engine of so many times the speed.
func (e Engine) Scaled(speed float64) Engine {
	for _, cost := range []*float64{&e.Step, &e.Prefill, &e.Attention, &e.Decode, &e.Context} {
		*cost /= speed
	}
	return e
}

// cost is the seconds that a request takes of the engine, without the constant part of its steps.
func (e *Engine) cost(prompt, cached, answer int) float64 {
	n, out := float64(prompt-cached), float64(answer-1)
	return n*(e.Prefill+e.Attention*(float64(cached)+n/2)) + out*(e.Decode+e.Context*(float64(prompt)+out/2))
}

// job is a request in an engine.
type job struct {
	place  int // of the request in the trace
	req    *Request
	member int // its engine
	ticket ticket
	sent   float64 // when it arrived at the proxy

	lease  lease
	hashes []uint64 // of the full blocks of the prompt, and of the answer where the trace has them
	named  int      // of the hashes, those whose blocks have their content
	cached int      // tokens of the prompt that were there
	done   int      // tokens of the prompt that are in the cache
	chunk  int      // tokens of the prompt that the present step computes
	out    int      // tokens of the answer
}

// prompt is the hashes of the prompt's full blocks.
func (j *job) prompt(block int) []uint64 { return j.hashes[:min(len(j.hashes), j.req.Prompt/block)] }

// engine is the state of one engine.
type engine struct {
	Engine
	block   int // tokens
	pool    *pool
	waiting []*job
	running []*job
	until   float64 // the end of the present step, while busy
	busy    bool

	prefilled, decoded, shared int64 // tokens; shared were in the cache
}

func newEngine(e Engine, block int) *engine {
	return &engine{Engine: e, block: block, pool: newPool(e.Tokens / block)}
}

// blocksOf is how many blocks a request needs in the end.
func (e *engine) blocksOf(r *Request) int { return (r.Prompt + r.Answer + e.block - 1) / e.block }

// accepts reports whether a request can be sent: it fits, and the queue is not full.
func (e *engine) accepts(r *Request) bool {
	return e.blocksOf(r) <= e.pool.blocks && (e.Queue == 0 || len(e.waiting) < e.Queue)
}

// pending is the number of tokens that it has to prefill for the requests that it has, as far as is known before they begin.
func (e *engine) pending() (n int) {
	for _, j := range e.waiting {
		n += j.req.Prompt - j.cached
	}
	for _, j := range e.running {
		n += j.req.Prompt - j.done
	}
	return n
}

// active is the tokens of the prompts of all requests that it has.
func (e *engine) active() (n int) {
	for _, j := range e.waiting {
		n += j.req.Prompt
	}
	for _, j := range e.running {
		n += j.req.Prompt
	}
	return n
}

// cachedTokens is what a prompt with these hashes finds: whole blocks, and never all of it, because the last token has to be computed.
func (e *engine) cachedTokens(r *Request, known int) int {
	return min(known, (r.Prompt-1)/e.block) * e.block
}

// begin starts a step: the running requests first, in their order, then waiting ones as long as the budget and the blocks suffice.
// The engine is not busy if there is nothing to do.
func (e *engine) begin(now float64) {
	budget, work := e.Budget, 0.0
	for _, j := range e.running {
		work += e.schedule(j, &budget)
	}
	for len(e.waiting) > 0 && budget > 0 && len(e.running) < e.Seqs && e.admit(e.waiting[0]) {
		j := e.waiting[0]
		e.waiting = e.waiting[1:]
		e.running = append(e.running, j)
		work += e.schedule(j, &budget)
	}
	if e.busy = len(e.running) > 0; e.busy {
		e.until = now + e.Step + work
	}
}

// admit takes the blocks of prompt and answer. An engine takes those of the answer one by one, and starts a request again later when there
// are no more; taking them at once has nearly the same effect without it.
func (e *engine) admit(j *job) bool {
	lease, known, ok := e.pool.lease(j.prompt(e.block), e.blocksOf(j.req))
	if !ok {
		return false
	}
	j.lease, j.named = lease, known
	j.cached = e.cachedTokens(j.req, known)
	j.done = j.cached
	e.shared += int64(j.cached)
	return true
}

// schedule gives a running request its part of a step and returns the seconds that it takes.
func (e *engine) schedule(j *job, budget *int) float64 {
	left := j.req.Prompt - j.done
	if left == 0 {
		j.chunk = 0
		*budget--
		return e.Decode + e.Context*float64(j.req.Prompt+j.out)
	}
	n := max(min(left, *budget), 0)
	*budget -= n
	j.chunk = n
	e.name(j, j.done+n)
	return float64(n) * (e.Prefill + e.Attention*(float64(j.done)+float64(n)/2))
}

// name gives the blocks of the first tokens of a request their content.
func (e *engine) name(j *job, tokens int) {
	for n := min(tokens/e.block, len(j.hashes)); j.named < n; j.named++ {
		e.pool.fill(&j.lease, j.hashes[j.named])
	}
}

// finish ends the step: answered is called for requests whose first token is there, ended for those that are complete.
func (e *engine) finish(answered, ended func(*job)) {
	kept := e.running[:0]
	for _, j := range e.running {
		e.advance(j)
		if j.out == 1 && j.done == j.req.Prompt {
			answered(j)
		}
		if j.out < j.req.Answer {
			kept = append(kept, j)
			continue
		}
		e.pool.release(j.lease)
		ended(j)
	}
	clear(e.running[len(kept):])
	e.running = kept
}

// advance adds what the step computed: the last chunk of a prompt gives the first token of the answer.
func (e *engine) advance(j *job) {
	decoding := j.done == j.req.Prompt
	j.done += j.chunk
	e.prefilled += int64(j.chunk)
	if j.done < j.req.Prompt {
		return
	}
	j.chunk = 0
	if j.out++; decoding {
		e.decoded++
		e.name(j, j.req.Prompt+j.out-1) // the last token has no KV block yet
	}
}
