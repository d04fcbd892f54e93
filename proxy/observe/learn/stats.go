package learn

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/topics/reuse"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// What a call of the judge model, or the lack of one, ended with.
const (
	judgedSame      = "same"
	judgedDifferent = "different"
	judgedUnsure    = "unsure"
	judgedInvalid   = "invalid" // it is not one of the allowed words
	judgedFault     = "fault"
	judgedBudget    = "budget" // not called: the budget of the hour is spent
	judgedBusy      = "busy"   // not called: too many comparisons wait
)

var outcomeNames = [...]string{evidence.Unknown: "unknown", evidence.Same: "same", evidence.Different: "different"}

// skipped is the outcome where nothing was compared.
const skipped = "skipped"

// counts owns the numbers of a learner.
type counts struct {
	hits, vetoes, explored, shadowed, calls, feedback, refusals *prometheus.CounterVec

	mu sync.Mutex // guards what follows
	by Stats
}

// Stats are what a learner has counted since its start.
type Stats struct {
	Hits         map[string]int64       `json:"hits"` // by what found them: form, edits, meaning
	Error        Error                  `json:"error"`
	Classes      map[string]*classStats `json:"edits"`              // by the class of an edit; those without one by what found them
	Vetoes       map[string]int64       `json:"vetoes"`             // by name
	Explorations map[string]int64       `json:"explorations"`       // by outcome
	Shadowed     map[string]int64       `json:"shadow_comparisons"` // by outcome
	JudgeCalls   map[string]int64       `json:"judge_calls"`        // by result
	Feedback     map[string]int64       `json:"feedback"`           // by verdict
	Refusals     map[string]int64       `json:"refusals"`           // that an operator looked at: needed, or needless

	risk float64 // the sum of 1-P over Hits
}

// classStats is what was counted of one class of edits, of equal forms, or of a band of similarities: hits since the start, and comparisons of
// answers that were served so, or would have been, also before it.
type classStats struct {
	Hits int64 `json:"hits"`
	Estimate
}

// Estimate is the share of wrong answers in comparisons with the upstream's, with its 95 % interval.
type Estimate struct {
	Compared  int     `json:"compared"`
	Different int     `json:"different"`
	Observed  float64 `json:"observed"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
}

// Error is the share of wrong answers among hits by meaning: that expected when they were served since the start, and that observed.
type Error struct {
	Expected float64 `json:"expected"`
	Estimate
}

func newStats() Stats {
	m := func() map[string]int64 { return map[string]int64{} }
	return Stats{Hits: m(), Classes: map[string]*classStats{}, Vetoes: m(), Explorations: m(), Shadowed: m(), JudgeCalls: m(), Feedback: m(), Refusals: m()}
}

func newCounts() counts {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reprise_" + name, Help: help}, labels)
	}
	return counts{by: newStats(),
		hits:     counter("semantic_hits_total", "Answers served to another prompt than their own, by what found them: equal normal forms, listed edits, or meaning.", "basis"),
		vetoes:   counter("guard_vetoes_total", "Semantic matches that a guard refused.", "guard"),
		explored: counter("explorations_total", "Requests sent upstream although a stored answer was there, by how both answers compare; skipped where there was nothing to compare, repeated where the prompts are equal and only the noise of a scope is learnt.", "outcome"),
		shadowed: counter("shadow_comparisons_total", "Hits that the shadow mode has kept back, by how the stored answer compares with the upstream's.", "outcome"),
		calls:    counter("judge_calls_total", "Comparisons for the judge model, by its reply; those with budget and busy were not sent.", "result"),
		feedback: counter("feedback_total", "Verdicts of clients and operators on answers that were served.", "verdict"),
		refusals: counter("refusals_judged_total", "Verdicts of operators on stored answers that were kept back: needed, or needless because the answer was right.", "verdict"),
	}
}

// classesOf are those of a case, by the names of evidence.Estimate where there are any: one without an edit has that of its basis.
func classesOf(c *evidence.Case, basis string) []string {
	if len(c.Edits) > 0 {
		return edits.Names(c.Edits)
	}
	return []string{basis}
}

// class is the count of a class. The caller has the lock.
func (s *Stats) class(name string) *classStats {
	c := s.Classes[name]
	if c == nil {
		c = &classStats{Estimate: Estimate{High: 1}} // nothing is compared yet
		s.Classes[name] = c
	}
	return c
}

// served counts an answer that was served by a verdict; basis is what found it.
func (l *Learner) served(v *reuse.Verdict, basis string) {
	n := &l.counts
	n.hits.WithLabelValues(basis).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.by.Hits[basis]++
	n.by.risk += 1 - v.P
	for _, name := range classesOf(&v.Case, basis) {
		n.by.class(name).Hits++
	}
}

// vetoed counts a stored answer that was not served because of a veto.
func (l *Learner) vetoed(v reuse.Veto) {
	l.counts.vetoes.WithLabelValues(string(v)).Inc()
	l.counts.mu.Lock()
	defer l.counts.mu.Unlock()
	l.counts.by.Vetoes[string(v)]++
}

// Verdict counts feedback.
func (l *Learner) Verdict(right bool) {
	verdict := "wrong"
	if right {
		verdict = "right"
	}
	l.counts.feedback.WithLabelValues(verdict).Inc()
	l.counts.mu.Lock()
	defer l.counts.mu.Unlock()
	l.counts.by.Feedback[verdict]++
}

// refusal counts an operator's verdict on an answer that was not served.
func (n *counts) refusal(right bool) {
	verdict := "needed"
	if right {
		verdict = "needless"
	}
	n.refusals.WithLabelValues(verdict).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.by.Refusals[verdict]++
}

// outcome counts the end of a comparison.
func (n *counts) outcome(p *Pair, outcome evidence.Outcome) {
	name := outcomeNames[outcome]
	switch {
	case p.Why != "":
		name = skipped
	case p.Found.Basis == cache.Repeated:
		name = string(cache.Repeated)
	}
	vec, by := n.explored, n.by.Explorations
	if p.Source == evidence.Shadow {
		vec, by = n.shadowed, n.by.Shadowed
	}
	vec.WithLabelValues(name).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	by[name]++
}

func (n *counts) judged(result string) {
	n.calls.WithLabelValues(result).Inc()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.by.JudgeCalls[result]++
}

// Stats returns the counts as they are now.
func (l *Learner) Stats() Stats {
	n := &l.counts
	n.mu.Lock()
	defer n.mu.Unlock()
	s := newStats()
	copyTo := func(to, from map[string]int64) {
		for k, v := range from {
			to[k] = v
		}
	}
	copyTo(s.Hits, n.by.Hits)
	copyTo(s.Vetoes, n.by.Vetoes)
	copyTo(s.Explorations, n.by.Explorations)
	copyTo(s.Shadowed, n.by.Shadowed)
	copyTo(s.JudgeCalls, n.by.JudgeCalls)
	copyTo(s.Feedback, n.by.Feedback)
	copyTo(s.Refusals, n.by.Refusals)
	for name, c := range n.by.Classes {
		one := *c
		s.Classes[name] = &one
	}
	hits := int64(0)
	for _, k := range n.by.Hits {
		hits += k
	}
	s.Error.Expected = n.by.risk / float64(max(hits, 1))
	for i, e := range l.o.Cache.Rates().Estimates() {
		one := Estimate{e.N, e.Wrong, e.Mean, e.Low, e.High}
		if i == 0 { // of all together
			s.Error.Estimate = one
			continue
		}
		s.class(e.Name).Estimate = one
	}
	return s
}

// Describe names no metric: see Collect.
func (l *Learner) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (l *Learner) Collect(ch chan<- prometheus.Metric) {
	n := &l.counts
	for _, c := range []prometheus.Collector{n.hits, n.vetoes, n.explored, n.shadowed, n.calls, n.feedback, n.refusals} {
		c.Collect(ch)
	}
	e := l.Stats().Error
	for name, value := range map[string]float64{"expected": e.Expected, "observed": e.Observed, "low": e.Low, "high": e.High} {
		if name == "expected" || e.Compared > 0 {
			observe.Page(ch).Gauge("semantic_error", "Share of wrong answers among hits by meaning: expected when they were served; observed where answers were compared with the upstream's, with its 95 % interval.",
				value, "estimate", name)
		}
	}
}
