package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/internal/suggest"
	"reprise/internal/yamlfile"
)

// configFile is the file that REPRISE_CONFIG names: settings, which flags and the environment override, and rules.
type configFile struct {
	layer
	rules []Rule
}

// configFile reads that file, if a flag or the environment names one.
func (l *Loader) configFile(env *layer) (f configFile, problems []Problem) {
	path, name, source := l.flags.values[Prefix+"CONFIG"], "--config", fromFlag
	if path == "" {
		path, name, source = env.values[Prefix+"CONFIG"], Prefix+"CONFIG", fromEnv
	}
	if path == "" || l.demo {
		return f, nil
	}
	f.layer = layer{map[string]string{}, path, map[string]int{}}
	d, err := l.readFile(path)
	if err == nil {
		f.read(l, d)
		err = d.Err()
	}
	if wrong, ok := errors.AsType[*yamlfile.Error](err); ok {
		for _, p := range wrong.Problems {
			problems = append(problems, Problem{kindInFile(p.Field), wrong.Name + p.String()})
		}
	} else if err != nil {
		problems = append(problems, Problem{Wrong, fmt.Sprintf("%s (%s): %v", name, source, err)})
	}
	return f, problems
}

// kindInFile returns the kind of a problem at a field of the file: a name below settings that is no setting is Unknown, as in the environment.
func kindInFile(field string) ProblemKind {
	name, isSetting := strings.CutPrefix(field, "settings.")
	if isSetting && !slices.Contains(names(), Prefix+strings.ToUpper(name)) {
		return Unknown
	}
	return Wrong
}

// FileSum is a digest of the content of the configuration file, or of why it cannot be read.
type FileSum [sha256.Size]byte

// SumOf returns the digest of a file.
func SumOf(path string) FileSum { return sumOf(yamlfile.Content(path)) }

func sumOf(text []byte, err error) FileSum {
	if err != nil {
		return sha256.Sum256([]byte("error: " + err.Error()))
	}
	return sha256.Sum256(text)
}

// fileRead is a configuration file, and what of it was read.
type fileRead struct {
	path string
	sum  FileSum
}

// FileRead is the file that was named last, and what the last Load has read of it; "" where none was named. It is safe for concurrent use.
func (l *Loader) FileRead() (path string, sum FileSum) {
	if last := l.fileRead.Load(); last != nil {
		return last.path, last.sum
	}
	return "", sum
}

func (l *Loader) readFile(path string) (*yamlfile.Document, error) {
	text, err := yamlfile.Content(path)
	l.fileRead.Store(&fileRead{path, sumOf(text, err)})
	if err != nil {
		return nil, err
	}
	return yamlfile.Parse(path, text)
}

// read takes over what d has, and adds problems to it.
func (f *configFile) read(l *Loader, d *yamlfile.Document) {
	top := d.Root().Fields("settings", "rules")
	settings, _ := top.Get("settings")
	f.settings(l, settings)
	list, _ := top.Get("rules")
	for v := range list.List("a list of rules, each with name and match") {
		if r, ok := readRule(f.source, v); ok {
			f.add(v, r)
		}
	}
}

// add adds a rule that another one does not make pointless.
func (f *configFile) add(v yamlfile.Value, r Rule) {
	for i := range f.rules {
		switch before := &f.rules[i]; {
		case before.Name == r.Name:
			v.Bad("the name %q is that of the rule in line %d too", r.Name, before.line)
		case before.Match.Covers(&r.Match):
			v.Bad("no request gets here: the rule %s in line %d comes first and is for all of these; put the narrower rule first", before.Name, before.line)
		}
	}
	f.rules = append(f.rules, r)
}

// settings reads the settings, by their names in lower or upper case.
func (f *configFile) settings(l *Loader, v yamlfile.Value) {
	rows := map[string]*setting{} // by the names that may be given; each sets a field of a Config that is dropped
	for _, s := range l.settings(&Config{}) {
		if s.Name == "CONFIG" {
			continue
		}
		rows[strings.ToLower(s.Name)] = &s
		if s.Secret {
			rows[strings.ToLower(s.Name+fileSuffix)] = nil
		}
	}
	for key, value := range v.Each("settings by their names") {
		name := strings.ToLower(key.Key())
		row, known := rows[name]
		env := Prefix + strings.ToUpper(name)
		sentence, gone := instead(env)
		switch _, twice := f.values[env]; {
		case gone:
			key.Bad("it is no setting any more: %s", sentence)
			continue
		case !known:
			known := slices.Sorted(maps.Keys(rows))
			key.Bad("there is no such setting%s; allowed are the names of the environment without %s", suggest.DidYouMean(strings.TrimPrefix(name, strings.ToLower(Prefix)), known), Prefix)
			continue
		case twice:
			key.Bad("%s is set twice", env)
			continue
		}
		if text, ok := f.value(row, value); ok {
			f.values[env], f.lines[env] = text, value.Line()
		}
	}
}

// value is the text of a setting that is allowed, or the path of the file that holds it where row is nil.
func (f *configFile) value(row *setting, v yamlfile.Value) (text string, ok bool) {
	if row == nil {
		return v.Text("the path of a file")
	}
	return checked(row, v)
}

// checked is the text of a value that row takes.
func checked(row *setting, v yamlfile.Value) (text string, ok bool) {
	if row.Between != "" && v.IsList() {
		text, ok = joined(row, v)
	} else {
		text, ok = v.Text(row.Allowed)
	}
	switch {
	case !ok:
		return "", false
	case text == "":
		v.Bad("the text is empty: leave the line out; allowed is %s", row.Allowed)
		return "", false
	}
	if err := row.parse(text); err != nil {
		v.Bad("%s", refusal(row, text, err))
		return "", false
	}
	return text, true
}

// joined is a list of texts as the environment has it.
func joined(row *setting, v yamlfile.Value) (text string, ok bool) {
	var all []string
	for item := range v.List(row.Allowed) {
		one, fine := item.Text(row.Allowed)
		if !fine {
			return "", false
		}
		all = append(all, one)
	}
	return strings.Join(all, row.Between), true
}

// refusal is why a row does not take a value.
func refusal(row *setting, text string, err error) string {
	why := ""
	if !errors.Is(err, errNotAllowed) {
		why = ": " + err.Error()
	}
	return fmt.Sprintf("%q is not allowed%s; allowed is %s", row.shown(text), why, row.Allowed)
}
