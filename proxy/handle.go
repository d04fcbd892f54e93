package proxy

import (
	"net/http"
	"strings"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/rules"
	"reprise/proxy/tracing"
)

// handle answers a request of a cached endpoint.
func (x *work) handle() (Result, error) {
	in, family := x.r.http, x.r.family
	if err := checkConnection(in.Header); err != nil {
		return Refused, err
	}
	if in.URL.Path != family.Path { // a deployment has a name that the client chooses
		if err := x.s.live.Load().gate.Path(in.Method, in.URL); err != nil {
			return Refused, err
		}
	}
	c := x.s.ids.count(in.Header, new(few))
	var err error
	if x.r.d, err = parseDirectives(in.Header, c.directive); err != nil {
		return Refused, err
	}
	if reason := x.unread(&c); reason != "" {
		return x.bypassUnread(&c, reason)
	}
	if x.r.mem, err = x.s.lease(in, c.size); err != nil {
		return Refused, err
	}
	defer x.r.mem.Drop()
	reading := x.r.span.Child(tracing.Read)
	err = x.read(&c)
	reading.End()
	if err != nil {
		return Refused, err
	}
	x.r.traced()
	if x.r.outcome(&x.v.seen); x.r.Stream && !family.Answers.Lines {
		awaitStream(x.w)
	}
	switch {
	case x.r.d.bypass():
		return x.bypassRead("directive")
	case x.r.rule.Mode == rules.Off:
		return x.bypassRead("off")
	case x.r.forbidden() != "":
		return x.bypassRead(x.r.forbidden())
	}
	x.r.req.At = x.s.cache.Tick()
	return x.answer()
}

// unread returns why the request passes through without its body being read, "" if it does not.
func (x *work) unread(c *counted) string {
	h := x.r.http.Header
	switch {
	case x.s.live.Load().rules.Off(func() rules.Request {
		return rules.Request{Tenant: x.s.ids.tenantOf(h, c), Team: c.name(h), Path: x.r.family.Path}
	}):
		return "off"
	case x.r.d.bypass():
		return "directive"
	case encoded(h):
		return "content-encoding"
	}
	return ""
}

// bypass passes the request through because of a reason, with this body if it has been read.
func (x *work) bypass(body []byte, reason string) (Result, error) {
	return Bypass, x.passThrough(body, reason)
}

// bypassUnread is bypass for a request in which the cache takes no part. It is read all the same where its model and prefix choose one of several
// upstreams, and a body that cannot be parsed is forwarded.
func (x *work) bypassUnread(c *counted, reason string) (Result, error) {
	in, most := x.r.http, x.s.live.Load().maxBody
	chooses := several(&x.s.opts) && isJSON(in.Header.Get("Content-Type")) && !encoded(in.Header) &&
		0 < in.ContentLength && in.ContentLength <= most && in.Header.Get("Expect") == ""
	mem, ok := (*clientio.Lease)(nil), false
	if chooses {
		mem, ok = x.s.budget.Lease(c.size)
	}
	if !ok {
		return x.bypass(nil, reason)
	}
	defer mem.Drop()
	body, err := readBody(x.w, in, mem, most)
	if err != nil {
		return Refused, err
	}
	x.r.mem = mem
	if read, err := x.s.readings.of(&x.s.ids, in, c, &x.r.d, x.r.family, body, x.s.live.Load().rules, mem); err == nil {
		x.r.fill(body, read)
	}
	return x.bypass(x.r.family.OriginalBody(body), reason)
}

// bypassRead is bypass for a request whose body has been read.
func (x *work) bypassRead(reason string) (Result, error) {
	body, err := x.r.forwarded(x.r.body)
	if err != nil {
		return Refused, err
	}
	x.r.forwardedTo(&x.v.seen)
	return x.bypass(body, reason)
}

// lease charges a request, whose header has some bytes, before its body is read. One that is refused lasts until its client has read the
// answer, and gives up its header, which may be all that it takes.
func (s *Server) lease(r *http.Request, header int64) (*clientio.Lease, error) {
	mem, ok := s.budget.Lease(header)
	if !ok {
		clear(r.Header)
		return nil, errNoMemory
	}
	return mem, nil
}

// read reads the body and parses the request, which it fills. Both are charged to its lease. c is what count has found in the header.
func (x *work) read(c *counted) error {
	s, r, in := x.s, &x.r, x.r.http
	if ct := in.Header.Get("Content-Type"); !isJSON(ct) && !r.family.AnyType {
		return apierror.BadRequest("invalid_content_type", apierror.NotJSON(ct, "this endpoint"))
	}
	body, err := readBody(x.w, in, r.mem, s.live.Load().maxBody)
	if err != nil {
		return err
	}
	if body, err = s.opts.Canonical.apply(r.family, body, r.mem); err != nil {
		return err
	}
	epoch := s.cache.Epoch() // before the secret is read, by which the tenant is named: an answer under a secret that changes is not kept
	read, err := s.readings.of(&s.ids, in, c, &r.d, r.family, body, s.live.Load().rules, r.mem)
	if err != nil {
		return err
	}
	r.fill(body, read)
	r.req.Epoch = epoch
	return nil
}

// isJSON accepts application/json and its relatives, with or without parameters.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// encoded reports whether a body is compressed.
func encoded(h http.Header) bool {
	e := h["Content-Encoding"]
	return len(e) > 0 && e[0] != "" && e[0] != "identity"
}
