package proxy

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	apis "reprise/proxy/api/registry"
	"reprise/proxy/canon"
	"reprise/proxy/internal/header"
	"reprise/proxy/upstream"
)

// fieldNames are names that clients, gateways and meshes send, and some that no list contains.
var fieldNames = strings.Fields(`
	Authorization Api-Key X-Api-Key X-Goog-Api-Key Ocp-Apim-Subscription-Key X-Litellm-Api-Key X-Portkey-Api-Key X-Portkey-Virtual-Key
	X-Portkey-Config X-Portkey-Provider X-Portkey-Metadata Cf-Aig-Authorization Cf-Aig-Metadata Helicone-Auth Helicone-User-Id
	Helicone-Property-App Cookie X-Auth-Token X-Access-Token X-Forwarded-User X-Forwarded-Email X-Forwarded-Groups X-Amzn-Oidc-Data
	X-Amzn-Oidc-Identity X-Auth-Request-User X-Auth-Request-Email X-Ms-Client-Principal X-Ms-Client-Principal-Name X-Goog-Iap-Jwt-Assertion
	X-Goog-Authenticated-User-Email Remote-User Cf-Access-Jwt-Assertion X-Bf-Vk X-Acme-Token Acme-Secret X_api_key Private-Token Key
	Openai-Organization Openai-Project Openai-Beta Anthropic-Beta Anthropic-Version X-Goog-User-Project X-Session-Id Session-Id Thread-Id
	X-User-Id X-Tenant-Id X-Org X-Model X-Route Origin If-None-Match Range Prefer Content-Language Accept-Language X-Bf-Cache-Key
	X-Openwebui-User-Email X-Envoy-Original-Path X-Forwarded-Prefix X-Original-Uri X-Ms-Region X-Litellm-Tags X-Title Version Originator
	User-Agent Accept Traceparent Tracestate Baggage B3 X-B3-Traceid X-Datadog-Trace-Id Sentry-Trace Uber-Trace-Id X-Cloud-Trace-Context
	X-Amzn-Trace-Id X-Request-Id X-Correlation-Id X-Client-Request-Id Elastic-Apm-Traceparent X-Stainless-Lang X-Stainless-Retry-Count
	X-Stainless-Timeout Idempotency-Key X-Real-Ip Cf-Ray Cdn-Loop Via Referer Dnt Priority Pragma Sec-Fetch-Mode X-Ms-Client-Request-Id
	X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto Forwarded Accept-Encoding Te Proxy-Authorization`)

// someField is a field that two requests may differ in: of a name that is in use, or of one that was invented.
func someField(rng *rand.Rand) (name, value string) {
	name = fieldNames[rng.IntN(len(fieldNames))]
	if rng.IntN(4) == 0 {
		words := strings.Fields("X Acme Tenant Team Region Model Trace Request Id Version Context Token Key Span User Agent Cache Route Stainless Forwarded")
		var parts []string
		for range 1 + rng.IntN(3) {
			parts = append(parts, words[rng.IntN(len(words))])
		}
		name = strings.Join(parts, "-")
	}
	return name, fmt.Sprintf("v%d", rng.IntN(1000))
}

// TestEveryFieldCountsUnlessItIsHarmless: of two requests that differ in one field the second gets the answer of the first only
// if the field is on the list of harmless ones, or does not reach the upstream at all.
func TestEveryFieldCountsUnlessItIsHarmless(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		for name := range q.Header {
			seen[name] = true
		}
		mu.Unlock()
		instantUpstream(w, q)
	}), func(o *Options) { o.Mode = ModeExact })
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 300 {
		name, value := someField(rng)
		if i < len(fieldNames) {
			name = fieldNames[i]
		}
		body := chat(fmt.Sprintf("Question %d of the pool", i))
		r.ask(t, "/v1/chat/completions", body)
		clear(seen)
		got := r.ask(t, "/v1/chat/completions", body, name+": "+value)
		class := header.Of(name)
		switch {
		case got.cache() == "exact" && class != header.Harmless && class != header.Local:
			t.Errorf("seed %d: requests with and without %s share an answer", seed, name)
		case got.cache() != "exact" && (class == header.Harmless || class == header.Local):
			t.Errorf("seed %d: %s prevents a hit: %s", seed, name, got.cache())
		}
		r.ask(t, "/v1/chat/completions", body, name+": "+value, "Cache-Control: no-cache") // shows what is sent
		if class == header.Local && name != "Accept-Encoding" && seen[name] {
			t.Errorf("seed %d: %s is no part of the key and was sent", seed, name)
		}
	}
}

// ids makes an identifier.
func ids(from TenantSource, ignore ...string) *identifier {
	o := Options{TenantFrom: from, IgnoreHeaders: ignore}
	i := newIdentifier(&o, func() [32]byte { return [32]byte{1} })
	return &i
}

// keyOf is the key of one fixed body with a header.
func keyOf(t *testing.T, i *identifier, h http.Header) canon.Hash {
	t.Helper()
	r := &http.Request{Header: h, URL: &url.URL{Path: "/v1/chat/completions"}}
	q, err := (Options{}).withDefaults().APIs.ByPath(r.URL.Path).Parse([]byte(chat(capital)), identityOf(i, r, &Directives{}))
	if err != nil {
		t.Fatal(err)
	}
	return q.Key
}

// TestKeysOfFields is the same for sets of fields, in every mode: the keys of two headers are equal exactly if what counts of them
// is equal.
func TestKeysOfFields(t *testing.T) {
	for _, from := range []TenantSource{"authorization", "none", "header:X-Team"} {
		i := ids(from, "X-Ignored")
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 0))
		byKey := map[canon.Hash]string{}
		for range 4000 {
			h := http.Header{}
			for range rng.IntN(5) {
				name, _ := someField(rng)
				h.Add(name, strings.Repeat("ab", rng.IntN(3)))
			}
			for _, name := range []string{"X-Team", "X-Ignored"} {
				if rng.IntN(3) == 0 {
					h.Add(name, []string{"", "red", "blue"}[rng.IntN(3)])
				}
			}
			want := whatCounts(h, from)
			key := keyOf(t, i, h)
			if other, ok := byKey[key]; ok && other != want {
				t.Fatalf("%s, seed %d: one key for\n%s and\n%s", from, seed, other, want)
			}
			byKey[key] = want
		}
		keys := map[string]bool{}
		for _, what := range byKey {
			if keys[what] {
				t.Errorf("%s, seed %d: two keys for %s", from, seed, what)
			}
			keys[what] = true
		}
		if len(byKey) < 100 {
			t.Errorf("%s: only %d keys", from, len(byKey))
		}
	}
}

// whatCounts is the part of a header that the rules make part of a key, in words.
func whatCounts(h http.Header, from TenantSource) string {
	var all []string
	team := from == "header:X-Team" && strings.Join(h["X-Team"], "") != ""
	for name, values := range h {
		class := header.Of(name)
		switch {
		case name == "X-Ignored" || class == header.Harmless || class == header.Local:
		case class == header.Credential && (team || from == "none"):
		default:
			given := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" && class != header.Scope })
			if len(given) > 0 {
				all = append(all, fmt.Sprintf("%s=%q", name, given)) // in the order of the values, which the upstream sees
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestTenantsOfFields: tenants are equal only where they are named in the same way.
func TestTenantsOfFields(t *testing.T) {
	headers := []http.Header{
		{}, {"Authorization": {"a"}}, {"Authorization": {"b"}}, {"Authorization": {"a", "b"}}, {"Authorization": {"b", "a"}}, {"Authorization": {"ab"}},
		{"Api-Key": {"a"}}, {"X-Api-Key": {"a"}}, {"Authorization": {"a"}, "Api-Key": {"b", "c"}}, {"Authorization": {"a", "b"}, "Api-Key": {"c"}},
		{"Cookie": {"a"}}, {"X-Acme-Token": {"a"}}, {"X-Team": {"a"}, "Authorization": {"a"}}, {"X-Team": {"a", "b"}}, {"X-Team": {"ab"}},
	}
	for _, from := range []TenantSource{"authorization", "header:X-Team"} {
		seen := map[string]int{}
		for n, h := range headers {
			tenant := ids(from).tenant(h)
			other, ok := seen[tenant]
			if same := ok && from == "authorization" && (n == 12 && other == 1 || n > 12 && other == 0); ok && !same {
				t.Errorf("%s: one tenant for %v and %v", from, headers[other], h)
			}
			if !ok {
				seen[tenant] = n
			}
			if !isTenant(tenant) {
				t.Errorf("tenant %q", tenant)
			}
		}
	}
	i := ids("header:X-Team")
	for _, empty := range []http.Header{{"Authorization": {"a"}, "X-Team": {""}}, {"Authorization": {"a"}, "X-Team": {"", ""}}} {
		if i.tenant(empty) != ids("authorization").tenant(empty) {
			t.Errorf("%v: an empty name of a tenant is no name", empty)
		}
	}
	i = ids("header:Cookie")
	a, b := http.Header{"Authorization": {"a"}, "Cookie": {"AWSALB=1"}}, http.Header{"Authorization": {"b"}, "Cookie": {"AWSALB=2"}}
	if i.tenant(a) == i.tenant(b) {
		t.Error("a cookie of a load balancer names a tenant")
	}
	if ids("none").tenant(headers[1]) != sharedTenant {
		t.Error("none names tenants")
	}
}

// TestRealClientsShare: what libraries, browsers and meshes add to each request, or change with each, costs no hit.
func TestRealClientsShare(t *testing.T) {
	r := newRig(t)
	body := chat(capital)
	r.ask(t, "/v1/chat/completions", body)
	for name, lines := range map[string]string{
		"openai-python": "Accept: application/json|User-Agent: OpenAI/Python 2.3.0|X-Stainless-Lang: python|X-Stainless-Package-Version: 2.3.0|" +
			"X-Stainless-OS: Linux|X-Stainless-Arch: x64|X-Stainless-Runtime: CPython|X-Stainless-Runtime-Version: 3.12|X-Stainless-Async: false|" +
			"x-stainless-retry-count: 1|x-stainless-read-timeout: 600|X-Stainless-Raw-Response: true",
		"openai-node": "Accept: application/json|User-Agent: OpenAI/JS 6.1.0|X-Stainless-Lang: js|X-Stainless-Retry-Count: 2|X-Stainless-Timeout: 600|" +
			"accept-language: *|sec-fetch-mode: cors",
		"go-openai":    "Accept: application/json; charset=utf-8|Content-Type: application/json; charset=utf-8",
		"stream":       "Accept: text/event-stream|Cache-Control: no-cache|Connection: keep-alive",
		"axios":        "Accept: application/json, text/plain, */*|User-Agent: axios/1.7",
		"azure":        "x-ms-client-request-id: 1|x-ms-return-client-request-id: true|traceparent: 00-1-2-01",
		"browser":      "Sec-Fetch-Site: same-site|Sec-Ch-Ua: x|Sec-Ch-Ua-Mobile: ?0|DNT: 1|Priority: u=1, i|Referer: http://a/b",
		"istio":        "X-Request-Id: 7|X-Envoy-Attempt-Count: 1|X-Envoy-Peer-Metadata: x|X-Envoy-Decorator-Operation: y|x-b3-traceid: 1|x-b3-sampled: 1",
		"nginx":        "X-Real-IP: 10.0.0.1|X-Forwarded-For: 10.0.0.1|X-Forwarded-Proto: https|X-Forwarded-Port: 443|X-Forwarded-Host: a.example|X-Scheme: https",
		"cloudflare":   "CF-Ray: 1|CF-Connecting-IP: 1.1.1.1|CF-Visitor: {}|CDN-Loop: cloudflare|Cookie: __cf_bm=1; _cfuvid=2",
		"aws balancer": "X-Amzn-Trace-Id: Root=1|Cookie: AWSALB=1; AWSALBCORS=1",
		"langsmith":    "langsmith-trace: 1|baggage: a=b",
		"h2c":          "Connection: HTTP2-Settings|HTTP2-Settings: AAM|X-None-Of-Ours: ",
	} {
		want := "exact"
		if name == "h2c" {
			want = "miss" // for the last field
		}
		if got := r.ask(t, "/v1/chat/completions", body, strings.Split(lines, "|")...); got.cache() != want {
			t.Errorf("%s: %s, want %s", name, got.cache(), want)
		}
	}
}

// TestIgnoredHeaders: the operator can name headers that cannot change an answer; credentials are refused.
func TestIgnoredHeaders(t *testing.T) {
	r := newRig(t, func(o *Options) { o.IgnoreHeaders = []string{"x-run-id", "Session_id"} })
	r.ask(t, "/v1/chat/completions", chat(capital), "X-Run-Id: 1")
	if got := r.ask(t, "/v1/chat/completions", chat(capital), "X-Run-Id: 2", "session_id: 7"); got.cache() != "exact" {
		t.Errorf("ignored: %s", got.cache())
	}
	for name, want := range map[string]string{
		"cookie":       "the header Cookie may hold a credential: it counts in every request, and goes to no upstream for which there is another",
		"X-Acme-Token": "the header X-Acme-Token may hold a credential: it counts in every request, and goes to no upstream for which there is another",
		"a b":          `"a b" is not the name of a header`,
	} {
		o := r.opts
		o.IgnoreHeaders = []string{name}
		if err := o.Validate(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// whoAnswers are answers of a vendor by the path of the request.
var whoAnswers = map[string]string{
	"/v1/chat/completions": `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Paris."}}]}`,
	"/v1/embeddings":       `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,1]}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`,
	"/v1/messages":         `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
	"/v1/responses": `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","user":"ann-1","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant",` +
		`"content":[{"type":"output_text","text":"Hi.","annotations":[]}]}]}`,
}

// TestWhoAsks: fields that only attribute a request to a user are no part of the key where every upstream documents that, unless the operator
// says that they count. Answers of the Responses API repeat them, so they count there. Each client's own bytes go upstream.
func TestWhoAsks(t *testing.T) {
	for _, c := range []struct {
		dialect, path, body string
		ignore              string // of the operator
		want                string
	}{
		{"openai", "/v1/chat/completions", chat(capital, `"user":"%s"`), "", "exact"},
		{"openai", "/v1/chat/completions", chat(capital, `"safety_identifier":"%s"`), "", "exact"},
		{"azure-openai", "/v1/embeddings", `{"model":"m","input":"a","user":"%s"}`, "", "exact"},
		{"anthropic", "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"metadata":{"user_id":"%s"}}`, "", "exact"},
		{"openai", "/v1/embeddings", `{"model":"m","input":"a","safety_identifier":"%s"}`, "", "miss"}, // not documented
		{"openai", "/v1/responses", `{"model":"m","input":"a","user":"%s"}`, "", "miss"},
		{"openai", "/v1/responses", `{"model":"m","input":"a","safety_identifier":"%s"}`, "", "miss"},
		{"openai", "/v1/chat/completions", chat(capital, `"user":"%s"`), "none", "miss"},
		{"openai", "/v1/chat/completions", chat(capital, `"user":"%s"`), "metadata", "exact"},
		{"openai", "/v1/chat/completions", chat(capital, `"metadata":{"a":"%s"}`), "", "miss"},
		{"", "/v1/chat/completions", chat(capital, `"user":"%s"`), "", "miss"},
		{"vllm", "/v1/embeddings", `{"model":"m","input":"a","user":"%s"}`, "", "miss"},
	} {
		var sent []string
		r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
			body, _ := io.ReadAll(in.Body)
			sent = append(sent, string(body))
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, whoAnswers[in.URL.Path])
		}), func(o *Options) {
			o.Upstreams[0].Dialect = c.dialect
			if c.ignore != "" {
				o.Ignore, _ = apis.APIs.Ignore([]string{c.ignore}, nil)
			}
		})
		ann, bob := fmt.Sprintf(c.body, "ann-1"), fmt.Sprintf(c.body, "bob-2")
		first, second := r.ask(t, c.path, ann), r.ask(t, c.path, bob)
		if first.status != 200 || first.cache() != "miss" || second.cache() != c.want {
			t.Errorf("%+v: %d %s, %s", c, first.status, first.cache(), status(second))
		}
		if sent[0] != ann || len(sent) > 1 && sent[1] != bob {
			t.Errorf("%+v: sent %q", c, sent)
		}
	}
}

// TestClientOfManyTenants: what one client key asks for, under whatever other credentials, takes no replica from another client: its failures are
// those of one. Where a header of the operator's choice names tenants, that counts.
func TestClientOfManyTenants(t *testing.T) {
	for _, c := range []struct {
		name, from, madeUp string
		stays              bool
	}{
		{"a cookie", "", "Cookie: session=%d", true},
		{"another key", "", "X-Goog-Api-Key: made-up-%d", true},
		{"all clients are one tenant", "none", "Cookie: session=%d", true},
		{"passes by the cache", "", "X-Auth-Token: %d\nX-Reprise-Mode: off", true},
		{"the tenant's header", "header:X-Team", "X-Team: %d", false},
	} {
		var worked sync.Map // hosts
		up := http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
			if body, _ := io.ReadAll(in.Body); strings.Contains(string(body), "poison") {
				w.WriteHeader(500)
			}
			worked.Store(in.Host, true)
			w.Header().Set("Content-Type", "application/json")
			w.Write(upstreamReply)
		})
		other := httptest.NewServer(up)
		t.Cleanup(other.Close)
		base, _ := url.Parse(other.URL + "/v1")
		r := newRigAt(t, nil, up, func(o *Options) {
			o.Upstreams = append(o.Upstreams, upstream.Target{Base: base})
			o.Access.ClientKeys, o.UpstreamKey = []string{"key-of-ann", "key-of-bob"}, "operator"
			if c.from != "" {
				o.TenantFrom = TenantSource(c.from)
			}
		})
		ask := func(key, text string, header ...string) {
			r.ask(t, "/v1/chat/completions", chat(text), append(header, "Authorization: Bearer "+key)...)
		}
		for i := range 20 {
			ask("key-of-ann", fmt.Sprint("question ", i))
		}
		for _, u := range r.Upstreams().Upstreams() {
			if _, ok := worked.Load(u.Target.Base.Host); !ok {
				t.Fatalf("%s: %s has answered nobody", c.name, u.Name)
			}
		}
		for i := range 20 {
			ask("key-of-bob", fmt.Sprint("poison ", i), strings.Split(fmt.Sprintf(c.madeUp, i), "\n")...)
		}
		stays := true
		for _, u := range r.Upstreams().Upstreams() {
			stays = stays && u.Health.Condition != upstream.Ejected && u.Health.Limits == 0
		}
		if stays != c.stays {
			t.Errorf("%s: both upstreams get the requests of all: %v, want %v", c.name, stays, c.stays)
		}
	}
}
