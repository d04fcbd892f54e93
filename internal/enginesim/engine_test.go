package enginesim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve starts an engine on loopback for one test.
func serve(t testing.TB, o Options) (*Engine, string) {
	t.Helper()
	e := New(o)
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	return e, s.URL
}

// answerTo is the status and body of a request that is answered without a network.
func answerTo(e *Engine, method, path, body string, headers ...string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// chatText is the text of the first choice of the answer to a chat body, or to a question, which is not JSON.
func chatText(t testing.TB, e *Engine, question string) string {
	t.Helper()
	if !strings.HasPrefix(question, "{") {
		question = `{"model":"gpt-4o","messages":[{"role":"user","content":"` + question + `"}]}`
	}
	status, body := answerTo(e, "POST", "/v1/chat/completions", question)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	var got struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	return got.Choices[0].Message.Content
}

func TestAnswersAreAFunctionOfWhatMatters(t *testing.T) {
	base := `{"model":"gpt-4o","messages":[{"role":"user","content":"Why is the sky blue?"}]}`
	want := chatText(t, New(Options{}), base)
	tests := []struct {
		name, body string
		same       bool
	}{
		{"again", base, true},
		{"white space and order", `{ "messages": [ {"content":"Why is the sky blue?", "role":"user"} ], "model":"gpt-4o" }`, true},
		{"parts", `{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"text","text":"Why is the sky blue?"}]}]}`, true},
		{"user", `{"model":"gpt-4o","user":"u1","metadata":{"a":"b"},"messages":[{"role":"user","content":"Why is the sky blue?"}]}`, true},
		{"default temperature", `{"model":"gpt-4o","temperature":1.0,"messages":[{"role":"user","content":"Why is the sky blue?"}]}`, true},
		{"salt", `{"model":"gpt-4o","cache_salt":"s","messages":[{"role":"user","content":"Why is the sky blue?"}]}`, true},
		{"temperature", `{"model":"gpt-4o","temperature":0.5,"messages":[{"role":"user","content":"Why is the sky blue?"}]}`, false},
		{"seed", `{"model":"gpt-4o","seed":1,"messages":[{"role":"user","content":"Why is the sky blue?"}]}`, false},
		{"model", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Why is the sky blue?"}]}`, false},
		{"system", `{"model":"gpt-4o","messages":[{"role":"system","content":"x"},{"role":"user","content":"Why is the sky blue?"}]}`, false},
		{"tools", `{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"Why is the sky blue?"}]}`, false},
		{"image", `{"model":"gpt-4o","messages":[{"role":"user","content":[{"type":"text","text":"Why is the sky blue?"},{"type":"image_url","image_url":{"url":"data:"}}]}]}`, false},
		{"question", `{"model":"gpt-4o","messages":[{"role":"user","content":"Why is the sky red?"}]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := chatText(t, New(Options{}), tt.body); (got == want) != tt.same {
				t.Errorf("got %q, first was %q", got, want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	e := New(Options{Models: []string{"a/b", "c"}})
	status, body := answerTo(e, "GET", "/v1/models", "")
	if status != 200 || !strings.Contains(body, `"id":"a/b"`) {
		t.Errorf("list: %d %s", status, body)
	}
	if status, body = answerTo(e, "GET", "/v1/models/a/b", ""); status != 200 || !strings.Contains(body, `"object":"model"`) {
		t.Errorf("one: %d %s", status, body)
	}
	if status, body = answerTo(e, "GET", "/v1/models/d", ""); status != 404 || !strings.Contains(body, "model_not_found") {
		t.Errorf("unknown: %d %s", status, body)
	}
}

func TestOnRequestSeesTheBytes(t *testing.T) {
	var seen bytes.Buffer
	_, url := serve(t, Options{OnRequest: func(path string, h http.Header, body []byte) {
		io.WriteString(&seen, path+" "+h.Get("X-Mine")+" "+string(body))
	}})
	req, _ := http.NewRequest("POST", url+"/v1/nothing", strings.NewReader(`{ "odd" : 1.0 }`))
	req.Header.Set("X-Mine", "yes")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if want := `/v1/nothing yes { "odd" : 1.0 }`; seen.String() != want {
		t.Errorf("seen %q, want %q", seen.String(), want)
	}
}

// TestOtherAPIs asks for completions and embeddings in their forms.
func TestOtherAPIs(t *testing.T) {
	e := New(Options{})
	for _, tt := range []struct{ path, body, want string }{
		{"/v1/completions", `{"model":"gpt-4o","prompt":"p","max_tokens":2,"echo":false}`, `"finish_reason":"length"`},
		{"/v1/completions", `{"model":"gpt-4o","prompt":[1,2],"n":2,"stream":true}`, `"object":"text_completion"`},
		{"/v1/embeddings", `{"model":"text-embedding-3-small","input":["a b c","d e"],"dimensions":4}`, `"usage":{"prompt_tokens":5,`},
		{"/v1/embeddings", `{"model":"text-embedding-3-large","input":[[1,2],[3]],"encoding_format":"base64"}`, `"embedding":"`},
	} {
		if status, body := answerTo(e, "POST", tt.path, tt.body); status != 200 || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: %d %.300s, want %s", tt.path, tt.body, status, body, tt.want)
		}
	}
}

// TestKindOfUpstream: an engine that behaves as TensorRT-LLM refuses a field in its words, and counts that; the metrics are in vLLM's names.
func TestKindOfUpstream(t *testing.T) {
	e := New(Options{Strict: "trtllm"})
	if status, body := answerTo(e, "POST", "/v1/chat/completions", chatWith(`,"unheard_of":1`)); status != 400 || !strings.Contains(body, "extra_forbidden") || e.Stats().Refused != 1 {
		t.Errorf("%d %s", status, body)
	}
	chatText(t, e, chatWith(``))
	if status, body := answerTo(e, "GET", "/metrics", ""); status != 200 || !strings.Contains(body, `vllm:cache_config_info{block_size="16",num_gpu_blocks="4096"} 1`) {
		t.Errorf("%d %s", status, body)
	}
}
