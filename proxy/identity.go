package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/upstream"
)

// identityHeaders are headers that can change an answer, or its owner.
var identityHeaders = []string{"Openai-Organization", "Openai-Project", "Openai-Beta"}

// identifier names tenants and identifies requests.
type identifier struct {
	from   TenantSource
	secret [32]byte // keys the digests of credentials
}

// tenant is a keyed digest of what identifies the sender: the credential itself is neither stored nor logged.
func (i *identifier) tenant(h http.Header) string {
	name, isHeader := strings.CutPrefix(string(i.from), "header:")
	switch {
	case isHeader:
		return i.digest(h.Values(name))
	case i.from == "authorization":
		var values []string
		for _, name := range upstream.CredentialHeaders {
			// An absent header keeps its place: the same credential in another header is another tenant.
			values = append(values, strings.Join(h.Values(name), "\x00"))
		}
		return i.digest(values)
	default:
		return "all"
	}
}

func (i *identifier) digest(values []string) string {
	mac := hmac.New(sha256.New, i.secret[:])
	for _, v := range values {
		mac.Write([]byte(v))
		mac.Write([]byte{0})
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// identity is everything outside the body that two requests must share to share an answer. The Host header is not part
// of it: the client chooses it freely.
func (i *identifier) identity(r *http.Request, d *Directives) canon.Identity {
	id := canon.Identity{Tenant: i.tenant(r.Header), Namespace: d.Namespace, Path: r.URL.Path, Query: r.URL.RawQuery}
	for _, name := range identityHeaders {
		for _, v := range r.Header[name] {
			id.Headers = append(id.Headers, name+": "+v)
		}
	}
	return id
}

// hopByHopAllowed are the names that a Connection header may list.
var hopByHopAllowed = map[string]bool{"close": true, "keep-alive": true, "upgrade": true, "te": true, "http2-settings": true, "trailer": true,
	"transfer-encoding": true, "proxy-connection": true}

// checkConnection refuses a Connection header that names an end-to-end header: such a header would be part of the key but not
// be sent upstream.
func checkConnection(h http.Header) error {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name != "" && !hopByHopAllowed[name] {
				return apierror.BadRequest("invalid_connection_header", "The Connection header may not name "+apierror.Quote(name)+
					": it would take that header away between this proxy and the upstream.")
			}
		}
	}
	return nil
}
