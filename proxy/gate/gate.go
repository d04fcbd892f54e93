// Package gate decides which requests the proxy takes at all, before anything of them is looked up, read or forwarded.
//
// Three things are at stake. The credential of the operator (an upstream key) must pay for clients with a client key only,
// and for API paths only. A web page must not use a proxy that its visitor can reach: a browser sends requests anywhere, under any
// name that resolves there. And the upstream must find in a path what was checked here.
//
// A Gate does not change; another configuration is another Gate.
package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/header"
)

// Access is who may use the API, and what of it.
type Access struct {
	// ClientKeys are the keys of clients, of which every request needs one; none: requests need no key of ours. They go with an upstream
	// key: without one, a client's own credential is passed on.
	ClientKeys []string
	// Paths are forwarded under an upstream key besides the usual ones.
	Paths []Path
	// Trusted are hosts, each HOST or HOST:PORT: a listener on loopback answers to these names too, and their web pages may use the API.
	Trusted []string
	// Loopback: only this machine can reach the listener.
	Loopback bool
}

// Options configures a Gate.
type Options struct {
	Access
	Keyed       bool     // requests go upstream under a credential of the operator
	Shared      bool     // answers are shared between clients with different credentials
	Credentials []string // headers that can hold a client's credential
	Families    []string // paths of the cached APIs
	Headers     []string // forwarded under an upstream key beside those that package header has
}

// Gate checks requests. It is safe for concurrent use.
type Gate struct {
	o       Options
	trusted Names
	salt    [16]byte
	keys    map[[sha256.Size]byte]struct{} // digests of the client keys
	paths   []Path
	headers map[string]bool
}

// New returns a gate for o.
func New(o Options) *Gate {
	g := &Gate{o: o, keys: make(map[[sha256.Size]byte]struct{}, len(o.ClientKeys)), paths: append(defaultPaths(), o.Paths...)}
	g.headers = make(map[string]bool, len(o.Headers))
	for _, name := range o.Headers {
		g.headers[http.CanonicalHeaderKey(name)] = true
	}
	for _, host := range o.Trusted {
		g.trusted = append(g.trusted, strings.ToLower(host))
	}
	for _, path := range o.Families {
		g.paths = append(g.paths, mustPath("POST "+path))
	}
	rand.Read(g.salt[:]) // never fails
	for _, key := range o.ClientKeys {
		g.keys[g.digest(key)] = struct{}{}
	}
	return g
}

// digest hides keys from a client that measures time: the comparison of digests under an unknown salt shows nothing of a key.
func (g *Gate) digest(key string) [sha256.Size]byte {
	var few [128]byte
	return sha256.Sum256(append(append(few[:0], g.salt[:]...), key...))
}

// Check returns why r is refused, nil if it is not. It sets the fields of the answer's header that belong to the refusal, and removes
// from the header of r what could lead an upstream around the checks.
func (g *Gate) Check(w http.ResponseWriter, r *http.Request) error {
	if err := g.CheckAdmin(w, r); err != nil {
		return err
	}
	if len(g.keys) > 0 && g.Key(r) == "" && !g.preflight(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return refuse(http.StatusUnauthorized, "invalid_api_key", "This proxy needs a key of its own (one of REPRISE_CLIENT_KEYS), as Authorization: Bearer KEY, "+
			"X-Api-Key or Api-Key; the request has %s.", g.lacking(r))
	}
	g.straighten(r.Header)
	return nil
}

// straighten leaves in h no other protocol than that of websockets to change to, because what comes after the change is not looked at
// (a change to HTTP/2 would open the whole upstream). Under a key of the operator it leaves only headers with a known meaning: another
// could name the method, the path, or where the upstream is a gateway even the server to which the key goes from there. They are removed
// before the request is read, so that what counts in its identity is what is sent.
func (g *Gate) straighten(h http.Header) {
	if to, ok := h["Upgrade"]; ok && (len(to) != 1 || !strings.EqualFold(to[0], "websocket")) {
		delete(h, "Upgrade")
	}
	if !g.o.Keyed {
		return
	}
	for name := range h {
		if !header.Known(name) && !g.headers[name] {
			delete(h, name)
		}
	}
}

// CheckAdmin is Check for a request with the admin token, which needs no client key.
func (g *Gate) CheckAdmin(w http.ResponseWriter, r *http.Request) error {
	if !knownMethod(r.Method) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		return refuse(http.StatusMethodNotAllowed, "method_not_allowed", "The method %s is not one of %s.", apierror.Quote(r.Method), strings.Join(methods, ", "))
	}
	if g.o.Loopback && len(g.keys) == 0 && !g.trusted.Local(r.Host) {
		return refuse(http.StatusForbidden, "unknown_host", "This proxy listens on loopback, and answers to localhost, to IP addresses and to the hosts in "+
			"REPRISE_TRUSTED_HOSTS, not to %s.", apierror.Quote(r.Host))
	}
	if g.trusted.Foreign(r) && !g.ownCredential(r) {
		return g.foreign(r)
	}
	return nil
}

// foreign returns the refusal of a web page of another origin. It says which value would allow the page, if one can.
func (g *Gate) foreign(r *http.Request) error {
	page, allow := "other sites", "a page whose Origin has no host cannot be allowed"
	origins := r.Header["Origin"]
	if len(origins) > 0 {
		page = apierror.Quote(strings.Join(origins, ", "))
	}
	if len(origins) == 1 {
		if _, host, _ := strings.Cut(origins[0], "://"); host != "" {
			allow = "REPRISE_TRUSTED_HOSTS can allow them, by " + apierror.Quote(host)
		}
	}
	if !g.o.Keyed && !g.o.Shared {
		allow += "; a page that sends a credential of its own needs no permission"
	}
	return refuse(http.StatusForbidden, "foreign_origin", "This proxy does not answer to web pages of %s; %s.", page, allow)
}

func refuse(status int, code, format string, args ...any) error {
	return &apierror.Error{Status: status, Type: apierror.TypeInvalidRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}

// methods are the methods of HTTP APIs. CONNECT and TRACE are for proxies of another kind, and lower-case names are other methods.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func knownMethod(method string) bool { return slices.Contains(methods, method) }

// ownCredential reports whether all that a request can reach is what its sender's credential opens, so that a web page that sends
// it has been given that credential. The preflight of such a request has none yet.
func (g *Gate) ownCredential(r *http.Request) bool {
	if g.o.Keyed || g.o.Shared {
		return false
	}
	if r.Method == http.MethodOptions {
		return true
	}
	for _, name := range g.o.Credentials {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return protocolKey(r) != ""
}

// preflight reports whether r is a browser's question before a request, which cannot have a key. That its page is trusted has been
// checked.
func (g *Gate) preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// Path returns why a request with this method must not be sent to u, as it would be sent.
func (g *Gate) Path(method string, u *url.URL) error {
	decoded, err := cleanPath(u)
	if err != nil || !g.o.Keyed {
		return err
	}
	if g.forwards(method, decoded) {
		return nil
	}
	hint := "REPRISE_API_PATHS can add it"
	if g.forwards(method, "/v1"+decoded) {
		hint = "the base URL of a client ends in /v1"
	}
	for _, other := range []string{http.MethodGet, http.MethodPost} {
		if g.forwards(other, decoded) {
			hint = "this path takes " + other
		}
	}
	return refuse(http.StatusNotFound, "path_not_allowed", "%s %s is not an API path that this proxy forwards under its own key (REPRISE_UPSTREAM_KEY); %s.",
		method, apierror.Quote(u.EscapedPath()), hint)
}

// forwards reports whether a request with this method and this path, decoded, goes out under a credential of the operator.
func (g *Gate) forwards(method, path string) bool {
	for i := range g.paths {
		if g.paths[i].matches(method, path) {
			return true
		}
	}
	return false
}
