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
	Exact    Result = iota // the answer to an equal request, or to one recorded as its alias
	Semantic               // the answer to a request of the same meaning
	Shared                 // the answer of an equal request's flight
	Stale                  // expired, but the upstream failed
	Miss                   // the upstream's answer
	Bypass                 // passed through: the cache took no part
	Refused                // answered with an error of our own: bad input, upstream unreachable or cut
	Gone                   // the client left before its answer
	results
)

var resultNames = [results]string{"exact", "semantic", "shared", "stale", "miss", "bypass", "error", "client-gone"}

func (r Result) String() string { return resultNames[r] }

// cacheStatus is what the header of a response reports of the cache: Cache-Status (RFC 9211), Age, X-Cache, X-Reprise-Entry.
type cacheStatus struct {
	result Result
	fwd    string        // why the request was forwarded: uri-miss, request, bypass, stale; "" if it was not
	stored bool          // the answer was kept
	entry  policy.ID     // 0: none
	age    time.Duration // of the entry
	ttl    time.Duration // what is left of its life, negative once expired
	detail []string
}

// write sets the header fields. They never contain similarities, which would be an attacker's gradient.
func (c *cacheStatus) write(h http.Header) {
	b := make([]byte, 0, 96)
	b = append(b, "reprise"...)
	switch c.result {
	case Exact, Semantic, Stale:
		b = append(b, "; hit"...)
	case Shared:
		b = append(b, "; fwd=uri-miss; collapsed"...)
	case Miss, Bypass:
		b = append(append(b, "; fwd="...), c.fwd...)
	}
	if c.stored {
		b = append(b, "; stored"...)
	}
	if c.result == Exact || c.result == Semantic || c.result == Stale {
		b = append(b, "; ttl="...)
		b = strconv.AppendInt(b, int64(c.ttl/time.Second), 10)
		h["Age"] = []string{strconv.FormatInt(int64(max(c.age, 0)/time.Second), 10)}
	}
	if len(c.detail) > 0 {
		b = append(append(append(b, `; detail="`...), strings.Join(c.detail, ";")...), '"')
	}
	h.Add("Cache-Status", string(b))
	h["X-Cache"] = resultHeaders[c.result]
	delete(h, "X-Reprise-Entry") // the upstream may be a proxy like this one
	if c.entry != 0 {
		h["X-Reprise-Entry"] = []string{strconv.FormatUint(uint64(c.entry), 10)}
	}
}

// resultHeaders are the values of X-Cache; made once, they save an allocation per answer.
var resultHeaders = func() (hs [results][]string) {
	for r, name := range resultNames {
		hs[r] = []string{name}
	}
	return hs
}()
