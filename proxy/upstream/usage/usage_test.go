package usage

import (
	"fmt"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	long := strings.Repeat("word ", 4000)
	for _, tc := range []struct{ name, answer, want string }{
		{"chat", `{"id":"c","choices":[{"message":{"content":"` + long + `"}}],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":64}}}`, "100 64 true"},
		{"chat with no report", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5}}`, "100 0 false"},
		{"chat with null", `{"choices":[],"usage":{"prompt_tokens":100,"prompt_tokens_details":null}}`, "100 0 false"},
		{"chat with none", `{"choices":[],"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0}}}`, "100 0 true"},
		{"stream", "data: {\"choices\":[{\"delta\":{\"content\":\"" + long + "\"}}],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\ndata: [DONE]\n\n", "7 3 true"},
		{"stream without usage", "data: {\"choices\":[{\"delta\":{}}],\"usage\":null}\n\ndata: [DONE]\n\n", "0 0 false"},
		{"response", `{"id":"r","output":[],"tools":[{"parameters":{"properties":{"usage":{"type":"object"}}}}],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":32},"output_tokens":1},"user":null,"metadata":{}}`, "50 32 true"},
		{"response without details", `{"usage":{"input_tokens":50,"input_tokens_details":{},"output_tokens":1}}`, "50 0 false"},
		{"anthropic", `{"content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":2}}`, "100 70 true"},
		{"anthropic without a cache", `{"content":[],"usage":{"input_tokens":10,"output_tokens":2}}`, "10 0 false"},
		{"anthropic stream", "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":15}}}\n\n" + strings.Repeat("event: content_block_delta\ndata: {\"delta\":{\"text\":\"word\"}}\n\n", 1000) +
			"event: message_delta\ndata: {\"usage\":{\"output_tokens\":9}}\n\n", "20 15 true"},
		{"deepseek", `{"usage":{"prompt_tokens":100,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40}}`, "100 60 true"},
		{"llama.cpp", `{"choices":[],"timings":{"cache_n":236,"prompt_n":1,"prompt_ms":30.9},"tokens_cached":300}`, "237 236 true"},
		{"llama.cpp with both", `{"choices":[],"usage":{"prompt_tokens":237,"completion_tokens":4},"timings":{"cache_n":236,"prompt_n":1}}`, "237 236 true"},
		{"quoted", `{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":1}}"}}]}`, "0 0 false"},
		{"more cached than there are", `{"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":64}}}`, "10 0 false"},
		{"negative", `{"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":-1}}}`, "10 0 false"},
		{"text", `{"usage":{"prompt_tokens":"10"}}`, "0 0 false"},
		{"cut", `{"usage":{"prompt_tokens":10,"prompt_tok`, "0 0 false"},
		{"empty", ``, "0 0 false"},
	} {
		for _, step := range []int{1 << 20, 1000, 7} {
			m := NewMeter()
			for rest := tc.answer; rest != ""; {
				n := min(step, len(rest))
				m.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if u := m.End(); fmt.Sprint(u.Prompt, " ", u.Cached, " ", u.Known) != tc.want {
				t.Errorf("%s in pieces of %d: %+v, want %s", tc.name, step, u, tc.want)
			}
		}
	}
}

// TestOutput: how many tokens were made, and by which model, of an answer in one piece and in many.
func TestOutput(t *testing.T) {
	long := strings.Repeat("word ", 4000)
	for _, tc := range []struct{ name, answer, want string }{
		{"chat", `{"id":"c","model":"gpt-4o","choices":[{"message":{"content":"` + long + `"}}],"usage":{"prompt_tokens":100,"completion_tokens":5}}`, "100 5 gpt-4o"},
		{"stream", "data: {\"model\": \"m\",\"choices\":[{\"delta\":{\"content\":\"" + long + "\"}}],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n", "7 3 m"},
		{"stream with usage in each event", "data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\ndata: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\n", "7 2 "},
		{"response", `{"model":"o3","output":[],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":32},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":8}}}`, "50 9 o3"},
		{"embeddings", `{"object":"list","data":[],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`, "8 0 text-embedding-3-small"},
		{"anthropic", `{"model":"claude","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":2}}`, "100 2 claude"},
		{"anthropic stream", "event: message_start\ndata: {\"message\":{\"model\":\"claude\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":15,\"output_tokens\":1}}}\n\n" + strings.Repeat("event: content_block_delta\ndata: {\"delta\":{\"text\":\"word\"}}\n\n", 1000) +
			"event: message_delta\ndata: {\"usage\":{\"output_tokens\":900}}\n\n", "20 900 claude"},
		{"llama.cpp", `{"timings":{"cache_n":236,"prompt_n":1,"predicted_n":12}}`, "237 12 "},
		{"ollama", `{"model":"llama3.2","message":{"content":"` + long + `"},"done":true,"prompt_eval_count":26,"eval_count":298}`, "26 298 llama3.2"},
		{"ollama stream", `{"model":"llama3.2","message":{"content":"` + long + `"},"done":false}` + "\n" + `{"model":"llama3.2","done":true,"prompt_eval_count":26,"eval_count":298}` + "\n", "26 298 llama3.2"},
		{"quoted", `{"model":"m","choices":[{"message":{"content":"\"usage\":{\"completion_tokens\":9} \"eval_count\":3"}}]}`, "0 0 m"},
		{"negative", `{"usage":{"prompt_tokens":-1,"completion_tokens":-5}}`, "0 0 "},
		{"huge", `{"usage":{"prompt_tokens":1,"completion_tokens":1e300}}`, "1 1073741824 "},
		{"a model of many lines", `{"model":"a\nb"}`, "0 0 "},
		{"no text for a model", `{"model":7}`, "0 0 "},
	} {
		for _, step := range []int{1 << 20, 7} {
			m := NewMeter()
			for rest := tc.answer; rest != ""; {
				n := min(step, len(rest))
				m.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			model := m.Model()
			if u := m.End(); fmt.Sprint(u.Prompt, " ", u.Output, " ", model) != tc.want {
				t.Errorf("%s in pieces of %d: %+v of %q, want %s", tc.name, step, u, model, tc.want)
			}
		}
	}
}

// TestMeterIsBounded: an answer without an end takes no more memory than its beginning and end.
func TestMeterIsBounded(t *testing.T) {
	m := NewMeter()
	for n := range 5000 {
		m.Write(make([]byte, n))
	}
	if cap(m.head) != headBytes || cap(m.tail) != 2*tailBytes {
		t.Errorf("%d and %d bytes", cap(m.head), cap(m.tail))
	}
	m.Free()
}

// FuzzRead: what an answer says never becomes a share of the prompt that is not between none and all of it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4}}}`))
	f.Add([]byte(`{"usage":{"input_tokens":10,"cache_read_input_tokens":1e300},"timings":{"cache_n":-5,"prompt_n":2}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if u := Read(text, text); u.Known && (u.Cached < 0 || u.Cached > u.Prompt || u.Prompt <= 0) {
			t.Errorf("%q: %+v", text, u)
		}
	})
}

// TestLastIndex: a search in parts finds what a search of the whole text does, also where two parts meet.
func TestLastIndex(t *testing.T) {
	name := []byte(`"usage"`)
	for at := range 2100 {
		for _, after := range []int{0, 1, 1023, 1024, 1025, 2048} {
			text := []byte(strings.Repeat("x", at) + `"usage"` + strings.Repeat(`"`, after))
			if got := lastIndex(text, name); got != at {
				t.Fatalf("found at %d, not at %d, with %d bytes after it", got, at, after)
			}
			if got := lastIndex(append(text[:at:at], text[at+1:]...), name); got != -1 {
				t.Fatalf("found at %d, although it is nowhere", got)
			}
		}
	}
	if got := lastIndex([]byte(`"usage" "usage" "usag`), name); got != 8 {
		t.Errorf("found at %d, not the last one", got)
	}
}

// BenchmarkNoUsage is what the end of a long stream takes that has no usage: of such an answer all names are looked for.
func BenchmarkNoUsage(b *testing.B) {
	stream := []byte(strings.Repeat(`data: {"choices":[{"index":0,"delta":{"content":" word"}}]}`+"\n\n", 500))
	for b.Loop() {
		m := NewMeter()
		m.Write(stream)
		m.End()
	}
}

func BenchmarkMeter(b *testing.B) {
	piece := []byte(`data: {"choices":[{"index":0,"delta":{"content":" word"}}]}` + "\n\n")
	end := []byte(`data: {"choices":[],"usage":{"prompt_tokens":700,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":512}}}` + "\n\ndata: [DONE]\n\n")
	b.ReportAllocs()
	for b.Loop() {
		m := NewMeter()
		for range 100 {
			m.Write(piece)
		}
		m.Write(end)
		if !m.End().Known {
			b.Fatal("no usage")
		}
	}
}

// TestWritten: tokens that are written to a cache at a price of their own are reported where the API says so.
func TestWritten(t *testing.T) {
	for answer, want := range map[string]int{
		`{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":30}}}`:     30,
		`{"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70}}`:              20,
		`{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":-5}}}`:     0,
		`{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":"many"}}}`: 0,
	} {
		if u := Read(nil, []byte(answer)); u.Written != want {
			t.Errorf("%s: %+v, want %d", answer, u, want)
		}
	}
}
