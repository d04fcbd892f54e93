package continuation

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/canon"
)

// Bounds of what a request pays for its prediction.
const (
	mostRead  = 128 << 10 // bytes of its messages that are copied or searched for a role; asks before them are not seen
	leastRead = 64        // that a message counts for
)

// asksOf copies the messages of the user's last asks, the last one first in both, as the client wrote them. Messages of the user that follow
// each other are one ask. There are up to twice as many asks as the model has prompts, as some may have no text.
func asksOf(r *canon.Request, body []byte, prompts int) (asks [][]string) {
	left := mostRead
	follows := false // the message after this one is the user's too
	for _, s := range slices.Backward(r.Segments) {
		if s.Kind != canon.SegmentMessage {
			continue
		}
		raw := s.Of(body)
		user, read := isUsers(raw[:min(len(raw), left)])
		if user {
			read = len(raw)
		}
		if left -= read; left <= 0 || user && !follows && len(asks) == 2*prompts {
			break
		}
		switch {
		case user && follows:
			last := &asks[len(asks)-1]
			*last = append(*last, string(raw))
		case user:
			asks = append(asks, []string{string(raw)})
		}
		follows = user
	}
	return asks
}

// isUsers reports whether a message, or its beginning, is the user's, and how many of its bytes were searched.
func isUsers(raw []byte) (user bool, read int) {
	if len(raw) > 0 && raw[0] == '"' { // a conversation of one string
		return true, leastRead
	}
	role := gjson.Get(rawjson.View(raw), "role")
	if !role.Exists() {
		return false, max(len(raw), leastRead)
	}
	return role.Str == "user", max(role.Index, leastRead)
}

// textOf is the text of a message, or of a conversation that is one string.
func textOf(message gjson.Result) string {
	if message.Type == gjson.String {
		return message.Str
	}
	return answer.ContentText(message.Get("content"))
}

// promptsOf are the user's last prompts that have a text, the oldest first.
func promptsOf(asks [][]string, most int) (prompts []string) {
	for _, ask := range asks {
		var texts []string
		for _, m := range slices.Backward(ask) {
			text := textOf(gjson.Parse(m))
			if strings.TrimSpace(text) != "" {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 && len(prompts) < most {
			prompts = append(prompts, strings.Join(texts, "\n"))
		}
	}
	slices.Reverse(prompts)
	return prompts
}
