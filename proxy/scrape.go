package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/proxy/upstream"
)

// newPredicted is how well the proxy predicts what upstreams have cached.
func newPredicted() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "reprise_prefix_predicted_vs_cached",
		Help:    "Share of a prompt that the upstream had cached, less the share that was predicted; below 0, less was cached.",
		Buckets: []float64{-0.75, -0.5, -0.25, -0.1, -0.05, 0.05, 0.1, 0.25, 0.5, 0.75}})
}

// Metrics collects what the server counts itself.
func (s *Server) Metrics() prometheus.Collector { return scrape{s} }

// scrape collects the metrics of a server.
type scrape struct{ s *Server }

// Describe names no metric: which there are depends on what is in force.
func (scrape) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (x scrape) Collect(ch chan<- prometheus.Metric) {
	s, p := x.s, observe.Page(ch)
	for _, c := range s.metrics.vectors {
		c.Collect(ch)
	}
	collectRequests(p, s.metrics)
	for _, t := range s.alignment.Totals() {
		p.Count("prefix_parted_total", "Requests that left the prefix of an earlier one although what follows is the same, by what differs; GET /admin/alignment shows where.",
			float64(t.Requests), "class", string(t.Class))
		p.Count("prefix_lost_tokens_total", "Prompt tokens, estimated, that an engine prefills again because of that.", float64(t.Tokens), "class", string(t.Class))
	}
	if limit := s.budget.Limit(); limit > 0 {
		p.Gauge("memory_limit_bytes", "Memory that the process may take; absent where there is no limit.", float64(limit))
	}
	for kind, used := range s.budget.Used() {
		p.Gauge("memory_used_bytes", "Memory charged against the limit, by what it is for; what is not charged may take an eighth of the limit.", float64(used), "kind", kind)
	}
	load := s.upstream.Load()
	for reason, n := range map[string]int64{"memory": s.budget.Refused(), "upstream-calls": load.Refused} {
		p.Count("refused_total", "Requests answered with 503 because the proxy had too much to do, by what was short.", float64(n), "reason", reason)
	}
	for kind, n := range map[string]int{"request": load.Calls, "upgraded": load.Sockets} {
		p.Gauge("upstream_calls", "Upstream calls under way: those of requests, and connections that were upgraded, such as websockets.", float64(n), "kind", kind)
	}
	p.Gauge("upstream_queued", "Requests that wait for an upstream call, because as many as allowed are under way.", float64(load.Queued))
	collectHints(p, s.upstream.Hints())
	for state, n := range s.learner.Trusted(0).Count {
		p.Gauge("trust_scopes", "Scopes and kinds of evidence (form, edits, vectors) by whether answers to other prompts are served in them: trusted, earning (too few pairs were "+
			"compared), lost (some came out different), undecided (too many comparisons said nothing).", float64(n), "state", state)
	}
	collectReplicas(p, s.upstream.Upstreams())
	p.Flag("breaker_open", "1 while a dependency is left alone after repeated failures.", s.cache.Degraded(), "dependency", "embedder")
	if now, _ := s.cache.Embedder(); now != "" { // it calls a server
		for _, state := range cache.EmbedderStates() {
			p.Flag("embedder_state", "1 for the state of an embedder that calls a server: works, away (no answer, an error, or too late), wrong-dimension (vectors of another length "+
				"than the one that is set or stored). Without vectors only exact hits and those by the form of a prompt are served.", state == now, "state", string(state))
		}
	}
}

// collectRequests reads the counters of requests.
func collectRequests(p observe.Page, m *metrics) {
	for _, endpoint := range m.endpoints {
		for r, result := range observe.ResultNames {
			p.Count("requests_total", "Requests, by endpoint and how they were answered.", float64(m.requests[endpoint][r].Load()), "endpoint", endpoint, "result", result)
		}
	}
	for _, r := range []Result{Exact, Semantic, Shared, Stale} {
		saved := &m.tokensSaved[r]
		for direction, n := range map[string]int64{"input": saved.input.Load(), "output": saved.output.Load()} {
			p.Count("tokens_saved_total", "Tokens of answers that the upstream did not have to make again.", float64(n), "result", r.String(), "direction", direction)
		}
	}
	p.Count("upstream_seconds_saved_total", "Time that the upstream took to make the answers which were served again.", time.Duration(m.timeSaved.Load()).Seconds())
	p.Count("stored_total", "Answers that were kept.", float64(m.stored.Load()))
	p.Count("shadow_hits_total", "Requests that the shadow mode would have answered by meaning.", float64(m.shadowHits.Load()))
	p.Count("purges_not_durable_total", "Purges that were answered with 503, because the store could not write them: after a restart the entries may be back.", float64(m.undurable.Load()))
}

// collectHints reads what became of hints. Several upstreams may have one dialect.
func collectHints(p observe.Page, all []upstream.HintCount) {
	type name struct{ dialect, field string }
	sums := map[name]upstream.HintCount{}
	for _, h := range all {
		s := sums[name{h.Dialect, h.Field}]
		s.Added, s.Noop, s.Refused = s.Added+h.Added, s.Noop+h.Noop, s.Refused+h.Refused
		sums[name{h.Dialect, h.Field}] = s
	}
	for n, s := range sums {
		p.Count("hint_injected_total", "Fields that the proxy has added to requests for an upstream.", float64(s.Added), "dialect", n.dialect, "field", n.field)
		p.Count("hint_noop_total", "Wishes that the dialect of an upstream cannot express.", float64(s.Noop), "dialect", n.dialect, "field", n.field)
		p.Count("hint_rejected_total", "Fields that an upstream has refused, and that are left out for an hour.", float64(s.Refused), "dialect", n.dialect, "field", n.field)
	}
}

// collectReplicas reads the state and the counts of each upstream.
func collectReplicas(p observe.Page, all []upstream.Status) {
	for _, s := range all {
		n := s.Counts
		p.Count("upstream_prompt_tokens_total", "Tokens of the prompts of answers that report how many of them were cached.", float64(n.Prompt), "upstream", s.Name)
		p.Count("upstream_cached_tokens_total", "Of these, tokens that the upstream had in its cache.", float64(n.Cached), "upstream", s.Name)
		p.Count("cache_write_tokens_total", "Tokens that an upstream has written to its cache at a price of their own.", float64(n.Written), "upstream", s.Name)
		p.Count("upstream_followers_total", "Requests that waited for another one with the same cold prefix.", float64(n.Followers), "upstream", s.Name)
		if len(all) == 1 {
			continue
		}
		p.Count("upstream_passed_total", "Requests that an upstream refused before it had worked on them, and that went to another one.", float64(n.Passed), "upstream", s.Name)
		p.Count("upstream_fallback_total", "Requests that a fallback got because no other upstream could take them.", float64(n.Instead), "upstream", s.Name)
		p.Count("upstream_ejections_total", "Times that an upstream got no requests for a while, or none for a model, because several in a row had failed.", float64(n.Ejections), "upstream", s.Name)
		p.Gauge("upstream_in_flight", "Requests at one of several upstreams that have not ended.", float64(s.Load.InFlight), "upstream", s.Name)
		for _, state := range []upstream.Condition{upstream.Up, upstream.Starting, upstream.SetAside, upstream.Failing, upstream.Ejected, upstream.Down, upstream.Draining} {
			p.Flag("upstream_health", "1 for the state of one of several upstreams, 0 for the others.", s.Health.Condition == state, "upstream", s.Name, "state", string(state))
		}
	}
}
