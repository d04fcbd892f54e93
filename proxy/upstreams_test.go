package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"reprise/proxy/upstream"
)

// TestUncachedRequestsKeepTheirUpstream: requests in which the cache takes no part go where their prefix is too, and bodies that cannot be
// parsed are forwarded as they are.
func TestUncachedRequestsKeepTheirUpstream(t *testing.T) {
	answer := func(name string) *httptest.Server {
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"upstream":%q,"bytes":%d}`, name, len(body))
		}))
		t.Cleanup(up.Close)
		return up
	}
	var targets []upstream.Target
	for _, name := range []string{"a", "b"} {
		base, err := url.Parse(answer(name).URL + "/v1")
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, upstream.Target{Name: name, Base: base})
	}
	for _, tc := range []struct {
		name   string
		mode   Mode
		header string
	}{{"mode off", ModeOff, "X-Test: 1"}, {"directive", ModeExact, "Cache-Control: no-cache, no-store"}} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Upstreams, o.Mode = targets, tc.mode })
			for c := range 4 {
				first := ""
				for turn := range 4 {
					system := strings.Repeat(fmt.Sprintf("conversation %d ", c), 2000)
					got := r.ask(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":%q},{"role":"user","content":"turn %d"}]}`, system, turn), tc.header)
					if first == "" {
						first = got.body
					}
					if got.status != http.StatusOK || got.body != first || got.cache() != "bypass" {
						t.Errorf("conversation %d, turn %d: %d %s %s, at first %s", c, turn, got.status, got.cache(), got.body, first)
					}
				}
			}
			for _, body := range []string{`{"model":"m","model":"n"}`, "no JSON", `{"messages":1}`} {
				if got := r.ask(t, "/v1/chat/completions", body, tc.header); got.status != http.StatusOK || !strings.Contains(got.body, fmt.Sprintf(`"bytes":%d}`, len(body))) {
					t.Errorf("%s: %d %s", body, got.status, got.body)
				}
			}
		})
	}
}

// TestTokensOfOneUpstream: what the answers of a single upstream report of its cache is counted, once, also where prefixes are followed and a meter of
// the call counts.
func TestTokensOfOneUpstream(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"x","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":64}}}`)
	})
	for _, target := range []string{"", "vllm"} {
		r := newRigAt(t, nil, answer, func(o *Options) { o.Upstreams[0].Dialect = target })
		for _, prompt := range []string{"one", "two", "two"} {
			r.ask(t, "/v1/chat/completions", chat(prompt))
		}
		counted := func() upstream.Counts { return r.Server.Upstreams().Upstreams()[0].Counts }
		eventually(t, "the tokens", func() bool { return counted().Prompt >= 200 })
		if got := counted(); got.Prompt != 200 || got.Cached != 128 {
			t.Errorf("dialect %q: %+v", target, got)
		}
	}
}
