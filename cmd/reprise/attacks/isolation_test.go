package attacks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reprise/internal/built"
	"strings"
	"sync"
	"testing"
)

// TestOtherCredentialGetsNoAnswer: a client whose credential is in any header that is forwarded gets no answer of another one.
// Line 1 of the list in SECURITY.md.
func TestOtherCredentialGetsNoAnswer(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	names := strings.Fields(`x-goog-api-key Ocp-Apim-Subscription-Key x-litellm-api-key x-portkey-virtual-key x-portkey-config
		x-portkey-provider x-portkey-api-key cf-aig-authorization Helicone-Auth Helicone-User-Id Cookie X-Auth-Token X-Forwarded-User
		X-Forwarded-Email X-Amzn-Oidc-Data X-Amzn-Oidc-Identity X-Auth-Request-Email X-MS-CLIENT-PRINCIPAL X-Goog-IAP-JWT-Assertion
		Cf-Access-Jwt-Assertion Remote-User X-Acme-Token X-Unheard-Of X-Tenant-Id anthropic-beta anthropic-version
		OpenAI-Organization Authorization Api-Key X-Api-Key`)
	for _, name := range names {
		question := "What does " + name + " protect?"
		p.ask(question, name, "user=alice")
		if p.ask(question, name, "user=bob").Cache() != "miss" {
			t.Errorf("%s: one client got the answer of another", name)
		}
		if again := p.ask(question, name, "user=alice"); again.Cache() != "exact" {
			t.Errorf("%s: the same client again: %s", name, again.Cache())
		}
	}
}

// TestEndUsersApart: where a vendor documents that a field of the body only says who asks, users of one credential share answers, and do not
// where the operator says so. Line 1 of the list in SECURITY.md.
func TestEndUsersApart(t *testing.T) {
	t.Parallel()
	body := `{"model":"m","user":%q,"safety_identifier":%q,"messages":[{"role":"user","content":"What is a cache?"}]}`
	for _, c := range []struct{ dialect, fields, want string }{{"openai", "", "exact"}, {"openai", "none", "miss"}, {"openai", "none,x_trace", "miss"}, {"openai", "x_trace", "exact"}, {"vllm", "", "miss"}} {
		env := []string{strings.Replace(upstream(t, echo()), "=", "=a=", 1) + ";dialect=" + c.dialect}
		if c.fields != "" {
			env = append(env, "REPRISE_IGNORE_FIELDS="+c.fields)
		}
		p := start(t, env...)
		for i, user := range []string{"alice", "bob"} {
			got := p.Do(http.MethodPost, p.API+"/v1/chat/completions", fmt.Sprintf(body, user, user), "Authorization", "Bearer sk")
			if got.Status != http.StatusOK || i == 1 && got.Header.Get("X-Cache") != c.want {
				t.Errorf("%+v: %d %s", c, got.Status, got.Header.Get("Cache-Status"))
			}
		}
	}
}

// TestTracedClientStillHits: what differs in every request of one client costs no hit. Line 1 of the list in SECURITY.md.
func TestTracedClientStillHits(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	p.ask("Is this traced?", "Authorization", "Bearer a")
	for i, name := range strings.Fields(`traceparent tracestate baggage b3 x-b3-traceid x-datadog-trace-id sentry-trace uber-trace-id
		x-cloud-trace-context x-amzn-trace-id x-request-id x-correlation-id x-client-request-id x-ot-span-context elastic-apm-traceparent
		x-stainless-retry-count x-stainless-os User-Agent Accept Idempotency-Key X-Real-IP X-Forwarded-For X-Forwarded-Host Forwarded Via
		Referer CF-Ray x-envoy-attempt-count X-MS-Client-Request-Id
		X-Forwarded-Server X-AppGW-Trace-Id X-Varnish X-LiteLLM-Call-Id Rndr-Id Connect-Time`) {
		if r := p.ask("Is this traced?", "Authorization", "Bearer a", name, fmt.Sprint(i)); r.Cache() != "exact" {
			t.Errorf("%s prevents a hit: %s", name, r.Cache())
		}
	}
}

// TestClientsWithoutTenantHeaderShareNothing: where a header names the tenant, two clients without it share nothing. Line 1 of the
// list in SECURITY.md.
func TestClientsWithoutTenantHeaderShareNothing(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()), "REPRISE_TENANT_FROM=header:X-Team")
	for _, team := range [][]string{nil, {"X-Team", ""}} {
		question := fmt.Sprintf("Which team is %q?", team)
		p.ask(question, append(team, "Authorization", "Bearer a")...)
		if p.ask(question, append(team, "Authorization", "Bearer b")...).Cache() != "miss" {
			t.Errorf("header %q: two clients share an answer", team)
		}
	}
	a, b := p.ask("Which team am I?", "X-Team", "red", "Authorization", "Bearer a"), p.ask("Which team am I?", "X-Team", "red", "Authorization", "Bearer b")
	if a.Cache() != "miss" || b.Cache() != "exact" {
		t.Errorf("one team: %s, %s", a.Cache(), b.Cache())
	}
}

// TestStartSaysWhoShares: an operator who makes clients share a cache reads at the start what a revoked key still gets. Line 1 of
// the list in SECURITY.md.
func TestStartSaysWhoShares(t *testing.T) {
	t.Parallel()
	setting := upstream(t, echo())
	for from, says := range map[string]bool{"none": true, "header:X-Team": true, "authorization": false} {
		p := start(t, setting, "REPRISE_TENANT_FROM="+from)
		if got := strings.Contains(p.Logs(), "revoked"); got != says {
			t.Errorf("%s: the log says what a revoked key gets: %v\n%s", from, got, p.Logs())
		}
	}
}

// TestFollowerGetsNoHeaderOfTheLeader: of an answer that two clients share, only the one whose request went upstream gets the fields
// that are about it. Line 1 of the list in SECURITY.md.
func TestFollowerGetsNoHeaderOfTheLeader(t *testing.T) {
	t.Parallel()
	release := make(chan bool)
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, name := range []string{"Set-Cookie", "OpenAI-Organization", "X-Ratelimit-Remaining-Tokens", "CF-Ray", "X-Request-Id", "X-Portkey-Trace-Id"} {
			w.Header().Set(name, "leader")
		}
		io.WriteString(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`+"\n\n")
		http.NewResponseController(w).Flush()
		<-release
	}), "REPRISE_TENANT_FROM=none")
	defer close(release)
	for _, want := range []string{"miss", "shared"} {
		req, _ := http.NewRequest(http.MethodPost, p.API+"/v1/chat/completions", strings.NewReader(strings.Replace(chat("Who gets what?"), "{", `{"stream":true,`, 1)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+want)
		resp, err := built.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var leaders []string
		for name, values := range resp.Header {
			if strings.Contains(strings.Join(values, ","), "leader") {
				leaders = append(leaders, name)
			}
		}
		if got := resp.Header.Get("X-Cache"); got != want || (len(leaders) == 0) != (want == "shared") {
			t.Errorf("X-Cache %s, want %s, with %v of the leader", got, want, leaders)
		}
	}
}

// TestUpstreamSeesNoCredentialOfClients: with a key of the operator's none of the client's credentials goes upstream, from a header
// or the query, on the cached path or past it. Line 2 of the list in SECURITY.md.
func TestUpstreamSeesNoCredentialOfClients(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, fmt.Sprint(r.URL.RequestURI(), r.Header))
		mu.Unlock()
		echo()(w, r)
	}), "REPRISE_UPSTREAM_KEY=sk-operator")
	headers := []string{"Cookie", "session=canary", "x-goog-api-key", "canary", "X-Auth-Token", "canary", "Ocp-Apim-Subscription-Key", "canary",
		"X-Forwarded-Access-Token", "canary", "X-Acme-Secret", "canary", "X-Api-Key", "canary", "OpenAI-Beta", "kept"}
	const query = "?api-version=1&api-key=canary&key=canary&access_token=canary&token=canary&api_key=canary&a=1"
	p.Do(http.MethodPost, p.API+"/v1/chat/completions"+query, chat("Who asks?"), headers...)
	p.Do(http.MethodGet, p.API+"/v1/models"+query, "", headers...)
	if len(seen) != 2 {
		t.Fatalf("%d requests came upstream", len(seen))
	}
	for _, what := range seen {
		if strings.Contains(what, "canary") || !strings.Contains(what, "sk-operator") || !strings.Contains(what, "kept") || !strings.Contains(what, "?api-version=1&a=1") {
			t.Errorf("the upstream saw %s", what)
		}
	}
}

// TestExplainIsOfTheClient: with the admin token in Authorization the admin can look into the tenant of a client. Line 8 of the list
// in SECURITY.md.
func TestExplainIsOfTheClient(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()), "REPRISE_ADMIN_TOKEN=admin-token-0123456789")
	p.ask("What would happen?", "Authorization", "Bearer client")
	var list struct {
		Entries []struct{ Tenant string }
	}
	if err := json.Unmarshal([]byte(p.Do(http.MethodGet, p.Admin+"/admin/entries", "", "Authorization", "Bearer admin-token-0123456789").Body), &list); err != nil || len(list.Entries) != 1 {
		t.Fatalf("%v: %+v", err, list)
	}
	explain := func(query string, header ...string) (x struct{ Result, Tenant, Note string }) {
		r := p.Do(http.MethodPost, p.API+"/v1/reprise/explain"+query, chat("What would happen?"), header...)
		if err := json.Unmarshal([]byte(r.Body), &x); err != nil {
			t.Errorf("%v: %s", err, r.Body)
		}
		return x
	}
	const admin = "Bearer admin-token-0123456789"
	tenant := list.Entries[0].Tenant
	if x := explain("?tenant="+tenant, "Authorization", admin); x.Result != "exact" || x.Tenant != tenant || x.Note != "" {
		t.Errorf("with the tenant named: %+v", x)
	}
	if x := explain("", "Authorization", "Bearer client", "X-Reprise-Admin-Token", "admin-token-0123456789"); x.Result != "exact" || x.Tenant != tenant {
		t.Errorf("with the client's own credential: %+v", x)
	}
	if x := explain("", "Authorization", admin); x.Result != "miss" || x.Tenant == tenant || !strings.Contains(x.Note, "?tenant=") {
		t.Errorf("without either: %+v", x)
	}
	p.ask("What would happen?") // a client without a credential
	if x := explain("", "Authorization", admin); x.Result != "exact" {
		t.Errorf("the admin's token counts as a credential: %+v", x)
	}
	if r := p.Do(http.MethodPost, p.API+"/v1/reprise/explain?tenant="+tenant, chat("What would happen?"), "Authorization", "Bearer client"); r.Status != http.StatusForbidden {
		t.Errorf("a client names a tenant: %d %s", r.Status, r.Body)
	}
}

// TestExplainNeedsNoClientKey: the admin token is enough where clients need keys. Line 8 of the list in SECURITY.md.
func TestExplainNeedsNoClientKey(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()), "REPRISE_ADMIN_TOKEN=admin-token-0123456789", "REPRISE_UPSTREAM_KEY=sk-operator",
		"REPRISE_CLIENT_KEYS=client-key-0123456789")
	p.ask("What would happen?", "Authorization", "Bearer client-key-0123456789")
	var list struct {
		Entries []struct{ Tenant string }
	}
	const admin = "Bearer admin-token-0123456789"
	if err := json.Unmarshal([]byte(p.Do(http.MethodGet, p.Admin+"/admin/entries", "", "Authorization", admin).Body), &list); err != nil || len(list.Entries) != 1 {
		t.Fatalf("%v: %+v", err, list)
	}
	url := p.API + "/v1/reprise/explain?tenant=" + list.Entries[0].Tenant
	for token, want := range map[string]int{admin: 200, "Bearer client-key-0123456789": 403, "Bearer other": 401} {
		if r := p.Do(http.MethodPost, url, chat("What would happen?"), "Authorization", token); r.Status != want || want == 200 && !strings.Contains(r.Body, `"result": "exact"`) {
			t.Errorf("%s: %d %s", token, r.Status, r.Body)
		}
	}
}

// TestDirectivesInTheBodyStayHere: LiteLLM's cache object is read and does not go to an upstream that refuses it. Line 21 of the list
// in SECURITY.md.
func TestDirectivesInTheBodyStayHere(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"no-`) || strings.Contains(string(body), `"ttl"`) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"Unknown parameter: 'cache'.","type":"invalid_request_error","param":"cache","code":"unknown_parameter"}}`)
			return
		}
		echo()(w, r)
	}))
	for i, c := range []string{`{"ttl":60}`, `{"no-store":true}`, `{"no-cache":true,"no-store":true}`} {
		for path, body := range map[string]string{
			"chat/completions": `{"model":"m","cache":%s,"messages":[{"role":"user","content":"question %d"}]}`,
			"completions":      `{"model":"m","prompt":"question %d","cache":%s}`,
			"embeddings":       `{"model":"m","cache":%s,"input":"question %d"}`,
			"responses":        `{"model":"m","cache":%s,"input":"question %d","store":true}`,
		} {
			args := []any{c, i}
			if path == "completions" {
				args = []any{i, c}
			}
			if r := p.Do(http.MethodPost, p.API+"/v1/"+path, fmt.Sprintf(body, args...)); r.Status != http.StatusOK {
				t.Errorf("%s with cache %s: %d %s", path, c, r.Status, r.Body)
			}
		}
	}
}
