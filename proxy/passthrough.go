package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"reprise/proxy/internal/apierror"
)

// passThrough forwards r, and its answer as it comes. It serves every path that is not cached, and the cached ones when the
// cache takes no part. body replaces r's own where it was read already.
func (s *Server) passThrough(w http.ResponseWriter, r *http.Request, body []byte, t tells) error {
	if err := checkPath(r.URL.Path); err != nil {
		return err
	}
	out := &tellingWriter{ResponseWriter: w, tells: t}
	if u := s.opts.APIs.OriginalURL(r.URL); u != r.URL {
		r = r.WithContext(r.Context())
		r.URL = u
	}
	if body != nil {
		r = r.Clone(r.Context())
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	} else if r.Body != nil {
		out.body = &patientBody{ReadCloser: r.Body, control: http.NewResponseController(w), limit: s.opts.Limits.BodyIdle}
		r.Body = out.body
	}
	s.pass.ServeHTTP(out, r)
	switch {
	case out.failed == nil:
		return nil
	case out.body != nil && out.body.stalled.Load():
		return errBodyStalled
	case r.Context().Err() != nil:
		return errClientGone
	}
	s.fault(r.Context(), "upstream", out.failed)
	return out.failed
}

// passFailed takes an error of the pass-through, where no answer has begun, to passThrough, which made w.
func passFailed(w http.ResponseWriter, _ *http.Request, err error) { w.(*tellingWriter).failed = err }

// checkPath refuses dot segments: the upstream might resolve them to a place that this path does not show.
func checkPath(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return apierror.BadRequest("invalid_path", "The path "+apierror.Quote(path)+" has a dot segment; name the endpoint itself.")
		}
	}
	return nil
}

// patientBody gives a client's body a deadline per read rather than per request, so that a slow upload lives and a
// stalled one does not.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
	limit   time.Duration
	stalled atomic.Bool
}

func (b *patientBody) Read(p []byte) (int, error) {
	if b.limit > 0 {
		// Not every ResponseWriter has deadlines (a test's recorder); one without them has no slow client either.
		_ = b.control.SetReadDeadline(time.Now().Add(b.limit))
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && isTimeout(err) {
		b.stalled.Store(true)
	}
	if err == io.EOF && b.limit > 0 {
		// After any other end the deadline stays: net/http drains what is left of a body before it answers, and must not
		// wait there for a client that sends no more.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// readBody reads a whole request body within the limits.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.opts.MaxBody {
		return nil, &http.MaxBytesError{Limit: s.opts.MaxBody}
	}
	in := http.MaxBytesReader(w, &patientBody{ReadCloser: r.Body, control: http.NewResponseController(w), limit: s.opts.Limits.BodyIdle}, s.opts.MaxBody)
	body, err := readAll(in, r.ContentLength)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil || errors.As(err, &tooLarge):
		return body, err
	case isTimeout(err):
		return nil, errBodyStalled
	case r.Context().Err() != nil:
		return nil, errClientGone
	default:
		return nil, apierror.BadRequest("invalid_body", "The request body could not be read to its end.")
	}
}

// readAll reads to the end with one allocation where the length is known, without trusting a length that is large.
func readAll(in io.Reader, length int64) ([]byte, error) {
	size := min(max(length, 511), 1<<20) + 1
	buf := bytes.NewBuffer(make([]byte, 0, size))
	if _, err := buf.ReadFrom(in); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
