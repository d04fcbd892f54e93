package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/policy/classic"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics/reuse"
)

// interruption purges everything at the n-th time at which the proxy reads the clock or asks the guard. Between any two steps of a
// request lies one of these.
type interruption struct {
	left   atomic.Int64 // 0: none
	purge  func()
	purged atomic.Bool
}

func (i *interruption) step() {
	if i.left.Add(-1) == 0 {
		i.purge()
		i.purged.Store(true)
	}
}

// firstByte records whether the purge had returned when the answer began.
type firstByte struct {
	*httptest.ResponseRecorder
	i     *interruption
	after bool
}

func (w *firstByte) WriteHeader(status int) {
	w.after = w.i.purged.Load()
	w.ResponseRecorder.WriteHeader(status)
}

// TestNothingHeldIsServedAfterAPurge: wherever in a request a purge returns, no answer of before it begins to be written afterwards:
// exact, by meaning, or expired and in place of an error.
func TestNothingHeldIsServedAfterAPurge(t *testing.T) {
	for result, second := range map[string]string{"exact": capital, "semantic": similar, "stale": capital} {
		t.Run(result, func(t *testing.T) {
			served := 0
			for n := int64(1); ; n++ {
				got, w, i := interrupted(t, result, second, n)
				if !i.purged.Load() {
					break // the request is over before its n-th step
				}
				if got == result {
					served++
				}
				if got == result && w.after {
					t.Errorf("purged at step %d, and then answered as %s", n, got)
				}
			}
			if served == 0 {
				t.Error("no request was answered before its purge: the test shows nothing")
			}
		})
	}
}

// interrupted asks a question, and asks again while everything is purged at the n-th step.
func interrupted(t *testing.T, result, second string, n int64) (got string, w *firstByte, i *interruption) {
	i = &interruption{}
	var late, down atomic.Bool
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		instantUpstream(w, r)
	})
	r := newRigAt(t, nil, up, func(o *Options) {
		o.StaleIfError, o.TTL = time.Hour, time.Hour
		o.Judge = cache.Vetoes(func(string, string) reuse.Veto { i.step(); return "" })
		o.Now = func() time.Time {
			i.step()
			if late.Load() {
				return time.Now().Add(90 * time.Minute)
			}
			return time.Now()
		}
		o.Store = newStore(t, 1000, nil)
	})
	i.purge = func() { r.Purge(t.Context(), store.Filter{}) }
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.counted(t, 1)
	late.Store(result == "stale")
	down.Store(result == "stale")
	w = &firstByte{ResponseRecorder: httptest.NewRecorder(), i: i}
	req := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(chat(second)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	i.left.Store(n)
	r.Handler().ServeHTTP(w, req)
	i.left.Store(0)
	return w.Header().Get("X-Cache"), w, i
}

// TestPurgeIsNotDurable: a purge that the store cannot write is a 503 and counted, also when it is repeated and matches nothing. The
// entries are not served meanwhile. When the store can be written again the purge is durable.
func TestPurgeIsNotDurable(t *testing.T) {
	disk := &storetest.Memory{}
	r := newRig(t, func(o *Options) {
		var err error
		o.Store, err = store.Open(store.Options{Evictor: classic.NewLRU(), Space: o.Embedder.Space(), Backing: disk})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Store.Close() })
	})
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.counted(t, 1)
	if err := r.store.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	disk.Fail(errors.New("no space left"))
	purge := func(status int, durable string) {
		t.Helper()
		got := r.call(t, "POST", "/admin/purge", `{"all":true,"dry_run":false}`, "Content-Type: application/json")
		if got.status != status || gjson.Get(got.body, "durable").Raw != durable {
			t.Errorf("%d %s, want %d", got.status, got.body, status)
		}
	}
	for range 2 {
		purge(503, "false")
		if n := r.store.Stats().Entries; n != 0 {
			t.Errorf("%d entries", n)
		}
	}
	if got := r.get(t, "/metrics"); !strings.Contains(got.body, "\nreprise_purges_not_durable_total 2\n") {
		t.Error("the purges are not counted")
	}
	disk.Fail(nil)
	purge(200, "true")
	if n := disk.Count(store.KindEntry); n != 0 {
		t.Errorf("%d entries are still in the backing", n)
	}
}

// TestDeletedResponse: an answer that its client deletes at the upstream is not served any more, whatever the upstream says of that, whether the
// client has the upstream's id or that of a replay; others and other requests change nothing.
func TestDeletedResponse(t *testing.T) {
	const path, object, stream = "/v1/responses", `{"model":"m","input":"a"}`, `{"model":"m","input":"a","stream":true}`
	sk := "Bearer sk-test"
	for _, c := range []struct {
		name               string
		first, after       string // the request that is kept, and the one asked afterwards
		method, path, auth string // REPLAY stands for the id of a replay
		status             int    // of the upstream to the deletion
		want               string
	}{
		{"by the upstream's id", object, object, "DELETE", "/v1/responses/resp_1", sk, 200, "miss"},
		{"by the id of a replay", object, object, "DELETE", "/v1/responses/REPLAY", sk, 200, "miss"},
		{"unknown to the upstream", object, object, "DELETE", "/v1/responses/resp_1", sk, 404, "miss"},
		{"a stream", stream, stream, "DELETE", "/v1/responses/REPLAY", sk, 200, "miss"},
		{"by the paths of Azure", object, object, "DELETE", "/openai/v1/responses/resp_1", sk, 200, "miss"},
		{"with an escape", object, object, "DELETE", "/v1/responses/resp%5F1", sk, 200, "miss"},
		{"with a slash at its end", object, object, "DELETE", "/v1/responses/resp_1/", sk, 200, "miss"},
		{"by the id of a replay, with a slash", object, object, "DELETE", "/v1/responses/REPLAY/", sk, 404, "miss"},
		{"a part of it", object, object, "DELETE", "/v1/responses/resp_1/parts", sk, 200, "exact"},
		{"another id", object, object, "DELETE", "/v1/responses/resp_2", sk, 200, "exact"},
		{"another client", object, object, "DELETE", "/v1/responses/resp_1", "Bearer sk-other", 200, "exact"},
		{"read", object, object, "GET", "/v1/responses/resp_1", sk, 200, "exact"},
		{"cancelled", object, object, "POST", "/v1/responses/resp_1/cancel", sk, 200, "exact"},
		{"another endpoint", object, object, "DELETE", "/v1/files/resp_1", sk, 200, "exact"},
	} {
		for _, life := range []string{"one process", "after a restart"} {
			file := filepath.Join(t.TempDir(), "reprise.db")
			var asked []string
			begin := func() *rig {
				return newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
					asked = append(asked, in.Method+" "+in.URL.Path)
					body, _ := io.ReadAll(in.Body)
					w.Header().Set("Content-Type", "application/json")
					switch {
					case in.Method != "POST" || in.URL.Path != path:
						w.WriteHeader(c.status)
					case strings.Contains(string(body), `"stream":true`):
						w.Header().Set("Content-Type", "text/event-stream")
						fmt.Fprintf(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":%s}\n\n", whoAnswers[path])
					default:
						io.WriteString(w, whoAnswers[path])
					}
				}), func(o *Options) { o.Store = fileStore(t, file, 100) })
			}
			r := begin()
			if got := r.ask(t, path, c.first); got.cache() != "miss" {
				t.Fatalf("%s: %s", c.name, status(got))
			}
			replay := r.ask(t, path, c.first)
			id := regexp.MustCompile(`resp_rp\w+`).FindString(replay.body)
			if replay.cache() != "exact" || id == "" {
				t.Fatalf("%s: %s", c.name, status(replay))
			}
			if life == "after a restart" {
				r.api.Close()
				if err := r.store.Close(); err != nil {
					t.Fatal(err)
				}
				r = begin()
			}
			in, _ := http.NewRequest(c.method, r.api.URL+strings.ReplaceAll(c.path, "REPLAY", id), nil)
			in.Header.Set("Authorization", c.auth)
			resp, err := r.api.Client().Do(in)
			if err != nil || resp.StatusCode != c.status {
				t.Fatalf("%s: %v %v", c.name, resp, err)
			}
			resp.Body.Close()
			if last := asked[len(asked)-1]; !strings.HasPrefix(last, c.method) || strings.Contains(last, "_rp") {
				t.Errorf("%s: the upstream got %s", c.name, last)
			}
			if got := r.ask(t, path, c.after); got.cache() != c.want {
				t.Errorf("%s, %s: %s, want %s", c.name, life, status(got), c.want)
			}
			r.store.Close()
		}
	}
}

// TestDeletedBeforeKept: a client knows the id of its answer from the first event of a stream, and may delete it before it is kept. The answer is
// not served then; the next one, of the same id, is.
func TestDeletedBeforeKept(t *testing.T) {
	const path, stream = "/v1/responses", `{"model":"m","input":"a","stream":true}`
	for _, c := range []struct{ deleted, want string }{{"resp_1", "miss"}, {"resp_2", "exact"}} {
		end := make(chan struct{})
		r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n")
			http.NewResponseController(w).Flush()
			<-end
			fmt.Fprintf(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":%s}\n\n", whoAnswers[path])
		}))
		in, _ := http.NewRequest("POST", r.api.URL+path, strings.NewReader(stream))
		in.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}}
		resp, err := r.api.Client().Do(in)
		if err != nil {
			t.Fatal(err)
		}
		read := bufio.NewReader(resp.Body)
		if line, err := read.ReadString('\n'); err != nil || !strings.Contains(line, "response.created") {
			t.Fatal(line, err)
		}
		in, _ = http.NewRequest("DELETE", r.api.URL+path+"/"+c.deleted, nil)
		in.Header.Set("Authorization", "Bearer sk-test")
		deletion, err := r.api.Client().Do(in)
		if err != nil {
			t.Fatal(err)
		}
		deletion.Body.Close()
		close(end)
		io.Copy(io.Discard, read)
		resp.Body.Close()
		if got := r.ask(t, path, stream); got.cache() != c.want {
			t.Errorf("%s deleted: %s, want %s", c.deleted, status(got), c.want)
		}
		if got := r.ask(t, path, stream); got.cache() != "exact" { // the new answer is kept
			t.Errorf("%s deleted, and asked again: %s", c.deleted, status(got))
		}
	}
}
