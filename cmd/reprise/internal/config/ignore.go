package config

import (
	"strings"

	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

// ignoreAllowed completes "allowed is …" for REPRISE_IGNORE_FIELDS.
var ignoreAllowed = canon.OfferedFields() + ", and fields of your own; several between commas; " + noField + " among them leaves out nothing else"

// noField in the list makes the fields count that only attribute a request.
const noField = "none"

// Ignored is what of a request is no part of its key; nil: nothing.
func (c *Config) Ignored() *canon.Ignore { return ignoring(c.IgnoreFields, c.IgnorePatterns) }

// ignoring is for fields and patterns that were checked, each by itself.
func ignoring(fields, patterns []string) *canon.Ignore {
	ignore, _ := registry.APIs.Ignore(fields, patterns)
	return ignore
}

func ignoreFields(v string) (names []string, err error) {
	for name := range strings.SplitSeq(v, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	if _, err := registry.APIs.Ignore(names, nil); err != nil {
		return nil, errUse(err.Error())
	}
	return names, nil
}

// ignorePatterns reads expressions, one on each line or between two semicolons.
func ignorePatterns(v string) (patterns []string, err error) {
	for _, p := range strings.Split(strings.ReplaceAll(v, ";;", "\n"), "\n") {
		if p = strings.TrimSpace(p); p != "" {
			patterns = append(patterns, p)
		}
	}
	if len(patterns) == 0 {
		return nil, errUse("there is no pattern")
	}
	if _, err := registry.APIs.Ignore(nil, patterns); err != nil {
		return nil, errUse(err.Error())
	}
	return patterns, nil
}
