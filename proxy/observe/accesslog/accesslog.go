// Package accesslog writes one line for each request: how it was answered, and what that took. A line never has a prompt, an answer, a
// credential or a part of a path that a client may choose.
//
// Lines have the form of package slog's, text or JSON, so that they can be a part of the same log. They are put together without
// reflection and without allocations, and are passed to a [Writer], which no request waits for.
package accesslog

import (
	"strconv"
	"sync"
	"time"

	"reprise/proxy/observe"
	"reprise/store"
)

// Line is what the log has of one request. Texts that are empty and numbers that are 0 are left out, except Status, Bytes and Took.
// Texts may come from a client: they are cut at 128 bytes and written in printable ASCII.
type Line struct {
	At         time.Time // when it ended
	ID         string    // of the request, from the client or made by the proxy
	UpstreamID string    // that the upstream has given to it
	Tenant     string    // a digest
	Model      string    // that was asked for
	Endpoint   string    // the name of an API, or a path as from [observe.Path]
	Result     string    // as in X-Cache
	Why        string    // as in the detail of Cache-Status
	Upstream   string    // its name
	Band       int       // the similarity of a hit by meaning in hundredths, rounded down to a multiple of 5
	Status     int       // of the answer; 0: none was begun
	Bytes      int64     // of the answer's body
	Took       time.Duration
	Waited     time.Duration // that the upstream took
	Saved      int64         // tokens that the upstream did not have to read or make
	Stream     bool          // the client asked for a stream
}

// Options configures a Log.
type Options struct {
	Out     *Writer // required
	JSON    bool    // and not text
	Enabled func() bool
}

// Log writes lines. It is safe for concurrent use.
type Log struct {
	o       Options
	buffers sync.Pool // of *[]byte
	clock   clock
}

// New returns a Log. Where Enabled is set, it is asked before each line.
func New(o Options) *Log {
	return &Log{o: o, buffers: sync.Pool{New: func() any { b := make([]byte, 0, 1<<10); return &b }}}
}

// takes reports whether the lines of requests are to be written, so that no other one is put together. A nil Log takes none.
func (log *Log) takes() bool { return log != nil && (log.o.Enabled == nil || log.o.Enabled()) }

// Write writes l. It takes less than a microsecond, and never waits for the disk.
func (log *Log) Write(l *Line) {
	b := log.buffers.Get().(*[]byte)
	if *b = (*b)[:0]; log.o.JSON {
		*b = l.appendJSON(*b, &log.clock)
	} else {
		*b = l.appendText(*b, &log.clock)
	}
	log.o.Out.Line(*b)
	log.buffers.Put(b)
}

// appendText appends the line as slog's TextHandler writes one, with its newline.
func (l *Line) appendText(b []byte, c *clock) []byte {
	b = append(c.appendTime(append(b, "time="...), l.At), " level=INFO msg=access"...)
	return append(l.fields(b, text), '\n')
}

// appendJSON appends the line as slog's JSONHandler writes one, with its newline.
func (l *Line) appendJSON(b []byte, c *clock) []byte {
	b = append(c.appendTime(append(b, `{"time":"`...), l.At), `","level":"INFO","msg":"access"`...)
	return append(l.fields(b, inJSON), '}', '\n')
}

// fields appends all fields after the message, in one order for both forms.
func (l *Line) fields(b []byte, f *form) []byte {
	b = f.text(b, requestID, l.ID, mostText)
	b = f.text(b, tenant, l.Tenant, mostText)
	b = f.text(b, endpoint, l.Endpoint, mostText)
	b = f.text(b, model, l.Model, mostText)
	b = f.text(b, result, l.Result, mostText)
	b = f.text(b, why, l.Why, mostReason)
	if l.Band > 0 {
		b = strconv.AppendFloat(f.name(b, similarity), float64(l.Band)/100, 'f', 2, 64)
	}
	b = strconv.AppendInt(f.name(b, status), int64(l.Status), 10)
	b = strconv.AppendInt(f.name(b, size), l.Bytes, 10)
	if l.Stream {
		b = append(f.name(b, stream), "true"...)
	}
	b = appendMillis(f.name(b, duration), l.Took)
	if l.Waited > 0 {
		b = appendMillis(f.name(b, waited), l.Waited)
	}
	if l.Saved > 0 {
		b = strconv.AppendInt(f.name(b, saved), l.Saved, 10)
	}
	b = f.text(b, upstream, l.Upstream, mostText)
	return f.text(b, upstreamID, l.UpstreamID, mostText)
}

// appendMillis appends milliseconds, to the microsecond.
func appendMillis(b []byte, d time.Duration) []byte {
	us := max(d, 0).Microseconds()
	b = strconv.AppendInt(b, us/1000, 10)
	rest := us % 1000
	return append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// Ended writes the line of a request.
func (log *Log) Ended(o *observe.Outcome) {
	if !o.Answered || !log.takes() {
		return
	}
	log.Write(&Line{At: o.At, ID: o.ID, UpstreamID: o.UpstreamID, Tenant: o.Tenant, Model: o.Model, Endpoint: o.Place(), Result: o.Result.String(), Why: o.Why(),
		Upstream: o.Upstream, Band: o.Band, Status: o.Status, Bytes: o.Bytes, Took: o.Took, Waited: o.Waited, Saved: o.Saved(), Stream: o.Stream})
}

// Forget does nothing: a line is written when its request has ended, and has no prompt.
func (log *Log) Forget(store.Filter) {}
