package enginesim

import (
	"net/http"
	"slices"
	"sync"
)

// storedAnswer is the JSON of a response, and the conversation up to its answer, which is included.
type storedAnswer struct {
	body  []byte
	turns []chatMessage
}

// answers are the stored responses and their items, and the handler that returns a response.
type answers struct {
	mu     sync.Mutex // protects what follows
	newest *newest[storedAnswer]
	items  *newest[chatMessage]
}

func (s *answers) find(id string) (storedAnswer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.newest.byName[id]
	return a, ok
}

// conversation is the input of a request after the conversation of the response that it names as the previous one.
func (s *answers) conversation(q *responseRequest) ([]chatMessage, error) {
	if err := s.resolve(q.Input); err != nil || q.Previous == nil {
		return q.Input, err
	}
	before, ok := s.find(*q.Previous)
	if !ok {
		return nil, badRequest("previous_response_id", "previous_response_not_found", "Previous response with id '%s' not found.", *q.Previous)
	}
	return append(slices.Clip(before.turns), q.Input...), nil
}

// resolve replaces the names of items by the items.
func (s *answers) resolve(turns []chatMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range turns {
		if m.at == "" {
			continue
		}
		held, ok := s.items.byName[m.at]
		if !ok {
			return notFound("", "Item with id '%s' not found.", m.at)
		}
		turns[i] = held
	}
	return nil
}

// keep stores an answer unless the request forbids it.
func (s *answers) keep(p *response, body []byte) {
	if !or(p.q.Store, true) {
		return
	}
	last := chatMessage{Role: "assistant"}
	if p.choice.tool != "" {
		last.ToolCalls = marshal(p.item("completed"))
	} else {
		last.Content.text = p.choice.text()
	}
	turns := append(slices.Clip(p.turns), last)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items.put(p.itemID(), last)
	if p.choice.also != "" {
		call := p.also("completed", p.choice.args)
		second := chatMessage{Role: "assistant", ToolCalls: marshal(call)}
		turns = append(turns, second)
		s.items.put(call.ID, second)
	}
	s.newest.put(p.head.ID, storedAnswer{body, turns})
	if p.q.thinks() {
		s.items.put(p.thought().ID, chatMessage{Role: "reasoning"})
	}
}

func (s *answers) get(c *call) error {
	if err := c.replaced(); err != nil {
		return err
	}
	id := c.req.PathValue("id")
	a, ok := s.find(id)
	if !ok {
		return notFound("", "Response with id '%s' not found.", id)
	}
	return c.whole(http.StatusOK, "application/json", a.body)
}

// newestSize bounds how many values of one kind the engine keeps.
const newestSize = 256

// newest keeps the newest values by name. It holds no lock.
type newest[T any] struct {
	byName map[string]T
	names  []string // oldest first
}

func makeNewest[T any]() *newest[T] { return &newest[T]{byName: map[string]T{}} }

// put adds a value under a name that was never used.
func (s *newest[T]) put(name string, v T) {
	if len(s.names) == newestSize {
		delete(s.byName, s.names[0])
		s.names = s.names[1:]
	}
	s.byName[name] = v
	s.names = append(s.names, name)
}
