package proxy

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"reprise/proxy/answer"
	"reprise/proxy/canon"
)

// relay gives the recording of a flight to one of its waiters.
func (s *Server) relay(w http.ResponseWriter, q *query, f *flight, leader bool) (Result, error) {
	t := tells{result: Miss, fwd: s.reason(q), detail: slices.Clone(f.found.detail)}
	if !leader {
		t = tells{result: Shared}
	}
	streamed := answer.IsStream(f.rec.header.Get("Content-Type"))
	var err error
	switch {
	case f.rec.status == http.StatusOK && streamed != q.Stream && !leader:
		err = s.relayConverted(w, q, f, t) // asked for the other form than the leader
	case streamed:
		err = s.relayStream(w, q, f, t)
	default:
		err = s.relayWhole(w, q, f, t)
	}
	if err == nil && !leader {
		s.shared(q, f)
	}
	return t.result, err
}

// reason is why q was forwarded, in the words of RFC 9211 §2.2.
func (s *Server) reason(q *query) string {
	switch {
	case q.d.NoCache || q.d.MaxAge >= 0:
		return "request"
	case q.stale != nil:
		return "stale"
	default:
		return "uri-miss"
	}
}

// relayWhole writes an answer once it is complete, so that its header can say what became of it; one that is too large for
// that is written as it comes.
func (s *Server) relayWhole(w http.ResponseWriter, q *query, f *flight, t tells) error {
	body, err := f.rec.wait(q.http.Context(), s.opts.MaxEntryBytes)
	if errors.Is(err, errTooLarge) {
		if t.result == Miss {
			t.detail = append(t.detail, "not-stored=size")
		}
		return s.relayStream(w, q, f, t)
	}
	if err != nil {
		return clientOr(q, err)
	}
	s.copyHeader(w, f.rec.header, t.result)
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	f.describe(&t)
	t.write(w.Header())
	w.WriteHeader(f.rec.status)
	w.Write(body)
	return nil
}

// relayStream writes an answer while it grows. A recording that is cut cuts the client too: a clean end would pass half
// an answer off as a whole one.
func (s *Server) relayStream(w http.ResponseWriter, q *query, f *flight, t tells) error {
	s.copyHeader(w, f.rec.header, t.result)
	t.write(w.Header())
	w.WriteHeader(f.rec.status)
	out := http.NewResponseController(w)
	out.Flush()
	var filter *answer.UsageFilter
	if answer.IsStream(f.rec.header.Get("Content-Type")) && q.hidesUsage(f, t.result) {
		filter = new(answer.UsageFilter)
	}
	var buf []byte
	for off := 0; ; {
		p, end, err := f.rec.next(q.http.Context(), off)
		if err != nil && len(p) == 0 {
			return f.leftBy(q)
		}
		off += len(p)
		if filter != nil {
			buf = filter.Write(buf[:0], p)
			if end {
				buf = filter.Flush(buf)
			}
			p = buf
		}
		if _, werr := w.Write(p); werr != nil || err != nil {
			return f.leftBy(q)
		}
		if end {
			return nil
		}
		out.Flush()
	}
}

// hidesUsage reports whether q's client must not see the usage that the stream of f may report: it asked for none, and
// the proxy or the client that leads the flight did.
func (q *query) hidesUsage(f *flight, result Result) bool {
	return !q.IncludeUsage && (f.addedUsage || result == Shared && q.hasUsageOption())
}

// leftBy is the end of a relay before the recording's own. Clients close a stream as soon as they have read its terminal
// event: they have their answer.
func (f *flight) leftBy(q *query) error {
	end := []byte("data: [DONE]")
	if q.Family == canon.Responses {
		end = []byte("event: response.completed")
	}
	if q.http.Context().Err() != nil && bytes.Contains(f.rec.bytes(), end) {
		return nil
	}
	return errCut
}

// relayConverted waits for the end and replays the answer in the form that this follower asked for. What is no whole answer
// has no other form: an error under status 200 would become an empty stream.
func (s *Server) relayConverted(w http.ResponseWriter, q *query, f *flight, t tells) error {
	body, err := f.rec.wait(q.http.Context(), s.opts.MaxEntryBytes)
	if errors.Is(err, errTooLarge) {
		return &replayError{0, err}
	}
	if err != nil {
		return clientOr(q, err)
	}
	switch f.kept.reason {
	case answer.ReasonError, answer.ReasonMalformed, answer.ReasonIncomplete:
		return &replayError{f.kept.id, errors.New("no whole answer: " + f.kept.reason)}
	}
	z, err := answer.Freeze(q.Family, f.rec.header.Get("Content-Type"), body)
	if err != nil {
		return &replayError{f.kept.id, err}
	}
	f.describe(&t)
	return s.replay(w, q, z, &t)
}

func clientOr(q *query, err error) error {
	if q.http.Context().Err() != nil {
		return errClientGone
	}
	return err
}

// describe adds what became of the recording; call it only after the recording has ended.
func (f *flight) describe(t *tells) {
	if f.kept.id != 0 {
		t.stored, t.entry = true, f.kept.id
	} else if f.kept.reason != "" && t.result == Miss {
		t.detail = append(t.detail, "not-stored="+f.kept.reason)
	}
}

// shared counts a follower's answer as one more use of the entry made of it.
func (s *Server) shared(q *query, f *flight) {
	select {
	case <-f.settled:
	case <-q.http.Context().Done():
		return
	}
	if f.kept == nil || f.kept.id == 0 {
		return
	}
	if e, ok := s.store.Get(f.kept.id); ok {
		s.touch(q, e, nil)
		s.metrics.savedBy(Shared, e)
	}
}

// copyHeader passes the upstream's header on. What is one client's own, such as a cookie, goes to the leader alone.
func (s *Server) copyHeader(w http.ResponseWriter, from http.Header, result Result) {
	h := w.Header()
	maps.Copy(h, from.Clone())
	for _, line := range from["Connection"] { // names more that was meant for this proxy alone
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopHeaders {
		delete(h, name)
	}
	if result != Miss {
		delete(h, "Set-Cookie")
		delete(h, "X-Request-Id")
	}
}
