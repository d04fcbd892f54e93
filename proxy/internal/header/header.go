// Package header classifies the fields of a request's header: which are sent to the upstream, which of those are credentials,
// and which cannot change an answer. Two requests share an answer only if they agree in all others.
//
// The only list that must be complete for safety is that of harmless names, and it may be too short: a name that is missing
// there costs hits, and no more. A name that no list contains counts as one that can change the answer.
package header

import (
	"net/http"
	"slices"
	"strings"
)

// Class says what a field means to the cache.
type Class uint8

// The classes.
const (
	// Scope fields can change an answer. Every name that no list contains is one of them.
	Scope Class = iota
	// Harmless fields are sent to the upstream and cannot change an answer: tracing, telemetry of libraries, the route of
	// the request, counters of retries, and directives to caches.
	Harmless
	// Credential fields identify the client: keys, tokens, cookies, and the users that gateways before the proxy vouch for.
	Credential
	// Secret fields have a name like a credential.
	Secret
	// Local fields end at the proxy: the fields of one connection and the proxy's own.
	Local
)

// Of returns the class of a name in the form of net/http, such as X-Api-Key. It allocates only for a Scope or Secret name
// that has other letters than that form.
func Of(name string) Class {
	if strings.HasPrefix(name, openAIPrefix) {
		return Harmless
	}
	if c, ok := known[name]; ok {
		return c
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p.of) {
			if p.class == Harmless && namesSecret(name) {
				return Secret
			}
			return p.class
		}
	}
	if namesSecret(name) {
		return Secret
	}
	return Scope
}

// asRead is a name as servers read it that take "_" for "-", as those with a CGI-like interface do. It allocates only for a name with "_".
func asRead(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	return http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
}

// Known reports whether the meaning of a field is known, to this package or as a credential, which is not sent under another one.
// Under the operator's credential no other field of a client's is sent.
func Known(name string) bool { return Of(name) != Scope || shaping[name] }

// IsName reports whether s can be the name of a field (RFC 9110 §5.6.2).
func IsName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// IsCredential reports whether a field is to be removed where the upstream gets another credential than the client's.
func IsCredential(name string) bool {
	c := Of(name)
	return c == Credential || c == Secret
}

// openAIPrefix begins the names of half the fields in a request of OpenAI's libraries: what sent it, on what system, and how often.
const openAIPrefix = "X-Stainless-"

// KeyProtocol begins the subprotocol in which OpenAI's libraries for browsers pass the key of a websocket, which can have no header
// of the page's.
const KeyProtocol = "openai-insecure-api-key."

// RemoveCredentials removes from h the client's credentials.
func RemoveCredentials(h http.Header) {
	for name := range h {
		if IsCredential(name) || IsCredential(asRead(name)) {
			delete(h, name)
		}
	}
	offered := h["Sec-Websocket-Protocol"]
	delete(h, "Sec-Websocket-Protocol")
	for _, line := range offered {
		for protocol := range strings.SplitSeq(line, ",") {
			if protocol = strings.TrimSpace(protocol); !strings.HasPrefix(protocol, KeyProtocol) {
				h.Add("Sec-Websocket-Protocol", protocol)
			}
		}
	}
}

// SameCredentials reports whether two headers have the same credentials.
func SameCredentials(a, b http.Header) bool {
	return within(a, b) && within(b, a)
}

// within reports whether b has all credentials of a.
func within(a, b http.Header) bool {
	for name, values := range a {
		if IsCredential(name) && !slices.Equal(values, b[name]) {
			return false
		}
	}
	return true
}

// secretWords are words that name a credential, as in X-Acme-Token or upstream_api_key.
var secretWords = setOf(`apikey apitoken accesskey accesstoken assertion auth authentication authorization authtoken bearer cert
	certificate clientcert cookie credential credentials dpop jwt key oauth oidc passphrase passwd password saml secret sessiontoken
	token`)

// namesSecret reports whether one of the words in name is a secret word.
func namesSecret(name string) bool {
	for name != "" {
		end := strings.IndexAny(name, "-_.")
		if end < 0 {
			end = len(name)
		}
		if secretWords[strings.ToLower(name[:end])] {
			return true
		}
		name = name[min(end+1, len(name)):]
	}
	return false
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
