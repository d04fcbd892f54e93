package rawjson

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"
)

// List is a list of items, which have a member index. The zero value has none.
type List struct {
	next    int64 // one more than the largest index
	indices index[int64]
	latest  []*item // by the place of their index in indices
	items   []*item // in the order of their first fragments
	byID    map[identity]*item
}

// item is an element of a list with an index.
type item struct {
	Object
	index int64
}

// identity is what an item is found by, where several have one index.
type identity struct {
	index int64
	id    string
}

// index has keys in the order in which they were added.
type index[K comparable] struct {
	keys []K
	next int       // behind the key that was found last: objects often have their members in one order
	at   map[K]int // place of each, once one of more than few was looked for elsewhere
}

// few is up to how many keys are found without a map, which would take more memory than they do.
const few = 16

// find returns the place of a key, -1 where it is missing.
func (x *index[K]) find(key K) int {
	i := slices.Index(x.keys[:min(few, len(x.keys))], key)
	switch {
	case i >= 0 || len(x.keys) <= few:
		return i
	case x.next < len(x.keys) && x.keys[x.next] == key:
		i = x.next
	default:
		if x.at == nil {
			x.at = make(map[K]int, 2*len(x.keys))
			for i, k := range x.keys {
				x.at[k] = i
			}
		}
		at, ok := x.at[key]
		if !ok {
			return -1
		}
		i = at
	}
	x.next = i + 1
	return i
}

// add adds a key that is missing.
func (x *index[K]) add(key K) {
	if x.keys == nil {
		x.keys = make([]K, 0, 4)
	}
	x.keys = append(x.keys, key)
	if x.at != nil {
		x.at[key] = len(x.keys) - 1
	}
}

func (l *List) merge(v gjson.Result, g *Growth, level int) {
	v.ForEach(func(_, e gjson.Result) bool {
		if e.IsObject() {
			o, made := l.item(e)
			if made {
				g.other()
			}
			o.merge(e, g, level+1)
		}
		return true
	})
}

// item returns the item to which e belongs, and reports whether it is new.
func (l *List) item(e gjson.Result) (o *Object, made bool) {
	var of [3]gjson.Result
	Members(e, of[:], "index", "id", "function")
	at, id, function := of[0], of[1], of[2]
	if at.Type == gjson.Null {
		return l.begin(l.next), true
	}
	n := at.Int()
	i := l.indices.find(n)
	if i < 0 {
		return l.begin(n), true
	}
	latest := l.latest[i]
	if id.Type == gjson.Null || id.Raw == `""` {
		return &latest.Object, false
	}
	known := latest.Member("id", "")
	if known.Is("null") || known.Is(`""`) || known.Is(id.Raw) {
		return &latest.Object, false
	}
	if l.byID == nil {
		l.byID = map[identity]*item{}
	}
	l.byID[identity{n, string(known.raw)}] = latest
	if other := l.byID[identity{n, id.Raw}]; other != nil {
		l.latest[i] = other
		return &other.Object, false
	}
	if function.IsObject() && function.Get("name").String() == "" {
		return &latest.Object, false
	}
	return l.begin(n), true
}

// Elem returns the latest item with an index, which is made where there is none.
func (l *List) Elem(index int64) *Object {
	if i := l.indices.find(index); i >= 0 {
		return &l.latest[i].Object
	}
	return l.begin(index)
}

// begin begins another item with an index.
func (l *List) begin(index int64) *Object {
	if len(l.items) == 0 || index >= l.next {
		l.next = index + 1
	}
	one := &item{index: index}
	if i := l.indices.find(index); i >= 0 {
		l.latest[i] = one
	} else {
		l.indices.add(index)
		l.latest = append(l.latest, one)
	}
	l.items = append(l.items, one)
	return &one.Object
}

// Sorted returns the items in the order of their index, and those of one index in the order of their first fragments.
func (l *List) Sorted() []*Object {
	byIndex := func(a, b *item) int { return cmp.Compare(a.index, b.index) }
	if !slices.IsSortedFunc(l.items, byIndex) {
		slices.SortStableFunc(l.items, byIndex)
	}
	sorted := make([]*Object, len(l.items))
	for i, one := range l.items {
		sorted[i] = &one.Object
	}
	return sorted
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
