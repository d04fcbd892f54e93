// Package accesslog writes one line for each request: how it was answered, and what that took. A line never has a prompt, an answer, a
// credential or a part of a path that a client may choose.
//
// Fields that are empty or 0 are left out, except status, bytes and duration. Texts may come from a client: they are cut at 128 bytes and written
// in printable ASCII. Lines have the form of package slog's, text or JSON, so that they can be a part of the same log. They are put together without
// reflection and without allocations, and are passed to a [Writer], which no request waits for.
package accesslog

import (
	"strconv"
	"sync"
	"time"

	"reprise/proxy/observe"
	"reprise/store"
)

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

// Ended writes the line of a request. It takes less than a microsecond, and never waits for the disk.
func (log *Log) Ended(o *observe.Outcome) {
	if !o.Answered || !log.takes() {
		return
	}
	b := log.buffers.Get().(*[]byte)
	if *b = (*b)[:0]; log.o.JSON {
		*b = appendJSON(*b, o, &log.clock)
	} else {
		*b = appendText(*b, o, &log.clock)
	}
	log.o.Out.Line(*b)
	log.buffers.Put(b)
}

// Forget does nothing: a line is written when its request has ended, and has no prompt.
func (log *Log) Forget(store.Filter) {}

// appendText appends the line as slog's TextHandler writes one, with its newline.
func appendText(b []byte, o *observe.Outcome, c *clock) []byte {
	b = append(c.appendTime(append(b, "time="...), o.At), " level=INFO msg=access"...)
	return append(appendFields(b, o, text), '\n')
}

// appendJSON appends the line as slog's JSONHandler writes one, with its newline.
func appendJSON(b []byte, o *observe.Outcome, c *clock) []byte {
	b = append(c.appendTime(append(b, `{"time":"`...), o.At), `","level":"INFO","msg":"access"`...)
	return append(appendFields(b, o, inJSON), '}', '\n')
}

// appendFields appends all fields after the message, in one order for both forms.
func appendFields(b []byte, o *observe.Outcome, f *form) []byte {
	b = f.text(b, requestID, o.ID, mostText)
	b = f.text(b, tenant, o.Tenant, mostText)
	b = f.text(b, endpoint, o.Place(), mostText)
	b = f.text(b, model, o.Model, mostText)
	b = f.text(b, result, o.Result.String(), mostText)
	b = f.text(b, why, o.Why(), mostReason)
	if o.Band > 0 {
		b = strconv.AppendFloat(f.name(b, similarity), float64(o.Band)/100, 'f', 2, 64)
	}
	b = strconv.AppendInt(f.name(b, status), int64(o.Status), 10)
	b = strconv.AppendInt(f.name(b, size), o.Bytes, 10)
	if o.Stream {
		b = append(f.name(b, stream), "true"...)
	}
	b = appendMillis(f.name(b, duration), o.Took)
	if o.Waited > 0 {
		b = appendMillis(f.name(b, waited), o.Waited)
	}
	if n := o.Saved(); n > 0 {
		b = strconv.AppendInt(f.name(b, saved), n, 10)
	}
	b = f.text(b, upstream, o.Upstream, mostText)
	return f.text(b, upstreamID, o.UpstreamID, mostText)
}

// appendMillis appends milliseconds, to the microsecond.
func appendMillis(b []byte, d time.Duration) []byte {
	us := max(d, 0).Microseconds()
	b = strconv.AppendInt(b, us/1000, 10)
	rest := us % 1000
	return append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}
