package misses

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unique"
)

// record is an answer that was kept, or an answer that was not.
type record struct {
	own    uint64 // digest of what was asked, with tenant and namespace; 0: not kept
	asks   uint64
	place  uint64 // digest of what was asked, in its conversation and scope; 0: the conversation is not known
	behind uint64
	talk   uint64
	before uint64 // the number of the record before with the same own; 0: none
	id     uint64 // of the entry
	until  int64  // seconds since 1970: the end of its life
	owner  unique.Handle[owner]
	scope  *scope // nil: not kept
	reason uint16 // why it was not kept, or what has decided its life, in names
	gone   bool   // the entry has left
}

// owner is whose answers a client may be shown.
type owner struct{ tenant, namespace string }

func ownerOf(r *Request) unique.Handle[owner] { return unique.Make(owner{r.Tenant, r.Namespace}) }

// scope is one scope with what it is made of.
type scope struct {
	key   [32]byte
	refs  int // records
	size  int // bytes
	known bool
	parts []part // by name; they may be read without the lock
	texts []*text
}

// part is a Part with the number of its name.
type part struct {
	name   uint16
	digest uint32
}

// text is a text of system prompts. Equal ones are one.
type text struct {
	digest uint64
	part   uint16
	index  int
	refs   int // scopes
	used   uint64
	text   string // "": it was dropped to make room
}

// index is what is remembered of answers. Its oldest records go first.
type index struct {
	seed   maphash.Seed
	limit  int // bytes
	bytes  int
	ring   []record // of the numbers from first to next, each at its number modulo the length, a power of two
	first  uint64
	next   uint64
	owns   map[uint64]uint64 // own to the last record
	asked  map[uint64]uint64 // asks to the last record, of any tenant
	places map[uint64]uint64
	scopes map[[32]byte]*scope
	texts  map[uint64]*text
	words  int // bytes of texts

	names   []string // the number of a name is its place
	numbers map[string]uint16
}

// What records, scopes and texts take, with their places in maps. TestBounded measures what they add up to.
const (
	recordBytes = 248
	scopeBytes  = 240
	partBytes   = 8
	textBytes   = 160
	textsShare  = 4        // one in so many bytes is of texts, at most
	longestText = 16 << 10 // bytes of a text that are kept
	mostNames   = 4096
)

// MostTexts is how many texts of one system prompt are looked at: a request may have any number of them.
const MostTexts = 64

func newIndex(limit int) index {
	x := index{seed: maphash.MakeSeed(), limit: limit, first: 1, next: 1, owns: map[uint64]uint64{}, asked: map[uint64]uint64{}, places: map[uint64]uint64{},
		scopes: map[[32]byte]*scope{}, texts: map[uint64]*text{}, numbers: map[string]uint16{}}
	for _, name := range []string{"", partTenant, partNamespace, PartSystem, partTurns, partContext, PartMessage, PartRest, PartEndpoint, PartQuery, ByClient, ByRule} {
		x.number(name) // there is room for these, however many names clients choose
	}
	return x
}

// at is the record of a number, nil where it has gone.
func (x *index) at(n uint64) *record {
	if n < x.first || n >= x.next {
		return nil
	}
	return &x.ring[n&uint64(len(x.ring)-1)]
}

// number is that of a name. Beyond the first ones all names are one.
func (x *index) number(name string) uint16 {
	if n, ok := x.numbers[name]; ok {
		return n
	}
	if len(x.names) >= mostNames {
		return x.number(PartRest)
	}
	name = strings.Clone(name[:min(len(name), 256)])
	if n, ok := x.numbers[name]; ok {
		return n
	}
	n := uint16(len(x.names))
	x.names, x.numbers[name] = append(x.names, name), n
	return n
}

// own is the digest of what r asks, for its owner alone.
func (x *index) own(r *Request) uint64 {
	return x.mix(r.Asks, x.mix(maphash.String(x.seed, r.Tenant), maphash.String(x.seed, r.Namespace)))
}

// place is the digest of what r asks, in its conversation and scope.
func (x *index) place(r *Request) uint64 {
	return x.mix(x.mix(x.mix(r.Asks, r.Behind), r.Talk), maphash.Bytes(x.seed, r.Scope[:]))
}

func (x *index) mix(a, b uint64) uint64 { return maphash.Comparable(x.seed, [2]uint64{a, b}) }

func digest(seed maphash.Seed, s string) uint32 { return uint32(maphash.String(seed, s)) }

// partsOf are the parts of the scope of r, by the numbers of their names.
func (x *index) partsOf(r *Request, room []part) []part {
	all := append(room, part{x.number(partTenant), digest(x.seed, r.Tenant)}, part{x.number(partNamespace), digest(x.seed, r.Namespace)})
	for _, p := range r.Parts {
		all = append(all, part{x.number(p.Name), p.Digest})
	}
	slices.SortStableFunc(all, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return all
}

// differences appends the names of the parts that a and b do not have in common, and stops at most.
func differences(a, b []part, most int, names []uint16) []uint16 {
	for i, j := 0, 0; (i < len(a) || j < len(b)) && len(names) < most; {
		switch {
		case j == len(b) || i < len(a) && a[i].name < b[j].name:
			names = append(names, a[i].name)
			i++
		case i == len(a) || b[j].name < a[i].name:
			names = append(names, b[j].name)
			j++
		default:
			if a[i].digest != b[j].digest {
				names = append(names, a[i].name)
			}
			i, j = i+1, j+1
		}
	}
	return slices.Compact(names)
}

// add adds a record, and drops the oldest ones for which there is no more room.
func (x *index) add(r record) {
	if r.scope != nil {
		r.scope.refs++ // now: the oldest record may be the only other one that refers to it
	}
	for x.bytes+recordBytes > x.limit && x.first < x.next {
		x.drop()
	}
	if int(x.next-x.first) == len(x.ring) {
		x.grow()
	}
	n := x.next
	x.next++
	x.bytes += recordBytes
	if r.scope != nil {
		r.before = x.owns[r.own]
		x.owns[r.own], x.asked[r.asks] = n, n
	}
	if r.place != 0 {
		x.places[r.place] = n
	}
	*x.at(n) = r
}

// grow doubles the ring.
func (x *index) grow() {
	old, size := x.ring, max(64, 2*len(x.ring))
	x.ring = make([]record, size)
	for n := x.first; n < x.next; n++ {
		x.ring[n&uint64(size-1)] = old[n&uint64(len(old)-1)]
	}
}

// drop drops the oldest record.
func (x *index) drop() {
	n, r := x.first, x.at(x.first)
	for _, from := range []struct {
		of     map[uint64]uint64
		digest uint64
	}{{x.owns, r.own}, {x.asked, r.asks}, {x.places, r.place}} {
		if from.of[from.digest] == n {
			delete(from.of, from.digest)
		}
	}
	if r.scope != nil {
		x.release(r.scope)
	}
	*r = record{}
	x.bytes -= recordBytes
	x.first++
}

// release drops a scope that no record refers to any more.
func (x *index) release(s *scope) {
	if s.refs--; s.refs > 0 {
		return
	}
	delete(x.scopes, s.key)
	x.bytes -= s.size
	for _, t := range s.texts {
		if t.refs--; t.refs == 0 {
			x.forgetText(t)
			delete(x.texts, t.digest)
		}
	}
}

// scope is that of r, which is made where it is new, and gets its parts and texts where they were not known. It has a record soon.
func (x *index) scope(r *Request, texts []Text) *scope {
	s := x.scopes[r.Scope]
	if s != nil && (s.known || r.Parts == nil) {
		return s
	}
	if s == nil {
		s = &scope{key: r.Scope}
		x.scopes[s.key] = s
	}
	if s.known = r.Parts != nil; !s.known {
		texts = nil
	}
	s.parts = x.partsOf(r, make([]part, 0, len(r.Parts)+2))
	for i, t := range texts[:min(len(texts), MostTexts)] {
		at := 0
		for k := range texts[:i] {
			if texts[k].Part == t.Part {
				at++
			}
		}
		s.texts = append(s.texts, x.addText(t, at))
	}
	size := scopeBytes + len(s.parts)*partBytes + len(s.texts)*8
	x.bytes += size - s.size
	s.size = size
	return s
}

// addText returns the text that is t, the n-th of its part.
func (x *index) addText(t Text, n int) *text {
	head := t.Text[:min(len(t.Text), longestText)]
	number := x.number(t.Part)
	digest := x.mix(maphash.String(x.seed, head), uint64(number)<<32|uint64(n))
	one := x.texts[digest]
	if one == nil {
		one = &text{digest: digest, part: number, index: n}
		x.texts[digest] = one
		x.count(textBytes)
	}
	one.refs++
	one.used = x.next
	if one.text == "" && head != "" {
		one.text = strings.Clone(head)
		x.count(len(head))
		x.shrinkTexts(one)
	}
	return one
}

func (x *index) count(bytes int) { x.bytes, x.words = x.bytes+bytes, x.words+bytes }

// shrinkTexts drops those that were used the longest ago, half of all, where all take more than their share.
func (x *index) shrinkTexts(keep *text) {
	if x.words-len(x.texts)*textBytes <= x.limit/textsShare { // what a text takes beside its bytes stays
		return
	}
	all := make([]*text, 0, len(x.texts))
	for _, t := range x.texts {
		if t.text != "" && t != keep {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *text) int { return int(int64(a.used) - int64(b.used)) })
	for _, t := range all[:(len(all)+1)/2] {
		x.count(-len(t.text))
		t.text = ""
	}
}

// forgetText takes a text out of what is counted.
func (x *index) forgetText(t *text) { x.count(-len(t.text) - textBytes) }
