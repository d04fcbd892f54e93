package main

import (
	"reprise/cmd/reprise/internal/config"
	"reprise/proxy/admin"
	"reprise/proxy/api/registry"
	"reprise/proxy/rules"
)

// shownRule is the rule of a request, as GET /admin/config?request= shows it.
type shownRule struct {
	Request admin.Asked `json:"request"`
	config.RuleInForce
	Passed []passedRule `json:"passed"` // rules that are looked at before and do not fit
}

// passedRule is a rule, and what of the request it is not for.
type passedRule struct {
	Rule string `json:"rule"`
	Not  string `json:"not_for_this"`
}

// ruleOf describes the rule that is in force for a request; ok is false where its endpoint is not cached.
func (s *service) ruleOf(cfg *config.Config, a admin.Asked) (shown any, ok bool) {
	family := registry.APIs.ByPath(a.Endpoint)
	if family == nil {
		return nil, false
	}
	r := rules.Request{Namespace: a.Namespace, Path: family.Path, Model: a.Model}
	if rules.IsDigest(a.Tenant) || a.Tenant == "all" {
		r.Tenant = a.Tenant
	} else {
		r.Team = a.Tenant
	}
	rule, before := s.proxy.Rule(r)
	x := shownRule{Request: a, RuleInForce: cfg.InForce(rule.Name), Passed: []passedRule{}}
	for _, p := range before {
		x.Passed = append(x.Passed, passedRule{p.Rule, p.Field})
	}
	return x, true
}
