package config

import (
	"errors"
	"slices"
	"strings"

	"reprise/internal/suggest"
	"reprise/policy"
	"reprise/policy/registry"
)

var policyAllowed = "a policy's name, or NAME:key=value,… (reprise-lab replay --list shows the parameters): " + oneOf(registry.Names())

// policySpec is the name of a policy, which may be followed by parameters. A value in capacities is checked with the other
// contradictions, because it depends on the capacity.
func policySpec(v string) (string, error) {
	err := registry.Check(v)
	name, params, _ := strings.Cut(v, ":")
	switch {
	case err == nil:
		return v, nil
	case registry.Replayed(name):
		return "", errUse(name + " is a policy of replays (reprise-lab replay) and does not serve")
	case errors.Is(err, policy.ErrUnknown):
		return "", errUse("no policy is called " + name + didYouMean(name, registry.Names()))
	}
	known := parameters(name)
	for pair := range strings.SplitSeq(params, ",") {
		if key, _, ok := strings.Cut(pair, "="); ok && !slices.Contains(known, key) {
			return "", errUse(bareOf(err) + didYouMean(key, known))
		}
	}
	return "", errUse(bareOf(err))
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

// PolicyOptions are the options of the policy.
func (c *Config) PolicyOptions() policy.Options { return policy.Options{Capacity: c.CapacityEntries} }

// Idle returns a sentence for each setting that has no effect with the others. It is not an error: another policy may be tried for a
// while, or the clients' own credentials.
func (c *Config) Idle() (sentences []string) {
	if len(c.APIPaths) > 0 && !c.keyed() {
		sentences = append(sentences, c.shown("API_PATHS")+" has no effect: without REPRISE_UPSTREAM_KEY every path is forwarded, with the credential that the client sends")
	}
	return slices.Concat(sentences, c.Overruled, c.idleRouting(), c.idleShared())
}
