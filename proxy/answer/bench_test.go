package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
)

// benchObject is a chat answer of some 1.2 KB.
func benchObject(b testing.TB) *answer.Frozen {
	body := fmt.Sprintf(`{"id":"chatcmpl-9aB","object":"chat.completion","created":1700000001,"model":"m-1","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"%s","refusal":null},"logprobs":null,"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":11,"completion_tokens":200,"total_tokens":211}}`, strings.Repeat("some words ", 85))
	z, err := answer.Freeze(chat, typeJSON, []byte(body))
	if err != nil {
		b.Fatal(err)
	}
	return z
}

// benchStream is the same answer as a stream of 85 chunks.
func benchStream(b testing.TB) *answer.Frozen {
	chunk := func(rest string) string {
		return `data: {"id":"chatcmpl-9aB","object":"chat.completion.chunk","created":1700000001,"model":"m-1","choices":[` + rest + "}\n\n"
	}
	body := strings.Repeat(chunk(`{"index":0,"delta":{"content":"some words "},"finish_reason":null}],"usage":null`), 85) +
		chunk(`{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null`) + chunk(`],"usage":{"prompt_tokens":11}`) + "data: [DONE]\n\n"
	z, err := answer.Freeze(chat, typeStream, []byte(body))
	if err != nil {
		b.Fatal(err)
	}
	return z
}

func BenchmarkReplay(b *testing.B) {
	object, stream := benchObject(b), benchStream(b)
	for _, c := range []struct {
		name string
		z    *answer.Frozen
		o    answer.ReplayOptions
	}{
		{"object", object, answer.ReplayOptions{}},
		{"object to stream", object, answer.ReplayOptions{Stream: true}},
		{"stream", stream, answer.ReplayOptions{Stream: true}},
		{"stream to object", stream, answer.ReplayOptions{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.o.ID, c.o.Created = "chatcmpl-0102ff000000000000000000", 1800000000
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst, _, _ = c.z.Replay(dst[:0], c.o)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, z := range []*answer.Frozen{benchObject(b), benchStream(b)} {
		b.Run(fmt.Sprintf("stream=%v", z.Stream), func(b *testing.B) {
			encoded := z.Encode(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := registry.APIs.Decode(encoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFreeze(b *testing.B) {
	for _, z := range []*answer.Frozen{benchObject(b), benchStream(b)} {
		b.Run(fmt.Sprintf("stream=%v", z.Stream), func(b *testing.B) {
			for b.Loop() {
				if _, err := answer.Freeze(z.Form, z.ContentType, z.Body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, z := range []*answer.Frozen{benchObject(b), benchStream(b)} {
		b.Run(fmt.Sprintf("stream=%v", z.Stream), func(b *testing.B) {
			for b.Loop() {
				if !answer.Judge(z.Form, z.Stream, z.Body).Keep {
					b.Fatal("not kept")
				}
			}
		})
	}
}
