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
