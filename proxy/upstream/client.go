// Package upstream sends requests to the engines behind the proxy, and shares one answer among all who asked for it.
//
//   - A [Replica] is one engine endpoint, with its credential, its dialect and the fields that it refuses. A [Chooser] names
//     the replica of each request.
//   - [Client.Call] sends one request of the cached path and returns the answer as it begins; [Client.PassThrough] forwards
//     requests and answers as they are. Both use the same choice, header rules, transport and limits.
//   - A [Flight] is one upstream call that all callers of one key wait for; [Flights] holds one per key.
//   - A [Recording] is an answer while it is written, read by all waiters of a flight from its start.
//
// The package does not depend on the cache: the outcome of a flight is a type of the caller's, and so is the use of a finished
// recording.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"reprise/proxy/upstream/dialect"
)

// Options configures a Client.
type Options struct {
	Replicas  []Target // at least one
	Chooser   Chooser  // default First
	Limits    Limits
	Bounds    Concurrency       // of each replica
	Transport http.RoundTripper // default NewTransport(Limits)
	Logger    *slog.Logger      // default: none
	Now       func() time.Time  // default time.Now
}

// Target is the address, the credential and the dialect of a replica.
type Target struct {
	Base    *url.URL // base URL of the API, as an OpenAI client is given it, e.g. https://api.openai.com/v1
	Key     string   // credential sent in place of the client's own; "": the client's own
	Dialect string   // one of dialect.Names; default dialect.Default
}

// Validate returns what is wrong with o, in words for an operator.
func (o Options) Validate() error {
	if len(o.Replicas) == 0 {
		return errors.New("an upstream URL is required")
	}
	var errs []error
	for _, t := range o.Replicas {
		errs = append(errs, t.validate())
	}
	return errors.Join(errs...)
}

func (t Target) validate() error {
	u := t.Base
	switch {
	case u == nil:
		return errors.New("an upstream URL is required")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("upstream %q is not a base URL such as https://api.openai.com/v1", u.Redacted())
	}
	_, err := dialect.New(t.Dialect)
	return err
}

// Client sends requests to replicas. It is safe for concurrent use.
type Client struct {
	replicas  []*Replica
	chooser   Chooser
	limits    Limits
	transport http.RoundTripper
	log       *slog.Logger
	hints     hintCounts
}

// New returns a client for o.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Client{chooser: o.Chooser, limits: o.Limits.WithDefaults(), transport: o.Transport, log: o.Logger}
	if o.Now == nil {
		o.Now = time.Now
	}
	for _, t := range o.Replicas {
		c.replicas = append(c.replicas, newReplica(t, o.Bounds, o.Now))
	}
	if c.chooser == nil {
		c.chooser = First{}
	}
	if c.transport == nil {
		c.transport = NewTransport(c.limits)
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// SetKey replaces the credential that every replica gets in place of the client's own, for requests sent from now on; "": the
// client's own is sent.
func (c *Client) SetKey(key string) {
	for _, r := range c.replicas {
		r.secret.Store(&key)
	}
}

// Request is one request to be sent.
type Request struct {
	Tenant   string         // whose share of the replica's calls is used
	Model    string         // that the client asks for
	Original *http.Request  // the client's own: method, URL and header; its body is not read
	Body     []byte         // what is sent as the body, before the dialect edits it
	Want     dialect.Intent // what the proxy wants besides the client's request
}

// Reply is a replica's answer, whose body is still to be read.
type Reply struct {
	*http.Response
	Replica *Replica
	Added   []dialect.Field // fields that the proxy added to the body which was answered
}

// Call sends r to a replica and returns its answer, whose body ends with ErrIdle when the replica sends nothing for too
// long. Where an error answer names a field that the dialect has added, the request is sent again without any, and if it is not refused
// then, the field is not added again for a while. Where the replica has as many calls as it may, it waits for one; see [Concurrency].
func (c *Client) Call(ctx context.Context, r Request) (*Reply, error) {
	replica := c.chooser.Choose(c.replicas, r)
	edits := replica.edit(r)
	c.hints.edited(replica, &edits)
	resp, err := c.send(ctx, replica, r, edits)
	if err == nil && len(edits.Added) > 0 && refuses(resp.StatusCode) {
		if named := namedIn(resp, edits.Added); len(named) > 0 {
			resp.Body.Close()
			r.Want = dialect.Intent{}
			edits = replica.edit(r)
			if resp, err = c.send(ctx, replica, r, edits); err == nil && !refuses(resp.StatusCode) {
				c.refused(replica, r.Model, named)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return &Reply{Response: resp, Replica: replica, Added: edits.Added}, nil
}

// namedIn returns those of the added fields that an error answer names. If it names none, resp is as before.
func namedIn(resp *http.Response, added []dialect.Field) (named []dialect.Field) {
	head, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil {
		named = dialect.Named(head, added)
	}
	if len(named) == 0 {
		resp.Body = &prefixedBody{Reader: io.MultiReader(bytes.NewReader(head), resp.Body), Closer: resp.Body}
	}
	return named
}

// refused notes that a request for model was refused because of fields, as it was not refused without them. An answer that merely names
// a field shows less: clients can have an upstream name any.
func (c *Client) refused(replica *Replica, model string, fields []dialect.Field) {
	for _, field := range fields {
		c.hints.numbers(replica, string(field)).refused.Add(1)
		if replica.refused.add(refusedField{model, field}) {
			c.log.Warn("the upstream refuses a field that the proxy adds; requests for the model are sent without it for a while",
				"upstream", replica.base.Redacted(), "model", model, "field", string(field), "for", quarantineFor)
		}
	}
}

// prefixedBody is a body whose first bytes have been read already.
type prefixedBody struct {
	io.Reader
	io.Closer
}

// send posts the client's request r to replica, with the edits of its dialect.
func (c *Client) send(ctx context.Context, replica *Replica, r Request, edits dialect.Edits) (resp *http.Response, err error) {
	if err := replica.calls.acquire(ctx, r.Tenant); err != nil {
		return nil, err
	}
	t := newTrip(ctx, c.limits, nil)
	defer func() {
		if resp == nil { // also after a panic
			t.end()
			replica.calls.release(r.Tenant)
		}
	}()
	out := (&http.Request{Method: r.Original.Method, URL: replica.url(r.Original.URL), Header: replica.requestHeader(r.Original.Header),
		ContentLength: int64(len(edits.Body))}).WithContext(t.ctx)
	out.Host = out.URL.Host
	maps.Copy(out.Header, edits.Header)
	body := edits.Body
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()
	if resp, err = t.send(c.transport, out); err != nil {
		return nil, err
	}
	resp.Body = &callBody{ReadCloser: resp.Body, calls: replica.calls, tenant: r.Tenant}
	return resp, nil
}

// callBody is the body of an answer. When it is closed, the call of tenant has ended.
type callBody struct {
	io.ReadCloser
	calls  *limiter
	tenant string
	closed atomic.Bool
}

func (b *callBody) Close() error {
	err := b.ReadCloser.Close()
	if !b.closed.Swap(true) {
		b.calls.release(b.tenant)
	}
	return err
}
