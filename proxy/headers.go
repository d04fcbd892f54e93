package proxy

import (
	"strings"

	"reprise/proxy/observe"
)

// HeaderField is a field of a header with a meaning to clients of the proxy.
type HeaderField struct{ Name, Meaning string }

// HeadersRead lists the fields of a request that the proxy itself understands. A client can only narrow what the operator allows.
func HeadersRead() []HeaderField {
	all := []HeaderField{
		{"Cache-Control", "`no-cache`: a fresh answer, which is kept; `no-store`: nothing is kept; `max-age`: only younger answers; `only-if-cached`: 504 where none is stored"},
		{"X-Reprise-Admin-Token", "the admin token, for `POST /v1/reprise/explain`"},
		{requestID, "the id of the request, which is forwarded and comes back; without it the proxy makes one"},
	}
	for _, d := range directives {
		all = append(all, HeaderField{d.header, d.allows})
	}
	return all
}

// HeadersWritten lists the fields that the proxy adds to an answer.
func HeadersWritten() []HeaderField {
	return []HeaderField{
		{"X-Cache", "where the answer comes from: " + strings.Join(observe.ResultNames[:Refused], ", ")},
		{"Cache-Status", "the same with the reason, as RFC 9211 has it: `reprise; hit; ttl=297`, `reprise; fwd=uri-miss; stored; detail=…`; behind the members that an upstream has set"},
		{"Age", "seconds since a stored answer was written; of any other answer, what its upstream says"},
		{"Cache-Control", "the upstream's. An answer with `no-store` is not kept. Nothing else in it is obeyed: tenants share no answers, so that `private` is no reason, and `REPRISE_TTL` is for how long"},
		{"X-Reprise-Entry", "the number of the stored answer, for `POST /v1/reprise/feedback` and the admin API"},
		{requestID, "the id of the request, as it is in the log"},
	}
}
