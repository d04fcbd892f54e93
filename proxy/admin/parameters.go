package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"reprise/proxy/internal/apierror"
)

// parameters are the names that each list and report takes in its query. Paths that are not here have a name of their own to check, or none.
var parameters = map[string][]string{
	"/admin/config":    {"request"},
	"/admin/stats":     {},
	"/admin/overview":  {},
	"/admin/history":   {"window", "points"},
	"/admin/events":    {"result", "model", "tenant", "requests"},
	"/admin/policy":    {},
	"/admin/shadow":    {"format"},
	"/admin/shared":    {},
	"/admin/topics":    {"topic", "sort", "limit"},
	"/admin/entries":   {"entry", "topic", "model", "tenant", "namespace", "q", "sort", "limit", "before"},
	"/admin/reviews":   {"kind", "limit", "before"},
	"/admin/alignment": {},
	"/admin/misses":    {},
	"/admin/whatif":    {"wait"},
	"/admin/upstreams": {},
	"/admin/prefixes":  {"life", "limit"},
}

// known refuses a query with a name that its path does not take, or takes once: with a filter that is misspelt an answer would be about everything.
func known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allowed, ok := parameters[r.URL.Path]; ok && r.URL.RawQuery != "" {
			if wrong := misspelt(r, allowed); wrong != "" {
				apierror.Write(w, apierror.BadRequest("invalid_parameter", wrong))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// misspelt says which name is wrong, the first in the order of names, and which are allowed; "" where none is.
func misspelt(r *http.Request, allowed []string) string {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "The query of " + r.URL.Path + " cannot be read (" + err.Error() + "); allowed is NAME=VALUE, with what is special as %XX, such as %3B for a semicolon."
	}
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case len(allowed) == 0:
			return "The path " + r.URL.Path + " takes no parameters, and " + apierror.Quote(name) + " was given."
		case !slices.Contains(allowed, name):
			return apierror.Quote(name) + " is no parameter of " + r.URL.Path + "; allowed are " + strings.Join(allowed, ", ") + "."
		case len(given[name]) > 1:
			return "The parameter " + name + " is given twice; allowed is once."
		}
	}
	return ""
}
