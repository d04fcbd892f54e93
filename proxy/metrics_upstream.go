package proxy

import (
	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/upstream"
	"reprise/proxy/upstream/health"
)

var (
	descInjected  = describe("hint_injected_total", "Fields that the proxy has added to requests for an upstream.", "dialect", "field")
	descNoop      = describe("hint_noop_total", "Wishes that the dialect of an upstream cannot express.", "dialect", "field")
	descRejected  = describe("hint_rejected_total", "Fields that an upstream has refused, and that are left out for an hour.", "dialect", "field")
	descInFlight  = describe("upstream_in_flight", "Requests at one of several upstreams that have not ended.", "upstream")
	descHealth    = describe("upstream_health", "1 for the state of one of several upstreams, 0 for the others.", "upstream", "state")
	descPassed    = describe("upstream_passed_total", "Requests that an upstream refused before it had worked on them, and that went to another one.", "upstream")
	descInstead   = describe("upstream_fallback_total", "Requests that a fallback got because no other upstream could take them.", "upstream")
	descEjections = describe("upstream_ejections_total", "Times that an upstream got no requests for a while because several in a row had failed.", "upstream")
	descFollowers = describe("upstream_followers_total", "Requests that waited for another one with the same cold prefix.", "upstream")
	descPrompt    = describe("upstream_prompt_tokens_total", "Tokens of the prompts of answers that report how many of them were cached.", "upstream")
	descCached    = describe("upstream_cached_tokens_total", "Of these, tokens that the upstream had in its cache.", "upstream")
	descWritten   = describe("cache_write_tokens_total", "Tokens that an upstream has written to its cache at a price of their own.", "upstream")
)

// describeUpstreams lists the metrics of upstreams.
func describeUpstreams(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descInjected, descNoop, descRejected, descInFlight, descHealth, descPassed, descInstead, descEjections, descFollowers,
		descPrompt, descCached, descWritten} {
		ch <- d
	}
}

// newPredicted is how well the proxy predicts what upstreams have cached.
func newPredicted() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "reprise_prefix_predicted_vs_cached",
		Help:    "Share of a prompt that the upstream had cached, less the share that was predicted; below 0, less was cached.",
		Buckets: []float64{-0.75, -0.5, -0.25, -0.1, -0.05, 0.05, 0.1, 0.25, 0.5, 0.75}})
}

func countOf(ch chan<- prometheus.Metric, d *prometheus.Desc, n int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

// collectHints reads what became of hints. Several upstreams may have one dialect.
func collectHints(ch chan<- prometheus.Metric, all []upstream.HintCount) {
	type name struct{ dialect, field string }
	sums := map[name]upstream.HintCount{}
	for _, h := range all {
		s := sums[name{h.Dialect, h.Field}]
		s.Added, s.Noop, s.Refused = s.Added+h.Added, s.Noop+h.Noop, s.Refused+h.Refused
		sums[name{h.Dialect, h.Field}] = s
	}
	for n, s := range sums {
		countOf(ch, descInjected, s.Added, n.dialect, n.field)
		countOf(ch, descNoop, s.Noop, n.dialect, n.field)
		countOf(ch, descRejected, s.Refused, n.dialect, n.field)
	}
}

// collectReplicas reads the state and the counts of each upstream.
func collectReplicas(ch chan<- prometheus.Metric, all []upstream.Status) {
	for _, s := range all {
		n := s.Counts
		countOf(ch, descPrompt, n.Prompt, s.Name)
		countOf(ch, descCached, n.Cached, s.Name)
		countOf(ch, descWritten, n.Written, s.Name)
		countOf(ch, descFollowers, n.Followers, s.Name)
		if len(all) == 1 {
			continue
		}
		countOf(ch, descPassed, n.Passed, s.Name)
		countOf(ch, descInstead, n.Instead, s.Name)
		countOf(ch, descEjections, n.Ejections, s.Name)
		ch <- prometheus.MustNewConstMetric(descInFlight, prometheus.GaugeValue, float64(s.Load.InFlight), s.Name)
		for _, state := range []health.Condition{health.Up, health.Starting, health.SetAside, health.Failing, health.Ejected, health.Down, health.Draining} {
			is := 0.0
			if s.Health.Condition == state {
				is = 1
			}
			ch <- prometheus.MustNewConstMetric(descHealth, prometheus.GaugeValue, is, s.Name, string(state))
		}
	}
}
