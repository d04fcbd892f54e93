package proxy

import (
	"encoding/json"
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/sony/gobreaker/v2"

	"reprise/policy/guard"
	"reprise/proxy/canon"
	"reprise/store"
)

// step is a part of a request that is timed on its own.
type step int

const (
	stepEmbed step = iota
	stepSearch
	stepUpstream
	steps
)

var stepNames = [steps]string{"embed", "search", "upstream"}

// families are the endpoints as the metrics name them; the last is every path that is not cached.
var families = [...]string{"chat", "completions", "responses", "embeddings", "other"}

func familyIndex(f canon.Family) int {
	if f < canon.Chat || f > canon.Embeddings {
		return len(families) - 1
	}
	return int(f - canon.Chat)
}

// metrics owns every number that the proxy counts. No label ever holds a tenant, key, topic or prompt.
type metrics struct {
	registry *prometheus.Registry

	requests  [len(families)][results]atomic.Int64
	durations [results]prometheus.Observer
	steps     [steps]prometheus.Observer

	stored      atomic.Int64
	shadowHits  atomic.Int64
	vetoes      *prometheus.CounterVec
	vetoCount   atomic.Int64
	unstored    *prometheus.CounterVec
	faults      *prometheus.CounterVec
	tokensSaved [results]struct{ input, output atomic.Int64 }
	timeSaved   atomic.Int64 // nanoseconds
}

func newMetrics(s *Server) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reprise_" + name, Help: help}, []string{label})
		m.registry.MustRegister(c)
		return c
	}
	m.vetoes = counter("guard_vetoes_total", "Semantic matches that a guard refused.", "guard")
	m.unstored = counter("not_stored_total", "Answers of the upstream that were not kept, by reason.", "reason")
	m.faults = counter("degraded_total", "Faults of a step; but for the upstream's own, no request failed of them.", "step")
	histogram := func(name, help, label string, lowest float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "reprise_" + name, Help: help,
			Buckets: prometheus.ExponentialBuckets(lowest, 4, 10), NativeHistogramBucketFactor: 1.1}, []string{label})
		m.registry.MustRegister(h)
		return h
	}
	durations := histogram("request_duration_seconds", "From a request's arrival to the last byte of its answer.", "result", 50e-6)
	for r, name := range resultNames {
		m.durations[r] = durations.WithLabelValues(name)
	}
	stepTimes := histogram("step_duration_seconds", "Time of one step of a request.", "step", 5e-6)
	for i, name := range stepNames {
		m.steps[i] = stepTimes.WithLabelValues(name)
	}
	m.registry.MustRegister(&gauges{s: s, m: m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) request(f canon.Family, r Result, took time.Duration) {
	m.requests[familyIndex(f)][r].Add(1)
	m.durations[r].Observe(took.Seconds())
}

func (m *metrics) step(s step, took time.Duration) { m.steps[s].Observe(took.Seconds()) }
func (m *metrics) fault(step string)               { m.faults.WithLabelValues(step).Inc() }
func (m *metrics) notStored(reason string)         { m.unstored.WithLabelValues(reason).Inc() }

func (m *metrics) veto(v guard.Veto) {
	m.vetoes.WithLabelValues(string(v)).Inc()
	m.vetoCount.Add(1)
}

func (m *metrics) saved(h *served) { m.savedBy(h.result, h.entry) }

// savedBy counts what the upstream did not have to do.
func (m *metrics) savedBy(r Result, e *store.Entry) {
	m.tokensSaved[r].input.Add(e.InputTokens)
	m.tokensSaved[r].output.Add(e.OutputTokens)
	m.timeSaved.Add(int64(e.UpstreamTime))
}

// Stats are the server's counters since its start.
type Stats struct {
	Requests                                               int64 // the sum of the next seven
	Exact, Semantic, Shared, Stale, Misses, Bypass, Errors int64
	Stored, Evictions, Topics, Vetoes, TokensSaved         int64
	Entries, Bytes                                         int64
	UpstreamSaved                                          time.Duration
}

// MarshalJSON spells the counters as the admin API and the metrics do, times in seconds.
func (st Stats) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"requests": st.Requests, "exact": st.Exact, "semantic": st.Semantic, "shared": st.Shared, "stale": st.Stale, "misses": st.Misses,
		"bypass": st.Bypass, "errors": st.Errors, "stored": st.Stored, "evictions": st.Evictions, "topics": st.Topics, "vetoes": st.Vetoes,
		"tokens_saved": st.TokensSaved, "entries": st.Entries, "bytes": st.Bytes, "upstream_seconds_saved": st.UpstreamSaved.Seconds(),
	})
}

// Stats returns the counters as they are now.
func (s *Server) Stats() Stats {
	var by [results]int64
	st := Stats{Stored: s.metrics.stored.Load(), Vetoes: s.metrics.vetoCount.Load(), UpstreamSaved: time.Duration(s.metrics.timeSaved.Load())}
	for f := range families {
		for r := range by {
			by[r] += s.metrics.requests[f][r].Load()
		}
	}
	for r, n := range by {
		st.Requests += n
		st.TokensSaved += s.metrics.tokensSaved[r].input.Load() + s.metrics.tokensSaved[r].output.Load()
	}
	st.Exact, st.Semantic, st.Shared, st.Stale = by[Exact], by[Semantic], by[Shared], by[Stale]
	st.Misses, st.Bypass, st.Errors = by[Miss], by[Bypass], by[Refused]+by[Gone]
	kept := s.store.Stats()
	st.Entries, st.Bytes, st.Evictions = int64(kept.Entries), kept.Bytes, kept.Evictions
	st.Topics = int64(s.topics.Stats().Topics)
	return st
}

// gauges collects what is counted elsewhere, at the moment it is asked for.
type gauges struct {
	s *Server
	m *metrics
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("reprise_"+name, help, labels, nil)
}

var (
	descRequests = describe("requests_total", "Requests, by endpoint and how they were answered.", "endpoint", "result")
	descTokens   = describe("tokens_saved_total", "Tokens of answers that the upstream did not have to make again.", "result", "direction")
	descTime     = describe("upstream_seconds_saved_total", "Time that the upstream took to make the answers which were served again.")
	descStored   = describe("stored_total", "Answers that were kept.")
	descShadow   = describe("shadow_hits_total", "Requests that the shadow mode would have answered by meaning.")
	descEntries  = describe("entries", "Entries in the store.")
	descBytes    = describe("bytes", "Bytes that the entries take of the capacity.")
	descAliases  = describe("aliases", "Requests remembered to mean the same as a stored one.")
	descEvicted  = describe("evictions_total", "Entries evicted for want of room, by the policy that chose them.", "policy")
	descDirty    = describe("store_dirty", "Changes that are not yet written to the file.")
	descFaults   = describe("store_faults_total", "Faults of the store: writes to its file that failed, and mistakes of the policy.")
	descSkipped  = describe("store_skipped_records", "Damaged records that were skipped when the file was opened.")
	descUnlogged = describe("record_lost_total", "Requests that the request log lacks for want of a disk that takes them.")
	descTopics   = describe("topics", "Topics.")
	descBreaker  = describe("breaker_open", "1 while a dependency is left alone after repeated failures.", "dependency")
	descBackend  = describe("index_scopes", "Scopes, by the index that serves their anchors; GET /admin/topics says why.", "backend")
	descRecall   = describe("index_recall", "Lowest recall that a graph has shown in its last self-check; absent before the first.")
	descRebuilds = describe("index_rebuilds_total", "Graphs built, whether they were good enough to serve or not.")
	descPanics   = describe("index_faults_total", "Panics of the graph library, each answered by an exact scan.")
)

func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descRequests, descTokens, descTime, descStored, descShadow, descEntries, descBytes, descAliases,
		descEvicted, descDirty, descFaults, descSkipped, descUnlogged, descTopics, descBreaker, descBackend, descRecall, descRebuilds, descPanics,
		descWeight, descRatio, descBooks} {
		ch <- d
	}
}

func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	for f, endpoint := range families {
		for r, result := range resultNames {
			count(descRequests, g.m.requests[f][r].Load(), endpoint, result)
		}
	}
	for _, r := range []Result{Exact, Semantic, Shared, Stale} {
		count(descTokens, g.m.tokensSaved[r].input.Load(), r.String(), "input")
		count(descTokens, g.m.tokensSaved[r].output.Load(), r.String(), "output")
	}
	ch <- prometheus.MustNewConstMetric(descTime, prometheus.CounterValue, time.Duration(g.m.timeSaved.Load()).Seconds())
	count(descStored, g.m.stored.Load())
	count(descShadow, g.m.shadowHits.Load())
	kept := g.s.store.Stats()
	gauge(descEntries, int64(kept.Entries))
	gauge(descBytes, kept.Bytes)
	gauge(descAliases, int64(kept.Aliases))
	count(descEvicted, kept.Evictions, g.s.opts.PolicyName)
	gauge(descDirty, int64(kept.Dirty))
	count(descFaults, kept.Faults)
	gauge(descSkipped, int64(kept.Report.Skipped))
	if g.s.opts.Unobserved != nil {
		count(descUnlogged, g.s.opts.Unobserved())
	}
	collectPanel(kept.Panel, ch)
	open := int64(0)
	if g.s.embedder.State() == gobreaker.StateOpen {
		open = 1
	}
	gauge(descBreaker, open, "embedder")
	g.collectTopics(gauge, count, ch)
}

func (g *gauges) collectTopics(gauge, count func(*prometheus.Desc, int64, ...string), ch chan<- prometheus.Metric) {
	st := g.s.topics.Stats()
	gauge(descTopics, int64(st.Topics))
	backends := map[string]int64{}
	var rebuilds, panics int
	recall := math.Inf(1)
	for _, scope := range st.Scopes {
		backends[scope.Index.Backend]++
		rebuilds += scope.Index.Rebuilds
		panics += scope.Index.Faults
		if scope.Index.Rebuilds > 0 {
			recall = min(recall, scope.Index.Recall)
		}
	}
	count(descRebuilds, int64(rebuilds))
	count(descPanics, int64(panics))
	if !math.IsInf(recall, 1) {
		ch <- prometheus.MustNewConstMetric(descRecall, prometheus.GaugeValue, recall)
	}
	for backend, n := range backends {
		gauge(descBackend, n, backend)
	}
}
