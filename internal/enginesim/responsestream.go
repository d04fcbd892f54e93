package enginesim

import "errors"

// fields are those of an event that its type needs beside type and sequence_number.
type fields map[string]any

// responseStream sends the events of one response in OpenAI's order.
type responseStream struct {
	*response
	out  *sse
	next int // sequence_number
}

func (p *response) stream() error {
	out, err := p.wire.stream()
	if err != nil {
		return err
	}
	s := &responseStream{response: p, out: out}
	err = s.play()
	if errors.Is(err, errInStream) {
		err = s.fail()
	}
	if err != nil {
		return err
	}
	return out.end()
}

func (s *responseStream) play() error {
	if err := s.run.wait(s.ctx, 0); err != nil {
		return err
	}
	for _, act := range []func() error{s.open, s.decode, s.closeItem, s.also, s.finish} {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

func (s *responseStream) send(kind string, f fields) error {
	f["type"], f["sequence_number"] = kind, s.next
	s.next++
	return s.out.event(kind, f)
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
func (s *responseStream) open() error {
	if err := s.send("response.created", fields{"response": &s.head}); err != nil {
		return err
	}
	if err := s.send("response.in_progress", fields{"response": &s.head}); err != nil {
		return err
	}
	if s.q.thinks() {
		for _, end := range []string{"added", "done"} {
			if err := s.send("response.output_item."+end, fields{"output_index": 0, "item": s.thought()}); err != nil {
				return err
			}
		}
	}
	if err := s.send("response.output_item.added", fields{"output_index": s.index(), "item": s.item("in_progress")}); err != nil {
		return err
	}
	if s.choice.tool != "" {
		return nil
	}
	return s.send("response.content_part.added", s.place(fields{"part": s.part("")}))
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
func (s *responseStream) decode() error {
	name, _ := s.family()
	for i, piece := range s.choice.pieces {
		if err := s.run.wait(s.ctx, i+1); err != nil {
			return err
		}
		if err := s.send(name+".delta", s.withLogprobs(s.place(fields{"delta": piece}))); err != nil {
			return err
		}
	}
	return nil
}

// withLogprobs adds the empty list that events of plain text have.
func (s *responseStream) withLogprobs(f fields) fields {
	if name, _ := s.family(); name == "response.output_text" {
		f["logprobs"] = []struct{}{}
	}
	return f
}

// closeItem ends the text, its part and its item.
func (s *responseStream) closeItem() error {
	name, whole := s.family()
	text := s.choice.text()
	if err := s.send(name+".done", s.withLogprobs(s.place(fields{whole: text}))); err != nil {
		return err
	}
	if s.choice.tool == "" {
		if err := s.send("response.content_part.done", s.place(fields{"part": s.part(text)})); err != nil {
			return err
		}
	}
	return s.send("response.output_item.done", fields{"output_index": s.index(), "item": s.item(s.finished().Status)})
}

// also sends the call of another function.
func (s *responseStream) also() error {
	if s.choice.also == "" {
		return nil
	}
	item, args := s.response.also("completed", s.choice.args), s.choice.args
	for _, ev := range []struct {
		kind string
		fields
	}{
		{"output_item.added", fields{"item": s.response.also("in_progress", "")}},
		{"function_call_arguments.delta", fields{"item_id": item.ID, "delta": args}},
		{"function_call_arguments.done", fields{"item_id": item.ID, "arguments": args}},
		{"output_item.done", fields{"item": item}},
	} {
		ev.fields["output_index"] = s.index() + 1
		if err := s.send("response."+ev.kind, ev.fields); err != nil {
			return err
		}
	}
	return nil
}

// finish sends the terminal event with the whole response.
func (s *responseStream) finish() error {
	body := s.finished()
	s.keep(marshal(body))
	times := 1
	switch {
	case s.fault.NoDone:
		times = 0
	case s.fault.TwoFinish:
		times = 2
	}
	for range times {
		if err := s.send("response."+body.Status, fields{"response": body}); err != nil {
			return err
		}
	}
	return nil
}

// fail ends the stream with an error under status 200. The fault that caused it is cleared, so that it happens once.
func (s *responseStream) fail() error {
	s.fault.ErrorEvent, s.fault.CutEvents = false, 0
	e := faultError(500)
	if err := s.send("error", fields{"code": e.Type, "message": e.Message, "param": nil}); err != nil || s.fault.NoDone {
		return err
	}
	return s.send("response.failed", fields{"response": s.failed()})
}
