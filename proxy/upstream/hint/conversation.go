package hint

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// sessionHeaders are where clients name their conversation, the most specific first: coding agents, then what routers and hosts read,
// then general names. The names are in the form of net/http.
var sessionHeaders = []string{"X-Claude-Code-Session-Id", "X-Opencode-Session", "X-Session-Affinity", "X-Grok-Conv-Id",
	"X-Dynamo-Session-Id", "X-Aibrix-Session-Key", "X-Smg-Routing-Key", "Session-Id", "Session_id", "X-Session-Id", "Conversation-Id",
	"Conversation_id", "X-Conversation-Id"}

// conversation is the name that a client gives its conversation, "" if it gives none.
func conversation(r Request) string {
	for _, name := range sessionHeaders {
		if values := r.Header[name]; len(values) > 0 && values[0] != "" {
			return values[0]
		}
	}
	const field = "prompt_cache_key"
	if !bytes.Contains(r.Body, []byte(field)) {
		return ""
	}
	return gjson.GetBytes(r.Body, field).String()
}
