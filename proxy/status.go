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
	"reprise/proxy/observe"
	"reprise/proxy/upstream"
)

// Result is how a request was answered. Every request has exactly one.
type Result = observe.Result

// The results.
const (
	Exact    = observe.Exact
	Semantic = observe.Semantic
	Shared   = observe.Shared
	Stale    = observe.Stale
	Miss     = observe.Miss
	Bypass   = observe.Bypass
	Refused  = observe.Refused
	Gone     = observe.Gone
	results  = observe.Results
)

// cacheStatus is what the header of a response reports of the cache: Cache-Status (RFC 9211), Age, X-Cache, X-Reprise-Entry.
type cacheStatus struct {
	result Result
	fwd    string        // why the request was forwarded: uri-miss, request, bypass, stale, partial; "" if it was not
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
	for r, name := range observe.ResultNames {
		hs[r] = []string{name}
	}
	return hs
}()

// noLength is the length of an answer that is not known, or is in its header already.
const noLength = -1

// visit is a request from its arrival to its end: its id, and what those who watch see of it. Only the goroutine of its handler uses it, and
// not a flight, which may last longer.
type visit struct {
	seen  observe.Outcome
	api   *api.Family // of the endpoint; nil: it is not cached
	ids   []string    // the id, as the value of a header field
	given bool        // by the client
}

var visits = sync.Pool{New: func() any { return new(visit) }}

// requestID is the header field with the id of a request, which the upstream gets and the client gets back.
const requestID = "X-Request-Id"

// mostID is the longest id in bytes that is taken from a client.
const mostID = 128

// arrive begins the work and the visit of r, a request to an endpoint of f, and gives it an id.
func (s *Server) arrive(w http.ResponseWriter, r *http.Request, f *api.Family) *work {
	v := visits.Get().(*visit)
	if v.api = f; f != nil {
		v.seen.Route, v.seen.Endpoint = f.Path, f.Name
	}
	v.seen.Came, v.seen.Span = s.observers.Stamp(), s.opts.Tracer.Request(r.Header)
	if given := r.Header[requestID]; len(given) > 0 && isID(given[0]) {
		v.ids, v.given = given[:1:1], true
	} else {
		v.ids = newID()
	}
	v.seen.ID = v.ids[0]
	r.Header[requestID], w.Header()[requestID] = v.ids, v.ids
	return &work{s: s, w: w, v: v, r: request{s: s, http: r, family: f, span: v.seen.Span, came: v.seen.Came}}
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
	v.seen.UpstreamID = theirs[0]
	if h[requestID] = theirs[:1:1]; v.given {
		h[requestID] = v.ids
	}
}

// scheme is how the client has come.
func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// end passes what became of the request, which came at start, to those who watch, and gives up the visit.
func (x *work) end(result Result, start time.Time) {
	client, in := x.w, x.r.http
	if k, ok := client.(*keepalive); ok {
		client = k.ResponseWriter
	}
	o := &x.v.seen
	o.Answered, o.Result, o.At = true, result, x.s.opts.Now()
	o.Took, o.Method, o.Path, o.Scheme = o.At.Sub(start), in.Method, in.URL.Path, scheme(in)
	o.Status, o.Bytes = clientio.Sent(client)
	o.Header = x.w.Header()
	x.s.observers.Ended(o)
	*x.v = visit{}
	visits.Put(x.v)
	x.v = nil
}
