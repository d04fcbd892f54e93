package demo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"
)

// message is a message of a chat.
type message struct {
	Role    string          `json:"role"`
	Content *string         `json:"content"` // nil: null
	Calls   json.RawMessage `json:"tool_calls,omitempty"`
	Call    string          `json:"tool_call_id,omitempty"`
}

// talk is a conversation in progress.
type talk struct {
	c     *Conversation
	model string
	// histories holds, per turn, the messages up to its end so far. A turn whose parent is not the last turn continues the history of its
	// parent.
	histories [][]message
}

func newTalk(model string, c *Conversation) *talk {
	return &talk{c: c, model: cmp.Or(c.From.Model, model), histories: make([][]message, len(c.Turns))}
}

func (t *talk) hasTools() bool { return t.c.Tools != nil }

// user begins turn i with the message of the user.
func (t *talk) user(i int) {
	turn := t.c.Turns[i]
	var before []message
	if turn.Parent >= 0 {
		before = slices.Clip(t.histories[turn.Parent]) // because two branches may continue one history
	} else if t.c.System != "" {
		before = []message{{Role: "system", Content: &t.c.System}}
	}
	t.histories[i] = append(before, message{Role: "user", Content: &turn.Text})
}

// assistant appends the answer, and a result for every tool that it calls.
func (t *talk) assistant(i int, got *reply) {
	if len(got.calls) == 0 {
		t.histories[i] = append(t.histories[i], message{Role: "assistant", Content: &got.text})
		return
	}
	t.histories[i] = append(t.histories[i], message{Role: "assistant", Calls: json.RawMessage(got.rawCalls)})
	for _, id := range got.calls {
		done := `{"ok":true}`
		t.histories[i] = append(t.histories[i], message{Role: "tool", Call: id, Content: &done})
	}
}

// body is the request for the next answer in turn i.
func (t *talk) body(i int, stream bool) ([]byte, error) {
	return json.Marshal(struct {
		Model    string          `json:"model"`
		Messages []message       `json:"messages"`
		Tools    json.RawMessage `json:"tools,omitempty"`
		Stream   bool            `json:"stream,omitempty"`
	}{t.model, t.histories[i], t.c.Tools, stream})
}

func newRequest(ctx context.Context, base string, from Client, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if from.Key != "" {
		req.Header.Set("Authorization", "Bearer "+from.Key)
	}
	if from.TTL != "" {
		req.Header.Set("X-Reprise-Ttl", from.TTL)
	}
	return req, nil
}

// reply is an assistant's answer.
type reply struct {
	text     string
	calls    []string // ids of the tools' calls
	rawCalls string   // their JSON
}

// errNoAnswer is a complete response that contains no answer.
var errNoAnswer = errors.New("no answer in the response")

func readWhole(in io.Reader) (*reply, error) {
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	message := gjson.GetBytes(body, "choices.0.message")
	if !message.Exists() {
		return nil, errNoAnswer
	}
	got := &reply{text: message.Get("content").String()}
	if calls := message.Get("tool_calls"); calls.IsArray() {
		got.rawCalls = calls.Raw
		for _, c := range calls.Array() {
			got.calls = append(got.calls, c.Get("id").String())
		}
	}
	return got, nil
}

// readStream joins the text of a stream, which must have its terminal event. It reads on to the end of the response, so that
// the connection can be used again.
func readStream(in io.Reader) (*reply, error) {
	var got *reply
	var text []byte
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		switch {
		case !ok:
		case string(data) == "[DONE]":
			got = &reply{text: string(text)}
		default:
			text = append(text, gjson.GetBytes(data, "choices.0.delta.content").String()...)
		}
	}
	if got == nil {
		return nil, errors.Join(lines.Err(), io.ErrUnexpectedEOF)
	}
	return got, lines.Err()
}
