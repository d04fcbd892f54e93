package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/suggest"
	"reprise/policy"
	"reprise/policy/registry"
)

var policyAllowed = "a policy's name, or NAME:key=value,… (reprise-lab replay --list shows the parameters): " + oneOf(registry.Names())

// policySpec is the name of a policy, which may be followed by parameters. A value in capacities is checked with the other
// contradictions, because it depends on the capacity.
func policySpec(to *string) func(string) error {
	return func(v string) error {
		err := registry.Check(v)
		*to = v
		name, params, _ := strings.Cut(v, ":")
		switch {
		case err == nil:
			return nil
		case registry.Replayed(name):
			return errUse(name + " is a policy of replays (reprise-lab replay) and does not serve")
		case errors.Is(err, policy.ErrUnknown):
			return errUse("no policy is called " + name + didYouMean(name, registry.Names()))
		}
		known := parameters(name)
		for pair := range strings.SplitSeq(params, ",") {
			if key, _, ok := strings.Cut(pair, "="); ok && !slices.Contains(known, key) {
				return errUse(bareOf(err) + didYouMean(key, known))
			}
		}
		return errUse(bareOf(err))
	}
}

// didYouMean is suggest.DidYouMean for the middle of a sentence.
func didYouMean(name string, known []string) string {
	if hint := strings.TrimPrefix(suggest.DidYouMean(name, known), "; "); hint != "" {
		return " (" + hint + ")"
	}
	return ""
}

// bareOf is the cause in an error of policy.Check without the policy, which the caller adds.
func bareOf(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		return cause.Error()
	}
	return err.Error()
}

func parameters(name string) (keys []string) {
	for _, info := range registry.List() {
		if info.Name == name {
			for _, p := range info.Params {
				keys = append(keys, p.Name)
			}
		}
	}
	return keys
}

// PolicyName is the policy without its parameters.
func (c *Config) PolicyName() string {
	name, _, _ := strings.Cut(c.Policy, ":")
	return name
}

// objectives are the values of the parameter value that a proxy, which has two limits, has a use for.
var objectives = []string{"hits", "tokens", "hits/byte", "tokens/byte"}

// shortcut is a setting for a parameter that several policies have.
type shortcut struct {
	setting, key, value string // value is empty where it is unset
}

func (c *Config) shortcuts() []shortcut {
	half, weight := shortcut{setting: "TOPIC_HALF_LIFE", key: "alpha"}, shortcut{setting: "DEPENDENCY_WEIGHT", key: "lambda"}
	if c.TopicHalfLife > 0 {
		half.value = strconv.FormatFloat(1/c.TopicHalfLife, 'g', -1, 64)
	}
	if c.DependencyWeight >= 0 {
		weight.value = strconv.FormatFloat(c.DependencyWeight, 'g', -1, 64)
	}
	return []shortcut{half, weight, {"OBJECTIVE", "value", c.Objective}}
}

// PolicyOptions are the options of the policy.
func (c *Config) PolicyOptions() policy.Options {
	o := policy.Options{Capacity: c.CapacityEntries, Params: map[string]string{}}
	for _, s := range c.shortcuts() {
		if s.value != "" {
			o.Params[s.key] = s.value
		}
	}
	return o
}

// policyProblems are values that the policy does not allow at this capacity, and parameters that are set twice.
func (c *Config) policyProblems() (problems []string) {
	plain := policy.Options{Capacity: c.CapacityEntries}
	if err := registry.CheckWith(c.Policy, plain); err != nil {
		return []string{fmt.Sprintf("%s with %s: %s", c.shown("POLICY"), c.shown("CAPACITY_ENTRIES"), bareOf(err))}
	}
	for _, s := range c.shortcuts() {
		with := plain
		with.Params = map[string]string{s.key: s.value}
		switch {
		case s.value == "":
		case slices.Contains(given(c.Policy), s.key):
			problems = append(problems, fmt.Sprintf("%s and %s both set %s: leave one of them out", c.shown("POLICY"), c.shown(s.setting), s.key))
		default:
			if err := registry.CheckWith(c.Policy, with); err != nil {
				problems = append(problems, fmt.Sprintf("%s under %s: %s", c.shown(s.setting), c.shown("POLICY"), bareOf(err)))
			}
		}
	}
	return problems
}

// given are the names of the parameters in a policy spec.
func given(spec string) (keys []string) {
	_, params, _ := strings.Cut(spec, ":")
	for pair := range strings.SplitSeq(params, ",") {
		key, _, _ := strings.Cut(pair, "=")
		keys = append(keys, key)
	}
	return keys
}

// Idle returns a sentence for each setting that has no effect with the others, or a value of an earlier version. It is not an error: another policy may be tried for a
// while, or the clients' own credentials.
func (c *Config) Idle() (sentences []string) {
	for _, s := range c.shortcuts() {
		if s.value != "" && !slices.Contains(parameters(c.PolicyName()), s.key) {
			sentences = append(sentences, fmt.Sprintf("%s has no effect: the policy %s has no parameter %s", c.shown(s.setting), c.PolicyName(), s.key))
		}
	}
	if len(c.APIPaths) > 0 && !keyed(c) {
		sentences = append(sentences, c.shown("API_PATHS")+" has no effect: without REPRISE_UPSTREAM_KEY every path is forwarded, with the credential that the client sends")
	}
	if len(c.ForwardHeaders) > 0 && !keyed(c) {
		sentences = append(sentences, c.shown("FORWARD_HEADERS")+" has no effect: without REPRISE_UPSTREAM_KEY every header is forwarded")
	}
	if c.oldToolCalls {
		now := map[bool]string{true: "exact", false: "off"}[c.CacheToolCalls]
		sentences = append(sentences, c.shown("CACHE_TOOL_CALLS")+" is read as "+now+": the values of this setting are exact and off")
	}
	return slices.Concat(sentences, c.Overruled, idleRouting(c), idleShared(c))
}
