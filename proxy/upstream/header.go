package upstream

import (
	"net/http"
	"strings"

	"reprise/proxy/internal/header"
)

// requestHeader is a client's header as the replica gets it: without the fields that end at the proxy, and with the replica's
// credential. It shares the values of in.
func (r *Replica) requestHeader(in http.Header) http.Header {
	out := make(http.Header, len(in)+1)
	header.Copy(out, in)
	r.setHeaders(out)
	return out
}

// passedHeader is a client's header as the replica gets it with a request that is forwarded as it is. It shares the values of the
// request.
func (r *Replica) passedHeader(in *http.Request) http.Header {
	out := make(http.Header, len(in.Header)+1)
	header.Pass(out, in.Header)
	if header.HasDirective(in.Header["Te"], "trailers") {
		out["Te"] = []string{"trailers"}
	}
	r.setPassed(in.Method, out)
	return out
}

// setPassed is setHeaders for a request that is forwarded as it is. A preflight has no credential, and needs no client key.
func (r *Replica) setPassed(method string, h http.Header) {
	r.setHeaders(h)
	if method == http.MethodOptions && r.key() != "" {
		header.RemoveCredentials(h)
	}
}

// setHeaders sets and removes the fields that the proxy controls, on the cached path and on the pass-through. The client's
// credentials are not for an upstream that gets the operator's.
func (r *Replica) setHeaders(h http.Header) {
	header.RemoveOwn(h)
	if !r.target.Trust {
		header.RemoveSteering(h)
	}
	if key := r.key(); key != "" {
		header.RemoveCredentials(h)
		r.target.setKey(h, key)
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // else net/http would put its own name there
	}
}

// CopyHeader copies the header of a replica's answer to the header of a response, without its hop-by-hop fields. The values are
// shared with from, but an append to them does not change it.
func CopyHeader(to, from http.Header) {
	header.Copy(to, from)
	for _, line := range from["Connection"] { // names further hop-by-hop fields
		for name := range strings.SplitSeq(line, ",") {
			to.Del(strings.TrimSpace(name))
		}
	}
}
