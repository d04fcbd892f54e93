package rules

import (
	"encoding/hex"
	"slices"
	"strings"
)

// Match describes the requests that a rule is for: they fit one pattern of each list that is not empty. In a pattern * is any text, also none;
// everything else is itself, in this letter case. A pattern of Tenants that is a digest of a tenant is that tenant, and any other is for the
// names that clients write in the header that names tenants.
type Match struct {
	Models, Paths, Tenants, Namespaces []string
}

// failing returns the first field of m that a request does not fit, "" where it fits.
func (m *Match) failing(r *Request) string {
	switch {
	case !fits(m.Models, r.Model):
		return "model"
	case !fits(m.Paths, r.Path):
		return "path"
	case !fitsTenant(m.Tenants, r):
		return "tenant"
	case !fits(m.Namespaces, r.Namespace):
		return "namespace"
	}
	return ""
}

func fits(patterns []string, s string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return Glob(p, s) })
}

func fitsTenant(patterns []string, r *Request) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		return p == "*" || p == r.Tenant || r.Team != "" && !IsDigest(p) && Glob(p, r.Team)
	})
}

// digestBytes is the length of the digest that names a tenant.
const digestBytes = 16

// IsDigest reports whether a name has the form of a tenant's digest.
func IsDigest(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2*digestBytes && name == strings.ToLower(name)
}

// Glob reports whether a pattern fits a text. It takes the first place for each part between stars, which is enough: a later one leaves less
// for the rest.
func Glob(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, first)
	for ok {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, rest)
		}
		_, s, ok = strings.Cut(s, part)
		rest = after
	}
	return false
}

// Covers reports whether every request of o is surely one of m too. A pattern that covers another one fits its text, in which a star is only
// ever reached by a star.
func (m *Match) Covers(o *Match) bool {
	byName := func(w, n string) bool { return Glob(w, n) && (w == n || w == "*" || !IsDigest(n)) }
	return covers(m.Models, o.Models, Glob) && covers(m.Paths, o.Paths, Glob) && covers(m.Tenants, o.Tenants, byName) && covers(m.Namespaces, o.Namespaces, Glob)
}

func covers(wide, narrow []string, glob func(wide, narrow string) bool) bool {
	if len(wide) == 0 {
		return true
	}
	for _, n := range narrow {
		if !slices.ContainsFunc(wide, func(w string) bool { return glob(w, n) }) {
			return false
		}
	}
	return len(narrow) > 0
}
