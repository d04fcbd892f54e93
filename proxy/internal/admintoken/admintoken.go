// Package admintoken checks the operator's token in a request.
package admintoken

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Header may hold the token; where it is absent, the token is in Authorization, after Bearer.
const Header = "X-Reprise-Admin-Token"

// Given reports whether r holds token. No request holds an empty one. The comparison takes constant time, and by digest, so
// that it does not show the token's length either.
func Given(r *http.Request, token string) bool { return equal(given(r.Header), token) }

// Tried reports whether r holds any token, so that an error can distinguish a wrong one from none.
func Tried(r *http.Request) bool { return given(r.Header) != "" }

// given is the token of a request, "" without one.
func given(h http.Header) string {
	if token := h.Get(Header); token != "" {
		return token
	}
	return bearer(h)
}

// Remove removes token from h, so that what is left are the credentials of a client.
func Remove(h http.Header, token string) {
	h.Del(Header)
	if equal(bearer(h), token) {
		h.Del("Authorization")
	}
}

// bearer is the token in Authorization, "" without one.
func bearer(h http.Header) string {
	scheme, rest, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return rest
}

func equal(given, token string) bool {
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	return token != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
