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
// the order in which it is computed; unless the target trusts its clients.
func TestDangerousFields(t *testing.T) {
	const dirty = `{"model":"m","priority":1,"messages":[],"kv_transfer_params":{"remote_host":"h"}}`
	steering := http.Header{"X-Data-Parallel-Rank": {"1"}, "X_smg_target_worker": {"1"}, "X-Prefiller-Host-Port": {"h:1"},
		"X-Gateway-Destination-Endpoint-Subset": {"h"}, "X-Session-Id": {"s"}}
	for _, tc := range []struct {
		name   string
		change func(*Target)
		want   string
	}{
		{"by default", func(*Target) {}, `{"model":"m","messages":[]} X-Session-Id`},
		{"trusted", func(t *Target) { t.Trust = true }, dirty + " X-Data-Parallel-Rank X-Gateway-Destination-Endpoint-Subset X-Prefiller-Host-Port X-Session-Id X_smg_target_worker"},
		{"of another dialect", func(t *Target) { t.Dialect = "" }, dirty + " X-Session-Id"},
	} {
		e := newEngine(t, false)
		target := e.target(t, "", "vllm")
		tc.change(&target)
		c := newClient(t, Options{Replicas: []Target{target}})
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

// TestDangerousFieldsOfLongBodies: an object that is not in memory is read before it is sent, whatever its length and type say, and any other
// body is sent while it is read. One in which no member can be found is refused, and is no fault of the replica; so is an object that is too
// long to be held.
func TestDangerousFieldsOfLongBodies(t *testing.T) {
	e := newEngine(t, false)
	c := newClient(t, Options{Replicas: []Target{e.target(t, "", "vllm")}})
	send := func(body string, length int64) error {
		in := httptest.NewRequest("POST", "/v1/score", strings.NewReader(body))
		in.ContentLength = length
		return c.PassThrough(httptest.NewRecorder(), Request{Original: in}, nil)
	}
	long := strings.Repeat("x", 2*firstBytes)
	for sent, want := range map[string]string{
		`{"a":"` + long + `","priority":7}`:                                  `{"a":"` + long + `"}`,
		"\xef\xbb\xbf" + `{"a":"` + long + `","priority":7}`:                 "\xef\xbb\xbf" + `{"a":"` + long + `"}`,
		strings.Repeat(" ", 3000) + `{"a":"` + long + `","pr\u0069ority":7}`: strings.Repeat(" ", 3000) + `{"a":"` + long + `"}`,
		`--boundary {"priority":7}` + long:                                   `--boundary {"priority":7}` + long,
		`[{"priority":7}]` + strings.Repeat(" ", mostHeld):                   `[{"priority":7}]` + strings.Repeat(" ", mostHeld),
		"": "",
	} {
		for _, length := range []int64{int64(len(sent)), -1} {
			if err := send(sent, length); err != nil {
				t.Fatalf("%.40q: %v", sent, err)
			}
			if got := e.bodies[len(e.bodies)-1]; got != want {
				t.Errorf("%.40q: the engine got %d bytes, the last of them %.40q", sent, len(got), got[max(0, len(got)-40):])
			}
		}
	}
	for _, size := range []int{10, 2 * firstBytes} {
		body := "{\x00" + strings.Repeat(" \x00", size) + "}\x00"
		if err := send(body, int64(len(body))); !errors.Is(err, dialect.ErrEncoding) || !errors.Is(err, errOfBody) {
			t.Errorf("%d bytes: %v", 2*size, err)
		}
	}
	var tooLarge *http.MaxBytesError
	if err := send(`{"a":"`+strings.Repeat("x", mostHeld)+`"}`, -1); !errors.As(err, &tooLarge) {
		t.Errorf("a long object: %v", err)
	}
}
