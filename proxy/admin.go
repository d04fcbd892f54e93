package proxy

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"reprise/policy"
	"reprise/proxy/answer"
	"reprise/store"
)

// Admin serves health, metrics and the admin API. It shows prompts and answers of every tenant: keep it from clients.
func (s *Server) Admin() http.Handler {
	r := chi.NewRouter()
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	r.Get("/readyz", s.readyz)
	r.Handle("/metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	r.Route("/admin", func(r chi.Router) {
		r.Use(s.adminOnly)
		r.Get("/config", s.adminHandler(func(*http.Request) (any, error) { return s.config(), nil }))
		r.Get("/stats", s.adminHandler(func(*http.Request) (any, error) { return s.Stats(), nil }))
		r.Get("/policy", s.adminHandler(s.showPolicy))
		r.Get("/topics", s.adminHandler(s.listTopics))
		r.Get("/entries", s.adminHandler(s.listEntries))
		r.Get("/entries/{id}", s.adminHandler(s.showEntry))
		r.Post("/purge", s.adminHandler(s.purgeEntries))
	})
	return r
}

// readyz fails while the server drains. It looks at no dependency: a dead one would take every replica out at once.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	w.Write([]byte("ready\n"))
}

// adminOnly asks for the admin token where one is set.
func (s *Server) adminOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.opts.AdminToken == "" && !literalHost(r.Host) {
			writeError(w, &apiError{Status: http.StatusForbidden, Type: "invalid_request_error", Code: "admin_host",
				Message: "Without an admin token (REPRISE_ADMIN_TOKEN) the admin API answers to localhost or an IP address only, not to " + quoteShort(r.Host) + "."})
			return
		}
		if s.opts.AdminToken != "" && !s.hasAdminToken(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, &apiError{Status: http.StatusUnauthorized, Type: "invalid_request_error", Code: "admin_token",
				Message: "The admin API needs the header Authorization: Bearer and the admin token (REPRISE_ADMIN_TOKEN)."})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// literalHost keeps a browser out that was led here under a name of somebody else's (DNS rebinding).
func literalHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

// hasAdminToken compares in constant time, by digest so that not even the length shows.
func (s *Server) hasAdminToken(r *http.Request) bool {
	given := r.Header.Get("X-Reprise-Admin-Token")
	if given == "" {
		if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
			given = token
		}
	}
	want, got := sha256.Sum256([]byte(s.opts.AdminToken)), sha256.Sum256([]byte(given))
	return s.opts.AdminToken != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// adminHandler turns what h returns into JSON.
func (s *Server) adminHandler(h func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		if err != nil {
			writeError(w, toAPIError(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.Encode(v)
	}
}

func (s *Server) config() any {
	if s.opts.EffectiveConfig == nil {
		return struct{}{}
	}
	return s.opts.EffectiveConfig()
}

// entryView is an entry as the admin API shows it.
type entryView struct {
	ID           policy.ID      `json:"id"`
	Topic        policy.TopicID `json:"topic"`
	Parent       policy.ID      `json:"parent,omitempty"`
	Tenant       string         `json:"tenant"`
	Namespace    string         `json:"namespace,omitempty"`
	Model        string         `json:"model"`
	Endpoint     string         `json:"endpoint"`
	Prompt       string         `json:"prompt,omitempty"`
	Bytes        int            `json:"bytes"`
	InputTokens  int64          `json:"input_tokens"`
	OutputTokens int64          `json:"output_tokens"`
	Created      time.Time      `json:"created"`
	Expires      time.Time      `json:"expires"`
	Answer       any            `json:"answer,omitempty"`
}

func viewOf(e *store.Entry) entryView {
	return entryView{ID: e.ID, Topic: e.Topic, Parent: e.Parent, Tenant: e.Tenant, Namespace: e.Namespace, Model: e.Model, Endpoint: e.Endpoint,
		Prompt: e.Prompt, Bytes: len(e.Answer), InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, Created: e.Created, Expires: e.Expires}
}

// listEntries lists entries that match the filter of the query, ids descending, at most limit (100) below before.
func (s *Server) listEntries(r *http.Request) (any, error) {
	match, err := parseFilter(r.URL.Query().Get)
	if err != nil {
		return nil, err
	}
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	before, err := intParam(r, "before", math.MaxInt)
	if err != nil {
		return nil, err
	}
	views := []entryView{}
	for e := range s.store.All() {
		if match.matches(e) && e.ID < policy.ID(before) {
			views = append(views, viewOf(e))
		}
	}
	slices.SortFunc(views, func(a, b entryView) int { return cmp.Compare(b.ID, a.ID) })
	total := len(views)
	return map[string]any{"entries": views[:min(total, limit)], "total": total}, nil
}

func intParam(r *http.Request, name string, def int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return 0, badRequest("invalid_parameter", name+" is "+quoteShort(v)+"; allowed is a whole number from 1.")
	}
	return n, nil
}

// showEntry shows one entry with its answer, as an object.
func (s *Server) showEntry(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(chi.URLParam(r, "id"), 10, 64)
	if err != nil {
		return nil, badRequest("invalid_parameter", "An entry's id is a whole number, as X-Reprise-Entry tells it.")
	}
	e, ok := s.store.Get(policy.ID(id))
	if !ok {
		return nil, &apiError{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "not_found", Message: "There is no entry " + utoa(id) + "."}
	}
	view := viewOf(e)
	raw, err := e.Recording()
	if err != nil {
		return nil, err
	}
	z, err := answer.Decode(raw)
	if err != nil {
		return nil, err
	}
	body, _, err := z.Replay(nil, answer.ReplayOptions{ID: originalID(z), Created: e.Created.Unix()})
	if err != nil {
		return nil, err
	}
	view.Answer = json.RawMessage(body)
	return view, nil
}

// topicView is a topic as the admin API shows it.
type topicView struct {
	Topic   policy.TopicID `json:"topic"`
	Entries int            `json:"entries"`
	Model   string         `json:"model"`
	Tenant  string         `json:"tenant"`
	Sample  string         `json:"sample"` // the prompt of its oldest member
	oldest  policy.ID
}

// listTopics lists the topics that have a comparable member, largest first, at most limit (100).
func (s *Server) listTopics(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 100)
	if err != nil {
		return nil, err
	}
	byID := map[policy.TopicID]*topicView{}
	for e := range s.store.All() {
		if e.Prompt == "" {
			continue
		}
		v := byID[e.Topic]
		if v == nil {
			v = &topicView{Topic: e.Topic, oldest: e.ID + 1}
			byID[e.Topic] = v
		}
		v.Entries++
		if e.ID < v.oldest {
			v.oldest, v.Sample, v.Model, v.Tenant = e.ID, e.Prompt, e.Model, e.Tenant
		}
	}
	views := make([]*topicView, 0, len(byID))
	for _, v := range byID {
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b *topicView) int {
		return cmp.Or(cmp.Compare(b.Entries, a.Entries), cmp.Compare(a.Topic, b.Topic))
	})
	return map[string]any{"topics": views[:min(len(views), limit)], "total": len(views), "scopes": s.scopeViews()}, nil
}

// scopeView is a scope as the admin API shows it, with the index that serves its anchors and why.
type scopeView struct {
	Scope    string  `json:"scope"`
	Topics   int     `json:"topics"`
	Entries  int     `json:"entries"`
	Index    string  `json:"index"`
	Why      string  `json:"why"`
	Recall   float64 `json:"recall,omitempty"`
	Rebuilds int     `json:"rebuilds,omitempty"`
	Faults   int     `json:"faults,omitempty"`
}

func (s *Server) scopeViews() []scopeView {
	views := []scopeView{}
	for _, one := range s.topics.Stats().Scopes {
		views = append(views, scopeView{hexOf(one.Scope), one.Topics, one.Entries,
			one.Index.Backend, one.Index.Why, one.Index.Recall, one.Index.Rebuilds, one.Index.Faults})
	}
	return views
}
