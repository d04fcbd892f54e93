package config

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"reprise/embed"
	"reprise/policy/registry"
)

// contradictions are settings that are each allowed, but not together.
func (c *Config) contradictions() (problems []string) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if (c.TLSCert == "") != (c.TLSKey == "") {
		bad("REPRISE_TLS_CERT and REPRISE_TLS_KEY go together: only one of them is set")
	} else if err := checkPair(c.TLSCert, c.TLSKey); err != nil {
		bad("%s and %s: %v", c.shown("TLS_CERT"), c.shown("TLS_KEY"), err)
	}
	if c.Listen == c.AdminListen && !strings.HasSuffix(c.Listen, ":0") {
		bad("%s and %s are the same: the admin side needs an address of its own", c.shown("LISTEN"), c.shown("ADMIN_LISTEN"))
	}
	if c.Hit > 0 && c.Route >= c.Hit {
		bad("%s", gatesInWords(c.shown("ROUTE_THRESHOLD"), c.shown("HIT_THRESHOLD")))
	}
	if err := registry.CheckWith(c.Policy, c.PolicyOptions()); err != nil {
		bad("%s with %s: %s", c.shown("POLICY"), c.shown("CAPACITY_ENTRIES"), bareOf(err))
	}
	c.upstreamProblems(bad)
	c.accessProblems(bad)
	c.sharedProblems(bad)
	c.ruleProblems(bad)
	return problems
}

// checkPair reads a certificate and its key, so that a bad pair fails the start and not the first client.
func checkPair(cert, key string) error {
	if cert == "" {
		return nil
	}
	_, err := tls.LoadX509KeyPair(cert, key)
	return err
}

// Loopback reports whether only this machine can reach a listener on address, HOST:PORT.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// reaches reports whether a URL leads to a listener on an address of this machine. It compares names and resolves none.
func reaches(u *url.URL, listen string) bool {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" || port != u.Port() {
		return false
	}
	everywhere := host == "" || net.ParseIP(host).IsUnspecified()
	return host == u.Hostname() || (everywhere || Loopback(listen)) && Loopback(u.Host)
}

// Gates are the thresholds in force: those that are set, and the embedder's own for the rest, for which Effective then has
// the source "embedder". The error names thresholds that contradict each other, and wraps ErrBad.
func (c *Config) Gates(own embed.Thresholds) (embed.Thresholds, error) {
	g := embed.Thresholds{
		Hit:   c.gate("HIT_THRESHOLD", c.Hit, own.Hit),
		Route: c.gate("ROUTE_THRESHOLD", c.Route, own.Route),
		Edge:  c.gate("EDGE_THRESHOLD", c.Edge, own.Edge),
	}
	if g.Route >= g.Hit {
		return g, Bad("%s", gatesInWords(c.shown("ROUTE_THRESHOLD"), c.shown("HIT_THRESHOLD")))
	}
	if problems := c.gateProblems(g); len(problems) > 0 {
		return g, &badError{problems}
	}
	return g, nil
}

func (c *Config) gate(name string, set, own float64) float64 {
	if set > 0 {
		return set
	}
	c.show(name, fmt.Sprint(own), "embedder")
	return own
}

func gatesInWords(route, hit string) string {
	return route + " is not below " + hit + ": every topic would have one member; lower the first or raise the second"
}
