package proxy

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/internal/apierror"
)

// keepalive writes a comment to a client that waits for a stream, each time that nothing was written to it for a while: load
// balancers and clients give up connections on which nothing comes. Comments are written to the client only, and only between events,
// because many clients split a stream at empty lines before they look at its fields.
//
// A client that waits for the beginning of a stream gets status 200 with the first comment. An answer that then turns out not to be a
// stream, such as an error, reaches it as an event: OpenAI's libraries raise the error of one that has the member "error", and Anthropic's that
// of one with the name "error".
type keepalive struct {
	http.ResponseWriter
	control *http.ResponseController
	family  *api.Family // of the endpoint; nil: it is not cached
	every   time.Duration

	mu     sync.Mutex // guards what follows, and the ResponseWriter while its timer runs
	header http.Header
	timer  *time.Timer // nil: the client does not wait for a stream, as far as is known
	early  bool        // the header was sent with a comment
	begun  bool        // the handler has sent its header
	over   bool        // the handler has returned
	stream bool        // what the handler writes is a stream of events
	tail   []byte      // the last bytes of it, up to four
	other  *bytes.Buffer
	status int // of other
}

// maxOther is how much is held of an answer that is no stream although the client has been promised one.
const maxOther = 1 << 20

// comment is a comment of a stream of events.
const comment = ": keepalive\n\n"

// keepingAlive returns h, the handler of an endpoint of f, with comments, if there are to be any.
func (s *Server) keepingAlive(h http.HandlerFunc, f *api.Family) http.HandlerFunc {
	if s.opts.Keepalive <= 0 {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) {
		k, regular := newKeepalive(w, s.opts.Keepalive, f), false
		defer func() { k.end(regular) }()
		h(k, r)
		regular = true
	}
}

func newKeepalive(w http.ResponseWriter, every time.Duration, f *api.Family) *keepalive {
	return &keepalive{ResponseWriter: w, control: http.NewResponseController(w), family: f, every: every, header: http.Header{}}
}

// awaitStream notes that the client asks for a stream. It does nothing without a keepalive.
func awaitStream(w http.ResponseWriter) {
	if k, ok := w.(*keepalive); ok {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.startLocked()
	}
}

func (k *keepalive) startLocked() {
	if k.timer == nil {
		k.timer = time.AfterFunc(k.every, k.beat)
	}
}

// beat writes a comment, where one may be written now.
func (k *keepalive) beat() {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.over || k.other != nil || k.begun && !k.stream:
		return
	case !k.begun && !k.early:
		k.early = true
		h := k.ResponseWriter.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache")
		h.Set("Cache-Status", `reprise; detail="keepalive"`)
		k.ResponseWriter.WriteHeader(http.StatusOK)
	}
	if k.betweenLocked() {
		if _, err := k.ResponseWriter.Write([]byte(comment)); err != nil {
			return // the client has left
		}
		_ = k.control.Flush()
	}
	k.timer.Reset(k.every)
}

// betweenLocked reports whether what was written ends with an event.
func (k *keepalive) betweenLocked() bool {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if bytes.HasSuffix(k.tail, []byte(end)) {
			return true
		}
	}
	return len(k.tail) == 0
}

// Header is the handler's own until it is sent: a comment may send another meanwhile.
func (k *keepalive) Header() http.Header {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.begun && !k.early {
		return k.ResponseWriter.Header()
	}
	return k.header
}

// WriteHeader begins the handler's answer.
func (k *keepalive) WriteHeader(status int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.beginLocked(status)
}

func (k *keepalive) beginLocked(status int) {
	final := status >= 200 || status == http.StatusSwitchingProtocols
	if k.begun || k.early && !final {
		return
	}
	k.stream = status == http.StatusOK && answer.IsEventStream(k.header.Get("Content-Type"))
	if k.early {
		if k.begun = true; !k.stream {
			k.other, k.status = new(bytes.Buffer), status
		}
		return
	}
	maps.Copy(k.ResponseWriter.Header(), k.header)
	k.ResponseWriter.WriteHeader(status)
	// Comments would make an answer longer than it says.
	k.stream = k.stream && k.header.Get("Content-Length") == "" && k.header.Get("Content-Encoding") == ""
	if k.begun = final; k.stream {
		k.startLocked()
	}
}

func (k *keepalive) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.begun {
		k.beginLocked(http.StatusOK)
	}
	if k.other != nil {
		if k.other.Len()+len(p) <= maxOther {
			return k.other.Write(p)
		}
		return 0, errCut
	}
	n, err := k.ResponseWriter.Write(p)
	if k.stream {
		k.tail = append(k.tail, p[max(0, n-4):n]...)
		k.tail = k.tail[max(0, len(k.tail)-4):]
		k.timer.Reset(k.every)
	}
	return n, err
}

// FlushError sends what was written.
func (k *keepalive) FlushError() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.other != nil {
		return nil
	}
	if !k.begun {
		k.beginLocked(http.StatusOK)
	}
	return k.control.Flush()
}

// end stops the comments; the handler must not write any more. An answer that is no stream is written as an event, if the handler
// has returned regularly.
func (k *keepalive) end(regular bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.timer != nil {
		k.timer.Stop()
	}
	if k.other != nil && regular {
		k.ResponseWriter.Write(asEvent(k.family, k.status, k.other.Bytes()))
	}
}

// asEvent is an answer as an event of f. A body that is not an object of JSON becomes an error that names its status.
func asEvent(f *api.Family, status int, body []byte) []byte {
	var line bytes.Buffer
	if body = bytes.TrimSpace(body); !bytes.HasPrefix(body, []byte("{")) || json.Compact(&line, body) != nil {
		e := &apierror.Error{Status: status, Type: apierror.TypeUpstream, Code: "upstream_status",
			Message: "The upstream answered with status " + strconv.Itoa(status) + "."}
		if status < http.StatusBadRequest {
			status, e.Status = http.StatusBadGateway, http.StatusBadGateway
		}
		line.Reset()
		line.Write(f.Error(e))
	}
	head := "data: "
	if f.ErrorEvent != "" && status >= http.StatusBadRequest {
		head = "event: " + f.ErrorEvent + "\n" + head
	}
	return slices.Concat([]byte(head), line.Bytes(), []byte("\n\n"))
}

func (k *keepalive) Unwrap() http.ResponseWriter { return k.ResponseWriter }
