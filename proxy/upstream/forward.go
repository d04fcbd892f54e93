package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/internal/header"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream/prefix"
)

// Passed is a request that is forwarded as it is.
type Passed struct {
	*http.Request
	Tenant string        // whose share of the replica's calls is used
	Read   []byte        // the body, which replaces the request's own; nil: that has not been read
	Model  string        // that the body asks for; "": it is looked for in Read, where it matters
	Chain  *prefix.Chain // of the body, used until an answer begins; nil: the replica is chosen by load
	Span   *tracing.Span // of the request, whose trace the replica continues; nil: there is none
	// Begins is called before the header of the answer is written to the client; it must leave its body alone, and has to end its span. nil: it is
	// not called.
	Begins func(*Reply)
}

// PassThrough forwards p to a replica, its body unchanged except for a model's name that the replica has under another one, and the answer
// as it arrives. A replica that refuses the request before it has worked on it is followed by another one, as long as the body can be had
// again. An error means that no answer has begun. An answer that breaks off, or that the client does not take, panics with
// [http.ErrAbortHandler], which closes the client's connection.
//
// It is what [httputil.ReverseProxy] does, in a third of its allocations and with fewer writes: a short body goes out with the header,
// and a short answer with its own. A change of protocol is left to ReverseProxy.
func (c *Client) PassThrough(w http.ResponseWriter, p Passed) error {
	if p.Read == nil && isShort(p.Request) && !upgrades(p.Header) {
		var err error
		if p.Read, err = readShort(p.Request); err != nil {
			return err
		}
	}
	if p.Model == "" && c.modelMatters {
		p.Model = modelIn(p.Read)
	}
	choice := picking{c: c, method: p.Method, path: p.URL.Path, header: p.Header, body: p.Read, tenant: p.Tenant, model: p.Model, chain: p.Chain, span: p.Span}
	defer choice.abandon()
	t := choice.first(p.Context())
	if upgrades(p.Header) {
		return c.upgrade(w, p, t.replica)
	}
	if p.Read == nil && p.ContentLength != 0 {
		defer whileAnswered(w, p.Request)()
	}
	for {
		reply, body, err := c.forward(w, &p, t.replica)
		next, again := choice.next(p.Context(), t, reply, err, body)
		if again {
			choice.hold(reply)
			t.replica.counts.passed.Add(1)
			t = next
			continue
		}
		if reply, err = choice.last(reply, err); err != nil {
			return err
		}
		c.watch(p.Context(), &choice, reply)
		c.passBack(w, &p, reply)
		return nil
	}
}

// passBack writes the answer to the client.
func (c *Client) passBack(w http.ResponseWriter, p *Passed, reply *Reply) {
	defer reply.Body.Close() // also after a panic
	if p.Begins != nil {
		p.Begins(reply)
	} else {
		reply.Span.End()
	}
	c.deliver(w, reply.Response)
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

// forward sends p and returns the answer when it has begun, and the body that was lent to the transport, nil if that can be had again.
func (c *Client) forward(w http.ResponseWriter, p *Passed, replica *Replica) (reply *Reply, body *borrowedBody, err error) {
	if err := replica.queue(p.Context(), p.Tenant, p.Span); err != nil {
		return nil, nil, err
	}
	whole := &struct {
		Reply
		callBody
	}{Reply{Replica: replica, Foreign: replica.foreign(p.Model)}, callBody{calls: replica.calls, tenant: p.Tenant}}
	call := &whole.callBody
	defer func() {
		if reply == nil { // also after a panic
			call.release()
		}
	}()
	t := newTrip(p.Context(), c.limits, func(status int, early textproto.MIMEHeader) {
		if status == http.StatusContinue { // net/http's server sends it when the transport begins to read the body
			return
		}
		h := w.Header()
		own := maps.Clone(h) // such as the id of the request
		maps.Copy(h, http.Header(early))
		w.WriteHeader(status)
		clear(h)
		maps.Copy(h, own)
	})
	out := (&http.Request{Method: p.Method, URL: replica.url(p.URL), Header: replica.passedHeader(p.Request), ContentLength: p.ContentLength,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, // else the transport waits for no go-ahead
		TransferEncoding: p.TransferEncoding, Trailer: trailers(p.Request)}).WithContext(t.ctx)
	out.Host = out.URL.Host
	switch {
	case p.Read != nil:
		read, _ := replica.mapped(p.Read, p.Model)
		if read, err = replica.stripped(p.URL.Path, read); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errOfBody, err)
		}
		out.ContentLength, out.TransferEncoding = int64(len(read)), nil
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(read)), nil }
		out.Body, _ = out.GetBody()
	case p.ContentLength != 0:
		body = &borrowedBody{in: replica.strippedReader(p.Body)}
		out.Body, call.lent = body, body
	}
	whole.Span = replica.called(p.Span, p.Method, p.Model, out.Header)
	resp, err := t.send(c.transport, out)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		t.end()
		err = errSwitched
	}
	if traced(whole.Span, resp, err); err != nil {
		if body != nil {
			body.Close()
		}
		return nil, body, body.blame(err)
	}
	call.ReadCloser, resp.Body = resp.Body, call
	whole.Response = resp
	return &whole.Reply, body, nil
}

// trailers are those that a request announces, except for names that no transport takes: such an error is no fault of the replica.
func trailers(in *http.Request) http.Header {
	out := in.Trailer.Clone()
	maps.DeleteFunc(out, func(name string, _ []string) bool { return !header.IsName(name) })
	return out
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

// borrowedBody is a body that must not be read once its handler has returned, which a transport may try.
type borrowedBody struct {
	in    io.Reader
	state atomic.Uint32
}

// The states of a borrowedBody are sums of these.
const (
	bodyRead   = 1
	bodyClosed = 2
	bodyFailed = 4
)

func (b *borrowedBody) Read(p []byte) (int, error) {
	if b.state.Or(bodyRead)&bodyClosed != 0 {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.in.Read(p)
	if err != nil && err != io.EOF {
		b.state.Or(bodyFailed)
	}
	return n, err
}

// errOfBody says that a client's body could not be read, or not be sent as it is.
var errOfBody = errors.New("the body of the request cannot be sent")

// blame adds errOfBody to an error of a request if the body is its cause: that is no fault of the replica.
func (b *borrowedBody) blame(err error) error {
	if b == nil || b.state.Load()&bodyFailed == 0 {
		return err
	}
	return fmt.Errorf("%w: %w", errOfBody, err)
}

func (b *borrowedBody) Close() error {
	b.state.Or(bodyClosed)
	return nil
}

// takeBack closes the body if nothing of it was read, and reports whether it did, so that it can be lent again.
func (b *borrowedBody) takeBack() bool {
	return b == nil || b.state.CompareAndSwap(0, bodyClosed) || b.state.Load() == bodyClosed
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
	return h.Get("Upgrade") != "" && contains(h["Connection"], "upgrade")
}

// upgrade forwards a request that asks for another protocol, and then what both ends send. It takes no call of the replica's away: such
// a connection may last.
func (c *Client) upgrade(w http.ResponseWriter, p Passed, replica *Replica) (failed error) {
	if err := replica.sockets.acquire(p.Context(), p.Tenant); err != nil {
		return err
	}
	defer replica.sockets.release(p.Tenant)
	var span *tracing.Span
	defer func() { span.End() }()
	forward := &httputil.ReverseProxy{
		Rewrite: func(to *httputil.ProxyRequest) {
			to.Out.URL = replica.url(to.In.URL)
			to.Out.Host = to.Out.URL.Host
			replica.setPassed(to.In.Method, to.Out.Header)
			span = replica.called(p.Span, p.Method, p.Model, to.Out.Header)
		},
		Transport:     tripper{c},
		FlushInterval: -1, // each write is flushed: an answer may be a stream
		BufferPool:    copyBuffers,
		ErrorLog:      slog.NewLogLogger(c.log.Handler(), slog.LevelDebug),
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			traced(span, nil, err)
			failed = err
		},
	}
	forward.ServeHTTP(w, p.Request)
	return failed
}

// tripper makes a trip of each request.
type tripper struct{ c *Client }

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	way := newTrip(r.Context(), t.c.limits, nil)
	return way.send(t.c.transport, r.WithContext(way.ctx))
}
