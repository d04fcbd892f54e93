package accesslog

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"
)

// Writer passes lines on to another writer, such as a file or a pipe, in a goroutine of its own: what it takes may be slow, full or
// closed, and no caller waits for it. Lines for which there is no room are dropped and counted, and so are those that could not be
// written. It is safe for concurrent use.
//
// Lines of [Writer.Line] are written within a second, or when 64 KiB have come. Those of [Writer.Write], which is for a log of events,
// are written at once, and there is room for them that the others cannot take.
type Writer struct {
	out   io.Writer
	form  *form         // of the line about dropped lines
	every time.Duration // the longest time that a line waits

	mu     sync.Mutex // protects what follows
	buf    []byte     // lines that wait
	closed bool
	lost   int64 // lines

	wake   chan struct{} // something waits
	urgent chan struct{} // and is to be written now
	done   chan struct{} // closed after the last write

	// Of the goroutine alone:
	spare []byte
	torn  bool  // the last write has ended within a line
	said  int64 // of lost, what the log says
}

const (
	mostWaiting  = 1 << 20   // bytes of lines that wait
	reserved     = 256 << 10 // bytes beside them for the log of events
	enoughToSend = 64 << 10
	longestWait  = time.Second
)

// NewWriter returns a Writer to out, and starts its goroutine. The caller closes it.
func NewWriter(out io.Writer, json bool) *Writer {
	return newWriter(out, json, longestWait)
}

func newWriter(out io.Writer, json bool, every time.Duration) *Writer {
	w := &Writer{out: out, form: text, every: every, wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{})}
	if json {
		w.form = inJSON
	}
	go w.run()
	return w
}

// Line takes one line with its newline, and copies it.
func (w *Writer) Line(line []byte) { w.take(line, mostWaiting, false) }

// Write takes a line of the log of events, and copies it. It never fails: a line for which there is no room is dropped.
func (w *Writer) Write(line []byte) (int, error) {
	w.take(line, mostWaiting+reserved, true)
	return len(line), nil
}

// take adds a line where at most so many bytes wait then.
func (w *Writer) take(line []byte, most int, now bool) {
	w.mu.Lock()
	if w.closed || len(w.buf)+len(line) > most {
		w.lost++
		w.mu.Unlock()
		return
	}
	first := len(w.buf) == 0
	w.buf = append(w.buf, line...)
	now = now || len(w.buf) >= enoughToSend
	w.mu.Unlock()
	if first {
		signal(w.wake)
	}
	if now {
		signal(w.urgent)
	}
}

// signal leaves a signal in c, unless there is one already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Lost is the number of lines that were dropped or could not be written.
func (w *Writer) Lost() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// errStuck is the error of Close for an out that takes nothing more.
var errStuck = errors.New("flush the log: it takes nothing more")

// Close writes what waits, and gives up after limit. Lines that come later are dropped.
func (w *Writer) Close(limit time.Duration) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	signal(w.wake)
	signal(w.urgent)
	select {
	case <-w.done:
		return nil
	case <-time.After(limit):
		return errStuck
	}
}

func (w *Writer) run() {
	defer close(w.done)
	timer := time.NewTimer(w.every)
	for {
		<-w.wake
		timer.Reset(w.every)
		select {
		case <-w.urgent:
		case <-timer.C:
		}
		if closed := w.flush(); closed {
			return
		}
	}
}

// flush writes what waits, and reports whether nothing more will come.
func (w *Writer) flush() (closed bool) {
	w.mu.Lock()
	batch, lost := w.buf, w.lost
	w.buf, closed = w.spare[:0], w.closed
	w.mu.Unlock()
	w.spare = batch
	if len(batch) == 0 && lost == w.said {
		return closed
	}
	head := 0 // bytes of the batch that are not of its lines
	if w.torn || lost > w.said {
		var own []byte
		if w.torn {
			own = append(own, '\n')
		}
		if lost > w.said {
			own = w.appendLost(own, lost-w.said)
		}
		head, batch = len(own), append(own, batch...)
	}
	n, err := w.out.Write(batch)
	if err == nil {
		w.torn, w.said = false, lost
		return closed
	}
	if n > 0 {
		w.torn = batch[n-1] != '\n'
	}
	w.mu.Lock()
	w.lost += int64(bytes.Count(batch[max(n, head):], []byte("\n")))
	w.mu.Unlock()
	return closed
}

// appendLost appends a line that says how many are missing before it.
func (w *Writer) appendLost(b []byte, n int64) []byte {
	var c clock
	before, message, end := "time=", ` level=WARN msg="the log lacks lines"`, "\n"
	if w.form == inJSON {
		before, message, end = `{"time":"`, `","level":"WARN","msg":"the log lacks lines"`, "}\n"
	}
	b = append(c.appendTime(append(b, before...), time.Now()), message...)
	return append(strconv.AppendInt(w.form.name(b, lost), n, 10), end...)
}
