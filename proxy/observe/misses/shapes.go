package misses

import (
	"regexp"
	"slices"
	"strings"
)

// shape is an expression for REPRISE_IGNORE_PATTERN that takes out what varies.
type shape struct {
	looks      []string // classes of differences
	expression string
	begins     *regexp.Regexp
}

// shapes are those of what is found by itself. A number or a name is known by the words around it alone, which a report does not have.
var shapes = []shape{
	newShape(`(?P<date>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)`, "date", "time"),
	newShape(`(?P<date>\d\d?[./]\d\d?[./]\d{4})`, "date"),
	newShape(`(?P<time>\d\d?:\d\d(?::\d\d)?(?: ?[AP]M)?)`, "time"),
	newShape(`(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})`, "uuid"),
}

func newShape(expression string, looks ...string) shape {
	return shape{looks, expression, regexp.MustCompile("^(?:" + expression + `)(?:\W|$)`)}
}

// longestShape is how many bytes what has a shape has at most, with the one behind it.
const longestShape = 48

// shapeOf is the expression for what begins a text and looks like a class; "": there is none.
func shapeOf(text, class string) string {
	for i := range shapes {
		if s := &shapes[i]; slices.Contains(s.looks, class) && s.begins.MatchString(text[:min(len(text), longestShape)]) {
			return s.expression
		}
	}
	return ""
}

// patterns is REPRISE_IGNORE_PATTERN with the expressions for what differs beside those in force; "" where one of the differences has none.
func (d *Diagnosis) patterns(s *Settings) string {
	all := slices.Clone(s.IgnorePatterns)
	for _, one := range d.Differs {
		switch {
		case one.Byte < 0:
		case one.shape == "":
			return ""
		case !slices.Contains(all, one.shape):
			all = append(all, one.shape)
		}
	}
	if len(all) == len(s.IgnorePatterns) {
		return ""
	}
	return "REPRISE_IGNORE_PATTERN=" + strings.Join(all, ";;")
}
