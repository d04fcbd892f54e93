package proxy

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/admin"
)

// TestWindowsOfRequests: GET /admin/policy counts each request that was answered from the cache, however it was found, and each that was
// kept; what the cache took no part in is not there. Uses that wait to be applied are.
func TestWindowsOfRequests(t *testing.T) {
	r := newRig(t)
	h := admin.New(admin.Options{Proxy: r.Server, Upstreams: r.Server.Upstreams(), Entries: r.store, Topics: r.topics, Watch: r.Server.Watch(), Policy: "rac+"})
	for i := range 5 {
		for range 3 {
			r.ask(t, "/v1/chat/completions", chat(fmt.Sprintf("What is the capital of country %d?", i)))
		}
	}
	r.ask(t, "/v1/chat/completions", chat("What is the time?"), "Cache-Control: no-store")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/admin/policy", nil))
	open := gjson.Get(w.Body.String(), "windows.0")
	if open.Get("requests").Int() != 15 || open.Get("hits").Int() != 10 || open.Get("panel.hit_ratio").Float() != open.Get("hit_ratio").Float() || open.Get("panel.leader").String() == "" {
		t.Errorf("%s", w.Body)
	}
}
