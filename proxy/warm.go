package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
	"reprise/proxy/api"
	"reprise/proxy/canon"
	"reprise/proxy/observe"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/prefix"
	"reprise/store"
)

// warmer keeps prefixes in the caches of upstreams that forget them after a time without a use: shortly before that, it sends the tools and
// the system prompt of an application with the shortest question. It does so only where the application is expected back in time, under the
// operator's credential, and within a budget.
type warmer struct {
	s      *Server
	budget float64 // prompt tokens a minute
	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{}

	requests, tokens prometheus.Counter // that were sent

	mu     sync.Mutex // guards what follows
	kept   map[prefix.Block]*warmable
	left   float64 // of the budget
	filled time.Time
}

// warmable is the scaffold of an application.
type warmable struct {
	reading        // of body
	account string // that its calls count for
	body    []byte
	family  *api.Family
	tokens  int
	made    time.Time // the body
	used    time.Time // by the warmer
}

// What is kept to be sent again, and how often it is looked through. A shorter scaffold is not cached by any upstream that forgets by time.
const (
	mostWarmables  = 64
	mostWarmBody   = 256 << 10
	leastWarmBytes = 1024 * prefix.BlockBytes / prefix.BlockTokens
	warmEvery      = 10 * time.Second
	warmLimit      = time.Minute // for one request
)

// newWarmer returns a warmer, nil where nothing is to be warmed. Without a credential of the operator's nothing is: a
// client's is for the client's own requests.
func (s *Server) newWarmer() *warmer {
	if s.opts.Hints.WarmBudget <= 0 || s.hints.worth == nil || s.opts.UpstreamKey == "" {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &warmer{s: s, budget: float64(s.opts.Hints.WarmBudget), ctx: ctx, stop: stop, done: make(chan struct{}), kept: map[prefix.Block]*warmable{}, filled: s.opts.Now(),
		requests: prometheus.NewCounter(prometheus.CounterOpts{Name: "reprise_warm_requests_total", Help: "Requests that the proxy has sent by itself to keep prefixes in the caches of upstreams."}),
		tokens:   prometheus.NewCounter(prometheus.CounterOpts{Name: "reprise_warm_tokens_total", Help: "Tokens of the prompts of those, about."})}
	s.metrics.vectors = append(s.metrics.vectors, w.requests, w.tokens)
	return w
}

// start begins to warm, until close.
func (w *warmer) start() {
	if w != nil {
		go w.run()
	}
}

func (w *warmer) run() {
	defer close(w.done)
	ticker := time.NewTicker(warmEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.s.faults.guard("warm", func() error { w.round(w.ctx); return nil })
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *warmer) close() {
	if w != nil {
		w.stop()
		<-w.done
	}
}

// Forget forgets all scaffolds: a purge may have been about them.
func (w *warmer) Forget(store.Filter) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		clear(w.kept)
	}
}

// note keeps the scaffold of q, whose chain is c, unless the client forbids to keep anything of its request.
func (w *warmer) note(q *request, c *prefix.Chain, now time.Time) {
	if w == nil || q.d.NoStore || c.Shared < leastWarmBytes || c.Shared > mostWarmBody || w.s.upstream.Life(q.Model) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.kept[c.Scaffold]
	if old != nil && now.Sub(old.made) < time.Hour || q.req.Epoch != w.s.cache.Epoch() { // the request came before a purge
		return
	}
	body := warmBody(q)
	parsed, err := q.family.Parse(body, canon.Identity{})
	if body == nil || err != nil {
		return
	}
	if old == nil && len(w.kept) >= mostWarmables {
		w.forgetOldest()
	}
	w.kept[c.Scaffold] = &warmable{reading: reading{tenant: q.tenant, Request: parsed}, account: w.s.account(q.http, q.tenant), body: body, family: q.family, tokens: c.Shared * prefix.BlockTokens / prefix.BlockBytes, made: now}
}

func (w *warmer) forgetOldest() {
	var oldest prefix.Block
	for b, k := range w.kept {
		if first := w.kept[oldest]; first == nil || k.made.Before(first.made) {
			oldest = b
		}
	}
	delete(w.kept, oldest)
}

// warmBody is the request of q with the shortest question in place of the conversation, nil where its form is not known here.
func warmBody(q *request) []byte {
	var tools, system [][]byte
	for _, s := range q.Segments {
		switch s.Kind {
		case canon.SegmentTools:
			tools = append(tools, s.Of(q.body))
		case canon.SegmentSystem:
			system = append(system, s.Of(q.body))
		}
	}
	model, _ := json.Marshal(q.Model)
	b := append([]byte(`{"model":`), model...)
	format := "response_format"
	switch q.family.Path {
	case "/v1/chat/completions":
		b = append(b, `,"max_completion_tokens":16,"messages":[`...)
		b = append(append(b, bytes.Join(append(system, []byte(`{"role":"user","content":"."}`)), []byte(","))...), ']')
	case "/v1/responses":
		format = "text"
		if len(system) != 1 || system[0][0] != '"' { // others are a part of the input
			return nil
		}
		b = append(append(b, `,"max_output_tokens":16,"store":false,"input":".","instructions":`...), system[0]...)
	default:
		return nil
	}
	if len(tools) == 1 {
		b = append(append(b, `,"tools":`...), tools[0]...)
	}
	if schema := gjson.Get(rawjson.View(q.body), format); schema.Exists() { // it is rendered before the system prompt
		b = append(append(append(b, `,"`...), format...), `":`...)
		b = append(b, schema.Raw...)
	}
	return append(b, '}')
}

// errNotWarmed is why a scaffold is not sent again.
var errNotWarmed = errors.New("the upstream refuses a request that keeps a prefix warm")

// worthWarming is the least probability that a prefix is used within the life that a warming gives it: as for a write at 1.25 times the
// price, though a warming that hits costs a tenth only.
const worthWarming = 0.28

// round sends what is due.
func (w *warmer) round(ctx context.Context) {
	for _, b := range w.due(w.s.opts.Now()) {
		w.send(ctx, b)
	}
}

// due takes those scaffolds out of the budget that are about to be forgotten, and expected back.
func (w *warmer) due(now time.Time) (all []prefix.Block) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = min(w.left+w.budget*now.Sub(w.filled).Minutes(), w.budget)
	w.filled = now
	for b, k := range w.kept {
		residual, idle, known := w.s.hints.worth.Residual(b, now)
		life := w.s.upstream.Life(k.Model)
		if !known || life == 0 {
			delete(w.kept, b)
			continue
		}
		if !k.used.IsZero() {
			idle = min(idle, now.Sub(k.used))
		}
		if idle < life*8/10 || idle >= life || 1-math.Exp(-residual*life.Seconds()) < worthWarming || w.left < float64(k.tokens) {
			continue
		}
		w.left -= float64(k.tokens)
		k.used = now
		all = append(all, b)
	}
	return all
}

// send sends one scaffold. What an upstream refuses is not sent again.
func (w *warmer) send(ctx context.Context, b prefix.Block) {
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	w.mu.Lock()
	k := w.kept[b]
	w.mu.Unlock()
	if k == nil {
		return
	}
	r := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: k.family.Path}, Header: http.Header{"Content-Type": {"application/json"}}}).WithContext(ctx)
	q := &request{reading: k.reading, s: w.s, family: k.family, http: r, body: k.body}
	chain := w.s.hints.chain(q)
	defer w.s.hints.drop(chain)
	status := 0
	reply, err := w.s.upstream.Call(ctx, upstream.Request{Tenant: k.account, Original: r, Body: k.body, Model: k.Model, Chain: chain, Want: w.s.hints.names(q, chain)})
	if err == nil {
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
		reply.Body.Close()
		status = reply.StatusCode
		w.s.observers.Ended(&observe.Outcome{Tenant: k.tenant, Call: calledFor(k.Model, reply, text)})
	}
	if status == http.StatusOK {
		w.requests.Inc()
		w.tokens.Add(float64(k.tokens))
		return
	}
	w.s.faults.report(ctx, "warm", cmp.Or(err, errNotWarmed))
	w.mu.Lock()
	delete(w.kept, b)
	w.mu.Unlock()
}
