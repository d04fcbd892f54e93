package enginesim

// fields are those of an event that its type needs beside type and sequence_number.
type fields map[string]any

// responseStream sends the events of one response in OpenAI's order.
type responseStream struct {
	*response
	out  *sse
	next int // sequence_number
}

func (p *response) stream() error {
	s := &responseStream{response: p, out: p.wire.stream()}
	s.out.wait(p.run, 0)
	s.open()
	s.decode()
	s.closeItem()
	s.also()
	s.finish()
	if s.out.failed() {
		s.fail()
	}
	return s.out.finish()
}

func (s *responseStream) send(kind string, f fields) {
	f["type"], f["sequence_number"] = kind, s.next
	s.next++
	s.out.event(kind, f)
}

// place adds the position of an event in the output; a function call has no parts.
func (s *responseStream) place(f fields) fields {
	f["item_id"], f["output_index"] = s.itemID(), s.index()
	if s.choice.tool == "" {
		f["content_index"] = 0
	}
	return f
}

// index is the position of the message or of the first call in the output.
func (s *responseStream) index() int {
	if s.q.thinks() {
		return 1
	}
	return 0
}

// open announces the response, its item and the item's part.
func (s *responseStream) open() {
	s.send("response.created", fields{"response": &s.head})
	s.send("response.in_progress", fields{"response": &s.head})
	if s.q.thinks() {
		s.send("response.output_item.added", fields{"output_index": 0, "item": s.thought()})
		s.send("response.output_item.done", fields{"output_index": 0, "item": s.thought()})
	}
	s.send("response.output_item.added", fields{"output_index": s.index(), "item": s.item("in_progress")})
	if s.choice.tool == "" {
		s.send("response.content_part.added", s.place(fields{"part": s.part("")}))
	}
}

// family is the events with the text of an item: their name, and the field with the whole text at the end.
func (s *responseStream) family() (name, whole string) {
	switch {
	case s.choice.tool != "":
		return "response.function_call_arguments", "arguments"
	case s.choice.refusal:
		return "response.refusal", "refusal"
	}
	return "response.output_text", "text"
}

// decode sends one delta a token.
func (s *responseStream) decode() {
	name, _ := s.family()
	for i, piece := range s.choice.pieces {
		s.out.wait(s.run, i+1)
		s.send(name+".delta", s.withLogprobs(s.place(fields{"delta": piece})))
	}
}

// withLogprobs adds the empty list that events of plain text have.
func (s *responseStream) withLogprobs(f fields) fields {
	if name, _ := s.family(); name == "response.output_text" {
		f["logprobs"] = []struct{}{}
	}
	return f
}

// closeItem ends the text, its part and its item.
func (s *responseStream) closeItem() {
	name, whole := s.family()
	text := s.choice.text()
	s.send(name+".done", s.withLogprobs(s.place(fields{whole: text})))
	if s.choice.tool == "" {
		s.send("response.content_part.done", s.place(fields{"part": s.part(text)}))
	}
	s.send("response.output_item.done", fields{"output_index": s.index(), "item": s.item(s.finished().Status)})
}

// also sends the call of another function.
func (s *responseStream) also() {
	if s.choice.also == "" {
		return
	}
	at, item, args := s.index()+1, s.response.also("completed", s.choice.args), s.choice.args
	s.send("response.output_item.added", fields{"output_index": at, "item": s.response.also("in_progress", "")})
	s.send("response.function_call_arguments.delta", fields{"output_index": at, "item_id": item.ID, "delta": args})
	s.send("response.function_call_arguments.done", fields{"output_index": at, "item_id": item.ID, "arguments": args})
	s.send("response.output_item.done", fields{"output_index": at, "item": item})
}

// finish sends the terminal event with the whole response.
func (s *responseStream) finish() {
	if s.out.err != nil {
		return
	}
	body := s.finished()
	s.answers.keep(s.response, marshal(body))
	if !s.fault.NoDone {
		s.send("response."+body.Status, fields{"response": body})
	}
}

// fail ends the stream with an error under status 200. The fault that caused it is cleared, so that it happens once.
func (s *responseStream) fail() {
	s.fault.ErrorEvent, s.fault.CutEvents = false, 0
	e := faultError(500)
	s.send("error", fields{"code": e.Type, "message": e.Message, "param": nil})
	if !s.fault.NoDone {
		s.send("response.failed", fields{"response": s.failed()})
	}
}
