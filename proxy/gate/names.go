package gate

import (
	"net/http"
	"net/netip"
	"strings"
)

// Names are hosts that an operator trusts, each HOST or HOST:PORT in lower case; without a port, any port. They judge requests by the Host by
// which a listener is called, and by the Origin of the web page that calls it: a browser sends both truly, and any page can make it send a
// request to any address.
type Names []string

// has reports whether a host with its port is trusted.
func (n Names) has(authority string) bool {
	if len(n) == 0 {
		return false
	}
	authority = strings.ToLower(authority)
	host := hostOf(authority)
	for _, name := range n {
		if name == authority || name == host {
			return true
		}
	}
	return false
}

// Local reports whether a listener on loopback may answer to the value of a Host header: to localhost and the names below it, to IP
// addresses, and to trusted names. A browser that was led here under another name (DNS rebinding) sends that name. No Host at all is
// that of a client of HTTP/1.0, which is no browser.
func (n Names) Local(host string) bool {
	name := strings.TrimSuffix(hostOf(host), ".")
	switch {
	case host == "" || strings.EqualFold(name, "localhost"):
		return true
	case len(name) > 10 && strings.EqualFold(name[len(name)-10:], ".localhost"):
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return n.has(host)
}

// hostOf returns a host without its port and without the brackets of an IPv6 address.
func hostOf(authority string) string {
	if rest, ok := strings.CutPrefix(authority, "["); ok {
		host, port, _ := strings.Cut(rest, "]")
		if port != "" && port[0] != ':' {
			return authority // such as [::1]x.example, which is no address
		}
		return host
	}
	host, _, _ := strings.Cut(authority, ":")
	return host
}

// Foreign reports whether r comes from a web page of another origin than the listener's own, which is not trusted. Requests that
// change nothing count too where they have an Origin: a browser does not keep a page from opening a websocket anywhere. What no
// browser has sent is not foreign.
func (n Names) Foreign(r *http.Request) bool {
	origins := r.Header["Origin"]
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" && len(origins) == 0:
		return false
	case site == "same-origin" || site == "none":
		return false
	case len(origins) == 0: // a link or an image, whose answer the page cannot read, or an old browser
		return r.Method != http.MethodGet && r.Method != http.MethodHead
	case len(origins) > 1:
		return true
	case site == "" && sameHost(origins[0], r.Host):
		return false
	}
	_, authority, ok := strings.Cut(origins[0], "://")
	return !ok || !n.has(authority)
}

// sameHost compares an origin with a Host. The scheme does not count: TLS may end before the proxy. Browsers leave out a default port
// from both.
func sameHost(origin, host string) bool {
	_, authority, ok := strings.Cut(origin, "://")
	return ok && authority != "" && strings.EqualFold(authority, host)
}
