package admin

import (
	"cmp"
	"strconv"
	"strings"

	"reprise/policy"
	"reprise/store"
)

// order is an order of a list by a value, the highest first.
type order[T any] struct {
	name  string
	value func(T) float64
}

// orders are those of entries, but for evictsNext, which the policy has; the first is the default. Entries of equal value go by id, the newest
// first.
var orders = []order[*store.Entry]{
	{"newest", func(*store.Entry) float64 { return 0 }},
	{"hits", func(e *store.Entry) float64 { return float64(e.Use().Hits) }},
	{"tokens_saved", func(e *store.Entry) float64 { return float64(savedBy(e, e.Use())) }},
	{"last_used", func(e *store.Entry) float64 { return float64(max(e.Use().Last.Unix(), 0)) }},
	{"size", func(e *store.Entry) float64 { return float64(bytesOf(e)) }},
}

const evictsNext = "evicts-next"

// orderNamed returns the order of a name, for "" the first one. An error names them all, and at its end what else is allowed.
func orderNamed[T any](all []order[T], name, other string) (order[T], error) {
	names := []string{}
	for _, o := range all {
		if name == o.name || name == "" {
			return o, nil
		}
		names = append(names, o.name)
	}
	return order[T]{}, badParam("sort", name, "allowed are "+strings.Join(names, ", ")+other+".")
}

// place is where an entry is in an order.
type place struct {
	value float64 // a whole number
	id    policy.ID
}

// compare is negative where p comes before q.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(q.value, p.value), cmp.Compare(q.id, p.id))
}

// text writes the last place of a page as a client sends it back: the id, or the value and the id.
func (p place) text(sort string) string {
	id := strconv.FormatUint(uint64(p.id), 10)
	if sort == orders[0].name {
		return id
	}
	return strconv.FormatInt(int64(p.value), 10) + "-" + id
}

// parsePlace reads what text writes; "" is nil: the first page.
func parsePlace(sort, text string) (*place, error) {
	if text == "" {
		return nil, nil
	}
	p, words := place{}, "a whole number from 1, the id of an entry"
	value, id := "0", text
	ok := true
	if sort != orders[0].name {
		words = "the next of the page before, VALUE-ID"
		value, id, ok = strings.Cut(text, "-")
	}
	n, failed := strconv.ParseUint(id, 10, 64)
	v, bad := strconv.ParseInt(value, 10, 64)
	if p = (place{float64(v), policy.ID(n)}); !ok || failed != nil || bad != nil || n == 0 {
		return nil, badParam("before", text, "allowed with sort="+sort+" is "+words+".")
	}
	return &p, nil
}
