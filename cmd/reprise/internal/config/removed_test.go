package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestRemoved: a setting of an earlier version stops the start, wherever it is given, with its name and a sentence about it.
func TestRemoved(t *testing.T) {
	current := names()
	for _, r := range removed {
		name := Prefix + r.Name
		if slices.Contains(current, name) {
			t.Errorf("%s is a setting", name)
		}
		for word := range strings.FieldsFuncSeq(r.Instead, func(c rune) bool { return c != '_' && (c < 'A' || c > 'Z') }) {
			if strings.HasPrefix(word, Prefix) && !slices.Contains(current, word) {
				t.Errorf("%s is replaced by %s, which is no setting", name, word)
			}
		}
		_, inEnvironment := load(t, []string{name + "=1"})
		flag := "--" + flagOf(r.Name) + "=1"
		_, asFlag := load(t, nil, flag)
		_, inFile := loadWith(write(t, "settings:\n  "+strings.ToLower(r.Name)+": 1\n"))
		for how, err := range map[string]error{"in the environment": inEnvironment, "as a flag": asFlag, "in the file": inFile} {
			if !errors.Is(err, ErrBad) || !strings.Contains(strings.ToUpper(strings.ReplaceAll(err.Error(), "-", "_")), r.Name) || !strings.Contains(err.Error(), "no setting any more: "+r.Instead) {
				t.Errorf("%s %s: %v", name, how, err)
			}
		}
	}
}
