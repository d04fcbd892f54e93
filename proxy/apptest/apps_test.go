package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy"
	apis "reprise/proxy/api/registry"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics"
)

// TestApps: the hits of the proxy are those of an oracle of equal requests, request by request, whatever the operator ignores, and each hit
// has the answer to an equal request.
func TestApps(t *testing.T) {
	for _, a := range []app{rag, support} {
		for _, mode := range []proxy.Mode{proxy.ModeExact, proxy.ModeSemantic} {
			var ratios []string
			for _, c := range []struct {
				name      string
				who, when bool // count
			}{{"plain", true, true}, {"who is ignored", false, true}, {"when is masked", true, false}, {"both", false, false}} {
				t.Run(fmt.Sprintf("%s/%s/%s", a.name, mode, c.name), func(t *testing.T) {
					hits, all := run(t, a, mode, c.who, c.when)
					ratios = append(ratios, fmt.Sprintf("%s: %d of %d", c.name, hits, all))
				})
			}
			t.Logf("%s, %s: %s", a.name, mode, strings.Join(ratios, "; "))
		}
	}
}

// run sends the stream of an application through a new proxy.
func run(t *testing.T, a app, mode proxy.Mode, who, when bool) (hits, all int) {
	var fields, patterns []string
	if !who {
		fields = a.fields
	}
	if !when {
		patterns = a.patterns
	}
	p := start(t, &model{}, mode, fields, patterns)
	known := map[string]string{} // answers by identity
	for i, r := range a.stream(rand.New(rand.NewPCG(11, 7))) {
		body := r.body()
		got := p.ask(a.path, body)
		identity := r.identity(who, when)
		want, hit := known[identity]
		if got.hit != hit {
			t.Fatalf("request %d: hit %v, and the oracle has %v: %s\n%s", i, got.hit, hit, got.status, body)
		}
		if hit && got.text != want {
			t.Fatalf("request %d has the answer to another: %q, want %q\n%s", i, got.text, want, body)
		}
		checkStatus(t, r, got.status, who, when)
		known[identity], r.answer = got.text, got.text
		if hit {
			hits++
		}
		all++
	}
	return hits, all
}

// checkStatus: Cache-Status names what was ignored of a request, and nothing else.
func checkStatus(t *testing.T, r *request, status string, who, when bool) {
	if got, want := strings.Contains(status, "ignored="), !who && r.who != "" || !when && r.when != ""; got != want {
		t.Errorf("ignored is named: %v, want %v: %s", got, want, status)
	}
}

// proxied is a proxy before an upstream.
type proxied struct {
	*testing.T
	api  *proxy.Server
	site *httptest.Server
}

func start(t *testing.T, behind http.Handler, mode proxy.Mode, fields, patterns []string) *proxied {
	up := httptest.NewServer(behind)
	t.Cleanup(up.Close)
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	evictor, err := registry.New("rac", policy.Options{Capacity: 1000})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { entries.Close() })
	e := embed.NewBuiltin()
	o := proxy.Options{Upstreams: []upstream.Target{{Base: base}}, Mode: mode, Embedder: e, Thresholds: e.Thresholds(), Words: true, Store: entries,
		Explain: true, Draw: func() float64 { return 0.999999 }} // nothing is explored
	if o.Ignore, err = apis.APIs.Ignore(fields, patterns); err != nil {
		t.Fatal(err)
	}
	if o.Topics, err = topics.New(topics.Options{Dim: e.Dim(), Hit: o.Thresholds.Hit, Route: o.Thresholds.Route, Edge: o.Thresholds.Edge}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Topics.Close)
	api, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(api.Handler())
	t.Cleanup(site.Close)
	return &proxied{t, api, site}
}

// reply is the answer to one request.
type reply struct {
	hit    bool
	status string // Cache-Status
	text   string
}

// ask sends a request, and waits until its answer is kept.
func (p *proxied) ask(path string, body []byte) reply {
	res, err := http.Post(p.site.URL+path, "application/json", bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.Fatalf("%d %v: %s", res.StatusCode, err, answer)
	}
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	defer cancel()
	if err := p.api.Wait(ctx); err != nil {
		p.Fatal(err)
	}
	cache := res.Header.Get("X-Cache")
	if cache != "exact" && cache != "semantic" && cache != "miss" {
		p.Fatalf("%s: %s", cache, res.Header.Get("Cache-Status"))
	}
	return reply{cache != "miss", res.Header.Get("Cache-Status"), textOf(res.Header.Get("Content-Type"), answer)}
}

// textOf is the text of an answer of either API, streamed or not.
func textOf(contentType string, answer []byte) (text string) {
	if !strings.HasPrefix(contentType, "text/event-stream") {
		return gjson.GetBytes(answer, "choices.0.message.content").Str + gjson.GetBytes(answer, "output.0.content.0.text").Str
	}
	for line := range strings.Lines(string(answer)) {
		text += gjson.Get(strings.TrimPrefix(line, "data: "), "choices.0.delta.content").Str
	}
	return text
}

// model answers every request with another text, so that each answer shows to which request it was given.
type model struct{ calls int }

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.calls++
	body, _ := io.ReadAll(r.Body)
	text := fmt.Sprintf("This is answer %d.", m.calls)
	if strings.HasSuffix(r.URL.Path, "/responses") {
		write200(w, object{"id": fmt.Sprint("resp_", m.calls), "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5-mini", "output": list{
			object{"type": "message", "id": fmt.Sprint("msg_", m.calls), "status": "completed", "role": "assistant", "content": list{
				object{"type": "output_text", "text": text, "annotations": list{}}}}}})
		return
	}
	id := fmt.Sprint("chatcmpl-", m.calls)
	if !gjson.GetBytes(body, "stream").Bool() {
		write200(w, object{"id": id, "object": "chat.completion", "created": 1, "model": "gpt-5-mini", "choices": list{
			object{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": text}}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta object, finish any) {
		b, _ := json.Marshal(object{"id": id, "object": "chat.completion.chunk", "created": 1, "model": "gpt-5-mini", "choices": list{
			object{"index": 0, "delta": delta, "finish_reason": finish}}})
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	chunk(object{"role": "assistant", "content": text[:7]}, nil)
	chunk(object{"content": text[7:]}, nil)
	chunk(object{}, "stop")
	if gjson.GetBytes(body, "stream_options.include_usage").Bool() {
		fmt.Fprintf(w, `data: {"id":%q,"object":"chat.completion.chunk","created":1,"model":"gpt-5-mini","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}`+"\n\n", id)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func write200(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
