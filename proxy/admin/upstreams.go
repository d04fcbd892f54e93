package admin

import (
	"cmp"
	"math"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
)

// Upstreams sends requests to the engines behind the proxy; an *upstream.Client is one.
type Upstreams interface {
	// Upstreams returns the status of each.
	Upstreams() []upstream.Status
	// Hints returns what became of the fields that the proxy adds to requests.
	Hints() []upstream.HintCount
	// Drain makes an upstream get no new conversations, or with false all requests again. It reports whether there is such an upstream, and
	// others beside it.
	Drain(name string, drained bool) (ok bool)
}

// upstreamView is the status of one upstream as the admin API shows it.
type upstreamView struct {
	Name     string           `json:"name"`
	URL      string           `json:"url"` // without credentials
	Dialect  string           `json:"dialect"`
	Version  string           `json:"version,omitempty"`
	Models   []upstream.Model `json:"models,omitempty"` // that it serves; none: every model
	Fallback bool             `json:"fallback"`
	Salted   bool             `json:"salted"` // tenants share no KV blocks there

	Health   upstream.Condition `json:"health"`
	Until    *time.Time         `json:"until,omitempty"` // of an ejection, or of the time for which it asked to be left alone
	Share    float64            `json:"share"`           // of the requests, up to 1
	Failures int                `json:"failures_in_a_row"`
	Fault    string             `json:"last_failure,omitempty"`
	Limits   int                `json:"limited_tenants_and_models"` // for which it is set aside

	InFlight int `json:"in_flight"`
	Pending  int `json:"pending_tokens"` // that it has to prefill
	Held     int `json:"held_tokens"`    // that its KV cache should hold
	Capacity int `json:"capacity_tokens"`

	// Of answers that report how many tokens of their prompts were cached.
	Prompt int64 `json:"prompt_tokens"`
	Cached int64 `json:"cached_tokens"`

	// Of those for which the proxy had predicted that number.
	Foreseen  int64 `json:"foreseen_prompt_tokens"`
	Predicted int64 `json:"foreseen_predicted_tokens"`
	Real      int64 `json:"foreseen_cached_tokens"`

	Hints []hintView `json:"hints,omitempty"`
}

// hintView counts what became of a field that the proxy adds to requests for an upstream, since the start.
type hintView struct {
	Field   string `json:"field"`
	Sent    int64  `json:"sent"`
	Refused int64  `json:"refused"`         // of these: the field is left out for an hour
	Noop    int64  `json:"not_expressible"` // requests for which the dialect has no such field

	// The upstream has refused the field for so many models: it is left out of their requests. The first ones are named.
	Models  int                `json:"left_out_models,omitempty"`
	LeftOut []upstream.LeftOut `json:"left_out,omitempty"`
}

// mostLeftOut is how many models of a field are named: clients choose the names.
const mostLeftOut = 20

// listUpstreams shows every upstream.
func (a *admin) listUpstreams(*http.Request) (any, error) {
	hints, views := a.Upstreams.Hints(), []upstreamView{}
	for _, s := range a.Upstreams.Upstreams() {
		t, h, n := &s.Target, &s.Health, &s.Counts
		v := upstreamView{Name: s.Name, URL: t.Base.Redacted(), Dialect: cmp.Or(t.Dialect, dialect.Default), Version: t.Version, Models: t.Models,
			Fallback: t.Fallback, Salted: t.Salted(), Health: h.Condition, Share: h.Share, Failures: h.Failures, Fault: s.Fault, Limits: h.Limits,
			InFlight: s.Load.InFlight, Pending: s.Load.Pending, Held: s.Load.Held, Capacity: s.Load.Capacity,
			Prompt: n.Prompt, Cached: n.Cached, Foreseen: n.Foreseen, Predicted: n.Predicted, Real: n.Real}
		if !h.Until.IsZero() {
			v.Until = &h.Until
		}
		for _, c := range hints {
			if c.Upstream == s.Name {
				v.Hints = append(v.Hints, hintView{c.Field, c.Added, c.Refused, c.Noop, len(c.LeftOut), c.LeftOut[:min(len(c.LeftOut), mostLeftOut)]})
			}
		}
		views = append(views, v)
	}
	return map[string]any{"upstreams": views}, nil
}

// drainUpstream makes an upstream get no new conversations, or all requests again.
func (a *admin) drainUpstream(drained bool) http.HandlerFunc {
	return inJSON(func(r *http.Request) (any, error) {
		name := chi.URLParam(r, "name")
		if a.Upstreams.Drain(name, drained) {
			return a.listUpstreams(r)
		}
		why := "there is no upstream of that name"
		if all := a.Upstreams.Upstreams(); len(all) == 1 && all[0].Name == name {
			why = "it is the only upstream"
		}
		return nil, &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "no_such_upstream",
			Message: "The upstream " + apierror.Quote(name) + " cannot be drained: " + why + "; GET /admin/upstreams lists them."}
	})
}

// prefixLife is how long a prefix is taken to be kept where the query names no life.
const prefixLife = 10 * time.Minute

// listPrefixes lists the prefixes that are worth most if they are kept for life (10m), at most limit (50).
func (a *admin) listPrefixes(r *http.Request) (any, error) {
	limit, err := intParam(r, "limit", 50)
	if err != nil {
		return nil, err
	}
	life, err := durationParam(r, "life", prefixLife, 1, math.MaxInt64, "above 0, such as 10m")
	if err != nil {
		return nil, err
	}
	return map[string]any{"life_seconds": life.Seconds(), "prefixes": a.Prefixes(life, limit)}, nil
}

// hintsAfterPurge says under which names upstreams cache from now on. What they hold under the names of before is not used for this proxy any
// more; they evict it by themselves. An upstream that gets no salt shares equal prefixes whatever their names.
func (a *admin) hintsAfterPurge() map[string]any {
	n, durable := a.Proxy.Generation()
	with, without := []string{}, []string{}
	for _, u := range a.Upstreams.Upstreams() {
		if u.Target.Salted() {
			with = append(with, u.Name)
		} else {
			without = append(without, u.Name)
		}
	}
	return map[string]any{"generation": n, "durable": durable, "salted": with, "unsalted": without}
}

// alignment shows where prompts part.
func (a *admin) alignment(*http.Request) (any, error) {
	if a.Alignment == nil {
		return struct{}{}, nil
	}
	return a.Alignment.Report(), nil
}
