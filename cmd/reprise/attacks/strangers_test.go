package attacks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reprise/internal/built"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEscapesDoNotLeaveTheBaseURL: no spelling of a path reaches the upstream's host beside the base URL with the operator's key. Line 2
// of the list in SECURITY.md.
func TestEscapesDoNotLeaveTheBaseURL(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP)+"/of/a/project", "REPRISE_UPSTREAM_KEY=sk-operator")
	for _, path := range []string{"/%761/models", "/v1%2fmodels", "/%76%31/models/x", "/v%31/responses/resp_1"} {
		p.raw("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n", 1)
		for _, r := range up.take() {
			t.Errorf("%s reached the upstream as %s", path, r.path)
		}
	}
	if r := p.Do("GET", p.API+"/v1/models/a%2fb", ""); r.Status != 200 {
		t.Errorf("an escape in the name of a model: %d", r.Status)
	}
	if got := up.take(); len(got) != 1 || got[0].path != "/v1/of/a/project/models/a%2fb" {
		t.Errorf("the upstream got %v", got)
	}
}

// TestNoHeaderLeadsTheKeyElsewhere: no header of a client changes to which path, by which method or to which server the operator's key
// goes, also where the upstream is a gateway, or reads "_" as "-". Line 2 of the list in SECURITY.md.
func TestNoHeaderLeadsTheKeyElsewhere(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_UPSTREAM_KEY=sk-operator")
	names := strings.Fields(`X-Gateway-Destination-Endpoint X-Invented-Tomorrow OpenAI-Organization
		X-HTTP-Method-Override X_HTTP_Method_Override X_Original_URL X-Original-URI X-Forwarded-Uri X-Portkey-Custom-Host
		x-portkey-config Helicone-Target-Url Helicone-OpenAI-Api-Base Remote_User X_Forwarded_Access_Token`)
	for _, name := range names {
		p.Do("GET", p.API+"/v1/models", "", name, `{"custom_host":"http://elsewhere.example"}`)
		got := up.take()
		if len(got) != 1 || strings.Contains(fmt.Sprint(got[0].header), "elsewhere") {
			t.Errorf("%s reached the upstream: %+v", name, got)
		}
	}
	p.Do("GET", p.API+"/v1/models", "", "OpenAI-Beta", "realtime=v1", "traceparent", "00-1-2-01", "session_id", "s1")
	if got := up.take(); len(got) != 1 || got[0].header.Get("OpenAI-Beta") == "" || got[0].header.Get("Traceparent") == "" || got[0].header.Get("session_id") == "" {
		t.Errorf("known headers: %+v", got)
	}
}

// TestPreflightHasNoKey: who has no client key can send a preflight, but not under the operator's key. Line 2 of the list in SECURITY.md.
func TestPreflightHasNoKey(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_UPSTREAM_KEY=sk-operator", "REPRISE_CLIENT_KEYS=client-key-0123456789", "REPRISE_TRUSTED_HOSTS=app.example")
	for _, body := range []string{"", chat("Who pays?")} {
		r := p.Do("OPTIONS", p.API+"/v1/chat/completions", body, "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
		if got := up.take(); r.Status != 200 || len(got) != 1 || got[0].header.Get("Authorization") != "" {
			t.Errorf("%d, the upstream got %+v", r.Status, got)
		}
	}
}

// TestPagesMayReadHits: a page that may read the upstream's answer may read the stored one too. Line 3 of the list in SECURITY.md.
func TestPagesMayReadHits(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		echo()(w, r)
	}))
	for _, want := range []string{"miss", "exact"} {
		r := p.ask("May a page read this?", "Origin", "https://app.example", "Authorization", "Bearer of-its-user")
		allowed := r.Header.Get("Access-Control-Allow-Origin")
		if r.Cache() != want || !slices.Contains([]string{"*", "https://app.example"}, allowed) {
			t.Errorf("%s, want %s, allowed to %q", r.Cache(), want, allowed)
		}
	}
	p.ask("And no page?")
	if r := p.ask("And no page?"); r.Cache() != "exact" || r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without a page: %s %v", r.Cache(), r.Header)
	}
}

// TestAdminTokenStaysHere: an operator who asks the wrong listener, or mistypes a path, does not send the admin token to the upstream.
// Line 8 of the list in SECURITY.md.
func TestAdminTokenStaysHere(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_ADMIN_TOKEN=admin-token-0123456789")
	for _, line := range []string{"GET /v1/reprise/explain", "POST /v1/reprise/explain/", "POST /v1/reprise%2Fexplain", "GET /admin/entries", "POST /admin/purge",
		"GET /admin/debug/pprof/heap"} {
		method, path, _ := strings.Cut(line, " ")
		r := p.Do(method, p.API+path, "", "Authorization", "Bearer admin-token-0123456789")
		if got := up.take(); r.Status != 404 || len(got) > 0 {
			t.Errorf("%s: %d, the upstream got %+v", line, r.Status, got)
		}
	}
}

// TestNoProfilesOnTheAPI: the listener of the API answers with no profile: not under the paths of the admin API, and not under those that the
// package of the profiles adds to the default mux. They go to the upstream as any other path does.
func TestNoProfilesOnTheAPI(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, path := range []string{"/admin/debug/pprof/", "/admin/debug/pprof/heap", "/debug/pprof/", "/debug/pprof/heap", "/v1/debug/pprof/heap"} {
		if r := p.Do("GET", p.API+path, ""); r.Status != http.StatusTeapot {
			t.Errorf("%s: %d: %.80q", path, r.Status, r.Body)
		}
	}
	for path, want := range map[string]int{"/debug/pprof/": 404, "/debug/pprof/heap": 404, "/admin/debug/pprof/": 200, "/admin/debug/pprof/heap": 200} {
		if r := p.Do("GET", p.Admin+path, ""); r.Status != want {
			t.Errorf("admin, %s: %d, want %d: %.80q", path, r.Status, want, r.Body)
		}
	}
}

// TestPurgeReachesPartsOfANamespace: a purge of a namespace removes what was stored under it and another one together. Line 5 of the list
// in SECURITY.md.
func TestPurgeReachesPartsOfANamespace(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	p.ask("one?", "X-Reprise-Namespace", "red")
	p.ask("two?", "X-Reprise-Namespace", "red", "Helicone-Cache-Seed", "7")
	p.Do("POST", p.API+"/v1/chat/completions", strings.Replace(chat("three?"), "{", `{"cache":{"namespace":"red"},`, 1), "X-Reprise-Namespace", "blue")
	p.ask("four?", "X-Reprise-Namespace", "redder")
	var got struct{ Purged int }
	if r := p.purge(`{"namespace":"red","dry_run":false}`); json.Unmarshal([]byte(r.Body), &got) != nil || got.Purged != 3 {
		t.Errorf("purged %d of 3: %s", got.Purged, r.Body)
	}
	if r := p.ask("two?", "X-Reprise-Namespace", "red", "Helicone-Cache-Seed", "7"); r.Cache() != "miss" {
		t.Errorf("after the purge: %s", r.Cache())
	}
}

// TestFollowerGetsNoErrorAfterComments: where clients share answers, an error of one client's credential is not for another, also where
// the stream begins with comments, or its first event comes in pieces. Line 1 of the list in SECURITY.md.
func TestFollowerGetsNoErrorAfterComments(t *testing.T) {
	t.Parallel()
	const failure = `data: {"error":{"message":"the quota of the leader","code":429}}` + "\n\n"
	for _, begin := range []string{": PROCESSING\n\n", failure[:20]} {
		release := make(chan bool)
		p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			if r.Header.Get("Authorization") != "Bearer leader" {
				io.WriteString(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"fine"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
				return
			}
			io.WriteString(w, begin)
			http.NewResponseController(w).Flush()
			<-release
			io.WriteString(w, strings.TrimPrefix(failure, begin)+"data: [DONE]\n\n")
		}), "REPRISE_TENANT_FROM=none")
		ask := func(who string) (*http.Response, error) {
			req, _ := http.NewRequest(http.MethodPost, p.API+"/v1/chat/completions", strings.NewReader(strings.Replace(chat("Whose error?"), "{", `{"stream":true,`, 1)))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer "+who)
			return built.Client.Do(req)
		}
		leader, err := ask("leader")
		if err != nil {
			t.Fatal(err)
		}
		begun, follower := make(chan bool), make(chan string)
		go func() {
			defer close(follower)
			resp, err := ask("follower")
			close(begun)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			follower <- string(body)
		}()
		select {
		case <-begun:
		case <-time.After(300 * time.Millisecond): // nothing shows that it waits; should it come later, it has a call of its own
		}
		close(release)
		if got := <-follower; strings.Contains(got, "leader") || !strings.Contains(got, "fine") {
			t.Errorf("after %q the follower got %q", begin, got)
		}
		leader.Body.Close()
	}
}
