package admin

import "net/http"

// Route is a path of the admin API below /admin.
type Route struct {
	Method, Path string
	Does         string

	serve http.HandlerFunc
}

// Routes lists the paths of the admin API.
func Routes() []Route { return (&admin{}).routes() }

func (a *admin) routes() []Route {
	get := func(path, does string, serve http.HandlerFunc) Route { return Route{http.MethodGet, path, does, serve} }
	post := func(path, does string, serve http.HandlerFunc) Route {
		return Route{http.MethodPost, path, does, serve}
	}
	v := reviewer{a.Learner}
	return []Route{
		get("/admin/config", "the settings in force with their sources; `?request=` has the rule for a request", inJSON(a.config)),
		get("/admin/stats", "counters and gauges, as one object", inJSON(a.report("stats"))),
		get("/admin/overview", "what is in force and what is degraded, in words", inJSON(a.overview)),
		get("/admin/history", "rates and ratios of the last hours", observer{a.Watch}.history),
		get("/admin/events", "requests and events as they happen (server-sent events)", observer{a.Watch}.events),
		get("/admin/policy", "the experts of the eviction policy and their weights", inJSON(a.policy)),
		get("/admin/shadow", "hits by meaning that were measured and not served; `?format=jsonl`", a.shadow),
		get("/admin/shared", "the shared store and its members", inJSON(a.shared)),
		get("/admin/topics", "topics with their size and prevalence", inJSON(a.listTopics)),
		get("/admin/entries", "stored answers, by sort, with a page after another", inJSON(a.listEntries)),
		get("/admin/entries/{id}", "one stored answer", inJSON(a.showEntry)),
		post("/admin/purge", "removes answers by entry, topic, model, namespace, tenant or all; counts only, unless `dry_run` is false", a.purge),
		post("/admin/purge/undo", "puts back what a purge of a few entries has removed", inJSON(a.Undos.undoPurge)),
		get("/admin/reviews", "pairs of prompts that shared an answer, or could have", inJSON(v.list)),
		get("/admin/reviews/{id}", "one pair with both answers", inJSON(v.show)),
		post("/admin/reviews/{id}", "a verdict on a pair", inJSON(v.say)),
		get("/admin/alignment", "where prefixes of prompts part, and which lines differ", inJSON(a.alignment)),
		get("/admin/misses", "why requests missed, and what a repair would bring", inJSON(a.report("misses"))),
		get("/admin/whatif", "what other capacities, policies and thresholds would have made of the last requests", inJSON(a.whatIf)),
		get("/admin/upstreams", "upstreams with health, load and hints", inJSON(a.listUpstreams)),
		get("/admin/prefixes", "the prefixes that are worth most to the caches of the upstreams", inJSON(a.listPrefixes)),
		post("/admin/upstreams/{name}/drain", "sends no more requests to an upstream", a.drainUpstream(true)),
		post("/admin/upstreams/{name}/undrain", "sends requests to it again", a.drainUpstream(false)),
	}
}
