package redis

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"reprise/store"
)

// mode is how the servers work together.
type mode int

const (
	single mode = iota
	cluster
	sentinel
)

// target is where the servers are.
type target struct {
	mode           mode
	scheme         string
	addrs          []string // host:port
	master         string   // of sentinels
	db             int
	user, password string
	secure         *tls.Config // nil: without TLS
}

// forms is what an error says is allowed.
const forms = "allowed is redis[s]://[USER:PASSWORD@]HOST[:PORT][/DB], redis[s]-cluster://[USER:PASSWORD@]HOST[:PORT],… " +
	"or redis[s]-sentinel://[USER:PASSWORD@]HOST[:PORT],…/MASTER[/DB]"

func wrongURL(format string, args ...any) error {
	return fmt.Errorf("%w: REPRISE_STORE: %s: %s", store.ErrRefused, fmt.Sprintf(format, args...), forms)
}

// parseURL reads a URL. No error repeats the credentials.
func parseURL(text string) (to target, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return to, wrongURL("it is no URL")
	}
	to.scheme = scheme
	switch strings.TrimPrefix(strings.Replace(scheme, "rediss", "redis", 1), "redis") {
	case "":
	case "-cluster":
		to.mode = cluster
	case "-sentinel":
		to.mode = sentinel
	default:
		return to, wrongURL("the scheme %q is unknown", scheme)
	}
	if strings.HasPrefix(scheme, "rediss") {
		to.secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		to.user, to.password, rest = unescaped(user), unescaped(password), rest[at+1:]
	}
	if strings.Contains(rest, "?") { // which may hold a credential: it is not shown
		return to, wrongURL("it has a query (?…), and takes none")
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if to.addrs, err = addrs(hosts, to.mode); err != nil {
		return to, err
	}
	return to, to.parsePath(path)
}

// unescaped undoes percent encoding; a text that is none is taken as it is.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func addrs(hosts string, m mode) (all []string, err error) {
	usual := "6379"
	if m == sentinel {
		usual = "26379"
	}
	for h := range strings.SplitSeq(hosts, ",") {
		host, port, err := net.SplitHostPort(h)
		if err != nil {
			host, port, err = net.SplitHostPort(h + ":" + usual)
		}
		n, _ := strconv.Atoi(port)
		if err != nil || host == "" || n < 1 || n > 65535 {
			return nil, wrongURL("%q is no HOST:PORT", h)
		}
		all = append(all, net.JoinHostPort(host, port))
	}
	if m == single && len(all) > 1 {
		return nil, wrongURL("it has %d hosts; several are those of a cluster or of sentinels", len(all))
	}
	return all, nil
}

// parsePath reads what comes after the hosts.
func (to *target) parsePath(path string) error {
	db := path
	if to.mode == sentinel {
		to.master, db, _ = strings.Cut(path, "/")
		if to.master == "" {
			return wrongURL("it does not name the master of the sentinels")
		}
	}
	if db == "" {
		return nil
	}
	n, err := strconv.Atoi(db)
	switch {
	case err != nil || n < 0:
		return wrongURL("%q is no number of a database", db)
	case to.mode == cluster:
		return wrongURL("a cluster has no database but 0")
	}
	to.db = n
	return nil
}

// name is the URL without credentials.
func (to *target) name() string {
	name := to.scheme + "://" + strings.Join(to.addrs, ",")
	if to.master != "" {
		name += "/" + to.master
	}
	if to.db != 0 {
		name += "/" + strconv.Itoa(to.db)
	}
	return name
}
