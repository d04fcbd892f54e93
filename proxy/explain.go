package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/proxy/gate"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/observe/learn"
	"reprise/proxy/rules"
	"reprise/topics"
	"reprise/topics/reuse"
)

// explainPath is the endpoint of explain.
const explainPath = "/v1/reprise/explain"

// explanation is what would happen to a request, and why.
type explanation struct {
	Key         string              `json:"key"`
	Scope       string              `json:"scope"`
	Tenant      string              `json:"tenant"` // whose answers were looked at, as in the list of entries
	Note        string              `json:"note,omitempty"`
	Headers     explainedHeaders    `json:"headers"`
	Rule        string              `json:"rule,omitempty"` // of the configuration; "": none, the settings for all
	Result      string              `json:"result"`         // exact, semantic, miss or bypass, as it would be now
	Uncacheable string              `json:"uncacheable,omitempty"`
	ExactOnly   string              `json:"exact_only,omitempty"`
	Ignored     []string            `json:"ignored,omitempty"` // fields and named groups that are no part of key and scope
	Prompt      string              `json:"prompt,omitempty"`
	Frame       *explainedFrame     `json:"frame,omitempty"` // of a prompt that is compared
	Turns       int                 `json:"earlier_turns"`
	Items       *explainedItems     `json:"items,omitempty"` // of a request for several embeddings
	Entry       policy.ID           `json:"entry,omitempty"`
	Topic       topics.TopicID      `json:"topic,omitempty"`
	RouteScore  float64             `json:"route_similarity,omitempty"`
	Thresholds  map[string]float64  `json:"thresholds"`
	Missed      *explainedMiss      `json:"missed,omitempty"` // why it is a miss
	Candidates  []candidate         `json:"candidates"`
	Upstreams   []explainedUpstream `json:"upstreams,omitempty"` // where there are several
	Degraded    string              `json:"degraded,omitempty"`
}

// explainedHeaders are the names of the headers that two requests must agree in: one that differs in every request prevents hits.
type explainedHeaders struct {
	Tenant []string `json:"tenant"` // name the tenant
	Scope  []string `json:"scope"`  // can change an answer
}

// explainedItems are how many of the items of a request are stored. The answer to the request is made of theirs, and only the others are asked for.
type explainedItems struct {
	Known int `json:"known"`
	Of    int `json:"of"`
}

// candidate is an entry that the request was compared with.
type candidate struct {
	Entry      policy.ID  `json:"entry"`
	Similarity float64    `json:"similarity"`
	Prompt     string     `json:"prompt"`
	Veto       reuse.Veto `json:"veto,omitempty"`
	OverGate   bool       `json:"over_hit_threshold"`
	Fresh      bool       `json:"fresh"`
	learn.Explained
}

// explain reports what the cache would do with the body's request. It asks no upstream and changes nothing. Only this endpoint
// shows similarities.
//
// The request is that of a client: of its path (?endpoint=, chat completions by default), its tenant (?tenant=, as the list of
// entries shows it, or else that of the client's own credentials beside X-Reprise-Admin-Token), its other headers and its query.
func (x *work) explain() (Result, error) {
	s, w, r := x.s, x.w, x.r.http
	as, tenant, err := s.explained(r)
	if err != nil {
		return Refused, err
	}
	family := s.opts.APIs.ByPath(as.URL.Path)
	if family == nil {
		return Refused, apierror.BadRequest("invalid_parameter", "endpoint is "+apierror.Quote(as.URL.Path)+"; allowed is a cached path such as /v1/chat/completions.")
	}
	d, err := parseDirectives(r.Header, true)
	if err != nil {
		return Refused, err
	}
	c := s.ids.count(as.Header, new(few))
	mem, err := s.lease(r, c.size)
	if err != nil {
		return Refused, err
	}
	defer mem.Drop()
	body, err := readBody(w, r, mem, s.live.Load().maxBody)
	if err != nil {
		return Refused, err
	}
	if body, err = s.opts.Canonical.apply(family, body, mem); err != nil {
		return Refused, err
	}
	identity := s.ids.identity(as, &c, &d)
	note := ""
	switch {
	case tenant != "":
		identity.Tenant, c.team = tenant, ""
	case s.ids.anonymous(&c):
		note = noteAnonymous
	}
	set := s.live.Load().rules
	parsed, rule, err := parse(family, body, identity, c.name(as.Header), set, mem)
	if err != nil {
		return Refused, err
	}
	q := request{s: s, family: family, http: as, d: d, mem: mem}
	q.fill(body, reading{tenant: identity.Tenant, Request: parsed, rule: rule, set: set})
	found := q.explain(gate.HasToken(r, s.live.Load().adminToken))
	found.Note, found.Headers = note, s.ids.explain(as.Header, &c)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(found); err != nil {
		return Refused, err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.Copy(w, &out)
	return Bypass, nil
}

// noteAnonymous is for an operator who has not said which client the request is of.
const noteAnonymous = "No credential of a client was given, so these are the answers stored for clients without one. Name the tenant with " +
	"?tenant=, as GET /admin/entries shows it, or send the client's own credential and the admin token in X-Reprise-Admin-Token."

// explained is the request to be explained, without the parameters and the token that are for explain itself, and the tenant that
// it names.
func (s *Server) explained(r *http.Request) (as *http.Request, tenant string, err error) {
	given, token := r.URL.Query(), s.live.Load().adminToken
	admin := gate.HasToken(r, token)
	tenant = given.Get("tenant")
	switch {
	case !admin && !s.opts.Explain && token == "":
		return nil, "", forbidden("explain_disabled", "Explain shows similarities, so it needs REPRISE_ADMIN_TOKEN, "+
			"which is not set here, and with it the header X-Reprise-Admin-Token. GET /admin/reviews has the last pairs of prompts without it.")
	case !admin && !s.opts.Explain:
		return nil, "", forbidden("explain_disabled",
			"Explain shows similarities, so it needs the header X-Reprise-Admin-Token.")
	case !admin && tenant != "":
		return nil, "", forbidden("admin_token", "The parameter tenant needs the header X-Reprise-Admin-Token: it names the answers of another client.")
	case tenant != "" && !isTenant(tenant):
		return nil, "", apierror.BadRequest("invalid_parameter", "tenant is "+apierror.Quote(tenant)+"; allowed is a tenant as GET /admin/entries shows it.")
	}
	as = r.Clone(r.Context())
	gate.RemoveToken(as.Header, token)
	as.URL.Path, as.URL.RawPath, as.URL.RawQuery = given.Get("endpoint"), "", withoutParameters(r.URL.RawQuery, "tenant", "endpoint")
	if as.URL.Path == "" {
		as.URL.Path = "/v1/chat/completions"
	}
	return as, tenant, nil
}

// withoutParameters is a raw query without some of its parameters.
func withoutParameters(rawQuery string, names ...string) string {
	var rest []string
	for p := range strings.SplitSeq(rawQuery, "&") {
		if name, _, _ := strings.Cut(p, "="); !slices.Contains(names, name) {
			rest = append(rest, p)
		}
	}
	return strings.Join(rest, "&")
}

func forbidden(code, message string) error {
	return &apierror.Error{Status: http.StatusForbidden, Type: apierror.TypeInvalidRequest, Code: code, Message: message}
}

// explain explains q, for the operator or for a client.
func (q *request) explain(operator bool) *explanation {
	x := &explanation{Key: hexOf(q.Key), Scope: hexOf(q.Scope), Tenant: q.tenant, Rule: q.rule.Name, Result: Miss.String(), Uncacheable: q.forbidden(), ExactOnly: q.ExactOnly, Ignored: q.Ignored,
		Prompt: q.Prompt, Turns: len(q.Turns), Candidates: []candidate{}}
	if q.forbidden() != "" || q.d.bypass() || q.rule.Mode == rules.Off {
		th := q.s.opts.Thresholds
		x.Result = Bypass.String()
		x.Thresholds = map[string]float64{"hit": max(th.Hit, q.rule.Threshold, q.d.Threshold), "route": th.Route, "edge": th.Edge}
		return x
	}
	x.Upstreams = q.explainUpstreams()
	found, err := q.s.cache.Explain(q.http.Context(), &q.req)
	q.s.faults.degraded(err)
	if found.Hit != nil {
		if z, err := q.s.frozen(q.http.Context(), found.Hit.Entry); err == nil && !fits(z, q.Stream) {
			q.req.Beside(found.Hit.Entry)
			found, err = q.s.cache.Explain(q.http.Context(), &q.req)
			q.s.faults.degraded(err)
		}
	}
	x.fill(found, q)
	if k := q.lookItems(q.http.Context()); k != nil && found.Hit == nil {
		if x.Items = (&explainedItems{k.found, len(k.hits)}); k.found == len(k.hits) {
			x.Result, x.Entry = Exact.String(), k.hits[0].Entry.ID
			return x
		}
	}
	if found.Hit == nil {
		x.Missed = q.explainMiss(found.Finding, operator)
	}
	return x
}

// explainedUpstream is what one of several upstreams has for the request, if it goes there.
type explainedUpstream struct {
	Name     string `json:"name"`
	Health   string `json:"health"`
	InFlight int    `json:"in_flight"`
	Cached   int    `json:"predicted_cached_tokens"` // of the request's prefix
}

// explainUpstreams returns what the choice of an upstream depends on. It shows which prompts others have sent, and so only where similarities
// are shown too.
func (q *request) explainUpstreams() (all []explainedUpstream) {
	chain := q.s.hints.chain(q)
	if chain == nil || !several(&q.s.opts) {
		return nil
	}
	defer q.s.hints.drop(chain)
	cached := q.s.upstream.Cached(chain)
	for i, u := range q.s.upstream.Upstreams() {
		all = append(all, explainedUpstream{u.Name, string(u.Health.Condition), u.Load.InFlight, cached[i]})
	}
	return all
}

// fill adds what the cache would do.
func (x *explanation) fill(from *cache.Explanation, q *request) {
	x.Thresholds = map[string]float64{"hit": from.Thresholds.Hit, "route": from.Thresholds.Route, "edge": from.Thresholds.Edge}
	if from.Finding.Compared {
		x.Frame = q.explainFrame(&from.Cut, &from.Framed)
	}
	x.Topic, x.RouteScore, x.Degraded = from.Route.Topic, from.Route.Score, from.Degraded
	if hit := from.Hit; hit != nil {
		x.Result, x.Entry = Exact.String(), hit.Entry.ID
		if hit.Topic != 0 {
			x.Result = Semantic.String()
		}
	}
	judge := reuse.Judge{Words: q.s.opts.Words, MaxError: q.rule.MaxErrorRate, Rates: q.s.cache.Rates()}
	for i := range from.Candidates {
		c := &from.Candidates[i]
		stored, asked := c.Entry.Prompt, q.Prompt
		if c.Stored != nil && from.Asked != nil { // what was compared
			stored, asked = c.Stored.Prompt, from.Asked.Prompt
		}
		one := candidate{Entry: c.Entry.ID, Similarity: c.Similarity, Prompt: c.Entry.Prompt, Veto: c.Verdict.Veto, OverGate: c.OverGate, Fresh: c.Fresh,
			Explained: learn.Explain(&judge, stored, asked, &c.Verdict)}
		equal := c.Stored != nil && from.Asked != nil && c.Stored.Equal(from.Asked)
		if one.Veto == reuse.Pass && c.Verdict.Decision != reuse.Serve && !equal {
			one.Veto = reuse.Check(stored, asked) // it refuses the answer behind another embedder, too
		}
		if byForm := c.ByForm && !q.s.cache.Raised(&q.req); !c.OverGate && !byForm { // where forms are equal, no similarity decides
			one.Change = append(one.Change, fmt.Sprintf("The similarity %.4f is not over the hit threshold %.4g.", c.Similarity, from.Thresholds.Hit))
		}
		if q.rule.Mode == rules.Shadow && c.Verdict.Decision == reuse.Serve {
			one.Change = append(one.Change, "The mode is shadow, which serves exact hits only: this one would be compared with the upstream's answer.")
		}
		if !c.Fresh {
			one.Change = append(one.Change, "The entry has expired: a new answer must take its place.")
		}
		x.Candidates = append(x.Candidates, one)
	}
}
