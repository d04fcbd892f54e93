package proxy

import (
	"net/http"
	"strconv"
	"time"

	"reprise/policy"
	"reprise/proxy/upstream"
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

// write sets the header fields, and with a length that of the answer; negative: it has none. The fields never contain similarities,
// which would be an attacker's gradient. Their texts are parts of one, and so are their lists.
func (c *cacheStatus) write(h http.Header, length int) {
	var few [160]byte
	text := c.appendTo(few[:0])
	status := len(text)
	if c.hit() {
		text = strconv.AppendInt(text, int64(max(c.age, 0)/time.Second), 10)
	}
	age := len(text)
	if c.entry != 0 {
		text = strconv.AppendUint(text, uint64(c.entry), 10)
	}
	entry := len(text)
	if length >= 0 {
		text = strconv.AppendInt(text, int64(length), 10)
	}
	all, values := string(text), make([]string, 0, 4)
	field := func(name string, from, to int) {
		values = append(values, all[from:to])
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	if others := h["Cache-Status"]; len(others) > 0 { // of proxies behind this one
		h["Cache-Status"] = append(others[:len(others):len(others)], all[:status])
	} else {
		field("Cache-Status", 0, status)
	}
	if c.hit() {
		field("Age", status, age)
	}
	if c.entry != 0 {
		field("X-Reprise-Entry", age, entry)
	} else {
		delete(h, "X-Reprise-Entry") // the upstream may be a proxy like this one
	}
	if length >= 0 {
		field("Content-Length", entry, len(all))
	}
	h["X-Cache"] = resultHeaders[c.result]
}

// answeredBy adds which of several upstreams the answer is of, and whether it is that of another model than the one asked for.
func (c *cacheStatus) answeredBy(r *upstream.Replica, foreign bool) {
	c.detail = append(c.detail[:len(c.detail):len(c.detail)], "upstream="+r.Name())
	if foreign {
		c.detail = append(c.detail, "other-model")
	}
}

// hit reports whether the answer is a stored one.
func (c *cacheStatus) hit() bool {
	return c.result == Exact || c.result == Semantic || c.result == Stale
}

// appendTo appends the value of Cache-Status.
func (c *cacheStatus) appendTo(b []byte) []byte {
	b = append(b, "reprise"...)
	switch {
	case c.hit():
		b = append(b, "; hit"...)
	case c.result == Shared:
		b = append(b, "; fwd=uri-miss; collapsed"...)
	case c.result == Miss || c.result == Bypass:
		b = append(append(b, "; fwd="...), c.fwd...)
	}
	if c.stored {
		b = append(b, "; stored"...)
	}
	if c.hit() {
		b = strconv.AppendInt(append(b, "; ttl="...), int64(c.ttl/time.Second), 10)
	}
	for i, d := range c.detail {
		if i == 0 {
			b = append(b, `; detail="`...)
		} else {
			b = append(b, ';')
		}
		b = append(b, d...)
	}
	if len(c.detail) > 0 {
		b = append(b, '"')
	}
	return b
}

// resultHeaders are the values of X-Cache; made once, they save an allocation per answer.
var resultHeaders = func() (hs [results][]string) {
	for r, name := range resultNames {
		hs[r] = []string{name}
	}
	return hs
}()

// noLength is the length of an answer that is not known, or is in its header already.
const noLength = -1
