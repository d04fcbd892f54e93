package proxy

import (
	"net/http"
	"time"
)

// deadlineWriter gives every write to a client a deadline of its own: a client that has stopped reading is disconnected,
// while a long stream to a client that reads may last.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration // not positive: none
}

func newDeadlineWriter(w http.ResponseWriter, limit time.Duration) *deadlineWriter {
	return &deadlineWriter{ResponseWriter: w, control: http.NewResponseController(w), limit: limit}
}

func (w *deadlineWriter) Write(p []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(p)
}

func (w *deadlineWriter) Flush() {
	w.extend()
	_ = w.control.Flush()
}

func (w *deadlineWriter) extend() {
	if w.limit > 0 {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.limit))
	}
}

func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
