package cmdline

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/cmd/internal/cli"
)

// Param is a parameter of something with a name, such as a policy or a generator.
type Param struct {
	Name, Value string // as they are typed; Value is the default
	Says        string
	Allowed     string // the values
}

// listWidth is the width at which texts break. A name with its parameters does not break, so that it can be copied.
const listWidth = 100

// Listing writes a list of what has parameters.
type Listing struct {
	w       io.Writer
	written map[string]string // texts about parameters, with the name that they were written for
}

// NewListing makes an empty list. Errors of w are ignored.
func NewListing(w io.Writer) *Listing { return &Listing{w: w, written: map[string]string{}} }

// Item writes a name as it can be typed, what it is, and a line for each parameter. Parameters that an earlier name had are
// not repeated.
func (l *Listing) Item(name, says string, params []Param) {
	spec, about, sep, column := name, "", ":", 10
	for _, p := range params {
		spec += sep + p.Name + "=" + p.Value
		sep, column = ",", max(column, len(p.Name))
	}
	for _, p := range params {
		text := cli.Fold(p.Says+" ("+p.Allowed+")", 9+column, listWidth)
		about += fmt.Sprintf("        %-*s %s\n", column, p.Name, text)
	}
	if other := l.written[about]; other != "" {
		about = "        (the parameters of " + other + ")\n"
	} else if about != "" {
		l.written[about] = name
	}
	fmt.Fprintf(l.w, "  %s\n      %s\n%s", spec, cli.Fold(says, 6, listWidth), about)
}

// Allowed describes the values of a parameter: its choices, or the numbers from least to most, or both.
func Allowed(choices []string, least, most float64) string {
	numbers := number(least) + " to " + number(most)
	switch last := len(choices) - 1; {
	case last <= 0:
		return numbers
	case most > 0:
		return strings.Join(choices, ", ") + " or " + numbers
	default:
		return strings.Join(choices[:last], ", ") + " or " + choices[last]
	}
}

// number formats v as it is typed: 1e6 and not 1e+06.
func number(v float64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(strconv.FormatFloat(v, 'g', -1, 64))
}
