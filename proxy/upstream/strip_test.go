package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reprise/proxy/upstream/dialect"
)

// TestDangerousFields: on both ways, an engine gets none of the headers and members by which a client could choose the rank, the host or
// the order in which it is computed; unless the target trusts its clients, or the operator forwards the header to it.
func TestDangerousFields(t *testing.T) {
	const dirty = `{"model":"m","priority":1,"messages":[],"kv_transfer_params":{"remote_host":"h"}}`
	steering := http.Header{"X-Data-Parallel-Rank": {"1"}, "X_smg_target_worker": {"1"}, "X-Prefiller-Host-Port": {"h:1"},
		"X-Gateway-Destination-Endpoint-Subset": {"h"}, "X-Session-Id": {"s"}}
	for _, tc := range []struct {
		name      string
		change    func(*Target)
		forwarded []string
		want      string
	}{
		{"by default", func(*Target) {}, nil, `{"model":"m","messages":[]} X-Session-Id`},
		{"forwarded", func(*Target) {}, []string{"x-data-parallel-rank"}, `{"model":"m","messages":[]} X-Data-Parallel-Rank X-Session-Id`},
		{"trusted", func(t *Target) { t.Trust = true }, nil, dirty + " X-Data-Parallel-Rank X-Gateway-Destination-Endpoint-Subset X-Prefiller-Host-Port X-Session-Id X_smg_target_worker"},
		{"of another dialect", func(t *Target) { t.Dialect = "" }, nil, dirty + " X-Session-Id"},
	} {
		e := newEngine(t, false)
		target := e.target(t, "", "vllm")
		tc.change(&target)
		c := newClient(t, Options{Replicas: []Target{target}})
		c.SetForwarded(tc.forwarded)
		in := func() *http.Request {
			r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(dirty))
			r.Header = steering.Clone()
			return r
		}
		reply, err := c.Call(t.Context(), Request{Original: in(), Body: []byte(dirty)})
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		passTo(t, c).ServeHTTP(httptest.NewRecorder(), in())
		for i, way := range []string{"Call", "PassThrough"} {
			got := e.bodies[i]
			for _, name := range []string{"X-Data-Parallel-Rank", "X-Gateway-Destination-Endpoint-Subset", "X-Prefiller-Host-Port", "X-Session-Id", "X_smg_target_worker"} {
				if len(e.headers[i][http.CanonicalHeaderKey(name)]) > 0 {
					got += " " + name
				}
			}
			if got != tc.want {
				t.Errorf("%s, %s: the engine got %s, want %s", tc.name, way, got, tc.want)
			}
		}
	}
}

// TestTargetsOfDialects: what the operator says of a target reaches its dialect.
func TestTargetsOfDialects(t *testing.T) {
	want := dialect.Intent{Affinity: "p", Conversation: "c", Salt: "s"}
	for _, tc := range []struct {
		target Target
		model  string
		want   string
	}{
		{Target{Dialect: "vllm"}, "m", `{"model":"m"} `},
		{Target{Dialect: "vllm", Version: "0.29.1", Salt: true}, "m", `{"model":"m","cache_salt":"s"} c`},
		{Target{Dialect: "production-stack", SessionKey: "x-session-id"}, "m", `{"model":"m"} c`},
		{Target{Dialect: "azure-openai", Models: []Model{{"gpt-4o", "mine"}}}, "gpt-4o", `{"model":"mine","prompt_cache_key":"p"} `},
		{Target{Dialect: "openai", Models: []Model{{"llama", "gpt-4o"}}}, "llama", `{"model":"gpt-4o","prompt_cache_key":"p"} `},
	} {
		e := newEngine(t, false)
		tc.target.Base = e.target(t, "", "").Base
		c := newClient(t, Options{Replicas: []Target{tc.target}})
		in := httptest.NewRequest("POST", "/v1/chat/completions", nil)
		reply, err := c.Call(t.Context(), Request{Original: in, Model: tc.model, Body: fmt.Appendf(nil, `{"model":%q}`, tc.model), Want: want})
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if got := e.bodies[0] + " " + e.headers[0].Get("X-Session-Id"); got != tc.want {
			t.Errorf("%+v: the engine got %s, want %s", tc.target, got, tc.want)
		}
	}
}

// TestDangerousFieldsOfLongBodies: a body that is forwarded while it is read loses no byte, and a name of a dangerous member becomes
// another. One in which no member can be found is refused, and is no fault of the replica.
func TestDangerousFieldsOfLongBodies(t *testing.T) {
	e := newEngine(t, false)
	c := newClient(t, Options{Replicas: []Target{e.target(t, "", "vllm")}})
	long := strings.Repeat("x", 2*firstBytes)
	for _, chunked := range []bool{false, true} {
		in := httptest.NewRequest("POST", "/v1/score", strings.NewReader(`{"a":"`+long+`","priority":7}`))
		if chunked {
			in.ContentLength = -1
		}
		passTo(t, c).ServeHTTP(httptest.NewRecorder(), in)
		if got, want := e.bodies[len(e.bodies)-1], `{"a":"`+long+`","--------":7}`; got != want {
			t.Errorf("the engine got %d bytes, the last of them %.40q", len(got), got[max(0, len(got)-40):])
		}
	}
	for _, size := range []int{10, 2 * firstBytes} {
		in := httptest.NewRequest("POST", "/v1/score", strings.NewReader("{\x00"+strings.Repeat(" \x00", size)+"}\x00"))
		if err := c.PassThrough(httptest.NewRecorder(), Request{Original: in}, nil); !errors.Is(err, dialect.ErrEncoding) || !errors.Is(err, errOfBody) {
			t.Errorf("%d bytes: %v", 2*size, err)
		}
	}
}
