package edits

import (
	"strings"

	"reprise/policy/reuse/normal"
)

// explained is how a pair is explained: the classes with a plus between them, "=" for equal forms, or "no".
func explained(stored, asked string) string {
	list, ok := Explain(normal.Of(stored), normal.Of(asked))
	if !ok {
		return "no"
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Class.Name())
	}
	if len(names) == 0 {
		return "="
	}
	return strings.Join(names, "+")
}
