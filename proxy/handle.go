package proxy

import (
	"net/http"
	"strings"

	"reprise/proxy/api"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/budget"
	"reprise/proxy/rules"
	"reprise/proxy/tracing"
)

// handle answers a request of a cached endpoint.
func (s *Server) handle(v *visit, w http.ResponseWriter, r *http.Request, family *api.Family) (Result, error) {
	if err := checkConnection(r.Header); err != nil {
		return Refused, err
	}
	if r.URL.Path != family.Path { // a deployment has a name that the client chooses
		if err := s.live.Load().gate.Path(r.Method, r.URL); err != nil {
			return Refused, err
		}
	}
	c := s.ids.count(r.Header, new(few))
	d, err := parseDirectives(r.Header, c.directive)
	if err != nil {
		return Refused, err
	}
	if reason := s.unread(r, &c, family, &d); reason != "" {
		if choosesBy(s, r) {
			return bypassChosen(s, v, w, r, &c, family, d, reason)
		}
		return s.bypass(v, w, r, nil, nil, reason)
	}
	mem, err := s.lease(r, c.size)
	if err != nil {
		return Refused, err
	}
	defer mem.Drop()
	reading := v.seen.Span.Child(tracing.Read)
	x := &work{s: s, w: w, v: v}
	q := &x.r
	err = s.read(q, w, r, &c, family, d, mem)
	reading.End()
	if err != nil {
		return Refused, err
	}
	q.came = v.seen.Came
	q.trace(v.asks(q))
	if q.outcome(&v.seen); q.Stream && !family.Answers.Lines {
		awaitStream(w)
	}
	switch {
	case q.d.bypass():
		return s.bypassRead(v, w, r, q, "directive")
	case q.rule.Mode == rules.Off:
		return s.bypassRead(v, w, r, q, "off")
	case q.Uncacheable != "":
		return s.bypassRead(v, w, r, q, q.Uncacheable)
	}
	q.req.At = s.cache.Tick()
	return x.answer()
}

// unread returns why a request passes through without its body being read, "" if it does not.
func (s *Server) unread(r *http.Request, c *counted, family *api.Family, d *Directives) string {
	switch {
	case s.live.Load().rules.Off(func() rules.Request {
		return rules.Request{Tenant: s.ids.tenantOf(r.Header, c), Team: c.name(r.Header), Path: family.Path}
	}):
		return "off"
	case d.bypass():
		return "directive"
	case encoded(r.Header):
		return "content-encoding"
	}
	return ""
}

func (s *Server) bypass(v *visit, w http.ResponseWriter, r *http.Request, q *request, body []byte, reason string) (Result, error) {
	return Bypass, s.passThrough(v, w, r, q, body, cacheStatus{result: Bypass, fwd: "bypass", detail: []string{reason}})
}

// choosesBy reports whether one of several upstreams is chosen by the body of r, which has to be read for that.
func choosesBy(s *Server, r *http.Request) bool {
	return several(&s.opts) && isJSON(r.Header.Get("Content-Type")) && !encoded(r.Header) &&
		0 < r.ContentLength && r.ContentLength <= s.live.Load().maxBody && r.Header.Get("Expect") == ""
}

// bypassChosen is bypass for a request in which the cache takes no part, and whose model and prefix choose the upstream. A body that cannot be
// parsed is forwarded all the same.
func bypassChosen(s *Server, v *visit, w http.ResponseWriter, r *http.Request, c *counted, family *api.Family, d Directives, reason string) (Result, error) {
	mem, ok := s.budget.Lease(c.size)
	if !ok {
		return s.bypass(v, w, r, nil, nil, reason)
	}
	defer mem.Drop()
	body, err := readBody(w, r, mem, s.live.Load().maxBody)
	if err != nil {
		return Refused, err
	}
	var q *request
	if read, err := s.readings.of(&s.ids, r, c, &d, family, body, s.live.Load().rules, mem); err == nil {
		q = new(request)
		s.fill(q, r, body, read, family, d, mem)
	}
	return s.bypass(v, w, r, q, family.OriginalBody(body), reason)
}

// bypassRead is bypass for a request whose body has been read.
func (s *Server) bypassRead(v *visit, w http.ResponseWriter, r *http.Request, q *request, reason string) (Result, error) {
	body, err := q.forwarded()
	if err != nil {
		return Refused, err
	}
	q.forwardedTo(&v.seen)
	return s.bypass(v, w, r, q, body, reason)
}

// lease charges a request, whose header has some bytes, before its body is read. One that is refused lasts until its client has read the
// answer, and gives up its header, which may be all that it takes.
func (s *Server) lease(r *http.Request, header int64) (*budget.Lease, error) {
	mem, ok := s.budget.Lease(header)
	if !ok {
		clear(r.Header)
		return nil, errNoMemory
	}
	return mem, nil
}

// read reads the body and parses the request, which it fills. Both are charged to mem. c is what count has found in the header.
func (s *Server) read(q *request, w http.ResponseWriter, r *http.Request, c *counted, family *api.Family, d Directives, mem *budget.Lease) error {
	if ct := r.Header.Get("Content-Type"); !isJSON(ct) && !family.AnyType {
		return apierror.BadRequest("invalid_content_type", apierror.NotJSON(ct, "this endpoint"))
	}
	body, err := readBody(w, r, mem, s.live.Load().maxBody)
	if err != nil {
		return err
	}
	if body, err = s.opts.Canonical.apply(family, body, mem); err != nil {
		return err
	}
	epoch := s.cache.Epoch() // before the secret is read, by which the tenant is named: an answer under a secret that changes is not kept
	read, err := s.readings.of(&s.ids, r, c, &d, family, body, s.live.Load().rules, mem)
	if err != nil {
		return err
	}
	s.fill(q, r, body, read, family, d, mem)
	q.req.Epoch = epoch
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
