package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/proxy/upstream"
	"reprise/proxy/upstream/prefix"
)

// fakeUpstreams are upstreams that a test has made up.
type fakeUpstreams struct {
	all     []upstream.Status
	hints   []upstream.HintCount
	drained []string
}

func (f *fakeUpstreams) Upstreams() []upstream.Status { return f.all }
func (f *fakeUpstreams) Hints() []upstream.HintCount  { return f.hints }

func (f *fakeUpstreams) Drain(name string, drained bool) bool {
	if len(f.all) < 2 || !slices.ContainsFunc(f.all, func(u upstream.Status) bool { return u.Name == name }) {
		return false
	}
	if drained {
		f.drained = append(f.drained, name)
	} else {
		f.drained = slices.DeleteFunc(f.drained, func(n string) bool { return n == name })
	}
	return true
}

// TestUpstreams shows what is known of each upstream, and drains one.
func TestUpstreams(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	base := &url.URL{Scheme: "http", Host: "b", Path: "/v1"}
	fake := &fakeUpstreams{all: []upstream.Status{{Name: "a"}, {Name: "b", Target: upstream.Target{Base: base, Fallback: true, Models: []upstream.Model{{Name: "big", Mapped: "small"}}},
		Health: upstream.Health{Condition: "ejected", Until: until, Failures: 5}, Load: prefix.Load{InFlight: 3, Pending: 100, Held: 64, Capacity: 4096},
		Counts: upstream.Counts{Prompt: 900, Cached: 300, Foreseen: 800, Predicted: 250, Real: 200}}},
		hints: []upstream.HintCount{{Upstream: "b", Field: "cache_salt", Added: 7, Refused: 1, LeftOut: []upstream.LeftOut{{Model: "m", Until: until}}}}}
	r := newRig(t, "lru", func(o *Options) { o.Upstreams = fake })
	got := r.call(http.MethodGet, "http://localhost/admin/upstreams", "", "")
	var list struct{ Upstreams []map[string]any }
	if err := json.Unmarshal(got.Body.Bytes(), &list); err != nil || len(list.Upstreams) != 2 {
		t.Fatalf("%v: %s", err, got.Body)
	}
	want := map[string]any{"name": "b", "url": "http://b/v1", "dialect": "generic", "models": []any{map[string]any{"name": "big", "mapped": "small"}}, "fallback": true,
		"salted": false, "health": "ejected", "until": "2026-01-02T03:04:05Z", "share": 0.0, "failures_in_a_row": 5.0, "limited_tenants_and_models": 0.0,
		"in_flight": 3.0, "pending_tokens": 100.0, "held_tokens": 64.0, "capacity_tokens": 4096.0,
		"prompt_tokens": 900.0, "cached_tokens": 300.0, "foreseen_prompt_tokens": 800.0, "foreseen_predicted_tokens": 250.0, "foreseen_cached_tokens": 200.0,
		"hints": []any{map[string]any{"field": "cache_salt", "sent": 7.0, "refused": 1.0, "not_expressible": 0.0,
			"left_out_models": 1.0, "left_out": []any{map[string]any{"model": "m", "until": "2026-01-02T03:04:05Z"}}}}}
	if !reflect.DeepEqual(list.Upstreams[1], want) {
		t.Errorf("got  %v\nwant %v", list.Upstreams[1], want)
	}
	for _, c := range []struct {
		method, path string
		status       int
		drained      []string
	}{
		{http.MethodPost, "/admin/upstreams/b/drain", 200, []string{"b"}},
		{http.MethodPost, "/admin/upstreams/b/undrain", 200, []string{}},
		{http.MethodPost, "/admin/upstreams/c/drain", 404, []string{}},
		{http.MethodGet, "/admin/upstreams/b/drain", 405, []string{}},
		{http.MethodPost, "/admin/upstreams", 405, []string{}},
	} {
		if got := r.call(c.method, "http://localhost"+c.path, "", ""); got.Code != c.status || !slices.Equal(fake.drained, c.drained) {
			t.Errorf("%s %s: %d %s, drained %q", c.method, c.path, got.Code, got.Body, fake.drained)
		}
	}
}

// TestPurgeNamesHints: the reply of a purge has the generation of the names after it, and the upstreams where a name separates tenants.
func TestPurgeNamesHints(t *testing.T) {
	fake := &fakeUpstreams{all: []upstream.Status{{Name: "a", Target: upstream.Target{Dialect: "vllm", Salt: true}}, {Name: "b"}}}
	r := newRig(t, "lru", func(o *Options) { o.Upstreams = fake })
	got := r.call(http.MethodPost, "http://localhost/admin/purge", `{"all":true,"dry_run":false}`, "Content-Type: application/json")
	var reply struct{ Hints map[string]any }
	if err := json.Unmarshal(got.Body.Bytes(), &reply); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"generation": 7.0, "durable": true, "salted": []any{"a"}, "unsalted": []any{"b"}}; !reflect.DeepEqual(reply.Hints, want) {
		t.Errorf("got %v, want %v", reply.Hints, want)
	}
}

// TestPrefixes: the query names the life and the number of the prefixes.
func TestPrefixes(t *testing.T) {
	r := newRig(t, "lru", func(o *Options) {
		o.Prefixes = func(life time.Duration, n int) any { return []string{life.String(), strconv.Itoa(n)} }
	})
	for query, want := range map[string]string{"": "600 10m0s 50", "?life=5m&limit=3": "300 5m0s 3", "?life=soon": "400", "?life=-1s": "400", "?limit=x": "400"} {
		got := r.call(http.MethodGet, "http://localhost/admin/prefixes"+query, "", "")
		var reply struct {
			Life     float64 `json:"life_seconds"`
			Prefixes []string
		}
		text := strconv.Itoa(got.Code)
		if got.Code == 200 {
			if err := json.Unmarshal(got.Body.Bytes(), &reply); err != nil || len(reply.Prefixes) != 2 {
				t.Fatalf("%q: %v %s", query, err, got.Body)
			}
			text = fmt.Sprint(reply.Life, " ", strings.Join(reply.Prefixes, " "))
		}
		if text != want {
			t.Errorf("%q: %s, want %s: %s", query, text, want, got.Body)
		}
	}
}
