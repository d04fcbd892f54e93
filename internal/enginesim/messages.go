package enginesim

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/enginesim/strict"
)

// messagesRequest is a request of Anthropic's API. Its tools, its system prompt and its messages are blocks, and the end of a prefix that
// is to be kept is marked on a block.
type messagesRequest struct {
	sampling
	MaxTokens  int               `json:"max_tokens"`
	Stream     bool              `json:"stream"`
	Tools      []json.RawMessage `json:"tools"`
	ToolChoice anthropicChoice   `json:"tool_choice"`
	System     json.RawMessage   `json:"system"`
	Messages   []anthropicTurn   `json:"messages"`
	Stops      []string          `json:"stop_sequences"`
	TopK       *int              `json:"top_k"`
	Thinking   struct {
		Type string `json:"type"`
	} `json:"thinking"`
	Output struct {
		Format *format `json:"format"`
	} `json:"output_config"`
	Automatic json.RawMessage `json:"cache_control"`
	Thread    anthropicThread `json:"thread"`
}

// anthropicTurn is a message.
type anthropicTurn struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// anthropicBlock is what is read of a block; text is a block too where the content is a string.
type anthropicBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Call    string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
}

// anthropicChoice is which tool is to be called.
type anthropicChoice struct{ Type, Name string }

// thinks reports whether the answer begins with a thought.
func (q *messagesRequest) thinks() bool {
	return q.Thinking.Type != "" && q.Thinking.Type != "disabled"
}

// messages answers a request of Anthropic's API.
func (e *Engine) messages(c *call) error {
	q, j, blocks, err := e.readMessages(c)
	r, err := c.run(e, j, err)
	if err != nil {
		return err
	}
	defer r.end()
	c.paced = e.o.paced()
	m := &anthropicMessage{call: c, q: q, run: r, choice: &r.choices[0]}
	if q.thinks() {
		m.thought = "Let me see:" + sentence(j.rng(1))
	}
	m.read, m.written = e.keep(q.Model, blocks)
	e.threads.keep(m)
	if q.Stream {
		return m.stream()
	}
	if err := r.wait(c.ctx, r.steps()); err != nil {
		return err
	}
	return c.json(m.whole())
}

// countMessages answers how many tokens the prompt of a request has.
func (e *Engine) countMessages(c *call) error {
	_, j, _, err := e.readMessages(c)
	if err != nil {
		return err
	}
	if err := c.replaced(); err != nil {
		return err
	}
	return c.json(map[string]int{"input_tokens": len(j.prompt)})
}

// readMessages checks a request and makes its job, and the blocks of its prompt.
func (e *Engine) readMessages(c *call) (q *messagesRequest, j *job, blocks []marked, err error) {
	q = &messagesRequest{}
	if err := e.parse(c.body, q); err != nil {
		return nil, nil, nil, err
	}
	if err := e.threads.resume(q); err != nil {
		return nil, nil, nil, err
	}
	j = &job{model: q.Model, choices: 1, limit: q.MaxTokens, stop: q.Stops}
	blocks = q.render(j)
	if err := q.ask(j); err != nil {
		return nil, nil, nil, err
	}
	if err := e.fits(j); err != nil {
		return nil, nil, nil, err
	}
	return q, j, blocks, q.choose(j)
}

func (q *messagesRequest) validate() error {
	if len(q.Messages) == 0 {
		return badRequest("messages", "", "messages: at least one message is required")
	}
	for i, m := range q.Messages {
		if !slices.Contains([]string{"user", "assistant", "system"}, m.Role) {
			return badRequest("messages", "", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		if len(m.Content) == 0 {
			return badRequest("messages", "", "messages.%d.content: Field required", i)
		}
	}
	return q.sampling.validate()
}

// blocks are the blocks of a content.
func (m *anthropicTurn) blocks() (list []anthropicBlock, err error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	if json.Unmarshal(m.Content, &list) != nil {
		return nil, badRequest("messages", "", "messages.content: Input should be a valid string or list")
	}
	return list, nil
}

// ask fills in the question: results of tools are messages of their own. The result of each call must come right behind the call, and has
// its id.
func (q *messagesRequest) ask(j *job) error {
	var open []string
	for i, m := range q.Messages {
		blocks, err := m.blocks()
		if err != nil {
			return err
		}
		var text string
		var calls []string
		for _, b := range blocks {
			text += b.Text
			switch b.Type {
			case "tool_use":
				calls = append(calls, b.ID)
			case "tool_result":
				at := slices.Index(open, b.Call)
				if at < 0 {
					return badRequest("messages", "", "messages.%d.content: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
						"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, b.Call)
				}
				open = slices.Delete(open, at, at+1)
				j.turns = append(j.turns, turn{"tool", canonical(b.Content)})
			}
		}
		if len(open) > 0 {
			return badRequest("messages", "", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i-1, strings.Join(open, ", "))
		}
		open = calls
		if text != "" || len(j.turns) == 0 {
			j.turns = append(j.turns, turn{m.Role, text})
		}
		if m.Role == "user" && text != "" {
			j.asked = text
		}
	}
	return nil
}

// choose decides between text, JSON and a call of a tool of the client.
func (q *messagesRequest) choose(j *job) (err error) {
	var tools []toolSpec
	for _, raw := range q.Tools {
		var t struct {
			Name   string         `json:"name"`
			Schema map[string]any `json:"input_schema"`
		}
		if json.Unmarshal(raw, &t) != nil {
			return badRequest("tools", "", "tools: Input should be a valid list of tools")
		}
		if t.Schema != nil {
			tools = append(tools, toolSpec{Name: t.Name, Parameters: t.Schema})
		}
	}
	choice := map[string]any{"any": "required", "none": "none", "tool": map[string]string{"name": q.ToolChoice.Name}}[q.ToolChoice.Type]
	if err := q.settle(j, tools, json.RawMessage(compact(choice)), q.Output.Format); err != nil {
		return err
	}
	j.params += fmt.Sprint(or(q.TopK, 0), q.Stops, q.thinks())
	return nil
}

// marked is a block of a prompt: what it ends, in tokens and as a hash, and whether it is marked.
type marked struct {
	tokens int
	hash   [sha256.Size]byte
	mark   bool
}

// lookBack is how many blocks before a mark may end the prefix that is found.
const lookBack = 20

// mostMarks bounds the prefixes that are stored.
const mostMarks = 10_000

// render appends the request to the prompt of j, and returns its blocks. An answer does not depend on the ids that link calls and results.
func (q *messagesRequest) render(j *job) (all []marked) {
	add := func(raw json.RawMessage) {
		block := map[string]json.RawMessage{}
		_ = json.Unmarshal(raw, &block) // a text is no object
		_, mark := block["cache_control"]
		for _, name := range []string{"cache_control", "id", "tool_use_id"} {
			delete(block, name)
		}
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
	}
	if len(all) > 0 && len(q.Automatic) > 0 {
		all[len(all)-1].mark = true
	}
	j.prompt = append(j.prompt, answerBegins...)
	return all
}

// keep stores the prefixes that are marked, and returns how many tokens of them were stored before, and how many are new.
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
