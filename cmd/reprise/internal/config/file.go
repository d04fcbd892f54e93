package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// settingsFile reads the file that REPRISE_SETTINGS names, if it does: lines NAME=VALUE with the names of the environment. White space around a name or a value
// does not count, nor does one pair of quotes around a value; empty lines and those that begin with # are skipped. These are the
// files that systemd and docker read for an environment.
func (l *Loader) settingsFile(env *layer) (f layer, problems []string) {
	path, name, source := l.given["SETTINGS"], "--settings", fromFlag
	if path == "" {
		path, name, source = env.values[Prefix+"SETTINGS"], Prefix+"SETTINGS", fromEnv
	}
	if path == "" || l.demo {
		return f, nil
	}
	f = layer{values: map[string]string{}, source: path}
	bad := func(err error) { problems = append(problems, fmt.Sprintf("%s=%s (%s): %v", name, path, source, err)) }
	text, err := os.ReadFile(path)
	if err != nil {
		bad(bare(err))
		return f, problems
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if err := f.addLine(strings.TrimSpace(line)); err != nil {
			bad(fmt.Errorf("line %d: %w", n, err))
		}
	}
	return f, problems
}

// addLine adds a line of a settings file.
func (f *layer) addLine(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	name, v, ok := strings.Cut(line, "=")
	name, v = strings.TrimSpace(name), strings.TrimSpace(v)
	if !ok || !strings.HasPrefix(name, Prefix) {
		return errors.New("want " + Prefix + "NAME=VALUE") // the line may have a secret
	}
	if name == Prefix+"SETTINGS" {
		return errors.New("a settings file names no other")
	}
	if _, twice := f.values[name]; twice {
		return errors.New(name + " is set twice")
	}
	if n := len(v); n >= 2 && v[0] == v[n-1] && (v[0] == '"' || v[0] == '\'') {
		v = v[1 : n-1]
	}
	f.values[name] = v
	return nil
}
