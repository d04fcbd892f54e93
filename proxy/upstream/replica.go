package upstream

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/internal/header"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/kvevents"
)

// Replica is one engine endpoint.
type Replica struct {
	target  Target
	place   int  // among the replicas of its client
	own     bool // it has a credential of its own, or must get none
	base    *url.URL
	fault   atomic.Pointer[string] // why a request failed last; nil: none did
	secret  atomic.Pointer[string] // sent in place of the client's own credential; "": that is sent
	dialect dialect.Dialect
	calls   *limiter
	sockets *limiter // connections that were upgraded, such as websockets: they may last, and take no call away
	refused quarantine
	events  *kvevents.Follower // nil: it publishes none
	counts  counts
}

// newReplica returns the replica at t, which has been validated.
func newReplica(t Target, bounds Concurrency) *Replica {
	d, _ := dialect.New(t.Dialect)
	r := &Replica{target: t, base: t.Base, dialect: d, calls: newLimiter(bounds), sockets: newLimiter(bounds)}
	r.secret.Store(&t.Key)
	return r
}

// Name is its name in settings, logs and metrics.
func (r *Replica) Name() string { return r.target.name() }

// mapped replaces the name of the model in a body by the replica's own name for it, and returns that name too. All other bytes stay.
func (r *Replica) mapped(body []byte, model string) (sent []byte, name string) {
	name, ok := r.target.serves(model)
	if !ok || name == model || modelIn(body) != model {
		return body, model
	}
	at := gjson.GetBytes(body, "model")
	if at.Index == 0 {
		return body, model
	}
	quoted, _ := json.Marshal(name) // of a string: no error
	return slices.Concat(body[:at.Index], quoted, body[at.Index+len(at.Raw):]), name
}

// foreign reports whether another model answers than the one asked for. A replica that is no fallback has the same one under another name.
func (r *Replica) foreign(model string) bool {
	name, ok := r.target.serves(model)
	return r.target.Fallback && model != "" && ok && name != model
}

// Answers is the model that answers requests for one: itself, except where a fallback has another one for it.
func (r *Replica) Answers(model string) string {
	if name, ok := r.target.serves(model); ok && r.foreign(model) {
		return name
	}
	return model
}

// key is the credential that replaces the client's own, "" if none does.
func (r *Replica) key() string { return *r.secret.Load() }

// edit returns what the replica's dialect makes of a request, whose model has a name for clients and one at the replica.
func (r *Replica) edit(sent Request, asked string, now time.Time) dialect.Edits {
	if !r.target.Salt {
		sent.Want.Salt = ""
	}
	return r.dialect.Edit(dialect.Request{Path: sent.Original.URL.Path, Model: sent.Model, Asked: asked, Header: sent.Original.Header, Body: sent.Body,
		Version: r.target.Version, SessionKey: r.target.SessionKey, Trust: r.target.Trust}, sent.Want, r.refused.of(sent.Model, now))
}

// stripped is a body that is forwarded as it is, without what a client must not set.
func (r *Replica) stripped(path string, body []byte) ([]byte, error) {
	if r.strips() && dialect.NotUTF8(body) {
		return nil, dialect.ErrEncoding
	}
	return r.dialect.Edit(dialect.Request{Path: path, Body: body, Trust: r.target.Trust}, dialect.Intent{}, nil).Body, nil
}

// strips reports whether the replica's engine has members that its clients must not set.
func (r *Replica) strips() bool { return !r.target.Trust && dialect.Strips(r.dialect) }

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
