package answer_test

import (
	"fmt"

	"reprise/proxy/answer"
	"reprise/proxy/api/openai"
)

// A finished answer is judged and frozen, and replayed as a stream to a client that asks for one, under an id of its own.
func Example() {
	form := openai.Chat.Answers
	body := []byte(`{"id":"chatcmpl-1","created":1700000001,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"42"},"finish_reason":"stop"}]}`)
	verdict := answer.Judge(form, false, body)
	fmt.Println(verdict.Keep, verdict.Text)

	frozen, err := answer.Freeze(form, "application/json", body)
	if err != nil {
		panic(err)
	}
	stream, contentType, err := frozen.Replay(nil, answer.ReplayOptions{ID: "chatcmpl-2", Created: 1800000000, Stream: true})
	fmt.Printf("%s %v\n%s", contentType, err, stream)
	// Output:
	// true 42
	// text/event-stream; charset=utf-8 <nil>
	// data: {"id":"chatcmpl-2","created":1800000000,"model":"m","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
	//
	// data: {"id":"chatcmpl-2","created":1800000000,"model":"m","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"42"},"finish_reason":null}]}
	//
	// data: {"id":"chatcmpl-2","created":1800000000,"model":"m","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
	//
	// data: [DONE]
}
