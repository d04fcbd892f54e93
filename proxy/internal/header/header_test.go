package header

import (
	"net/http"
	"reflect"
	"testing"
)

func TestOf(t *testing.T) {
	for class, names := range map[Class][]string{
		Scope: {"X-Anything", "Openai-Organization", "Openai-Beta", "Anthropic-Beta", "Anthropic-Version", "X-Portkey-Config", "X-Portkey-Provider",
			"X-Goog-User-Project", "X-Session-Id", "Session_id", "X-Opencode-Session", "X-User-Id", "X-Bf-Cache-Key", "Cf-Aig-Cache-Key",
			"Helicone-Cache-Seed", "X-Portkey-Cache-Namespace", "Origin", "Accept-Language", "Content-Type", "X-Envoy-Original-Path", "X-Authority",
			"X-Tokens", "X-Keyboard", "", "-", "X-Stainless"},
		Harmless: {"User-Agent", "Accept", "Traceparent", "Tracestate", "Baggage", "B3", "X-B3-Traceid", "X-Datadog-Trace-Id", "Sentry-Trace",
			"Uber-Trace-Id", "X-Cloud-Trace-Context", "X-Amzn-Trace-Id", "X-Request-Id", "X-Client-Request-Id", "Elastic-Apm-Traceparent",
			"X-Stainless-Lang", "X-Stainless-Retry-Count", "X-Stainless-Read-Timeout", "X-Stainless-Anything-New", "Idempotency-Key", "Cf-Ray",
			"X-Real-Ip", "Anthropic-Dangerous-Direct-Browser-Access", "Sec-Fetch-Mode", "Sec-Ch-Ua-Platform", "Cache-Control", "X-Bf-Cache-Ttl", "X-Ms-Client-Request-Id", "X-Vsr-Cache-Control"},
		Credential: {"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "X-Litellm-Api-Key", "X-Portkey-Api-Key",
			"Cf-Aig-Authorization", "Helicone-Auth", "Helicone-User-Id", "Cookie", "X-Auth-Token", "X-Forwarded-User",
			"X-Forwarded-Email", "X-Amzn-Oidc-Data", "X-Auth-Request-User", "X-Ms-Client-Principal", "X-Ms-Client-Principal-Id",
			"X-Goog-Iap-Jwt-Assertion", "Proxy-Authorization", "X-Forwarded-Client-Cert", "Cf-Access-Jwt-Assertion"},
		// A virtual key also chooses the provider: where tenants are not separated by credentials it counts in the scope.
		Secret: {"X-Portkey-Virtual-Key", "X-Acme-Token", "Acme-Secret", "X_api_key", "Private-Token", "X-Upstream-Password", "Session-Cookie", "Key", "Token", "X-Vercel-Oidc-Token"},
		Local: {"Connection", "Te", "Transfer-Encoding", "Upgrade", "Http2-Settings", "Accept-Encoding", "Content-Length", "Expect", "X-Forwarded-For",
			"X-Forwarded-Host", "Forwarded", "X-Reprise-Mode", "X-Reprise-Admin-Token"},
	} {
		for _, name := range names {
			if got := Of(name); got != class {
				t.Errorf("%s: class %d, want %d", name, got, class)
			}
		}
	}
}

// TestListsAreCanonical: a name in another form than that of net/http would never be found.
func TestListsAreCanonical(t *testing.T) {
	for name := range known {
		if name != http.CanonicalHeaderKey(name) {
			t.Error(name)
		}
	}
	for _, p := range prefixes {
		if p.of != http.CanonicalHeaderKey(p.of) {
			t.Error(p.of)
		}
	}
}

// TestHarmlessNamesAreNotSecret: a name that looks like a credential is harmless only where that was considered.
func TestHarmlessNamesAreNotSecret(t *testing.T) {
	considered := map[string]bool{"Idempotency-Key": true, "X-Idempotency-Key": true, "Sec-Websocket-Key": true}
	for name, class := range known {
		if class == Harmless && namesSecret(name) && !considered[name] {
			t.Error(name)
		}
	}
}

func TestPart(t *testing.T) {
	const xfcc = "X-Forwarded-Client-Cert"
	for _, c := range []struct {
		name, value, part string
		counts            bool
	}{
		{"X-Any", "", "", true}, {"X-Any", "a", "a", true},
		{"Authorization", "", "", false}, {"Authorization", "Bearer a", "Bearer a", true},
		{"Content-Type", "application/json", "", false}, {"Content-Type", `Application/JSON ; Charset="UTF-8"`, "", false},
		{"Content-Type", "application/json; charset=latin1", "application/json; charset=latin1", true},
		{"Content-Type", "application/json; charset=utf-8; v=2", "application/json; charset=utf-8; v=2", true},
		{"Content-Type", "application/vnd.acme+json", "application/vnd.acme+json", true},
		{"Accept-Language", "*", "", false}, {"Accept-Language", "de", "de", true},
		{"Cookie", "AWSALB=1; AWSALBCORS=2;__cf_bm=x", "", false}, {"Cookie", "", "", false},
		{"Cookie", "__cf_bm=x; session=a ; _cfuvid=y", "session=a", true}, {"Cookie", "session=a; b=c", "session=a; b=c", true},
		{"Cookie", `a="x; AWSALB=1"`, `a="x; AWSALB=1"`, true}, {"Cookie", "xAWSALB=1", "xAWSALB=1", true}, {"Cookie", "AWSALB=1, session=a", "AWSALB=1, session=a", true},
		{xfcc, `By=spiffe://c/ns/a;Hash=00ff;Subject="";URI=spiffe://c/ns/b`, `By=spiffe://c/ns/a;Subject="";URI=spiffe://c/ns/b`, true},
		{xfcc, "Hash=00ff", "Hash=00ff", true}, {xfcc, `Hash=00ff;URI=""`, `Hash=00ff;URI=""`, true},
		{xfcc, `Hash=1;URI=a,Hash=2;Subject="CN=x,URI=y;z"`, `URI=a,Hash=2;Subject="CN=x,URI=y;z"`, true},
		{xfcc, `Subject="a\";Hash=1";URI=b`, `Subject="a\";Hash=1";URI=b`, true},
	} {
		if part, counts := Part(c.name, c.value); counts != c.counts || counts && part != c.part {
			t.Errorf("%s: %s: %q, %v, want %q, %v", c.name, c.value, part, counts, c.part, c.counts)
		}
	}
}

func TestWithoutCredentials(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a=1": "a=1", "api-version=2024-10-21": "api-version=2024-10-21", "api-key=s": "", "a=1&api-key=s&b=2": "a=1&b=2", "a=1&API_KEY=s": "a=1",
		"key=s&a": "a", "a;token=s;b": "a;b", "api%2Dkey=s&a=%zz": "a=%zz", "k%65y=s": "", "%zzkey=s": "%zzkey=s", "access_token=s": "", "apikey": "",
		"X-Amz-Signature=s&X-Amz-Credential=c&X-Amz-Date=d": "X-Amz-Date=d", "subscription-key=s": "", "client_secret=s": "",
		"api_key_ids[]=a&page_token=b&pageToken=c&after=d&include[]=key": "api_key_ids[]=a&page_token=b&pageToken=c&after=d&include[]=key",
		"&&": "&&", "a&": "a&", "monkey=1&keys=2": "monkey=1&keys=2",
	} {
		if got := WithoutCredentials(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestKnown(t *testing.T) {
	for name, want := range map[string]bool{"Authorization": true, "X-Acme-Token": true, "Traceparent": true, "X-Reprise-Mode": true, "Content-Type": true,
		"Openai-Beta": true, "Session_id": true, "X-Bf-Cache-Key": true, "X-Anything": false, "Openai-Organization": false, "X-Original-Url": false, "": false} {
		if Known(name) != want {
			t.Errorf("%s: known %v", name, !want)
		}
	}
}

func TestRemoveCredentials(t *testing.T) {
	h := http.Header{"Cookie": {"a=b"}, "X-Goog-Api-Key": {"k"}, "X-My-Token": {"t"}, "X-Other": {"o"}, "Idempotency-Key": {"i"}, "X-User-Id": {"u"},
		"Remote_user": {"u"}, "X_forwarded_access_token": {"t"},
		"X-Datadog-Api-Key": {"k"}, "Sec-Websocket-Key": {"w"}, "Sec-Websocket-Protocol": {"realtime, openai-insecure-api-key.sk-1", "openai-beta.realtime-v1"}}
	RemoveCredentials(h)
	want := http.Header{"X-Other": {"o"}, "Idempotency-Key": {"i"}, "X-User-Id": {"u"}, "Sec-Websocket-Key": {"w"},
		"Sec-Websocket-Protocol": {"realtime", "openai-beta.realtime-v1"}}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%v, want %v", h, want)
	}
}

func TestSameCredentials(t *testing.T) {
	a := http.Header{"Authorization": {"Bearer a"}, "User-Agent": {"x"}}
	for _, c := range []struct {
		b    http.Header
		same bool
	}{
		{http.Header{"Authorization": {"Bearer a"}, "X-Other": {"y"}}, true}, {http.Header{}, false},
		{http.Header{"Authorization": {"Bearer a"}, "Cookie": {"s=1"}}, false}, {http.Header{"Authorization": {"Bearer a", ""}}, false},
		{http.Header{"Authorization": {"Bearer a"}, "X-My-Token": {"s"}}, false},
	} {
		if SameCredentials(a, c.b) != c.same || SameCredentials(c.b, a) != c.same {
			t.Errorf("%v and %v: want %v", a, c.b, c.same)
		}
	}
}

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{"X-A_b.1": true, "": false, "a b": false, "a:": false, "ä": false, "a\n": false} {
		if IsName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// FuzzPart: no value of any field causes a panic, and what counts is never longer than what came.
func FuzzPart(f *testing.F) {
	for _, v := range []string{`a="b\`, ";;,", "Hash=;URI=x", "AWSALB", `application/json;charset="`} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, name := range []string{"Cookie", "X-Forwarded-Client-Cert", "Content-Type", "Accept-Language"} {
			if part, counts := Part(name, v); counts && len(part) > len(v)+len(v) {
				t.Errorf("%s: %q became %q", name, v, part)
			}
		}
		WithoutCredentials(v)
	})
}
