package enginesim

import (
	"errors"
)

// streamChat sends one chunk a token, the choices of a step one after the other, as their tokens are made.
func (c *call) streamChat(q *chatRequest, r *run) error {
	s, err := c.stream()
	if err != nil {
		return err
	}
	cs := &chatStream{sse: s, call: c, q: q, r: r, chunk: c.chatHead(q, "chat.completion.chunk")}
	if q.StreamOptions.IncludeUsage {
		cs.chunk.Usage = null
	}
	err = cs.play()
	if errors.Is(err, errInStream) {
		if err = s.raw("", faultError(500).body()); err != nil {
			return err
		}
		return s.done()
	}
	return err
}

type chatStream struct {
	*sse
	call  *call
	q     *chatRequest
	r     *run
	chunk chatBody
}

func (s *chatStream) play() error {
	if err := s.r.wait(s.ctx, 0); err != nil {
		return err
	}
	for i := range s.r.choices {
		if err := s.send(chatChoice{Index: i, Delta: s.r.choices[i].opening(s.call.callID(i))}); err != nil {
			return err
		}
	}
	for step := range s.r.steps() {
		if err := s.step(step); err != nil {
			return err
		}
	}
	if err := s.finish(); err != nil {
		return err
	}
	return s.done()
}

// send sends one chunk with one choice.
func (s *chatStream) send(ch chatChoice) error {
	s.chunk.Choices = []chatChoice{ch}
	return s.event("", &s.chunk)
}

// step sends the token of one step of each choice that has it.
func (s *chatStream) step(step int) error {
	if err := s.r.wait(s.ctx, step+1); err != nil {
		return err
	}
	for i := range s.r.choices {
		ch := &s.r.choices[i]
		if step >= len(ch.pieces) {
			continue
		}
		out := chatChoice{Index: i, Delta: ch.delta(ch.pieces[step])}
		if s.q.Logprobs && ch.tool == "" {
			out.Logprobs = chatLogprobs(ch.pieces[step:step+1], s.q.TopLogprobs)
		}
		if err := s.send(out); err != nil {
			return err
		}
	}
	return nil
}

// finish sends the finish reasons and, if requested, the usage.
func (s *chatStream) finish() error {
	if s.fault.NoDone {
		return nil
	}
	times := 1
	if s.fault.TwoFinish {
		times = 2
	}
	for i := range s.r.choices {
		if ch := &s.r.choices[i]; ch.also != "" {
			second := 1
			call := toolCall{Index: &second, ID: s.call.callID(i) + alsoID, Type: "function", Function: toolFunction{ch.also, ch.args}}
			if err := s.send(chatChoice{Index: i, Delta: &chatMsg{ToolCalls: []toolCall{call}}}); err != nil {
				return err
			}
		}
		if s.call.usage && i == len(s.r.choices)-1 && !s.q.StreamOptions.IncludeUsage && !s.fault.NoUsage {
			s.chunk.Usage = s.r.usage()
		}
		for range times {
			if err := s.send(chatChoice{Index: i, Delta: &chatMsg{}, Finish: &s.r.choices[i].finish}); err != nil {
				return err
			}
		}
	}
	if !s.q.StreamOptions.IncludeUsage || s.fault.NoUsage {
		return nil
	}
	s.chunk.Choices, s.chunk.Usage = []chatChoice{}, s.r.usage()
	return s.event("", &s.chunk)
}

// opening is the first delta: the role, and the name of the function that is called.
func (ch *choice) opening(callID string) *chatMsg {
	if ch.tool == "" {
		return &chatMsg{Role: "assistant", Content: "", Refusal: null}
	}
	first := toolCall{Index: new(int), ID: callID, Type: "function", Function: toolFunction{Name: ch.tool}}
	return &chatMsg{Role: "assistant", Content: null, Refusal: null, ToolCalls: []toolCall{first}}
}

func (ch *choice) delta(piece string) *chatMsg {
	switch {
	case ch.tool != "":
		return &chatMsg{ToolCalls: []toolCall{{Index: new(int), Function: toolFunction{Arguments: piece}}}}
	case ch.refusal:
		return &chatMsg{Refusal: piece}
	}
	return &chatMsg{Content: piece}
}
