package proxy

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reprise/embed"
	"reprise/proxy/continuation"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/hint"
	"reprise/proxy/upstream/prefix"
	"reprise/store"
)

// Routing is how one of several upstreams is chosen for a request. It has no effect where there is one.
type Routing struct {
	Seed           uint64        // equal in proxies that are to choose alike without a shared store; default: one that follows from the upstreams
	Leaders        int           // see upstream.Options
	SlowStart      time.Duration // see upstream.Options
	HealthInterval time.Duration // see upstream.Options
}

// seed is that of the choice.
func (o *Options) seed() uint64 {
	if o.Routing.Seed != 0 {
		return o.Routing.Seed
	}
	var parts []string
	for _, t := range o.Upstreams {
		parts = append(parts, t.Name, t.Base.Redacted())
	}
	return prefix.Seed(parts...)
}

// Hints is what the proxy asks of the upstreams beside the client's request, where their dialects can express it. Salts are asked for by
// upstream.Target.
type Hints struct {
	Affinity    bool // names of the prefix and of the conversation, by which a router behind the upstream chooses
	Breakpoints bool // the end of a prefix is marked where its residual rate pays for the write
	Retention   bool // a longer life is asked for where that pays, and none where no write does
	WarmBudget  int  // prompt tokens a minute that the proxy may send by itself to keep prefixes in the caches of upstreams; 0: none
}

// hints computes prefix chains and intents.
type hints struct {
	o       Hints
	secret  func() [32]byte
	purges  func() store.Mark
	now     func() time.Time
	seed    uint64 // of the chains
	salted  bool   // an upstream gets a salt: tenants share no blocks there
	chained bool   // something reads chains
	keys    atomic.Pointer[keyring]
	chains  sync.Pool      // of *prefix.Chain
	worth   *hint.Prefixes // nil: nothing reads chains
}

// keyring is the Keys of one secret. That of a shared store may change, when the store is reached for the first time.
type keyring struct {
	secret [32]byte
	keys   *hint.Keys
}

// newHints returns the hints for o, which has its defaults.
func newHints(o *Options) *hints {
	h := &hints{o: o.Hints, secret: o.Store.Secret, purges: o.Purges, now: o.Now, seed: o.seed()}
	h.chains.New = func() any { return new(prefix.Chain) }
	h.salted = slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool { return t.Salt })
	h.o.Affinity = h.o.Affinity && slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool { return !mute(t.Dialect) })
	h.chained = len(o.Upstreams) > 1 || h.o.WarmBudget > 0 || h.o.Affinity || h.o.Breakpoints || h.o.Retention
	if h.chained {
		h.worth = hint.NewPrefixes()
	}
	return h
}

// mute reports whether a dialect expresses no name.
func mute(name string) bool {
	return name == "" || name == dialect.Default || name == dialect.Nothing
}

// current returns the keys under the present secret and after the last purge.
func (h *hints) current() *hint.Keys {
	secret := h.secret()
	k := h.keys.Load()
	if k == nil || k.secret != secret {
		k = &keyring{secret, hint.New(hint.Options{Secret: secret[:], Affinity: h.o.Affinity, Salt: h.salted})}
		h.keys.Store(k)
	}
	if m := h.purges(); k.keys.Generation() != m.Log+m.Purges {
		k.keys.SetGeneration(m.Log + m.Purges)
	}
	return k.keys
}

// chain returns the prefix chain of q, nil where nothing reads it. The caller gives it back with drop.
func (h *hints) chain(q *request) *prefix.Chain {
	if !h.chained {
		return nil
	}
	tenant := ""
	if h.salted {
		tenant = q.tenant
	}
	c := h.chains.Get().(*prefix.Chain)
	c.Begin(h.seed ^ prefix.Seed(q.Model, tenant, q.s.opts.Canonical[q.family.Name].Version())) // under another form, prefixes are others
	for _, s := range q.Segments {
		c.Add(prefix.Kind(s.Kind), s.Of(q.body))
	}
	return c
}

// largeChain is how many blocks a chain may have that is kept for another request: 4 MiB of text.
const largeChain = 1 << 14

// drop takes back a chain.
func (h *hints) drop(c *prefix.Chain) {
	if c != nil && cap(c.Blocks) <= largeChain {
		h.chains.Put(c)
	}
}

// intent is what the proxy wants for q, whose chain is c.
func (h *hints) intent(q *request, c *prefix.Chain) dialect.Intent {
	want := h.names(q, c)
	want.StreamUsage = q.needsUsage()
	return want
}

// names are the names of prefix, conversation and tenant.
func (h *hints) names(q *request, c *prefix.Chain) dialect.Intent {
	if !h.o.Affinity && !h.salted {
		return dialect.Intent{}
	}
	return h.current().Intent(hint.Request{Tenant: q.tenant, Model: q.Model, Header: q.http.Header, Body: q.body, Chain: c}, h.now())
}

// group is what requests have in common that can share an answer.
func (q *request) group() uint64 { return binary.LittleEndian.Uint64(q.req.Scope[:]) }

// missed notes that q, whose chain is c, goes to an upstream. It returns how often per second requests with its tools and system prompt do,
// 0 where nothing asks for it.
func (h *hints) missed(q *request, c *prefix.Chain) (residual float64) {
	if c == nil {
		return 0
	}
	now, opening := h.now(), c.Opening
	residual = h.worth.Miss(hint.Miss{Group: q.group(), Chain: c, Turn: len(q.Turns) + 1, Tenant: q.tenant, Model: q.Model, Path: q.family.Path}, now)
	q.s.warmer.note(q, c, now)
	if mayEmbed(q) {
		q.s.continuation.Predict(q.Request, q.body, func(p float64) { h.worth.Predicted(opening, p, now) })
	}
	if !h.o.Breakpoints && !h.o.Retention {
		return 0
	}
	return residual
}

// mayEmbed reports whether texts of q may go to the embedder for its prefix alone: to one that calls a server only those that are compared by
// meaning, and none of a client that forbids to keep anything of its request.
func mayEmbed(q *request) bool {
	_, remote := q.s.opts.Embedder.(embed.Remote)
	return !q.d.NoStore && (!remote || q.rule != nil && q.rule.Mode.Compares())
}

// newContinuation returns what predicts whether conversations go on, nil where nothing ranks prefixes.
func (s *Server) newContinuation() *continuation.Predictor {
	o := continuation.Options{Model: s.opts.Continues, Embedder: s.opts.Embedder, Limit: max(s.opts.Limits.Embed, 0),
		Guard: func(step func() error) { s.faults.guard("continuation", step) }}
	if s.hints.worth == nil {
		o.Model = nil
	}
	return continuation.New(o)
}

// answered notes that q is answered without an upstream.
func (h *hints) answered(q *request) {
	if h.worth != nil {
		h.worth.Hit(q.group(), h.now())
	}
}

// Prefixes lists the prefixes of recent misses that are worth most to the caches of the upstreams, if they are kept for life, at most n. It is
// empty where nothing depends on prefixes: there is one upstream, of which no hint is asked.
func (s *Server) Prefixes(life time.Duration, n int) []hint.Ranked {
	if s.hints.worth == nil {
		return []hint.Ranked{}
	}
	return s.hints.worth.Rank(life, n, s.opts.Now())
}

// Upstreams is what sends the requests of a server to the upstreams, for reports and for an operator who drains one.
func (s *Server) Upstreams() *upstream.Client { return s.upstream }

// Generation is the number of the names under which upstreams cache for a server, which every purge raises, and whether a restart keeps it.
func (s *Server) Generation() (n uint64, durable bool) {
	if s.opts.Remote != nil {
		return s.opts.Purges().Purges, true
	}
	return s.opts.Store.Purges()
}

// several reports whether there is more than one upstream, so that an answer says which one it is of.
func several(o *Options) bool { return len(o.Upstreams) > 1 }
