package canon_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

var identity = canon.Identity{Tenant: "t-1", Path: "/v1/chat/completions", Headers: []string{"openai-organization: o"}}

// chatBody is a request of a common shape with about size bytes of content in its last message.
func chatBody(turns, size int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5-mini","temperature":0.2,"max_tokens":512,"stream":true,"stream_options":{"include_usage":true},"messages":[`)
	b.WriteString(`{"role":"system","content":"You are a helpful assistant.\nAnswer briefly."}`)
	for i := range turns {
		fmt.Fprintf(&b, `,{"role":"user","content":"What is item %d?"},{"role":"assistant","content":"Item %d is \"one\" of many."}`, i, i)
	}
	text := strings.Repeat("How do I reset my password, please? ", size/36+1)[:size]
	fmt.Fprintf(&b, `,{"role":"user","content":"%s"}]}`, text)
	return []byte(b.String())
}

// imageBody is a request with a picture of size bytes in base64.
func imageBody(size int) []byte {
	return []byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
		strings.Repeat("iVBORw0K", size/8) + `"}}]}]}`)
}

// textBody is a request whose message is text, escaped already.
func textBody(text string) []byte {
	return []byte(`{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}`)
}

// BenchmarkParse sets the reading of a body beside its plain hash, which any cache pays for.
func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"1KB", chatBody(2, 600)},
		{"100turns", chatBody(100, 600)},
		{"64KB-text", chatBody(1, 64<<10)},
		{"64KB-code", textBody(strings.Repeat(`if err != nil {\n\t\treturn fmt.Errorf(\"x\")\n}\n`, 1200))},
		{"64KB-chinese", textBody(strings.Repeat("缓存代理", 5400))},
		{"4MB-image", imageBody(4 << 20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := chat.Parse(c.body, identity); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/sha256-alone", func(b *testing.B) {
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				sha256.Sum256(c.body)
			}
		})
	}
}
