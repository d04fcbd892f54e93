package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/internal/built"
	"reprise/internal/enginesim"
)

// TestDeadUpstreamIsShown: where requests fail at the only upstream, or the last one, operators see it, with the reason, until one succeeds.
func TestDeadUpstreamIsShown(t *testing.T) {
	engine, broken := enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}}), atomic.Bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p, asked := start(t, "REPRISE_UPSTREAM="+server.URL+"/v1", "REPRISE_STORE=memory"), 0
	asks := func(times, status int) {
		t.Helper()
		for range times {
			asked++
			resp := p.ask(prompt(fmt.Sprintf("What is the number after %d?", asked)))
			if resp.Body.Close(); resp.StatusCode != status {
				t.Fatalf("status %d, not %d", resp.StatusCode, status)
			}
		}
	}
	shows := func(health, words string) {
		t.Helper()
		one, degraded := gjson.Get(p.get("/admin/upstreams"), "upstreams.0"), gjson.Get(p.get("/admin/overview"), "degraded")
		if one.Get("health").String() != health || one.Get("share").Float() != 1 {
			t.Errorf("health: %s", one)
		}
		if words == "" && len(degraded.Array()) != 0 || !strings.Contains(degraded.Get("0.in_words").String(), words) {
			t.Errorf("degraded: %s, not %q", degraded, words)
		}
	}
	asks(1, http.StatusOK)
	shows("up", "")
	broken.Store(true)
	asks(4, http.StatusServiceUnavailable)
	shows("up", "")
	asks(3, http.StatusServiceUnavailable)
	shows("failing", "Its last 7 requests failed: status 503.")
	broken.Store(false)
	asks(1, http.StatusOK)
	built.Until(t, "the upstream works", func() bool { return gjson.Get(p.get("/admin/upstreams"), "upstreams.0.health").String() == "up" })
	shows("up", "")
	server.Close()
	asks(1, http.StatusBadGateway)
	shows("failing", "Its last request failed: dial tcp ")
	shows("failing", "connection refused.")
	p.stop()
}
