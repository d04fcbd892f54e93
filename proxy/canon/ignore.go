package canon

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Ignore is what the operator takes out of the key and scope of requests: requests that differ in nothing else are the same. The
// forwarded body keeps it. An Ignore does not change once made, except for the matches that it remembers.
//
// Keys under one Ignore are never keys under another, or under none: an answer that was kept while its request's user did not count is not
// found once users count again.
type Ignore struct {
	fields   map[string]bool
	none     bool // fields that only attribute a request count
	patterns []pattern
	digest   Hash
	found    found
}

// pattern is an expression, of which the named groups are taken out.
type pattern struct {
	*regexp.Regexp
	groups []int // the indices of the named ones
}

// The bounds of what an operator may ignore.
const (
	maxIgnoredFields = 64
	maxPatterns      = 32
	maxPattern       = 1024 // bytes of one
	maxIgnored       = 256  // bytes that a group may take out; what is longer counts as it is: it is no date and no id
	maxIgnoredName   = 32   // bytes of the name of a group, which is shown to clients
	maxIgnoredMember = 64   // bytes of the name of a member, which is shown too
	maxGroups        = 8    // of one pattern, named or not
)

// offered are the known fields that may be ignored: they say who asks and what for, and not what is asked.
var offered = []string{"user", "metadata", "safety_identifier", "prompt_cache_key", "service_tier", "priority"}

// OfferedFields returns the known fields that may be ignored, as a list in words.
func OfferedFields() string { return strings.Join(offered, ", ") }

// noField in a list of fields makes those count that only attribute a request, which are left out otherwise; see [Default.Attributes].
const noField = "none"

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// NewIgnore returns an Ignore of the members of the body with the names in fields, and of what the named groups of patterns match in the
// texts of system and developer messages; nil where both are empty. With "none" in the list no field is ignored that the list does not
// name, not even one that only attributes a request. A known field may be ignored only if it is offered: any other can change
// an answer, or how it is read. A field that is not known is the operator's own. An error is the rest of a sentence about a setting.
func NewIgnore(known Names, fields, patterns []string) (*Ignore, error) {
	if len(fields) == 0 && len(patterns) == 0 {
		return nil, nil
	}
	if len(fields) > maxIgnoredFields || len(patterns) > maxPatterns {
		return nil, fmt.Errorf("has %d fields and %d patterns; at most %d and %d are allowed", len(fields), len(patterns), maxIgnoredFields, maxPatterns)
	}
	g := &Ignore{fields: map[string]bool{}, none: slices.Contains(fields, noField)}
	for _, name := range fields {
		if name == noField {
			continue
		}
		if err := checkIgnored(known, name); err != nil {
			return nil, err
		}
		g.fields[name] = true
	}
	for _, text := range patterns {
		p, err := newPattern(text)
		if err != nil {
			return nil, err
		}
		g.patterns = append(g.patterns, p)
	}
	g.digest = ignoreDigest(fields, patterns)
	return g, nil
}

// checkIgnored returns why a member may not be ignored.
func checkIgnored(known Names, name string) error {
	lower := strings.ToLower(name)
	switch _, ok := known[name]; {
	case len(name) > maxIgnoredMember || !plainName.MatchString(name):
		return fmt.Errorf("%.64q is not the name of a field, such as user", name)
	case ok && !slices.Contains(offered, name):
		return fmt.Errorf("the field %s can change an answer, or how it is read", name)
	case name != lower && slices.Contains(offered, lower):
		return fmt.Errorf("%s is no field of the APIs; did you mean %s?", name, lower)
	}
	return nil
}

func newPattern(text string) (pattern, error) {
	if len(text) > maxPattern {
		return pattern{}, fmt.Errorf("a pattern has %d bytes; at most %d are allowed", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return pattern{}, fmt.Errorf("the pattern %s: %w", text, err)
	}
	if n := re.NumSubexp(); n > maxGroups {
		return pattern{}, fmt.Errorf("the pattern %s has %d groups; at most %d are allowed", text, n, maxGroups)
	}
	p := pattern{Regexp: re}
	for i, name := range re.SubexpNames() {
		if name == "" {
			continue
		}
		if len(name) > maxIgnoredName || !plainName.MatchString(name) {
			return pattern{}, fmt.Errorf("the pattern %s: the name of the group %q may have at most %d letters, digits and underscores", text, name, maxIgnoredName)
		}
		p.groups = append(p.groups, i)
	}
	if len(p.groups) == 0 {
		return pattern{}, fmt.Errorf(`the pattern %s has no named group, such as (?P<date>\d{4}-\d\d-\d\d): only what named groups match is ignored`, text)
	}
	return p, nil
}

// ignoreDigest is equal for lists of the same fields in any order, and the same patterns in their order.
func ignoreDigest(fields, patterns []string) Hash {
	var all []byte
	for _, list := range [][]string{slices.Compact(slices.Sorted(slices.Values(fields))), patterns} {
		for _, s := range list {
			all = appendText(all, s)
		}
		all = append(all, tagEnd)
	}
	return sha256.Sum256(all)
}

// attributes reports whether the fields that only attribute a request are left out.
func (g *Ignore) attributes() bool { return g == nil || !g.none }

// Fields returns the ignored members of the body, sorted, after "none" where the list has that.
func (g *Ignore) Fields() (names []string) {
	if g == nil {
		return nil
	}
	for name := range g.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	if g.none {
		names = slices.Insert(names, 0, noField)
	}
	return names
}

// Patterns returns the patterns as they were given.
func (g *Ignore) Patterns() (texts []string) {
	if g == nil {
		return nil
	}
	for _, p := range g.patterns {
		texts = append(texts, p.String())
	}
	return texts
}

// ignores reports whether the operator ignores a member of the body.
func ignores(p *Reader, name []byte) bool {
	if p.ignore == nil || !p.ignore.fields[string(name)] {
		return false
	}
	noteIgnored(p, string(name))
	return true
}

// noteIgnored notes the name of what was taken out.
func noteIgnored(p *Reader, name string) {
	if !slices.Contains(p.req.Ignored, name) {
		p.req.Ignored = append(p.req.Ignored, name)
	}
}
