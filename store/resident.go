package store

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"reprise/policy"
)

// resident is an entry as the store holds it: 208 bytes beside its texts, where an Entry has 344. Only last, use and more change; a new answer
// makes a new resident.
type resident struct {
	Key        Key
	AnswerHash [32]byte
	of         *origin // shared
	Prompt     string
	Answer     []byte

	ID           policy.ID
	Topic        policy.TopicID
	Parent       policy.ID
	Size         int64
	UpstreamTime time.Duration

	created, expires instant
	input, output    uint32 // tokens
	Turn             int32
	unpacked         int32

	last int64         // Seq of the last access: a restart inserts entries in this order
	use  atomic.Uint64 // see used; it is written under the lock of the store, and read without
	more *rare         // nil for most entries
}

// origin holds what many entries have in common.
type origin struct {
	scope  Scope
	labels Labels
}

// rare holds what few entries have.
type rare struct {
	chain      [32]byte // never changes
	staleUntil instant  // never changes; 0 is the zero time
	aliases    []alias  // oldest first
}

// alias is another key of an entry.
type alias struct {
	key   Key
	basis uint64 // as given to Store.Alias
}

// instant is a time in nanoseconds since 1970; times that an int64 cannot hold become the nearest one.
type instant int64

const noInstant instant = math.MinInt64 // the zero time

func instantOf(t time.Time) instant {
	const seconds = math.MaxInt64/int64(time.Second) - 1
	switch at := t.Unix(); {
	case t.IsZero():
		return noInstant
	case at > seconds:
		return math.MaxInt64
	case at < -seconds:
		return noInstant + 1
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == noInstant {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}

// residentOf copies e without sharing memory with the request it came from: a prompt that is a slice of a body would keep the whole body in
// memory. It packs a large answer. dim is the length of the vector that an entry gets later if it has a prompt and no vector yet.
func residentOf(e *Entry, last int64, dim int) *resident {
	r := compact(e)
	r.last, r.Prompt = last, strings.Clone(e.Prompt)
	if r.unpacked == 0 {
		packed, n := pack(e.Answer)
		r.Answer, r.unpacked = packed, int32(n)
	}
	if cap(r.Answer) > len(r.Answer)+len(r.Answer)/8 {
		r.Answer = slices.Clone(r.Answer)
	}
	if r.Size == 0 {
		r.Size = r.footprint(dimOf(e.Prompt, e.Vector, dim))
	}
	return r
}

// dimOf returns the length of the vector that an entry has, or gets later because it has a prompt.
func dimOf(prompt string, vector []float32, dim int) int {
	if len(vector) > 0 || prompt == "" {
		return len(vector)
	}
	return dim
}

// compact returns e as a resident that shares its texts.
func compact(e *Entry) *resident {
	r := &resident{
		Key: e.Key, AnswerHash: e.AnswerHash, of: &origin{scope: e.Scope}, Prompt: e.Prompt, Answer: e.Answer,
		ID: e.ID, Topic: e.Topic, Parent: e.Parent, Size: e.Size, UpstreamTime: e.UpstreamTime,
		created: instantOf(e.Created), expires: instantOf(e.Expires),
		input: tokens(e.InputTokens), output: tokens(e.OutputTokens), Turn: e.Turn, unpacked: e.unpacked,
	}
	if e.Labels != nil {
		r.of.labels = *e.Labels
	}
	r.setChain(e.Chain)
	if !e.StaleUntil.IsZero() {
		if r.more == nil {
			r.more = &rare{}
		}
		r.more.staleUntil = cmp.Or(instantOf(e.StaleUntil), 1)
	}
	return r
}

func tokens(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// rare returns r.more, nil if r is nil.
func (r *resident) rare() *rare {
	if r == nil {
		return nil
	}
	return r.more
}

// entry returns r as callers see it. more is r.more, read under the lock; entry itself needs no lock.
func (r *resident) entry(more *rare) *Entry {
	e := &Entry{
		stored: r, ID: r.ID, Key: r.Key, Scope: r.of.scope, Labels: &r.of.labels, Prompt: r.Prompt, Topic: r.Topic, Parent: r.Parent, Turn: r.Turn,
		unpacked: r.unpacked, Size: r.Size, Answer: r.Answer, AnswerHash: r.AnswerHash, InputTokens: int64(r.input), OutputTokens: int64(r.output),
		UpstreamTime: r.UpstreamTime, Created: r.created.time(), Expires: r.expires.time(),
	}
	if more != nil {
		e.Chain, e.StaleUntil = more.chain, more.stale()
	}
	return e
}

// footprint returns Entry.Footprint with a vector of dim numbers.
func (r *resident) footprint(dim int) int64 {
	return (&Entry{Answer: r.Answer, Prompt: r.Prompt, Labels: &r.of.labels}).Footprint(dim)
}

// life returns an entry that has the times of r alone.
func (r *resident) life() Entry {
	return Entry{Created: r.created.time(), Expires: r.expires.time(), StaleUntil: r.more.stale()}
}

// size returns what the entry takes with its aliases.
func (r *resident) size() int64 { return r.Size + aliasSize*int64(len(r.aliases())) }

func (r *resident) aliases() []alias {
	if r.more == nil {
		return nil
	}
	return r.more.aliases
}

func (r *resident) setAliases(all []alias) {
	if r.more == nil {
		r.more = &rare{}
	}
	r.more.aliases = all
}

// alias returns the place of k among the aliases of r, or -1.
func (r *resident) alias(k Key) int {
	return slices.IndexFunc(r.aliases(), func(a alias) bool { return a.key == k })
}

func (r *resident) chain() (c [32]byte) {
	if r.more != nil {
		c = r.more.chain
	}
	return c
}

// setChain sets the chain of a resident that is not in a table yet.
func (r *resident) setChain(c [32]byte) {
	if c != r.chain() {
		more := &rare{chain: c, aliases: r.aliases()}
		if r.more != nil {
			more.staleUntil = r.more.staleUntil
		}
		r.more = more
	}
}

// stale returns staleUntil as a time; the zero time if x is nil.
func (x *rare) stale() time.Time {
	if x == nil || x.staleUntil == 0 {
		return time.Time{}
	}
	return x.staleUntil.time()
}

// used counts a use of r at a time in seconds since 1970. The low half of r.use is the number of uses, the high half the second of the last
// one, until 2106.
func (r *resident) used(at float64) {
	hits := uint32(r.use.Load())
	if hits < math.MaxUint32 {
		hits++
	}
	r.use.Store(uint64(min(max(at, 0), math.MaxUint32))<<32 | uint64(hits))
}

// item describes the entry to the policy.
func (r *resident) item() policy.Item {
	return policy.Item{
		ID: r.ID, Key: policy.KeyOf(r.Key.Short(), Key(r.of.scope).Short()), Topic: r.Topic, Parent: r.Parent,
		Size: r.size(), Cost: float64(r.input) + float64(r.output), Offset: int(r.Turn),
	}
}
