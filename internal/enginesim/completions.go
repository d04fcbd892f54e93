package enginesim

import "encoding/json"

type completionRequest struct {
	sampling
	Prompt        prompt        `json:"prompt"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
	N             *int          `json:"n"`
	MaxTokens     *int          `json:"max_tokens"`
	Stop          stops         `json:"stop"`
	Suffix        string        `json:"suffix"`
}

// prompt is a text, or a list of one text or one list of tokens.
type prompt struct {
	text   string
	tokens []Token
}

func (p *prompt) UnmarshalJSON(b []byte) error {
	var texts []string
	if json.Unmarshal(b, &p.text) != nil && json.Unmarshal(b, &texts) == nil && len(texts) == 1 {
		p.text = texts[0]
	}
	if p.text != "" {
		p.tokens = appendTokens(nil, p.text)
		return nil
	}
	var in inputs
	if in.UnmarshalJSON(b) != nil || len(in) != 1 {
		return badRequest("prompt", "invalid_type", "Invalid type for 'prompt': expected a string, or a list of one string or of tokens.")
	}
	p.tokens = in[0]
	return nil
}

func (q *completionRequest) validate() error {
	switch {
	case len(q.Prompt.tokens) == 0:
		return missing("prompt")
	case or(q.N, 1) < 1 || or(q.N, 1) > 128:
		return badRequest("n", "integer_out_of_range", "Invalid 'n': expected a value from 1 to 128.")
	case or(q.MaxTokens, 1) < 1:
		return badRequest("max_tokens", "integer_below_min_value", "Invalid 'max_tokens': expected a value of at least 1.")
	}
	return q.sampling.validate()
}

func (e *Engine) completions(c *call) error {
	var q completionRequest
	if err := e.parse(c.body, &q); err != nil {
		return err
	}
	j := &job{
		model: q.Model, turns: []turn{{"user", q.Prompt.text}},
		prompt: q.Prompt.tokens, asked: q.Prompt.text, params: q.params() + q.Suffix, salt: q.salt(),
		choices: or(q.N, 1), limit: or(q.MaxTokens, 0), stop: q.Stop,
	}
	r, err := c.run(e, j, nil)
	if err != nil {
		return err
	}
	defer r.end()
	c.headers(r)
	b := completionBody{ID: c.name("cmpl-"), Object: "text_completion", Created: c.now.Unix(), Model: q.Model, Fingerprint: fingerprint}
	if q.Stream {
		return c.streamCompletion(&q, r, b)
	}
	if err := r.wait(c.ctx, r.steps()); err != nil {
		return err
	}
	for i := range r.choices {
		b.Choices = append(b.Choices, completionChoice{Index: i, Text: r.choices[i].text(), Finish: &r.choices[i].finish})
	}
	if !c.fault.NoUsage {
		b.Usage = r.usage()
	}
	return c.json(b)
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
	Index    int       `json:"index"`
	Text     string    `json:"text"`
	Logprobs *struct{} `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

// streamCompletion sends one chunk a token, the choices of a step one after the other.
func (c *call) streamCompletion(q *completionRequest, r *run, chunk completionBody) error {
	s, asked := c.stream(), q.StreamOptions.IncludeUsage
	if asked {
		chunk.Usage = null
	}
	send := func(choices ...completionChoice) {
		chunk.Choices = choices
		s.event("", &chunk)
	}
	for step := range r.steps() {
		s.wait(r, step+1)
		for i := range r.choices {
			if pieces := r.choices[i].pieces; step < len(pieces) {
				send(completionChoice{Index: i, Text: pieces[step]})
			}
		}
	}
	if s.fault.NoDone {
		return s.done()
	}
	if c.usage && !asked && !s.fault.NoUsage {
		chunk.Usage = r.usage()
	}
	for i := range r.choices {
		send(completionChoice{Index: i, Finish: &r.choices[i].finish})
	}
	if asked && !s.fault.NoUsage {
		chunk.Usage = r.usage()
		chunk.Choices = []completionChoice{}
		s.event("", &chunk)
	}
	return s.done()
}
