package header

import (
	"net/http"
	"slices"
	"strings"
)

// known are single names.
var known = func() map[string]Class {
	all := map[string]Class{}
	for class, names := range map[Class]string{Local: local, Harmless: harmless, Credential: credentials, Scope: noSecret} {
		for name := range strings.FieldsSeq(names) {
			all[http.CanonicalHeaderKey(name)] = class
		}
	}
	for name := range shaping { // the usual scope fields would be looked for in everything else
		if _, ok := all[name]; !ok {
			all[name] = Scope
		}
	}
	return all
}()

// connection are the fields of one connection (RFC 9110 §7.6.1). What is forwarded as it is has none of them either.
const connection = `Connection Proxy-Connection Keep-Alive Proxy-Authenticate TE Trailer Transfer-Encoding Upgrade`

// route is the route of the request so far, which any client can invent.
const route = `Forwarded X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto`

// local are the fields of one connection; three that the proxy answers for itself, because it must be able to
// read what it stores, has the body already and sends a body of its own; and the route.
const local = connection + ` HTTP2-Settings Accept-Encoding Content-Length Expect ` + route

// Proxy-Authorization is the credential for a forward proxy, which also ends at the first one.
var (
	ending    = canonical(local + " Proxy-Authorization")
	hopByHop  = canonical(connection + " Proxy-Authorization")
	notPassed = canonical(connection + " Proxy-Authorization " + route)
)

func canonical(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[http.CanonicalHeaderKey(name)] = true
	}
	return set
}

// Pass adds to to the fields of from, the header of a request that is forwarded as it is, except those that end at the proxy. The
// values are not copied.
func Pass(to, from http.Header) {
	for name, values := range from {
		if !notPassed[name] && !strings.HasPrefix(name, ownPrefix) {
			to[name] = values
		}
	}
	removeNamed(to, from["Connection"])
}

// PassBack adds to to the fields of from, the header of an answer that is forwarded as it is, except those of its connection. The values
// are not copied.
func PassBack(to, from http.Header) {
	for name, values := range from {
		switch {
		case hopByHop[name]:
		case to[name] == nil:
			to[name] = values
		default:
			to[name] = append(to[name], values...)
		}
	}
	removeNamed(to, from["Connection"])
}

// removeNamed removes from h the fields that a Connection header names.
func removeNamed(h http.Header, connection []string) {
	for _, line := range connection {
		for name := range strings.SplitSeq(line, ",") {
			delete(h, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
}

// Copy sets in to the fields of from, the header of a request or an answer of which the proxy reads and writes the body, except those
// that end at the proxy; its own stay. The values are not copied, but an append to them does not change from.
func Copy(to, from http.Header) {
	for name, values := range from {
		if !ending[name] {
			to[name] = slices.Clip(values)
		}
	}
}

// RemoveOwn removes the proxy's own fields from h.
func RemoveOwn(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, ownPrefix) {
			delete(h, name)
		}
	}
}

// harmless are fields of which the field's own documentation says what they carry, and that is nothing that an answer depends on.
const harmless = `
	User-Agent Accept Cache-Control Pragma Date DNT Sec-GPC Priority Referer Via
	X-Requested-With Upgrade-Insecure-Requests Anthropic-Dangerous-Direct-Browser-Access
	Sec-WebSocket-Key Sec-WebSocket-Version Sec-WebSocket-Extensions

	X-Forwarded-Port X-Forwarded-Scheme X-Forwarded-Ssl X-Scheme X-Original-Forwarded-For
	X-Real-IP X-Client-IP X-Cluster-Client-IP True-Client-IP CF-Connecting-IP CF-Connecting-IPv6 Fastly-Client-IP Fly-Client-IP
	X-Envoy-External-Address X-Azure-ClientIP X-Azure-SocketIP X-Appengine-User-IP
	CDN-Loop CF-Ray CF-Visitor CF-EW-Via X-Amz-Cf-Id X-Azure-Ref X-Azure-RequestChain X-Vercel-Id Fastly-FF

	traceparent tracestate baggage b3 sentry-trace uber-trace-id elastic-apm-traceparent newrelic X-NewRelic-ID
	X-NewRelic-Transaction sw8 sw8-correlation sw8-x grpc-trace-bin langsmith-trace X-Portkey-Trace-Id
	X-Cloud-Trace-Context X-Amzn-Trace-Id X-Ot-Span-Context X-Honeycomb-Trace X-Dynatrace X-Instana-T X-Instana-S X-Instana-L
	X-Trace-Id X-Span-Id X-Client-Trace-Id
	Request-Id X-Request-Id Correlation-Context X-Correlation-Id X-Client-Request-Id X-MS-Client-Request-Id
	X-MS-Return-Client-Request-Id X-MS-Request-Id X-Amzn-RequestId X-Kong-Request-Id Fly-Request-Id Helicone-Request-Id
	X-Unique-Id X-Arr-Log-Id X-Request-Start X-Queue-Start Connect-Time Total-Route-Time X-Forwarded-Server
	X-Appgw-Trace-Id X-Varnish X-Akamai-Request-Id X-Appengine-Request-Log-Id Rndr-Id X-Railway-Request-Id X-Nf-Request-Id Singularityheader
	X-LiteLLM-Call-Id X-LiteLLM-Trace-Id X-OpenWebUI-Message-Id

	X-Envoy-Attempt-Count X-Envoy-Is-Timeout-Retry X-Envoy-Expected-Rq-Timeout-Ms X-Envoy-Upstream-Rq-Timeout-Ms
	X-Envoy-Upstream-Stream-Duration-Ms X-Envoy-Internal X-Envoy-Force-Trace X-Envoy-Decorator-Operation X-Envoy-Peer-Metadata
	X-Envoy-Peer-Metadata-Id

	Idempotency-Key X-Idempotency-Key X-Retry-Count X-Retry-Attempt Amz-Sdk-Invocation-Id Amz-Sdk-Request X-Amz-User-Agent
	X-Amz-Date X-Goog-Api-Client X-MS-UserAgent

	X-Cache-Control X-VSR-Cache-Control X-Cache-TTL X-BF-Cache-TTL CF-AIG-Cache-TTL X-OpenRouter-Cache-TTL
	X-Cache-Semantic-Threshold X-BF-Cache-Threshold X-Cache-Type X-BF-Cache-Type X-BF-Cache-No-Store CF-AIG-Skip-Cache
	X-Higress-Skip-AI-Cache X-Portkey-Cache-Force-Refresh X-OpenRouter-Cache-Clear Helicone-Cache-Enabled X-OpenRouter-Cache`

// credentials are where APIs and gateways look for a credential, and where gateways put the client that they have
// authenticated.
const credentials = `
	Authorization Proxy-Authorization API-Key X-API-Key APIKey X-APIKey Cookie Cookie2
	X-Goog-API-Key X-Goog-IAM-Authorization-Token Ocp-Apim-Subscription-Key X-Functions-Key X-Amz-Security-Token
	X-LiteLLM-API-Key X-LiteLLM-Key X-Portkey-API-Key CF-AIG-Authorization Helicone-Auth Helicone-User-Id
	X-BF-VK X-BF-API-Key X-Auth-Token X-Auth-Key X-Access-Token X-Session-Token X-Id-Token X-JWT X-Api-Token DPoP

	X-Forwarded-User X-Forwarded-Email X-Forwarded-Preferred-Username X-Forwarded-Groups X-Forwarded-Access-Token
	X-Forwarded-Client-Cert Client-Cert Client-Cert-Chain X-Client-Cert SSL-Client-Cert X-ARR-ClientCert
	Remote-User Remote-Name Remote-Email Remote-Groups X-Remote-User X-Remote-Email X-Remote-Name X-Remote-Groups X-Remote-Group
	X-WebAuth-User X-WebAuth-Email X-WebAuth-Groups X-Userinfo X-Credential-Identifier L5d-Client-Id
	X-Goog-Authenticated-User-Email X-Goog-Authenticated-User-Id X-Goog-IAP-JWT-Assertion X-Endpoint-API-Userinfo
	X-Apigateway-API-Userinfo X-MS-Client-Principal Teleport-JWT-Assertion Tailscale-User-Login Tailscale-User-Name`

// shaping are scope fields that requests of inference have, and that lead no server to another path, account or server than the
// request names.
var shaping = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`
		Content-Type Content-Encoding Content-Language Content-Disposition Content-MD5 Content-Digest Digest
		Accept-Language Accept-Charset Range If-Match If-None-Match If-Modified-Since If-Unmodified-Since If-Range
		Origin Access-Control-Request-Method Access-Control-Request-Headers Access-Control-Request-Private-Network
		Sec-WebSocket-Protocol
		OpenAI-Beta Anthropic-Version Anthropic-Beta Anthropic-Dangerous-Direct-Browser-Access
		X-Session-Id Session-Id session_id Conversation-Id conversation_id X-Conversation-Id X-User-Id X-Priority X-Request-Priority
		HTTP-Referer X-Title Originator Version X-Prompt-Cache-Key X-Token-Count
		X-BF-Cache-Key CF-AIG-Cache-Key X-Portkey-Cache-Namespace Helicone-Cache-Seed`) {
		all[http.CanonicalHeaderKey(name)] = true
	}
	return all
}()

// noSecret are fields with a secret word in their names that are not credentials.
const noSecret = `X-BF-Cache-Key CF-AIG-Cache-Key X-Token-Count X-Prompt-Cache-Key`

// prefixes are families of names, beside openAIPrefix. known goes before them.
var prefixes = []struct {
	of    string
	class Class
}{
	{ownPrefix, Local},
	{"X-B3-", Harmless}, {"X-Datadog-", Harmless}, {"Ot-Tracer-", Harmless}, {"Uberctx-", Harmless},
	{"Sec-Fetch-", Harmless}, {"Sec-Ch-Ua", Harmless}, // browsers, and fetch in Node
	{"X-Auth-Request-", Credential},                            // oauth2-proxy
	{"X-Amzn-Oidc-", Credential}, {"X-Amzn-Mtls-", Credential}, // AWS load balancers
	{"X-Ms-Client-Principal-", Credential}, {"X-Ms-Token-", Credential}, // Azure
	{"X-Goog-Iap-", Credential}, {"Cf-Access-", Credential}, {"X-Pomerium-", Credential}, {"X-Authentik-", Credential},
	{"X-Vouch-", Credential}, {"X-Consumer-", Credential}, {"X-Authenticated-", Credential}, // Kong
	{"Ssl-Client-", Credential}, {"X-Ssl-Client-", Credential}, {"X-Client-Cert-", Credential}, // certificates, as nginx and HAProxy pass them on
}

// ownPrefix begins the names of the proxy's own fields, which are not sent to the upstream.
const ownPrefix = "X-Reprise-"
