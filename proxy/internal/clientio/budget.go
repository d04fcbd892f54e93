package clientio

import "sync/atomic"

// smallCharge is the charge in bytes for a request with a small body: the body, a header of up to 8 KiB, and what reading both takes.
const smallCharge = 32 << 10

// CallCharge is the charge in bytes for an upstream call: its goroutines, its connection, its buffers and a short answer.
const CallCharge = 64 << 10

// kind is what memory is charged for.
type kind uint8

const (
	bodies     kind = iota // of requests, and what is read from them
	recordings             // of answers that are under way
	kinds
)

var kindNames = [kinds]string{"bodies", "recordings"}

// The eighths of the limit that charges may reach.
const (
	callEighths   = 5
	growthEighths = 6
	smallEighths  = 7
)

// MostEntries is the largest capacity of a store that fits a limit: half of it, so that new calls go on beside a full store.
func MostEntries(limit int64) int64 { return limit / 2 }

// Budget divides one limit of memory between request bodies, recordings of answers and stored entries.
//
// It counts what is charged to it and measures nothing. The shares of the limit that charges may reach differ, so that the
// proxy does first without what costs it least: new upstream calls end at 5/8 of the limit, bodies over 32 KiB and the growth
// of recordings at 6/8, and the small bodies of which hits are made at 7/8. The last eighth is for the rest:
// connections, the runtime, and garbage that has not been collected yet. All methods are safe for concurrent use; a charge takes no lock.
type Budget struct {
	limit   int64 // bytes; 0 is none
	entries func() int64

	used    [kinds]atomic.Int64
	refused atomic.Int64
}

// NewBudget returns a budget of limit bytes, 0 for none. entries returns the bytes that the store holds; it is called for each charge, and
// should take no lock.
func NewBudget(limit int64, entries func() int64) *Budget {
	return &Budget{limit: limit, entries: entries}
}

// Limit returns the limit in bytes, 0 if there is none.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns how many bytes are charged, by what they are for: bodies, recordings and entries.
func (b *Budget) Used() map[string]int64 {
	used := map[string]int64{"entries": b.entries()}
	for k, name := range kindNames {
		used[name] = b.used[k].Load()
	}
	return used
}

// Refused returns how many pieces of work were refused so far.
func (b *Budget) Refused() int64 { return b.refused.Load() }

// Begin charges [Call] bytes of recordings for an upstream call, and reports whether there is room for it; the caller must then
// End it. A refusal is counted.
func (b *Budget) Begin() bool {
	if b.charge(recordings, CallCharge, callEighths) {
		return true
	}
	b.refused.Add(1)
	return false
}

// End takes back the charge of a call that Begin allowed.
func (b *Budget) End() { b.used[recordings].Add(-CallCharge) }

// Hold charges n bytes of recordings until release is called, and reports whether there is room for them. Few bytes are not
// charged: the charge of a call covers them.
func (b *Budget) Hold(n int64) (room bool, release func()) {
	if n <= CallCharge {
		return true, func() {}
	}
	account := b.Account()
	return account.Reserve(n), func() { account.Release(n) }
}

// Account returns the account of recordings, for a package that needs no more of the budget.
func (b *Budget) Account() *Account { return &Account{b} }

func (b *Budget) total() int64 {
	total := b.entries()
	for i := range b.used {
		total += b.used[i].Load()
	}
	return total
}

// charge adds n bytes if the total then stays within eighths of the limit.
func (b *Budget) charge(k kind, n, eighths int64) bool {
	b.used[k].Add(n)
	if b.limit == 0 || b.total() <= b.limit/8*eighths {
		return true
	}
	b.used[k].Add(-n)
	return false
}

// Account charges the memory of recordings.
type Account struct{ b *Budget }

// Reserve charges n bytes more, and reports whether there is room for them. If there is not, nothing is charged.
func (a *Account) Reserve(n int64) bool { return a.b.charge(recordings, n, growthEighths) }

// Release takes back a charge of n bytes.
func (a *Account) Release(n int64) { a.b.used[recordings].Add(-n) }

// Lease is the charge of one request. It has one holder at first; a flight that goes on without the request is another.
type Lease struct {
	b       *Budget
	n       atomic.Int64
	holders atomic.Int32
}

// Lease charges 32 KiB bytes for a request whose body is still to be read, and its header's bytes beyond 8 KiB twice (once as they
// came, once as names and values). It reports whether there is room for them; the caller must then Drop the lease.
func (b *Budget) Lease(header int64) (*Lease, bool) {
	n := smallCharge + 2*max(header-8<<10, 0)
	if !b.charge(bodies, n, smallEighths) {
		b.refused.Add(1)
		return nil, false
	}
	l := &Lease{b: b}
	l.n.Store(n)
	l.holders.Store(1)
	return l, true
}

// Grow charges n bytes more, and reports whether there is room for them. A refusal is counted.
func (l *Lease) Grow(n int64) bool { return l.grow(n, growthEighths) }

// GrowForHit is Grow for a stored answer, for which there is room as long as for a small body.
func (l *Lease) GrowForHit(n int64) bool { return l.grow(n, smallEighths) }

func (l *Lease) grow(n, eighths int64) bool {
	if !l.b.charge(bodies, n, eighths) {
		l.b.refused.Add(1)
		return false
	}
	l.n.Add(n)
	return true
}

// Shrink takes back n bytes of what was charged.
func (l *Lease) Shrink(n int64) {
	l.n.Add(-n)
	l.b.used[bodies].Add(-n)
}

// Hold adds a holder, who must Drop the lease too. The caller is a holder.
func (l *Lease) Hold() { l.holders.Add(1) }

// Drop removes a holder. The last one takes back the charge.
func (l *Lease) Drop() {
	if l.holders.Add(-1) == 0 {
		l.b.used[bodies].Add(-l.n.Load())
	}
}
