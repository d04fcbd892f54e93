package admin

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/observe"
	"reprise/proxy/observe/watch"
)

func newWatch(t *testing.T) *watch.Watch {
	w := watch.New(watch.Options{Read: func() watch.Counters { return watch.Counters{Requests: [watch.Results]int64{3, 0, 0, 0, 1}} }})
	t.Cleanup(w.Close)
	return w
}

// TestPage: the files need no token and no local name, and their headers keep other pages and other hosts out.
func TestPage(t *testing.T) {
	r := newRig(t, "lru", func(o *Options) { o.Token = "s3cret" })
	for path, kind := range map[string]string{"/": "text/html", "/style.css": "text/css", "/app.js": "text/javascript", "/views/views.js": "text/javascript", "/icon.svg": "image/svg+xml"} {
		got := r.call("GET", "http://any.example"+path, "", "Accept-Encoding: gzip")
		h := got.Header()
		if got.Code != 200 || !strings.HasPrefix(h.Get("Content-Type"), kind) || h.Get("X-Frame-Options") != "DENY" || h.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d %v", path, got.Code, h)
		}
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "trusted-types 'none'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), want) {
				t.Errorf("%s: no %s", path, want)
			}
		}
		unpacked, err := gzip.NewReader(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		packed, _ := io.ReadAll(unpacked)
		if plain := r.call("GET", "http://any.example"+path, "", ""); plain.Body.String() != string(packed) {
			t.Errorf("%s: another text without gzip", path)
		}
		if again := r.call("GET", "http://any.example"+path, "", "If-None-Match: "+h.Get("ETag")); again.Code != 304 || again.Body.Len() != 0 {
			t.Errorf("%s again: %d, %d bytes", path, again.Code, again.Body.Len())
		}
	}
	for _, path := range []string{"/index.html", "/files/app.js", "/page.go", "/views/", "/views/../app.js"} {
		if got := r.call("GET", "http://any.example"+path, "", ""); got.Code != 404 {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}

// TestForeignPagesReadNothing: what the page of another site makes a browser ask for gets no data, and a link works.
func TestForeignPagesReadNothing(t *testing.T) {
	r := newRig(t, "lru")
	for header, status := range map[string]int{
		"":                              200,
		"Sec-Fetch-Site: same-origin":   200,
		"Sec-Fetch-Site: none":          200,
		"Sec-Fetch-Site: cross-site":    403,
		"Sec-Fetch-Site: same-site":     403,
		"Origin: https://evil.example":  403,
		"Origin: null":                  403,
		"Origin: http://localhost:3000": 403,
		"Origin: http://localhost":      200,
		"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate":                          200,
		"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document": 200,
		"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe":   403,
		"Sec-Fetch-Site: same-site|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: object":    403,
		"Sec-Fetch-Site: same-origin|Origin: http://localhost":                         200,
		"Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate|Origin: https://evil.ex":  403,
	} {
		for _, path := range []string{"/admin/overview", "/admin/history", "/admin/entries", "/admin/stats", "/admin/config"} {
			req := httptest.NewRequest("GET", "http://localhost"+path, nil)
			for line := range strings.SplitSeq(header, "|") {
				if name, value, ok := strings.Cut(line, ": "); ok {
					req.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			r.ServeHTTP(w, req)
			if w.Code != status || w.Header().Get("X-Frame-Options") != "DENY" {
				t.Errorf("%s with %s: %d, want %d", path, header, w.Code, status)
			}
		}
	}
}

func TestOverview(t *testing.T) {
	r := newRig(t, "lru", func(o *Options) {
		o.Overview = func(to *Overview) { to.Force = append(to.Force, InForce{Name: "mode", Value: "exact"}) }
	})
	got := r.get("/admin/overview").Body.String()
	if gjson.Get(got, "in_force.0.value").String() != "exact" || gjson.Get(got, "degraded.#").Int() != 0 || !gjson.Get(got, "degraded").IsArray() || gjson.Get(got, "prompts_may_be_shown").Bool() {
		t.Error(got)
	}
}

func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		r := newRig(t, "lru", func(o *Options) { o.Watch = w })
		time.Sleep(2 * watch.Step)
		synctest.Wait()
		got := r.get("/admin/history?window=1m&points=6").Body.String()
		if gjson.Get(got, "times.#").Int() != 6 || gjson.Get(got, "requests.exact").Raw != "[null,null,null,null,3,0]" || gjson.Get(got, "totals.hit_ratio").Float() != 0.75 {
			t.Error(got)
		}
		for query, status := range map[string]int{"": 200, "window=24h": 200, "window=25h": 400, "window=9s": 400, "window=x": 400, "window=-1h": 400,
			"points=1": 200, "points=720": 200, "points=721": 400, "points=0": 400, "points=x": 400} {
			if got := r.get("/admin/history?" + query); got.Code != status {
				t.Errorf("%s: %d, want %d: %s", query, got.Code, status, got.Body)
			}
		}
	})
}

// TestEvents reads the stream as a client of HTTP does.
func TestEvents(t *testing.T) {
	w := newWatch(t)
	site := httptest.NewServer(newRig(t, "lru", func(o *Options) { o.Watch = w }).Handler)
	t.Cleanup(site.Close)
	next := events(t, site.URL+"/admin/events?result=miss")
	if kind, data := next(); kind != "hello" || !gjson.Get(data, "started").Exists() {
		t.Fatalf("%s %s", kind, data)
	}
	for _, result := range []observe.Result{observe.Exact, observe.Miss} {
		w.Ended(&observe.Outcome{Answered: true, Result: result, At: time.Now(), Tenant: "tenant", Model: "m\n\nevent: x\n"})
	}
	if kind, data := next(); kind != "request" || gjson.Get(data, "result").String() != "miss" || gjson.Get(data, "model").String() != "m\n\nevent: x\n" {
		t.Errorf("%s %s", kind, data)
	}
	w.Close()
	if kind, _ := next(); kind != "" {
		t.Errorf("after the end of the proxy: %s", kind)
	}
	got, err := http.Get(site.URL + "/admin/events")
	if err != nil || got.StatusCode != 503 || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v %v", got, err)
	}
	got.Body.Close()
}

// TestViewersLeave: the place of a viewer is free again when it has left.
func TestViewersLeave(t *testing.T) {
	w := newWatch(t)
	left := make(chan struct{})
	h := newRig(t, "lru", func(o *Options) { o.Watch = w }).Handler
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		left <- struct{}{}
	}))
	t.Cleanup(site.Close)
	for range 2 * watch.DefaultViewers {
		ctx, leave := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "GET", site.URL+"/admin/events", nil)
		got, err := http.DefaultClient.Do(req)
		if err != nil || got.StatusCode != 200 {
			t.Fatalf("%v %v", got, err)
		}
		leave()
		got.Body.Close()
		<-left
	}
	if w.Watched() {
		t.Error("a viewer that has left is still there")
	}
}

// events reads a stream: kind and data of each event, "" at its end.
func events(t *testing.T, url string) (next func() (kind, data string)) {
	got, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { got.Body.Close() })
	if kind := got.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%s %d", kind, got.StatusCode)
	}
	lines := bufio.NewScanner(got.Body)
	return func() (kind, data string) {
		for lines.Scan() && lines.Text() != "" {
			if name, value, _ := strings.Cut(lines.Text(), ": "); name == "event" {
				kind = value
			} else {
				data = value
			}
		}
		return kind, data
	}
}
