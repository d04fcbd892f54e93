package admin

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy/cache/shared"
	"reprise/store"
	"reprise/topics"
)

// fakeProxy is a server that answers nothing.
type fakeProxy struct {
	draining bool
	store    *store.Store
	disk     error // why no purge is durable
}

func (p *fakeProxy) Draining() bool             { return p.draining }
func (p *fakeProxy) Generation() (uint64, bool) { return 7, true }
func (p *fakeProxy) Metrics() prometheus.Collector {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: "fake"})
}
func (p *fakeProxy) Answer(_ context.Context, e *store.Entry) ([]byte, error) {
	return nil, io.ErrUnexpectedEOF
}

func (p *fakeProxy) Purge(_ context.Context, f store.Filter) (matched, purged int, err error) {
	for e := range p.store.All() {
		if f.Matches(e) {
			p.store.Remove(policy.Purged, e.ID)
			matched++
		}
	}
	return matched, matched, p.disk
}

// rig is the admin API over an empty store.
type rig struct {
	http.Handler
	proxy  *fakeProxy
	store  *store.Store
	topics *topics.Topics
}

// reports are those of some names.
type reports map[string]any

func (r reports) Report(_ context.Context, name string) any { return r[name] }

func newRig(t *testing.T, spec string, adjust ...func(*Options)) *rig {
	t.Helper()
	return newSizedRig(t, spec, 20, adjust...)
}

// newSizedRig is newRig for so many entries.
func newSizedRig(t testing.TB, spec string, capacity int, adjust ...func(*Options)) *rig {
	t.Helper()
	evictor, err := registry.New(spec, policy.Options{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: capacity}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	of, err := topics.New(topics.Options{Dim: 2, Hit: 0.9, Route: 0.5, Edge: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(of.Close)
	r := &rig{proxy: &fakeProxy{store: s}, store: s, topics: of}
	o := Options{Proxy: r.proxy, Upstreams: &fakeUpstreams{}, Entries: s, Topics: of, Policy: spec, Reports: reports{"stats": map[string]int{"requests": 7}}}
	for _, f := range adjust {
		f(&o)
	}
	r.Handler = New(o)
	return r
}

// call asks for a path of a host, with a header line "Name: value".
func (r *rig) call(method, url, body, header string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, url, strings.NewReader(body))
	if name, value, ok := strings.Cut(header, ": "); ok {
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

func (r *rig) get(path string) *httptest.ResponseRecorder {
	return r.call("GET", "http://localhost"+path, "", "")
}

func TestHealth(t *testing.T) {
	r := newRig(t, "lru")
	if a, b := r.get("/healthz"), r.get("/readyz"); a.Code != 200 || b.Code != 200 {
		t.Errorf("healthz %d, readyz %d", a.Code, b.Code)
	}
	r.proxy.draining = true
	if a, b := r.get("/healthz"), r.get("/readyz"); a.Code != 200 || b.Code != 503 {
		t.Errorf("draining: healthz %d, readyz %d", a.Code, b.Code)
	}
}

func of(st shared.Stats) Shared { return Shared{Stats: st} }

// live is the state of a process that works with its shared store.
var live = of(shared.Stats{Joined: true, Loaded: true, Live: true})

// TestReadyShared: a process is ready whatever the shared store does, and says what that is.
func TestReadyShared(t *testing.T) {
	var s Shared
	r := newRig(t, "lru", func(o *Options) { o.Shared = func() Shared { return s } })
	for _, c := range []struct {
		state Shared
		body  string
	}{
		{Shared{}, "ready\nredis: away\n"},
		{of(shared.Stats{Joined: true}), "ready\nredis: loading\n"},
		{of(shared.Stats{Joined: true, Loaded: true}), "ready\nredis: behind\n"},
		{live, "ready\nredis: shared\n"},
	} {
		s = c.state
		if got := r.get("/readyz"); got.Code != 200 || got.Body.String() != c.body {
			t.Errorf("%+v: %d %q, want %q", c.state, got.Code, got.Body, c.body)
		}
	}
	r.proxy.draining = true
	if got := r.get("/readyz"); got.Code != 503 {
		t.Errorf("draining: %d", got.Code)
	}
}

// TestReadyEmbedder: a process is ready whatever its embedder does, and says what that is.
func TestReadyEmbedder(t *testing.T) {
	state := "away"
	embedder := func(o *Options) { o.Embedder = func() string { return state } }
	alone, shared := newRig(t, "lru", embedder), newRig(t, "lru", embedder, func(o *Options) { o.Shared = func() Shared { return live } })
	for _, state = range []string{"away", "wrong-dimension", "works"} {
		for r, want := range map[*rig]string{alone: "ready\nembedder: " + state + "\n", shared: "ready\nredis: shared\nembedder: " + state + "\n"} {
			if got := r.get("/readyz"); got.Code != 200 || got.Body.String() != want {
				t.Errorf("%d %q, want %q", got.Code, got.Body, want)
			}
		}
	}
}

// TestShared: the state of a shared store and its metrics.
func TestShared(t *testing.T) {
	s := live
	s.Process, s.Keeper, s.Keeping, s.Applied.N, s.Lag, s.Behind, s.Queued = 7, true, 7, 3, 2, 250*time.Millisecond, 2
	s.Members = []store.Member{{Process: 7, Name: "a"}, {Process: 9, Name: "b", Applied: 4}}
	s.NearHits, s.RefusedByMark, s.DroppedInserts, s.RefusedBatches = 11, 12, 13, 14
	r := newRig(t, "lru", func(o *Options) { o.Shared = func() Shared { return s } })
	body := r.get("/admin/shared").Body.String()
	for path, want := range map[string]string{"state": "shared", "lag_batches": "2", "behind_seconds": "0.25", "keeper": "true", "members.0.self": "true",
		"members.0.keeper": "true", "members.1.keeper": "false", "members.1.name": "b", "members.1.applied": "4", "members.1.self": "false", "queue.events": "2", "counts.near": "11", "counts.dropped_inserts": "13"} {
		if got := gjson.Get(body, path).String(); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	metrics := r.get("/metrics").Body.String()
	for _, line := range []string{"reprise_shared_up 1", "reprise_shared_keeper 1", "reprise_shared_members 2", "reprise_shared_lag_batches 2", "reprise_shared_near_hits_total 11",
		`reprise_shared_queue_dropped_total{kind="insert"} 13`, `reprise_shared_unserved_total{reason="mark"} 12`, `reprise_shared_batches_total{result="refused"} 14`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	alone := newRig(t, "lru")
	if got := alone.get("/admin/shared"); got.Code != 404 || strings.Contains(alone.get("/metrics").Body.String(), "reprise_shared") {
		t.Errorf("not shared: %d", got.Code)
	}
}

// TestStarting: before there is a server the process is alive and not ready.
func TestStarting(t *testing.T) {
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 503, "/metrics": 503, "/admin/config": 503} {
		w := httptest.NewRecorder()
		if Starting().ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
}

// TestOtherPaths: a request of the API that is sent to the admin listener gets an error that names the setting with the address of the API.
func TestOtherPaths(t *testing.T) {
	r := newRig(t, "lru")
	for _, path := range []string{"/index.html", "/v1/chat/completions", "/admin/purges"} {
		got := r.get(path)
		if got.Code != 404 || !strings.Contains(gjson.Get(got.Body.String(), "error.message").String(), "REPRISE_LISTEN") {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

func TestMethods(t *testing.T) {
	r := newRig(t, "lru")
	for _, c := range []struct{ method, path, takes string }{
		{"GET", "/admin/purge", "POST"}, {"HEAD", "/admin/purge", "POST"}, {"POST", "/admin/entries", "GET"}, {"DELETE", "/admin/config", "GET"}, {"POST", "/healthz", "GET"}, {"POST", "/", "GET"},
	} {
		got := r.call(c.method, "http://localhost"+c.path, "", "")
		if got.Code != 405 || got.Header().Get("Allow") != c.takes || !strings.Contains(got.Body.String(), " takes "+c.takes+".") {
			t.Errorf("%s %s: %d %v %s", c.method, c.path, got.Code, got.Header(), got.Body)
		}
	}
}

// TestHead: a probe with HEAD gets the status of GET.
func TestHead(t *testing.T) {
	r := newRig(t, "lru")
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/admin/entries": 200, "/none": 404} {
		if got := r.call("HEAD", "http://localhost"+path, "", ""); got.Code != status {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}

func TestAdminNeedsItsToken(t *testing.T) {
	r := newRig(t, "lru", func(o *Options) { o.Token = "s3cret" })
	for header, status := range map[string]int{"": 401, "Authorization: Bearer wrong": 401, "Authorization: s3cret": 401,
		"Authorization: Bearer s3cret": 200, "X-Reprise-Admin-Token: s3cret": 200} {
		got := r.call("GET", "http://any.example/admin/entries", "", header)
		if got.Code != status || (got.Header().Get("WWW-Authenticate") != "") != (status == 401) {
			t.Errorf("%s: %d, want %d, %v", header, got.Code, status, got.Header())
		}
	}
	for header, says := range map[string]string{"": "needs the header", "Authorization: s3cret": "needs the header", "Authorization: Bearer wrong": "is not the admin token",
		"X-Reprise-Admin-Token: wrong": "is not the admin token"} {
		if got := r.call("GET", "http://localhost/admin/stats", "", header).Body.String(); !strings.Contains(got, says) || strings.Contains(got, "wrong") {
			t.Errorf("%q: %s", header, got)
		}
	}
	if got := r.get("/metrics"); got.Code != 200 {
		t.Errorf("metrics: %d", got.Code)
	}
}

// TestAdminAnswersToItsAddress: without a token, and on loopback for the metrics, requests under another host name are refused.
func TestAdminAnswersToItsAddress(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		o                       Options
		entries, metrics, ready int // for a foreign name
	}{
		{"loopback", Options{Loopback: true}, 403, 403, 200},
		{"loopback with a token", Options{Loopback: true, Token: "s3cret"}, 401, 403, 200},
		{"everywhere with a token", Options{Token: "s3cret"}, 401, 200, 200},
		{"behind a server that is trusted", Options{Loopback: true, Trusted: []string{"Evil.example"}}, 200, 200, 200},
	} {
		r := newRig(t, "lru", func(o *Options) { o.Loopback, o.Token, o.Trusted = tc.o.Loopback, tc.o.Token, tc.o.Trusted })
		for path, status := range map[string]int{"/admin/entries": tc.entries, "/metrics": tc.metrics, "/readyz": tc.ready, "/healthz": 200} {
			if got := r.call("GET", "http://evil.example:8081"+path, "", ""); got.Code != status {
				t.Errorf("%s: %s: %d, want %d", tc.name, path, got.Code, status)
			}
			for _, host := range []string{"localhost:8081", "127.0.0.1", "[::1]:8081", "LocalHost."} {
				if got := r.call("GET", "http://"+host+path, "", "Authorization: Bearer s3cret"); got.Code != 200 {
					t.Errorf("%s: %s of %s: %d", tc.name, path, host, got.Code)
				}
			}
		}
	}
}

// TestPagesCannotPurge: a purge that a browser can be made to send by a page of another site is refused, with and without a token.
func TestPagesCannotPurge(t *testing.T) {
	const purge = `{"all":true,"dry_run":false}`
	for _, tc := range []struct {
		header string
		status int
	}{
		{"Content-Type: application/json", 200},
		{"Content-Type: application/json; charset=utf-8", 200},
		{"Content-Type: text/plain", 415},
		{"Content-Type: application/x-www-form-urlencoded", 415},
		{"", 415},
		{"Content-Type: application/json|Origin: https://evil.example", 403},
		{"Content-Type: application/json|Origin: null", 403},
		{"Content-Type: application/json|Origin: http://localhost:3000", 403},
		{"Content-Type: application/json|Sec-Fetch-Site: cross-site", 403},
		{"Content-Type: application/json|Sec-Fetch-Site: same-site|Origin: http://localhost:3000", 403},
		{"Content-Type: application/json|Origin: http://localhost:8081", 200},
	} {
		r := newRig(t, "lru")
		r.store.Put(&store.Entry{Key: store.Key{1}}, r.store.Tick())
		req := httptest.NewRequest("POST", "http://localhost:8081/admin/purge", strings.NewReader(purge))
		for line := range strings.SplitSeq(tc.header, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				req.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		if w.Code != tc.status || (r.store.Stats().Entries == 0) != (tc.status == 200) {
			t.Errorf("%s: %d, want %d, and %d entries: %s", tc.header, w.Code, tc.status, r.store.Stats().Entries, w.Body)
		}
	}
}

func TestStatsAndConfig(t *testing.T) {
	r := newRig(t, "lru")
	if got := r.get("/admin/stats").Body.String(); gjson.Get(got, "requests").Int() != 7 {
		t.Errorf("stats: %s", got)
	}
	if got := r.get("/admin/config").Body.String(); got != "{}\n" {
		t.Errorf("config: %s", got)
	}
	r = newRig(t, "lru", func(o *Options) { o.Reports = reports{"config": map[string]string{"mode": "exact"}} })
	if got := r.get("/admin/config").Body.String(); gjson.Get(got, "mode").String() != "exact" {
		t.Errorf("config: %s", got)
	}
}

func TestUnreadableEntry(t *testing.T) {
	r := newRig(t, "lru")
	e := &store.Entry{Key: store.Key{1}, Answer: []byte("?")}
	r.store.Put(e, r.store.Tick())
	got := r.get("/admin/entries/" + strconv.FormatUint(uint64(e.ID), 10))
	if got.Code != 500 || gjson.Get(got.Body.String(), "error.type").String() != "internal_error" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestPurgeSaysWhatIsWrong(t *testing.T) {
	r := newRig(t, "lru")
	for body, code := range map[string]string{
		`{}`: "empty_purge", `{"all":true,"model":"x"}`: "ambiguous_purge", `{"modle":"x"}`: "invalid_json", `nonsense`: "invalid_json", ``: "invalid_json", `{"all":true,"dry_run":"no"}`: "invalid_json",
		`{"entry":-1}`: "invalid_parameter", `{"entry":"x"}`: "invalid_parameter", `{"topic":{}}`: "invalid_parameter", `{"topic":""}`: "empty_purge",
		`[1]`: "invalid_json", `null`: "empty_purge", `{"all":true`: "invalid_json", `{"all":true}x`: "invalid_json", `{"model":"x"} {"all":true}`: "invalid_json",
		`{"model":"x","model":"y"}`: "invalid_json", `{"dry_run":true,"dry_run":false,"all":true}`: "invalid_json", `{"all":true,"All":false}`: "invalid_json",
		`{"Dry_Run":false,"all":true}`: "invalid_json", `{"all":true,"dry_ru\u006e":true,"dry_run":false}`: "invalid_json",
		"{\"model\":\"\xff\"}": "invalid_json", `{"all":true,"dry_run":false}` + strings.Repeat(" ", 64<<10): "invalid_json",
	} {
		got := r.call("POST", "http://localhost/admin/purge", body, "Content-Type: application/json")
		if got.Code != 400 || gjson.Get(got.Body.String(), "error.code").String() != code || strings.Contains(got.Body.String(), "Go struct") || strings.Contains(got.Body.String(), "EOF") {
			t.Errorf("%s: %d %s", body, got.Code, got.Body)
		}
	}
}

// aside is a store whose file was damaged.
type aside struct{ *store.Store }

func (a aside) Stats() store.Stats {
	st := a.Store.Stats()
	st.Report.Aside = "reprise.db.damaged"
	return st
}

// TestSetAside: the metrics show a file that was set aside, for the alert.
func TestSetAside(t *testing.T) {
	for want, adjust := range map[string]func(*Options){
		"reprise_store_set_aside 0\n": func(*Options) {},
		"reprise_store_set_aside 1\n": func(o *Options) { o.Entries = aside{o.Entries.(*store.Store)} },
	} {
		if got := newRig(t, "lru", adjust).get("/metrics").Body.String(); !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
}
