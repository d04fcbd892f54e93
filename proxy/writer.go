package proxy

import (
	"net/http"
	"time"
)

// patientWriter gives every write to a client a deadline of its own: a client that has stopped reading is let go, while
// a long stream to one that reads may last.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

func (s *Server) patientWriter(w http.ResponseWriter) *patientWriter {
	return &patientWriter{ResponseWriter: w, control: http.NewResponseController(w), limit: s.opts.Limits.ClientWrite}
}

func (w *patientWriter) Write(p []byte) (int, error) {
	w.arm()
	return w.ResponseWriter.Write(p)
}

func (w *patientWriter) Flush() {
	w.arm()
	_ = w.control.Flush()
}

func (w *patientWriter) arm() {
	if w.limit > 0 {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.limit))
	}
}

func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// tellingWriter adds the cache's tells to the header just before it is sent, beside what the upstream has put there.
type tellingWriter struct {
	http.ResponseWriter
	tells  tells
	told   bool
	body   *patientBody // of the request, where it is still being read
	failed error        // why there is no answer to write
}

func (w *tellingWriter) WriteHeader(status int) {
	if !w.told && status >= 200 {
		w.told = true
		w.tells.write(w.Header())
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *tellingWriter) Write(p []byte) (int, error) {
	if !w.told {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

func (w *tellingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
