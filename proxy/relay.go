package proxy

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"reprise/proxy/answer"
	"reprise/proxy/upstream"
)

// relay writes the recording of a flight to one of its waiters.
func (s *Server) relay(w http.ResponseWriter, q *query, o *outcome, leader bool) (Result, error) {
	t := tells{result: Miss, fwd: s.reason(q), detail: slices.Clone(o.found.detail)}
	if !leader {
		t = tells{result: Shared}
	}
	streamed := answer.IsStream(o.rec.Header.Get("Content-Type"))
	var err error
	switch {
	case o.rec.Status == http.StatusOK && streamed != q.Stream && !leader:
		err = s.relayConverted(w, q, o, t) // asked for the other form than the leader
	case streamed:
		err = s.relayStream(w, q, o, t)
	default:
		err = s.relayWhole(w, q, o, t)
	}
	if err == nil && !leader {
		s.shared(q, o)
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
func (s *Server) relayWhole(w http.ResponseWriter, q *query, o *outcome, t tells) error {
	body, err := o.rec.Wait(q.http.Context(), s.opts.MaxEntryBytes)
	if errors.Is(err, upstream.ErrTooLarge) {
		if t.result == Miss {
			t.detail = append(t.detail, "not-stored=size")
		}
		return s.relayStream(w, q, o, t)
	}
	if err != nil {
		return clientOr(q, err)
	}
	s.copyHeader(w, o.rec.Header, t.result)
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	o.describe(&t)
	t.write(w.Header())
	w.WriteHeader(o.rec.Status)
	w.Write(body)
	return nil
}

// relayStream writes an answer while it grows. A recording that is cut cuts the client too: a clean end would pass half
// an answer off as a whole one.
func (s *Server) relayStream(w http.ResponseWriter, q *query, o *outcome, t tells) error {
	s.copyHeader(w, o.rec.Header, t.result)
	t.write(w.Header())
	w.WriteHeader(o.rec.Status)
	out := http.NewResponseController(w)
	out.Flush()
	var filter *answer.UsageFilter
	if answer.IsStream(o.rec.Header.Get("Content-Type")) && q.hidesUsage(o, t.result) {
		filter = &answer.UsageFilter{Streams: q.family.Answers.Streams}
	}
	var buf []byte
	for off := 0; ; {
		p, end, err := o.rec.Next(q.http.Context(), off)
		if err != nil && len(p) == 0 {
			return o.leftBy(q)
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
			return o.leftBy(q)
		}
		if end {
			return nil
		}
		out.Flush()
	}
}

// hidesUsage reports whether q's client must not see the usage that the stream of o may report: it asked for none, and
// the proxy or the client that leads the flight did.
func (q *query) hidesUsage(o *outcome, result Result) bool {
	return !q.IncludeUsage && (o.addedUsage || result == Shared && q.family.UsageOption)
}

// leftBy is the end of a relay before the recording's own. Clients close a stream as soon as they have read its terminal
// event: they have their answer.
func (o *outcome) leftBy(q *query) error {
	if q.http.Context().Err() != nil && q.family.Answers.Ended(o.rec.Bytes()) {
		return nil
	}
	return errCut
}

// relayConverted waits for the end and replays the answer in the form that this follower asked for. What is no whole answer
// has no other form: an error under status 200 would become an empty stream.
func (s *Server) relayConverted(w http.ResponseWriter, q *query, o *outcome, t tells) error {
	body, err := o.rec.Wait(q.http.Context(), s.opts.MaxEntryBytes)
	if errors.Is(err, upstream.ErrTooLarge) {
		return &replayError{0, err}
	}
	if err != nil {
		return clientOr(q, err)
	}
	switch o.kept.reason {
	case answer.ReasonError, answer.ReasonMalformed, answer.ReasonIncomplete:
		return &replayError{o.kept.id, errors.New("no whole answer: " + o.kept.reason)}
	}
	z, err := answer.Freeze(q.family.Answers, o.rec.Header.Get("Content-Type"), body)
	if err != nil {
		return &replayError{o.kept.id, err}
	}
	o.describe(&t)
	return s.replay(w, q, z, &t)
}

func clientOr(q *query, err error) error {
	if q.http.Context().Err() != nil {
		return errClientGone
	}
	return err
}

// describe adds what became of the recording; call it only after the recording has ended.
func (o *outcome) describe(t *tells) {
	if o.kept.id != 0 {
		t.stored, t.entry = true, o.kept.id
	} else if o.kept.reason != "" && t.result == Miss {
		t.detail = append(t.detail, "not-stored="+o.kept.reason)
	}
}

// shared counts a follower's answer as one more use of the entry made of it.
func (s *Server) shared(q *query, o *outcome) {
	select {
	case <-o.done:
	case <-q.http.Context().Done():
		return
	}
	if o.kept == nil || o.kept.id == 0 {
		return
	}
	if e, ok := s.cache.Get(o.kept.id); ok {
		s.touch(q, e, nil)
		s.metrics.savedBy(Shared, e)
	}
}

// copyHeader passes the upstream's header on. What is one client's own, such as a cookie, goes to the leader alone.
func (s *Server) copyHeader(w http.ResponseWriter, from http.Header, result Result) {
	h := w.Header()
	upstream.CopyHeader(h, from)
	if result != Miss {
		delete(h, "Set-Cookie")
		delete(h, "X-Request-Id")
	}
}
