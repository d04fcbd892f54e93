// Package enginesim is an engine with OpenAI's and Anthropic's HTTP APIs and without a model, for tests and the laboratory: answers are
// plausible, deterministic text. The prefix cache is real: a pool of 16-token KV blocks under vLLM's rules, whose hits are reported as
// cached_tokens. A request can ask for faults.
//
// Equal requests (model, messages, tools, format and sampling parameters) get equal answers, streamed or not; ids and
// times differ. Requests do not slow each other down.
package enginesim

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"reprise/internal/enginesim/strict"
)

const (
	defaultBlocks = 4096
	maxBody       = 64 << 20
	// AnyModel in Options.Models serves every name.
	AnyModel = "*"
)

// DefaultModels are served where Options names none.
var DefaultModels = []string{"gpt-4o", "gpt-4o-mini", "gpt-3.5-turbo-instruct", "text-embedding-3-small", "text-embedding-3-large"}

// Options of an Engine. The zero value serves DefaultModels without waiting.
type Options struct {
	Models  []string // names served, or AnyModel; nil is DefaultModels
	Decode  float64  // output tokens per second of one request; 0 does not wait
	Blocks  int      // KV blocks of BlockTokens tokens; 0 is 4096
	Context int      // prompts of more tokens are refused; 0 is no limit

	Sleep func(context.Context, time.Duration) error // nil is a timer that ends early, with an error, with the context
	Fault func(*http.Request) Fault                  // the faults of each request; nil is none. FaultHeader wins

	Events *Events // publishes the changes of the blocks; nil: nothing does

	// Strict is the name of a dialect: the engine takes, refuses and passes over fields and headers as that upstream does, in its words; see
	// package strict. "": it takes every field.
	Strict string

	// OnRequest is called with every request before it is answered, from many goroutines at once. It may read body until it
	// returns.
	OnRequest func(path string, header http.Header, body []byte)
}

// turn is one message of a conversation, without the parts that are not text.
type turn struct{ role, text string }

// Stats are counts since New.
type Stats struct {
	Requests     int64
	PromptTokens int64
	CachedTokens int64
	OutputTokens int64 // those of cancelled requests up to the cancellation
	BlocksUsed   int   // KV blocks whose content can be found again
	Evictions    int64
	InFlight     int
	Cancelled    int64 // requests whose client left before the end
	Refused      int64 // requests that it refuses
}

// Engine is one simulated replica. It is an http.Handler and safe for concurrent use.
type Engine struct {
	o       Options
	mux     *http.ServeMux
	answers *answers
	threads *threads
	kind    *strict.Upstream // nil: Options.Strict is empty

	mu     sync.Mutex // protects everything below
	stats  Stats
	blocks *Blocks
	marks  map[[32]byte]bool // the prefixes that requests of Anthropic's API have marked
	ids    int64
}

// New returns an engine with empty caches.
func New(o Options) *Engine {
	if o.Models == nil {
		o.Models = DefaultModels
	}
	if o.Blocks == 0 {
		o.Blocks = defaultBlocks
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	e := &Engine{o: o, mux: http.NewServeMux(), kind: o.kind(), blocks: o.blocks(),
		answers: &answers{newest: makeNewest[storedAnswer](), items: makeNewest[chatMessage]()},
		threads: &threads{newest: makeNewest[messagesRequest]()}}
	e.marks = map[[32]byte]bool{}
	e.routes()
	return e
}

// blocks makes the block pool.
func (o *Options) blocks() *Blocks {
	b := NewBlocks(o.Blocks)
	b.watched = o.Events != nil
	return b
}

// paced reports whether answers take time.
func (o *Options) paced() bool { return o.Decode > 0 }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errGone
	}
}

func (e *Engine) routes() {
	e.handle("POST /v1/chat/completions", e.chat)
	e.handle("POST /v1/completions", e.completions)
	e.handle("POST /v1/responses", e.responses)
	e.handle("GET /v1/responses/{id}", e.answers.get)
	e.handle("POST /v1/messages", e.messages)
	e.handle("POST /v1/messages/count_tokens", e.countMessages)
	e.handle("POST /v1/embeddings", e.embeddings)
	e.handle("GET /v1/models", e.models)
	e.handle("GET /v1/models/{id...}", e.model) // names of models may contain slashes
	e.mux.HandleFunc("GET /metrics", e.metrics)
	e.handle("/", e.unknown)
}

// Stats returns a copy of the counts.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.BlocksUsed, s.Evictions = e.blocks.Used(), e.blocks.evictions
	return s
}

// Reset empties the block cache, as a restart does. Requests in progress keep their blocks until they end.
func (e *Engine) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.blocks = e.o.blocks()
	if e.o.Events != nil {
		e.o.Events.cleared()
	}
}

// publishLocked publishes what has changed in the blocks.
func (e *Engine) publishLocked() {
	if e.o.Events != nil && len(e.blocks.changes) > 0 {
		e.o.Events.changed(e.blocks.changes)
		e.blocks.changes = nil
	}
}

// ServeHTTP answers one request. A fault that cuts the connection panics with http.ErrAbortHandler, as net/http requires.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

// serves returns an error for models that the engine does not have.
func (e *Engine) serves(model string) error {
	switch {
	case model == "":
		return missing("model")
	case slices.Contains(e.o.Models, model), slices.Contains(e.o.Models, AnyModel):
		return nil
	}
	return notFound("model_not_found", "The model `%s` does not exist or you do not have access to it.", model)
}

func (e *Engine) unknown(c *call) error {
	if err := c.replaced(); err != nil {
		return err
	}
	return notFound("", "Invalid URL (%s %s)", c.req.Method, c.req.URL.Path)
}
