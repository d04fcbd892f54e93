package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestFollowerSeesItsOwnUsage: a follower sees the usage of a stream if it asked for it itself, whatever the leader asked for.
func TestFollowerSeesItsOwnUsage(t *testing.T) {
	const usage = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}` + "\n\n"
	for _, asked := range []bool{true, false} {
		up := newStage()
		r := newRigAt(t, nil, up)
		with, without := chat(capital, `"stream":true,"stream_options":{"include_usage":true}`), chat(capital, `"stream":true`)
		leads, follows := with, without
		if !asked {
			leads, follows = without, with
		}
		replies := [2]chan reply{make(chan reply, 1), make(chan reply, 1)}
		go func() { got, _ := r.try("/v1/chat/completions", leads); replies[0] <- got }()
		within(t, up.arrived, "the upstream call")
		go func() { got, _ := r.try("/v1/chat/completions", follows); replies[1] <- got }()
		r.waiters(t, 2)
		up.script <- func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("one")+strings.Replace(lastEvents, "data: [DONE]", usage+"data: [DONE]", 1))
		}
		for i, want := range []bool{asked, !asked} {
			got := within(t, replies[i], "an answer")
			if strings.Contains(got.body, "prompt_tokens") != want || !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
				t.Errorf("leader asked for usage: %v; answer %d (%s):\n%s", asked, i, got.cache(), got.body)
			}
		}
	}
}

// TestErrorIsNotConverted: an error under status 200 has no other form, and an answer that JSON readers read differently has
// several; a follower that needs another form sends a request of its own.
func TestErrorIsNotConverted(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"no engine","code":502}}`,
		`{"choices":[{"index":0,"message":{"content":"no engine","content":"two"},"finish_reason":"stop"}]}`,
	} {
		up := newStage()
		r := newRigAt(t, nil, up)
		led, followed := make(chan reply, 1), make(chan reply, 1)
		go func() { got, _ := r.try("/v1/chat/completions", chat(capital)); led <- got }()
		within(t, up.arrived, "the upstream call")
		go func() { got, _ := r.try("/v1/chat/completions", chat(capital, `"stream":true`)); followed <- got }()
		r.waiters(t, 2)
		up.script <- func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, body)
		}
		up.script <- func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("one")+lastEvents)
		}
		if got := within(t, led, "the leader's answer"); !strings.Contains(got.body, "no engine") {
			t.Errorf("%s: leader: %s", body, got.body)
		}
		if got := within(t, followed, "the follower's answer"); streamedText(got.body) != "one" || got.cache() != "miss" {
			t.Errorf("%s: follower: %s %q", body, got.cache(), got.body)
		}
	}
}
