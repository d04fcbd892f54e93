package profile

import (
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Size is the lengths of the requests of a group, in tokens.
type Size struct {
	Name     string    `json:"name"`
	Requests int       `json:"requests"`
	Prompt   Quantiles `json:"prompt_tokens"`
	Answer   Quantiles `json:"answer_tokens"`
	Whole    Quantiles `json:"tokens"` // prompt and answer: what a request takes of the cache
}

// Quantiles are of the requests of a group.
type Quantiles struct {
	Mean float64 `json:"mean"`
	P50  int     `json:"p50"`
	P90  int     `json:"p90"`
	P99  int     `json:"p99"`
}

func quantiles(all []int) Quantiles {
	slices.Sort(all)
	mean, _ := moments(all)
	return Quantiles{mean, blocks.Quantile(all, 0.5), blocks.Quantile(all, 0.9), blocks.Quantile(all, 0.99)}
}

// size measures the requests that are in a group; ok is false where there is none.
func (p *summary) size(name string, in func(*blocks.Request) bool) (s Size, ok bool) {
	var prompts, answers, whole []int
	for i := range p.trace.Requests {
		if r := &p.trace.Requests[i]; in(r) {
			prompts = append(prompts, int(r.Prompt))
			answers = append(answers, int(r.Answer))
			whole = append(whole, int(r.Prompt)+int(r.Answer))
		}
	}
	return Size{name, len(whole), quantiles(prompts), quantiles(answers), quantiles(whole)}, len(whole) > 0
}

func (p *summary) sizes(talks bool) (all []Size) {
	add := func(name string, in func(*blocks.Request) bool) {
		if s, ok := p.size(name, in); ok {
			all = append(all, s)
		}
	}
	add(everything, func(*blocks.Request) bool { return true })
	if talks {
		add(single, func(r *blocks.Request) bool { return r.Turn <= 1 })
		add(multi, func(r *blocks.Request) bool { return r.Turn > 1 })
	}
	if len(p.trace.Kinds) > 1 {
		for k, name := range p.trace.Kinds {
			add(name, func(r *blocks.Request) bool { return int(r.Kind) == k })
		}
	}
	return all
}
