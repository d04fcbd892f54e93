package rawjson

import (
	"slices"

	"github.com/tidwall/gjson"
)

// Tree is a JSON value that comes in fragments, as the deltas of a stream. How a fragment v is added to what came before, t:
//
//	t            v                 then
//	any          null, "", {}, []  t; an empty v where t is null
//	null, empty  any               v
//	text         text              the texts joined
//	object       object            each member of v added to the member of t with its name, down to mostLevels
//	list         list              the elements joined, by the rules below
//	list         text              a list, with the text as the part {"type":"text","text":v}
//	text         list              the same, with the text as the first part
//	others       others            v: a number, or another type. A conversion that loses something in this way is not proven; see [Claim]
//
// Text is a string that is not empty. Strings that name a thing ("role", "type", "id", "index", "format", "name") are no text: engines differ in
// whether they repeat them, and the last one that is not empty counts. A name that is not repeated is text.
//
// Elements of a list that have an index are items: those of one index are added to each other, and sorted by index. Another id under a known index
// begins another item, because some engines give all calls of one answer the index 0. A missing or an empty id names no other item, nor does an id
// with a function without a name: some engines make up another id for each fragment of a call.
//
// Other elements come one after the other. The first of v continues the last of t where both are parts that have nothing but the same kind of text:
// {"type":"text","text":…}, or {"type":"thinking","thinking":[…]} with a list of such parts. All other members must be equal.
//
// Nothing is decoded: the raw bytes of a fragment are appended to those before, so that a surrogate pair that was split between two fragments is
// whole again. What does not grow is not copied: the fragments must not change before the result has been appended. Each step takes time linear
// in the fragment.
type Tree struct {
	raw    []byte  // a value as it came, until it grows; not of an object that has grown or a list of items
	tail   *Object // the last element of a list, while it is text that may go on: then raw ends before it
	object *Object // or an object that has grown
	list   *List   // or a list of items
	last   int     // where the last element of a list begins in raw; 0: not known
	parts  int8    // whether the first element of a list is a part: 1 it is, -1 it is not, 0 not known
	own    bool    // raw is no part of a fragment any more
}

// Object is a JSON object that grows: members in the order of their first fragment. The zero value has none.
type Object struct {
	names   index[string]
	members []*member // in the order of names; those to which a Growth points stay where they are
	room    []member
}

type member struct {
	key string // the name quoted, as it came
	val Tree
}

// Growth is what an event added to one text, if that is all it did: the same event with another fragment is then added by Again. The zero
// value is an event that did nothing yet; a nil Growth takes no notes.
type Growth struct {
	at    grower
	text  gjson.Result
	empty bool // text is the first of the empty fragments, which add nothing
	more  bool // the event did something else
}

// grower is a text, to which fragments are added.
type grower interface {
	grow(fragment string) bool
}

// Fragment returns the fragment of an event that did nothing but add it to a text; false where it did something else.
func (g *Growth) Fragment() (gjson.Result, bool) { return g.text, g.at != nil && !g.more }

// Again adds another fragment, in quotes, to the text, and reports whether it fits.
func (g *Growth) Again(fragment string) bool { return g.at.grow(fragment) }

// note notes that text was added at a place.
func (g *Growth) note(at grower, text gjson.Result) {
	switch {
	case g == nil:
	case text.Raw == `""`:
		if g.at == nil {
			g.at, g.text, g.empty = at, text, true
		}
	case g.at != nil && !g.empty:
		g.more = true
	default:
		g.at, g.text, g.empty = at, text, false
	}
}

// other notes that the event did something else than adding a text.
func (g *Growth) other() {
	if g != nil {
		g.more = true
	}
}

// mostLevels is how deep objects and lists are joined in a fragment, and compared in an answer otherwise than as bytes: each level is another pass
// over what is in it. Text of answers is at level 5 of a fragment at most, and its log probabilities at level 8 of an answer.
const mostLevels = 8

func newTree(v gjson.Result, level int) Tree {
	if level < mostLevels && indexed(v) {
		l := new(List)
		l.merge(v, nil, level)
		return Tree{list: l}
	}
	return asItCame(v.Raw)
}

// opened returns the object of a value that is one, into which more members go; nil where it is something else. An object that does not grow
// stays as it came.
func (t *Tree) opened(level int) *Object {
	if t.object == nil && t.begins('{') && level < mostLevels {
		came := gjson.ParseBytes(t.raw)
		*t = Tree{object: new(Object)}
		came.ForEach(func(k, v gjson.Result) bool {
			m := t.object.add(k.Str, k.Raw)
			*m = newTree(v, level+1)
			return true
		})
	}
	return t.object
}

// asItCame returns a value. One that is empty has no space, which would be passed over again and again.
func asItCame(raw string) Tree {
	if len(raw) > len("{}") && empty(raw) {
		raw = raw[:1] + raw[len(raw)-1:]
	}
	return Tree{raw: Bytes(raw)}
}

// indexed reports whether v is an array of objects that have an index.
func indexed(v gjson.Result) bool {
	return v.IsArray() && v.Get("0.index").Type == gjson.Number
}

// Object returns the tree's object, nil where it is something else.
func (t *Tree) Object() *Object { return t.opened(0) }

// List returns the tree's list, nil where it is something else.
func (t *Tree) List() *List { return t.list }

// Is reports whether the value is the raw JSON s.
func (t *Tree) Is(s string) bool { return t.tail == nil && string(t.raw) == s }

// Raw returns the raw JSON of a text.
func (t *Tree) Raw() []byte { return t.raw }

// Set replaces the value by raw JSON.
func (t *Tree) Set(raw string) { *t = asItCame(raw) }

// firstRoom is the room in bytes for a value that grows for the first time.
const firstRoom = 128

// room returns the value without its last byte, to be appended to.
func (t *Tree) room() []byte {
	if !t.own {
		t.raw, t.own = append(make([]byte, 0, max(firstRoom, 2*len(t.raw))), t.raw...), true
	}
	return t.raw[:len(t.raw)-1]
}

// Add adds a fragment. g, which may be nil, notes what it did.
func (t *Tree) Add(v gjson.Result, g *Growth) { t.add(v, g, 0) }

func (t *Tree) add(v gjson.Result, g *Growth, level int) {
	switch {
	case v.Type == gjson.Null:
	case v.Type == gjson.String && t.begins('"'):
		t.grow(v.Raw)
		g.note(t, v)
	case t.lacks():
		if !t.Is("null") && empty(v.Raw) {
			return
		}
		*t = newTree(v, level)
		g.other()
	case empty(v.Raw):
	case v.IsObject() && t.opened(level) != nil:
		t.object.merge(v, g, level)
	case v.IsArray() && t.list != nil:
		t.list.merge(v, g, level)
	case v.IsArray() && t.begins('['):
		t.join(v, g)
	case v.IsArray() && t.begins('"') && isPart(v.Get("0")):
		t.Set(asParts(View(t.raw)))
		t.join(v, g)
		g.other()
	case v.Type == gjson.String && t.begins('[') && t.hasParts():
		t.say(v, g)
	case !t.Is(v.Raw):
		*t = newTree(v, level)
		g.other()
	}
}

// grow adds a fragment to a text.
func (t *Tree) grow(fragment string) bool {
	if len(fragment) > len(`""`) {
		t.raw = append(t.room(), fragment[1:]...)
	}
	return true
}

// lacks reports whether the value is null or empty, so that any other takes its place.
func (t *Tree) lacks() bool {
	return t.Is("null") || t.Is(`""`) || t.Is("{}") || t.Is("[]")
}

// empty reports whether raw is a string, an object or an array with nothing in it.
func empty(raw string) bool {
	switch {
	case raw == `""`:
		return true
	case len(raw) < 2 || raw[0] != '{' && raw[0] != '[':
		return false
	}
	c := raw[SkipSpace(raw, 1, 1)]
	return c == '}' || c == ']'
}

// Replace takes a later value of a member that describes the answer and is not a fragment of it: objects join member by member, of anything
// else the last value counts that is neither null nor empty.
func (t *Tree) Replace(v gjson.Result) { t.replace(v, 0) }

func (t *Tree) replace(v gjson.Result, level int) {
	switch {
	case v.Type == gjson.Null || empty(v.Raw) && !t.Is("null") || t.Is(v.Raw):
	case v.IsObject() && t.opened(level) != nil:
		v.ForEach(func(k, v gjson.Result) bool {
			t.object.Member(k.Str, k.Raw).replace(v, level+1)
			return true
		})
	default:
		t.Set(v.Raw)
	}
}

func (t *Tree) begins(c byte) bool { return len(t.raw) > 0 && t.raw[0] == c }

// isPart reports whether v is a part of a content: an object with a type.
func isPart(v gjson.Result) bool { return v.IsObject() && v.Get("type").Type == gjson.String }

// hasParts reports whether a list begins with a part. The first element, which may be large, is looked at once.
func (t *Tree) hasParts() bool {
	if t.parts == 0 {
		t.parts = -1
		if t.tail != nil || isPart(gjson.GetBytes(t.raw, "0")) {
			t.parts = 1
		}
	}
	return t.parts > 0
}

// asParts returns the list of parts with a text alone.
func asParts(text string) string { return `[{"type":"text","text":` + text + `}]` }

// say adds a text to a list of parts.
func (t *Tree) say(text gjson.Result, g *Growth) {
	if t.tail != nil && t.tail.Member("type", "").Is(`"text"`) {
		t.tail.Member("text", `"text"`).Add(text, g)
		return
	}
	t.join(gjson.Parse(asParts(text.Raw)), g)
	g.other()
}

// join adds the elements of an array that is not empty to one that is not empty.
func (t *Tree) join(v gjson.Result, g *Growth) {
	first := true
	for _, e := range Elements(v) {
		if first && isText(e) && t.continues(e) {
			t.tail.goOn(e, g)
		} else {
			t.push(e.Raw)
			g.other()
		}
		first = false
	}
}

// push adds an element behind the last one.
func (t *Tree) push(element string) {
	t.close()
	dst := append(t.room(), ',')
	t.last = len(dst)
	t.raw = append(append(dst, element...), ']')
}

// continues reports whether the element e goes on with the last one, which is then the tail.
func (t *Tree) continues(e gjson.Result) bool {
	if t.tail == nil {
		if t.last == 0 {
			from := gjson.Result{Type: gjson.JSON, Raw: View(t.raw)}
			from.ForEach(func(_, last gjson.Result) bool {
				t.last = last.Index
				return true
			})
		}
		if !isText(gjson.Parse(View(t.raw[t.last : len(t.raw)-1]))) {
			return false
		}
		t.tail = new(Object)
		gjson.Parse(string(t.raw[t.last : len(t.raw)-1])).ForEach(func(k, v gjson.Result) bool {
			if m := t.tail.Member(k.Str, k.Raw); isTextName(k.Str) {
				m.Add(v, nil)
			} else {
				m.Set(v.Raw) // said as a whole
			}
			return true
		})
		t.raw = append(t.room()[:t.last], ']')
	}
	return t.tail.continues(e)
}

// close renders the tail as the last element.
func (t *Tree) close() {
	if t.tail == nil {
		return
	}
	t.raw = append(t.tail.Append(t.room()), ']')
	t.tail = nil
}

// textNames are the members of a part that are text, or a list of one part with text.
var textNames = [...]string{"text", "thinking", "reasoning", "refusal", "summary"}

func isTextName(name string) bool { return slices.Contains(textNames[:], name) }

// isText reports whether a part has text, directly or in a list of one part that has it directly, and no id, so that another one may go on with it.
func isText(part gjson.Result) bool { return hasText(part, true) }

// hasText is isText; lists: a list may have the text.
func hasText(part gjson.Result, lists bool) (text bool) {
	if !isPart(part) {
		return false
	}
	part.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "id" || k.Str == "index":
			text = false
			return false
		case isTextName(k.Str) && (v.Type == gjson.String || lists && isTexts(v)):
			text = true
		}
		return true
	})
	return text
}

// isTexts reports whether v is a list of one part with text.
func isTexts(v gjson.Result) bool {
	return v.IsArray() && !v.Get("1").Exists() && hasText(v.Get("0"), false)
}

// continues reports whether part e, which is text, goes on with part o, which is too.
func (o *Object) continues(e gjson.Result) bool {
	members, same := 0, true
	e.ForEach(func(k, v gjson.Result) bool {
		members++
		i := o.names.find(k.Str)
		switch {
		case i < 0:
			same = false
		case !isTextName(k.Str):
			old := &o.members[i].val
			same = old.Is(v.Raw)
		case v.IsArray():
			old := &o.members[i].val
			same = old.begins('[') && isTexts(v) && old.continues(v.Get("0"))
		default:
			same = v.Type == gjson.String && o.members[i].val.begins('"')
		}
		return same
	})
	return same && members == len(o.members)
}

// goOn adds the text of a part that goes on with part o.
func (o *Object) goOn(e gjson.Result, g *Growth) {
	e.ForEach(func(k, v gjson.Result) bool {
		if isTextName(k.Str) {
			o.Member(k.Str, "").Add(v, g)
		}
		return true
	})
}

// Member returns the place of a member, which is made, with a value of null, where it is missing. key is the quoted name;
// the name itself where it is empty.
func (o *Object) Member(name, key string) *Tree {
	t, _ := o.member(name, key)
	return t
}

// member is Member, and reports whether it is new.
func (o *Object) member(name, key string) (t *Tree, made bool) {
	i := o.names.find(name)
	if i >= 0 {
		return &o.members[i].val, false
	}
	if key == "" {
		key = Quote(name)
	}
	return o.add(name, key), true
}

// add adds a member of null, which is missing.
func (o *Object) add(name, key string) *Tree {
	if o.members == nil {
		o.members = make([]*member, 0, 4)
	}
	if len(o.room) == 0 {
		o.room = make([]member, min(max(4, len(o.members)), 64))
	}
	m := &o.room[0]
	o.room = o.room[1:]
	m.key, m.val = key, asItCame("null")
	o.members = append(o.members, m)
	o.names.add(name)
	return &m.val
}

// merge adds the members of a delta.
func (o *Object) merge(v gjson.Result, g *Growth, level int) {
	v.ForEach(func(k, v gjson.Result) bool {
		t, made := o.member(k.Str, k.Raw)
		if made {
			g.other()
		}
		switch {
		case !identifies(k.Str):
			t.add(v, g, level+1)
		case k.Str == "name" && v.Type == gjson.String && t.begins('"') && !t.Is(v.Raw) && v.Raw != `""`:
			t.Add(v, nil)
			g.other()
		default:
			t.replace(v, level+1)
		}
		return true
	})
}

// identifies reports whether a member of a delta may identify the thing and be repeated, rather than be a fragment.
func identifies(name string) bool {
	switch name {
	case "role", "type", "id", "index", "format", "name":
		return true
	}
	return false
}

// Append renders the value.
func (t *Tree) Append(dst []byte) []byte {
	switch {
	case t.object != nil:
		return t.object.Append(dst)
	case t.list != nil:
		return t.list.Append(dst)
	case t.tail != nil:
		return append(t.tail.Append(append(dst, t.raw[:len(t.raw)-1]...)), ']')
	}
	return append(dst, t.raw...)
}

// Append renders the object, without the members that except names.
func (o *Object) Append(dst []byte, except ...string) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for i, m := range o.members {
		if !slices.Contains(except, o.names.keys[i]) {
			dst = m.val.Append(AppendMember(dst, first, m.key, ""))
		}
	}
	return append(dst, '}')
}
