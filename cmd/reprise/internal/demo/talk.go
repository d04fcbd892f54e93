package demo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/tidwall/gjson"
)

// talk is a conversation in progress.
type talk struct {
	c     *Conversation
	model []byte
	// histories holds, per turn, the messages up to its end so far, as JSON with a comma between them. A turn whose parent is
	// not the last turn continues the history of its parent.
	histories [][]byte
}

func newTalk(model string, c *Conversation) *talk {
	return &talk{c: c, model: quote(cmp.Or(c.From.Model, model)), histories: make([][]byte, len(c.Turns))}
}

func (t *talk) hasTools() bool { return t.c.Tools != nil }

// user begins turn i with the message of the user.
func (t *talk) user(i int) {
	turn := t.c.Turns[i]
	var before []byte
	if turn.Parent >= 0 {
		before = t.histories[turn.Parent]
	} else if t.c.System != "" {
		before = message(nil, "system", t.c.System)
	}
	// Clipped, because two branches may continue one history.
	t.histories[i] = message(before[:len(before):len(before)], "user", turn.Text)
}

// assistant appends the answer, and a result for every tool that it calls.
func (t *talk) assistant(i int, got *reply) {
	h := t.histories[i]
	if len(got.calls) == 0 {
		t.histories[i] = message(h, "assistant", got.text)
		return
	}
	h = fmt.Appendf(h, `,{"role":"assistant","content":null,"tool_calls":%s}`, got.rawCalls)
	for _, id := range got.calls {
		h = fmt.Appendf(h, `,{"role":"tool","tool_call_id":%s,"content":"{\"ok\":true}"}`, quote(id))
	}
	t.histories[i] = h
}

// body is the request for the next answer in turn i.
func (t *talk) body(i int, stream bool) []byte {
	h := t.histories[i]
	b := make([]byte, 0, len(h)+len(t.c.Tools)+128)
	b = append(append(b, `{"model":`...), t.model...)
	b = append(append(append(b, `,"messages":[`...), h...), ']')
	if t.hasTools() {
		b = append(append(b, `,"tools":`...), t.c.Tools...)
	}
	if stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
}

func message(before []byte, role, text string) []byte {
	if len(before) > 0 {
		before = append(before, ',')
	}
	before = append(append(before, `{"role":"`...), role...)
	before = append(append(before, `","content":`...), quote(text)...)
	return append(before, '}')
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return b
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
