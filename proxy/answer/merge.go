package answer

import (
	"slices"

	"github.com/tidwall/gjson"
)

// tree is a JSON value that grows by fragments. Strings and arrays grow in their raw form: the end of the one and the
// beginning of the other are cut off and the rest is joined, so that no escape is decoded and a surrogate pair that was
// split between two fragments is whole again.
type tree struct {
	raw    []byte  // a value without members of its own, or an array
	object *object // or an object
	list   *list   // or an array whose elements say their index
}

// object is a JSON object that grows: members in the order in which they first came.
type object struct {
	members []member
	at      map[string]int
}

type member struct {
	name, key string // key is the name quoted, as it came
	val       tree
}

// list is an array told apart by the index member of its elements.
type list struct {
	index []int64
	elems []*object
	at    map[int64]int
}

func newTree(v gjson.Result) tree {
	switch {
	case v.IsObject():
		o := newObject()
		o.merge(v)
		return tree{object: o}
	case indexed(v):
		l := &list{at: map[int64]int{}}
		l.merge(v)
		return tree{list: l}
	}
	return tree{raw: []byte(v.Raw)}
}

// indexed reports whether v is an array of objects that say their index.
func indexed(v gjson.Result) bool {
	return v.IsArray() && v.Get("0.index").Type == gjson.Number
}

// merge adds a fragment: strings and arrays are joined, objects member by member, anything else is replaced. null adds
// nothing.
func (t *tree) merge(v gjson.Result) {
	switch {
	case v.Type == gjson.Null:
	case v.Type == gjson.String && t.begins('"'):
		t.raw = append(t.raw[:len(t.raw)-1], v.Raw[1:]...)
	case v.IsObject() && t.object != nil:
		t.object.merge(v)
	case v.IsArray() && t.list != nil:
		t.list.merge(v)
	case v.IsArray() && t.begins('['):
		t.join(v)
	default:
		*t = newTree(v)
	}
}

func (t *tree) begins(c byte) bool { return len(t.raw) > 0 && t.raw[0] == c }

// join adds the elements of an array to an array.
func (t *tree) join(v gjson.Result) {
	switch {
	case v.Raw[skipSpace(v.Raw, 1, 1)] == ']':
	case t.raw[skipSpace(text(t.raw), 1, 1)] == ']':
		*t = newTree(v)
	default:
		t.raw = append(append(t.raw[:len(t.raw)-1], ','), v.Raw[1:]...)
	}
}

func newObject() *object { return &object{at: map[string]int{}} }

// value returns the place of a member, which is made, with a value of null, where it is missing.
func (o *object) value(name, key string) *tree {
	i, ok := o.at[name]
	if !ok {
		i = len(o.members)
		o.at[name] = i
		o.members = append(o.members, member{name: name, key: key, val: tree{raw: []byte("null")}})
	}
	return &o.members[i].val
}

// merge adds the members of a delta. Some say what the thing is, not a part of it, and engines differ in whether they
// repeat them: these are never joined.
func (o *object) merge(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		t := o.value(k.Str, k.Raw)
		switch k.Str {
		case "role", "type", "id", "index", "format":
			t.replace(v)
		case "name":
			if string(t.raw) != v.Raw {
				t.merge(v)
			}
		default:
			t.merge(v)
		}
		return true
	})
}

// replace takes a later value unless that says nothing.
func (t *tree) replace(v gjson.Result) {
	if v.Type == gjson.Null || v.Raw == `""` && len(t.raw) > 0 && !t.null() {
		return
	}
	*t = tree{raw: []byte(v.Raw)}
}

func (t *tree) null() bool { return string(t.raw) == "null" }

func (l *list) merge(v gjson.Result) {
	v.ForEach(func(_, e gjson.Result) bool {
		if e.IsObject() {
			l.elem(l.indexOf(e)).merge(e)
		}
		return true
	})
}

// indexOf is the index that e says, or a new one.
func (l *list) indexOf(e gjson.Result) int64 {
	if i := e.Get("index"); i.Exists() {
		return i.Int()
	}
	if len(l.index) == 0 {
		return 0
	}
	return slices.Max(l.index) + 1
}

func (l *list) elem(index int64) *object {
	i, ok := l.at[index]
	if !ok {
		i = len(l.elems)
		l.at[index] = i
		l.index = append(l.index, index)
		l.elems = append(l.elems, newObject())
	}
	return l.elems[i]
}

// sorted returns the elements in the order of their index.
func (l *list) sorted() []*object {
	order := slices.Sorted(slices.Values(l.index))
	elems := make([]*object, len(order))
	for i, index := range order {
		elems[i] = l.elems[l.at[index]]
	}
	return elems
}

func (t *tree) append(dst []byte) []byte {
	switch {
	case t.object != nil:
		return t.object.append(dst)
	case t.list != nil:
		dst = append(dst, '[')
		for i, e := range t.list.sorted() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, t.raw...)
}

// append renders the object, without the members that except names.
func (o *object) append(dst []byte, except ...string) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for i := range o.members {
		m := &o.members[i]
		if !slices.Contains(except, m.name) {
			dst = m.val.append(appendMember(dst, first, m.key, ""))
		}
	}
	return append(dst, '}')
}
