package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
)

// Upstream is one of the upstreams with its options.
type Upstream struct {
	upstream.Target
	keyEnv, keyFile string // where its Key comes from; "": see Config.KeyOf
}

// upstreamAllowed completes "allowed is …" for REPRISE_UPSTREAM.
var upstreamAllowed = "one base URL, as an OpenAI client takes it, anthropic:// or azure://RESOURCE.openai.azure.com; or NAME=URL;OPTION;…, several between commas, with the options " + strings.Join(optionNames(), ", ")

// option is one option of an upstream. A flag has no value.
type option struct {
	name, allowed string
	flag          bool
	read          func(u *Upstream, value string) (ok bool)
}

// options are the options of an upstream, in the order of the help.
var options = []option{
	{name: "dialect", allowed: oneOf(dialect.Names()), read: func(u *Upstream, v string) bool { u.Dialect = v; return slices.Contains(dialect.Names(), v) }},
	{name: "version", allowed: "a version such as 0.29", read: func(u *Upstream, v string) bool { u.Version = v; return versionForm.MatchString(v) }},
	{name: "models", allowed: "names of models between |, each with >NAME where the upstream has it under another name", read: readModels},
	{name: "fallback", flag: true, read: func(u *Upstream, _ string) bool { u.Fallback = true; return true }},
	{name: "capacity", allowed: "a whole number of tokens from 1024 to 1000000000", read: func(u *Upstream, v string) bool { return whole(&u.Capacity, 1024, 1_000_000_000)(v) == nil }},
	{name: "key-env", allowed: "the name of an environment variable that does not begin with " + Prefix, read: func(u *Upstream, v string) bool {
		u.keyEnv = v
		return variableForm.MatchString(v) && !strings.HasPrefix(v, Prefix)
	}},
	{name: "key-file", allowed: "a file's path", read: func(u *Upstream, v string) bool { u.keyFile = v; return true }},
	{name: "events", allowed: "tcp://HOST:PORT", read: func(u *Upstream, v string) bool { u.Events = v; return isSocket(v) }},
	{name: "replay", allowed: "tcp://HOST:PORT", read: func(u *Upstream, v string) bool { u.Replay = v; return isSocket(v) }},
	{name: "metrics", allowed: "a path such as /metrics, or a URL", read: func(u *Upstream, v string) bool { u.Metrics = v; return isPath(v) || isURL(v) }},
	{name: "health", allowed: "a path such as /health", read: func(u *Upstream, v string) bool { u.Health = v; return isPath(v) }},
	{name: "drain", flag: true, read: func(u *Upstream, _ string) bool { u.Drain = true; return true }},
	{name: "trust", flag: true, read: func(u *Upstream, _ string) bool { u.Trust = true; return true }},
	{name: "salt", flag: true, read: func(u *Upstream, _ string) bool { u.Salt = true; return true }},
	{name: "session-key", allowed: "the name of a header that holds no credential", read: func(u *Upstream, v string) bool {
		u.SessionKey = v
		names, err := headerNames(v)
		return err == nil && len(names) == 1
	}},
}

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	versionForm  = regexp.MustCompile(`^v?[0-9]{1,6}(\.[0-9]{1,6}){0,3}$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	// pasted is a credential where the name of its variable or file belongs.
	pasted = regexp.MustCompile(`(?i)(;\s*(?:[a-z-]*key|key-env|token|secret|password|authorization)\s*=)[^;,]*`)
)

func optionNames() (names []string) {
	for _, o := range options {
		names = append(names, o.name)
	}
	return names
}

// withoutCredentials is a list of upstreams as it may be shown.
func withoutCredentials(v string) string {
	v = pasted.ReplaceAllStringFunc(v, func(match string) string {
		name, value, _ := strings.Cut(match, "=")
		switch option := strings.TrimSpace(strings.TrimPrefix(name, ";")); {
		case option == "key-file" || option == "session-key", option == "key-env" && variableForm.MatchString(value):
			return match
		}
		return name + "=xxxxx"
	})
	parts := strings.Split(v, ",")
	for i, part := range parts {
		parts[i] = withoutPassword(part)
	}
	return strings.Join(parts, ",")
}

// upstreams reads a list of upstreams. Their keys are read later, because variables and files are no part of the value.
func upstreams(v string) (all []Upstream, err error) {
	list := fields(v)
	if len(list) == 0 {
		return nil, errUse("it names no upstream")
	}
	for _, text := range list {
		u, err := oneUpstream(text, len(list) == 1)
		if err != nil {
			return nil, err
		}
		if err := u.twin(all); err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	if !slices.ContainsFunc(all, func(u Upstream) bool { return !u.Fallback }) {
		return nil, errUse("every upstream is a fallback: leave the option out where requests are to go first")
	}
	return all, nil
}

// oneUpstream reads NAME=URL;OPTION;…; only one upstream needs no name.
func oneUpstream(text string, only bool) (u Upstream, err error) {
	parts := strings.Split(text, ";")
	name, base, named := strings.Cut(parts[0], "=")
	if strings.ContainsAny(name, "/:") { // the = is one of the URL
		name, base, named = "", parts[0], false
	}
	u.Name = strings.TrimSpace(name)
	switch {
	case named && !nameForm.MatchString(u.Name):
		return u, errUse(fmt.Sprintf("%q is no name of an upstream, which has 1 to 64 letters, digits and ._-", u.Name))
	case !named && !only:
		return u, errUse(fmt.Sprintf("of several upstreams each needs a name, and %s has none: NAME=URL", withoutCredentials(text)))
	case !named:
		u.Name, base = "", parts[0]
	}
	base = strings.TrimSpace(base)
	if len(strings.Fields(base)) > 1 {
		return u, u.wrong("there is white space in its URL: between two upstreams belongs a comma")
	}
	if err := u.setBase(base); err != nil {
		return u, u.wrong("%v", err)
	}
	given := map[string]bool{}
	for _, part := range parts[1:] {
		if err := u.option(strings.TrimSpace(part), given); err != nil {
			return u, err
		}
	}
	if u.keyEnv != "" && u.keyFile != "" {
		return u, u.wrong("key-env and key-file are both given: give one of them")
	}
	if u.Replay != "" && u.Events == "" {
		return u, u.wrong("replay needs events")
	}
	return u, nil
}

// option reads one option, which must not be among those given already.
func (u *Upstream) option(text string, given map[string]bool) error {
	name, value, hasValue := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	at := slices.IndexFunc(options, func(o option) bool { return o.name == name })
	switch {
	case at < 0:
		return u.wrong("there is no option %q%s", name, didYouMean(name, optionNames()))
	case given[name]:
		return u.wrong("the option %s is given twice", name)
	}
	given[name] = true
	switch o := options[at]; {
	case o.flag && hasValue:
		return u.wrong("the option %s has no value: leave it out, or give its name alone", name)
	case o.flag:
		o.read(u, "")
	case name == "key-env" && !o.read(u, value): // which may be the key itself
		return u.wrong("%s: allowed is %s", name, o.allowed)
	case value == "" || !o.read(u, value):
		return u.wrong("%s=%s: allowed is %s%s", name, value, o.allowed, didYouMeanDialect(name, value))
	}
	return nil
}

func didYouMeanDialect(option, value string) string {
	if option != "dialect" {
		return ""
	}
	return didYouMean(value, dialect.Names())
}

// wrong is what is wrong with u.
func (u *Upstream) wrong(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if u.Name != "" {
		what = "upstream " + u.Name + ": " + what
	}
	return errUse(what)
}

// twin reports that one of others cannot be distinguished from u.
func (u *Upstream) twin(others []Upstream) error {
	for _, o := range others {
		switch {
		case strings.EqualFold(o.Name, u.Name):
			return u.wrong("an upstream before it has the same name")
		case sameBase(o.Base, u.Base) && o.Fallback == u.Fallback:
			return u.wrong("it has the URL of upstream %s: leave one of them out", o.Name)
		}
	}
	return nil
}

func sameBase(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) && strings.Trim(a.Path, "/") == strings.Trim(b.Path, "/")
}

// readModels reads m1|m2>theirs.
func readModels(u *Upstream, v string) bool {
	for part := range strings.SplitSeq(v, "|") {
		name, mapped, isMapped := strings.Cut(strings.TrimSpace(part), ">")
		m := upstream.Model{Name: strings.TrimSpace(name), Mapped: strings.TrimSpace(mapped)}
		twice := slices.ContainsFunc(u.Models, func(o upstream.Model) bool { return o.Name == m.Name })
		if m.Name == "" || isMapped && m.Mapped == "" || twice || strings.ContainsAny(m.Name+m.Mapped, " \t\"\\>") {
			return false
		}
		u.Models = append(u.Models, m)
	}
	return true
}

func isSocket(v string) bool {
	place, ok := strings.CutPrefix(v, "tcp://")
	return ok && !strings.HasPrefix(place, ":") && isAddress(place) && !strings.HasSuffix(place, ":0")
}

func isPath(v string) bool {
	u, err := url.Parse(v)
	return err == nil && strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "//") && u.Fragment == "" && u.Host == ""
}

func isURL(v string) bool {
	u, err := url.Parse(v)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == ""
}

// readKeys reads the keys of the upstreams from the variables and files that they name.
func (c *Config) readKeys(environ []string) (problems []string) {
	for i := range c.Upstreams {
		u := &c.Upstreams[i]
		bad := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s: %v", c.shown("UPSTREAM"), u.wrong(format, args...)))
		}
		var err error
		switch {
		case u.keyEnv != "":
			if u.Key = variable(environ, u.keyEnv); u.Key == "" {
				bad("key-env=%s: the environment has no such variable, or it is empty", u.keyEnv)
				continue
			}
		case u.keyFile != "":
			if u.Key, err = readSecret(u.keyFile); err != nil {
				bad("key-file=%s: %v", u.keyFile, err)
				continue
			}
		default:
			continue
		}
		if !isWord(u.Key) {
			bad("its key has white space or a control character")
		}
	}
	return problems
}

func variable(environ []string, name string) string {
	for _, kv := range environ {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// KeyOf returns the operator's credential for u, "" where that of the client is passed on. REPRISE_UPSTREAM_KEY is for the primary
// upstreams, and for a fallback on the host of one.
func (c *Config) KeyOf(u *Upstream) string {
	if u.Key == "" && (!u.Fallback || c.besidePrimary(u)) {
		return c.UpstreamKey
	}
	return u.Key
}

// besidePrimary reports whether an upstream that is no fallback is on the host of u, which gets the clients' credentials anyway.
func (c *Config) besidePrimary(u *Upstream) bool {
	return slices.ContainsFunc(c.Upstreams, func(p Upstream) bool {
		return !p.Fallback && p.Base.Scheme == u.Base.Scheme && strings.EqualFold(p.Base.Host, u.Base.Host)
	})
}

// keyed reports whether an upstream gets a credential of the operator.
func (c *Config) keyed() bool {
	return slices.ContainsFunc(c.Upstreams, func(u Upstream) bool { return c.KeyOf(&u) != "" })
}

// upstreamProblems finds what is wrong with the upstreams and other settings together.
func (c *Config) upstreamProblems(bad func(format string, args ...any)) {
	for _, u := range c.Upstreams {
		if reaches(u.Base, c.Listen) {
			bad("%s is the proxy itself (%s): every request would wait for itself", c.shown("UPSTREAM"), c.shown("LISTEN"))
		}
		if u.Fallback && u.Key == "" && !c.besidePrimary(&u) {
			bad("%s: %v", c.shown("UPSTREAM"), u.wrong("a fallback on a host of its own needs key-env or key-file: it gets neither the credential of a client nor "+
				"REPRISE_UPSTREAM_KEY, which are for another provider; where it needs none, give it any word"))
		}
	}
}
