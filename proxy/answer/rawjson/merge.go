package rawjson

import (
	"slices"

	"github.com/tidwall/gjson"
)

// Tree is a JSON value that comes in fragments, as the deltas of a stream. Nothing is decoded: a fragment's raw bytes are appended to those
// before. What does not grow is not copied: the fragments must not change before the result has been appended. Strings and arrays grow in their raw form: the end of the first and the
// beginning of the second are removed and the rest is joined, so that no escape is decoded and a surrogate pair that was
// split between two fragments is whole again.
type Tree struct {
	raw    []byte  // a value without members of its own, or an array; as it came, until it grows
	own    bool    // raw is no part of a fragment any more
	object *Object // or an object
	list   *List   // or an array whose elements have an index
}

// Object is a JSON object that grows: members in the order of their first fragment.
type Object struct {
	names   index[string]
	members []member // in the order of names
}

type member struct {
	key string // the name quoted, as it came
	val Tree
}

// List is an array whose elements are identified by their member index.
type List struct {
	next    int64 // one more than the largest index
	indices index[int64]
	elems   []*Object // in the order of indices
}

// index has keys in the order in which they were added.
type index[K comparable] struct {
	keys []K
	at   map[K]int // place of each, once there are more than few
}

// few is up to how many keys are found without a map, which would take more memory than they do.
const few = 16

// find returns the place of a key, -1 where it is missing.
func (x *index[K]) find(key K) int {
	if x.at == nil {
		return slices.Index(x.keys, key)
	}
	if i, ok := x.at[key]; ok {
		return i
	}
	return -1
}

// add adds a key that is missing.
func (x *index[K]) add(key K) {
	x.keys = append(x.keys, key)
	switch {
	case x.at != nil:
		x.at[key] = len(x.keys) - 1
	case len(x.keys) > few:
		x.at = make(map[K]int, 2*few)
		for i, k := range x.keys {
			x.at[k] = i
		}
	}
}

// NewObject returns an object without members.
func NewObject() *Object { return &Object{} }

// NewList returns a list without elements.
func NewList() *List { return &List{} }

func newTree(v gjson.Result) Tree {
	switch {
	case v.IsObject():
		o := NewObject()
		o.merge(v)
		return Tree{object: o}
	case indexed(v):
		l := NewList()
		l.merge(v)
		return Tree{list: l}
	}
	return asItCame(v.Raw)
}

func asItCame(raw string) Tree { return Tree{raw: Bytes(raw)} }

// indexed reports whether v is an array of objects that have an index.
func indexed(v gjson.Result) bool {
	return v.IsArray() && v.Get("0.index").Type == gjson.Number
}

// Object returns the tree's object, nil where it is something else.
func (t *Tree) Object() *Object { return t.object }

// List returns the tree's list, nil where it is something else.
func (t *Tree) List() *List { return t.list }

// IsNull reports whether the value is null.
func (t *Tree) IsNull() bool { return string(t.raw) == "null" }

// Is reports whether the value is the raw JSON s.
func (t *Tree) Is(s string) bool { return string(t.raw) == s }

// Raw returns the raw JSON of a value that is neither an object nor a list.
func (t *Tree) Raw() []byte { return t.raw }

// Set replaces the value by raw JSON.
func (t *Tree) Set(raw string) { *t = asItCame(raw) }

// firstRoom is the room in bytes for a value that grows for the first time.
const firstRoom = 128

// opened returns the value without its last byte, to be appended to.
func (t *Tree) opened() []byte {
	if !t.own {
		t.raw, t.own = append(make([]byte, 0, max(firstRoom, 2*len(t.raw))), t.raw...), true
	}
	return t.raw[:len(t.raw)-1]
}

// Add adds a fragment: strings and arrays are joined, objects member by member, anything else is replaced. null adds
// nothing.
func (t *Tree) Add(v gjson.Result) {
	switch {
	case v.Type == gjson.Null:
	case v.Type == gjson.String && t.begins('"'):
		t.raw = append(t.opened(), v.Raw[1:]...)
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

// Replace takes a later value unless it is null, or an empty string after a value.
func (t *Tree) Replace(v gjson.Result) {
	if v.Type == gjson.Null || v.Raw == `""` && len(t.raw) > 0 && !t.IsNull() {
		return
	}
	t.Set(v.Raw)
}

func (t *Tree) begins(c byte) bool { return len(t.raw) > 0 && t.raw[0] == c }

// join adds the elements of an array to an array.
func (t *Tree) join(v gjson.Result) {
	switch {
	case v.Raw[SkipSpace(v.Raw, 1, 1)] == ']':
	case t.raw[SkipSpace(View(t.raw), 1, 1)] == ']':
		*t = newTree(v)
	default:
		t.raw = append(append(t.opened(), ','), v.Raw[1:]...)
	}
}

// Member returns the place of a member, which is made, with a value of null, where it is missing. key is the quoted name;
// the name itself where it is empty.
func (o *Object) Member(name, key string) *Tree {
	i := o.names.find(name)
	if i < 0 {
		i = len(o.members)
		if key == "" {
			key = Quote(name)
		}
		if o.members == nil {
			o.members, o.names.keys = make([]member, 0, 4), make([]string, 0, 4)
		}
		o.members = append(o.members, member{key, asItCame("null")})
		o.names.add(name)
	}
	return &o.members[i].val
}

// merge adds the members of a delta. Some identify the thing and are not a part of it, and engines differ in whether they
// repeat them: these are never joined.
func (o *Object) merge(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		t := o.Member(k.Str, k.Raw)
		switch {
		case !Identifies(k.Str):
			t.Add(v)
		case k.Str != "name":
			t.Replace(v)
		case !t.Is(v.Raw):
			t.Add(v)
		}
		return true
	})
}

// Identifies reports whether a member of a delta may identify the thing and be repeated, rather than be a fragment.
func Identifies(name string) bool {
	switch name {
	case "role", "type", "id", "index", "format", "name":
		return true
	}
	return false
}

func (l *List) merge(v gjson.Result) {
	v.ForEach(func(_, e gjson.Result) bool {
		if e.IsObject() {
			l.Elem(l.indexOf(e)).merge(e)
		}
		return true
	})
}

// indexOf is the index of e, or a new one.
func (l *List) indexOf(e gjson.Result) int64 {
	if i := e.Get("index"); i.Exists() {
		return i.Int()
	}
	return l.next
}

// Elem returns the element with an index, which is made where it is missing.
func (l *List) Elem(index int64) *Object {
	i := l.indices.find(index)
	if i < 0 {
		i = len(l.elems)
		l.indices.add(index)
		if i == 0 || index >= l.next {
			l.next = index + 1
		}
		l.elems = append(l.elems, NewObject())
	}
	return l.elems[i]
}

// Sorted returns the elements in the order of their index. The result must not be changed.
func (l *List) Sorted() []*Object {
	if slices.IsSorted(l.indices.keys) {
		return l.elems
	}
	order := slices.Sorted(slices.Values(l.indices.keys))
	elems := make([]*Object, len(order))
	for i, index := range order {
		elems[i] = l.elems[l.indices.find(index)]
	}
	return elems
}

// Append renders the value.
func (t *Tree) Append(dst []byte) []byte {
	switch {
	case t.object != nil:
		return t.object.Append(dst)
	case t.list != nil:
		return t.list.Append(dst)
	}
	return append(dst, t.raw...)
}

// Append renders the elements in the order of their index, without the members that except names.
func (l *List) Append(dst []byte, except ...string) []byte {
	dst = append(dst, '[')
	for i, e := range l.Sorted() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.Append(dst, except...)
	}
	return append(dst, ']')
}

// Append renders the object, without the members that except names.
func (o *Object) Append(dst []byte, except ...string) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for i := range o.members {
		if m := &o.members[i]; !slices.Contains(except, o.names.keys[i]) {
			dst = m.val.Append(AppendMember(dst, first, m.key, ""))
		}
	}
	return append(dst, '}')
}
