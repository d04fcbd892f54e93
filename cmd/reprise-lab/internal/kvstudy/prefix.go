package kvstudy

import (
	"fmt"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
)

// sharers are the policies of the paper on prefix sharing, and Aging LFU with the weight that its source does not have.
var sharers = []string{agingPaper, "aging-lfu", "lru", "lfu", "fifo"}

// sharerBounds are played for orientation.
var sharerBounds = []string{blocks.Belady, blocks.Infinite}

// sharing has what the study of prefix sharing measured.
type sharing struct {
	growth  *report.Plot
	grown   [][]float64 // by policy of growers, the hit ratio at each of lengths
	lengths []int       // of growthSizes, those that were played
	alone   []played    // traces of one kind of use
	sizes   [][]played  // of each, at each block size; the first is that of alone
	mix     *played
	timed   *played // the mix with times
}

// prefixShares are the capacities of the study.
var prefixShares = []float64{.01, .02, .05, .1, .2, .5}

func (l *lab) prefix() (p report.Page, err error) {
	s := &sharing{}
	for _, part := range []func(*sharing) error{l.growth, l.homogeneous, l.mixed, l.blockSizes} {
		if err = part(s); err != nil {
			break
		}
	}
	p = report.Page{Title: "Prefix sharing under four policies, measured again", Words: prefixWords, Summary: s.summary(), Notes: []string{
		`The paper is "A Study of Prefix Sharing in LLM Serving: Current Policies May Not Be Optimal for Mixed Workloads" (MLSys 2025); § is a section of it. ` +
			`It replays chats and agents through vLLM without a GPU. Its hit rate is the mean over requests of the share of their blocks that hit; here that is "per request". ` +
			`A "hit ratio" is over all blocks.`,
	}}
	p.Part(s.mix != nil, s.mixSection)
	p.Part(len(s.alone) > 0, s.aloneSection)
	p.Part(len(s.sizes) > 0, s.sizeSection)
	p.Part(s.growth != nil, s.growthSection)
	p.Part(s.growth != nil, s.claims)
	return p, err
}

var prefixWords = []report.Term{
	{Name: "Aging LFU", Text: "evicts the block of least w × uses - age, where age is the requests since its last use. The paper has w = 1; C is the capacity in blocks."},
	{Name: "per request", Text: "the mean over the requests of the share of their blocks that hit: a short prompt counts as much as a long one."},
	{Name: "mix", Text: "the requests of several kinds of use, interleaved by time, on one server."},
}

// homogeneous plays traces of one kind of use.
func (l *lab) homogeneous(s *sharing) (err error) {
	var all []sweep
	for _, w := range l.uses() {
		all = append(all, sweep{workload: w, policies: everySharer(), at: shares(prefixShares...)})
	}
	s.alone, err = l.play("traces of one use", all)
	return err
}

// uses are the workloads of one kind of use, the recorded ones first.
func (l *lab) uses() (all []workload) {
	if l.Data != "" {
		for _, r := range []recording{oasst, sgd, miniswe, taubench, magagent, mooncake} {
			all = append(all, l.file(r))
		}
	}
	return append(all, l.generated("chat of trace A", "qwen-a", 2000), l.generated("calls of trace B", "qwen-b", 3000))
}

// mixedPlaces are the capacities of the mix; the last one is that of the paper: 500 blocks of 16 tokens.
func mixedPlaces() []place { return append(shares(prefixShares...), place{tokens: 8000}) }

// mixed plays the mix, without times and with them.
func (l *lab) mixed(s *sharing) error {
	w := l.mixture()
	all, err := l.play("the mix", []sweep{
		{workload: w, policies: everySharer(), at: mixedPlaces()},
		{workload: w, policies: sharers, at: mixedPlaces(), speed: &sizing{load: .7, share: .01}},
	})
	if len(all) > 0 {
		s.mix = &all[0]
	}
	if len(all) > 1 {
		s.timed = &all[1]
	}
	return err
}

// mixSeconds is how long the mix takes. Every trace of it is stretched to that time, so that all uses are active at once.
const mixSeconds = 3600

// mixture interleaves several uses: recorded ones where they exist.
func (l *lab) mixture() workload {
	parts := []workload{l.generated("chat", "qwen-a", 1000), l.generated("calls", "qwen-b", 1500)}
	w := workload{name: "mix of chat and calls"}
	if l.Data != "" {
		w = workload{name: "mix of chats, dialogues and agents", fixed: true, real: true}
		parts = nil
		for _, r := range []recording{{"", oasst.path, 16, .25}, {"", sgd.path, 16, .025}, miniswe, taubench, magagent} {
			parts = append(parts, l.file(r))
		}
	}
	w.open = func(seed uint64, times int) (*blocks.Trace, error) {
		var traces []*blocks.Trace
		for _, part := range parts {
			t, err := part.open(seed, times)
			if err != nil {
				return nil, err
			}
			traces = append(traces, stretch(t, mixSeconds))
		}
		t, err := generate.Mix(w.name, traces...)
		if err == nil && w.real {
			t.Generated, t.Note = false, "starts are sampled, times are stretched to an hour"
		}
		return t, err
	}
	return w
}

// stretch is a trace with its times scaled to take some seconds.
func stretch(t *blocks.Trace, seconds float64) *blocks.Trace {
	out := *t
	out.Requests = append([]blocks.Request(nil), t.Requests...)
	span := sizeOf(t).seconds
	for i := range out.Requests {
		if r := &out.Requests[i]; span > 0 {
			r.At = (r.At - t.Requests[0].At) * seconds / span
		}
	}
	return &out
}

// blockTokens are the block sizes of the study, as multiples of that of the trace.
var blockTokens = []int{1, 2, 4, 8}

// blockSizes plays each use, and the mix, with larger blocks. Capacities are in tokens, equal for all sizes.
func (l *lab) blockSizes(s *sharing) error {
	for _, w := range append(l.uses(), l.mixture()) {
		var all []sweep
		base, by := int64(0), w
		by.fixed = true
		for _, times := range blockTokens {
			by.name = w.name + ", blocks × " + strconv.Itoa(times)
			by.open = func(seed uint64, _ int) (*blocks.Trace, error) {
				t, err := w.open(seed, times)
				if err == nil && times == 1 {
					base = int64(t.Distinct) * int64(t.Tokens)
				}
				return t, err
			}
			all = append(all, sweep{workload: by, policies: []string{"lru", "lfu", "fifo", agingPaper}, at: shares(.02, .1, .5), base: func() int64 { return base }})
		}
		sizes, err := l.play("block sizes of "+w.name, all)
		if err != nil {
			return err
		}
		sizes[0].title = strings.Replace(sizes[0].title, ", blocks × 1", "", 1)
		s.sizes = append(s.sizes, sizes)
	}
	return nil
}

func (s *sharing) summary() (all []report.Figure) {
	if s.mix == nil {
		return nil
	}
	at := s.nearest(.68)
	all = append(all, report.Figure{Name: "Aging LFU minus LRU, per request", Value: signed(s.mix.less(agingPaper, "lru", at, byRequest)) + " points",
		Text: fmt.Sprintf("On the %s at %s, where LRU has %s %%: nearest to the paper's 68 %%, where Aging LFU has 65 %%. With w = C: %s.",
			s.mix.title, s.mix.sweep.at[at].text(), points(s.mix.mean("lru", at, byRequest)), signed(s.mix.less("aging-lfu", "lru", at, byRequest)))})
	if s.timed != nil {
		best, place := s.bestTime(agingPaper)
		wide, where := s.bestTime("aging-lfu")
		all = append(all, report.Figure{Name: "TTFT of Aging LFU against LRU", Value: fmt.Sprintf("%+.1f %%", 100*best),
			Text: fmt.Sprintf("At the best of all capacities for it, %s, on the %s, with the time in the queue; the paper has up to -8 %%. With w = C: %+.1f %% at %s.", place, s.mix.name, 100*wide, where)})
	}
	if n, peak, last := s.peak(); n > 0 {
		all = append(all, report.Figure{Name: "Peak of the growing prefix", Value: fmt.Sprintf("%d tokens", n),
			Text: fmt.Sprintf("A cache of 100 tokens hits %s %% of that prompt under LRU, and %s %% of one of %d: the count of hits is right.", points(peak), points(last), s.lengths[len(s.lengths)-1])})
	}
	return all
}

// nearest is the number of the capacity of the mix at which LRU is nearest to a hit rate.
func (s *sharing) nearest(rate float64) (at int) {
	off := 2.
	for i := range s.mix.sweep.at {
		if d := max(s.mix.mean("lru", i, byRequest)-rate, rate-s.mix.mean("lru", i, byRequest)); d < off {
			off, at = d, i
		}
	}
	return at
}

// bestTime is the lowest change of the queued TTFT of a policy from that of LRU, and its capacity.
func (s *sharing) bestTime(policy string) (change float64, at string) {
	for i, place := range s.timed.sweep.at {
		lru := s.timed.mean("lru", i, queued)
		if c := s.timed.mean(policy, i, queued)/max(lru, 1e-12) - 1; at == "" || c < change {
			change, at = c, place.text()
		}
	}
	return change, at
}
