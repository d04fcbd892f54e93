package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/proxy/api"
	"reprise/proxy/api/registry"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/continuation"
	"reprise/proxy/gate"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/internal/header"
	"reprise/proxy/observe"
	"reprise/proxy/observe/accesslog"
	"reprise/proxy/observe/prices"
	"reprise/proxy/rules"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// Mode is how much of the cache is used.
type Mode = rules.Mode

// The modes.
const (
	ModeSemantic = rules.Semantic
	ModeExact    = rules.Exact
	ModeShadow   = rules.Shadow
	ModeOff      = rules.Off
)

// Modes lists the modes in the order of the documentation.
func Modes() []string {
	return []string{string(ModeSemantic), string(ModeExact), string(ModeShadow), string(ModeOff)}
}

// TenantSource is what identifies a tenant: "authorization" (every header that can hold a credential), "header:NAME" (that header,
// and the credentials of a request without it) or "none" (all clients are one tenant).
type TenantSource string

// Options configures a Server. The zero value of a field means its default where one is given.
type Options struct {
	Upstreams   []upstream.Target // the APIs behind the proxy, of which one is no fallback; a single one needs only its Base
	UpstreamKey string            // credential sent in place of the client's own to each of them without a Key; default: the client's own

	Routing Routing
	Hints   Hints
	// Purges is a count that every purge has raised before it returns: upstreams get other names for what they cache after
	// each. Default: that of Store.
	Purges func() store.Mark

	Mode       Mode             // default semantic
	APIs       *api.Registry    // the APIs that are cached; default registry.APIs
	Store      *store.Store     // required; the server does not close it
	Topics     *topics.Topics   // required; empty in the exact mode. The server does not close it
	Embedder   embed.Embedder   // required in the semantic and shadow modes
	Thresholds embed.Thresholds // the gates that Topics was made with; a client may only raise Hit

	// Continues predicts whether a conversation goes on, with the vectors of Embedder, where prefixes are ranked; default: its turn alone does.
	Continues *continuation.Model

	// Words says that Embedder compares words, and not their meaning: an answer then serves another prompt only where every difference of
	// both prompts is a listed edit.
	Words bool
	// Judge makes the judge of answers that are found by meaning. Default: a reuse.Judge with Words and MaxErrorRate.
	Judge func(*evidence.Rates) cache.Judge
	// Trust says who decides whether answers to other prompts are right in a scope; default: the scope, by comparisons.
	Trust reuse.Trust
	// MaxErrorRate is the largest expected share of wrong answers among those found by meaning; default 0.01, at most 0.2. Negative: only
	// prompts with equal normal forms share an answer.
	MaxErrorRate float64
	// JudgeModel is the model of the upstream that compares two answers where their texts do not decide, at most JudgeBudget times an hour;
	// default: none does. It needs a credential of the operator for each upstream.
	JudgeModel  string
	JudgeBudget int

	// Draw returns random numbers in [0, 1) that decide when to ask the upstream although an answer is there. Default: math/rand.
	Draw func() float64

	// Ignore is what of a request is no part of its key and scope; default: nothing.
	Ignore *canon.Ignore
	// Rules are for some requests, in the order in which they are looked at; the options above are for all others.
	Rules []*rules.Rule

	TenantFrom TenantSource // default "authorization"
	Access     gate.Access  // who may use the API, and which paths of it; default: every client, all paths
	// IgnoreHeaders are names of request headers that cannot change an answer, beside those that the proxy has as harmless. They
	// are no part of a request's identity, and are sent to the upstream as before. A name of a credential is refused.
	IgnoreHeaders []string

	// Canonical puts bodies into a canonical form, by the name of their API, before they are keyed and forwarded. Default: they stay as
	// they came. The model sees the change.
	Canonical Forms

	TTL          time.Duration // life of an answer, counted from its write; default 24h
	StaleIfError time.Duration // how long an expired answer may still be served when the upstream fails; default 0

	MaxBody       int64 // bytes of a request; default 32 MiB
	MaxEntryBytes int64 // bytes of an answer that is kept; default 1 MiB
	// MemoryLimit is how many bytes the process may take; 0 is no limit. Bodies, recordings and entries are charged against it, and
	// new work for which there is no room is refused with 503. [MostEntries] is the largest capacity of the store that fits.
	MemoryLimit    int64
	CacheToolCalls bool // keep answers that call tools, for exact repeats only

	// Prices are what tokens cost; default: they are counted without. Reload replaces them.
	Prices *prices.Table
	// AccessLog has a line for each request that has ended; default: none. The server does not close its Writer.
	AccessLog *accesslog.Log
	// Tracer begins a span for each request, and those of its steps; default: there are none.
	Tracer *tracing.Tracer

	Limits      Limits
	Concurrency upstream.Concurrency // how many upstream calls are under way at once

	// Keepalive is the time after which a comment is written to a client that waits for a stream, or for more of it; 0: none is
	// written. The first one sends status 200: an error after it is an event of the stream.
	Keepalive time.Duration

	AdminToken string // opens explain
	Explain    bool   // allow explain without the admin token
	LogPrompts bool   // prompts may appear in the log

	// Observers read the outcome of every request beside those of the server. Where there are some, the cache notes for them what the policy
	// has seen of a request, and what other settings would serve.
	Observers []observe.Observer
	Readers   []cache.Reader // read every change of the cache, in order

	// Remote and Log connect the cache with a store that several processes share, as in cache.Options. nil: Store belongs to this process
	// alone. After a purge of another process the caller calls Purged.
	Remote cache.Remote
	Log    cache.Log
	// Ceiling is the capacity of that store: above it by half a percent no answer is kept, because the process that evicts has not kept
	// up. Zero: no limit.
	Ceiling policy.Limit
	// NearBytes is what Remote may take for answers that it has at hand: so much of MemoryLimit is never given to anything else.
	NearBytes int64
	// Leads makes equal requests at several processes wait for one upstream call. nil: each process makes its own.
	Leads Leads

	Logger    *slog.Logger
	Transport http.RoundTripper // default: a pooled transport of the server's own
	Now       func() time.Time  // default time.Now
}

// MostEntries is the largest capacity of a store, in bytes, that fits a memory limit: half of it, so that new upstream calls go on
// beside a full store.
func MostEntries(limit int64) int64 { return clientio.MostEntries(limit) }

// EmbedTimeout bounds the embedding of one prompt: an upstream rarely answers sooner, and a small server on a CPU needs up to half of it.
const EmbedTimeout = time.Second

// Limits bounds how long a slow peer may delay a request. 0 means the default, a negative duration no limit.
type Limits struct {
	// Client bounds a client: each Client × 1 KiB/s of its body must come, and each 256 KiB of its answer be taken, within Client; default 30s.
	// A body has windows of 30s where there is no limit.
	Client time.Duration
	Embed  time.Duration // for embedding one prompt; default EmbedTimeout
	upstream.Limits
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&l.Embed, EmbedTimeout)
	l.Limits = l.Limits.WithDefaults()
	return l
}

func (o Options) withDefaults() Options {
	if o.APIs == nil {
		o.APIs = registry.APIs
	}
	if o.Mode == "" {
		o.Mode = ModeSemantic
	}
	if o.TenantFrom == "" {
		o.TenantFrom = "authorization"
	}
	if o.TTL == 0 {
		o.TTL = 24 * time.Hour
	}
	if o.MaxBody == 0 {
		o.MaxBody = 32 << 20
	}
	if o.MaxEntryBytes == 0 {
		o.MaxEntryBytes = 1 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxErrorRate == 0 {
		o.MaxErrorRate = 0.01
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Purges == nil && o.Store != nil {
		o.Purges = func() store.Mark {
			n, _ := o.Store.Purges()
			return store.Mark{Purges: n}
		}
	}
	o.Limits = o.Limits.withDefaults()
	return o
}

// Validate returns what is wrong with o, in words for an operator.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := o.upstream().Validate(); err != nil {
		errs = append(errs, err)
	}
	for _, rule := range o.rules().All() {
		if err := o.checkRule(rule); err != nil {
			errs = append(errs, err)
		}
	}
	if o.Continues != nil && o.Embedder == nil {
		bad("a model of continuations needs an embedder")
	}
	if o.Store == nil || o.Topics == nil {
		bad("a store and topics are required")
	}
	if err := o.TenantFrom.check(); err != nil {
		errs = append(errs, err)
	}
	if o.MemoryLimit < 0 {
		bad("memory limit %d must not be negative", o.MemoryLimit)
	}
	if len(o.Access.ClientKeys) > 0 && o.UpstreamKey == "" && slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool { return t.Key == "" }) {
		bad("client keys need an upstream key: without one, the credential of a client goes to the upstream")
	}
	if o.JudgeModel != "" && o.UpstreamKey == "" && slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool { return t.Key == "" }) {
		bad("judge model %q needs an upstream key: a client's credential is for the client's own requests", o.JudgeModel)
	}
	for _, name := range o.IgnoreHeaders {
		if err := CheckHeader(name); err != nil {
			errs = append(errs, err)
		}
	}
	if o.TTL < 0 || o.StaleIfError < 0 {
		bad("TTL %v and stale-if-error %v must not be negative", o.TTL, o.StaleIfError)
	}
	return errors.Join(errs...)
}

// rules are those for some requests and the one for all.
func (o Options) rules() *rules.Set {
	return rules.NewSet(&rules.Rule{Mode: o.Mode, MaxErrorRate: max(o.MaxErrorRate, 0), Trust: o.Trust, TTL: o.TTL, ToolCalls: o.CacheToolCalls, Ignore: o.Ignore}, o.Rules...)
}

// checkRule returns why a rule cannot be in force.
func (o *Options) checkRule(r *rules.Rule) error {
	of := ""
	if r.Name != "" {
		of = "rule " + r.Name + ": "
	}
	switch {
	case !slices.Contains(Modes(), string(r.Mode)):
		return fmt.Errorf("%smode %q is not one of %s", of, r.Mode, strings.Join(Modes(), ", "))
	case r.Mode.Compares() && o.Embedder == nil:
		return fmt.Errorf("%smode %q needs an embedder", of, r.Mode)
	case r.MaxErrorRate > 0.2 || math.IsNaN(r.MaxErrorRate):
		return fmt.Errorf("%smax error rate %v is not a number up to 0.2", of, r.MaxErrorRate)
	case r.Name != "" && r.TTL <= 0:
		return fmt.Errorf("%sTTL %v must be above 0", of, r.TTL)
	case r.Threshold != 0 && r.Mode.Compares() && !(o.Thresholds.Hit <= r.Threshold && r.Threshold <= 1):
		return fmt.Errorf("%sthreshold %v is not from %v, the hit threshold of the index, to 1", of, r.Threshold, o.Thresholds.Hit)
	}
	return nil
}

// upstream are the options of package upstream.
func (o Options) upstream() upstream.Options {
	return upstream.Options{Replicas: o.Upstreams, Key: o.UpstreamKey, Limits: o.Limits.Limits, Bounds: o.Concurrency,
		Seed: o.seed(), Leaders: o.Routing.Leaders, SlowStart: o.Routing.SlowStart, HealthInterval: o.Routing.HealthInterval,
		Breakpoints: o.Hints.Breakpoints, Retention: o.Hints.Retention,
		Transport: o.Transport, Logger: o.Logger}
}

// llamacpp reports whether an upstream is llama.cpp's server, whose path /embeddings is of an API of its own.
func (o *Options) llamacpp() bool {
	return slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool { return t.Dialect == "llamacpp" })
}

// attributes reports whether every upstream documents that the fields of a body which name a user only attribute a request to one. Another may
// answer by them, or keep what it knows of each user.
func (o *Options) attributes() bool {
	return !slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool {
		return t.Base.Hostname() != "api.openai.com" && !slices.Contains([]string{"openai", "azure-openai", "anthropic"}, t.Dialect)
	})
}

// keyed reports whether an upstream gets a credential of the operator.
func (o *Options) keyed() bool {
	return o.UpstreamKey != "" || slices.ContainsFunc(o.Upstreams, func(t upstream.Target) bool { return t.Key != "" })
}

// check accepts authorization, none, and header:NAME with the name of a header.
func (t TenantSource) check() error {
	name, isHeader := strings.CutPrefix(string(t), "header:")
	switch {
	case t == "authorization" || t == "none":
	case isHeader && name != "" && !strings.ContainsAny(name, " \t:,\r\n"):
	default:
		return fmt.Errorf("tenant source %q is not one of authorization, header:NAME, none", string(t))
	}
	return nil
}

// CheckHeader returns why a header may not be one of Options.IgnoreHeaders or Access.Headers.
func CheckHeader(name string) error {
	name = http.CanonicalHeaderKey(name)
	switch {
	case !header.IsName(name):
		return fmt.Errorf("%q is not the name of a header", name)
	case header.IsCredential(name):
		return fmt.Errorf("the header %s may hold a credential: it counts in every request, and goes to no upstream for which there is another", name)
	}
	return nil
}

// cache are the options of the cache of s. The judge gets the error rate of each request.
func (o *Options) cache(s *Server) cache.Options {
	judge := o.Judge
	if judge == nil {
		words := o.Words
		judge = func(rates *evidence.Rates) cache.Judge { return &reuse.Judge{Words: words, Rates: rates} }
	}
	return cache.Options{Store: o.Store, Topics: o.Topics, Meaning: o.rules().Compares(),
		Embedder: o.Embedder, EmbedLimit: max(o.Limits.Embed, 0), Thresholds: o.Thresholds, Judge: judge, Draw: o.Draw, Quotes: s.quotes, Readers: o.Readers, Studied: len(o.Observers) > 0,
		Found:  s.foundElsewhere,
		Remote: o.Remote, Log: o.Log, Ceiling: o.Ceiling, Now: o.Now}
}
