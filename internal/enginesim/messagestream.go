package enginesim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// anthropicMessage is one answer in Anthropic's shape: a thought, if the request asks for one, and a text or a call of a tool.
type anthropicMessage struct {
	*call
	q             *messagesRequest
	run           *run
	choice        *choice
	thought       string
	read, written int // tokens of the prompt that were read from the cache for marked prefixes, and written to it
}

// whole is the finished message.
func (m *anthropicMessage) whole() fields {
	content := []fields{}
	if m.thought != "" {
		content = append(content, fields{"type": "thinking", "thinking": m.thought, "signature": m.signature()})
	}
	if m.choice.tool != "" {
		content = append(content, m.use(json.RawMessage(m.arguments())))
		if m.choice.also != "" {
			content = append(content, m.also(json.RawMessage(m.choice.args)))
		}
	} else if text := m.choice.text(); text != "" {
		content = append(content, fields{"type": "text", "text": text})
	}
	f := m.head(content, m.output())
	f["stop_reason"], f["stop_sequence"] = m.stopReason(), nullable(m.choice.stopped)
	return f
}

// head is a message up to its end.
func (m *anthropicMessage) head(content []fields, output int) fields {
	f := fields{"id": m.name("msg_"), "type": "message", "role": "assistant", "model": m.q.Model, "content": content,
		"stop_reason": nil, "stop_sequence": nil}
	if !m.fault.NoUsage {
		f["usage"] = m.usage(output)
	}
	return f
}

func (m *anthropicMessage) usage(output int) map[string]any {
	return map[string]any{"input_tokens": m.run.prompt - m.read - m.written, "cache_read_input_tokens": m.read,
		"cache_creation_input_tokens": m.written, "output_tokens": output, "service_tier": "standard"}
}

// output is the number of tokens of the answer, with those of the thought.
func (m *anthropicMessage) output() int { return m.run.output() + len(split(m.thought)) }

// use is the call of a tool.
func (m *anthropicMessage) use(input any) fields {
	return fields{"type": "tool_use", "id": m.name("toolu_"), "name": m.choice.tool, "input": input}
}

// also is the call of another tool.
func (m *anthropicMessage) also(input any) fields {
	return fields{"type": "tool_use", "id": m.name("toolu_") + alsoID, "name": m.choice.also, "input": input}
}

// arguments are those of the call; of one that is cut, none are left.
func (m *anthropicMessage) arguments() string {
	if text := m.choice.text(); json.Valid([]byte(text)) {
		return text
	}
	return "{}"
}

// signature proves that a thought is this engine's.
func (m *anthropicMessage) signature() string {
	sum := sha256.Sum256([]byte(m.q.Model + m.thought))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func (m *anthropicMessage) stopReason() string {
	switch c := m.choice; {
	case m.fault.FinishReason != "":
		return m.fault.FinishReason
	case c.refusal:
		return "refusal"
	case c.finish == "length":
		return "max_tokens"
	case c.tool != "":
		return "tool_use"
	case c.stopped != "":
		return "stop_sequence"
	}
	return "end_turn"
}

// stream sends the message as Anthropic's events.
func (m *anthropicMessage) stream() error {
	s := &anthropicStream{m, m.wire.stream()}
	s.out.wait(m.run, 0)
	s.send("message_start", fields{"message": s.head([]fields{}, 1)})
	index := 0
	if s.thought != "" {
		s.think()
		index++
	}
	s.answer(index)
	if !s.fault.NoDone {
		if s.choice.also != "" {
			s.block(index+1, s.also(struct{}{}), func() { s.delta(index+1, "input_json_delta", "partial_json", s.choice.args) })
		}
		s.finish()
	}
	if s.out.failed() {
		s.out.raw("error", anthropicBody(faultError(statusOverloaded), ""))
	}
	return s.out.finish()
}

type anthropicStream struct {
	*anthropicMessage
	out *sse
}

func (s *anthropicStream) send(kind string, f fields) {
	f["type"] = kind
	s.out.event(kind, f)
}

// block sends a block, whose fragments fill sends.
func (s *anthropicStream) block(index int, empty fields, fill func()) {
	s.send("content_block_start", fields{"index": index, "content_block": empty})
	fill()
	s.send("content_block_stop", fields{"index": index})
}

// delta sends a fragment of a block.
func (s *anthropicStream) delta(index int, kind, name, text string) {
	s.send("content_block_delta", fields{"index": index, "delta": fields{"type": kind, name: text}})
}

// think sends the thought.
func (s *anthropicStream) think() {
	s.block(0, fields{"type": "thinking", "thinking": "", "signature": ""}, func() {
		for _, piece := range split(s.thought) {
			s.delta(0, "thinking_delta", "thinking", piece)
		}
		s.delta(0, "signature_delta", "signature", s.signature())
	})
}

// answer sends the text or the call, a token at a time.
func (s *anthropicStream) answer(index int) {
	empty, kind, name := fields{"type": "text", "text": ""}, "text_delta", "text"
	if s.choice.tool != "" {
		empty, kind, name = s.use(struct{}{}), "input_json_delta", "partial_json"
	}
	s.block(index, empty, func() {
		s.send("ping", fields{})
		for i, piece := range s.choice.pieces {
			s.out.wait(s.run, i+1)
			s.delta(index, kind, name, piece)
		}
	})
}

// finish sends the stop reason and the usage.
func (s *anthropicStream) finish() {
	f := fields{"delta": fields{"stop_reason": s.stopReason(), "stop_sequence": nullable(s.choice.stopped)}}
	if !s.fault.NoUsage {
		usage := s.usage(s.output())
		delete(usage, "service_tier")
		f["usage"] = usage
	}
	s.send("message_delta", f)
	s.send("message_stop", fields{})
}
