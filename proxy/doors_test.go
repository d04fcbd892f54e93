package proxy

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"reprise/proxy/upstream"
)

// recordingUpstream answers chat requests and records the paths that they came on.
type recordingUpstream struct {
	mu   sync.Mutex
	seen []string
}

func (u *recordingUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	u.mu.Lock()
	u.seen = append(u.seen, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Api-Key")+r.Header.Get("Authorization"))
	u.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Paris."},"finish_reason":"stop"}]}`)
}

func (u *recordingUpstream) last() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[len(u.seen)-1]
}

// TestDoors: an endpoint that clients reach under another path is the same endpoint; that of a deployment is one of its own.
func TestDoors(t *testing.T) {
	up := &recordingUpstream{}
	r := newRigAt(t, nil, up)
	withoutModel := strings.Replace(chat("What is the capital of France?"), `"model":"gpt-4o",`, "", 1)
	const deployment = "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
	const older = "/openai/responses?api-version=2025-03-01-preview"
	for _, step := range []struct{ path, body, cache, sent string }{
		{"/v1/chat/completions", chat(capital), "miss", "/v1/chat/completions"},
		{"/chat/completions", chat(capital), "exact", ""},
		{"/openai/v1/chat/completions", chat(capital), "exact", ""},
		{deployment, withoutModel, "miss", deployment},
		{deployment, withoutModel, "exact", ""},
		{deployment, chat("What is the capital of France?"), "miss", deployment}, // the body names another model
		{strings.Replace(deployment, "my-gpt", "other", 1), withoutModel, "miss", "/openai/deployments/other/chat/completions?api-version=2024-10-21"},
		{strings.Replace(deployment, "2024-10-21", "preview", 1), withoutModel, "miss", "/openai/deployments/my-gpt/chat/completions?api-version=preview"},
		{older, `{"model":"gpt-4o","input":"hello there"}`, "miss", older},
		{older, `{"model":"gpt-4o","input":"hello there","store":true}`, "bypass", older},
		{"/responses/resp_1/cancel", "{}", "bypass", "/v1/responses/resp_1/cancel"},
		{"/openai/v1/files", "{}", "bypass", "/v1/files"},
		{"/openai/deployments/my-gpt/audio/speech", "{}", "bypass", "/openai/deployments/my-gpt/audio/speech"},
		{"/tokenize", "{}", "bypass", "/tokenize"},
	} {
		got := r.ask(t, step.path, step.body)
		if got.status != 200 || got.cache() != step.cache {
			t.Errorf("%s: %d, %s, want %s: %s", step.path, got.status, got.cache(), step.cache, got.body)
		}
		if sent := "POST " + step.sent + " Bearer sk-test"; step.sent != "" && up.last() != sent {
			t.Errorf("%s was sent as %q, want %q", step.path, up.last(), sent)
		}
	}
	if got := r.ask(t, deployment, chat(capital), "X-Reprise-Namespace: n"); got.cache() != "miss" {
		t.Errorf("another namespace: %s", got.cache())
	}
	id := entryOf(t, r.ask(t, deployment, chat(capital), "X-Reprise-Namespace: n"))
	if e, ok := r.store.Get(id); !ok || e.Model != "my-gpt" {
		t.Errorf("the model of a deployment is %q, want its name: Azure goes by the path", e.Model)
	}
	if got := r.ask(t, "/v1/chat/completions", withoutModel); got.status != 400 || !strings.Contains(got.body, "model") {
		t.Errorf("without a model: %d %s", got.status, got.body)
	}
}

// TestPathOfDeployment: the name of a deployment is checked as every path is, and a key of the operator opens those endpoints alone that are listed.
func TestPathOfDeployment(t *testing.T) {
	for _, key := range []string{"", "operator"} {
		up := &recordingUpstream{}
		r := newRigAt(t, nil, up, func(o *Options) { o.UpstreamKey = key })
		for path, want := range map[string]int{
			"/openai/deployments/../chat/completions":      400,
			"/openai/deployments/./embeddings":             400,
			"/openai/deployments/..;x/chat/completions":    400,
			`/openai/deployments/a\..\b/chat/completions`:  400,
			"/openai/deployments/my.gpt/chat/completions":  200,
			"/openai/deployments/my-gpt/messages":          map[string]int{"": 200, "operator": 404}[key],
			"/openai/deployments/my-gpt/responses?api-v=1": map[string]int{"": 200, "operator": 404}[key],
		} {
			if got := r.ask(t, path, strings.Replace(chat("Why?"), "{", `{"max_tokens":1,"input":"a",`, 1)); got.status != want {
				t.Errorf("%s with key %q: %d, want %d: %s", path, key, got.status, want, got.body)
			}
		}
		for _, sent := range up.seen {
			if strings.Contains(sent, "/../") || strings.Contains(sent, "/./") || strings.Contains(sent, "..;") || strings.Contains(sent, "%5C") {
				t.Errorf("sent %q", sent)
			}
		}
	}
}

// TestKeyHeader: an upstream gets the key of the operator where it looks for it, and no credential of the client.
func TestKeyHeader(t *testing.T) {
	up := &recordingUpstream{}
	r := newRigAt(t, nil, up, func(o *Options) { o.Upstreams[0].KeyHeader, o.UpstreamKey = "Api-Key", "operator" })
	for _, path := range []string{"/v1/chat/completions", "/v1/moderations"} { // called, and passed through
		if r.ask(t, path, chat(capital), "Api-Key: client"); up.last() != "POST "+path+" operator" {
			t.Errorf("sent as %q, want the operator's key alone", up.last())
		}
	}
}

// TestEmbeddingsOfLlamaCpp: the path /embeddings of llama.cpp's server is of an API of its own, and stays as it is.
func TestEmbeddingsOfLlamaCpp(t *testing.T) {
	for dialect, want := range map[string]string{"llamacpp": "/embeddings", "": "/v1/embeddings"} {
		up := &recordingUpstream{}
		r := newRigAt(t, nil, up, func(o *Options) { o.Upstreams = []upstream.Target{{Base: o.Upstreams[0].Base, Dialect: dialect}} })
		r.ask(t, "/embeddings", `{"model":"m","input":"a"}`)
		if got := up.last(); !strings.HasPrefix(got, "POST "+want+" ") {
			t.Errorf("dialect %q: sent as %q, want %s", dialect, got, want)
		}
	}
}
