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
	"time"

	"reprise/cmd/internal/modelfile"
	"reprise/proxy/api/registry"
	"reprise/proxy/upstream/choose"
	"reprise/proxy/upstream/continues"
	"reprise/proxy/upstream/dialect"
)

// Routing is how requests reach the upstreams: which of several is chosen, and what is asked of it.
type Routing struct {
	Chooser                   string
	Hints                     []string          // of hintNames
	Leaders                   int               // tokens of a cold prefix from which a request waits for another; 0: none does
	WarmBudget                int               // tokens a minute; 0: nothing is warmed
	Canonical                 map[string]string // level by the name of an endpoint, those above C0
	Volatile                  []*regexp.Regexp  // lines that differ from request to request
	SlowStart, HealthInterval time.Duration
	Continues                 *continues.Model // whether a conversation goes on; nil: none
}

// hintNames are the kinds of hints that REPRISE_HINTS allows.
var hintNames = []string{"affinity", "breakpoints", "retention", "salt", "warm"}

// levels are the forms in which a request can be forwarded.
var levels = []string{"C0", "C2", "C3"}

func (c *Routing) settings() []Setting {
	return []Setting{
		{Name: "CHOOSER", Serve: true, Default: choose.Default, Allowed: oneOf(choose.Names()), Help: "how one of several upstreams is chosen for a request; prefix sends it where its prefix should be in the KV cache, unless that upstream has much more to do than others", parse: chooser(&c.Chooser)},
		{Name: "HINTS", Serve: true, Default: "affinity", Allowed: "none, or some of " + strings.Join(hintNames, ", ") + ", separated by commas", Help: "what an upstream with a dialect is asked to do with the prefix of a request; the generic dialect can express none of it", parse: c.hints},
		{Name: "LEADERS", Serve: true, Default: "2048", Allowed: "a whole number of tokens up to 1000000, or 0 for off", Help: "least length of a prefix that no replica holds for which, of several requests that share it, one goes first and the others wait for its first token, 2s at most", parse: whole(&c.Leaders, 0, 1_000_000)},
		{Name: "WARM_BUDGET", Serve: true, Default: "0", Allowed: "a whole number of tokens a minute up to 1000000000, or 0 for off", Help: "prompt tokens that the proxy may send by itself to keep prefixes in the caches of upstreams, with the hint warm", parse: whole(&c.WarmBudget, 0, 1_000_000_000)},
		{Name: "CANONICAL", Serve: true, Default: "C0", Allowed: "C0, C2 or C3, or some ENDPOINT=LEVEL separated by commas, with the endpoints " + strings.Join(endpoints(), ", "), Help: "form in which requests are forwarded: C0 as they came; C2 with the names in JSON schemas in order; C3 also with the tools in order and volatile lines behind stable ones. The model sees C2 and C3", parse: c.canonical},
		{Name: "VOLATILE", Serve: true, Allowed: "a readable file with one regular expression a line", Help: "lines of a system prompt that differ from request to request, which C3 moves behind the others", parse: c.volatile},
		{Name: "CONTINUES_MODEL", Serve: true, Allowed: "a readable file that reprise-lab train lpc has written, with the vectors of REPRISE_EMBEDDER", Help: "file with a model that predicts from prompts whether a conversation goes on, by which prefixes are ranked; unset, the number of the turn decides", parse: continuesModel(&c.Continues)},
		{Name: "SLOW_START", Serve: true, Default: "30s", Allowed: "a duration up to 1h, or 0 for none", Help: "time in which an upstream that is back, or new, gets a growing share of the requests", parse: upTo(&c.SlowStart, time.Hour)},
		{Name: "HEALTH_INTERVAL", Serve: true, Default: "5s", Allowed: "a duration from 100ms to 10m", Help: "time between two health checks of an upstream, where there are several", parse: within(&c.HealthInterval, 100*time.Millisecond, 10*time.Minute)},
	}
}

// chooser is a choice with a suggestion.
func chooser(to *string) func(string) error {
	parse := choice(to, choose.Names())
	return func(v string) error {
		err := parse(v)
		if slices.Contains([]string{"random", "smg", "gie", "dynamo"}, v) {
			return errUse("only reprise-lab fleet has the chooser " + v + ", for comparison")
		}
		if hint := didYouMean(v, choose.Names()); err != nil && hint != "" {
			return errUse("no chooser is called " + v + hint)
		}
		return err
	}
}

// endpoints are the names of the cached endpoints.
func endpoints() (names []string) {
	for _, f := range registry.APIs.Families() {
		names = append(names, f.Name)
	}
	return names
}

// upTo is a duration that may be 0.
func upTo(to *time.Duration, most time.Duration) func(string) error {
	parse := duration(to, fromZero)
	return func(v string) error {
		if err := parse(v); err != nil || *to > most {
			return errNotAllowed
		}
		return nil
	}
}

// hints reads none, or a list.
func (c *Routing) hints(v string) error {
	c.Hints = nil
	if v == "none" {
		return nil
	}
	for _, name := range fields(v) {
		switch {
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

// continuesModel reads a file of reprise-lab train lpc.
func continuesModel(to **continues.Model) func(string) error {
	return func(path string) (err error) {
		if *to, err = modelfile.Continues(path); err != nil {
			return errUse(err.Error())
		}
		return nil
	}
}

// CheckContinues returns why the model of continuations cannot be used with an embedder. One that has no space yet is checked when it has.
func CheckContinues(c *Config, space string, dim int) error {
	if c.Routing.Continues == nil || space == "" {
		return nil
	}
	if err := c.Routing.Continues.Suits(space, dim); err != nil {
		return Bad("%s: %v", c.shown("CONTINUES_MODEL"), err)
	}
	return nil
}

// canonical reads a level for all endpoints, or one for each.
func (c *Routing) canonical(v string) error {
	c.Canonical = map[string]string{}
	given := map[string]string{}
	for _, part := range fields(v) {
		endpoint, level, each := strings.Cut(part, "=")
		if !each {
			endpoint, level = "", part
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
	if len(given) == 0 {
		return errNotAllowed
	}
	return nil
}

// maxVolatile bounds the expressions: each is tried on every line of a system prompt.
const maxVolatile = 100

// volatile reads a file of regular expressions; empty lines and those that begin with # are skipped.
func (c *Routing) volatile(path string) error {
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
func (c *Routing) Hint(name string) bool { return slices.Contains(c.Hints, name) }

// idleRouting returns a sentence for each setting of the routing that has no effect with the others.
func idleRouting(c *Config) (sentences []string) {
	idle := func(name, why string) {
		if isSet(c, name) {
			sentences = append(sentences, c.shown(name)+" has no effect: "+why)
		}
	}
	if len(c.Upstreams) == 1 {
		for _, name := range []string{"CHOOSER", "SLOW_START", "HEALTH_INTERVAL", "LEADERS"} {
			idle(name, c.shown("UPSTREAM")+" is the only upstream")
		}
	}
	switch warm := c.Routing.Hint("warm"); {
	case warm && c.Routing.WarmBudget == 0:
		sentences = append(sentences, c.shown("HINTS")+": warm has no effect, because REPRISE_WARM_BUDGET is 0")
	case warm && c.UpstreamKey == "":
		sentences = append(sentences, c.shown("HINTS")+": warm has no effect, because REPRISE_UPSTREAM_KEY is not set: the credential of a client is for its own requests")
	case !warm:
		idle("WARM_BUDGET", "REPRISE_HINTS does not have warm")
	}
	if !ranksPrefixes(c) {
		idle("CONTINUES_MODEL", "there is one upstream, of which no hint about prefixes is asked, so that none is ranked")
	}
	sentences = append(sentences, idleSalts(c)...)
	if !hasLevel(c, "C3") {
		idle("VOLATILE", "REPRISE_CANONICAL has no C3")
	}
	return sentences
}

// ranksPrefixes reports whether anything depends on prefixes; see proxy.PrefixesOf.
func ranksPrefixes(c *Config) bool {
	mute := func(u Upstream) bool {
		return slices.Contains([]string{"", dialect.Default, dialect.Plain{}.Name()}, u.Dialect)
	}
	named := c.Routing.Hint("affinity") && !slices.ContainsFunc(c.Upstreams, mute)
	return len(c.Upstreams) > 1 || c.Routing.Hint("warm") && c.Routing.WarmBudget > 0 || named || c.Routing.Hint("breakpoints") || c.Routing.Hint("retention")
}

// idleSalts returns a sentence for each upstream at which tenants are to be kept apart and cannot be.
func idleSalts(c *Config) (sentences []string) {
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

func hasLevel(c *Config, level string) bool {
	for _, l := range c.Routing.Canonical {
		if l == level {
			return true
		}
	}
	return false
}
