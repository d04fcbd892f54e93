package admin

import (
	"strings"
	"testing"
)

// TestParametersAreKnown: a misspelt filter is refused with what is allowed, and not answered with everything.
func TestParametersAreKnown(t *testing.T) {
	w := newWatch(t)
	r := newRig(t, "lru", func(o *Options) { o.Watch = w })
	for path, says := range map[string]string{
		"/admin/entries?tenant=zz;x":        `The query of /admin/entries cannot be read (invalid semicolon separator in query); allowed is NAME=VALUE,`,
		"/admin/entries?tenant=zz%25zz%zz":  `cannot be read (invalid URL escape "%zz")`,
		"/admin/entries?tennant=a":          `"tennant" is no parameter of /admin/entries; allowed are entry, topic, model, tenant,`,
		"/admin/entries?limit=1&limit=2":    "limit is given twice",
		"/admin/topics?lmit=3":              "allowed are topic, sort, limit",
		"/admin/history?window=1m&point=60": "allowed are window, points",
		"/admin/events?results=miss":        "allowed are result, model, tenant, requests",
		"/admin/events?result=mis":          `result is "mis"; allowed are exact,`,
		"/admin/events?requests=none":       `requests is "none"; allowed is no`,
		"/admin/misses?window=1h":           "takes no parameters",
		"/admin/stats?tenant=a":             "takes no parameters",
	} {
		if got := r.get(path); got.Code != 400 || !strings.Contains(got.Body.String(), strings.ReplaceAll(says, `"`, `\"`)) {
			t.Errorf("%s: %d %s, want %q", path, got.Code, got.Body, says)
		}
	}
	for _, path := range []string{"/admin/entries?limit=1&sort=hits&model=a&tenant=b&namespace=c&topic=1&entry=1", "/admin/topics?sort=hits&limit=1&topic=1", "/admin/misses", "/admin/stats?"} {
		if got := r.get(path); got.Code != 200 {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

// TestParametersOfEachPath: each path in the table is one, and refuses what is no parameter of it.
func TestParametersOfEachPath(t *testing.T) {
	r := newRig(t, "lru", func(o *Options) { o.Watch = newWatch(t) })
	for _, one := range Routes() {
		if one.parameters == "*" || one.Path == "/admin/reviews" || one.Path == "/admin/trust" { // which this rig lacks
			continue
		}
		if got := r.get(one.Path + "?zzz=1"); got.Code != 400 || !strings.Contains(got.Body.String(), "zzz") {
			t.Errorf("%s?zzz=1: %d %s", one.Path, got.Code, got.Body)
		}
	}
}
