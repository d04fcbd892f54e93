package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// ChatRecord is a line of a log of chat requests: a body of the chat completions API.
type ChatRecord struct {
	Model    string            `json:"model"`
	System   json.RawMessage   `json:"system"` // where the instruction is no message
	Tools    json.RawMessage   `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
	User     json.RawMessage   `json:"user"`
}

// ParseChat reads a line.
func ParseChat(line []byte) (r ChatRecord, err error) {
	if err := decode(line, &r); err != nil {
		return r, err
	}
	if len(r.Messages) == 0 {
		return r, errors.New(`want a field messages, a list that is not empty: {"model":…,"messages":[…]}`)
	}
	return r, nil
}

// chatMessage is a message as far as an engine puts it into the prompt.
type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Calls      json.RawMessage `json:"tool_calls"`
	Identifier string          `json:"tool_call_id"`
}

// chatParser makes requests of a log of bodies in the order of their arrival. A body continues the latest one whose messages are the
// first of its own; the message behind these is the answer. A log has no times: its requests arrive as a Poisson process at the rate at
// which a conversation goes on after Options.Think in the mean.
type chatParser struct {
	*builder
	latest map[uint64]int32 // by the hash of all messages, the number of the latest request that has these
	users  map[string]uint32
	groups uint32 // conversations
	gaps   int64  // lines between requests and their continuations, summed
	turns  int64  // continuations
	text   []byte
	chain  []uint32
}

func (p *chatParser) line(text []byte) error {
	one, err := ParseChat(text)
	if err != nil {
		return err
	}
	kind, err := p.kind("chat")
	if err != nil {
		return err
	}
	r := blocks.Request{Kind: kind, Turn: 1, User: p.user(one.User)}
	talk, err := p.talk(&one, &r)
	if err != nil {
		return err
	}
	if err := p.fits(len(p.text)); err != nil {
		return fmt.Errorf("field messages: %w", err)
	}
	r.Prompt = max(1, tokensOf(len(p.text)))
	if r.After == 0 { // the log may begin in the middle of a conversation
		p.groups++
		r.Session, r.Turn = p.groups, int32(max(1, len(talk.asked)))
	}
	if p.o.Predict != nil {
		r.Prob = p.o.Predict(Turn{Prompts: talk.asked, Answers: talk.given, Number: int(r.Turn), Kind: "chat"})
	}
	p.chain, _ = p.cut(p.chain[:0], 0, p.text)
	return p.addChain(r, r.After, p.chain, -1)
}

// said is what the texts of a body are by their roles.
type said struct{ asked, given []string }

// talk puts the prompt of a body into text, and makes r the continuation of the latest request that is its beginning.
func (p *chatParser) talk(one *ChatRecord, r *blocks.Request) (talk said, err error) {
	p.text = fmt.Appendf(p.text[:0], "%s\n%s%s\n", one.Model, one.System, one.Tools)
	at, answer := hash(p.text), 0
	for i, raw := range one.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return talk, fmt.Errorf("field messages[%d]: want an object with role and content: %w", i, err)
		}
		if from := p.latest[at]; from > 0 {
			r.After, answer = from, i
		}
		begin, content := len(p.text), contentOf(m.Content)
		p.text = fmt.Appendf(p.text, "%s\n%s%s%s\n", m.Role, content, m.Calls, m.Identifier)
		at = (at^hash(p.text[begin:]))*1099511628211 + 1
		switch m.Role {
		case "user":
			talk.asked = append(talk.asked, content)
		case "assistant":
			talk.given = append(talk.given, content)
		}
		if answer == i && r.After > 0 && m.Role == "assistant" {
			p.answered(r.After, len(p.text)-begin)
		}
	}
	if r.After > 0 {
		p.follow(r)
	}
	if p.latest == nil {
		p.latest = map[uint64]int32{}
	}
	p.latest[at] = p.next()
	return talk, nil
}

func (p *chatParser) answered(number int32, bytes int) {
	if earlier := &p.trace.Requests[number-1]; earlier.Answer == 0 {
		earlier.Answer = tokensOf(bytes)
	}
}

func (p *chatParser) follow(r *blocks.Request) {
	earlier := &p.trace.Requests[r.After-1]
	r.Turn, r.Session = earlier.Turn+1, earlier.Session
	p.gaps += int64(p.next() - r.After)
	p.turns++
}

// user is the number of a user, from 1; 0 is none.
func (p *chatParser) user(name json.RawMessage) uint32 {
	if len(name) == 0 || string(name) == "null" {
		return 0
	}
	if p.users == nil {
		p.users = map[string]uint32{}
	}
	n, ok := p.users[string(name)]
	if !ok {
		n = uint32(len(p.users)) + 1
		p.users[string(name)] = n
	}
	return n
}

// contentOf is the text of a message. A part that is no text, as an image, is its hash, because its bytes are no tokens.
func contentOf(content json.RawMessage) string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return whole
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	var b strings.Builder
	for _, raw := range parts {
		var part struct {
			Text *string `json:"text"`
		}
		if json.Unmarshal(raw, &part) == nil && part.Text != nil {
			b.WriteString(*part.Text)
		} else {
			fmt.Fprintf(&b, "%016x", hash(raw))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// end samples the times.
func (p *chatParser) end() error {
	every := 1.0 // seconds from one request to the next
	if p.turns > 0 {
		every = p.o.Think * float64(p.turns) / float64(p.gaps)
	}
	random := rand.New(rand.NewPCG(p.o.Seed, 0x63686174))
	at := 0.0
	for i := range p.trace.Requests {
		r := &p.trace.Requests[i]
		r.At = at
		if r.After > 0 {
			r.Think = at - p.trace.Requests[r.After-1].At
		}
		at += random.ExpFloat64() * every
	}
	p.note("times are sampled")
	return nil
}
