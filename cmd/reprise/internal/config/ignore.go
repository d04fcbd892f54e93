package config

import (
	"strings"

	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

// ignoreAllowed completes "allowed is …" for REPRISE_IGNORE_FIELDS.
var ignoreAllowed = canon.OfferedFields() + ", and fields of your own; several between commas"

// Ignored is what of a request is no part of its key; nil: nothing.
func (c *Config) Ignored() *canon.Ignore { return ignoring(c.IgnoreFields, c.IgnorePatterns) }

// ignoring is for fields and patterns that were checked, each by itself.
func ignoring(fields, patterns []string) *canon.Ignore {
	ignore, _ := registry.APIs.Ignore(fields, patterns)
	return ignore
}

func ignoreFields(to *[]string) func(string) error {
	return func(v string) error {
		var names []string
		for name := range strings.SplitSeq(v, ",") {
			names = append(names, strings.TrimSpace(name))
		}
		if _, err := registry.APIs.Ignore(names, nil); err != nil {
			return errUse(err.Error())
		}
		*to = names
		return nil
	}
}

func ignorePatterns(to *[]string) func(string) error {
	return func(v string) error {
		patterns := splitPatterns(v)
		if len(patterns) == 0 {
			return errUse("there is no pattern")
		}
		if _, err := registry.APIs.Ignore(nil, patterns); err != nil {
			return errUse(err.Error())
		}
		*to = patterns
		return nil
	}
}

// splitPatterns are the expressions of a text, one on each line or between two semicolons.
func splitPatterns(text string) (patterns []string) {
	for line := range strings.Lines(text) {
		for p := range strings.SplitSeq(line, ";;") {
			if p = strings.TrimSpace(p); p != "" {
				patterns = append(patterns, p)
			}
		}
	}
	return patterns
}
