package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"reprise/policy"
)

// Result is how a request was answered. Every request has exactly one.
type Result uint8

// The results, as X-Cache spells them.
const (
	Exact    Result = iota // stored under this very request, or under one known to mean the same
	Semantic               // stored under a request of the same meaning
	Shared                 // the answer to an equal request that was under way
	Stale                  // expired, but the upstream failed
	Miss                   // asked of the upstream
	Bypass                 // not a matter for the cache
	Refused                // answered with an error of our own: bad input, upstream unreachable or cut
	Gone                   // the client left before its answer
	results
)

var resultNames = [results]string{"exact", "semantic", "shared", "stale", "miss", "bypass", "error", "client-gone"}

func (r Result) String() string { return resultNames[r] }

// tells is what a response's header says of the cache (RFC 9211, and X-Cache for the eye).
type tells struct {
	result Result
	fwd    string        // why the request was forwarded: uri-miss, request, bypass, stale; "" if it was not
	stored bool          // the answer was kept
	entry  policy.ID     // 0: none
	age    time.Duration // of the entry
	ttl    time.Duration // what is left of its life, negative once expired
	detail []string
}

// write sets the header fields. Similarities are never told here: they would be an attacker's gradient.
func (t *tells) write(h http.Header) {
	b := make([]byte, 0, 96)
	b = append(b, "reprise"...)
	switch t.result {
	case Exact, Semantic, Stale:
		b = append(b, "; hit"...)
	case Shared:
		b = append(b, "; fwd=uri-miss; collapsed"...)
	case Miss, Bypass:
		b = append(append(b, "; fwd="...), t.fwd...)
	}
	if t.stored {
		b = append(b, "; stored"...)
	}
	if t.result == Exact || t.result == Semantic || t.result == Stale {
		b = append(b, "; ttl="...)
		b = strconv.AppendInt(b, int64(t.ttl/time.Second), 10)
		h["Age"] = []string{strconv.FormatInt(int64(max(t.age, 0)/time.Second), 10)}
	}
	if len(t.detail) > 0 {
		b = append(append(append(b, `; detail="`...), strings.Join(t.detail, ";")...), '"')
	}
	h.Add("Cache-Status", string(b))
	h["X-Cache"] = resultHeaders[t.result]
	delete(h, "X-Reprise-Entry") // the upstream may be a proxy like this one
	if t.entry != 0 {
		h["X-Reprise-Entry"] = []string{strconv.FormatUint(uint64(t.entry), 10)}
	}
}

// resultHeaders saves an allocation per answer.
var resultHeaders = func() (hs [results][]string) {
	for r, name := range resultNames {
		hs[r] = []string{name}
	}
	return hs
}()
