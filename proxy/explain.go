package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"reprise/policy"
	"reprise/policy/reuse"
	"reprise/proxy/cache"
	"reprise/proxy/internal/admintoken"
	"reprise/proxy/internal/apierror"
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
	Veto       reuse.Veto `json:"veto,omitempty"`
	OverGate   bool       `json:"over_hit_threshold"`
	Fresh      bool       `json:"fresh"`
}

// explain reports what the cache would do with the body's request; ?endpoint= names its path, chat completions by default.
// It asks no upstream and changes nothing. Only this endpoint shows similarities.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) (Result, error) {
	if !s.opts.Explain && !admintoken.Given(r, s.live.Load().adminToken) {
		return Refused, &apierror.Error{Status: http.StatusForbidden, Type: "invalid_request_error", Code: "explain_disabled",
			Message: "Explain shows similarities, so it needs the header X-Reprise-Admin-Token; REPRISE_EXPLAIN=true allows it for all clients."}
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
	mem, ok := s.budget.Lease()
	if !ok {
		return Refused, errNoMemory
	}
	defer mem.Drop()
	body, err := readBody(w, r, mem, s.live.Load().maxBody)
	if err != nil {
		return Refused, err
	}
	as := r.Clone(r.Context())
	as.URL.Path, as.URL.RawQuery = path, ""
	q, err := s.newQuery(as, family, body, d, mem)
	if err != nil {
		return Refused, err
	}
	x := q.explain()
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

func (q *query) explain() *explanation {
	x := &explanation{Key: hexOf(q.Key), Scope: hexOf(q.Scope), Result: Miss.String(), Uncacheable: q.Uncacheable, ExactOnly: q.ExactOnly,
		Prompt: q.Prompt, Turns: len(q.Turns), Candidates: []candidate{}}
	if q.Uncacheable != "" || q.d.bypass() || q.s.opts.Mode == ModeOff {
		th := q.s.opts.Thresholds
		x.Result = Bypass.String()
		x.Thresholds = map[string]float64{"hit": max(th.Hit, q.d.Threshold), "route": th.Route, "edge": th.Edge}
		return x
	}
	found, err := q.s.cache.Explain(q.http.Context(), &q.req)
	q.s.faults.degraded(err)
	x.fill(found)
	return x
}

// fill adds what the cache would do.
func (x *explanation) fill(from *cache.Explanation) {
	x.Thresholds = map[string]float64{"hit": from.Thresholds.Hit, "route": from.Thresholds.Route, "edge": from.Thresholds.Edge}
	x.Topic, x.RouteScore, x.Degraded = from.Route.Topic, from.Route.Score, from.Degraded
	if hit := from.Hit; hit != nil {
		x.Result, x.Entry = Exact.String(), hit.Entry.ID
		if hit.Topic != 0 {
			x.Result = Semantic.String()
		}
	}
	for _, c := range from.Candidates {
		x.Candidates = append(x.Candidates, candidate{Entry: c.Entry.ID, Similarity: c.Similarity, Prompt: c.Entry.Prompt, Veto: c.Veto,
			OverGate: c.OverGate, Fresh: c.Fresh})
	}
}
