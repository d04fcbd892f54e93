package sim

import (
	"reprise/cmd/reprise-lab/policies"
	"reprise/policy"
)

// Result is the figures of one policy at one capacity. A ratio is 0 where there is nothing to divide by.
type Result struct {
	Trace    string `json:"trace"`
	Policy   string `json:"policy"`
	Capacity string `json:"capacity"`

	// What was counted: everything after the warm-up.
	Requests int64   `json:"requests"`
	Hits     int64   `json:"hits"`
	Misses   int64   `json:"misses"`
	HitRatio float64 `json:"hit_ratio"`
	// HitRatioInfinite is that of a cache which keeps everything, over the same requests.
	HitRatioInfinite float64 `json:"hit_ratio_infinite"`
	// NormalizedHitRatio is HitRatio by HitRatioInfinite (paper 002, §5).
	NormalizedHitRatio float64 `json:"normalized_hit_ratio"`
	ByteHitRatio       float64 `json:"byte_hit_ratio"`  // bytes of hits by bytes requested
	TokensSaved        float64 `json:"tokens_saved"`    // the sum of Request.Cost over the hits
	TokenHitRatio      float64 `json:"token_hit_ratio"` // TokensSaved by the Cost of all requests
	// Objective is what the policy maximises: hits, whose measure is HitRatio; tokens, whose measure is TokenHitRatio; "" for a bound.
	Objective string  `json:"objective,omitempty"`
	Evictions int64   `json:"evictions"` // a refused item counts as one
	Seconds   float64 `json:"seconds"`   // wall time of this policy's own work, warm-up included

	// With these the same replay can be made again: the capacity in this trace, the seed, and every parameter of the policy.
	CapacityEntries int    `json:"capacity_entries,omitempty"` // 0: it is in bytes, or there is none
	CapacityBytes   int64  `json:"capacity_bytes,omitempty"`
	Seed            uint64 `json:"seed"`
	Parameters      string `json:"parameters,omitempty"` // key=value between commas, as behind the name of a policy

	Windows []Window `json:"windows,omitempty"` // in order; the last one is shorter where the replay ended early

	Bound bool         `json:"-"` // not a policy that can run in practice
	Limit policy.Limit `json:"-"` // the capacity in this trace; 0 everywhere for the infinite cache
}

// newResult is that of a policy before its first request.
func newResult(name string, c Capacity, seed uint64, p *plan) Result {
	r := Result{Policy: name, Capacity: c.String(), Bound: isBound(name), Seed: seed}
	if name == infinite {
		return r
	}
	var entries int
	r.Limit, entries = c.limit(p.ids.n, p.bytes)
	r.CapacityEntries, r.CapacityBytes = r.Limit.Entries, r.Limit.Bytes
	if !r.Bound {
		o := policy.Options{Capacity: entries, Bytes: r.Limit.Bytes > 0, Seed: seed}
		r.Parameters, r.Objective = policies.Parameters(name, o), objective(name, o)
	}
	return r
}

// The values of Result.Objective.
const (
	ObjectiveHits   = "hits"
	ObjectiveTokens = "tokens"
)

func objective(name string, o policy.Options) string {
	if policies.CountsTokens(name, o) {
		return ObjectiveTokens
	}
	return ObjectiveHits
}

// tally sums requests, or hits.
type tally struct {
	requests, bytes int64
	tokens          float64
}

func (t *tally) add(e *event) {
	t.requests++
	t.bytes += e.size
	t.tokens += e.cost
}

// score sets the figures from all requests, the hits of an infinite cache, and the hits.
func (r *Result) score(asked, full, hit tally) {
	r.Requests, r.Hits, r.Misses = asked.requests, hit.requests, asked.requests-hit.requests
	r.HitRatio = ratio(float64(hit.requests), float64(asked.requests))
	r.HitRatioInfinite = ratio(float64(full.requests), float64(asked.requests))
	r.NormalizedHitRatio = ratio(float64(hit.requests), float64(full.requests))
	r.ByteHitRatio = ratio(float64(hit.bytes), float64(asked.bytes))
	r.TokensSaved = hit.tokens
	r.TokenHitRatio = ratio(hit.tokens, asked.tokens)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
