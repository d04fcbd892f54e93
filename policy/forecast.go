package policy

import "slices"

// Forecaster is an Evictor that says which entries it would evict next if a new answer needed room now, and why. Both methods change
// nothing, as those of Persistent. A policy that draws its victims offers all residents by what it compares them by: what it evicts next is
// among those of the least worth, and which of these it is depends on the draw.
type Forecaster interface {
	// Forecast offers residents to f: in the order of their eviction, or, where f is to find the least worth of all, in any order. It
	// begins at the place from, 0 at first, looks at some ForecastStep entries at most, and returns the place where the next call goes on,
	// 0 after the last one. The policy may change between calls: what has moved meanwhile may be missing.
	Forecast(f *Forecast, from int) (next int)
	// Why is what the policy ranks the resident id by, in words; "" for an unknown ID.
	Why(id ID) string
}

// ForecastStep is how many entries a call of Forecast looks at, at most: its caller holds a lock meanwhile, for less than 1 ms.
const ForecastStep = 2048

// Forecast collects the entries that a Forecaster offers, and keeps those of the least worth; among equals those offered first.
type Forecast struct {
	most  int
	next  []foreseen
	seats map[ID]struct{} // of next
	named func(ID) (ID, bool)
}

type foreseen struct {
	id    ID
	worth float64
}

// NewForecast collects up to most entries.
func NewForecast(most int) *Forecast { return &Forecast{most: most, seats: map[ID]struct{}{}} }

// Most is how many entries f collects at most.
func (f *Forecast) Most() int { return f.most }

// Named is what f collects, offered by a policy inside another one that has other IDs for its entries: id gives that of the resident, false
// where there is none.
func (f *Forecast) Named(id func(ID) (ID, bool), use func(*Forecast)) {
	outer := f.named
	f.named = id
	defer func() { f.named = outer }()
	use(f)
}

// Offer takes id if it is worth less than what is there. It reports whether another one of this worth, or of more, would be taken: a policy
// that offers in order ends at the first false.
func (f *Forecast) Offer(id ID, worth float64) bool {
	if len(f.next) >= f.most && (f.most == 0 || !(worth < f.next[f.most-1].worth)) {
		return false
	}
	if f.named != nil {
		resident, ok := f.named(id)
		if !ok {
			return true
		}
		id = resident
	}
	if _, again := f.seats[id]; again {
		return true
	}
	at := len(f.next)
	for at > 0 && worth < f.next[at-1].worth {
		at--
	}
	f.next = slices.Insert(f.next, at, foreseen{id, worth})
	f.seats[id] = struct{}{}
	if len(f.next) > f.most {
		delete(f.seats, f.next[f.most].id)
		f.next = f.next[:f.most]
	}
	return len(f.next) < f.most || worth < f.next[f.most-1].worth
}

// Next are the entries in the order of their eviction.
func (f *Forecast) Next() []ID {
	ids := make([]ID, len(f.next))
	for i, x := range f.next {
		ids[i] = x.id
	}
	return ids
}
