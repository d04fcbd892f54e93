package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"reprise/internal/suggest"
	"reprise/proxy/tracing/otlp"
)

// ErrBad is wrapped by every error of Load: the settings as given cannot be used.
var ErrBad = errors.New("bad configuration")

// fileSuffix makes the name of a second setting for each secret: the path of a file that holds it.
const fileSuffix = "_FILE"

// foreign are names with Prefix that are settings of the tests.
var foreign = []string{Prefix + "TEST_REQUIRE", Prefix + "TEST_PROGRAM", Prefix + "DATA"}

// Where the value of a setting can come from. The source of a value in a file is the path.
const (
	fromDefault = "default"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// Loader gathers settings from flags, environment and the configuration file.
type Loader struct {
	HelpAll   bool // the flag --help-all was given
	demo      bool
	overrides map[string]string // defaults of this command, by setting.Name
	flags     layer
	fileRead  atomic.Pointer[fileRead]
}

// layer is one place that settings come from, by the names of the environment.
type layer struct {
	values map[string]string
	source string
	lines  map[string]int // of a file
}

// from returns the source of a value as it is shown.
func (l *layer) from(name string) string {
	if n := l.lines[name]; n > 0 {
		return fmt.Sprintf("%s:%d", l.source, n)
	}
	return l.source
}

// NewLoader returns a loader for serve, or for the demo, which does not use some of the settings.
func NewLoader(demo bool) *Loader {
	return &Loader{demo: demo, overrides: map[string]string{}, flags: layer{values: map[string]string{}, source: fromFlag}}
}

// Override gives a setting, by its name without prefix, another default than the table's.
func (l *Loader) Override(name, value string) { l.overrides[name] = value }

// Register adds a flag per setting to fs. Load checks their values, so that one error lists all faults.
func (l *Loader) Register(fs *flag.FlagSet) {
	add := func(s *setting, name string) {
		set := func(v string) error { l.flags.values[name] = v; return nil }
		flagName := flagOf(strings.TrimPrefix(name, Prefix))
		if s.Toggle {
			fs.BoolFunc(flagName, s.Help, set)
		} else {
			fs.Func(flagName, s.Help, set)
		}
	}
	for _, s := range l.settings(&Config{}) {
		add(&s, s.Env())
		if s.Secret {
			add(&s, s.Env()+fileSuffix)
		}
	}
	for _, r := range removed {
		add(&setting{Toggle: r.toggle}, Prefix+r.Name)
	}
	fs.BoolVar(&l.HelpAll, "help-all", false, "")
}

// settings lists the rows that the command uses; parsing one sets a field of c.
func (l *Loader) settings(c *Config) (rows []setting) {
	for _, g := range c.table() {
		for _, s := range g.rows {
			if l.demo && s.Serve {
				continue
			}
			if v, ok := l.overrides[s.Name]; ok {
				s.Default = v
			}
			rows = append(rows, s)
		}
	}
	return rows
}

// ProblemKind is what kind of mistake a problem is.
type ProblemKind int

// The kinds of problems. Values that are wrong leave no Config that could be used.
const (
	Wrong         ProblemKind = iota // a value that is not allowed, or a file that cannot be read
	Unknown                          // a name that is no setting, or none any more
	Contradicting                    // settings that are each allowed, but not together
	Exposed                          // what every other machine could use
)

// Problem is one thing that is wrong with the settings.
type Problem struct {
	Kind ProblemKind
	Text string // names the setting, its value and its source, and what is allowed
}

// Load merges the flags that were parsed with the environment (as os.Environ gives it), the configuration file and the defaults: each
// wins over those after it. It can be called again, and reads all files again. A variable that is set to nothing counts as unset,
// because compose files leave one out that way. The error lists everything that is wrong and wraps ErrBad.
func (l *Loader) Load(environ []string) (*Config, error) {
	c, found := l.Examine(environ)
	if len(found) > 0 {
		var problems []string
		for _, p := range found {
			problems = append(problems, p.Text)
		}
		return nil, &badError{problems}
	}
	return c, nil
}

// Examine does what Load does, and returns what it finds by kind. Where no problem is Wrong, the Config has every value as it was given.
func (l *Loader) Examine(environ []string) (c *Config, found []Problem) {
	add := func(kind ProblemKind, texts []string) {
		for _, text := range texts {
			found = append(found, Problem{kind, text})
		}
	}
	env := layer{values: ours(environ), source: fromEnv}
	add(Unknown, append(l.flags.gone(), env.unknown()...))
	file, problems := l.configFile(&env)
	found = append(found, problems...)
	c = &Config{ToolCalls: true, Rules: file.rules}
	for _, s := range l.settings(c) {
		v, err := l.set(&s, &l.flags, &env, &file.layer)
		if err != nil {
			add(Wrong, []string{err.Error()})
		}
		c.effective = append(c.effective, v)
		c.Overruled = append(c.Overruled, file.overruled(&s, &l.flags, &env)...)
	}
	add(Wrong, c.readKeys(environ))
	c.Traces, c.TracesIgnored = otlp.Read(environ)
	if slices.ContainsFunc(found, func(p Problem) bool { return p.Kind == Wrong }) {
		return c, found
	}
	add(Contradicting, c.contradictions())
	add(Exposed, c.exposures())
	return c, found
}

// ours returns the variables with our prefix that have a value.
func ours(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		name, v, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, Prefix) && v != "" && !slices.Contains(foreign, name) {
			env[name] = v
		}
	}
	return env
}

// gone reports names that are settings no more.
func (l *layer) gone() (problems []string) {
	for name := range l.values {
		if sentence, gone := instead(name); gone {
			if l.source == fromFlag {
				name = "--" + flagOf(strings.TrimPrefix(name, Prefix))
			}
			problems = append(problems, fmt.Sprintf("%s (%s) is no setting any more: %s", name, l.source, sentence))
		}
	}
	slices.Sort(problems)
	return problems
}

// unknown reports names with our prefix that are not settings: otherwise a misspelt setting would have no effect and no
// message. In the demo the settings of serve are not reported.
func (l *layer) unknown() (problems []string) {
	known := names()
	for name := range l.values {
		if _, gone := instead(name); !gone && !slices.Contains(known, name) {
			problems = append(problems, name+" ("+l.source+"): there is no such setting"+suggest.DidYouMean(name, known))
		}
	}
	slices.Sort(problems)
	return append(l.gone(), problems...)
}

// overruled returns a sentence where l sets s to another value than one of the layers that win. The values are not shown: some are secrets.
func (l *layer) overruled(s *setting, before ...*layer) []string {
	name := s.Env()
	for _, by := range before {
		switch {
		case l.values[name] == "" && l.values[name+fileSuffix] == "", by.values[name] == "" && by.values[name+fileSuffix] == "":
		case l.values[name] != by.values[name] || l.values[name+fileSuffix] != by.values[name+fileSuffix]:
			return []string{fmt.Sprintf("%s in %s has no effect: the %s sets another value, and wins", name, l.source, by.source)}
		}
	}
	return nil
}

// names lists the variables of the environment, with those of files that hold secrets.
func names() (all []string) {
	for _, s := range (&Loader{}).settings(&Config{}) {
		all = append(all, s.Env())
		if s.Secret {
			all = append(all, s.Env()+fileSuffix)
		}
	}
	return all
}

// set finds and parses the value of s. It returns the value as it is in force.
func (l *Loader) set(s *setting, layers ...*layer) (in Value, err error) {
	v, source, name, err := s.lookup(layers)
	if err != nil {
		return in, err
	}
	if v == "" {
		return Value{Name: s.Env(), Source: fromDefault}, nil
	}
	in = Value{Name: s.Env(), Value: s.shown(v), Source: source, given: v}
	if err := s.parse(v); err != nil {
		why := ""
		if !errors.Is(err, errNotAllowed) {
			why = err.Error() + "; "
		}
		return in, fmt.Errorf("%s=%s (%s): %sallowed is %s", name, in.Value, in.Source, why, s.Allowed)
	}
	return in, nil
}

// shown returns a value as it may be shown.
func (s *setting) shown(v string) string {
	switch {
	case s.Secret:
		return "********"
	case s.mask != nil:
		return s.mask(v)
	}
	return withoutPassword(v)
}

// lookup returns the value, its source, and the name under which it was given, from the first layer that has it.
func (s *setting) lookup(layers []*layer) (v, source, name string, err error) {
	for _, from := range layers {
		name, suffix := s.Env(), fileSuffix
		plain, path := from.values[name], from.values[name+suffix]
		where := from.from(name)
		if plain == "" {
			where = from.from(name + suffix)
		}
		if from.source == fromFlag {
			name, suffix = "--"+s.Flag(), "-file"
		}
		if v, source, err = pair(plain, path, name, suffix, where); v != "" || err != nil {
			return v, source, name, err
		}
	}
	return s.Default, fromDefault, s.Env(), nil
}

// pair returns the value, or the content of the file that holds it; giving both is an error.
func pair(v, path, name, suffix, source string) (string, string, error) {
	switch {
	case v != "" && path != "":
		return "", "", fmt.Errorf("%s and %s%s are both set: give one of them", name, name, suffix)
	case path == "":
		return v, source, nil
	}
	v, err := readSecret(path)
	if err != nil {
		return "", "", fmt.Errorf("%s%s=%s (%s): %w", name, suffix, path, source, err)
	}
	return v, path, nil
}

// maxSecret bounds how much is read of a file: it may be the wrong one.
const maxSecret = 64 << 10

func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", bare(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch v := strings.TrimSpace(string(b)); {
	case err != nil:
		return "", bare(err)
	case len(b) > maxSecret:
		return "", errors.New("larger than a secret can be (64 KiB)")
	case v == "":
		return "", errors.New("the file is empty")
	default:
		return v, nil
	}
}

// bare returns the cause without the path, which the caller adds.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

type badError struct{ problems []string }

func (e *badError) Error() string {
	head := "1 setting is wrong:"
	if n := len(e.problems); n > 1 {
		head = fmt.Sprintf("%d settings are wrong:", n)
	}
	return head + "\n  " + strings.Join(e.problems, "\n  ")
}

func (e *badError) Unwrap() error { return ErrBad }

// Problems are the messages of an error that wraps ErrBad, without the line that counts them; of another one its text.
func Problems(err error) []string {
	if bad, ok := errors.AsType[*badError](err); ok {
		return bad.problems
	}
	return []string{err.Error()}
}

// Bad makes an error of the same kind for faults that are found only when the parts are put together.
func Bad(format string, args ...any) error { return &badError{[]string{fmt.Sprintf(format, args...)}} }
