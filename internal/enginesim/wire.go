package enginesim

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// wire writes one answer with its fault.
type wire struct {
	http.ResponseWriter
	ctx   context.Context
	fault *Fault
	sleep func(context.Context, time.Duration) error
	zip   *gzip.Writer
	sent  int  // bytes of the body, before compression
	began bool // the headers are sent
	paced bool // every event is flushed by itself
}

// whole sends a complete body.
func (w *wire) whole(status int, contentType string, body []byte) error {
	if w.fault.Malformed && !w.fault.replaces() {
		body = body[:len(body)/2]
	}
	w.Header().Set("Content-Type", contentType)
	if !w.fault.Gzip {
		length := max(0, len(body)+w.fault.WrongLength)
		w.Header().Set("Content-Length", strconv.Itoa(length))
		body = body[:min(len(body), length)] // net/http would not send more
	}
	if err := w.begin(status); err != nil {
		return err
	}
	if err := w.send(body); err != nil {
		return err
	}
	return w.end()
}

func (w *wire) json(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.whole(http.StatusOK, "application/json", body)
}

// begin sends the headers.
func (w *wire) begin(status int) error {
	if w.fault.Gzip {
		w.Header().Set("Content-Encoding", "gzip")
		w.zip = gzip.NewWriter(w.ResponseWriter)
	}
	for name, values := range w.fault.Header {
		w.Header()[name] = values
	}
	w.began = true
	w.WriteHeader(status)
	headersOnly := w.fault.Silence && w.fault.CutAfter == 0 && w.fault.CutEvents == 0
	if w.fault.CutAfter < 0 || headersOnly {
		return w.cut()
	}
	return nil
}

// send writes p, byte by byte or up to the cut if the fault is that.
func (w *wire) send(p []byte) error {
	step := len(p)
	if w.fault.SplitBytes {
		step = 1
	}
	for len(p) > 0 {
		n := min(step, len(p))
		if err := w.write(p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

func (w *wire) write(p []byte) error {
	cut := w.fault.CutAfter > 0 && w.sent+len(p) >= w.fault.CutAfter
	if cut {
		p = p[:w.fault.CutAfter-w.sent]
	}
	w.sent += len(p)
	if _, err := w.body().Write(p); err != nil {
		return errGone
	}
	if cut {
		return w.cut()
	}
	if w.paced || w.fault.SplitBytes {
		w.flush()
	}
	return nil
}

func (w *wire) body() io.Writer {
	if w.zip != nil {
		return w.zip
	}
	return w.ResponseWriter
}

func (w *wire) flush() {
	if w.zip != nil {
		_ = w.zip.Flush() // a broken connection fails at the next write
	}
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func (w *wire) end() error {
	if w.zip != nil && w.zip.Close() != nil {
		return errGone
	}
	return nil
}

// cut ends the answer here: at once, or when the client leaves.
func (w *wire) cut() error {
	w.flush()
	if w.fault.Silence {
		<-w.ctx.Done()
		return errGone
	}
	return errCut
}

// sse writes the events of a stream. After its first error it writes nothing.
type sse struct {
	*wire
	events int
	eol    string
	buf    []byte // of one event
	err    error
}

// stream sends the headers of an event stream. Events are flushed one by one only if there is time between them.
func (w *wire) stream() *sse {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	s := &sse{wire: w, eol: "\n"}
	if w.fault.CRLF {
		s.eol = "\r\n"
	}
	s.err = w.begin(http.StatusOK)
	return s
}

// wait returns when n tokens of each choice of r are made; see run.wait.
func (s *sse) wait(r *run, n int) {
	if s.err == nil {
		s.err = r.wait(s.ctx, n)
	}
}

// event sends v under a name, which may be empty, with the fault of the stream.
func (s *sse) event(name string, v any) {
	data, err := json.Marshal(v)
	if s.err == nil {
		s.err = err
	}
	if s.err != nil {
		return
	}
	s.events++
	if s.events == 2 && s.fault.Malformed {
		s.raw("", []byte(`{"id":"chatcmpl-sim","object":`))
	}
	if s.fault.HugeEvent > 0 && s.events == 1 {
		data = pad(data, s.fault.HugeEvent)
	}
	s.raw(name, data)
	switch {
	case s.err != nil:
	case s.fault.ErrorEvent && s.events >= max(s.fault.CutEvents, 2):
		s.err = errInStream
	case s.fault.CutEvents > 0 && s.events >= s.fault.CutEvents:
		s.err = s.cut()
	}
}

// raw sends data as it is.
func (s *sse) raw(name string, data []byte) {
	if s.err != nil {
		return
	}
	b := s.buf[:0]
	if s.fault.Comments {
		b = append(b, ": keep-alive"+s.eol+s.eol...)
	}
	if name != "" {
		b = append(b, "event: "+name+s.eol...)
	}
	b = append(b, "data: "...)
	b = append(b, data...)
	s.buf = append(b, s.eol+s.eol...)
	s.err = s.send(s.buf)
}

// failed reports whether the stream is to report an error under status 200, and lets it go on.
func (s *sse) failed() bool {
	if s.err != errInStream {
		return false
	}
	s.err = nil
	return true
}

// done ends a stream of chat chunks, and finish any stream.
func (s *sse) done() error {
	if s.failed() {
		s.raw("", faultError(http.StatusInternalServerError).body())
	}
	if !s.fault.NoDone {
		s.raw("", []byte("[DONE]"))
	}
	return s.finish()
}

func (s *sse) finish() error {
	if s.err != nil {
		return s.err
	}
	return s.end()
}

// pad adds a field of n bytes to a JSON object that has others.
func pad(data []byte, n int) []byte {
	return append(append([]byte(`{"obfuscation":"`), strings.Repeat("x", n)...), append([]byte(`",`), data[1:]...)...)
}
