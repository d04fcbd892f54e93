package watch

import "time"

// history is the samples of one length of step, for as long as kept steps are.
type history struct {
	step time.Duration // samples are taken at its multiples, so that those of several proxies can be compared
	kept int
	ring []sample

	before Counters        // at the last sample
	times  [classes]spread // observed since then
}

// sample is what was counted within one step, and how the proxy was at its end. It has a fixed size of 360 bytes.
type sample struct {
	at       int64 // the number of the step since 1970, which ends the sample; 0: there is none
	requests [Results]uint32
	sums     [Sums]float64 // as the names in sumNames
	gauges   [Gauges]int64 // as the names in gaugeNames
	times    [classes][buckets]packed
}

// The sums of Counters.
const (
	TokensSaved = iota
	MoneySaved  // in the currency of the operator's prices
	MoneySpent
	UpstreamSaved // seconds that the upstream took for the answers which were served again
	Stored
	Evictions
	PromptTokens // of answers that report how many of them the upstream had in its cache
	CachedTokens // of these
	Sums
)

var sumNames = [Sums]string{"tokens_saved", "money_saved", "money_spent", "upstream_seconds_saved", "stored", "evictions", "prompt_tokens", "cached_tokens"}

// The gauges of Counters.
const (
	Entries = iota // in the store
	Bytes
	InFlight // upstream calls
	Queued   // requests that wait for one
	Gauges
)

var gaugeNames = [Gauges]string{"entries", "bytes", "in_flight", "queued"}

// since fills s with what was counted between two readings.
func (s *sample) since(before, now *Counters) {
	for r := range s.requests {
		s.requests[r] = uint32(max(now.Requests[r]-before.Requests[r], 0))
	}
	for i := range s.sums {
		s.sums[i] = max(now.Sums[i]-before.Sums[i], 0)
	}
	s.gauges = now.Gauges
}

// take appends what was counted since the last sample. Samples are found by the number of their step: after a time without samples, as in a
// process that was stopped, the old ones of those steps are not taken for new ones.
func (h *history) take(step int64, now *Counters) {
	if h.ring == nil {
		h.ring = make([]sample, h.kept) // memory that is not written yet is not resident
	}
	s := &h.ring[int(step)%h.kept]
	*s = sample{at: step}
	s.since(&h.before, now)
	h.before = *now
	for c := range h.times {
		for b, n := range h.times[c] {
			s.times[c][b] = pack(n)
		}
	}
	h.times = [classes]spread{}
}

// of is the sample of a step, nil where there is none.
func (h *history) of(step int64) *sample {
	if h.ring == nil || step <= 0 {
		return nil
	}
	if s := &h.ring[int(step)%h.kept]; s.at == step {
		return s
	}
	return nil
}

func (h *history) stepOf(at time.Time) int64 { return at.UnixNano() / int64(h.step) }

func (h *history) timeOf(step int64) time.Time { return time.Unix(0, step*int64(h.step)).UTC() }

// span is how long a time the history covers.
func (h *history) span() time.Duration { return time.Duration(h.kept) * h.step }

// group is several samples in a row as one.
type group struct {
	samples  int // that there are
	requests [Results]int64
	sums     [Sums]float64
	gauges   [Gauges]int64 // of the last
	times    [classes]spread
}

func (g *group) add(s *sample) {
	g.samples++
	for r, n := range s.requests {
		g.requests[r] += int64(n)
	}
	for i, v := range s.sums {
		g.sums[i] += v
	}
	g.gauges = s.gauges
	for c := range s.times {
		g.times[c].add(&s.times[c])
	}
}
