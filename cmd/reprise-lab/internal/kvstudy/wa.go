package kvstudy

import (
	"math"
	"slices"
	"strconv"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/internal/study"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/generate"
)

// others are the policies that WA is compared with: those of the paper.
var others = []string{"lru", "fifo", "lfu", "s3fifo", "gdfs"}

// wild has what the study of WA measured.
type wild struct {
	hits       []played // at waShares, the recorded traces first
	queues     []played // at one capacity each
	costs      []cost
	calibrated []calibration
	chat, api  string // names of the generated workloads
}

// waShares are the capacities; at tight ones WA is to be ahead.
var (
	waShares = []float64{.01, .02, .05, .1, .25, .5}
	tight    = []int{2, 3, 4} // of waShares
)

// Numbers of waShares: the capacities where one has to do, 5 and 10 %.
const (
	small  = 2
	middle = 3
)

func (l *lab) wa() (p report.Page, err error) {
	s := &wild{chat: "trace A, chat", api: "trace B, API"}
	for _, part := range []func(*wild) error{l.waHits, l.waQueues, l.waCosts, l.waCalibration} {
		if err = part(s); err != nil {
			break
		}
	}
	p = report.Page{Title: "Eviction by the workload, measured again", Words: waWords, Summary: s.summary(), Notes: []string{
		`The paper is "KVCache Cache in the Wild: Characterizing and Optimizing KVCache Cache at a Large Cloud Provider" (ATC 2025); § is a section of it. Its traces are not public in full: ` +
			`A and B are generated here from published statistics of them, with fewer users in the same two hours. No figure of an eviction policy other than LRU was used for that.`,
		"The generated traces have " + strconv.Itoa(chatRequests) + " and " + strconv.Itoa(apiRequests) + " requests, so that all seeds take two minutes. One of full size: `reprise-lab replay --trace generate:qwen-a --policy wa,lru,gdfs --capacity 5%,10%,25%`.",
	}}
	p.Part(len(s.hits) > 0, s.hitSection)
	p.Part(len(s.hits) > 0, s.ablationSection)
	p.Part(len(s.queues) > 0, s.queueSection)
	p.Part(len(s.costs) > 0, s.costSection)
	p.Part(len(s.hits) > 0, s.claims)
	p.Part(len(s.calibrated) > 0, s.calibrationSection)
	return p, err
}

var waWords = []report.Term{
	{Name: "WA", Text: "workload-aware: evicts the block that is least likely to be used within a life from now, by the type and turn of the request that used it last."},
	{Name: "life", Text: "how far WA looks ahead. Without it (life = off) any later use counts."},
	{Name: "p", Text: "the share of the blocks of a category that return at all. Without it (p = off) all do, sooner or later."},
	{Name: "WA+", Text: "ours, after WA: it ranks by the probability of a use per second, after a mixture of two exponential times, and counts blocks that several conversations use apart. It is not of the paper."},
	{Name: "category", Text: "the type of a request and its turn in the conversation, up to 8."},
}

// everyEvictor is the policies of the study: WA, its ablations and what goes beyond it, the others, and what is played for orientation.
func everyEvictor() []string {
	return slices.Concat([]string{"wa", lifeOff, pOff, "wa+"}, others, []string{"aging-lfu", "lpc", blocks.Oracle, blocks.Belady, blocks.Infinite})
}

// waHits plays all policies on all traces.
func (l *lab) waHits(s *wild) (err error) {
	var all []sweep
	for _, w := range l.wildTraces(s) {
		all = append(all, sweep{workload: w, policies: everyEvictor(), at: shares(waShares...)})
	}
	s.hits, err = l.play("hit ratios", all)
	return err
}

func (l *lab) wildTraces(s *wild) (all []workload) {
	if l.Data != "" {
		for _, r := range []recording{mooncake, coding, oasst, sgd, magagent, miniswe, taubench} {
			all = append(all, l.file(r))
		}
	}
	return append(all, l.generated(s.chat, "qwen-a", chatRequests), l.generated(s.api, "qwen-b", apiRequests))
}

// Requests of the generated traces: what a study of two minutes allows.
const (
	chatRequests = 4000
	apiRequests  = 4000
)

// waQueues plays LRU and WA with times, each on servers that LRU keeps busy for a share of the time.
func (l *lab) waQueues(s *wild) (err error) {
	traces := []workload{l.generated(s.chat, "qwen-a", chatRequests), l.generated(s.api, "qwen-b", apiRequests)}
	if l.Data != "" {
		traces = append([]workload{l.file(mooncake)}, traces...)
	}
	var all []sweep
	for _, w := range traces {
		for _, q := range []sizing{{load: .8, share: .05}, {load: .8, share: .1}, {load: .8, share: .25}, {load: .9, share: .1}} {
			all = append(all, sweep{workload: w, policies: []string{"lru", "wa"}, at: shares(q.share), speed: &q})
		}
	}
	s.queues, err = l.play("queues", all)
	return err
}

// calibration is the figures of a generator of full size beside the published ones.
type calibration struct {
	name    string
	figures []generate.Figure
}

func (l *lab) waCalibration(s *wild) error {
	all := []struct {
		name, generator string
		requests        int
	}{{s.chat, "qwen-a", 43058}, {s.api, "qwen-b", 172800}}
	for i, g := range all {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		target, _ := generate.Published(g.generator)
		t, err := generate.New(g.generator+":requests="+strconv.Itoa(g.requests/l.factor()), l.Seeds[0])
		if err != nil {
			return err
		}
		s.calibrated = append(s.calibrated, calibration{titleOf(g.name, t), generate.Calibration(t, target)})
		if l.Progress != nil {
			l.Progress("calibration", i+1, len(all))
		}
	}
	return nil
}

// best is the best of the others at a capacity, with hindsight.
func best(p *played, at int) (name string, mean float64) { return p.row(at, hits).Best(others) }

// gain is WA minus the best of the others, for each seed.
func gain(p *played, at int) []float64 {
	name, _ := best(p, at)
	return p.less("wa", name, at, hits)
}

// tightGain is the mean of gain over the tight capacities, for each seed.
func tightGain(p *played) (all []float64) {
	for _, at := range tight {
		for i, v := range gain(p, at) {
			if i == len(all) {
				all = append(all, 0)
			}
			all[i] += v / float64(len(tight))
		}
	}
	return all
}

// of is the sweep of a workload; nil if it was not played.
func of(all []played, name string) *played {
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// farthest is the largest |WA - LRU| of all capacities, as means over the seeds.
func farthest(p *played) (most float64) {
	for at := range p.sweep.at {
		mean, _ := study.Mean(p.less("wa", "lru", at, hits))
		most = max(most, math.Abs(mean))
	}
	return most
}
