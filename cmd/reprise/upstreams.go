package main

import (
	"cmp"

	"reprise/proxy"
	"reprise/proxy/admin"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
)

var _ admin.Upstreams = upstreams{}

// upstreams shows the upstreams of a proxy to the admin API.
type upstreams struct{ of *proxy.Server }

// Upstreams implements admin.Upstreams.
func (u upstreams) Upstreams() (all []admin.Upstream) {
	hints := u.of.Upstreams().Hints()
	for _, s := range u.of.Upstreams().Upstreams() {
		one := shownUpstream(&s)
		for _, h := range hints {
			if h.Upstream == s.Name {
				one.Hints = append(one.Hints, shownHint(&h))
			}
		}
		all = append(all, one)
	}
	return all
}

// Drain implements admin.Upstreams.
func (u upstreams) Drain(name string, drained bool) bool {
	return u.of.Upstreams().Drain(name, drained)
}

// Generation implements admin.Upstreams.
func (u upstreams) Generation() (n uint64, durable bool) { return u.of.Generation() }

// mostLeftOut is how many models of a field are named: clients choose the names.
const mostLeftOut = 20

func shownHint(h *upstream.HintCount) admin.UpstreamHint {
	one := admin.UpstreamHint{Field: h.Field, Sent: h.Added, Refused: h.Refused, Noop: h.Noop, Models: len(h.LeftOut)}
	for _, x := range h.LeftOut[:min(len(h.LeftOut), mostLeftOut)] {
		one.LeftOut = append(one.LeftOut, admin.HintLeftOut{Model: x.Model, Until: x.Until.UTC()})
	}
	return one
}

func shownUpstream(s *upstream.Status) admin.Upstream {
	t := &s.Target
	u := admin.Upstream{Name: s.Name, URL: t.Base.Redacted(), Dialect: cmp.Or(t.Dialect, dialect.Default), Version: t.Version, Fallback: t.Fallback, Salted: t.Salted(),
		Health: string(s.Health.Condition), Share: s.Health.Share, Failures: s.Health.Failures, Fault: s.Fault, Limits: s.Health.Limits,
		InFlight: s.Load.InFlight, Pending: s.Load.Pending, Held: s.Load.Held, Capacity: s.Load.Capacity,
		Prompt: s.Counts.Prompt, Cached: s.Counts.Cached, Foreseen: s.Counts.Foreseen, Predicted: s.Counts.Predicted, Real: s.Counts.Real}
	if !s.Health.Until.IsZero() {
		u.Until = &s.Health.Until
	}
	for _, m := range t.Models {
		u.Models = append(u.Models, admin.UpstreamModel(m))
	}
	return u
}
