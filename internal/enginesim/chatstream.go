package enginesim

// streamChat sends one chunk a token, the choices of a step one after the other, as their tokens are made.
func (c *call) streamChat(q *chatRequest, r *run) error {
	s := &chatStream{sse: c.stream(), call: c, q: q, r: r, chunk: c.chatHead(q, "chat.completion.chunk")}
	if q.StreamOptions.IncludeUsage {
		s.chunk.Usage = null
	}
	s.wait(r, 0)
	for i := range r.choices {
		s.send(chatChoice{Index: i, Delta: r.choices[i].opening(c.callID(i))})
	}
	for step := range r.steps() {
		s.step(step)
	}
	if !s.fault.NoDone {
		s.end()
	}
	return s.done()
}

type chatStream struct {
	*sse
	call  *call
	q     *chatRequest
	r     *run
	chunk chatBody
}

// send sends one chunk with one choice.
func (s *chatStream) send(ch chatChoice) {
	s.chunk.Choices = []chatChoice{ch}
	s.event("", &s.chunk)
}

// step sends the token of one step of each choice that has it.
func (s *chatStream) step(step int) {
	s.wait(s.r, step+1)
	for i := range s.r.choices {
		if ch := &s.r.choices[i]; step < len(ch.pieces) {
			s.send(chatChoice{Index: i, Delta: ch.delta(ch.pieces[step])})
		}
	}
}

// end sends the finish reasons and, if requested, the usage.
func (s *chatStream) end() {
	asked := s.q.StreamOptions.IncludeUsage
	for i := range s.r.choices {
		ch := &s.r.choices[i]
		if ch.also != "" {
			second := 1
			call := toolCall{Index: &second, ID: s.call.callID(i) + alsoID, Type: "function", Function: toolFunction{ch.also, ch.args}}
			s.send(chatChoice{Index: i, Delta: &chatMsg{ToolCalls: []toolCall{call}}})
		}
		if s.call.usage && i == len(s.r.choices)-1 && !asked && !s.fault.NoUsage {
			s.chunk.Usage = s.r.usage()
		}
		s.send(chatChoice{Index: i, Delta: &chatMsg{}, Finish: &ch.finish})
	}
	if asked && !s.fault.NoUsage {
		s.chunk.Choices, s.chunk.Usage = []chatChoice{}, s.r.usage()
		s.event("", &s.chunk)
	}
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
