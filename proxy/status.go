package proxy

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"reprise/policy"
	"reprise/proxy/api"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe/accesslog"
	"reprise/proxy/observe/watch"
	"reprise/proxy/tracing"
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
	// ignored names what of the request is no part of its key.
	ignored []string
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
	sep := `; detail="`
	for _, d := range c.detail {
		b = append(append(b, sep...), d...)
		sep = ";"
	}
	for i, name := range c.ignored {
		if i > 0 {
			b = append(b, '+')
		} else {
			b = append(append(b, sep...), "ignored="...)
			sep = ";"
		}
		b = append(b, name...)
	}
	if sep == ";" {
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

// visit is a request from its arrival to its end: what the access log has of it, and its id. Only the goroutine of its handler uses it, and
// not a flight, which may last longer.
type visit struct {
	accesslog.Line
	api   *api.Family // of the endpoint; nil: it is not cached
	ids   []string    // the id, as the value of a header field
	given bool        // by the client
	span  *tracing.Span
}

var visits = sync.Pool{New: func() any { return new(visit) }}

// requestID is the header field with the id of a request, which the upstream gets and the client gets back.
const requestID = "X-Request-Id"

// mostID is the longest id in bytes that is taken from a client.
const mostID = 128

// arrive begins the visit of r, a request to an endpoint of f, and gives it an id.
func arrive(w http.ResponseWriter, r *http.Request, f *api.Family) *visit {
	v := visits.Get().(*visit)
	v.api = f
	if given := r.Header[requestID]; len(given) > 0 && isID(given[0]) {
		v.ids, v.given = given[:1:1], true
	} else {
		v.ids = newID()
	}
	v.ID = v.ids[0]
	r.Header[requestID], w.Header()[requestID] = v.ids, v.ids
	return v
}

// isID reports whether a client's id may go into headers and logs.
func isID(id string) bool {
	return id != "" && len(id) <= mostID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// newID is a random id as the value of a header field: unique, and no secret. Text and list are one allocation.
func newID() []string {
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:], rand.Uint64())
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64())
	id := &struct {
		list [1]string
		text [2 * len(random)]byte
	}{}
	hex.Encode(id.text[:], random[:])
	id.list[0] = unsafe.String(&id.text[0], len(id.text))
	return id.list[:]
}

// answeredAs notes theirs, the ids that the upstream gave the request, and chooses what h has: a client gets its own id back, and one
// that sent none gets the upstream's, by which those who run that can find the request.
func (v *visit) answeredAs(h http.Header, theirs []string) {
	if len(theirs) == 0 {
		return
	}
	v.UpstreamID = theirs[0]
	if h[requestID] = theirs[:1:1]; v.given {
		h[requestID] = v.ids
	}
}

// asks notes in the span of a request what is asked, and returns the span.
func (v *visit) asks(q *query) *tracing.Span {
	v.span.About(tracing.Asked{Operation: q.family.Operation, Provider: q.family.Provider, Model: q.Model, Stream: q.Stream})
	return v.span
}

// trace ends the span of a request.
func (v *visit) trace(h http.Header, r *http.Request, result Result) {
	span := v.span
	if !span.Recording() {
		return
	}
	route, why := "", whyOf(h)
	if v.api != nil {
		route = v.api.Path
	}
	span.Served(r.Method, route)
	span.Text(tracing.Path, accesslog.Path(r.URL.Path))
	span.Text(tracing.Scheme, scheme(r))
	span.Text(tracing.RequestID, v.ID)
	span.Text(tracing.Tenant, v.Tenant)
	span.Text(tracing.CacheResult, result.String())
	span.Text(tracing.CacheReason, why)
	span.Text(tracing.Upstream, v.Upstream)
	if v.Band > 0 {
		span.Number(tracing.SimilarityFrom, int64(v.Band))
	}
	if v.Saved > 0 {
		span.Number(tracing.TokensSaved, v.Saved)
	}
	if v.Status > 0 { // an answer was begun
		span.Number(tracing.Status, int64(v.Status))
		span.Number(tracing.ResponseSize, v.Bytes)
	}
	switch {
	case result == Gone:
		span.Text(tracing.ErrorType, result.String())
	case v.Status >= http.StatusInternalServerError || result == Refused && v.Status < http.StatusBadRequest: // or cut
		span.Fail(failure(result, v.Status, why))
	case v.Status >= http.StatusBadRequest: // by HTTP's conventions no fault of the server
		span.Text(tracing.ErrorType, failure(result, v.Status, why))
	}
	span.End()
}

// scheme is how the client has come.
func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// failure is the class of an error: the code of one of the proxy's own, or the status of the upstream's.
func failure(result Result, status int, why string) string {
	switch {
	case status < http.StatusBadRequest:
		return "cut"
	case result == Refused && why != "" && !strings.ContainsAny(why, "=;"):
		return why
	}
	return strconv.Itoa(status)
}

// end writes the line of a request, which came at start, to log, shows it to those who watch, and gives up v.
func (v *visit) end(log *accesslog.Log, watched *watch.Watch, w http.ResponseWriter, r *http.Request, result Result, start time.Time) {
	client := w
	if k, ok := w.(*keepalive); ok {
		client = k.ResponseWriter
	}
	v.Status, v.Bytes = clientio.Sent(client)
	v.trace(w.Header(), r, result)
	ended := start.Add(v.Took)
	takes, seen := log.Takes(result == Refused || v.Status >= http.StatusBadRequest), watched.Wants(int(result), ended)
	if takes || seen {
		if v.api != nil {
			v.Endpoint = v.api.Name
		} else {
			v.Endpoint = accesslog.Path(r.URL.Path)
		}
		v.At, v.Result, v.Why = ended, result.String(), whyOf(w.Header())
	}
	if takes {
		log.Write(&v.Line)
	}
	if seen {
		v.show(watched, result)
	}
	*v = visit{}
	visits.Put(v)
}

// show passes v, which has ended, to those who watch.
func (v *visit) show(watched *watch.Watch, result Result) {
	watched.Passed(v.Tenant, v.Model, int(result), v.At, func() watch.Request {
		return watch.Request{At: v.At, ID: v.ID, Tenant: v.Tenant, Model: v.Model, Endpoint: v.Endpoint, Result: v.Result, Why: v.Why, Upstream: v.Upstream,
			Status: v.Status, Bytes: v.Bytes, Took: v.Took.Seconds(), Waited: v.Waited.Seconds(), Saved: v.Saved, Stream: v.Stream}
	})
}

// whyOf is the reason in the Cache-Status of an answer: its detail, or else why the request was forwarded.
func whyOf(h http.Header) string {
	all := h["Cache-Status"]
	if len(all) == 0 || !strings.HasPrefix(all[len(all)-1], "reprise") {
		return ""
	}
	own := all[len(all)-1]
	if _, detail, ok := strings.Cut(own, `; detail="`); ok {
		return strings.Replace(strings.TrimSuffix(detail, `"`), "why=", "", 1)
	}
	_, fwd, _ := strings.Cut(own, "; fwd=")
	fwd, _, _ = strings.Cut(fwd, ";")
	return fwd
}
