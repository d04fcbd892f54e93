package upstream

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/internal/header"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream/dialect"
)

// Beginning is called when an answer begins that passes through, before its header is written to the client. It must leave the body of the
// reply alone, and has to end its span.
type Beginning interface{ Begins(*Reply) }

// PassThrough forwards r to a replica, its body unchanged except for a model's name that the replica has under another one, and the answer
// as it arrives. A replica that refuses the request before it has worked on it is followed by another one, as long as the body can be had
// again. An error means that no answer has begun. An answer that breaks off, or that the client does not take, panics with
// [http.ErrAbortHandler], which closes the client's connection. begin may be nil.
//
// It is what [httputil.ReverseProxy] does, in a third of its allocations and with fewer writes: a short body goes out with the header,
// and a short answer with its own. A change of protocol is left to ReverseProxy.
func (c *Client) PassThrough(w http.ResponseWriter, r Request, begin Beginning) error {
	in := r.Original
	upgraded := upgrades(in.Header)
	rest := io.Reader(in.Body)
	var err error
	switch {
	case r.Body != nil || upgraded:
	case isShort(in):
		r.Body, err = readShort(in)
	case c.strips && in.ContentLength != 0:
		r.Body, rest, err = readObject(in.Body)
	}
	if err != nil {
		return err
	}
	if r.Model == "" && c.modelMatters {
		r.Model = modelIn(r.Body)
	}
	x := call{c: c, r: r, through: w, body: rest}
	if upgraded {
		return x.upgrade()
	}
	if r.Body == nil && in.ContentLength != 0 {
		defer whileAnswered(w, in)()
	}
	reply, err := x.run(in.Context())
	if err != nil {
		return err
	}
	defer reply.Body.Close() // also after a panic
	if begin != nil {
		begin.Begins(reply)
	} else {
		reply.Span.End()
	}
	c.deliver(w, reply.Response)
	return nil
}

// passEarly writes an early answer (1xx) to the client, and leaves none of its fields in the header of the final one.
func passEarly(w http.ResponseWriter, status int, early http.Header) {
	if status == http.StatusContinue { // net/http's server sends it when the transport begins to read the body
		return
	}
	h := w.Header()
	own := maps.Clone(h) // such as the id of the request
	maps.Copy(h, early)
	w.WriteHeader(status)
	clear(h)
	maps.Copy(h, own)
}

// modelIn is the model that a JSON body asks for, "" if there is none.
func modelIn(body []byte) string {
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return ""
	}
	return gjson.GetBytes(body, "model").Str
}

// firstBytes is how long a body may be that is read before it is sent, so that both go in one write and the replica wakes up once.
const firstBytes = 16 << 10

// isShort reports whether the body of r is read before it is sent: it is short, and the client does not wait for a go-ahead of the
// replica. A transport may send a request with a safe method again, whatever was written of it, if it has the body in memory.
func isShort(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return 0 < r.ContentLength && r.ContentLength <= firstBytes && r.Header.Get("Expect") == ""
	}
	return false
}

// readShort reads the body of r up to its end, which comes with the last bytes in HTTP/1.
func readShort(r *http.Request) ([]byte, error) {
	buf, n := make([]byte, r.ContentLength+1), 0
	for {
		m, err := r.Body.Read(buf[n:])
		switch n += m; {
		case int64(n) == r.ContentLength && err == io.EOF:
			return buf[:n], nil
		case int64(n) > r.ContentLength || err == io.EOF:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
	}
}

// mostHeld is how long a JSON object may be that is read before it is sent because an engine must not get all of its members. The caller
// reads most of them itself, and charges their memory to somebody.
const mostHeld = 1 << 20

// readObject reads a body that may be a JSON object. Any other one is returned as the reader of all of it.
func readObject(in io.Reader) (body []byte, rest io.Reader, err error) {
	r := bufio.NewReader(in)
	head, _ := r.Peek(4)
	for n := len(head) + 1; err == nil && len(bytes.TrimLeft(head, " \t\r\n")) == 0; n++ {
		head, err = r.Peek(n)
	}
	if !dialect.MayBeObject(head) {
		return nil, r, nil
	}
	if body, err = io.ReadAll(io.LimitReader(r, mostHeld+1)); len(body) > mostHeld {
		err = &http.MaxBytesError{Limit: mostHeld}
	}
	return body, nil, err
}

// whileAnswered keeps the body of a request open until the result is called. Otherwise net/http closes it when the answer begins; a
// transport that looks for the end of the body after the last byte, as net/http's does, may come too late, and closes its connection in
// the middle of the answer. What is left of the body is then read here: net/http would do so after the handler, and panic with the next
// request.
func whileAnswered(w http.ResponseWriter, in *http.Request) (end func()) {
	duplex := http.NewResponseController(w).EnableFullDuplex() == nil // a writer without a connection has no body to close
	return func() {
		if duplex {
			in.Body.Close()
		}
	}
}

// deliver writes an answer as it arrives.
func (c *Client) deliver(w http.ResponseWriter, resp *http.Response) {
	h, announced := w.Header(), len(resp.Trailer)
	header.PassBack(h, resp.Header)
	if _, typed := h["Content-Type"]; !typed {
		h["Content-Type"] = nil // else net/http would guess one from the first bytes
	}
	if announced > 0 {
		h.Add("Trailer", strings.Join(slices.Sorted(maps.Keys(resp.Trailer)), ", "))
	}
	w.WriteHeader(resp.StatusCode)
	if err := copyBody(w, resp); err != nil {
		c.log.Debug("an answer that passes through broke off", "error", err)
		resp.Body.Close()
		panic(http.ErrAbortHandler)
	}
	resp.Body.Close() // after which the trailers are known
	if len(resp.Trailer) == 0 {
		return
	}
	flush(w) // else net/http would give a short answer a length, and no trailers
	for name, values := range resp.Trailer {
		if len(resp.Trailer) != announced {
			name = http.TrailerPrefix + name
		}
		h[name] = append(h[name], values...)
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// copyBody copies a body. Each part is sent at once, because the answer may be a stream, except for the end of an answer whose length is
// known: net/http sends that when the handler returns, with the header where that is still here.
func copyBody(w http.ResponseWriter, resp *http.Response) error {
	left, read := resp.ContentLength, resp.Body.Read
	if left != 0 {
		read = func(p []byte) (int, error) { return readFirst(w, resp.Body, p) }
	}
	buf := copyBuffers.Get()
	defer copyBuffers.Put(buf)
	for ; ; read = resp.Body.Read {
		n, err := read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if left -= int64(n); left != 0 {
				flush(w)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// headerWait is how long a header waits for the beginning of its body.
const headerWait = 20 * time.Millisecond

// HoldHeader makes a header that was written to w wait for the beginning of its body, so that both go in one write, but not for long: a
// client may hold the replica to a limit for it. The caller must call begun before it uses w again. It sends the header by a flush where
// nothing of the body comes.
func HoldHeader(w http.ResponseWriter) (begun func()) {
	var mu sync.Mutex // held while the header is sent
	over := false
	late := time.AfterFunc(headerWait, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			flush(w)
		}
	})
	return func() {
		late.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// readFirst reads the beginning of a body, for which the header waits. The header is also sent where the body breaks off here: a client
// may send a request again that got no answer.
func readFirst(w http.ResponseWriter, body io.Reader, p []byte) (n int, err error) {
	begun := HoldHeader(w)
	defer func() {
		if begun(); n == 0 && err != io.EOF {
			flush(w)
		}
	}()
	return body.Read(p)
}

// copyBuffers lends the buffers through which answers are copied.
var copyBuffers = &bufferPool{sync.Pool{New: func() any { return new(copyBuffer) }}}

type bufferPool struct{ pool sync.Pool }

type copyBuffer [32 << 10]byte

func (p *bufferPool) Get() []byte  { return p.pool.Get().(*copyBuffer)[:] }
func (p *bufferPool) Put(b []byte) { p.pool.Put((*copyBuffer)(b)) }

// upgrades reports whether a request asks for another protocol on its connection, by the rule of [httputil.ReverseProxy]: an Upgrade
// that Connection does not name ends at the proxy.
func upgrades(h http.Header) bool {
	return h.Get("Upgrade") != "" && header.HasDirective(h["Connection"], "upgrade")
}

// upgrade forwards a request that asks for another protocol, and then what both ends send. It takes no call of the replica's away: such
// a connection may last.
func (x *call) upgrade() (failed error) {
	in, c := x.r.Original, x.c
	x.first(in.Context())
	defer x.unticket(false)
	replica := x.replica
	if err := replica.sockets.acquire(in.Context(), x.r.Tenant); err != nil {
		return err
	}
	defer replica.sockets.release(x.r.Tenant)
	var span *tracing.Span
	defer func() { span.End() }()
	forward := &httputil.ReverseProxy{
		Rewrite: func(to *httputil.ProxyRequest) {
			to.Out.URL = replica.url(to.In.URL)
			to.Out.Host = to.Out.URL.Host
			replica.setPassed(to.In.Method, to.Out.Header)
			span = replica.called(x.r.Span, in.Method, x.r.Model, to.Out.Header)
		},
		Transport:     upgrading{c, replica},
		FlushInterval: -1, // each write is flushed: an answer may be a stream
		BufferPool:    copyBuffers,
		ErrorLog:      slog.NewLogLogger(c.log.Handler(), slog.LevelDebug),
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			traced(span, nil, err)
			failed = err
		},
	}
	forward.ServeHTTP(x.through, in)
	return failed
}

// upgrading is a transport that makes a trip of each request, of which the answer may be another protocol.
type upgrading struct {
	c       *Client
	replica *Replica
}

// RoundTrip sends r.
func (u upgrading) RoundTrip(r *http.Request) (*http.Response, error) {
	t := &trip{c: u.c, replica: u.replica}
	t.released.Store(true) // it has none of the replica's calls
	t.begin(r.Context(), nil)
	t.out = r.WithContext(t.ctx)
	resp, err := t.c.transport.RoundTrip(t.out)
	switch {
	case err != nil:
		return nil, t.failed(err)
	case resp.StatusCode == http.StatusSwitchingProtocols: // such a connection is two-way; the body must stay a ReadWriteCloser
		t.mu.Lock()
		defer t.mu.Unlock()
		t.limitLocked(0)
		return resp, nil
	}
	return t.answered(resp).Response, nil
}
