// Package dialect defines which fields the proxy may add to requests for a kind of upstream, one file per kind.
//
// A dialect turns an [Intent], which is the same for every engine, into edits of the request's bytes. It never re-encodes
// a body, so unknown fields survive. No field is added without a dialect that supports it, and a field that an upstream refuses
// is not added any more: the caller keeps the refused fields of each upstream.
//
// A new dialect is one file with a type that implements [Dialect], and one line in the list below.
package dialect

import (
	"fmt"
	"strings"
)

// Intent is what the proxy wants of an engine besides the client's request.
type Intent struct {
	StreamUsage bool // the stream reports its usage, although the client has not asked for it
}

// Field names a member of the request's body by its path.
type Field string

// StreamUsage is the member by which a stream is asked to report its usage.
const StreamUsage Field = "stream_options.include_usage"

// Dialect is the set of fields that one kind of upstream accepts. A dialect has no state.
type Dialect interface {
	// Name is the value of upstream.Target.Dialect that selects it. No setting of the program does so yet.
	Name() string
	// Edit returns body with the fields that want calls for, except those for which quarantined is true, and the names of
	// the fields it has added. It does not change body itself.
	Edit(body []byte, want Intent, quarantined func(Field) bool) (edited []byte, added []Field)
	// Refused returns those of the added fields that an error answer is about. head is the start of the answer's body.
	Refused(status int, head []byte, added []Field) []Field
}

// Default is the dialect of an upstream without a configured one.
const Default = "generic"

// dialects is the registry.
var dialects = []Dialect{Generic{}, Plain{}}

// New returns the dialect called name; "" is Default.
func New(name string) (Dialect, error) {
	if name == "" {
		name = Default
	}
	for _, d := range dialects {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect %q is not one of %s", name, strings.Join(Names(), ", "))
}

// Names lists the dialects.
func Names() (names []string) {
	for _, d := range dialects {
		names = append(names, d.Name())
	}
	return names
}

// namedIn returns those of fields of which any part of the path occurs in an error answer.
func namedIn(head []byte, fields []Field) (named []Field) {
	text := string(head)
	for _, field := range fields {
		for part := range strings.SplitSeq(string(field), ".") {
			if strings.Contains(text, part) {
				named = append(named, field)
				break
			}
		}
	}
	return named
}
