package canon

import "iter"

// Value is one value of a body. The zero Value is absent. It is valid until the Reader has read the request.
type Value struct {
	d *doc
	i uint32 // 0: absent
}

func (d *doc) value(i uint32) Value { return Value{d, i} }

// Given reports whether the value is there and not null.
func (v Value) Given() bool { return v.i != 0 && v.d.given(v.i) }

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.i != 0 && v.d.is(v.i, text) }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.i != 0 && v.d.is(v.i, array) }

// Is reports whether the value is the string s.
func (v Value) Is(s string) bool { return v.i != 0 && v.d.isText(v.i, s) }

// Text returns the decoded bytes of a string.
func (v Value) Text() []byte { return v.d.text(v.i) }

// Len returns the number of an array's elements, of an object's members; 0 for other values.
func (v Value) Len() int {
	if v.i == 0 || v.d.nodes[v.i].kind() < array {
		return 0
	}
	return int(v.d.nodes[v.i].end)
}

// First returns the first element of an array.
func (v Value) First() Value {
	if !v.IsArray() || v.Len() == 0 {
		return Value{}
	}
	return Value{v.d, v.i + 1}
}

// Elements yields the elements of an array; other values have none.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.i == 0 {
			return
		}
		for i := range v.d.elements(v.i) {
			if !yield(Value{v.d, i}) {
				return
			}
		}
	}
}

// Member returns the value of an object's member, the zero Value when it is absent or v is no object.
func (v Value) Member(name string) Value {
	if v.i == 0 {
		return Value{}
	}
	return Value{v.d, v.d.member(v.i, name)}
}

// Any reports whether found is true of a member of v, or of one of what v contains: the name and the value.
func (v Value) Any(found func(name []byte, v Value) bool) bool {
	if v.i == 0 {
		return false
	}
	d, next := v.d, v.d.nodes[v.i].next()
	for i := v.i; i < next; i++ {
		if d.nodes[i].kind() != object {
			continue
		}
		for _, m := range d.members(i) {
			if found(d.text(m), Value{d, m + 1}) {
				return true
			}
		}
	}
	return false
}

// BadMember refuses a member of object v: it is absent, or not what it must be.
func (v Value) BadMember(name, must string) *Error {
	return v.d.bad(v.i, v.d.member(v.i, name), name, must)
}
