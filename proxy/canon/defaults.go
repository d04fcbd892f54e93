package canon

import (
	"bytes"
	"fmt"
	"strings"
)

// Default is one row of an API's table of defaults: values of a field that mean the same as its absence. A row needs two things: the
// API's documentation says so, and no engine that serves the API puts another value in the place of an absent field. What engines
// default differently (temperature and the other parameters of sampling, limits of tokens) has no row, or one for null alone.
type Default struct {
	// Field is the path from the body. A name after a dot is a member, and [] is each element: tools[].function.strict.
	Field  string
	Values []string // as JSON; null is among them where the API takes it for absent
	// With is a member of the body that must be a list of at least one element for the row to hold; "": the row always holds.
	With string
	// Attributes: the field says who asks, for the vendor's records, and no answer depends on it or has it. The row holds only where
	// [Identity.Attributed] does. Without Values any string means the same as absence.
	Attributes bool
	URL        string // of the documentation
	Says       string // what the documentation says, in our words
}

// Defaults is a table of defaults. It does not change once made.
type Defaults struct {
	rows []Default
	body place
}

// place is a field in a body, with the rows for it and for what it contains.
type place struct {
	values  []defaultValue
	members map[string]*place
	items   *place // each element of an array
	who     bool   // a string here only attributes the request
}

// defaultValue is one value of a row.
type defaultValue struct {
	doc  *doc // {"": value}
	with string
	who  bool // of a row with Attributes
}

// at returns the node of the value in its doc.
func (v *defaultValue) at() uint32 { return v.doc.member(0, "") }

// Nullable returns a row for each field that the documentation at url allows to be null, where null means the same as absence.
func Nullable(url string, fields ...string) (rows []Default) {
	for _, field := range fields {
		rows = append(rows, Default{Field: field, Values: []string{"null"}, URL: url, Says: "null is allowed"})
	}
	return rows
}

// NewDefaults returns a table of rows, which it keeps. It panics where a value of a row is not JSON.
func NewDefaults(rows ...Default) *Defaults {
	t := &Defaults{rows: rows}
	for _, row := range rows {
		to := &t.body
		for name := range strings.SplitSeq(row.Field, ".") {
			name, list := strings.CutSuffix(name, "[]")
			if to = to.member(name); list {
				to = to.item()
			}
		}
		to.who = to.who || row.Attributes && len(row.Values) == 0
		for _, json := range row.Values {
			var s scanner
			if err := s.scan([]byte(`{"":` + json + `}`)); err != nil {
				panic(fmt.Sprintf("the default %s of %s: %v", json, row.Field, err.finish()))
			}
			v := defaultValue{&s.doc, row.With, row.Attributes}
			if s.hasItems(v.at()) {
				panic(fmt.Sprintf("the default %s of %s is a list that is not empty", json, row.Field))
			}
			to.values = append(to.values, v)
		}
	}
	return t
}

func (at *place) member(name string) *place {
	if at.members == nil {
		at.members = map[string]*place{}
	}
	if at.members[name] == nil {
		at.members[name] = &place{}
	}
	return at.members[name]
}

func (at *place) item() *place {
	if at.items == nil {
		at.items = &place{}
	}
	return at.items
}

// Rows returns the rows of the table, which the caller must not change.
func (t *Defaults) Rows() []Default {
	if t == nil {
		return nil
	}
	return t.rows
}

// of returns the place of a member of the body, nil where no row is for it or for what it contains.
func (t *Defaults) of(name []byte) *place {
	if t == nil {
		return nil
	}
	return t.body.inside(name)
}

// inside returns the place of a member, nil where no row is for it or for what it contains.
func (at *place) inside(name []byte) *place {
	if at == nil {
		return nil
	}
	return at.members[string(name)]
}

// isDefault reports whether value i, which is at a place, means the same as its absence.
func (d *doc) isDefault(at *place, i uint32) bool {
	if at == nil {
		return false
	}
	for k := range at.values {
		v := &at.values[k]
		if (d.attributed || !v.who) && (v.with == "" || d.hasItems(d.member(0, v.with))) && d.equal(at, i, v.doc, v.at()) {
			return true
		}
	}
	return at.who && d.attributed && d.is(i, text)
}

func (d *doc) hasItems(i uint32) bool { return d.is(i, array) && d.nodes[i].end > 0 }

// equal reports whether value i, which is at a place, is value j of another document, a value of a row. Members that mean the same as their
// absence do not count. Arrays are equal where both are empty: no row has more. It reads little more of i than the other document has.
func (d *doc) equal(at *place, i uint32, other *doc, j uint32) bool {
	n, m := &d.nodes[i], &other.nodes[j]
	if n.kind() != m.kind() {
		return false
	}
	switch n.kind() {
	case number:
		var few, more [64]byte
		return bytes.Equal(appendNumber(few[:0], d.text(i)), appendNumber(more[:0], other.text(j)))
	case text:
		return bytes.Equal(d.text(i), other.text(j))
	case array:
		return n.end == 0
	case object:
		return d.equalMembers(at, i, other, j)
	}
	return true
}

func (d *doc) equalMembers(at *place, i uint32, other *doc, j uint32) bool {
	rest := other.members(j)
	for _, name := range d.members(i) {
		inner := at.inside(d.text(name))
		if d.isDefault(inner, name+1) {
			continue
		}
		if len(rest) == 0 || !bytes.Equal(d.text(name), other.text(rest[0])) || !d.equal(inner, name+1, other, rest[0]+1) {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) == 0
}
