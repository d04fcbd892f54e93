// Package rules finds the rule by which a request is handled: what an operator has set for its model, path, tenant and namespace.
package rules

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"

	"reprise/proxy/canon"
	"reprise/topics/frames"
	"reprise/topics/reuse"
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

// Compares reports whether prompts are compared by meaning in a mode.
func (m Mode) Compares() bool { return m == Semantic || m == Shadow }

// Rule describes how requests are handled. Every field is set: what an operator leaves out of a rule is taken from the rule for all.
type Rule struct {
	Name string // "": the rule for all
	Match

	Mode         Mode
	Threshold    float64     // hit gate by cosine, at or above the gate of the index; 0: the gate of the index
	MaxErrorRate float64     // largest expected share of wrong answers among those found by meaning; 0: equal normal forms only
	Trust        reuse.Trust // who says that answers to other prompts are right in a scope
	TTL          time.Duration
	ToolCalls    bool // answers that call tools are kept, for exact repeats
	LiveWeb      bool // answers from the live web are kept, for exact repeats
	Ignore       *canon.Ignore
	Ask          *frames.Declared // the part of a prompt that asks; nil: what is learnt decides
}

// Request has what rules are chosen by.
type Request struct {
	Tenant    string // the digest by which a tenant is named everywhere
	Team      string // what the client wrote where a header names tenants; "": credentials or nothing do
	Namespace string
	Path      string // of the endpoint, whatever path the client has used for it
	Model     string
}

// Set is the rules in force. It does not change once made.
type Set struct {
	rules  []*Rule
	all    *Rule
	off    bool   // one of them may be off
	number uint64 // of the sets made so far
}

var made atomic.Uint64

// NewSet returns a set of rules, of which the first that fits a request counts, and all where none does.
func NewSet(all *Rule, rules ...*Rule) *Set {
	s := &Set{rules, all, all.Mode == Off, made.Add(1)}
	for _, r := range rules {
		s.off = s.off || r.Mode == Off
	}
	return s
}

// Of returns the rule of a request.
func (s *Set) Of(r Request) *Rule {
	for _, rule := range s.rules {
		if rule.failing(&r) == "" {
			return rule
		}
	}
	return s.all
}

// All lists the rules, the one for all others last.
func (s *Set) All() []*Rule { return append(slices.Clone(s.rules), s.all) }

// Rest returns the rule for all requests that no other rule fits.
func (s *Set) Rest() *Rule { return s.all }

// Compares reports whether any rule compares prompts by meaning.
func (s *Set) Compares() bool {
	for _, rule := range s.rules {
		if rule.Mode.Compares() {
			return true
		}
	}
	return s.all.Mode.Compares()
}

// FlightKey returns the key under which requests wait for one answer: requests under different rules do not wait together.
func (s *Set) FlightKey(key [32]byte) [32]byte {
	binary.LittleEndian.PutUint64(key[:], binary.LittleEndian.Uint64(key[:])^s.number)
	return key
}

// Off reports whether a request passes through whatever its body says, which is not read yet: r has tenant, team and path. It is
// called only where a rule is off.
func (s *Set) Off(r func() Request) bool {
	if !s.off {
		return false
	}
	if len(s.rules) == 0 {
		return true
	}
	known := r()
	for _, rule := range s.rules {
		m := Match{Paths: rule.Paths, Tenants: rule.Tenants}
		switch fits := m.failing(&known) == ""; {
		case !fits:
		case len(rule.Models) > 0 || len(rule.Namespaces) > 0: // the body may have another namespace
			if rule.Mode != Off {
				return false
			}
		default:
			return rule.Mode == Off
		}
	}
	return s.all.Mode == Off
}

// Passed is a rule that was looked at before the rule of a request and does not fit, with the first field that does not.
type Passed struct{ Rule, Field string }

// Why returns the rule of a request, as Of does, and the rules before it that do not fit.
func (s *Set) Why(r Request) (rule *Rule, passed []Passed) {
	for _, rule := range s.rules {
		field := rule.failing(&r)
		if field == "" {
			return rule, passed
		}
		passed = append(passed, Passed{rule.Name, field})
	}
	return s.all, passed
}
