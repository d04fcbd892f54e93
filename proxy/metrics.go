package proxy

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/proxy/observe/learn"
	"reprise/proxy/observe/prices"
	"reprise/proxy/observe/watch"
	"reprise/proxy/tracing"
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

// otherEndpoint is every path that is not cached.
const otherEndpoint = "other"

// metrics owns every number that the proxy counts, except those of package prices, whose labels have digests of tenants. No other label ever
// holds a tenant, and none a key, topic or prompt.
type metrics struct {
	vectors []prometheus.Collector // collected as they are

	endpoints []string                          // the names of the APIs, then otherEndpoint
	requests  map[string]*[results]atomic.Int64 // by endpoint
	durations [results]prometheus.Observer
	steps     [steps]prometheus.Observer

	stored      atomic.Int64
	shadowHits  atomic.Int64
	undurable   atomic.Int64 // purges
	unstored    *prometheus.CounterVec
	why         *prometheus.CounterVec
	faults      *prometheus.CounterVec
	tokensSaved [results]struct{ input, output atomic.Int64 }
	timeSaved   atomic.Int64 // nanoseconds
}

func newMetrics(apis *api.Registry) *metrics {
	m := &metrics{requests: map[string]*[results]atomic.Int64{}}
	for _, f := range apis.Families() {
		m.endpoints = append(m.endpoints, f.Name)
	}
	m.endpoints = append(m.endpoints, otherEndpoint)
	for _, name := range m.endpoints {
		m.requests[name] = new([results]atomic.Int64)
	}
	counter := func(name, help, label string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reprise_" + name, Help: help}, []string{label})
		m.vectors = append(m.vectors, c)
		return c
	}
	m.unstored = counter("not_stored_total", "Answers of the upstream that were not kept, by reason.", "reason")
	m.why = counter("misses_total", "Misses, by reason; GET /admin/misses says more.", "why")
	m.faults = counter("degraded_total", "Faults of a step; but for the upstream's own, no request failed of them.", "step")
	histogram := func(name, help, label string, lowest float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "reprise_" + name, Help: help,
			Buckets: prometheus.ExponentialBuckets(lowest, 4, 10), NativeHistogramBucketFactor: 1.1}, []string{label})
		m.vectors = append(m.vectors, h)
		return h
	}
	durations := histogram("request_duration_seconds", "From a request's arrival to the last byte of its answer.", "result", 50e-6)
	for r, name := range observe.ResultNames {
		m.durations[r] = durations.WithLabelValues(name)
	}
	stepTimes := histogram("step_duration_seconds", "Time of one step of a request.", "step", 5e-6)
	for i, name := range stepNames {
		m.steps[i] = stepTimes.WithLabelValues(name)
	}
	return m
}

// Ended counts a request, and a call of the upstream.
func (m *metrics) Ended(o *observe.Outcome) {
	if o.Answered {
		m.answered(o)
	}
	call := &o.Call
	if call.Took > 0 {
		observeTime(m.steps[stepUpstream], call.Took, call.Span)
	}
	switch {
	case call.Kept != nil:
		m.stored.Add(1)
	case call.NotKept != "":
		m.unstored.WithLabelValues(call.NotKept).Inc()
	}
}

// Forget does nothing: no label has a text of a client.
func (m *metrics) Forget(store.Filter) {}

func (m *metrics) answered(o *observe.Outcome) {
	endpoint := o.Endpoint
	if endpoint == "" {
		endpoint = otherEndpoint
	}
	m.requests[endpoint][o.Result].Add(1)
	observeTime(m.durations[o.Result], o.Took, o.Span)
	if e := o.Entry; e != nil { // the upstream did not have to make it again
		m.tokensSaved[o.Result].input.Add(e.InputTokens)
		m.tokensSaved[o.Result].output.Add(e.OutputTokens)
		m.timeSaved.Add(int64(e.UpstreamTime))
	}
	if o.Missed != nil {
		m.why.WithLabelValues(o.Missed.Kind()).Inc()
	}
	f := o.Found
	if f == nil {
		return
	}
	if f.EmbedTook > 0 {
		observeTime(m.steps[stepEmbed], f.EmbedTook, o.Span)
	}
	if f.SearchTook > 0 {
		observeTime(m.steps[stepSearch], f.SearchTook, o.Span)
	}
	if f.Shadow {
		m.shadowHits.Add(1)
	}
}

// observeTime adds a time to a histogram, with span as its example where that is kept.
func observeTime(h prometheus.Observer, took time.Duration, span *tracing.Span) {
	if !span.Recording() {
		h.Observe(took.Seconds())
		return
	}
	h.(prometheus.ExemplarObserver).ObserveWithExemplar(took.Seconds(), span.Exemplar())
}

// fault counts a fault of a step at once: most belong to no request.
func (m *metrics) fault(step string) { m.faults.WithLabelValues(step).Inc() }

// lookedFor is how many requests were looked for in the cache, and answered.
func (m *metrics) lookedFor() (n int64) {
	for _, by := range m.requests {
		for _, r := range [...]Result{Exact, Semantic, Shared, Stale, Miss} {
			n += by[r].Load()
		}
	}
	return n
}

// Stats are the server's counters since its start.
type Stats struct {
	Requests                                               int64 // the sum of the next seven
	Exact, Semantic, Shared, Stale, Misses, Bypass, Errors int64
	Gone                                                   int64 // of the errors, those whose client left before its answer
	Stored, Evictions, Topics, Vetoes, TokensSaved         int64
	Entries, Bytes                                         int64
	Lacking                                                int64 // entries that wait for a vector of the present embedder
	UpstreamSaved                                          time.Duration
	Reuse                                                  learn.Stats // of answers to other prompts than their own
	Costs                                                  prices.Report
	// Embedder is the state of an embedder that calls a server, "" of another, and EmbedderFault why it is not cache.EmbedderWorks.
	Embedder      cache.EmbedderState
	EmbedderFault error
}

// MarshalJSON spells the counters as the admin API and the metrics do, times in seconds.
func (st Stats) MarshalJSON() ([]byte, error) {
	all := map[string]any{
		"requests": st.Requests, "exact": st.Exact, "semantic": st.Semantic, "shared": st.Shared, "stale": st.Stale, "misses": st.Misses,
		"bypass": st.Bypass, "errors": st.Errors, "client_gone": st.Gone, "stored": st.Stored, "evictions": st.Evictions, "topics": st.Topics, "vetoes": st.Vetoes,
		"tokens_saved": st.TokensSaved, "entries": st.Entries, "entries_without_vector": st.Lacking, "bytes": st.Bytes,
		"upstream_seconds_saved": st.UpstreamSaved.Seconds(), "reuse": st.Reuse, "costs": st.Costs,
	}
	if st.Embedder != "" {
		all["embedder"] = st.Embedder
	}
	if st.EmbedderFault != nil {
		all["embedder_fault"] = st.EmbedderFault.Error()
	}
	return json.Marshal(all)
}

// Stats returns the counters as they are now.
func (s *Server) Stats() Stats {
	var by [results]int64
	st := Stats{Stored: s.metrics.stored.Load(), UpstreamSaved: time.Duration(s.metrics.timeSaved.Load()), Reuse: s.learner.Stats(), Costs: s.costs.Report()}
	for _, n := range st.Reuse.Vetoes {
		st.Vetoes += n
	}
	for _, endpoint := range s.metrics.endpoints {
		for r := range by {
			by[r] += s.metrics.requests[endpoint][r].Load()
		}
	}
	for r, n := range by {
		st.Requests += n
		st.TokensSaved += s.metrics.tokensSaved[r].input.Load() + s.metrics.tokensSaved[r].output.Load()
	}
	st.Exact, st.Semantic, st.Shared, st.Stale = by[Exact], by[Semantic], by[Shared], by[Stale]
	st.Misses, st.Bypass, st.Errors = by[Miss], by[Bypass], by[Refused]+by[Gone]
	st.Gone = by[Gone]
	kept := s.cache.Stats()
	st.Entries, st.Bytes, st.Evictions = int64(kept.Store.Entries), kept.Store.Bytes, kept.Store.Evictions
	st.Embedder, st.EmbedderFault = s.cache.Embedder()
	st.Topics, st.Lacking = int64(kept.Topics.Topics), int64(kept.Store.Lacking)
	return st
}

// newWatch returns what keeps a history of the server's counters.
func (s *Server) newWatch() *watch.Watch {
	return watch.New(watch.Options{Store: func() store.Stats { return s.cache.Stats().Store }, Read: func() (c watch.Counters) {
		for _, endpoint := range s.metrics.endpoints {
			for r := range c.Requests {
				c.Requests[r] += s.metrics.requests[endpoint][r].Load()
			}
		}
		costs, kept, load := s.costs.Report(), s.opts.Store.Stats(), s.upstream.Load()
		saved := int64(0)
		for r := range s.metrics.tokensSaved {
			saved += s.metrics.tokensSaved[r].input.Load() + s.metrics.tokensSaved[r].output.Load()
		}
		c.Sums = [watch.Sums]float64{watch.TokensSaved: float64(saved), watch.MoneySaved: costs.Saved.Cost, watch.MoneySpent: costs.Spent.Cost,
			watch.UpstreamSaved: time.Duration(s.metrics.timeSaved.Load()).Seconds(), watch.Stored: float64(s.metrics.stored.Load()), watch.Evictions: float64(kept.Evictions)}
		for _, u := range s.upstream.Upstreams() {
			c.Sums[watch.PromptTokens] += float64(u.Counts.Prompt)
			c.Sums[watch.CachedTokens] += float64(u.Counts.Cached)
		}
		c.Gauges = [watch.Gauges]int64{watch.Entries: int64(kept.Entries), watch.Bytes: kept.Bytes, watch.InFlight: int64(load.Calls), watch.Queued: int64(load.Queued)}
		return c
	}})
}

// Watch is the history of a server, and the stream of its requests, for the admin API.
func (s *Server) Watch() *watch.Watch { return s.watch }
