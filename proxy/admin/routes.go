package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"reprise/proxy/internal/apierror"
)

// Route is a path of the admin API below /admin.
type Route struct {
	Method, Path string
	Does         string

	parameters string // that its query may have, separated by spaces; "*": its handler reads the query, or there is none
	serve      http.HandlerFunc
}

// Routes lists the paths of the admin API.
func Routes() []Route { return (&admin{}).routes() }

func (a *admin) routes() []Route {
	get := func(path, parameters, does string, serve http.HandlerFunc) Route {
		return Route{http.MethodGet, path, does, parameters, serve}
	}
	post := func(path, does string, serve http.HandlerFunc) Route {
		return Route{http.MethodPost, path, does, "*", serve}
	}
	v := reviewer{a.Learner}
	return []Route{
		get("/admin/config", "request", "the settings in force with their sources; `?request=` has the rule for a request", inJSON(a.config)),
		get("/admin/stats", "", "counters and gauges, as one object", inJSON(a.report("stats"))),
		get("/admin/overview", "", "what is in force and what is degraded, in words", inJSON(a.overview)),
		get("/admin/history", "window points", "rates and ratios of the last hours", observer{a.Watch}.history),
		get("/admin/events", "result model tenant requests", "requests and events as they happen (server-sent events)", observer{a.Watch}.events),
		get("/admin/policy", "", "the experts of the eviction policy and their weights", inJSON(a.policy)),
		get("/admin/shadow", "format", "hits by meaning that were measured and not served; `?format=jsonl`", a.shadow),
		get("/admin/shared", "", "the shared store and its members", inJSON(a.shared)),
		get("/admin/topics", "topic sort limit", "topics with their size and prevalence", inJSON(a.listTopics)),
		get("/admin/frames", "", "the frames of templates in force, what asks in each, and a rule to copy", inJSON(a.report("frames"))),
		get("/admin/entries", "entry topic model tenant namespace q sort limit before", "stored answers, by sort, with a page after another", inJSON(a.listEntries)),
		get("/admin/entries/{id}", "*", "one stored answer", inJSON(a.showEntry)),
		post("/admin/purge", "removes answers by entry, topic, model, namespace, tenant or all; counts only, unless `dry_run` is false", a.purge),
		post("/admin/purge/undo", "puts back what a purge of a few entries has removed", inJSON(a.Undos.undoPurge)),
		get("/admin/reviews", "kind limit before", "pairs of prompts that shared an answer, or could have", inJSON(v.list)),
		get("/admin/reviews/{id}", "*", "one pair with both answers", inJSON(v.show)),
		post("/admin/reviews/{id}", "a verdict on a pair", inJSON(v.say)),
		get("/admin/trust", "limit", "scopes by what they have shown of answers to other prompts, and the pair that ended it", inJSON(v.trust)),
		get("/admin/alignment", "", "where prefixes of prompts part, and which lines differ", inJSON(a.alignment)),
		get("/admin/misses", "", "why requests missed, and what a repair would bring", inJSON(a.report("misses"))),
		get("/admin/whatif", "wait", "what other capacities, policies and thresholds would have made of the last requests", inJSON(a.whatIf)),
		get("/admin/upstreams", "", "upstreams with health, load and hints", inJSON(a.listUpstreams)),
		get("/admin/prefixes", "life limit", "the prefixes that are worth most to the caches of the upstreams", inJSON(a.listPrefixes)),
		post("/admin/upstreams/{name}/drain", "sends no more requests to an upstream", a.drainUpstream(true)),
		post("/admin/upstreams/{name}/undrain", "sends requests to it again", a.drainUpstream(false)),
	}
}

// checked refuses a query with a name that the path does not take, or takes once: with a filter that is misspelt an answer would be about everything.
func (one *Route) checked(w http.ResponseWriter, r *http.Request) {
	if one.parameters != "*" && r.URL.RawQuery != "" {
		if wrong := misspelt(r, strings.Fields(one.parameters)); wrong != "" {
			apierror.Write(w, apierror.BadRequest("invalid_parameter", wrong))
			return
		}
	}
	one.serve(w, r)
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
