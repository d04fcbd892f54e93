package continuation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"reprise/embed"
	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

// recorder is an embedder that keeps the texts it gets. Their vectors are of one number.
type recorder struct {
	embed.Embedder
	space string
	texts []string
	err   error
	enter chan struct{} // nil: a call does not wait
}

func (r *recorder) Space() string { return r.space }
func (r *recorder) Dim() int      { return 1 }

func (r *recorder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if r.enter != nil {
		select {
		case <-r.enter:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	r.texts = append(r.texts, texts...)
	return make([][]float32, len(texts)), nil
}

// model has the log odds turn-1.
func model(t *testing.T) *Model {
	t.Helper()
	f := Form{Embedder: "test", Dim: 1, Windows: []int{1, 3}, Tokens: 100, Layers: []int{3, 1}, Slope: 1, TurnSlope: 1, Turns: []float64{0, 1, 2}}
	m, err := NewModel(f, make([]float32, 4))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func request(t *testing.T, path, body string) *canon.Request {
	t.Helper()
	for _, f := range registry.APIs.Families() {
		if f.Path == path {
			r, err := f.Parse([]byte(body), canon.Identity{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	t.Fatalf("no API at %s", path)
	return nil
}

func TestPrompts(t *testing.T) {
	for _, c := range []struct{ name, path, body, want string }{
		{"one", "/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"one"}]}`, "one"},
		{"several", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"text","text":"two"}]}]}`, "one|two"},
		{"the last ones", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"a"},{"role":"user","content":"two"},{"role":"assistant","content":"b"},{"role":"user","content":"three"},{"role":"assistant","content":"c"},{"role":"user","content":"four"}]}`, "two|three|four"},
		{"an ask of two messages", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"one"},{"role":"user","content":"more"}]}`, "one\nmore"},
		{"results of tools", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"one"},{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"r"}]}`, "one"},
		{"no text", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`, ""},
		{"a string", "/v1/responses", `{"model":"m","input":"one"}`, "one"},
		{"items", "/v1/responses", `{"model":"m","input":[{"role":"user","content":"one"},{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"input_text","text":"two"}]}]}`, "one|two"},
		{"messages", "/v1/messages", `{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"text","text":"two"}]}]}`, "one|two"},
	} {
		if got := strings.Join(promptsOf(asksOf(request(t, c.path, c.body), []byte(c.body), 3), 3), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

const second = `{"model":"m","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"a"},{"role":"user","content":"two"}]}`

func TestPredict(t *testing.T) {
	e := &recorder{space: "test"}
	p := New(Options{Model: model(t), Embedder: e, Guard: func(step func() error) {
		if err := step(); err != nil {
			t.Error(err)
		}
	}})
	defer p.Close()
	var got float64
	p.Predict(request(t, "/v1/chat/completions", second), []byte(second), func(prob float64) { got = prob })
	p.work.Wait()
	if want := 1 / (1 + math.Exp(-1)); math.Abs(got-want) > 1e-9 || !reflect.DeepEqual(e.texts, []string{"two", "one\ntwo"}) {
		t.Errorf("%v of %q, want %v", got, e.texts, want)
	}
}

// TestFaults: what goes wrong is reported, and predicts nothing.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		e    *recorder
		want error
	}{
		"embedder": {&recorder{space: "test", err: errFault}, errFault},
		"space":    {&recorder{space: "other"}, errEmbedder},
	} {
		var faults []error
		p := New(Options{Model: model(t), Embedder: c.e, Guard: func(step func() error) { faults = append(faults, step()) }})
		p.Predict(request(t, "/v1/chat/completions", second), []byte(second), func(float64) { t.Error(name, "predicts") })
		p.work.Wait()
		if len(faults) != 1 || !errors.Is(faults[0], c.want) {
			t.Errorf("%s: %v", name, faults)
		}
		p.Close()
	}
}

var errFault = errors.New("fault")

// TestBounds: a slow embedder keeps no request waiting, and no more predictions than there is room for.
func TestBounds(t *testing.T) {
	e := &recorder{space: "test", enter: make(chan struct{})}
	p := New(Options{Model: model(t), Embedder: e, Guard: func(step func() error) {
		if err := step(); err != nil {
			t.Error(err)
		}
	}})
	n := 0
	r := request(t, "/v1/chat/completions", second)
	for range 3 * mostWaiting {
		p.Predict(r, []byte(second), func(float64) { n++ })
	}
	p.mu.Lock()
	if len(p.waiting) > mostWaiting {
		t.Errorf("%d wait", len(p.waiting))
	}
	p.mu.Unlock()
	e.enter <- struct{}{}
	p.Close() // ends what runs
	p.Predict(r, []byte(second), func(float64) { t.Error("predicts after Close") })
	p.work.Wait()
	if n > 1 {
		t.Errorf("%d predictions, want 1 at most", n)
	}
	var none *Predictor = New(Options{})
	none.Predict(r, []byte(second), func(float64) { t.Error("predicts without a model") })
	none.Close()
}

// TestImage: a text before a large image is read.
func TestImage(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("AAAA", 9000) + `"}}]}]}`
	if got := promptsOf(asksOf(request(t, "/v1/chat/completions", body), []byte(body), 3), 3); !reflect.DeepEqual(got, []string{"what is it?"}) {
		t.Errorf("%.80q", got)
	}
}

// TestReadIsBounded: a prediction holds no more than its bound of any conversation, and the last asks are in it.
func TestReadIsBounded(t *testing.T) {
	for _, m := range []string{`{"role":"user","content":"%s"}`, `{"content":"%s","role":"assistant"}`, `{"role":"tool","tool_call_id":"x","content":"%s"}`} {
		var body strings.Builder
		body.WriteString(`{"model":"m","messages":[`)
		for range 600 {
			fmt.Fprintf(&body, m+",", strings.Repeat("word ", 900))
		}
		body.WriteString(`{"role":"assistant","content":"a"},{"role":"user","content":"last"}]}`)
		size := 0
		asks := asksOf(request(t, "/v1/chat/completions", body.String()), []byte(body.String()), 3)
		for _, ask := range asks {
			for _, m := range ask {
				size += len(m)
			}
		}
		if prompts := promptsOf(asks, 3); size > mostRead || len(prompts) == 0 || prompts[len(prompts)-1] != "last" {
			t.Errorf("%s: %d bytes of %d asks", m, size, len(asks))
		}
	}
}

// BenchmarkAsks is what a request pays.
func BenchmarkAsks(b *testing.B) {
	for name, text := range bodies() {
		b.Run(name, func(b *testing.B) {
			r := chat(b, text)
			b.ReportAllocs()
			for b.Loop() {
				asksOf(r, text, 5)
			}
		})
	}
}

// bodies are a conversation of usual prompts, and one of 3 MB with a long one.
func bodies() map[string][]byte {
	var usual, long strings.Builder
	usual.WriteString(`{"model":"m","messages":[`)
	for i := range 50 {
		fmt.Fprintf(&usual, `{"role":"user","content":"%s"},{"role":"assistant","content":"%s"},`, strings.Repeat("ask ", 50), strings.Repeat("answer ", 500+i))
	}
	usual.WriteString(`{"role":"user","content":"last"}]}`)
	fmt.Fprintf(&long, `{"model":"m","messages":[{"role":"user","content":"%s"}]}`, strings.Repeat(`a \"line\"\n`, 3<<20/14))
	return map[string][]byte{"usual": []byte(usual.String()), "3MB": []byte(long.String())}
}

func chat(b *testing.B, text []byte) *canon.Request {
	for _, f := range registry.APIs.Families() {
		if f.Path == "/v1/chat/completions" {
			r, err := f.Parse(text, canon.Identity{})
			if err != nil {
				b.Fatal(err)
			}
			return r
		}
	}
	b.Fatal("no API")
	return nil
}
