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
	macs    *sync.Pool      // of *mac
}

// newIdentifier returns an identifier by o, whose digests are keyed by secret.
func newIdentifier(o *Options, secret [32]byte) identifier {
	i := identifier{from: o.TenantFrom, ignored: map[string]bool{},
		macs: &sync.Pool{New: func() any { return &mac{Hash: hmac.New(sha256.New, secret[:])} }}}
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

// counted are the names of a request's headers that count, in order.
type counted struct {
	team        string   // names the tenant; "": no header does
	credentials []string // name the tenant otherwise
	scope       []string // can change an answer

	few [2][4]string // room for most requests'
}

// counted sorts the names in h. Where the operator has said that credentials do not separate tenants, those that only look like
// one are part of the scope: they may be something else.
func (i *identifier) counted(h http.Header, c *counted) {
	c.team, c.credentials, c.scope = i.team(h), c.few[0][:0], c.few[1][:0]
	byCredential := c.team == "" && i.from != "none"
	for name := range h {
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
	var c counted
	i.counted(h, &c)
	return i.tenantOf(h, &c)
}

// anonymous reports whether nothing in h identifies a tenant, where something could.
func (i *identifier) anonymous(h http.Header) bool {
	var c counted
	i.counted(h, &c)
	return i.from != "none" && c.team == "" && len(c.credentials) == 0
}

// explain lists the names in h that count.
func (i *identifier) explain(h http.Header) explainedHeaders {
	var c counted
	i.counted(h, &c)
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
	m := i.macs.Get().(*mac)
	defer i.returned(m)
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

// mac computes digests, with a buffer of its own: both would be allocated for each request.
type mac struct {
	hash.Hash
	buf []byte
}

// returned puts m back for the next request, without a buffer that an unusual header has made large.
func (i *identifier) returned(m *mac) {
	if cap(m.buf) > 16<<10 {
		m.buf = nil
	}
	i.macs.Put(m)
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
// of it: the client chooses it freely.
func (i *identifier) identity(r *http.Request, d *Directives) canon.Identity {
	var c counted
	i.counted(r.Header, &c)
	id := canon.Identity{Tenant: i.tenantOf(r.Header, &c), Namespace: d.Namespace, Path: r.URL.Path, Query: r.URL.RawQuery}
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
