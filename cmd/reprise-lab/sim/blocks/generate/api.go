package generate

import "reprise/cmd/reprise-lab/sim/blocks"

// calls is a type of request of programs: a system prompt, and data of the request alone.
type calls struct {
	name   string
	share  float64 // of the requests
	own    length  // tokens of the request alone
	answer length

	bare     float64   // share of the requests without a system prompt that another has, of those outside jobs
	services []prefix  // prompts of programs that run all the time
	popular  []float64 // running sums of their shares

	jobs  float64 // share of the requests that belong to a job: a program that runs for a short time
	calls float64 // mean requests of a job
	pause float64 // mean seconds between them
	task  length  // tokens of its system prompt
}

// programs makes requests of several types over a horizon in seconds. Each is a session of its own.
type programs struct {
	random
	others []float64 // running sums of the shares of users without a service
	drafts []draft
}

// kind appends the requests of a type, rate of them a second.
func (p *programs) kind(kind uint16, c *calls, rate, horizon float64) {
	for at := 0.0; at < horizon; at += p.ExpFloat64() / (rate * (1 - c.jobs)) {
		prompt := &prefix{user: p.small()}
		if p.Float64() >= c.bare {
			prompt = &c.services[p.pick(c.popular)]
		}
		p.call(kind, c, at, prompt)
	}
	every := c.calls / (rate * c.jobs)
	for start := -10 * c.calls * c.pause; start < horizon; start += every * p.ExpFloat64() {
		prompt := &prefix{tokens: p.length(c.task), user: p.small()}
		for at := start; at < horizon; at += c.pause * p.ExpFloat64() {
			p.call(kind, c, at, prompt)
			if p.Float64() < 1/c.calls {
				break
			}
		}
	}
}

// small is a user without a service.
func (p *programs) small() uint32 { return owners + 1 + uint32(p.pick(p.others)) }

func (p *programs) call(kind uint16, c *calls, at float64, prompt *prefix) {
	r := blocks.Request{At: at, Prompt: prompt.tokens + p.length(c.own), Answer: p.length(c.answer), Kind: kind, Turn: 1, User: prompt.user}
	if at >= 0 {
		p.drafts = append(p.drafts, draft{r, &talk{prefix: prompt}})
	}
}
