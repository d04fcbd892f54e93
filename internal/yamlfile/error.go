package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a file.
type Problem struct {
	Line, Column int    // from 1; 0: not known
	Field        string // such as rules[1].match.model, with lists from 0; "": none
	Text         string
}

// Error lists what is wrong in a file.
type Error struct {
	Name     string // of the file
	Problems []Problem
}

// Error has a line for each problem: FILE:LINE:COLUMN: FIELD: TEXT.
func (e *Error) Error() string {
	return strings.Join(e.Lines(), "\n")
}

// Lines are those of Error.
func (e *Error) Lines() (lines []string) {
	for _, p := range e.Problems {
		lines = append(lines, e.Name+p.String())
	}
	return lines
}

// String is the problem without the name of its file, beginning with a colon.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	if p.Field != "" {
		b.WriteString(": " + p.Field)
	}
	b.WriteString(": " + p.Text)
	return b.String()
}

// Err is an *Error with all that was found wrong, in the order of the file; nil where nothing was.
func (d *Document) Err() error {
	if len(d.problems) == 0 {
		return nil
	}
	all := slices.Clone(d.problems)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{d.name, all}
}
