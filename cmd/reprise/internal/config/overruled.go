package config

import "fmt"

// overruled finds what the settings file sets to another value than a flag or the environment, which win. The values are not shown: some are secrets.
func (l *Loader) overruled(rows []Setting, env, file *layer) (sentences []string) {
	for _, s := range rows {
		given := func(values map[string]string, name string) bool {
			return values[name] != "" || values[name+fileSuffix] != ""
		}
		by := ""
		switch {
		case !given(file.values, s.Env()):
			continue
		case given(l.given, s.Name):
			by = "a flag"
		case given(env.values, s.Env()):
			by = "the environment"
		default:
			continue
		}
		ours, _, _, wrong := l.lookup(&s, []*layer{env})
		theirs, _, _, unread := (&Loader{}).lookup(&s, []*layer{file})
		if wrong == nil && (unread != nil || ours != theirs) {
			sentences = append(sentences, fmt.Sprintf("%s in %s has no effect: %s sets another value, and wins", s.Env(), file.source, by))
		}
	}
	return sentences
}
