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
func Given(r *http.Request, token string) bool {
	given := r.Header.Get(Header)
	if given == "" {
		if scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
			given = rest
		}
	}
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	return token != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
