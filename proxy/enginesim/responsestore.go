package enginesim

import (
	"net/http"
	"sync"
)

// storedAnswer is the JSON of a response, and the conversation up to its answer, which is included.
type storedAnswer struct {
	body  []byte
	turns []chatMessage
}

// answers are the stored responses, and the handler that returns one.
type answers struct {
	mu     sync.Mutex // protects newest
	newest *newest[storedAnswer]
}

func (s *answers) find(id string) (storedAnswer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.newest.byName[id]
	return a, ok
}

// conversation is the input of a request after the conversation of the response that it names as the previous one.
func (s *answers) conversation(q *responseRequest) ([]chatMessage, error) {
	if q.Previous == nil {
		return q.Input, nil
	}
	before, ok := s.find(*q.Previous)
	if !ok {
		return nil, badRequest("previous_response_id", "previous_response_not_found", "Previous response with id '%s' not found.", *q.Previous)
	}
	return append(before.turns[:len(before.turns):len(before.turns)], q.Input...), nil
}

// keep stores an answer unless the request forbids it.
func (s *answers) keep(p *response, turns []chatMessage, body []byte) {
	if !or(p.q.Store, true) {
		return
	}
	last := chatMessage{Role: "assistant"}
	if p.choice.tool != "" {
		last.ToolCalls = marshal(p.item("completed"))
	} else {
		last.Content.text = p.choice.text()
	}
	turns = append(turns[:len(turns):len(turns)], last)
	if p.choice.also != "" {
		turns = append(turns, chatMessage{Role: "assistant", ToolCalls: marshal(p.also("completed", p.choice.args))})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest.put(p.head.ID, storedAnswer{body, turns})
}

func (s *answers) get(c *call) error {
	if done, err := c.replaced(); done {
		return err
	}
	id := c.req.PathValue("id")
	a, ok := s.find(id)
	if !ok {
		return notFound("", "Response with id '%s' not found.", id)
	}
	return c.whole(http.StatusOK, "application/json", a.body)
}
