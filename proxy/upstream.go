package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// errIdle ends a body whose sender has been silent for too long.
var errIdle = errors.New("no bytes from the upstream in time")

// upstream is the API behind the proxy.
type upstream struct {
	base      *url.URL
	key       string
	transport http.RoundTripper
	limits    Limits

	// noUsageOption is set once the upstream has refused stream_options, which we add to learn what a stream cost.
	noUsageOption atomic.Bool
}

func newUpstream(o Options) *upstream {
	u := &upstream{base: o.Upstream, key: o.UpstreamKey, transport: o.Transport, limits: o.Limits}
	if u.transport == nil {
		u.transport = newTransport(o.Limits)
	}
	return u
}

// newTransport never asks for compression (what is stored and replayed is plain bytes), and keeps as many idle
// connections as a busy proxy with one upstream needs: the standard two would be closed and dialled again all the time.
func newTransport(l Limits) *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          1024,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
	if l.FirstByte > 0 {
		t.ResponseHeaderTimeout = l.FirstByte
	}
	return t
}

// target is where a request for in goes. What lies under /v1 lies under the base URL; everything else lies at the same
// path of the upstream's host.
func (u *upstream) target(in *url.URL) *url.URL {
	out := *u.base
	out.RawQuery = in.RawQuery
	path := originalPath(in.EscapedPath())
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok {
		path = strings.TrimSuffix(u.base.EscapedPath(), "/") + "/" + rest
	}
	out.RawPath = path
	if p, err := url.PathUnescape(path); err == nil {
		out.Path = p
	}
	return &out
}

// hopHeaders concern one connection only (RFC 9110 §7.6.1). Accept-Encoding is among them because we must be able to read
// what we store, Expect because the body is sent whether or not we are told to go ahead.
var hopHeaders = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade", "Accept-Encoding", "Content-Length", "Expect"}

// outgoing prepares a client's header for the upstream: hop-by-hop fields and our own are gone, the credential is set.
func (u *upstream) outgoing(in http.Header) http.Header {
	out := in.Clone()
	for _, name := range hopHeaders {
		out.Del(name)
	}
	u.dress(out)
	return out
}

// dress sets and removes what the proxy itself answers for, on the cached path and on the pass-through.
func (u *upstream) dress(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Reprise-") {
			delete(h, name)
		}
	}
	if u.key != "" {
		for _, name := range credentialHeaders {
			h.Del(name)
		}
		h.Set("Authorization", "Bearer "+u.key)
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // else net/http would put its own name there
	}
}

// send posts body as the client's request in and returns the upstream's answer, whose body ends with errIdle when the
// upstream falls silent.
func (u *upstream) send(ctx context.Context, in *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, in.Method, u.target(in.URL).String(), bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header = u.outgoing(in.Header)
	if _, ok := req.Header["X-Idempotency-Key"]; !ok {
		// It tells the transport, and nobody else, to try again where the upstream closes an idle connection at the moment
		// of use. What is asked here changes nothing upstream: a request that does is uncacheable, and comes by another way.
		req.Header["X-Idempotency-Key"] = nil
	}
	resp, err := u.transport.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = newIdleBody(resp.Body, u.limits.BetweenBytes, cancel)
	return resp, nil
}

// idleBody is a response body that is given up when no byte comes for a while: a peer that has vanished without a FIN
// would otherwise hold both sides for ever.
type idleBody struct {
	io.ReadCloser
	limit   time.Duration
	cancel  context.CancelFunc
	timer   *time.Timer
	expired atomic.Bool
}

func newIdleBody(body io.ReadCloser, limit time.Duration, cancel context.CancelFunc) *idleBody {
	b := &idleBody{ReadCloser: body, limit: limit, cancel: cancel}
	if limit > 0 {
		b.timer = time.AfterFunc(limit, func() { b.expired.Store(true); cancel() })
	}
	return b
}

func (b *idleBody) Read(p []byte) (int, error) {
	if b.timer != nil {
		b.timer.Reset(b.limit)
		defer b.timer.Stop()
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.expired.Load() {
		err = errIdle
	}
	return n, err
}

func (b *idleBody) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel()
	return b.ReadCloser.Close()
}
