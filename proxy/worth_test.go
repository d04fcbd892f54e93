package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"net/http"

	"reprise/embed"
	"reprise/internal/enginesim"
	"reprise/proxy/continuation"
	"reprise/proxy/upstream/hint"
	"reprise/store"
)

// TestWorth: the rate at which an application comes to the engine is that of its misses. It decides what is asked of an upstream that
// charges for writes, and the hits are known too.
func TestWorth(t *testing.T) {
	for every, field := range map[time.Duration]string{
		time.Minute:    `"prompt_cache_breakpoint":{"mode":"explicit"}`, // it returns
		24 * time.Hour: `"prompt_cache_options":{"mode":"explicit"}`,    // it does not: nothing is to be written
	} {
		var now atomic.Int64
		now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
		var last atomic.Pointer[string]
		engine := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}, OnRequest: func(_ string, _ http.Header, body []byte) {
			text := string(body)
			last.Store(&text)
		}})
		r := newRigAt(t, engine, engine, func(o *Options) {
			o.Upstreams[0].Dialect = "openai"
			o.Hints = Hints{Breakpoints: true, Retention: true}
			o.Now = func() time.Time { return time.Unix(0, now.Load()) }
			o.TTL = 30 * 24 * time.Hour
		})
		ask := func(question string) reply {
			now.Add(int64(every))
			return r.ask(t, "/v1/chat/completions", `{"model":"gpt-5.6","messages":[{"role":"system","content":"`+strings.Repeat("stay calm ", 1000)+`"},{"role":"user","content":"`+question+`"}]}`)
		}
		questions := []string{"why is the sky blue", "list three rivers of France", "what is a monad", "how do bees find home", "who wrote Faust"}
		for _, q := range questions {
			ask(q)
		}
		if got := *last.Load(); !strings.Contains(got, field) {
			t.Errorf("each %v: the upstream got ...%.200s, want %s", every, got[max(0, len(got)-200):], field)
		}
		for range 3 {
			for _, q := range questions {
				if got := ask(q); got.cache() != "exact" {
					t.Fatalf("%q: %s", q, got.cache())
				}
			}
		}
		var app hint.Ranked
		for _, p := range r.Server.Prefixes(10*time.Minute, 100) {
			if p.Kind == "application" {
				app = p
			}
		}
		if app.Requests != 20 || app.ToEngines != 5 || app.Tokens < 2000 || app.Tokens > 3000 || app.Model != "gpt-5.6" {
			t.Errorf("each %v: %+v", every, app)
		}
		if every == time.Minute && (app.HitRatio < 0.7 || app.Residual > app.Rate) {
			t.Errorf("each %v: %s", every, fmt.Sprintf("%+v", app))
		}
	}
}

// TestContinues: the model's prediction ranks the prefix of a conversation. Where the embedder fails, requests go on, and the turn ranks it.
func TestContinues(t *testing.T) {
	form := continuation.Form{Embedder: embed.NewBuiltin().Space(), Dim: 384, Windows: []int{1}, Tokens: 512, Layers: []int{385, 1}, Slope: 1, Intercept: 3}
	model, err := continuation.NewModel(form, make([]float32, 386))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := func(e embed.Embedder) (*rig, func() float64) {
		r := newRig(t, func(o *Options) {
			o.Hints, o.Continues, o.Embedder = Hints{Breakpoints: true}, model, e
			o.Now = func() time.Time { return now }
		})
		if got := r.ask(t, "/v1/chat/completions", chat("why is the sky blue")); got.status != http.StatusOK {
			t.Fatalf("status %d", got.status)
		}
		return r, func() float64 { return r.Server.Prefixes(time.Minute, 1)[0].Continues }
	}
	predicted := 1 / (1 + math.Exp(-3))
	_, works := ask(embed.NewBuiltin())
	eventually(t, "the prediction", func() bool { return math.Abs(works()-predicted) < 1e-9 })
	r, fails := ask(failing{embed.NewBuiltin()})
	eventually(t, "the fault", func() bool { return strings.Contains(r.logs.String(), `msg="degraded: continuation"`) })
	if math.Abs(fails()-0.5) > 0.01 {
		t.Errorf("continues %v without a prediction, want that of the turn", fails())
	}
}

// failing is an embedder without vectors.
type failing struct{ embed.Embedder }

func (failing) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("no vectors")
}

// TestNothingReadsPrefixes: with one upstream that expresses nothing there is nothing to rank, and no chain is made.
func TestNothingReadsPrefixes(t *testing.T) {
	r := newRig(t)
	r.ask(t, "/v1/chat/completions", chat("hello"))
	if got := r.Server.Prefixes(time.Minute, 10); got == nil || len(got) != 0 || r.hints.worth != nil {
		t.Errorf("%v", got)
	}
}

// TestWarm: a scaffold is sent again shortly before the upstream forgets it, within the budget, under the operator's credential, and only
// while its application is expected back. What the clients get is not touched.
func TestWarm(t *testing.T) {
	for _, tc := range []struct {
		name   string
		every  time.Duration // between two requests of the application
		budget int
		key    string
		refuse bool
		idle   time.Duration // until the warmer looks
		want   int           // requests of the warmer in three looks
		then   string        // what happens before that: no-store on all requests, or a purge
	}{
		{"an application that returns each 4 minutes", 4 * time.Minute, 10_000, "sk-op", false, 25 * time.Minute, 1, ""},
		{"requests of which nothing may be kept", 4 * time.Minute, 10_000, "sk-op", false, 25 * time.Minute, 0, "no-store"},
		{"a purge", 4 * time.Minute, 10_000, "sk-op", false, 25 * time.Minute, 0, "purge"},
		{"not due yet", 4 * time.Minute, 10_000, "sk-op", false, 20 * time.Minute, 0, ""},
		{"forgotten already", 4 * time.Minute, 10_000, "sk-op", false, 31 * time.Minute, 0, ""},
		{"one that returns once a day", 24 * time.Hour, 10_000, "sk-op", false, 25 * time.Minute, 0, ""},
		{"no budget for it", 4 * time.Minute, 1000, "sk-op", false, 25 * time.Minute, 0, ""},
		{"without an operator's credential", 4 * time.Minute, 10_000, "", false, 25 * time.Minute, 0, ""},
		{"an upstream that refuses", 4 * time.Minute, 10_000, "sk-op", true, 25 * time.Minute, 1, ""},
	} {
		var now atomic.Int64
		now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
		var warmed atomic.Int64
		var wrong atomic.Pointer[string]
		engine := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}})
		r := newRigAt(t, engine, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			body, _ := io.ReadAll(q.Body)
			if strings.Contains(string(body), `"content":"."`) {
				warmed.Add(1)
				if !strings.HasPrefix(string(body), `{"model":"gpt-5.6","max_completion_tokens":16,"messages":[{"role":"system","content":"stay calm `) || q.Header.Get("Authorization") != "Bearer sk-op" {
					text := fmt.Sprintf("%v %.300s", q.Header, body)
					wrong.Store(&text)
				}
				if tc.refuse {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
			}
			q.Body = io.NopCloser(bytes.NewReader(body))
			engine.ServeHTTP(w, q)
		}), func(o *Options) {
			o.Upstreams[0].Dialect, o.UpstreamKey = "openai", tc.key
			o.Hints = Hints{WarmBudget: tc.budget}
			o.Now = func() time.Time { return time.Unix(0, now.Load()) }
		})
		for i := range 6 {
			now.Add(int64(tc.every))
			r.ask(t, "/v1/chat/completions", `{"model":"gpt-5.6","messages":[{"role":"system","content":"`+strings.Repeat("stay calm ", 1000)+`"},{"role":"user","content":"question `+fmt.Sprint(i)+`"}]}`, "Cache-Control: "+strings.TrimSuffix(tc.then, "purge"))
		}
		if tc.then == "purge" {
			if _, _, err := r.Purge(t.Context(), store.Filter{}); err != nil {
				t.Fatal(err)
			}
		}
		now.Add(int64(tc.idle))
		for range 3 {
			if r.warmer != nil {
				r.warmer.round(t.Context())
			}
		}
		if got := int(warmed.Load()); got != tc.want {
			t.Errorf("%s: %d requests, want %d; logs %s", tc.name, got, tc.want, r.logs)
		}
		if text := wrong.Load(); text != nil {
			t.Errorf("%s: sent %s", tc.name, *text)
		}
		if st := r.Stats(); st.Misses != 6 {
			t.Errorf("%s: %d misses are counted, want the clients' 6", tc.name, st.Misses)
		}
		r.warmer.close()
	}
}
