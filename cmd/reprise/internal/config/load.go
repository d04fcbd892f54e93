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
)

// ErrBad is wrapped by every error of Load: the settings as given cannot be used.
var ErrBad = errors.New("bad configuration")

// fileSuffix makes the name of a second setting for each secret: the path of a file that holds it.
const fileSuffix = "_FILE"

// foreign are names with Prefix that are settings of the tests.
var foreign = []string{Prefix + "TEST_REQUIRE", Prefix + "DATA"}

// Where the value of a setting can come from. The source of a value in a file is the path.
const (
	fromDefault = "default"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// Loader gathers settings from flags and environment.
type Loader struct {
	demo      bool
	overrides map[string]string // defaults of this command, by Setting.Name
	given     map[string]string // by Setting.Name, for a path with fileSuffix
	fileRead  atomic.Pointer[fileRead]
}

// NewLoader returns a loader for serve, or for the demo, which does not use some of the settings.
func NewLoader(demo bool) *Loader {
	return &Loader{demo: demo, overrides: map[string]string{}, given: map[string]string{}}
}

// Override gives a setting, by its name without prefix, another default than the table's.
func (l *Loader) Override(name, value string) { l.overrides[name] = value }

// Register adds a flag per setting to fs. Load checks their values, so that one error lists all faults.
func (l *Loader) Register(fs *flag.FlagSet) {
	for _, s := range l.settings(&Config{}) {
		set := func(v string) error { l.given[s.Name] = v; return nil }
		if s.Toggle {
			fs.BoolFunc(s.Flag(), s.Help, set)
		} else {
			fs.Func(s.Flag(), s.Help, set)
		}
		if s.Secret {
			fs.Func(s.Flag()+"-file", s.Help, func(v string) error { l.given[s.Name+fileSuffix] = v; return nil })
		}
	}
}

// settings lists the rows that the command uses; parsing one sets a field of c.
func (l *Loader) settings(c *Config) []Setting {
	var rows []Setting
	for _, g := range c.table() {
		rows = append(rows, l.rows(g)...)
	}
	return rows
}

// rows are those of a group that the command uses, with its own defaults.
func (l *Loader) rows(g group) []Setting {
	var rows []Setting
	for _, s := range g.rows {
		if s.Serve && l.demo {
			continue
		}
		if v, ok := l.overrides[s.Name]; ok {
			s.Default = v
		}
		rows = append(rows, s)
	}
	return rows
}

// Load merges the flags that were parsed with the environment (as os.Environ gives it), the settings file, the configuration file and the
// defaults: each wins over those after it. It can be called again, and reads all files again. A variable that is set to
// nothing counts as unset, because compose files leave one out that way. The error lists everything that is wrong and wraps ErrBad.
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

func reprisePart(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		name, v, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, Prefix) && v != "" && !slices.Contains(foreign, name) {
			env[name] = v
		}
	}
	return env
}

// unknown reports names with our prefix that are not settings: otherwise a misspelt setting would have no effect and no
// message. In the demo the settings of serve are not reported.
func (l *Loader) unknown(in *layer) (problems []string) {
	var known []string
	for _, s := range (&Loader{}).settings(&Config{}) {
		known = append(known, s.Env())
		if s.Secret {
			known = append(known, s.Env()+fileSuffix)
		}
	}
	for name := range in.values {
		if !slices.Contains(known, name) {
			problems = append(problems, name+" ("+in.source+"): there is no such setting"+suggest.DidYouMean(name, known))
		}
	}
	slices.Sort(problems)
	return problems
}

// one finds and parses the value of s, and returns what is wrong with it.
func (l *Loader) one(s *Setting, layers ...*layer) (problems []string, in Value) {
	v, source, name, err := l.lookup(s, layers)
	if err != nil {
		return []string{err.Error()}, in
	}
	if v == "" {
		return nil, Value{Name: s.Env(), Source: fromDefault}
	}
	in = Value{Name: s.Env(), Value: s.shown(v), Source: source, given: v}
	if err := s.parse(v); err != nil {
		return []string{complain(s, name, in, err)}, in
	}
	return nil, in
}

// shown is a value as it may be shown.
func (s *Setting) shown(v string) string {
	switch {
	case s.Secret:
		return "********"
	case s.mask != nil:
		return s.mask(v)
	}
	return withoutPassword(v)
}

// complain is the message for a bad value: the setting as it was given, the value, its source and the values allowed.
func complain(s *Setting, name string, in Value, err error) string {
	why := ""
	if !errors.Is(err, errNotAllowed) {
		why = err.Error() + "; "
	}
	return fmt.Sprintf("%s=%s (%s): %sallowed is %s", name, in.Value, in.Source, why, s.Allowed)
}

// lookup returns the value, its source, and the name under which it was given: by a flag, or in the first layer that has it.
func (l *Loader) lookup(s *Setting, layers []*layer) (v, source, name string, err error) {
	if v, source, err = pair(l.given[s.Name], l.given[s.Name+fileSuffix], "--"+s.Flag(), "-file", fromFlag); v != "" || err != nil {
		return v, source, "--" + s.Flag(), err
	}
	for _, from := range layers {
		plain, path := s.Env(), s.Env()+fileSuffix
		where := from.from(plain)
		if from.values[plain] == "" {
			where = from.from(path)
		}
		if v, source, err = pair(from.values[plain], from.values[path], plain, fileSuffix, where); v != "" || err != nil {
			return v, source, plain, err
		}
	}
	return s.Default, fromDefault, s.Env(), nil
}

// pair is the value, or the content of the file that holds it; giving both is an error.
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

// bare is the cause without the path, which the caller adds.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
