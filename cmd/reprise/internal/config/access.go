package config

import (
	"fmt"
	"slices"
	"strings"

	"reprise/proxy/gate"
)

// leastClientKey is the least length of a client key.
const leastClientKey = 8

// clientKeys reads keys between commas, white space or line ends; a word that begins with # begins a comment.
func clientKeys(v string) (keys []string, err error) {
	for line := range strings.Lines(v) {
		for _, key := range strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || r == ',' }) {
			if key[0] == '#' {
				break
			}
			switch {
			case len(key) < leastClientKey:
				return nil, errUse(fmt.Sprintf("key %d has %d characters", len(keys)+1, len(key)))
			case strings.ContainsFunc(key, func(r rune) bool { return r >= 0x7f }):
				return nil, errUse(fmt.Sprintf("key %d has a character outside ASCII", len(keys)+1))
			}
			keys = append(keys, key)
		}
	}
	return keys, allowedIf(len(keys) > 0)
}

// apiPaths reads paths between commas, as package gate does.
func apiPaths(v string) (paths []gate.Path, err error) {
	for _, text := range fields(v) {
		p, err := gate.ParsePath(text)
		if err != nil {
			return nil, errUse(err.Error())
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// hosts reads names between commas, each with or without a port.
func hosts(v string) ([]string, error) {
	names := fields(v)
	wrong := slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name, "/*@ ") })
	return names, allowedIf(!wrong)
}

// fields are the parts of a list between commas.
func fields(v string) (parts []string) {
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// exposures are what other machines could use without a credential of their own.
func (c *Config) exposures() (problems []string) {
	if c.AdminToken == "" && !Loopback(c.AdminListen) {
		problems = append(problems, c.shown("ADMIN_LISTEN")+" can be reached from outside this machine: that needs REPRISE_ADMIN_TOKEN")
	}
	if len(c.ClientKeys) > 0 || Loopback(c.Listen) || !c.keyed() {
		return problems
	}
	which := "in REPRISE_UPSTREAM_KEY"
	if c.UpstreamKey == "" {
		which = "of an upstream (key-env or key-file in REPRISE_UPSTREAM)"
	}
	return append(problems, c.shown("LISTEN")+" can be reached from outside this machine, and every client would use the credential "+which+": that needs REPRISE_CLIENT_KEYS")
}

// accessProblems finds what is wrong with whose credential goes to the upstreams.
func (c *Config) accessProblems(bad func(format string, args ...any)) {
	if len(c.ClientKeys) > 0 && !c.keyed() {
		bad("REPRISE_CLIENT_KEYS needs REPRISE_UPSTREAM_KEY: without it, the credential that a client sends goes to the upstream; " +
			"for an upstream that needs no credential, set it to any word")
	}
	for _, u := range c.Upstreams {
		if c.JudgeModel != "" && c.KeyOf(&u) == "" {
			bad("%s: %v", c.shown("JUDGE_MODEL"), u.wrong("it is asked under a credential of the operator, and there is none: that needs REPRISE_UPSTREAM_KEY, key-env or key-file; "+
				"where the upstream needs no credential, give it any word"))
		}
		if len(c.ClientKeys) > 0 && c.keyed() && c.KeyOf(&u) == "" {
			bad("%s: %v", c.shown("UPSTREAM"), u.wrong("with REPRISE_CLIENT_KEYS it needs key-env, key-file or REPRISE_UPSTREAM_KEY: otherwise the credential "+
				"that a client sends goes to it; where it needs none, give it any word"))
		}
	}
}
