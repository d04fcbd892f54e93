package upstream

import (
	"maps"
	"net/http"
	"strings"
)

// hopHeaders concern one connection only (RFC 9110 §7.6.1). Accept-Encoding is among them because the proxy must be able to
// read what it stores, Expect because the body is sent in any case.
var hopHeaders = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade", "Accept-Encoding", "Content-Length", "Expect"}

// requestHeader is a client's header as the replica gets it: without hop-by-hop fields and the proxy's own, and with the
// replica's credential.
func (r *Replica) requestHeader(in http.Header) http.Header {
	out := in.Clone()
	for _, name := range hopHeaders {
		out.Del(name)
	}
	r.setHeaders(out)
	return out
}

// setHeaders sets and removes the fields that the proxy controls, on the cached path and on the pass-through.
func (r *Replica) setHeaders(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Reprise-") {
			delete(h, name)
		}
	}
	if key := r.key(); key != "" {
		for _, name := range CredentialHeaders {
			h.Del(name)
		}
		h.Set("Authorization", "Bearer "+key)
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // else net/http would put its own name there
	}
}

// CopyHeader copies the header of a replica's answer to the header of a response, without its hop-by-hop fields.
func CopyHeader(to, from http.Header) {
	maps.Copy(to, from.Clone())
	for _, line := range from["Connection"] { // names further hop-by-hop fields
		for name := range strings.SplitSeq(line, ",") {
			to.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopHeaders {
		delete(to, name)
	}
}
