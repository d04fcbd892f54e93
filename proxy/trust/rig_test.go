package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics"
)

// model is an upstream whose answers are known. It is an http.RoundTripper, so that no connection is between it and the proxy.
type model struct {
	// answer returns a text for the user's last message, and what it says: texts that say the same are equally right.
	answer func(user string) (text, says string)

	mu    sync.Mutex // guards what follows
	calls int
	says  map[string]string // by the texts that were given
}

// RoundTrip implements http.RoundTripper.
func (m *model) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	text, says := m.answer(gjson.GetBytes(body, "messages.@reverse.0.content").Str)
	m.calls++
	m.says[text] = says
	m.mu.Unlock()
	quoted, _ := json.Marshal(text)
	reply := `{"id":"x","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":` + string(quoted) +
		`},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(reply)),
		Body: io.NopCloser(strings.NewReader(reply))}, nil
}

// dice is a seeded source that flights may share.
type dice struct {
	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rng: rand.New(rand.NewPCG(seed, 27))} }

func (d *dice) draw() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Float64()
}

// never is a draw by which nothing is compared that need not be.
func never() float64 { return 0.999999 }

// capacity is the default of the program.
const capacity = 100_000

// openStore opens a store with the default policy. The rig that gets it closes it.
func openStore(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	var err error
	if o.Evictor, err = registry.New("rac+", policy.Options{Capacity: capacity}); err != nil {
		t.Fatal(err)
	}
	o.Space = embed.NewBuiltin().Space()
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rig is a proxy with the settings of `reprise serve`, in front of a model.
type rig struct {
	*model
	server   *proxy.Server
	handler  http.Handler
	explored int64    // requests that were to be compared
	ends     []func() // in the order in which close calls them
}

// close ends the proxy, and what it was made of.
func (r *rig) close() {
	for _, end := range r.ends {
		end()
	}
	r.ends = nil
}

// newRig starts a proxy with a store in memory, unless change gives it another one.
func newRig(t testing.TB, m *model, draw func() float64, change ...func(*proxy.Options)) *rig {
	t.Helper()
	if m.says == nil {
		m.says = map[string]string{}
	}
	embedder := embed.NewBuiltin()
	gates := embedder.Thresholds()
	o := proxy.Options{Upstreams: []upstream.Target{{Base: &url.URL{Scheme: "http", Host: "model.test", Path: "/v1"}}}, Transport: m,
		Embedder: embedder, Thresholds: gates, Words: true, Draw: draw}
	for _, f := range change {
		f(&o)
	}
	var err error
	if o.Store == nil {
		o.Store = openStore(t, store.Options{Limit: policy.Limit{Entries: capacity}})
	}
	if o.Topics, err = topics.New(topics.Options{Dim: embedder.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge}); err != nil {
		t.Fatal(err)
	}
	r := &rig{model: m}
	if r.server, err = proxy.New(o); err != nil {
		t.Fatal(err)
	}
	r.ends = []func(){r.server.Close, o.Topics.Close, func() { o.Store.Close() }}
	t.Cleanup(r.close)
	r.handler = r.server.Handler()
	return r
}

// reply is what a client got.
type reply struct {
	text   string
	cache  string // X-Cache
	detail string // of Cache-Status
}

func (r reply) hit() bool { return r.cache == "exact" || r.cache == "semantic" }

// alias reports whether the answer was found by the very prompt, but was given to another one.
func (r reply) alias() bool { return r.cache == "exact" && strings.HasPrefix(r.detail, "alias") }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ask sends a chat of a system message, "" for none, and a user's. It returns when the answer is kept, and compared where it is to be.
func (r *rig) ask(t testing.TB, system, user string) reply {
	w := r.send(t, system, user)
	_, detail, _ := strings.Cut(w.Header().Get("Cache-Status"), `detail="`)
	got := reply{gjson.GetBytes(w.Body.Bytes(), "choices.0.message.content").Str, w.Header().Get("X-Cache"), strings.TrimSuffix(detail, `"`)}
	if w.Code != http.StatusOK || got.text == "" || !got.hit() && got.cache != "miss" {
		t.Fatalf("%d, %s: %s", w.Code, w.Header().Get("Cache-Status"), w.Body)
	}
	if !got.hit() {
		r.settle(t, &got)
	}
	return got
}

// has reports whether an answer is stored.
func (r *rig) has(t testing.TB, system, user string) bool {
	return r.send(t, system, user, "only-if-cached").Code == http.StatusOK
}

func (r *rig) send(t testing.TB, system, user string, directives ...string) *httptest.ResponseRecorder {
	messages := []message{{"system", system}, {"user", user}}
	if system == "" {
		messages = messages[1:]
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-4o-mini", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	q := httptest.NewRequest(http.MethodPost, "http://localhost/v1/chat/completions", bytes.NewReader(body))
	q.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}, "Cache-Control": directives}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, q)
	return w
}

// settle waits until the answer of the upstream is kept, and the comparison is counted. Its time limit bounds a hang.
func (r *rig) settle(t testing.TB, got *reply) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.server.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.detail, "explore") {
		return
	}
	r.explored++
	for {
		n := int64(0)
		for _, k := range r.server.Learning().Stats().Explorations {
			n += k
		}
		if n >= r.explored {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%d of %d comparisons are counted", n, r.explored)
		}
		runtime.Gosched()
	}
}

// brief reports whether the tests run less than they could.
func brief() bool {
	info, ok := debug.ReadBuildInfo()
	return testing.Short() || ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// requests is n, or a third of it.
func requests(n int) int {
	if brief() {
		return n / 3
	}
	return n
}
