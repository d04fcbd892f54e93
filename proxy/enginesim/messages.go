package enginesim

import (
	"crypto/sha256"
	"encoding/json"

	"reprise/proxy/enginesim/strict"
)

// messagesRequest is a request of Anthropic's API. Its tools, its system prompt and its messages are blocks, and the end of a prefix that
// is to be kept is marked on a block.
type messagesRequest struct {
	Model     string            `json:"model"`
	MaxTokens int               `json:"max_tokens"`
	Stream    bool              `json:"stream"`
	Tools     []json.RawMessage `json:"tools"`
	System    json.RawMessage   `json:"system"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Automatic json.RawMessage `json:"cache_control"`
}

// marked is a block of a prompt: what it ends, in tokens and as a hash, and whether it is marked.
type marked struct {
	tokens int
	hash   [sha256.Size]byte
	mark   bool
}

// lookBack is how many blocks before a mark may end the prefix that is found.
const lookBack = 20

// mostMarks bounds the prefixes that are held.
const mostMarks = 10_000

func (e *Engine) messages(c *call) error {
	var q messagesRequest
	if err := decode(c.body, &q); err != nil {
		return err
	}
	if err := e.serves(q.Model); err != nil {
		return err
	}
	if len(q.Messages) == 0 {
		return missing("messages")
	}
	j := &job{question: Question{Path: "/v1/messages", Model: q.Model}, choices: 1, limit: q.MaxTokens}
	blocks := q.render(j)
	if done, err := c.replaced(); done {
		return err
	}
	r := e.begin(j, j.answer(&e.o, &c.fault))
	defer r.end()
	if err := r.wait(c.ctx, r.steps()); err != nil {
		return err
	}
	read, written := e.keep(q.Model, blocks)
	usage := map[string]int{"input_tokens": r.prompt - read - written, "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
		"output_tokens": r.output()}
	message := map[string]any{"id": c.name("msg_"), "type": "message", "role": "assistant", "model": q.Model, "stop_reason": nil, "stop_sequence": nil,
		"content": []any{}, "usage": usage}
	if q.Stream {
		return c.streamMessage(message, r)
	}
	message["stop_reason"], message["content"] = "end_turn", []any{map[string]string{"type": "text", "text": r.choices[0].text()}}
	return c.json(message)
}

// streamMessage sends a message as Anthropic's events.
func (c *call) streamMessage(message map[string]any, r *run) error {
	s, err := c.stream()
	if err != nil {
		return err
	}
	send := func(kind string, f fields) {
		if err == nil {
			f["type"] = kind
			err = s.event(kind, f)
		}
	}
	send("message_start", fields{"message": message})
	send("content_block_start", fields{"index": 0, "content_block": map[string]string{"type": "text", "text": ""}})
	for _, piece := range r.choices[0].pieces {
		send("content_block_delta", fields{"index": 0, "delta": map[string]string{"type": "text_delta", "text": piece}})
	}
	send("content_block_stop", fields{"index": 0})
	send("message_delta", fields{"delta": map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": map[string]int{"output_tokens": r.output()}})
	send("message_stop", fields{})
	if err != nil {
		return err
	}
	return s.end()
}

// render appends the request to the prompt of j, and returns its blocks.
func (q *messagesRequest) render(j *job) (all []marked) {
	add := func(raw json.RawMessage) {
		block := map[string]json.RawMessage{}
		_ = json.Unmarshal(raw, &block) // a text is no object
		_, mark := block["cache_control"]
		delete(block, "cache_control")
		text := compact(block)
		if len(block) == 0 {
			text = canonical(raw)
		}
		j.prompt = appendTokens(j.prompt, text)
		all = append(all, marked{len(j.prompt), sha256.Sum256([]byte(compact(j.prompt))), mark})
	}
	blocks := func(raw json.RawMessage) {
		var list []json.RawMessage
		var text string
		switch {
		case json.Unmarshal(raw, &text) == nil && text != "": // a text is one block
			add(json.RawMessage(compact(map[string]string{"type": "text", "text": text})))
		case json.Unmarshal(raw, &list) == nil:
			for _, block := range list {
				add(block)
			}
		}
	}
	for _, tool := range q.Tools {
		add(tool)
	}
	blocks(q.System)
	for _, m := range q.Messages {
		j.prompt = appendTokens(j.prompt, "<|"+m.Role+"|>")
		blocks(m.Content)
		j.asked = canonical(m.Content)
	}
	if len(all) > 0 && len(q.Automatic) > 0 {
		all[len(all)-1].mark = true
	}
	j.prompt = append(j.prompt, answerBegins...)
	return all
}

// keep holds the prefixes that are marked, and returns how many tokens of them were held before, and how many are written.
func (e *Engine) keep(model string, blocks []marked) (read, written int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last := 0
	for i, b := range blocks {
		if !b.mark || b.tokens < strict.Minimum(model) {
			continue
		}
		last = b.tokens
		for n := i; n >= max(0, i-lookBack); n-- {
			if e.marks[blocks[n].hash] {
				read = max(read, blocks[n].tokens)
			}
		}
	}
	for _, b := range blocks {
		if b.mark && b.tokens >= strict.Minimum(model) && len(e.marks) < mostMarks {
			e.marks[b.hash] = true
		}
	}
	return read, max(0, last-read)
}
