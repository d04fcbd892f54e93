package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"reprise/embed"
	"reprise/internal/yamlfile"
	"reprise/proxy"
	"reprise/proxy/api/registry"
	"reprise/proxy/rules"
	"reprise/topics/frames"
)

// Rule is one rule of the file that REPRISE_CONFIG names, as it was given.
type Rule struct {
	Name string
	rules.Match

	file  string
	line  int
	field string           // its place, such as rules[1]
	given map[string]Value // by the names of ruleFields
	set   *Config          // in which the fields given are parsed
}

// ruleField is one thing that a rule sets: the setting of which it has the form, "" for none, and how it gets into force.
type ruleField struct {
	name, setting string
	allowed       string // ""; that of the setting
	otherwise     string // without a setting: the value where no rule has one
	put           func(to *rules.Rule, from *Config)
}

// ruleFields are in the order of the documentation. Those with the same name as their setting are not repeated here.
var ruleFields = []ruleField{
	{"mode", "MODE", "", "", func(to *rules.Rule, from *Config) { to.Mode = proxy.Mode(from.Mode) }},
	{"threshold", "HIT_THRESHOLD", "a cosine at or above REPRISE_HIT_THRESHOLD, at most 1", "", func(to *rules.Rule, from *Config) { to.Threshold = from.Hit }},
	{"max_error_rate", "MAX_ERROR_RATE", "", "", func(to *rules.Rule, from *Config) { to.MaxErrorRate = from.MaxErrorRate }},
	{"ttl", "TTL", "", "", func(to *rules.Rule, from *Config) { to.TTL = from.TTL }},
	{"trust", "", "earned, granted or withdrawn", "earned", func(to *rules.Rule, from *Config) { to.Trust = from.Trust }},
	{"tool_calls", "", "exact or off", "exact", func(to *rules.Rule, from *Config) { to.ToolCalls = from.ToolCalls }},
	{"live_web", "", "exact or off", "off", func(to *rules.Rule, from *Config) { to.LiveWeb = from.LiveWeb }},
	{"ignore_fields", "IGNORE_FIELDS", "", "", func(to *rules.Rule, from *Config) { to.Ignore = ignoring(from.IgnoreFields, to.Ignore.Patterns()) }},
	{"ignore_pattern", "IGNORE_PATTERN", "", "", func(to *rules.Rule, from *Config) { to.Ignore = ignoring(to.Ignore.Fields(), from.IgnorePatterns) }},
	{"ask", "", `an expression (RE2) of up to 1024 bytes and 512 steps with a group (?P<ask>…) around the part of a prompt that asks, such as Question: (?P<ask>.+)$`, "learnt",
		func(to *rules.Rule, from *Config) { to.Ask = from.Ask }},
}

const longestAsk = 1024 // bytes

// row is the setting of a field, which parses into c.
func (f *ruleField) row(c *Config) *setting {
	switch f.name {
	case "tool_calls":
		return &setting{Allowed: f.allowed, parse: into(&c.ToolCalls, exactOrOff)}
	case "live_web":
		return &setting{Allowed: f.allowed, parse: into(&c.LiveWeb, exactOrOff)}
	case "trust":
		return &setting{Allowed: f.allowed, parse: into(&c.Trust, trust)}
	case "ask":
		return &setting{Allowed: f.allowed, parse: into(&c.Ask, func(v string) (*frames.Declared, error) { return frames.Declare(v, longestAsk) })}
	}
	for _, g := range c.table() {
		for i := range g.rows {
			if row := &g.rows[i]; row.Name == f.setting {
				if f.allowed != "" {
					row.Allowed = f.allowed
				}
				return row
			}
		}
	}
	panic("there is no setting " + f.setting)
}

// readRule reads one rule. ok is false where it has no name, or is for no requests.
func readRule(file string, v yamlfile.Value) (r Rule, ok bool) {
	names := []string{"name", "match"}
	for _, f := range ruleFields {
		names = append(names, f.name)
	}
	fields := v.Fields(names...)
	r = Rule{file: file, line: v.Line(), field: v.Field(), given: map[string]Value{}, set: &Config{}}
	if name, given := fields.Need("name"); given {
		r.Name, ok = ruleName(name)
	}
	match, given := fields.Need("match")
	ok = r.readMatch(match) && given && ok
	for _, f := range ruleFields {
		value, given := fields.Get(f.name)
		if !given {
			continue
		}
		row := f.row(r.set)
		text, fine := "", row.Between != "" && value.IsList() && value.Len() == 0 // nothing, whatever the settings have
		if fine && f.name == "ignore_fields" {
			text = noField
			fine = row.parse(text) == nil
		}
		if !fine {
			text, fine = checked(row, value)
		}
		if fine {
			r.given[f.name] = Value{Name: f.name, Value: row.shown(text), Source: fmt.Sprintf("%s:%d", file, value.Line()), given: text}
		}
	}
	return r, ok
}

const nameAllowed = "1 to 60 letters, digits, spaces and -_./:"

func ruleName(v yamlfile.Value) (string, bool) {
	name, ok := v.Text("a name: " + nameAllowed)
	strange := strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_./:", r)
	})
	if ok && (name == "" || len(name) > 60 || strange) {
		v.Bad("allowed is %s", nameAllowed)
		return "", false
	}
	return name, ok
}

// readMatch reads which requests the rule is for.
func (r *Rule) readMatch(v yamlfile.Value) (ok bool) {
	if !v.Given() {
		return false
	}
	fields := v.Fields("model", "path", "tenant", "namespace")
	r.Models = patterns(fields, "model")
	r.Paths = patterns(fields, "path")
	r.Tenants = patterns(fields, "tenant")
	r.Namespaces = patterns(fields, "namespace")
	if path, ok := fields.Get("path"); ok {
		checkPaths(path, r.Paths)
	}
	if fields.None() {
		v.Bad("no pattern is given; allowed are model, path, tenant and namespace; what is for all requests is a setting")
	}
	return len(r.Models)+len(r.Paths)+len(r.Tenants)+len(r.Namespaces) > 0
}

// patterns reads the patterns of a field: one, or a list of them.
func patterns(fields yamlfile.Fields, name string) (all []string) {
	const want = "a pattern, or a list of patterns, in which * is any text"
	v, given := fields.Get(name)
	if !given {
		return nil
	}
	items := []yamlfile.Value{v}
	if v.IsList() {
		items = slices.Collect(v.List(want))
		if len(items) == 0 {
			v.Bad("the list is empty; want %s", want)
		}
	}
	for _, item := range items {
		p, ok := item.Text(want)
		switch {
		case !ok:
		case strings.ContainsFunc(p, unicode.IsControl) || len(p) > 512 || p == "" && name != "namespace":
			item.Bad("want %s, of 1 to 512 visible characters", want)
		default:
			all = append(all, p)
		}
	}
	return all
}

// checkPaths refuses a pattern that no cached endpoint fits.
func checkPaths(v yamlfile.Value, all []string) {
	var known []string
	for _, f := range registry.APIs.Families() {
		known = append(known, f.Path)
	}
	for _, p := range all {
		if !slices.ContainsFunc(known, func(path string) bool { return rules.Glob(p, path) }) {
			v.Bad("no endpoint that is cached fits %q; these are %s", p, strings.Join(known, ", "))
		}
	}
}

// at is the place of one of its fields, for messages about what it contradicts.
func (r *Rule) at(field string) string {
	if v, ok := r.given[field]; ok {
		return fmt.Sprintf("%s: %s.%s: %q", v.Source, r.field, field, v.Value)
	}
	return fmt.Sprintf("%s:%d: %s.%s", r.file, r.line, r.field, field)
}

// describe is all that a rule is, to find out whether it has changed.
func (r *Rule) describe() string {
	text := fmt.Sprintf("%q %q %q %q %q", r.Name, r.Models, r.Paths, r.Tenants, r.Namespaces)
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		text += fmt.Sprintf(" %s=%q", name, r.given[name].given)
	}
	return text
}

func sameRules(a, b []Rule) bool {
	return slices.EqualFunc(a, b, func(a, b Rule) bool { return a.describe() == b.describe() })
}

// RuleSet returns the rules with all their fields: what one leaves out is that of the settings.
func (c *Config) RuleSet() (all []*rules.Rule) {
	for i := range c.Rules {
		r := &c.Rules[i]
		to := &rules.Rule{Name: r.Name, Match: r.Match}
		for _, f := range ruleFields {
			from := c
			if _, given := r.given[f.name]; given {
				from = r.set
			}
			f.put(to, from)
		}
		all = append(all, to)
	}
	return all
}

// RuleInForce is what one rule sets, and from where; without a name, the settings.
type RuleInForce struct {
	Rule  string  `json:"rule"`            // "": no rule fits, the settings are for the request
	Place string  `json:"place,omitempty"` // FILE:LINE
	Sets  []Value `json:"sets"`
}

// InForce describes the rule of a name; "": the settings for all other requests.
func (c *Config) InForce(name string) (x RuleInForce) {
	i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.Name == name })
	if i >= 0 {
		x.Rule, x.Place = name, fmt.Sprintf("%s:%d", c.Rules[i].file, c.Rules[i].line)
	}
	for _, f := range ruleFields {
		var v Value
		given := false
		if i >= 0 {
			v, given = c.Rules[i].given[f.name]
		}
		if !given {
			if v = c.value(f.setting); f.setting == "" {
				v = Value{Value: f.otherwise, Source: fromDefault}
			}
			v.Name = f.name
		}
		x.Sets = append(x.Sets, v)
	}
	return x
}

// ruleProblems are rules that contradict settings.
func (c *Config) ruleProblems(bad func(format string, args ...any)) {
	for i := range c.Rules {
		r := &c.Rules[i]
		if strings.HasPrefix(c.TenantFrom, "header:") {
			continue
		}
		for _, p := range r.Tenants {
			if p != "*" && !rules.IsDigest(p) && (c.TenantFrom != "none" || p != "all") {
				bad("%s: %q is the name of a tenant, and with %s tenants have none; allowed is a digest of 32 digits, as GET /admin/entries shows it", r.at("match.tenant"), p, c.shown("TENANT_FROM"))
			}
		}
	}
}

// gateProblems are rules whose threshold is below the one for all: the index finds nothing there.
func (c *Config) gateProblems(g embed.Thresholds) (problems []string) {
	for i := range c.Rules {
		if r := &c.Rules[i]; r.set.Hit > 0 && r.set.Hit < g.Hit {
			problems = append(problems, fmt.Sprintf("%s is below %s, the least that is looked for: allowed is %v or more, at most 1; or lower the second", r.at("threshold"), c.shown("HIT_THRESHOLD"), g.Hit))
		}
	}
	return problems
}

// Compares reports whether prompts are compared by meaning under any rule.
func (c *Config) Compares() bool {
	return proxy.Mode(c.Mode).Compares() || slices.ContainsFunc(c.Rules, func(r Rule) bool { return proxy.Mode(r.set.Mode).Compares() })
}
