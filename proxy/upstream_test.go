package proxy

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// upstreamReply is a chat answer of some 1.2 KB.
var upstreamReply = []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat("All work and no play. ", 41) + `","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":90,"total_tokens":110}}`)

func instantUpstream(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(upstreamReply)))
	w.Write(upstreamReply)
}

var nouns = strings.Fields(`account airport battery bicycle bridge calendar camera candle castle contract coffee compiler cousin database desert diamond
	doctor engine factory feather festival forest garden glacier guitar hammer harbour helmet hospital island jacket journal kernel kitchen
	ladder language lantern library magnet market medicine microphone mirror mountain museum network notebook ocean orchard painting
	parachute passport pension planet printer puzzle railway recipe river robot rocket saddle satellite school sculpture server shadow
	spider statue stadium storm teacher telescope theatre tractor tunnel umbrella vaccine valley village violin volcano wallet window`)

// instantTransport is an upstream without a network, of whole answers and of streams whose events come one by one.
type instantTransport struct{}

func (instantTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	if !bytes.Contains(body, []byte(`"stream":true`)) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(upstreamReply))}},
			ContentLength: int64(len(upstreamReply)), Body: io.NopCloser(bytes.NewReader(upstreamReply))}, nil
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1,
		Body: io.NopCloser(&eventReader{left: upstreamEvents})}, nil
}

// upstreamEvents are a chat answer as a stream of 20 chunks, and one with its usage.
var upstreamEvents = func() (events []string) {
	chunk := func(delta, finish string) {
		events = append(events, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o","choices":[{"index":0,"delta":`+
			delta+`,"logprobs":null,"finish_reason":`+finish+"}]}\n\n")
	}
	chunk(`{"role":"assistant","content":""}`, "null")
	for range 18 {
		chunk(`{"content":" all work"}`, "null")
	}
	chunk(`{}`, `"stop"`)
	return append(events, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o","choices":[],`+
		`"usage":{"prompt_tokens":20,"completion_tokens":36,"total_tokens":56}}`+"\n\n", "data: [DONE]\n\n")
}()

// eventReader reads one event at a time.
type eventReader struct{ left []string }

func (e *eventReader) Read(p []byte) (int, error) {
	if len(e.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.left[0])
	e.left = e.left[1:]
	return n, nil
}
