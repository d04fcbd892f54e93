package main

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/embed"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy"
	"reprise/proxy/admin"
	"reprise/proxy/cache"
	"reprise/proxy/gate"
	"reprise/proxy/observe/accesslog"
	"reprise/proxy/observe/align"
	"reprise/proxy/observe/whatif"
	"reprise/proxy/tracing/otlp"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/prefix"
	"reprise/store"
	"reprise/topics"
)

// service is the proxy with its admin API, its store, its topics and its request log.
type service struct {
	proxy    *proxy.Server
	admin    handler
	store    *store.Store
	topics   *topics.Topics
	revival  *revival          // nil: not begun
	undos    *admin.Undos      // they outlast a reload
	recorder *recorder         // nil: no request log
	sharing  *sharing          // nil: the store belongs to this process alone
	lines    *accesslog.Writer // nil: no access log
	traces   *otlp.Exporter    // nil: there are none
	study    *whatif.Study     // nil: the proxy is not made
	own      embed.Thresholds  // of the embedder
	reloads  *reloads          // nil: nothing is read again
}

// newService builds a service, whose access log goes to lines; nil: it has none. The caller closes both. again says how the settings were read;
// nil: once.
func newService(ctx context.Context, cfg *config.Config, log *slog.Logger, lines *accesslog.Writer, again *reloads) (*service, error) {
	embedder, err := newEmbedder(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	gates, err := cfg.Gates(embedder.Thresholds())
	if err != nil {
		return nil, err
	}
	if err := cfg.CheckContinues(embedder.Space(), embedder.Dim()); err != nil {
		return nil, err
	}
	for _, sentence := range cfg.Idle() {
		log.Warn(sentence)
	}
	if sentence := cfg.Sharing(); sentence != "" {
		log.Warn(sentence)
	}
	o := proxyOptions(cfg, log)
	defer spare()()
	o.AccessLog = newAccessLog(cfg, log, lines)
	s := &service{lines: lines, own: embedder.Thresholds(), reloads: again}
	err = s.openStore(ctx, cfg, &o, embedder, log)
	if err != nil {
		return nil, err
	}
	s.topics, err = topics.New(topics.Options{Dim: embedder.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge,
		PaperAnchors: cfg.PolicyName() == "rac-paper"})
	if err != nil {
		return nil, errors.Join(err, s.closeStore())
	}
	o.Store, o.Topics, o.Embedder, o.Thresholds, o.Words = s.store, s.topics, embedder, gates, cfg.Embedder == "builtin"
	if cfg.Record != "" {
		if s.recorder, err = openRecorder(cfg.Record, cfg.LogPrompts, log); err != nil {
			return nil, errors.Join(err, s.release(0))
		}
		o.Readers = []cache.Reader{s.recorder}
	}
	s.beginStudy(cfg, &o)
	s.traces = startTraces(cfg, log)
	o.Tracer = s.traces.Tracer()
	if s.proxy, err = proxy.New(o); err != nil {
		return nil, errors.Join(err, s.release(0))
	}
	if s.sharing != nil {
		s.sharing.begin(s.proxy.Cache())
	}
	s.revival = revive(s.proxy.Cache(), s.adopted, log)
	s.undos = admin.NewUndos(s.proxy)
	s.admin.set(s.newAdmin(cfg))
	return s, nil
}

// reload puts the settings in force that can change while the service runs.
func (s *service) reload(cfg *config.Config, log *slog.Logger) error {
	if _, err := cfg.Gates(s.own); err != nil {
		return err
	}
	if err := s.proxy.Reload(proxyOptions(cfg, log)); err != nil {
		return err
	}
	s.admin.set(s.newAdmin(cfg))
	return nil
}

// handler is an HTTP handler that can be replaced while it serves.
type handler struct{ current atomic.Pointer[http.Handler] }

func (h *handler) set(to http.Handler) { h.current.Store(&to) }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*h.current.Load()).ServeHTTP(w, r)
}

// reports is what the admin API shows of a service with its settings. It implements admin.Reports.
type reports struct {
	s   *service
	cfg *config.Config
}

// Report implements admin.Reports.
func (r reports) Report(ctx context.Context, name string) any {
	switch name {
	case "stats":
		return r.s.proxy.Stats()
	case "config":
		return r.cfg.Effective()
	case "frames":
		return r.s.proxy.Frames()
	case "misses":
		return r.s.proxy.Misses().Report(r.s.repairs(r.cfg))
	case "whatif":
		return r.s.study.Report(ctx, r.s.judging(r.cfg))
	}
	return nil
}

// newAdmin returns the admin API of the service.
func (s *service) newAdmin(cfg *config.Config) http.Handler {
	o := admin.Options{Proxy: s.proxy, Entries: s.store, Topics: s.topics, Upstreams: s.proxy.Upstreams(),
		Settle:   func() { s.proxy.Cache().Stats() },
		Prefixes: func(life time.Duration, n int) any { return s.proxy.Prefixes(life, n) }, Policy: cfg.Policy, Token: cfg.AdminToken,
		Loopback: config.Loopback(cfg.AdminListen), Trusted: cfg.TrustedHosts,
		Reports: reports{s, cfg},
		Rule:    func(a admin.Asked) (any, bool) { return s.ruleOf(cfg, a) },
		Client:  cfg.ClientTimeout}
	o.Watch, o.Overview = s.proxy.Watch(), func(to *admin.Overview) { s.overview(cfg, to) }
	o.Learner, o.Alignment, o.Undos = s.proxy.Learning(), s.proxy.Alignment(), s.undos
	if s.recorder != nil {
		o.Lost = s.recorder.lost.Load
	}
	if s.lines != nil {
		o.LogLost = s.lines.Lost
	}
	if s.reloads != nil {
		o.Reloads = s.reloads.last
	}
	if s.sharing != nil {
		o.Shared = s.sharing.state
	}
	o.Embedder, o.Release = s.embedderState(), admin.Release(cli.ReadRelease())
	return admin.New(o)
}

// flightTimeout is how long close waits for flights whose clients were just disconnected. Such flights end on their own.
const flightTimeout = time.Second

// close ends the service after its HTTP servers were closed, and flushes the store and the request log. What other processes are to get
// has until the limit.
func (s *service) close(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), flightTimeout)
	defer cancel()
	s.proxy.Close()
	_ = s.proxy.Wait(ctx) // no client waits for a flight that is still open
	return s.release(limit)
}

// release closes the parts of the service, first the connection with others: until then their changes come in.
func (s *service) release(limit time.Duration) (err error) {
	s.revival.close()
	s.study.Close()
	if s.sharing != nil {
		s.sharing.part(limit)
	}
	s.topics.Close()
	if s.recorder != nil {
		err = s.recorder.close()
	}
	s.traces.Close(tracesTimeout)
	return errors.Join(err, s.closeStore())
}

// closeStore writes what the store has to write.
func (s *service) closeStore() error {
	err := s.store.Close()
	if s.sharing != nil {
		err = errors.Join(err, s.sharing.link.Close())
	}
	return err
}

func proxyOptions(cfg *config.Config, log *slog.Logger) proxy.Options {
	return proxy.Options{
		Upstreams: cfg.Targets(), UpstreamKey: cfg.UpstreamKey, Routing: routing(cfg), Hints: hints(cfg), Continues: cfg.Routing.Continues, Canonical: forms(cfg),
		Mode: proxy.Mode(cfg.Mode), TenantFrom: proxy.TenantSource(cfg.TenantFrom), IgnoreHeaders: cfg.IgnoreHeaders, Ignore: cfg.Ignored(),
		Rules: cfg.RuleSet(), TTL: cfg.TTL, StaleIfError: cfg.StaleIfError,
		MemoryLimit: cfg.MemoryLimit, MaxEntryBytes: cfg.MaxEntryBytes, CacheToolCalls: cfg.ToolCalls,
		Limits:       proxy.Limits{Client: cfg.ClientTimeout, Limits: cfg.Limits()},
		MaxErrorRate: errorRate(cfg), JudgeModel: cfg.JudgeModel, JudgeBudget: judgeBudget,
		Access:      gate.Access{ClientKeys: cfg.ClientKeys, Paths: cfg.APIPaths, Trusted: cfg.TrustedHosts, Loopback: config.Loopback(cfg.Listen)},
		Concurrency: upstream.Concurrency{Calls: cfg.MaxConcurrent},
		Keepalive:   cfg.StreamKeepalive,
		Prices:      cfg.Prices,
		AdminToken:  cfg.AdminToken, Explain: cfg.Explain, LogPrompts: cfg.LogPrompts,
		Logger: log,
	}
}

// errorRate is the largest expected share of wrong answers, in the form of options where 0 is the default.
func errorRate(cfg *config.Config) float64 {
	if cfg.MaxErrorRate == 0 {
		return -1
	}
	return cfg.MaxErrorRate
}

// judgeBudget is how often the judge model is asked within an hour.
const judgeBudget = 60

// leaders is the least length, in tokens, of a prefix that no replica holds for which, of several requests that share it, one goes first.
const leaders = 2048

// forms are the canonical forms of requests.
func forms(cfg *config.Config) proxy.Forms {
	all := proxy.Forms{}
	for endpoint, level := range cfg.Routing.Canonical {
		l, _ := align.ParseLevel(level) // it was checked with the settings
		all[endpoint] = align.NewCanonicaliser(l, cfg.Routing.Volatile)
	}
	return all
}

// routing is how one of several upstreams is chosen. Proxies with the same REPRISE_SECRET choose alike.
func routing(cfg *config.Config) proxy.Routing {
	r := proxy.Routing{Leaders: leaders}
	if cfg.Shared.Secret != "" {
		r.Seed = prefix.Seed("routing", cfg.Shared.Secret)
	}
	return r
}

// newLogger returns a logger and its level, which can be changed.
func newLogger(cfg *config.Config, w io.Writer) (*slog.Logger, *slog.LevelVar) {
	level := &slog.LevelVar{}
	level.Set(cfg.LogLevel)
	o := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), level
	}
	return slog.New(slog.NewTextHandler(w, o)), level
}

// newAccessLog returns the access log, nil where there is none. It follows the level of log, which may change.
func newAccessLog(cfg *config.Config, log *slog.Logger, to *accesslog.Writer) *accesslog.Log {
	if to == nil {
		return nil
	}
	return accesslog.New(accesslog.Options{Out: to, JSON: cfg.LogFormat == "json",
		Enabled: func() bool { return log.Enabled(context.Background(), slog.LevelInfo) }})
}

// openStore opens the store, and connects it in o with the processes that share it.
func (s *service) openStore(ctx context.Context, cfg *config.Config, o *proxy.Options, e embed.Embedder, log *slog.Logger) (err error) {
	if cfg.Store.Shared() == "" {
		s.store, err = openOwn(cfg, e, log)
		return err
	}
	purged := func(f store.Filter) { s.proxy.Purged(f) } // not before the proxy is made
	if s.sharing, err = join(ctx, cfg, e, purged, log); err != nil {
		return err
	}
	s.store = s.sharing.kept
	o.Remote, o.Log, o.Now = s.sharing, s.sharing, s.sharing.Now
	o.Purges, o.Ceiling, o.NearBytes = s.sharing.Count, capacity(cfg), cfg.Shared.NearBytes
	o.Leads = s.sharing
	return nil
}

// openOwn opens a store of this process alone.
func openOwn(cfg *config.Config, e embed.Embedder, log *slog.Logger) (*store.Store, error) {
	evictor, err := registry.New(cfg.Policy, cfg.PolicyOptions())
	if err != nil {
		return nil, err
	}
	faults := proxy.NewFaultLog(log)
	o := store.Options{
		Secret: ownSecret(cfg.Shared.Secret),
		Limit:  capacity(cfg), Evictor: evictor, MaxUnwritten: config.MaxUnwritten,
		OnFault: func(step string, err error) { faults.Report(context.Background(), "store: "+step, err) },
	}
	o.Space, o.Dim, o.Former = vectors(e)
	if o.Backing, err = cfg.Store.Open(); err != nil {
		return nil, withStoreHint(err)
	}
	s, err := store.Open(o)
	if err != nil {
		return nil, withStoreHint(err)
	}
	logReport(log, s.Stats().Report)
	return s, nil
}

// ownSecret returns the secret of a store that this process has for itself; zero makes the store draw one.
func ownSecret(text string) (secret [32]byte) {
	if text != "" {
		b, err := hkdf.Key(sha256.New, []byte(text), nil, "reprise store", len(secret))
		if err != nil {
			panic(err) // the length is allowed
		}
		copy(secret[:], b)
	}
	return secret
}

func capacity(cfg *config.Config) policy.Limit {
	return policy.Limit{Entries: cfg.CapacityEntries, Bytes: cfg.CapacityBytes}
}

// withStoreHint adds the setting to change to an error of the store.
func withStoreHint(err error) error {
	return fmt.Errorf("%w (REPRISE_STORE says where answers are kept: %s)", err, config.PlaceForms())
}

// logReport logs the damage that was found when the store was opened.
func logReport(log *slog.Logger, r store.Report) {
	if r.Aside != "" {
		log.Warn("the structure of the store file was damaged: it was moved aside and the cache starts empty", "file", r.Name, "aside", r.Aside)
	}
	if r.Skipped > 0 {
		log.Warn("damaged records in the store file were skipped", "file", r.Name, "records", r.Skipped)
	}
}

// hints are what the upstreams are asked for.
func hints(cfg *config.Config) proxy.Hints {
	h := proxy.Hints{Affinity: cfg.Routing.Hint("affinity"), Breakpoints: cfg.Routing.Hint("breakpoints"), Retention: cfg.Routing.Hint("retention")}
	if cfg.Routing.Hint("warm") {
		h.WarmBudget = cfg.Routing.WarmBudget
	}
	return h
}
