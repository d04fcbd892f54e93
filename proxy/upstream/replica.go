package upstream

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"reprise/proxy/internal/header"
	"reprise/proxy/upstream/dialect"
)

// Replica is one engine endpoint.
type Replica struct {
	base    *url.URL
	secret  atomic.Pointer[string] // sent in place of the client's own credential; "": that is sent
	dialect dialect.Dialect
	calls   *limiter
	sockets *limiter // connections that were upgraded, such as websockets: they may last, and take no call away
	refused quarantine
}

// newReplica returns the replica at t, which has been validated.
func newReplica(t Target, bounds Concurrency, now func() time.Time) *Replica {
	d, _ := dialect.New(t.Dialect)
	r := &Replica{base: t.Base, dialect: d, calls: newLimiter(bounds), sockets: newLimiter(bounds),
		refused: quarantine{now: now}}
	r.secret.Store(&t.Key)
	return r
}

// key is the credential that replaces the client's own, "" if none does.
func (r *Replica) key() string { return *r.secret.Load() }

// edit returns what the replica's dialect makes of a request.
func (r *Replica) edit(sent Request) dialect.Edits {
	return r.dialect.Edit(dialect.Request{Path: sent.Original.URL.Path, Model: sent.Model, Header: sent.Original.Header, Body: sent.Body}, sent.Want,
		r.refused.of(sent.Model))
}

// url is the address of a request for in. Paths under /v1 are joined to the base URL; all others keep their path on the
// replica's host.
func (r *Replica) url(in *url.URL) *url.URL {
	out := *r.base
	out.RawQuery = in.RawQuery
	if r.key() != "" {
		out.RawQuery = header.WithoutCredentials(in.RawQuery)
	}
	path := in.EscapedPath()
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok {
		path = strings.TrimSuffix(r.base.EscapedPath(), "/") + "/" + rest
	}
	out.RawPath = path
	if p, err := url.PathUnescape(path); err == nil {
		out.Path = p
	}
	return &out
}

// KeyHeaders are where OpenAI-compatible APIs look for a key. Clients set them on purpose: no browser adds one by itself.
var KeyHeaders = []string{"Authorization", "Api-Key", "X-Api-Key"}

// SameCredential reports whether the replica sees the same credentials in requests with these headers.
func (r *Replica) SameCredential(a, b http.Header) bool {
	return r.key() != "" || header.SameCredentials(a, b)
}
