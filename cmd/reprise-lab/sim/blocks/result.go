package blocks

import "encoding/json"

// Result is what one policy did at one capacity.
type Result struct {
	Trace     string `json:"trace"`
	Generated bool   `json:"generated,omitempty"`
	Policy    string `json:"policy"`
	Capacity  string `json:"capacity"`
	Slots     int    `json:"capacity_blocks"`
	Bound     bool   `json:"bound,omitempty"` // it cannot run in practice
	Seed      uint64 `json:"seed"`

	Requests  int64   `json:"requests"`
	Blocks    int64   `json:"blocks"`     // of all prompts
	Hits      int64   `json:"block_hits"` // of them, those in the leading run of their prompt that was resident, in either tier
	HitRatio  float64 `json:"block_hit_ratio"`
	MeanRatio float64 `json:"request_hit_ratio"`          // mean over the requests of the share of their blocks that hit (papers/003 §3.1)
	Second    int64   `json:"second_tier_hits,omitempty"` // of Hits
	Saved     int64   `json:"tokens_saved"`
	Evictions int64   `json:"evictions"`                 // from the cache, or from the second tier where there is one
	Refused   int64   `json:"blocks_not_kept,omitempty"` // because running requests held all slots

	Time    *Times  `json:"-"`       // to the first token from the begin of the prefill; nil without a Speed
	Queued  *Times  `json:"-"`       // and with the time in the queue
	Seconds float64 `json:"seconds"` // that the replay took
}

// MarshalJSON writes the times as fields of their own, ttft_mean and so on.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	type times struct {
		TTFTMean  *float64 `json:"ttft_mean,omitempty"`
		TTFTP50   *float64 `json:"ttft_p50,omitempty"`
		TTFTP90   *float64 `json:"ttft_p90,omitempty"`
		TTFTP99   *float64 `json:"ttft_p99,omitempty"`
		QTTFTMean *float64 `json:"qttft_mean,omitempty"`
		QTTFTP50  *float64 `json:"qttft_p50,omitempty"`
		QTTFTP90  *float64 `json:"qttft_p90,omitempty"`
		QTTFTP99  *float64 `json:"qttft_p99,omitempty"`
	}
	all := struct {
		plain
		times
	}{plain: plain(r)}
	if t := r.Time; t != nil {
		all.TTFTMean, all.TTFTP50, all.TTFTP90, all.TTFTP99 = &t.Mean, &t.P50, &t.P90, &t.P99
	}
	if t := r.Queued; t != nil {
		all.QTTFTMean, all.QTTFTP50, all.QTTFTP90, all.QTTFTP99 = &t.Mean, &t.P50, &t.P90, &t.P99
	}
	return json.Marshal(all)
}
