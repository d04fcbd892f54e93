package enginesim

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// anthropicThread is the member of a request that keeps its conversation at the server: "create" begins a thread, "continue" goes on after
// the answer with an id.
type anthropicThread struct {
	Type     string `json:"type"`
	Previous string `json:"previous_message_id"`
}

// threads are the requests whose conversation is kept, each with its answer as the last message, by the id of the answer. The runner of tools
// in Anthropic's library uses them.
type threads struct {
	mu     sync.Mutex // protects newest
	newest *newest[messagesRequest]
}

// resume puts the conversation that q continues before its messages. System prompt and tools are those of the thread.
func (s *threads) resume(q *messagesRequest) error {
	if q.Thread.Type != "continue" {
		return nil
	}
	s.mu.Lock()
	before, ok := s.newest.byName[q.Thread.Previous]
	s.mu.Unlock()
	if !ok {
		return &apiError{Status: http.StatusNotFound, Message: "Message '" + q.Thread.Previous + "' of a thread not found.", Type: "not_found_error"}
	}
	q.System, q.Tools = before.System, before.Tools
	q.Messages = append(slices.Clip(before.Messages), q.Messages...)
	return nil
}

// keep stores the conversation of a request with a thread.
func (s *threads) keep(m *anthropicMessage) {
	if m.q.Thread.Type == "" {
		return
	}
	body := m.whole()
	kept := *m.q
	kept.Messages = append(slices.Clip(kept.Messages), anthropicTurn{"assistant", json.RawMessage(compact(body["content"]))})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest.put(body["id"].(string), kept)
}
