package gate

import (
	"net/http"
	"strings"

	"reprise/proxy/internal/header"
)

// Key returns the client key that r has where OpenAI-compatible clients put it; "": it has none, or needs none.
func (g *Gate) Key(r *http.Request) string {
	if len(g.keys) == 0 {
		return ""
	}
	for _, key := range [...]string{bearer(r.Header), r.Header.Get("X-Api-Key"), r.Header.Get("Api-Key"), protocolKey(r)} {
		if key == "" {
			continue
		}
		if _, ok := g.keys[g.digest(key)]; ok {
			return key
		}
	}
	return ""
}

// lacking describes what a request without a client key has.
func (g *Gate) lacking(r *http.Request) string {
	for _, key := range [...]string{r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Api-Key"), protocolKey(r)} {
		if key != "" {
			return "another"
		}
	}
	return "none"
}

// bearer returns the token of the Authorization header, "" where there is none.
func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// protocolKey returns the key among the subprotocols of a websocket.
func protocolKey(r *http.Request) string {
	for _, line := range r.Header["Sec-Websocket-Protocol"] {
		for name := range strings.SplitSeq(line, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(name), header.KeyProtocol); ok {
				return key
			}
		}
	}
	return ""
}
