package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"reprise/proxy/upstream"
)

// stage is how far a request has come.
type stage int

const (
	naming stage = iota
	connecting
	securing
	asking
	answered
)

// trip is one request to an upstream over the proxy's own transport, and how far it came.
type trip struct {
	err    error
	at     stage // where it failed; answered: it did not
	status int
	body   []byte
	date   string // of the answer
	took   time.Duration
	asked  time.Time // in the middle between the request and its answer
	chain  []*x509.Certificate

	mu     sync.Mutex // protects the rest, which the transport writes
	names  []string   // addresses that were found
	remote string     // to which there was a connection
	seen   stage      // that was begun last
}

// note changes what the transport writes.
func (t *trip) note(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
}

// traced is ctx with what reports the stages.
func (t *trip) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSDone: func(i httptrace.DNSDoneInfo) {
			t.note(func() {
				for _, a := range i.Addrs {
					t.names = append(t.names, a.String())
				}
			})
		},
		ConnectStart: func(string, string) { t.note(func() { t.seen = max(t.seen, connecting) }) },
		ConnectDone: func(_, address string, err error) {
			if err == nil {
				t.note(func() { t.remote, t.seen = address, max(t.seen, asking) }) // over TLS that is corrected
			}
		},
		TLSHandshakeStart: func() { t.note(func() { t.seen = securing }) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				t.note(func() { t.seen = asking })
			}
		},
	})
}

// mostAnswer bounds a list of models.
const mostAnswer = 8 << 20

// send sends a GET by c, whose transport is tap.
func send(ctx context.Context, c *upstream.Client, tap *tap, path string, header http.Header) *trip {
	t := &trip{at: answered}
	r, err := http.NewRequestWithContext(t.traced(ctx), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.err, t.at = err, asking
		return t
	}
	r.Header = header
	began := time.Now()
	w := &taken{header: http.Header{}}
	t.err = passed(c, w, r)
	t.took = time.Since(began)
	t.asked = began.Add(t.took / 2)
	t.status, t.body = w.status, w.body.Bytes()
	t.date, t.chain = tap.seen()
	if t.err != nil {
		t.at = t.stageOf(t.err)
	}
	return t
}

// passed is PassThrough, with an answer that breaks off as an error.
func passed(c *upstream.Client, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the answer breaks off")
		}
	}()
	return c.PassThrough(w, upstream.Request{Original: r}, nil)
}

// stageOf is where an error belongs.
func (t *trip) stageOf(err error) stage {
	t.mu.Lock()
	defer t.mu.Unlock()
	var name *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &name):
		return naming
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert):
		return securing
	case errors.As(err, &op) && op.Op == "dial":
		return connecting
	}
	return t.seen
}

// tap is a transport that keeps of the last answer what the proxy does not pass on.
type tap struct {
	http.RoundTripper
	mu    sync.Mutex // protects the rest
	date  string
	chain []*x509.Certificate
}

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.date = resp.Header.Get("Date")
		if resp.TLS != nil {
			t.chain = resp.TLS.PeerCertificates
		}
	}
	return resp, err
}

func (t *tap) seen() (date string, chain []*x509.Certificate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.date, t.chain
}

// taken is an answer in memory, up to mostAnswer.
type taken struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *taken) Header() http.Header { return w.header }

func (w *taken) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

func (w *taken) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len()+len(p) > mostAnswer {
		return 0, errors.New("the answer is too long")
	}
	return w.body.Write(p)
}
