package fleet

import (
	"errors"
	"fmt"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// edge is the part of the requests, at the beginning and at the end of a play, that is not counted: a tenth.
const edge = 10

// Result is the figures of one play. The first and the last tenth of the requests that arrive are not counted, so that neither empty caches
// nor an empty fleet are.
type Result struct {
	Trace     string   `json:"trace"`
	Chooser   string   `json:"chooser"`
	Proxies   int      `json:"proxies"`
	Engines   int      `json:"engines"`
	Cached    bool     `json:"response_cache"`
	Load      float64  `json:"load"` // of the fleet's capacity; 0: not known
	Rate      float64  `json:"rate"` // requests a second
	Seed      uint64   `json:"seed"`
	Requests  int      `json:"requests"`
	Rejected  int      `json:"rejected"`
	Responded int      `json:"responded"` // from the response cache
	Hit       float64  `json:"block_hit_ratio"`
	Imbalance float64  `json:"imbalance"` // work of the engine with the most, by the mean
	TTFT      Quantile `json:"ttft_seconds"`
	Predicted float64  `json:"predicted"` // tokens that should be cached, by those that were
	Tokens    Tokens   `json:"prompt_tokens"`
}

// Quantile is a distribution.
type Quantile struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// Tokens are the tokens of the prompts, by what became of them.
type Tokens struct {
	All       int64 `json:"all"`
	Responded int64 `json:"responded"` // their answers came from the response cache
	Cached    int64 `json:"cached"`
	Prefilled int64 `json:"prefilled"`
	Rejected  int64 `json:"rejected"`
}

// measure counts requests.
type measure struct {
	from, to int    // the requests that arrive between them are counted
	begun    int    // requests that arrived
	counted  []bool // by request
	ttft     []float64
	work     []float64 // seconds, by engine
	all      Result
	foreseen int64
	ends     int   // of all requests, whatever becomes of them
	admitted int64 // tokens of all prompts that engines took
}

func newMeasure(engines, requests int, whole bool) *measure {
	left := requests / edge // uncounted, on each side
	if whole {
		left = 0
	}
	return &measure{from: left, to: requests - left, counted: make([]bool, requests), work: make([]float64, engines)}
}

func (m *measure) arrived(place int, r *Request) {
	if m.counted[place] = m.begun >= m.from && m.begun < m.to; m.counted[place] {
		m.all.Requests++
		m.all.Tokens.All += int64(r.Prompt)
	}
	m.begun++
}

func (m *measure) rejected(place int, r *Request) {
	m.ends++
	if m.counted[place] {
		m.all.Rejected++
		m.all.Tokens.Rejected += int64(r.Prompt)
	}
}

func (m *measure) responded(place int, r *Request) {
	m.ends++
	if m.counted[place] {
		m.all.Responded++
		m.all.Tokens.Responded += int64(r.Prompt)
		m.ttft = append(m.ttft, 0)
	}
}

func (m *measure) answered(at float64, j *job, e *Engine) {
	m.ends++
	m.admitted += int64(j.req.Prompt)
	if !m.counted[j.place] {
		return
	}
	m.ttft = append(m.ttft, at-j.sent)
	m.all.Tokens.Cached += int64(j.cached)
	m.all.Tokens.Prefilled += int64(j.req.Prompt - j.cached)
	m.foreseen += int64(j.ticket.predicted())
	m.work[j.member] += e.cost(j.req.Prompt, j.cached, j.req.Answer)
}

// result completes the figures.
func (m *measure) result(p *play) *Result {
	r := m.all
	r.Trace, r.Chooser, r.Proxies, r.Engines = p.trace.Name, p.Chooser, p.Proxies, len(p.engines)
	r.Rate, r.Seed, r.Cached = p.Rate, p.Seed, p.Responses
	r.Hit = ratio(float64(r.Tokens.Cached), float64(r.Tokens.Cached+r.Tokens.Prefilled))
	r.Predicted = ratio(float64(m.foreseen), float64(r.Tokens.Cached))
	total := 0.0
	for _, w := range m.work {
		total += w
	}
	r.Imbalance = ratio(slices.Max(m.work)*float64(len(m.work)), total)
	r.TTFT = quantiles(m.ttft)
	return &r
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// quantiles sorts the values.
func quantiles(values []float64) (q Quantile) {
	if len(values) == 0 {
		return q
	}
	slices.Sort(values)
	for _, v := range values {
		q.Mean += v / float64(len(values))
	}
	q.P50, q.P90, q.P99 = blocks.Quantile(values, 0.5), blocks.Quantile(values, 0.9), blocks.Quantile(values, 0.99)
	return q
}

// audit adds up: every request came to an end, every token of a prompt was prefilled or cached, and every block is free again.
func (p *play) audit() error {
	if p.measure.ends != len(p.trace.Requests) || len(p.held) > 0 {
		return fmt.Errorf("audit: %d of %d requests ended", p.measure.ends, len(p.trace.Requests))
	}
	var tokens int64
	for _, e := range p.engines {
		tokens += e.prefilled + e.shared
		if e.pool.Room() != e.pool.blocks || len(e.running)+len(e.waiting) > 0 {
			return errors.New("audit: an engine still has requests")
		}
	}
	if tokens != p.measure.admitted {
		return fmt.Errorf("audit: %d tokens were prefilled or cached, of %d", tokens, p.measure.admitted)
	}
	return nil
}
