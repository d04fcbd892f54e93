package admin

import (
	"strconv"

	"reprise/store"
)

// mostNext is how many entries are foreseen: what goes later depends on the requests until then.
const mostNext = 200

// listNext lists matching entries in the order in which the policy evicts them, after those of the page before, which ended with the place
// before.
func (a *admin) listNext(match func(*store.Entry) bool, before string, limit int) (any, error) {
	from := 0
	if before != "" {
		n, err := strconv.Atoi(before)
		if err != nil || n < 1 {
			return nil, badParam("before", before, "allowed with sort="+evictsNext+" is a whole number from 1, a place in that order.")
		}
		from = n
	}
	a.settle()
	next, says := a.Entries.Ranks().Next(mostNext)
	l := entryList{Entries: []entryView{}, Counted: countedOf(a.Shared != nil), Words: nextWords(a, says)}
	for i, x := range next {
		e, ok := a.Entries.Get(x.ID)
		if !ok || !match(e) {
			continue
		}
		l.Total++
		switch {
		case i < from:
		case len(l.Entries) == limit:
			l.Next = strconv.Itoa(l.Entries[limit-1].EvictsNext)
		default:
			v := viewOf(e)
			v.EvictsNext, v.Why = i+1, x.Why
			l.Entries = append(l.Entries, v)
		}
	}
	return l, nil
}

// nextWords says what the order means.
func nextWords(a *admin, says bool) string {
	if !says {
		return "The policy " + a.Policy + " does not say what it evicts next: it draws its victims, or decides when it evicts."
	}
	words := "In this order the policy " + a.Policy + " evicts, if room is needed before the next request; " + strconv.Itoa(mostNext) +
		" entries at most are foreseen. A policy that draws its victims among a sample takes one of the first ones."
	if a.Shared == nil {
		return words
	}
	if s := a.Shared(); !s.Keeper {
		words += " Another process decides evictions for all that share the store (GET /admin/shared); this is the order of this one."
	}
	return words
}
