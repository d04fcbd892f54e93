package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"reprise/proxy/api"
	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/header"
)

// identifier names tenants and identifies requests. Every header that the upstream gets counts, unless package header has it as
// harmless or the operator has said so: credentials in the tenant, the others in the scope.
type identifier struct {
	from    TenantSource
	header  string          // of from, which names tenants; "": none
	ignored map[string]bool // headers that cannot change an answer, beside the harmless ones
	who     bool            // some fields of a body only attribute a request; see canon.Identity.Attributed
	secret  func() [32]byte
	macs    *atomic.Pointer[hashers]
}

// newIdentifier returns an identifier by o, whose digests are keyed by what secret returns. That may change: a process that shares a store
// which it cannot reach at its start begins with a secret of its own. A tenant of the one never equals a tenant of the other.
func newIdentifier(o *Options, secret func() [32]byte) identifier {
	i := identifier{from: o.TenantFrom, ignored: map[string]bool{}, who: o.attributes(), secret: secret, macs: &atomic.Pointer[hashers]{}}
	if name, ok := strings.CutPrefix(string(o.TenantFrom), "header:"); ok {
		i.header = http.CanonicalHeaderKey(name)
	}
	for _, name := range o.IgnoreHeaders {
		i.ignored[http.CanonicalHeaderKey(name)] = true
	}
	return i
}

// sharedTenant is the only tenant where nothing identifies one. No digest has its form.
const sharedTenant = "all"

// counted is what one pass over the header of a request finds.
type counted struct {
	team        string   // the name of the field that names the tenant, "" where none does
	credentials []string // the names of those that name it otherwise, in order
	scope       []string // the names of those that can change an answer, in order
	size        int64    // of the header in bytes
	directive   bool     // it may have a directive for the cache
}

// few is room for the names of most requests, which then need none on the heap.
type few [8]string

// count reads the header of a request. Where the operator has said that credentials do not separate tenants, those that only look
// like one are part of the scope: they may be something else.
func (i *identifier) count(h http.Header, room *few) counted {
	c := counted{team: i.team(h), credentials: room[:0:4], scope: room[4:4]}
	byCredential := c.team == "" && i.from != "none"
	for name, values := range h {
		for _, v := range values {
			c.size += int64(len(name) + len(v))
		}
		c.directive = c.directive || isDirective(name)
		switch class := header.Of(name); {
		case name == c.team || i.ignored[name]:
		case class == header.Credential || class == header.Secret && byCredential:
			c.credentials = append(c.credentials, name)
		case class == header.Scope || class == header.Secret:
			c.scope = append(c.scope, name)
		}
	}
	slices.Sort(c.credentials)
	slices.Sort(c.scope)
	return c
}

// team is the header that names the tenant of a request, "" if none does.
func (i *identifier) team(h http.Header) string {
	names := func(v string) bool { part, counts := header.Part(i.header, v); return counts && part != "" }
	if i.header == "" || !slices.ContainsFunc(h[i.header], names) {
		return ""
	}
	return i.header
}

// tenant names the tenant of a request with this header.
func (i *identifier) tenant(h http.Header) string {
	c := i.count(h, new(few))
	return i.tenantOf(h, &c)
}

// account names who a request of tenant counts for at the upstreams: whose share of the calls it takes, and whose failure it is. Where requests need
// a client key, that is the key, unless a header of the operator's choice names tenants: a client can add any other credential, and would
// be as many tenants as it likes, whose failures together take a replica from all others.
func (s *Server) account(r *http.Request, tenant string) string {
	key := s.live.Load().gate.Key(r)
	if key == "" || s.ids.team(r.Header) != "" {
		return tenant
	}
	return s.ids.digest("client key", http.Header{"Authorization": {key}}, "Authorization")
}

// name is what the client has written in the header that names its tenant, without a scheme such as Bearer; "" where credentials do.
func (c *counted) name(h http.Header) string {
	if c.team == "" {
		return ""
	}
	for _, v := range h[c.team] {
		if part, counts := header.Part(c.team, v); counts && part != "" {
			return part
		}
	}
	return ""
}

// anonymous reports whether nothing in a header identifies a tenant, where something could.
func (i *identifier) anonymous(c *counted) bool {
	return i.from != "none" && c.team == "" && len(c.credentials) == 0
}

// explain lists the names in h that count.
func (i *identifier) explain(h http.Header, c *counted) explainedHeaders {
	x := explainedHeaders{Tenant: []string{}, Scope: []string{}}
	switch {
	case c.team != "":
		x.Tenant = append(x.Tenant, c.team)
	case i.from != "none":
		x.Tenant = append(x.Tenant, c.credentials...)
	}
	for _, name := range c.scope {
		if slices.ContainsFunc(h[name], func(v string) bool { _, counts := header.Part(name, v); return counts }) {
			x.Scope = append(x.Scope, name)
		}
	}
	return x
}

// tenantOf is a keyed digest of what identifies the sender: the credential itself is neither stored nor logged. Where the header
// that names tenants is absent or empty, the credentials name them.
func (i *identifier) tenantOf(h http.Header, c *counted) string {
	switch {
	case i.from == "none":
		return sharedTenant
	case c.team != "":
		return i.digest("header", h, c.team)
	default:
		return i.digest("credentials", h, c.credentials...)
	}
}

// digest is that of the named headers; how says why they identify a tenant, so that the name of one tenant is never the
// credential of another. Each text goes in with its length, and each value with its name.
func (i *identifier) digest(how string, h http.Header, names ...string) string {
	macs := i.hashers()
	m := macs.pool.Get().(*hasher)
	defer m.returned(&macs.pool)
	m.buf = appendText(m.buf[:0], how)
	for _, name := range names {
		for _, v := range h[name] {
			if part, counts := header.Part(name, v); counts {
				m.buf = appendText(appendText(m.buf, name), part)
			}
		}
	}
	m.Reset()
	m.Write(m.buf)
	m.buf = m.Sum(m.buf[:0])
	var text [2 * tenantBytes]byte
	hex.Encode(text[:], m.buf[:tenantBytes])
	return string(text[:])
}

// hashers are those of one secret.
type hashers struct {
	secret [32]byte
	pool   sync.Pool // of *hasher
}

// hashers returns those of the present secret.
func (i *identifier) hashers() *hashers {
	secret := i.secret()
	if h := i.macs.Load(); h != nil && h.secret == secret {
		return h
	}
	h := &hashers{secret: secret, pool: sync.Pool{New: func() any { return &hasher{Hash: hmac.New(sha256.New, secret[:])} }}}
	i.macs.Store(h)
	return h
}

// hasher computes digests, with a buffer of its own: both would be allocated for each request.
type hasher struct {
	hash.Hash
	buf []byte
}

// returned puts h back for the next request, without a buffer that an unusual header has made large.
func (h *hasher) returned(to *sync.Pool) {
	if cap(h.buf) > 16<<10 {
		h.buf = nil
	}
	to.Put(h)
}

// tenantBytes is the length of a digest.
const tenantBytes = 16

// isTenant reports whether name has the form of a tenant.
func isTenant(name string) bool {
	b, err := hex.DecodeString(name)
	return name == sharedTenant || err == nil && len(b) == tenantBytes
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// identity is everything outside the body that two requests must share to share an answer. The Host header is not part
// of it: the client chooses it freely. c is what count has found in its header.
func (i *identifier) identity(r *http.Request, c *counted, d *Directives) canon.Identity {
	id := canon.Identity{Tenant: i.tenantOf(r.Header, c), Namespace: d.Namespace, Path: r.URL.Path, Query: r.URL.RawQuery, Attributed: i.who}
	id.Model, _ = api.Deployment(r.URL.Path)
	for _, name := range c.scope {
		for _, v := range r.Header[name] {
			if part, counts := header.Part(name, v); counts {
				id.Headers = append(id.Headers, name+": "+part)
			}
		}
	}
	return id
}

// hopByHopAllowed are the names that a Connection header may list.
var hopByHopAllowed = map[string]bool{"close": true, "keep-alive": true, "upgrade": true, "te": true, "http2-settings": true, "trailer": true,
	"transfer-encoding": true, "proxy-connection": true}

// checkConnection refuses a Connection header that names an end-to-end header: such a header would be part of the key but not
// be sent upstream.
func checkConnection(h http.Header) error {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name != "" && !hopByHopAllowed[name] {
				return apierror.BadRequest("invalid_connection_header", "The Connection header may not name "+apierror.Quote(name)+
					": it would take that header away between this proxy and the upstream.")
			}
		}
	}
	return nil
}
