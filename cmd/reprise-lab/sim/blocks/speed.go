package blocks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Speed is the time of requests, linear in their tokens. A server prefills one prompt at a time, in the order of arrival; answers are
// decoded beside it. The first token comes Fixed seconds, and the tokens of the prompt that were not in the cache divided by Prefill, after
// the prefill begins. Attention, which makes long prompts cost more, and batches are left out: `reprise-lab fleet` has them.
// A prefix is in the cache from the begin of the prefill that computes it. With several servers another request can so hit blocks whose prefill
// runs, and its time to the first token is shorter than an engine's: it neither waits for that prefill nor computes the prefix again.
type Speed struct {
	Prefill float64 // tokens per second of one server
	Fixed   float64 // seconds
	Decode  float64 // tokens per second of one answer; 0: an answer takes no time
	Swap    float64 // tokens per second that the second tier gives back; 0: at once
	Servers int     // that share the cache; 0 is 1
	Closed  bool    // a request arrives Request.Think seconds after the end of the answer that it continues, in place of Request.At
}

// Bounds of a Speed: of a typing error, all times are finite and the servers have room in memory.
const (
	MostServers = 1 << 16
	MostSeconds = 1e6  // before a first token
	LeastRate   = 1e-6 // tokens per second
)

// Validate returns an error that names the first field out of range.
func (s *Speed) Validate() error {
	switch {
	case !(s.Prefill >= LeastRate):
		return fmt.Errorf("prefill of %g tokens per second: want more than 0, from %g", s.Prefill, LeastRate)
	case !(s.Fixed >= 0 && s.Fixed <= MostSeconds):
		return fmt.Errorf("%g seconds before each first token: want 0 to %g", s.Fixed, MostSeconds)
	case s.Decode != 0 && !(s.Decode >= LeastRate) || s.Swap != 0 && !(s.Swap >= LeastRate):
		return fmt.Errorf("decode of %g and swap of %g tokens per second: want 0, or from %g", s.Decode, s.Swap, LeastRate)
	case s.Servers < 0 || s.Servers > MostServers:
		return fmt.Errorf("%d servers: want 0 to %d", s.Servers, MostServers)
	}
	return nil
}

// first is the seconds from the begin of the prefill to the first token.
func (s *Speed) first(r *Request, cached, swapped int) float64 {
	at := s.Fixed + float64(int(r.Prompt)-cached)/s.Prefill
	if s.Swap > 0 {
		at += float64(swapped) / s.Swap
	}
	return at
}

// answer is the seconds from the first token to the last.
func (s *Speed) answer(r *Request) float64 {
	if s.Decode == 0 {
		return 0
	}
	return float64(max(r.Answer-1, 0)) / s.Decode
}

// Times describes times to the first token, in seconds.
type Times struct{ Mean, P50, P90, P99 float64 }

// timesOf sorts all.
func timesOf(all []float32) (t Times) {
	if len(all) == 0 {
		return t
	}
	slices.Sort(all)
	sum := 0.0
	for _, v := range all {
		sum += float64(v)
	}
	return Times{Mean: sum / float64(len(all)), P50: float64(Quantile(all, .5)), P90: float64(Quantile(all, .9)), P99: float64(Quantile(all, .99))}
}

// Quantile is the least of the sorted values that at least a share q of them does not exceed, 0 of none.
func Quantile[N cmp.Ordered](sorted []N, q float64) (v N) {
	if len(sorted) == 0 {
		return v
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
