package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"reprise/policy"
	"reprise/policy/guard"
	"reprise/proxy/internal/admintoken"
	"reprise/proxy/internal/apierror"
	"reprise/store"
	"reprise/topics"
)

// explanation is what would happen to a request, and why.
type explanation struct {
	Key         string             `json:"key"`
	Scope       string             `json:"scope"`
	Result      string             `json:"result"` // exact, semantic, miss or bypass, as it would be now
	Uncacheable string             `json:"uncacheable,omitempty"`
	ExactOnly   string             `json:"exact_only,omitempty"`
	Prompt      string             `json:"prompt,omitempty"`
	Turns       int                `json:"earlier_turns"`
	Entry       policy.ID          `json:"entry,omitempty"`
	Topic       topics.TopicID     `json:"topic,omitempty"`
	RouteScore  float64            `json:"route_similarity,omitempty"`
	Thresholds  map[string]float64 `json:"thresholds"`
	Candidates  []candidate        `json:"candidates"`
	Degraded    string             `json:"degraded,omitempty"`
}

// candidate is an entry that the request was compared with.
type candidate struct {
	Entry      policy.ID  `json:"entry"`
	Similarity float64    `json:"similarity"`
	Prompt     string     `json:"prompt"`
	Veto       guard.Veto `json:"veto,omitempty"`
	OverGate   bool       `json:"over_hit_threshold"`
	Fresh      bool       `json:"fresh"`
}

// explain tells what the cache would do with the body's request; ?endpoint= names its path, chat completions by default.
// It asks no upstream and changes nothing. Similarities are told here and nowhere else.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) (Result, error) {
	if !s.opts.Explain && !admintoken.Given(r, s.opts.AdminToken) {
		return Refused, &apierror.Error{Status: http.StatusForbidden, Type: "invalid_request_error", Code: "explain_disabled",
			Message: "Explain tells similarities, so it needs the header X-Reprise-Admin-Token, or REPRISE_EXPLAIN=true for everybody."}
	}
	path := r.URL.Query().Get("endpoint")
	if path == "" {
		path = "/v1/chat/completions"
	}
	family := s.opts.APIs.ByPath(path)
	if family == nil {
		return Refused, apierror.BadRequest("invalid_parameter", "endpoint is "+apierror.Quote(path)+"; allowed is a cached path such as /v1/chat/completions.")
	}
	d, err := parseDirectives(r.Header)
	if err != nil {
		return Refused, err
	}
	body, err := s.readBody(w, r)
	if err != nil {
		return Refused, err
	}
	as := r.Clone(r.Context())
	as.URL.Path, as.URL.RawQuery = path, ""
	req, err := family.Parse(body, s.identity(as, &d))
	if err != nil {
		return Refused, err
	}
	d.tighten(bodyDirectives(req.Directive))
	x := s.explainRequest(&query{Request: req, family: family, http: as, d: d})
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(x); err != nil {
		return Refused, err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.Copy(w, &out)
	return Bypass, nil
}

func (s *Server) explainRequest(q *query) *explanation {
	th := s.opts.Thresholds
	x := &explanation{Key: hexOf(q.Key), Scope: hexOf(q.Scope), Result: Miss.String(), Uncacheable: q.Uncacheable, ExactOnly: q.ExactOnly,
		Prompt: q.Prompt, Turns: len(q.Turns), Candidates: []candidate{},
		Thresholds: map[string]float64{"hit": max(th.Hit, q.d.Threshold), "route": th.Route, "edge": th.Edge}}
	if q.Uncacheable != "" || q.d.bypass() || s.opts.Mode == ModeOff {
		x.Result = Bypass.String()
		return x
	}
	if e, alias, ok := s.store.Lookup(store.Key(q.Key)); ok && (!alias || s.aliasAllowed(q)) && q.takes(e, s.opts.Now()) {
		x.Result, x.Entry = Exact.String(), e.ID
	}
	if s.meaning() && q.Prompt != "" {
		s.explainMeaning(q, x)
	}
	return x
}

func (s *Server) explainMeaning(q *query, x *explanation) {
	found := &finding{}
	ok := s.guarded("explain", func() error {
		if err := s.embed(q.http.Context(), q, found); err != nil || found.vector == nil {
			return err
		}
		found.chain = s.resolve(q.Turns)
		found.route = s.route(topics.Query{Scope: topics.ScopeID(q.Scope), Chain: found.chain, Vector: found.vector,
			Hit: q.d.Threshold, Nearest: true})
		return nil
	})
	if !ok {
		x.Degraded = "embed"
		return
	}
	x.Topic, x.RouteScore = found.route.Topic, found.route.Score
	near := found.route.Matches
	if len(near) == 0 && found.route.Nearest.ID != 0 {
		near = append(near, found.route.Nearest)
	}
	for _, m := range near {
		x.add(s, q, m, slices.Contains(found.route.Matches, m))
	}
}

func (x *explanation) add(s *Server, q *query, m topics.Match, over bool) {
	e, ok := s.store.Get(policy.ID(m.ID))
	if !ok {
		return
	}
	now := s.opts.Now()
	c := candidate{Entry: e.ID, Similarity: m.Score, Prompt: e.Prompt, Veto: s.opts.Guard(e.Prompt, q.Prompt), OverGate: over, Fresh: e.Fresh(now)}
	x.Candidates = append(x.Candidates, c)
	if x.Entry == 0 && over && q.takes(e, now) && c.Veto == "" && s.opts.Mode == ModeSemantic && !q.d.ExactOnly {
		x.Result, x.Entry = Semantic.String(), e.ID
	}
}
