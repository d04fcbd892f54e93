package yamlfile

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"reprise/internal/suggest"
)

// Value is a list, a set of fields or a text, at its place in a document. A value that the file does not have has no items, no fields and no
// text; reading it adds no problem.
type Value struct {
	doc  *Document
	node *yaml.Node
	path string
}

// Root is the whole document.
func (d *Document) Root() Value { return Value{doc: d, node: d.root} }

// Given reports whether the file has the value.
func (v Value) Given() bool { return v.node != nil }

// Field is the path of the value, such as rules[1].match.model; "" for the root.
func (v Value) Field() string { return v.path }

// Line is the line of the value, from 1; 0 where the file does not have it.
func (v Value) Line() int {
	if v.node == nil {
		return 0
	}
	return v.node.Line
}

// Bad adds a problem at the value.
func (v Value) Bad(format string, args ...any) {
	p := Problem{Field: v.path, Text: fmt.Sprintf(format, args...)}
	if v.node != nil {
		p.Line, p.Column = v.node.Line, v.node.Column
	}
	v.doc.problems = append(v.doc.problems, p)
}

// kind names what the value is, for messages.
func (v Value) kind() string {
	switch {
	case v.node.Kind == yaml.SequenceNode:
		return "a list"
	case v.node.Kind == yaml.MappingNode:
		return "fields"
	case empty(v.node):
		return "nothing"
	}
	return "one value"
}

// Fields returns the fields of a value with a fixed set of names. It adds a problem for each field of another name, with the nearest of the
// names, and for a value that has no fields.
func (v Value) Fields(names ...string) Fields {
	f := Fields{of: v, values: map[string]Value{}}
	for key, value := range v.Each("fields: " + strings.Join(names, ", ")) {
		if slices.Contains(names, key.Key()) {
			f.values[key.Key()] = value
			continue
		}
		key.Bad("there is no field %q%s; allowed is %s", shortened(key.Key()), suggest.DidYouMean(key.Key(), names), oneOf(names))
	}
	return f
}

func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Fields holds values by the names of their fields.
type Fields struct {
	of     Value
	values map[string]Value
}

// Get returns the value of a field, and whether the file has it.
func (f Fields) Get(name string) (Value, bool) {
	v, ok := f.values[name]
	if !ok {
		v = Value{doc: f.of.doc, path: joined(f.of.path, name)}
	}
	return v, ok
}

// None reports whether the value is a set of fields that is empty.
func (f Fields) None() bool { return f.of.isFields() && len(f.of.node.Content) == 0 }

// Need is Get for a field that must be there: it adds a problem if it is not.
func (f Fields) Need(name string) (Value, bool) {
	v, ok := f.Get(name)
	if !ok && f.of.isFields() {
		f.of.Bad("the field %s is missing", name)
	}
	return v, ok
}

// Each iterates over the fields of a value whose names are the operator's, in the order of the file: the name as a value with its place, whose
// text Key returns, and the value. want completes the problem "want …" that is added where the value has no fields.
func (v Value) Each(want string) iter.Seq2[Value, Value] {
	return func(yield func(key, value Value) bool) {
		switch {
		case v.node == nil:
			return
		case v.node.Kind != yaml.MappingNode:
			v.Bad("want %s; found %s", want, v.kind())
			return
		}
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			key, path := v.node.Content[i], joined(v.path, v.node.Content[i].Value)
			if !yield(Value{v.doc, key, path}, Value{v.doc, v.node.Content[i+1], path}) {
				return
			}
		}
	}
}

// Key is the name of a field from Each.
func (v Value) Key() string { return v.node.Value }

// List iterates over the items of a list. want completes the problem "want …" that is added where the value is none.
func (v Value) List(want string) iter.Seq[Value] {
	return func(yield func(item Value) bool) {
		switch {
		case v.node == nil:
			return
		case v.node.Kind != yaml.SequenceNode:
			v.Bad("want %s; found %s", want, v.kind())
			return
		}
		for i, item := range v.node.Content {
			if !yield(Value{v.doc, item, v.path + "[" + strconv.Itoa(i) + "]"}) {
				return
			}
		}
	}
}

func (v Value) isFields() bool { return v.node != nil && v.node.Kind == yaml.MappingNode }

// Len is how many items a list has; 0 where the value is none.
func (v Value) Len() int {
	if !v.IsList() {
		return 0
	}
	return len(v.node.Content)
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return v.node != nil && v.node.Kind == yaml.SequenceNode }

// Text is the text of a value, without quotes. want completes the problem "want …" that is added where it is a list, fields or nothing.
func (v Value) Text(want string) (text string, ok bool) {
	switch {
	case v.node == nil:
		return "", false
	case v.node.Kind != yaml.ScalarNode || empty(v.node):
		v.Bad("want %s; found %s", want, v.kind())
		return "", false
	}
	return v.node.Value, true
}

// Number returns the number of a value of digits with an optional sign, point and exponent. If the value is something else, or allowed refuses the
// number, it adds the problem "want …", which want completes, and ok is false.
func (v Value) Number(want string, allowed func(float64) bool) (n float64, ok bool) {
	text, ok := v.Text(want)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpP_nN") || !allowed(n) {
		v.Bad("want %s", want)
		return 0, false
	}
	return n, true
}
