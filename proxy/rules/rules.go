// Package rules finds the rule by which a request is handled: what an operator has set for its model, path, tenant and namespace.
package rules

import (
	"path"
	"time"

	"reprise/proxy/canon"
)

// Mode is how much of the cache is used.
type Mode string

// The modes.
const (
	Semantic Mode = "semantic" // exact answers, then answers to prompts of the same meaning
	Exact    Mode = "exact"    // exact answers only; nothing is embedded
	Shadow   Mode = "shadow"   // looks for semantic answers and only counts them; serves exact ones
	Off      Mode = "off"      // everything passes through
)

// Rule is how requests are handled. Every field has its value: what an operator leaves out of a rule is that of the rule for all.
type Rule struct {
	Name string // "": the rule for all
	Match

	Mode         Mode
	Threshold    float64 // hit gate by cosine, at or above that of the index; 0: that of the index
	MaxErrorRate float64 // largest expected share of wrong answers among those found by meaning; 0: equal normal forms only
	TTL          time.Duration
	ToolCalls    bool // answers that call tools are kept, for exact repeats
	Ignore       *canon.Ignore
}

// Match is which requests a rule is for: those that fit one pattern of each list that is not empty, by [path.Match].
type Match struct {
	Models, Paths, Tenants, Namespaces []string
}

// fits reports whether a request is among those of m.
func (m *Match) fits(r *Request) bool {
	return fits(m.Models, r.Model) && fits(m.Paths, r.Path) && fits(m.Tenants, r.Tenant) && fits(m.Namespaces, r.Namespace)
}

func fits(patterns []string, s string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, s); ok {
			return true
		}
	}
	return len(patterns) == 0
}

// Request is what rules are chosen by.
type Request struct {
	Tenant, Namespace, Path, Model string
}

// Set is the rules in force. It does not change once made.
type Set struct {
	rules []*Rule
	all   *Rule
}

// NewSet returns a set of rules, of which the first that fits a request counts, and all where none does.
func NewSet(all *Rule, rules ...*Rule) *Set { return &Set{rules, all} }

// Of returns the rule of a request.
func (s *Set) Of(r Request) *Rule {
	for _, rule := range s.rules {
		if rule.fits(&r) {
			return rule
		}
	}
	return s.all
}
