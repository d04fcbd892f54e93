package admin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"reprise/policy"
	"reprise/proxy/internal/apierror"
	"reprise/store"
)

// order is an order of entries: by a value, the highest first, then by id, the newest first.
type order struct {
	name  string
	value func(*store.Entry) int64 // nil: by id alone
}

// orders are all but evictsNext, which is the policy's; the first is the default.
var orders = []order{
	{"newest", nil},
	{"hits", func(e *store.Entry) int64 { return e.Use().Hits }},
	{"tokens_saved", func(e *store.Entry) int64 { return savedBy(e, e.Use()) }},
	{"last_used", func(e *store.Entry) int64 {
		use := e.Use()
		return max(use.Last.Unix(), 0)
	}},
	{"size", func(e *store.Entry) int64 { return int64(bytesOf(e)) }},
}

const evictsNext = "evicts-next"

func orderNamed(name string) (order, error) {
	names := []string{}
	for _, o := range orders {
		if name == o.name || name == "" {
			if o.value == nil {
				o.value = func(*store.Entry) int64 { return 0 }
			}
			return o, nil
		}
		names = append(names, o.name)
	}
	return order{}, apierror.BadRequest("invalid_parameter", "sort is "+apierror.Quote(name)+"; allowed are "+strings.Join(names, ", ")+" and "+evictsNext+".")
}

// place is where an entry is in an order.
type place struct {
	value int64
	id    policy.ID
}

// compare is negative where p comes before q.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(q.value, p.value), cmp.Compare(q.id, p.id))
}

// text is the last place of a page as a client sends it back: the id, or the value and the id.
func (o *order) text(p place) string {
	id := strconv.FormatUint(uint64(p.id), 10)
	if o.name == orders[0].name {
		return id
	}
	return strconv.FormatInt(p.value, 10) + "-" + id
}

// parse reads what text writes; "" is nil: the first page.
func (o *order) parse(text string) (*place, error) {
	if text == "" {
		return nil, nil
	}
	p, words := place{}, "a whole number from 1, the id of an entry"
	value, id := "0", text
	ok := true
	if o.name != orders[0].name {
		words = "the next of the page before, VALUE-ID"
		value, id, ok = strings.Cut(text, "-")
	}
	n, failed := strconv.ParseUint(id, 10, 64)
	v, bad := strconv.ParseInt(value, 10, 64)
	if p = (place{v, policy.ID(n)}); !ok || failed != nil || bad != nil || n == 0 {
		return nil, apierror.BadRequest("invalid_parameter", "before is "+apierror.Quote(text)+"; allowed with sort="+o.name+" is "+words+".")
	}
	return &p, nil
}

// first finds the first places of a page. It holds twice as many as the page at most.
type first struct {
	limit int
	found []place
	more  bool // some were left out
}

// offer takes p if it comes after the page before, which ends with after; nil: there is none.
func (f *first) offer(p place, after *place) {
	if after != nil && p.compare(*after) <= 0 {
		return
	}
	if f.found = append(f.found, p); len(f.found)/2 >= f.limit {
		f.cut()
	}
}

func (f *first) cut() {
	slices.SortFunc(f.found, place.compare)
	f.more = f.more || len(f.found) > f.limit
	f.found = f.found[:min(len(f.found), f.limit)]
}

// end is the page, and whether there is another one after it.
func (f *first) end() (page []place, more bool) {
	f.cut()
	return f.found, f.more
}
