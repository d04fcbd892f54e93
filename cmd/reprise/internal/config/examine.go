package config

import "reprise/proxy/tracing/otlp"

// ProblemKind is what kind of mistake a problem is.
type ProblemKind int

// The kinds of problems. Values that are wrong leave no Config that could be used.
const (
	Wrong         ProblemKind = iota // a value that is not allowed, or a file that cannot be read
	Unknown                          // a name that is no setting
	Contradicting                    // settings that are each allowed, but not together
	Exposed                          // what every other machine could use
)

// Problem is one thing that is wrong with the settings.
type Problem struct {
	Kind ProblemKind
	Text string // names the setting, its value and its source, and what is allowed
}

// Examine does what Load does, and returns what it finds by kind. Where no problem is Wrong, the Config has every value as it was given.
func (l *Loader) Examine(environ []string) (c *Config, found []Problem) {
	add := func(kind ProblemKind, texts []string) {
		for _, text := range texts {
			found = append(found, Problem{kind, text})
		}
	}
	env := layer{values: reprisePart(environ), source: fromEnv}
	c = &Config{}
	file, problems := l.settingsFile(&env)
	add(Wrong, problems)
	add(Unknown, append(l.unknown(&env), l.unknown(&file)...))
	yaml, problems := l.configFile(&env, &file)
	add(Wrong, problems)
	c.Rules = yaml.rules
	rows := l.settings(c)
	for _, s := range rows {
		problems, v := l.one(&s, &env, &file, &yaml.layer)
		add(Wrong, problems)
		c.effective = append(c.effective, v)
	}
	c.Overruled = l.overruled(rows, &env, &file)
	add(Wrong, readKeys(c, environ))
	c.Traces, c.TracesIgnored = otlp.Read(environ)
	for _, p := range found {
		if p.Kind == Wrong {
			return c, found
		}
	}
	add(Contradicting, c.contradictions())
	add(Exposed, exposures(c))
	return c, found
}
