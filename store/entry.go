package store

import (
	"encoding/binary"
	"time"

	"reprise/policy"
)

// Key is the SHA-256 of a canonical request: equal keys are the same request.
type Key [32]byte

// Short is the first 8 bytes of k as a number: the identity of an answer in policies. Among n keys two have
// the same one with a probability of n²/2^65.
func (k Key) Short() uint64 { return binary.LittleEndian.Uint64(k[:]) }

// Beside returns the key of the second answer to the request of k, in the form (a stream, an object) that the first one cannot be put into.
// Of that key it is k. The bits that differ are a constant: another request has that key no more likely than k itself.
func (k Key) Beside() Key {
	for i := range k {
		k[i] ^= 0x5a
	}
	return k
}

// An id of an entry or of a topic has 53 bits, so that every reader of JSON keeps it exact: the number of the process that made it, and
// below that counterBits of a count. Package topics makes topic ids in the same way.
const counterBits = 37

// ownID reports whether a process made an id.
func ownID[T ~uint64](process uint16, id T) bool { return uint64(id)>>counterBits == uint64(process) }

// firstID is the id before the first that a process makes.
func firstID(process uint16) policy.ID { return policy.ID(process) << counterBits }

// Scope is the digest of everything that two requests must have equal to share an answer.
type Scope [32]byte

// Labels are for listing and purging. Tenant is a digest, never a credential.
type Labels struct{ Tenant, Namespace, Model, Endpoint string }

// Entry is one stored answer. A caller fills it for Put and reads it afterwards. The store returns a new one each time, which never
// changes; its texts and slices belong to the store. It keeps times from 1678 to 2262, in nanoseconds, and up to 2^32-1 tokens; others
// become the nearest of these.
type Entry struct {
	ID    policy.ID // given by Put
	Key   Key
	Scope Scope
	Chain [32]byte // digest of the resolved conversation before the prompt

	*Labels // nil before Put: none. Entries with equal labels share them

	Prompt string
	// Vector is the prompt's, nil for an entry that is exact only. The store passes it to the backing and keeps no copy: it
	// is nil in every entry returned, except in those of Restored.
	Vector   []float32
	Topic    policy.TopicID
	Parent   policy.ID // at Put; the policy has later changes
	Turn     int32     // of its conversation, from 0
	unpacked int32     // length of the recording if Answer is packed or not in this process, else 0
	stored   *resident // nil before Put

	// Size is the size of the entry under a limit in bytes; with 0 Put computes it by Footprint. Aliases are counted beside it.
	Size int64

	// Answer is an encoded recording; read it with Recording, because the store may have packed it. It is nil in the entries of a
	// store with Options.Outside, except in that of the EventInsert of a Put.
	Answer     []byte
	AnswerHash [32]byte // of the answer's text: a later conversation that quotes it finds this entry

	InputTokens, OutputTokens int64
	UpstreamTime              time.Duration

	// Created is when the answer came, Expires until when it may be served as fresh, StaleUntil until when it may be
	// served instead of an error; a zero StaleUntil is Expires, a zero Expires is never.
	Created, Expires, StaleUntil time.Time
}

// The memory of an entry beside its texts and numbers, as BenchmarkFootprint measures it.
const (
	// entryOverhead is for the struct, its places in the maps of the store, and the policy's keeper: with rac+ some 820 bytes in a
	// store for 100,000, 1,050 for 50,000 and, where the shadows are as large as the cache, 1,170 for 20,000. The rest is room for
	// what no entry has alone: the dirty set, a batch on its way to the file, slices that grow.
	entryOverhead = 1536
	// vectorOverhead is for the entry of package topics that a vector has.
	vectorOverhead = 256
	// aliasSize is for the key and its basis, its place in the table of keys, and what both have in reserve.
	aliasSize = 160
)

// Footprint is the size of the entry under a limit in bytes: the answer as stored, the prompt, the labels, dim numbers of a vector,
// and a fixed sum for the keeper. Labels that entries share count for each of them, so that a size does not depend on others.
func (e *Entry) Footprint(dim int) int64 {
	size := entryOverhead + held(len(e.Answer)) + held(len(e.Prompt))
	if l := e.Labels; l != nil {
		size += int64(len(l.Tenant) + len(l.Namespace) + len(l.Model) + len(l.Endpoint))
	}
	if dim > 0 {
		size += vectorOverhead + int64(4*dim)
	}
	return size
}

// held returns the memory that n bytes take: Go's allocator rounds large sizes up to pages of 8 KiB, and smaller ones by a sixteenth on average.
func held(n int) int64 {
	const page, large = 8 << 10, 32 << 10
	if n > large {
		return int64(n+page-1) &^ (page - 1)
	}
	return int64(n + n/16)
}

// Fresh reports whether the entry may be served as it is.
func (e *Entry) Fresh(now time.Time) bool { return e.Expires.IsZero() || now.Before(e.Expires) }

// Usable reports whether the entry may be served at all, if only instead of an error.
func (e *Entry) Usable(now time.Time) bool { return e.Fresh(now) || now.Before(e.StaleUntil) }

// over reports whether an entry has been unusable for as long as it was fresh.
func (e *Entry) over(now time.Time) bool {
	end := e.Expires
	if e.StaleUntil.After(end) {
		end = e.StaleUntil
	}
	return !e.Usable(now) && !now.Before(end.Add(e.Expires.Sub(e.Created)))
}

// Use counts the requests that an entry has answered, however it was found. In a shared store it includes the requests at other processes that the
// log has.
type Use struct {
	Hits int64     // since its answer was stored, or since this process began, whichever came later
	Last time.Time // of the last one, to the second; zero where there was none
}

// Use returns how often the answer of e was used until now. It takes no lock.
func (e *Entry) Use() (u Use) {
	if e.stored == nil {
		return u
	}
	use := e.stored.use.Load()
	if u.Hits = int64(uint32(use)); u.Hits > 0 {
		if u.Last = time.Unix(int64(use>>32), 0); u.Last.Before(e.Created) { // in the same second
			u.Last = e.Created
		}
	}
	return u
}

// Same reports whether e and o, which a store returned, come from the same Put: a Put that replaces an answer is another one.
func (e *Entry) Same(o *Entry) bool { return e.stored != nil && e.stored == o.stored }

// SameAnswer reports whether e and o, of one id, have the same answer of the upstream, in this process or in others.
func (e *Entry) SameAnswer(o *Entry) bool {
	return e.Same(o) || e.Created.Equal(o.Created) && e.UpstreamTime == o.UpstreamTime && e.AnswerHash == o.AnswerHash
}

// AnswerOf reports whether e has the answer of o if one of them was fetched: a fetched entry has no hash of its answer.
func (e *Entry) AnswerOf(o *Entry) bool {
	return e.ID == o.ID && e.Created.Equal(o.Created) && e.UpstreamTime == o.UpstreamTime
}

// Recording returns the encoded recording; the caller must not change it. It unpacks large ones, some 1 ms per MiB. The error is
// ErrNoAnswer for an entry of a store with Options.Outside.
func (e *Entry) Recording() ([]byte, error) {
	if e.unpacked == 0 {
		return e.Answer, nil
	}
	if len(e.Answer) == 0 {
		return nil, ErrNoAnswer
	}
	return unpack(e.Answer, int(e.unpacked))
}

// RecordingSize is the length of the recording in bytes.
func (e *Entry) RecordingSize() int {
	if e.unpacked == 0 {
		return len(e.Answer)
	}
	return int(e.unpacked)
}
