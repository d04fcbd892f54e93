package enginesim

import (
	"encoding/json"
	"errors"
)

type completionRequest struct {
	sampling
	Model         string        `json:"model"`
	Prompt        prompts       `json:"prompt"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
	N             *int          `json:"n"`
	MaxTokens     *int          `json:"max_tokens"`
	Stop          stops         `json:"stop"`
	Suffix        string        `json:"suffix"`
	Echo          bool          `json:"echo"`
	Logprobs      *int          `json:"logprobs"`
}

// prompts is a text or a list of texts. Lists of tokens are accepted too, and cannot be echoed.
type prompts []prompt

type prompt struct {
	text   string
	tokens []Token
}

func (p *prompts) UnmarshalJSON(b []byte) error {
	var texts []string
	var text string
	if json.Unmarshal(b, &text) == nil {
		texts = []string{text}
	}
	if texts != nil || json.Unmarshal(b, &texts) == nil {
		for _, t := range texts {
			*p = append(*p, prompt{t, appendTokens(nil, t)})
		}
		return nil
	}
	var in inputs
	if in.UnmarshalJSON(b) != nil {
		return badRequest("prompt", "invalid_type", "Invalid type for 'prompt': expected a string, a list of strings, or lists of tokens.")
	}
	for _, tokens := range in {
		*p = append(*p, prompt{tokens: tokens})
	}
	return nil
}

func (q *completionRequest) validate() error {
	switch {
	case len(q.Prompt) == 0:
		return missing("prompt")
	case or(q.N, 1) < 1 || or(q.N, 1) > 128:
		return badRequest("n", "integer_out_of_range", "Invalid 'n': expected a value from 1 to 128.")
	case or(q.MaxTokens, 1) < 1:
		return badRequest("max_tokens", "integer_below_min_value", "Invalid 'max_tokens': expected a value of at least 1.")
	}
	return q.sampling.validate()
}

// completionJob is the job of one of the prompts.
func (e *Engine) completionJob(q *completionRequest, p prompt) *job {
	return &job{
		question: Question{Path: "/v1/completions", Model: q.Model, Messages: []Message{{"user", p.text}}},
		prompt:   p.tokens, asked: p.text, params: q.params() + q.Suffix, salt: q.salt(),
		choices: or(q.N, 1), limit: or(q.MaxTokens, e.o.MaxOutput), stop: q.Stop,
	}
}

func (e *Engine) completions(c *call) error {
	var q completionRequest
	if err := decode(c.body, &q); err != nil {
		return err
	}
	if err := e.serves(q.Model); err != nil {
		return err
	}
	if err := q.validate(); err != nil {
		return err
	}
	if done, err := c.replaced(); done {
		return err
	}
	p := &completion{call: c, q: &q, head: completionBody{ID: c.name("cmpl-"), Object: "text_completion", Created: c.now.Unix(), Model: q.Model, Fingerprint: fingerprint}}
	defer p.end()
	for _, one := range q.Prompt {
		j := e.completionJob(&q, one)
		p.runs = append(p.runs, e.begin(j, j.answer(&e.o, &c.fault)))
	}
	c.headers(p.slowest())
	if q.Stream {
		return p.stream()
	}
	return p.whole()
}

// completion is the answer to one request: a run for each of its prompts, in parallel.
type completion struct {
	call *call
	q    *completionRequest
	head completionBody
	runs []*run
}

type completionBody struct {
	ID          string             `json:"id"`
	Object      string             `json:"object"`
	Created     int64              `json:"created"`
	Model       string             `json:"model"`
	Choices     []completionChoice `json:"choices"`
	Usage       any                `json:"usage,omitempty"` // omitted, null, or *usage
	Fingerprint string             `json:"system_fingerprint"`
}

type completionChoice struct {
	Index    int          `json:"index"`
	Text     string       `json:"text"`
	Logprobs *oldLogprobs `json:"logprobs"`
	Finish   *string      `json:"finish_reason"`
}

func (p *completion) end() {
	for _, r := range p.runs {
		r.end()
	}
}

func (p *completion) slowest() *run {
	slow := p.runs[0]
	for _, r := range p.runs {
		if r.modelled() > slow.modelled() {
			slow = r
		}
	}
	return slow
}

// wait returns when every run has made n tokens, or all it has.
func (p *completion) wait(n int) error {
	for _, r := range p.runs {
		if err := r.wait(p.call.ctx, min(n, r.steps())); err != nil {
			return err
		}
	}
	return nil
}

func (p *completion) steps() int {
	n := 0
	for _, r := range p.runs {
		n = max(n, r.steps())
	}
	return n
}

func (p *completion) usage() *usage {
	var sum usage
	for _, r := range p.runs {
		u := r.usage()
		sum.Prompt += u.Prompt
		sum.Completion += u.Completion
		sum.Total += u.Total
		sum.Details.Cached += u.Details.Cached
	}
	return &sum
}

// echo is the prompt of run i where it is to be repeated.
func (p *completion) echo(i int) string {
	if !p.q.Echo {
		return ""
	}
	return p.q.Prompt[i].text
}

func (p *completion) whole() error {
	if err := p.wait(p.steps()); err != nil {
		return err
	}
	b := p.head
	for i, r := range p.runs {
		for k := range r.choices {
			ch := &r.choices[k]
			out := completionChoice{Index: len(b.Choices), Text: p.echo(i) + ch.text(), Finish: &ch.finish}
			if p.q.Logprobs != nil {
				out.Logprobs = completionLogprobs(ch.pieces, *p.q.Logprobs, len(p.echo(i)))
			}
			b.Choices = append(b.Choices, out)
		}
	}
	if !p.call.fault.NoUsage {
		b.Usage = p.usage()
	}
	return p.call.json(b)
}

func (p *completion) stream() error {
	s, err := p.call.stream()
	if err != nil {
		return err
	}
	if p.q.StreamOptions.IncludeUsage {
		p.head.Usage = null
	}
	if err = p.play(s); errors.Is(err, errInStream) {
		err = s.raw("", faultError(500).body())
	}
	if err != nil {
		return err
	}
	return s.done()
}

func (p *completion) play(s *sse) error {
	for step := range p.steps() {
		if err := p.wait(step + 1); err != nil {
			return err
		}
		if err := p.each(func(i, index int, ch *choice) error { return p.step(s, i, index, step, ch) }); err != nil {
			return err
		}
	}
	if s.fault.NoDone {
		return nil
	}
	if p.call.usage && !p.q.StreamOptions.IncludeUsage && !s.fault.NoUsage {
		p.head.Usage = p.usage()
	}
	err := p.each(func(_, index int, ch *choice) error {
		return p.chunk(s, completionChoice{Index: index, Finish: &ch.finish})
	})
	if err != nil || !p.q.StreamOptions.IncludeUsage || s.fault.NoUsage {
		return err
	}
	p.head.Choices, p.head.Usage = []completionChoice{}, p.usage()
	return s.event("", &p.head)
}

// each visits every choice of every run with its index in the answer.
func (p *completion) each(do func(i, index int, ch *choice) error) error {
	index := 0
	for i, r := range p.runs {
		for k := range r.choices {
			if err := do(i, index, &r.choices[k]); err != nil {
				return err
			}
			index++
		}
	}
	return nil
}

func (p *completion) step(s *sse, i, index, step int, ch *choice) error {
	if step >= len(ch.pieces) {
		return nil
	}
	out := completionChoice{Index: index, Text: ch.pieces[step]}
	if p.q.Logprobs != nil {
		out.Logprobs = completionLogprobs(ch.pieces[step:step+1], *p.q.Logprobs, ch.offset(step)+len(p.echo(i)))
	}
	if step == 0 {
		out.Text = p.echo(i) + out.Text
	}
	return p.chunk(s, out)
}

func (p *completion) chunk(s *sse, ch completionChoice) error {
	p.head.Choices = []completionChoice{ch}
	return s.event("", &p.head)
}

// offset is where a piece begins in the text.
func (c *choice) offset(piece int) int {
	n := 0
	for _, p := range c.pieces[:piece] {
		n += len(p)
	}
	return n
}
