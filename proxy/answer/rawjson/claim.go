package rawjson

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Claim is a value of an object that should say what a stream has said: no more, no less, and nothing else. The events of the stream are held
// against it one after the other, and each takes what it accounts for; at the end nothing may be left. A claim knows nothing of how the
// object was made, by a [Tree] or by the upstream, so that a mistake there shows here.
//
// null says nothing: no event must have it, and no claim needs it. A claim to which an event did not agree is of no use any more. All methods
// take time linear in what they are given, and in the object once.
type Claim struct {
	raw    string
	inside *inside // what is in an object or an array, once that was asked for
	text   string  // of a string, what is left to say
	index  int64   // by which events name this element of a list

	level   uint8 // in the object; what is deeper than mostLevels is compared as bytes
	visited bool  // an event has said it, or something in it
	whole   bool  // an event has said all of it
	begun   bool  // something has been said of the text
	decoded bool  // text is decoded: fragments have other escapes
	named   bool  // events name it by its index
	calls   bool  // a list of calls of tools, or a call: in the object it has no index
}

// inside is what is in an object or an array.
type inside struct {
	parts []Claim           // members or elements
	names index[string]     // of members
	next  int               // the element that nothing was said of yet
	items map[int64]*claims // elements by the index that events name them by
}

// claims are elements that events name by one index.
type claims struct {
	all    []*Claim
	latest *Claim
}

// mostItems bounds for how many other elements the one that an event names is looked for.
const mostItems = 64

// NewClaim returns the claim of an object.
func NewClaim(object gjson.Result) *Claim { return &Claim{raw: object.Raw} }

func (c *Claim) isObject() bool { return c.level < mostLevels && strings.HasPrefix(c.raw, "{") }
func (c *Claim) isList() bool   { return c.level < mostLevels && strings.HasPrefix(c.raw, "[") }
func (c *Claim) isText() bool   { return strings.HasPrefix(c.raw, `"`) }
func (c *Claim) isNull() bool   { return c.raw == "null" }

// parse returns what is in the value, nothing where it is neither an object nor an array.
func (c *Claim) parse() *inside {
	if c.inside != nil {
		return c.inside
	}
	in := new(inside)
	c.inside = in
	object := c.isObject()
	if !object && !c.isList() {
		return in
	}
	var first [few]Claim // most have no more, and take no more room than they need
	var named [few]string
	parts, names := first[:0], named[:0]
	r := gjson.Result{Type: gjson.JSON, Raw: c.raw}
	r.ForEach(func(k, v gjson.Result) bool {
		if object {
			names = append(names, k.Str)
		}
		parts = append(parts, Claim{raw: v.Raw, level: c.level + 1, calls: c.calls && !object || object && k.Str == "tool_calls"})
		return true
	})
	in.parts, in.names.keys = slices.Clone(parts), slices.Clone(names)
	return in
}

// Member returns the claim of a member; nil where there is none, or no c.
func (c *Claim) Member(name string) *Claim {
	if c == nil || !c.isObject() {
		return nil
	}
	in := c.parse()
	if i := in.names.find(name); i >= 0 {
		return &in.parts[i]
	}
	return nil
}

// Elem returns the claim of an element of an array; nil where there is none, or no c.
func (c *Claim) Elem(i int) *Claim {
	if c == nil {
		return nil
	}
	if in := c.parse(); c.isList() && i >= 0 && i < len(in.parts) {
		return &in.parts[i]
	}
	return nil
}

// AsText returns the claim of c's JSON as a text, which fragments say; nil where there is no c.
func (c *Claim) AsText() *Claim {
	if c == nil {
		return nil
	}
	return &Claim{raw: Quote(c.raw)}
}

// Whole reports whether the events have said all that is in c; they have not where there is no c.
func (c *Claim) Whole() bool { return c != nil && c.complete(false) }

// complete reports whether all of c has been said. whole: an event has said it as a whole. What fragments have said of it must be whole too.
func (c *Claim) complete(whole bool) bool {
	whole = whole || c.whole
	if c.begun {
		return c.text == ""
	}
	if c.inside != nil {
		last, first := int64(0), true
		if n := c.inside.next; n > 0 && c.inside.items == nil && n != len(c.inside.parts) {
			return false
		}
		for i := range c.inside.parts {
			p := &c.inside.parts[i]
			if !p.complete(whole) || !p.visited && c.isList() && !whole || p.named && !first && p.index < last {
				return false
			}
			if p.named {
				last, first = p.index, false
			}
		}
	}
	switch {
	case whole || c.isNull():
		return true
	case empty(c.raw):
		return c.visited
	case c.isObject() || c.isList():
		return c.inside != nil
	}
	return false
}

// Is reports whether c is v, member by member, and takes it as said. A member of null is the same as none.
func (c *Claim) Is(v gjson.Result) bool {
	if c == nil {
		return v.Type == gjson.Null
	}
	if !c.equals(v) {
		return false
	}
	c.visited, c.whole = true, true
	return true
}

func (c *Claim) equals(v gjson.Result) bool {
	switch {
	case c.raw == v.Raw:
		return true
	case c.isText() && v.Type == gjson.String:
		return decode(c.raw[1:len(c.raw)-1]) == decode(v.Raw[1:len(v.Raw)-1])
	case c.isObject() && v.IsObject():
		return c.sameMembers(v)
	case c.isList() && v.IsArray():
		in, n := c.parse(), 0 // n elements are equal
		v.ForEach(func(_, e gjson.Result) bool {
			if n == len(in.parts) || !in.parts[n].equals(e) {
				n = -1
				return false
			}
			n++
			return true
		})
		return n == len(in.parts)
	}
	return false
}

func (c *Claim) sameMembers(v gjson.Result) bool {
	same, n := true, 0
	v.ForEach(func(k, v gjson.Result) bool {
		switch m := c.Member(k.Str); {
		case m == nil:
			same = v.Type == gjson.Null
		case !m.isNull():
			same = m.equals(v)
			n++
		default:
			same = v.Type == gjson.Null
		}
		return same
	})
	for i := range c.parse().parts {
		if !c.inside.parts[i].isNull() {
			n--
		}
	}
	return same && n == 0
}

// Holds reports whether c holds v, a member that describes the answer or names a part of it: it is v, or an object that holds each member of
// v. An empty v says only that there is a value.
func (c *Claim) Holds(v gjson.Result) bool {
	if v.Type == gjson.Null {
		return true
	}
	if c == nil {
		return false
	}
	if empty(v.Raw) {
		c.visited = c.visited || c.raw[0] == v.Raw[0]
		return true
	}
	c.visited = true
	if !v.IsObject() || !c.isObject() || c.raw == v.Raw {
		return c.Is(v)
	}
	holds := true
	v.ForEach(func(k, v gjson.Result) bool {
		holds = c.Member(k.Str).Holds(v)
		return holds
	})
	return holds
}

// Joins reports whether c goes on with fragment v, by the rules of a [Tree], where nothing that came before is replaced: texts and elements
// are those that come next, and anything else is equal. g, which may be nil, notes what was said.
func (c *Claim) Joins(v gjson.Result, g *Growth) bool {
	if v.Type == gjson.Null {
		return true
	}
	if c == nil {
		return false
	}
	c.visited = c.visited || !empty(v.Raw) || c.raw[0] == v.Raw[0]
	switch {
	case c.isText() && v.Type == gjson.String:
		g.note(c, v)
		return c.grow(v.Raw)
	case empty(v.Raw):
		return true
	case c.isObject() && v.IsObject():
		return c.members(v, g)
	case c.isList() && v.IsArray():
		return c.elements(v, g)
	case c.isList() && v.Type == gjson.String:
		return c.part(v, g)
	}
	return c.Is(v)
}

// grow says a fragment of a text.
func (c *Claim) grow(fragment string) bool {
	if fragment == `""` {
		return true
	}
	fragment = fragment[1 : len(fragment)-1]
	if !c.begun {
		c.text, c.begun = c.raw[1:len(c.raw)-1], true
	}
	if !c.decoded {
		if rest, ok := strings.CutPrefix(c.text, fragment); ok {
			c.text = rest
			return true
		}
		c.text, c.decoded = decode(c.text), true
	}
	rest, ok := strings.CutPrefix(c.text, decode(fragment))
	if ok {
		c.text = rest
	}
	return ok
}

// members says the members of a fragment.
func (c *Claim) members(v gjson.Result, g *Growth) (ok bool) {
	ok = true
	v.ForEach(func(k, v gjson.Result) bool {
		switch m := c.Member(k.Str); {
		case m == nil && k.Str == "index" && c.calls && c.named:
		case identifies(k.Str):
			ok = m.Holds(v)
		default:
			ok = m.Joins(v, g)
		}
		return ok
	})
	return ok
}

// elements says the elements of a fragment.
func (c *Claim) elements(v gjson.Result, g *Growth) (ok bool) {
	if c.raw == v.Raw && c.inside == nil && !c.whole && !strings.Contains(v.Raw, `"index"`) { // of which two may be the same
		g.other()
		c.whole = true
		return true
	}
	ok = !c.whole
	in := c.parse()
	for _, e := range Elements(v) {
		if !ok {
			break
		}
		var of [2]gjson.Result
		if Members(e, of[:], "index", "id"); of[0].Type == gjson.Number {
			index, whole := Place(of[0])
			ok = whole && c.item(index, of[1], g).Joins(e, g)
		} else if in.next > 0 && isText(e) && in.parts[in.next-1].unsaid() {
			ok = in.parts[in.next-1].goesOn(e, g)
		} else {
			one := c.Elem(in.next)
			in.next++
			g.other()
			ok = one.element(e, g)
		}
	}
	return ok
}

// element says an element of a list that nothing was said of before: as a part that may go on, or as a whole.
func (c *Claim) element(e gjson.Result, g *Growth) bool {
	if c != nil && c.isObject() && isText(e) {
		c.visited = true
		return c.goesOn(e, g)
	}
	return c != nil && c.Is(e)
}

// unsaid reports whether there is text left to say in a part.
func (c *Claim) unsaid() bool {
	switch {
	case c.begun:
		return c.text != ""
	case c.whole:
		return false
	case c.isText():
		return len(c.raw) > len(`""`)
	case c.isList():
		in := c.parse()
		return in.next < len(in.parts) || in.next > 0 && in.parts[in.next-1].unsaid()
	}
	for _, name := range textNames {
		if m := c.Member(name); m != nil && m.unsaid() {
			return true
		}
	}
	return false
}

// goesOn says a part that goes on with the part c: its text, and other members again.
func (c *Claim) goesOn(part gjson.Result, g *Growth) (ok bool) {
	ok = true
	part.ForEach(func(k, v gjson.Result) bool {
		if m := c.Member(k.Str); isTextName(k.Str) {
			ok = m.Joins(v, g)
		} else {
			ok = m.Is(v)
		}
		return ok
	})
	return ok
}

// part says a text that stands as a part in a list.
func (c *Claim) part(v gjson.Result, g *Growth) bool {
	in := c.parse()
	one := c.Elem(in.next - 1)
	if one == nil || !one.isTextPart() || !one.unsaid() {
		one = c.Elem(in.next)
		in.next++
		g.other()
	}
	if one == nil || !one.isTextPart() {
		return false
	}
	one.visited = true
	one.Member("type").whole = true
	return one.Member("text").Joins(v, g)
}

func (c *Claim) isTextPart() bool {
	kind := c.Member("type")
	return kind != nil && kind.raw == `"text"`
}

// item returns the element that an event names by an index, nil where there is none. Another id under a known index names another one.
func (c *Claim) item(n int64, id gjson.Result, g *Growth) *Claim {
	in := c.parse()
	if id.Type == gjson.Null {
		id.Raw = `""`
	}
	known := in.items[n]
	if known == nil {
		known = new(claims)
	}
	if known.latest != nil && (id.Raw == `""` || known.latest.hasID(id.Raw) || known.latest.hasID("")) { // or the id comes late
		return known.latest
	}
	for _, one := range known.all[:min(len(known.all), mostItems)] {
		if one.hasID(id.Raw) {
			known.latest = one
			return one
		}
	}
	one := in.unnamed(strconv.FormatInt(n, 10), id.Raw)
	if one == nil {
		return nil
	}
	if in.items == nil {
		in.items = map[int64]*claims{}
	}
	in.items[n] = known
	one.named, one.index = true, n
	known.all, known.latest = append(known.all, one), one
	g.other()
	return one
}

// unnamed returns the first of the next elements that no event has named and that has the index, unless elements have none, and the id, unless it
// is empty.
func (in *inside) unnamed(index, id string) *Claim {
	for in.next < len(in.parts) && in.parts[in.next].named {
		in.next++
	}
	for i := in.next; i < min(in.next+mostItems, len(in.parts)); i++ {
		one := &in.parts[i]
		at := one.Member("index")
		if !one.named && (at == nil || at.raw == index) && (id == `""` || one.hasID(id)) {
			return one
		}
	}
	return nil
}

// hasID reports whether an element has the id, in quotes; "": whether it has none.
func (c *Claim) hasID(id string) bool {
	own := c.Member("id")
	if own == nil || own.isNull() || own.raw == `""` {
		return id == ""
	}
	return own.raw == id
}

// Place returns an index, which some engines leave out; false where it is no whole number.
func Place(index gjson.Result) (at int64, ok bool) {
	at = index.Int()
	return at, index.Type == gjson.Null || index.Type == gjson.Number && index.Raw == strconv.FormatInt(at, 10)
}
