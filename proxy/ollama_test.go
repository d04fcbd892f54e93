package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// ollama answers chat requests as Ollama does: lines of JSON unless "stream" is false.
func ollama(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model    string
		Stream   *bool
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/api/chat" || in.Model == "none" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":"model '%s' not found"}`, in.Model)
		return
	}
	const end = `"done_reason":"stop","done":true,"prompt_eval_count":9,"eval_count":2}` + "\n"
	if in.Stream != nil && !*in.Stream {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, `{"model":"m","created_at":"2026-11-20T08:15:30Z","message":{"role":"assistant","content":"Paris."},`+end)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, piece := range []string{"Par", "is."} {
		fmt.Fprintf(w, `{"model":"m","created_at":"2026-11-20T08:15:30Z","message":{"role":"assistant","content":%q},"done":false}`+"\n", piece)
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, `{"model":"m","created_at":"2026-11-20T08:15:30Z","message":{"role":"assistant","content":""},`+end)
}

// said is the text of an answer, streamed or not, which must have its end.
func saidByOllama(t *testing.T, r reply) (text string, lines int) {
	t.Helper()
	done := false
	for line := range strings.Lines(r.body) {
		var l struct {
			Message struct{ Content string }
			Done    bool
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || done {
			t.Fatalf("line %q: %v", line, err)
		}
		text, lines, done = text+l.Message.Content, lines+1, l.Done
	}
	if !done {
		t.Errorf("no end: %q", r.body)
	}
	return text, lines
}

func TestOllama(t *testing.T) {
	r := newRigAt(t, nil, http.HandlerFunc(ollama))
	body := func(prompt, more string) string {
		return `{"model":"m","messages":[{"role":"user","content":"` + prompt + `"}]` + more + `}`
	}
	const paris = "What is the capital of France?"
	for _, step := range []struct {
		body, cache string
		stream      bool
	}{
		{body(paris, ""), "miss", true},
		{body(paris, ""), "exact", true},
		{body(paris, `,"stream":true,"keep_alive":"10m"`), "exact", true},
		{body(paris, `,"stream":null`), "exact", true},
		{body(paris, `,"stream":false`), "exact", false},
		{body("please, "+paris, ""), "semantic", true},
		{body(paris, `,"options":{"temperature":0}`), "miss", true},
		{body("Where is Rome?", `,"stream":false`), "miss", false},
		{body("Where is Rome?", ""), "exact", true},
	} {
		got := r.ask(t, "/api/chat", step.body)
		text, lines := saidByOllama(t, got)
		if got.status != 200 || got.cache() != step.cache || text != "Paris." || (lines > 1) != step.stream {
			t.Errorf("%s: %d %s, %d lines, want %s: %s", step.body, got.status, got.cache(), lines, step.cache, got.body)
		}
		want := "application/json"
		if step.stream {
			want = "application/x-ndjson"
		}
		if ct := got.header.Get("Content-Type"); !strings.HasPrefix(ct, want) {
			t.Errorf("%s: %s, want %s", step.body, ct, want)
		}
	}
	if got := r.ask(t, "/api/chat", `{"model":"none","messages":[{"role":"user","content":"a"}]}`); got.status != 404 || got.body != `{"error":"model 'none' not found"}` {
		t.Errorf("an error of the upstream: %d %s", got.status, got.body)
	}
	if got := r.ask(t, "/api/chat", `{"model":7}`); got.status != 400 || !strings.HasPrefix(got.body, `{"error":"`) {
		t.Errorf("an error of the proxy: %d %s", got.status, got.body)
	}
	for _, want := range []string{"miss", "exact"} { // as curl sends it; the type is sent on, and so it counts
		if got := r.ask(t, "/api/chat", body(paris, ""), "Content-Type: application/x-www-form-urlencoded"); got.status != 200 || got.cache() != want {
			t.Errorf("a form of curl: %d %s, want %s: %s", got.status, got.cache(), want, got.body)
		}
	}
	if got := r.ask(t, "/api/chat", body(paris, ""), "Content-Type: text/plain", "Origin: https://evil.example", "Authorization: "); got.status != 403 {
		t.Errorf("a web page of another origin: %d %s", got.status, got.body)
	}
	for path, ask := range map[string]string{"/api/chat": body(paris, `,"stream":false,"keep_alive":%s`), "/api/generate": `{"model":"m","prompt":"hi","stream":false,"keep_alive":%s}`} {
		for length, passes := range map[string]bool{`0`: true, `0.0`: true, `-0`: true, `"0"`: true, `"0s"`: true, `"0h0m"`: true, `-1`: false, `1`: false, `"5m"`: false, `"-1m"`: false, `null`: false, `""`: false} {
			r.ask(t, path, fmt.Sprintf(ask, "1")) // kept
			if got := r.ask(t, path, fmt.Sprintf(ask, length)); (got.cache() == "bypass") != passes {
				t.Errorf("%s, loaded for %s after the answer: %s", path, length, got.cache())
			}
		}
	}
	for path, bodies := range map[string][]string{
		"/api/chat":     {`{"model":"m"}`, `{"model":"m","messages":[]}`, `{"model":"m","messages":[],"keep_alive":0}`},
		"/api/generate": {`{"model":"m"}`, `{"model":"m","prompt":""}`, `{"model":"m","prompt":"","keep_alive":"5m"}`},
	} {
		for _, body := range bodies {
			if got := r.ask(t, path, body); got.cache() != "bypass" {
				t.Errorf("%s %s loads or unloads the model: %s", path, body, got.cache())
			}
		}
	}
}
