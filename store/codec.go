package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"reprise/policy"
)

// writing: the body of each kind, appended field by field. Numbers are varints, floats 8 bytes, strings and lists carry
// their length.

func putString[T ~string | ~[]byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putFloat(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

func putTime(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

// appendEntry writes an entry; one without its answer, which is elsewhere, has its size at the end, because that counts the answer.
func appendEntry(b []byte, e *Entry) []byte {
	b = append(b, e.Key[:]...)
	b = append(b, e.Scope[:]...)
	b = append(b, e.Chain[:]...)
	b = append(b, e.AnswerHash[:]...)
	var l Labels
	if e.Labels != nil {
		l = *e.Labels
	}
	for _, s := range [...]string{l.Tenant, l.Namespace, l.Model, l.Endpoint, e.Prompt} {
		b = putString(b, s)
	}
	b = putString(b, e.Answer)
	for _, n := range []uint64{uint64(e.unpacked), uint64(e.Topic), uint64(e.Parent)} {
		b = binary.AppendUvarint(b, n)
	}
	for _, n := range []int64{e.InputTokens, e.OutputTokens, int64(e.UpstreamTime)} {
		b = binary.AppendVarint(b, n)
	}
	for _, t := range []time.Time{e.Created, e.Expires, e.StaleUntil} {
		b = putTime(b, t)
	}
	if len(e.Answer) == 0 && e.Size > 0 {
		b = binary.AppendUvarint(b, uint64(e.Size))
	}
	return b
}

// spaceMark precedes every vector, so that one of another space is recognised even if the format record is lost.
func spaceMark(space string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(space))
	return h.Sum64()
}

// appendVector writes the mark and all numbers or, where that is shorter, the inverted mark, one bit for each number that is set where it
// is not 0, and those numbers: a vector of a short text by the built-in embedder is mostly zeros.
func appendVector(b []byte, mark uint64, v []float32) []byte {
	some := 0
	for _, f := range v {
		some += isSet(math.Float32bits(f))
	}
	if 4*some+len(v)/8+8 > 4*len(v) {
		b = binary.LittleEndian.AppendUint64(b, mark)
		for _, f := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b
	}
	b = binary.LittleEndian.AppendUint64(b, ^mark)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	mask, at := (len(v)+7)/8, len(b)
	b = slices.Grow(b, mask+4*some+4) // 4 more: a zero is written, too, and then written over
	clear(b[at : at+mask])
	sparse(b[at:at+mask], b[at+mask:at+mask+4*some+4], v)
	return b[:at+mask+4*some]
}

// sparse sets the bits of the numbers of v that are not 0 in mask, and writes these numbers. Zeros come at random, so it has no branch for
// them.
func sparse(mask, numbers []byte, v []float32) {
	n := 0
	for i, f := range v {
		bits := math.Float32bits(f)
		set := isSet(bits)
		binary.LittleEndian.PutUint32(numbers[n:], bits)
		mask[i/8] |= byte(set << (i % 8))
		n += 4 * set
	}
}

// isSet is 1 where any bit is set, else 0.
func isSet(bits uint32) int { return int((bits | -bits) >> 31) }

// aliasForm is the first byte of a list of aliases with their bases. A list without it is of keys alone, as it was before aliases had a
// basis; its length is a multiple of 32, which that of the newer form never is.
const aliasForm = 1

func appendAliases(b []byte, all []alias) []byte {
	b = append(b, aliasForm)
	for _, a := range all {
		b = binary.LittleEndian.AppendUint64(append(b, a.key[:]...), a.basis)
	}
	return b
}

// entryState is the state of an entry that each access changes. The policy's part is zero where the policy has none. Turn and
// anchor were added to the format later, at the end of this record: an older program skips the state, but not the answer.
type entryState struct {
	last   int64
	turn   int
	anchor bool // of its topic
	policy policy.EntryState
}

func appendState(b []byte, s entryState) []byte {
	b = binary.AppendVarint(b, s.last)
	b = binary.AppendUvarint(b, uint64(s.policy.ID))
	b = binary.AppendUvarint(b, uint64(s.policy.Parent))
	b = putFloat(putFloat(b, s.policy.Freq), s.policy.Dep)
	b = binary.AppendVarint(binary.AppendVarint(b, s.policy.Born), s.policy.Last)
	if s.turn > 0 || s.anchor {
		b = binary.AppendUvarint(b, uint64(s.turn))
	}
	if s.anchor {
		b = append(b, 1)
	}
	return b
}

func appendTopic(b []byte, s policy.TopicState) []byte {
	return binary.AppendVarint(putFloat(b, s.LogW), s.Last)
}

// counters are the numbers that continue after a restart.
type counters struct {
	seq      int64
	at       float64
	nextID   policy.ID
	maxTopic policy.TopicID
	purges   uint64
}

func appendCounters(b []byte, c counters) []byte {
	b = putFloat(binary.AppendVarint(b, c.seq), c.at)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.nextID)), uint64(c.maxTopic))
	if c.purges == 0 {
		return b // as a version reads it that has no count of purges
	}
	return binary.AppendUvarint(b, c.purges)
}

// reader decodes a body. After the first error everything is zero; done returns that error, and one for bytes left over.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) float() float64 {
	p := r.take(8)
	if p == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p))
}

// number is a finite float.
func (r *reader) number() float64 {
	f := r.float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.bad = true
		return 0
	}
	return f
}

func (r *reader) string() string { return string(r.take(r.uvarint())) }
func (r *reader) bytes() []byte  { return append([]byte(nil), r.take(r.uvarint())...) }

func (r *reader) digest() (d [32]byte) {
	copy(d[:], r.take(32))
	return d
}

func (r *reader) time() time.Time {
	sec, nsec := r.varint(), r.uvarint()
	if r.bad || nsec >= 1e9 {
		r.bad = true
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec))
}

func (r *reader) done(what string) error {
	if r.bad || len(r.b) > 0 {
		return fmt.Errorf("read %s: %w", what, ErrDamaged)
	}
	return nil
}

// decodeEntry decodes an entry; label returns a copy of a label that may be shared.
func decodeEntry(id uint64, body []byte, label func([]byte) string) (Entry, error) {
	r := reader{b: body}
	e := Entry{ID: policy.ID(id)}
	e.Key, e.Scope, e.Chain, e.AnswerHash = r.digest(), r.digest(), r.digest(), r.digest()
	e.Labels = &Labels{}
	for _, p := range []*string{&e.Tenant, &e.Namespace, &e.Model, &e.Endpoint} {
		*p = label(r.take(r.uvarint()))
	}
	e.Prompt, e.Answer = r.string(), r.bytes()
	unpacked := r.uvarint()
	r.bad = r.bad || unpacked > maxUnpacked
	e.unpacked = int32(min(unpacked, maxUnpacked))
	e.Topic, e.Parent = policy.TopicID(r.uvarint()), policy.ID(r.uvarint())
	e.InputTokens, e.OutputTokens, e.UpstreamTime = r.varint(), r.varint(), time.Duration(r.varint())
	e.Created, e.Expires, e.StaleUntil = r.time(), r.time(), r.time()
	if len(e.Answer) == 0 && len(r.b) > 0 {
		size := r.uvarint()
		r.bad = r.bad || size > math.MaxInt64
		e.Size = int64(size)
	}
	return e, r.done("entry")
}

// errSpace is that of a vector of another space.
var errSpace = errors.New("vector of another space")

func decodeVector(space string, body []byte) ([]float32, error) {
	if len(body) < 12 {
		return nil, fmt.Errorf("read vector: %w", ErrDamaged)
	}
	switch mark := spaceMark(space); binary.LittleEndian.Uint64(body) {
	case mark:
		return decodeNumbers(body[8:], nil, (len(body)-8)/4)
	case ^mark:
		return decodeSparse(body[8:])
	}
	return nil, errSpace
}

func decodeSparse(body []byte) ([]float32, error) {
	n := binary.LittleEndian.Uint32(body)
	body = body[4:]
	mask := (uint64(n) + 7) / 8
	if n == 0 || mask > uint64(len(body)) {
		return nil, fmt.Errorf("read vector: %w", ErrDamaged)
	}
	return decodeNumbers(body[mask:], body[:mask], int(n))
}

// decodeNumbers reads n numbers; those whose bit in mask is not set are 0. A nil mask has all bits set.
func decodeNumbers(body, mask []byte, n int) ([]float32, error) {
	v := make([]float32, n)
	for i := range v {
		if mask != nil && mask[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if len(body) < 4 {
			return nil, fmt.Errorf("read vector: %w", ErrDamaged)
		}
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(body))
		body = body[4:]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("read vector: %w", ErrDamaged)
	}
	return v, nil
}

func decodeAliases(body []byte) ([]alias, error) {
	r := reader{b: body}
	var all []alias
	based := len(body)%32 != 0
	r.bad = based && r.byte() != aliasForm
	for len(r.b) > 0 && !r.bad {
		a := alias{key: r.digest()}
		if based {
			a.basis = r.uint64()
		}
		all = append(all, a)
	}
	return all, r.done("aliases")
}

func decodeState(body []byte) (entryState, error) {
	r := reader{b: body}
	s := entryState{last: r.varint()}
	s.policy.ID, s.policy.Parent = policy.ID(r.uvarint()), policy.ID(r.uvarint())
	s.policy.Freq, s.policy.Dep = r.number(), r.number()
	s.policy.Born, s.policy.Last = r.varint(), r.varint()
	if len(r.b) > 0 {
		turn := r.uvarint()
		r.bad = r.bad || turn > math.MaxInt32
		s.turn = int(turn)
	}
	if len(r.b) > 0 {
		s.anchor = r.uvarint() == 1
	}
	return s, r.done("state")
}

func decodeTopic(id uint64, body []byte) (policy.TopicState, error) {
	r := reader{b: body}
	s := policy.TopicState{ID: policy.TopicID(id), LogW: r.number(), Last: r.varint()}
	return s, r.done("topic")
}

func decodeCounters(body []byte) (counters, error) {
	r := reader{b: body}
	c := counters{seq: r.varint(), at: r.number(), nextID: policy.ID(r.uvarint()), maxTopic: policy.TopicID(r.uvarint())}
	if len(r.b) > 0 {
		c.purges = r.uvarint()
	}
	return c, r.done("counters")
}
