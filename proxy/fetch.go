package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"reprise/proxy/answer"
	"reprise/proxy/canon"
)

// fetch asks the upstream and carries its answer into a recording, for every waiter of f.
func (s *Server) fetch(f *flight, q *query, found *finding) {
	start := s.opts.Now()
	resp, addedUsage, err := s.ask(f.ctx, q)
	if err != nil || staleMayStandIn(resp.StatusCode) {
		if hit := s.staleHit(q); hit != nil {
			if err == nil {
				resp.Body.Close()
			}
			f.land(func() { f.served = hit })
			return
		}
	}
	if err != nil {
		if f.ctx.Err() == nil {
			s.fault(f.ctx, "upstream", err)
		}
		f.land(func() { f.err = err })
		return
	}
	defer resp.Body.Close()
	rec := newRecording(resp.StatusCode, resp.Header)
	f.land(func() { f.rec, f.asker, f.found, f.addedUsage = rec, q.http.Header, found, addedUsage })
	err = s.record(f, q, rec, resp.Body)
	took := s.opts.Now().Sub(start)
	if said := saidProcessing(resp.Header); said > took {
		took = said
	}
	s.metrics.step(stepUpstream, took)
	f.kept = s.keep(q, found, rec, err, took)
	if err != nil && f.kept.complete {
		err = nil // it was cut behind its end, by a client that left on [DONE]
	}
	if err != nil && f.ctx.Err() == nil {
		s.fault(f.ctx, "upstream", err)
	}
	rec.finish(err)
}

// record copies an answer into its recording. One that is too large to be kept is not held either, where one client alone
// reads it: an answer without an end must not take the memory of everybody.
func (s *Server) record(f *flight, q *query, rec *recording, body io.Reader) error {
	buf := recordBuffers.Get()
	defer recordBuffers.Put(buf)
	for open := true; ; {
		n, err := body.Read(buf)
		if n > 0 {
			rec.Write(buf[:n])
		}
		if open && rec.size() > s.opts.MaxEntryBytes {
			open = false
			if s.flights.seal(q.Key, f) {
				rec.narrowDown()
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		rec.room(f.ctx)
	}
}

var recordBuffers = newBufferPool()

// staleMayStandIn are the statuses that RFC 5861 calls an error.
func staleMayStandIn(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// saidProcessing is the time that the upstream says it took.
func saidProcessing(h http.Header) time.Duration {
	ms, err := strconv.ParseFloat(h.Get("Openai-Processing-Ms"), 64)
	if err != nil || !(ms > 0) || ms > 1e8 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// ask sends q's own bytes. One edit is made: a stream is asked to report its usage, because a stored answer must know
// it; a client that did not ask is not shown it. An upstream that refuses the field is asked again without, and not
// bothered with it any more.
func (s *Server) ask(ctx context.Context, q *query) (resp *http.Response, addedUsage bool, err error) {
	body := originalResponse(q.Body)
	if s.wantsUsage(q) {
		if edited, err := sjson.SetRawBytes(body, "stream_options.include_usage", []byte("true")); err == nil {
			resp, err := s.upstream.send(ctx, q.http, edited)
			if err != nil || resp.StatusCode != http.StatusBadRequest || !refusesUsage(resp) {
				return resp, true, err
			}
			s.upstream.noUsageOption.Store(true)
			s.log.Warn("the upstream refuses stream_options; streams are stored without usage from now on")
		}
	}
	resp, err = s.upstream.send(ctx, q.http, body)
	return resp, false, err
}

// wantsUsage reports whether the proxy must ask for the usage of a stream in the client's place.
func (s *Server) wantsUsage(q *query) bool {
	return q.Stream && !q.IncludeUsage && q.hasUsageOption() &&
		!q.d.NoStore && !s.upstream.noUsageOption.Load()
}

// hasUsageOption reports whether streams of q's API tell their usage only to those who ask for it.
func (q *query) hasUsageOption() bool { return q.Family == canon.Chat || q.Family == canon.Completions }

// refusesUsage reports whether an error answer is about the field we added; if it is not, the answer is as before.
func refusesUsage(resp *http.Response) bool {
	head, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil && (bytes.Contains(head, []byte("stream_options")) || bytes.Contains(head, []byte("include_usage"))) {
		resp.Body.Close()
		return true
	}
	resp.Body = &prefixedBody{Reader: io.MultiReader(bytes.NewReader(head), resp.Body), Closer: resp.Body}
	return false
}

type prefixedBody struct {
	io.Reader
	io.Closer
}

// originalResponse replaces a previous_response_id that names a replayed answer by the id that the upstream knows.
func originalResponse(body []byte) []byte {
	id := gjson.GetBytes(body, "previous_response_id")
	if id.Type != gjson.String {
		return body
	}
	original, ok := answer.OriginalID(id.String())
	if !ok {
		return body
	}
	edited, err := sjson.SetBytes(body, "previous_response_id", original)
	if err != nil {
		return body
	}
	return edited
}

// originalPath does the same for a path that names a replayed answer, such as /v1/responses/{id}/input_items.
func originalPath(path string) string {
	const under = "/v1/responses/"
	rest, ok := strings.CutPrefix(path, under)
	if !ok {
		return path
	}
	id, _, _ := strings.Cut(rest, "/")
	original, ok := answer.OriginalID(id)
	if !ok {
		return path
	}
	return under + original + rest[len(id):]
}
