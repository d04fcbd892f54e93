package config

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"reprise/proxy/api/registry"
	"reprise/proxy/continuation"
)

// routing is what is asked of the upstreams, and in which form requests reach them.
type routing struct {
	Hints      []string            // of hintNames
	WarmBudget int                 // tokens a minute; 0: nothing is warmed
	Continues  *continuation.Model // whether a conversation goes on; nil: the number of its turn decides
	Canonical  map[string]string   // level by the name of an endpoint, those above C0
	Volatile   []*regexp.Regexp    // lines that differ from request to request, for C3
}

// hintNames are the kinds of hints that REPRISE_HINTS allows.
var hintNames = []string{"affinity", "breakpoints", "retention", "salt", "warm", "continues"}

// levels are the forms in which a request can be forwarded.
var levels = []string{"C0", "C2", "C3"}

func (c *routing) settings() []setting {
	return []setting{
		{Name: "HINTS", Serve: true, Default: "affinity", Allowed: "none, or some of " + strings.Join(hintNames, ", ") + ", separated by commas, with warm:TOKENS for a budget a minute and continues:FILE for a model of reprise-lab train lpc", Help: "what an upstream with a dialect is asked to do with the prefix of a request; the generic dialect can express none of it. Within the budget of warm the proxy sends prompts by itself to keep prefixes in the caches of upstreams. With continues prefixes are ranked by whether the model expects a conversation to go on, in place of the number of its turn; it needs the embedder that it was trained with", parse: c.hints},
		{Name: "CANONICAL", Serve: true, Default: "C0", Allowed: "C0, C2, C3 or C3:FILE, or some ENDPOINT=LEVEL separated by commas, with the endpoints " + strings.Join(endpoints(), ", ") + "; the file has one regular expression a line", Help: "form in which requests are forwarded: C0 as they came; C2 with the names in JSON schemas in order; C3 also with the tools in order and the lines of system prompts that an expression of the file matches behind the others. The model sees C2 and C3", parse: c.canonical},
	}
}

// endpoints are the names of the cached endpoints.
func endpoints() (names []string) {
	for _, f := range registry.APIs.Families() {
		names = append(names, f.Name)
	}
	return names
}

// hints reads none, or a list.
func (c *routing) hints(v string) error {
	c.Hints, c.WarmBudget, c.Continues = nil, 0, nil
	if v == "none" {
		return nil
	}
	for _, name := range fields(v) {
		if budget, ok := strings.CutPrefix(name, "warm:"); ok {
			if whole(&c.WarmBudget, 1, 1_000_000_000)(budget) != nil {
				return errUse("a budget is a whole number of tokens a minute, from 1 to 1000000000")
			}
			name = "warm"
		}
		if path, ok := strings.CutPrefix(name, "continues:"); ok {
			var err error
			if c.Continues, err = continuation.Open(path); err != nil {
				return errUse(err.Error())
			}
			name = "continues"
		}
		switch {
		case name == "continues" && c.Continues == nil:
			return errUse("continues needs the file of a model: continues:FILE")
		case name == "warm" && c.WarmBudget == 0:
			return errUse("warm needs a budget of tokens a minute: warm:100000")
		case !slices.Contains(hintNames, name):
			return errUse(fmt.Sprintf("no hint is called %q%s", name, didYouMean(name, append([]string{"none"}, hintNames...))))
		case slices.Contains(c.Hints, name):
			return errUse(name + " is given twice")
		}
		c.Hints = append(c.Hints, name)
	}
	if len(c.Hints) == 0 {
		return errNotAllowed
	}
	return nil
}

// CheckContinues returns why the model of continuations cannot be used with an embedder. An embedder whose space is not known yet is checked when it is.
func (c *Config) CheckContinues(space string, dim int) error {
	if c.Routing.Continues == nil || space == "" {
		return nil
	}
	if err := c.Routing.Continues.Suits(space, dim); err != nil {
		return Bad("%s: %v", c.shown("HINTS"), err)
	}
	return nil
}

// canonical reads a level for all endpoints, or one for each.
func (c *routing) canonical(v string) error {
	c.Canonical, c.Volatile = map[string]string{}, nil
	given, lines := map[string]string{}, ""
	for _, part := range fields(v) {
		endpoint, level, each := strings.Cut(part, "=")
		if !each {
			endpoint, level = "", part
		}
		level, file, hasFile := strings.Cut(level, ":")
		switch {
		case hasFile && (level != "C3" || file == ""):
			return errUse("only C3 has a file of expressions: C3:FILE")
		case hasFile && lines != "" && lines != file:
			return errUse("two files of expressions: all endpoints have the same")
		case hasFile:
			lines = file
		}
		switch _, twice := given[endpoint]; {
		case each && !slices.Contains(endpoints(), endpoint):
			return errUse(fmt.Sprintf("no endpoint is called %q%s", endpoint, didYouMean(endpoint, endpoints())))
		case twice || !each && len(given) > 0 || given[""] != "":
			return errUse("two levels for one endpoint")
		case !slices.Contains(levels, level):
			return errUse(fmt.Sprintf("no level is called %q", level))
		}
		given[endpoint] = level
	}
	for _, name := range endpoints() {
		if level := given[name] + given[""]; level != "" && level != levels[0] {
			c.Canonical[name] = level
		}
	}
	switch {
	case len(given) == 0:
		return errNotAllowed
	case lines != "":
		return c.volatile(lines)
	}
	return nil
}

// maxVolatile bounds the expressions: each is tried on every line of a system prompt.
const maxVolatile = 100

// volatile reads a file of regular expressions; empty lines and those that begin with # are skipped.
func (c *routing) volatile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return errUse(err.Error())
	}
	defer f.Close()
	c.Volatile = nil
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		r, err := regexp.Compile(text)
		switch {
		case err != nil:
			return errUse(fmt.Sprintf("line %d: %v", n, err))
		case r.MatchString(""):
			return errUse(fmt.Sprintf("line %d: %q matches every line", n, text))
		case len(c.Volatile) == maxVolatile:
			return errUse(fmt.Sprintf("more than %d expressions", maxVolatile))
		}
		c.Volatile = append(c.Volatile, r)
	}
	if err := lines.Err(); err != nil {
		return errUse(err.Error())
	}
	if len(c.Volatile) == 0 {
		return errUse(errors.New("the file has no expression").Error())
	}
	return nil
}

// Hint reports whether REPRISE_HINTS has a name.
func (c *routing) Hint(name string) bool { return slices.Contains(c.Hints, name) }

// idleRouting returns a sentence for each hint that has no effect with the other settings.
func (c *Config) idleRouting() (sentences []string) {
	if c.Routing.Hint("warm") && c.UpstreamKey == "" {
		sentences = append(sentences, c.shown("HINTS")+": warm has no effect, because REPRISE_UPSTREAM_KEY is not set: the credential of a client is for its own requests")
	}
	return append(sentences, c.idleSalts()...)
}

// idleSalts returns a sentence for each upstream at which tenants are to be kept apart and cannot be.
func (c *Config) idleSalts() (sentences []string) {
	able := false
	for _, u := range c.Upstreams {
		asked := u.Salt
		u.Salt = true
		able = able || u.Salted()
		if asked && !u.Salted() {
			sentences = append(sentences, fmt.Sprintf("%s: salt of upstream %s has no effect, because its dialect has no field for it: tenants share its KV cache", c.shown("UPSTREAM"), cmp.Or(u.Name, u.Base.Redacted())))
		}
	}
	if c.Routing.Hint("salt") && !able {
		sentences = append(sentences, c.shown("HINTS")+": salt has no effect, because no upstream has a dialect with a field for it: tenants share their KV caches")
	}
	return sentences
}
