package gate

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
)

// tokenHeader may hold the operator's token; where it is absent, the token is in Authorization, after Bearer.
const tokenHeader = "X-Reprise-Admin-Token"

// HasToken reports whether r has the operator's token. No request has an empty one. The comparison takes constant time, and compares digests,
// so that it does not show the token's length either.
func HasToken(r *http.Request, token string) bool { return sameToken(tokenOf(r.Header), token) }

// TriesToken reports whether r has any token, so that an error can distinguish a wrong one from none.
func TriesToken(r *http.Request) bool { return tokenOf(r.Header) != "" }

// RemoveToken removes the operator's token from h, so that what is left are the credentials of a client.
func RemoveToken(h http.Header, token string) {
	h.Del(tokenHeader)
	if sameToken(bearer(h), token) {
		h.Del("Authorization")
	}
}

func tokenOf(h http.Header) string {
	if token := h.Get(tokenHeader); token != "" {
		return token
	}
	return bearer(h)
}

func sameToken(given, token string) bool {
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	return token != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
