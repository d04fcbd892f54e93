package store

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"reprise/policy"
)

// codec writes the fields of a form to b, or reads them from it: one method describes a form for both directions. Numbers are varints, floats
// 8 bytes; texts carry their length. After damaged bytes everything that is read is zero.
type codec struct {
	b       []byte // what was written so far, or what is left to read
	reading bool
	bad     bool
	labels  func([]byte) string // returns a copy of a label, which entries may share; nil makes one each time
}

// decode reads a whole body as a form.
func decode(what string, body []byte, form func(*codec)) error {
	c := codec{b: body, reading: true}
	form(&c)
	return c.done(what)
}

// done returns an error if the body was damaged, or if bytes are left over.
func (c *codec) done(what string) error {
	if c.bad || len(c.b) > 0 {
		return fmt.Errorf("read %s: %w", what, ErrDamaged)
	}
	return nil
}

// more reports whether a reader has bytes left: fields that were added to a form later stand at its end.
func (c *codec) more() bool { return c.reading && !c.bad && len(c.b) > 0 }

// take returns the next n bytes that are read.
func (c *codec) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.b)) {
		c.bad = true
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

// raw writes or reads bytes whose number is fixed.
func (c *codec) raw(p []byte) {
	if c.reading {
		copy(p, c.take(uint64(len(p))))
	} else {
		c.b = append(c.b, p...)
	}
}

func (c *codec) uint8(n *byte) {
	p := [1]byte{*n}
	c.raw(p[:])
	*n = p[0]
}

func (c *codec) uint32(n uint32) uint32 {
	var p [4]byte
	binary.LittleEndian.PutUint32(p[:], n)
	c.raw(p[:])
	return binary.LittleEndian.Uint32(p[:])
}

func (c *codec) uint64(n uint64) uint64 {
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], n)
	c.raw(p[:])
	return binary.LittleEndian.Uint64(p[:])
}

// float writes or reads a finite float.
func (c *codec) float(f *float64) {
	v := math.Float64frombits(c.uint64(math.Float64bits(*f)))
	if !c.reading {
		return
	}
	if *f = v; math.IsNaN(v) || math.IsInf(v, 0) {
		*f, c.bad = 0, true
	}
}

// bounded writes or reads a number from 0 to most.
func bounded[T ~int32 | ~int64 | ~uint64](c *codec, n *T, most uint64) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*n))
		return
	}
	v, size := binary.Uvarint(c.b)
	if *n = 0; c.bad || size <= 0 || v > most {
		c.bad = true
		return
	}
	*n, c.b = T(v), c.b[size:]
}

// signed writes or reads a number.
func signed[T ~int64](c *codec, n *T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*n))
		return
	}
	v, size := binary.Varint(c.b)
	if *n = 0; c.bad || size <= 0 {
		c.bad = true
		return
	}
	*n, c.b = T(v), c.b[size:]
}

// unsigned writes or reads a number that is not negative.
func unsigned[T ~uint64](c *codec, n *T) { bounded(c, n, math.MaxUint64) }

// bytes writes b, or returns what is read, which belongs to the body.
func (c *codec) bytes(b []byte) []byte {
	n := uint64(len(b))
	if unsigned(c, &n); c.reading {
		return c.take(n)
	}
	c.b = append(c.b, b...)
	return b
}

func (c *codec) text(s *string) {
	if c.reading {
		*s = string(c.bytes(nil))
		return
	}
	c.b = append(binary.AppendUvarint(c.b, uint64(len(*s))), *s...)
}

func (c *codec) time(t *time.Time) {
	sec, nsec := t.Unix(), int64(t.Nanosecond())
	signed(c, &sec)
	if bounded(c, &nsec, 1e9-1); c.reading && !c.bad {
		*t = time.Unix(sec, nsec)
	}
}

// labelsOf returns the labels of e to be written or read.
func (c *codec) labelsOf(e *Entry) *Labels {
	l := e.Labels
	if l == nil {
		l = &Labels{}
	}
	if c.reading {
		e.Labels = l
	}
	return l
}

// entry is the body of a KindEntry. An entry without its answer, which is elsewhere, has its size at the end, because that counts the answer.
func (c *codec) entry(e *Entry) {
	for _, p := range [...][]byte{e.Key[:], e.Scope[:], e.Chain[:], e.AnswerHash[:]} {
		c.raw(p)
	}
	l := c.labelsOf(e)
	for _, s := range [...]*string{&l.Tenant, &l.Namespace, &l.Model, &l.Endpoint} {
		if c.reading && c.labels != nil {
			*s = c.labels(c.bytes(nil))
		} else {
			c.text(s)
		}
	}
	c.text(&e.Prompt)
	if answer := c.bytes(e.Answer); c.reading {
		e.Answer = slices.Clone(answer)
	}
	bounded(c, &e.unpacked, maxUnpacked)
	unsigned(c, &e.Topic)
	unsigned(c, &e.Parent)
	signed(c, &e.InputTokens)
	signed(c, &e.OutputTokens)
	signed(c, &e.UpstreamTime)
	for _, t := range [...]*time.Time{&e.Created, &e.Expires, &e.StaleUntil} {
		c.time(t)
	}
	if len(e.Answer) == 0 && (c.more() || !c.reading && e.Size > 0) {
		bounded(c, &e.Size, math.MaxInt64)
	}
}

// spaceMark precedes every vector, so that one of another space is recognised even if the format record is lost.
func spaceMark(space string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(space))
	return h.Sum64()
}

// appendVector writes the body of a KindVector: the mark and all numbers or, where that is shorter, the inverted mark and how many numbers there
// are, and no zeros: a vector of a short text by the built-in embedder is mostly zeros.
func appendVector(b []byte, mark uint64, v []float32) []byte {
	if singles.saved(v) <= 4 {
		return singles.append(binary.LittleEndian.AppendUint64(b, mark), v, false)
	}
	b = binary.LittleEndian.AppendUint64(b, ^mark)
	return singles.append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v, true)
}

// decodeVector reads what appendVector has written; nil is a vector of another space.
func decodeVector(space string, body []byte) (v []float32, err error) {
	err = decode("vector", body, func(c *codec) {
		switch mark := c.uint64(0); mark {
		case spaceMark(space):
			v = c.numbers(singles, uint64(len(c.b)/4), false)
		case ^spaceMark(space):
			v = c.numbers(singles, uint64(c.uint32(0)), true)
		default:
			c.b = nil
		}
	})
	return v, err
}

// aliasForm is the first byte of a list of aliases with their bases. A list without it is of keys alone, as it was before aliases had a
// basis; its length is a multiple of 32, which the length of the newer form never is.
const aliasForm = 1

// aliases is the body of a KindAliases.
func (c *codec) aliases(all *[]alias) {
	if !c.reading {
		c.b = append(c.b, aliasForm)
		for _, a := range *all {
			c.raw(a.key[:])
			c.uint64(a.basis)
		}
		return
	}
	based, form := len(c.b)%32 != 0, byte(aliasForm)
	if based {
		c.uint8(&form)
	}
	for c.bad = c.bad || form != aliasForm; c.more(); {
		var a alias
		if c.raw(a.key[:]); based {
			a.basis = c.uint64(0)
		}
		*all = append(*all, a)
	}
}

// entryState is the state of an entry that each access changes. The policy's part is zero where the policy has none. Turn and
// anchor were added to the format later, at the end of this record: an older program skips the state, but not the answer.
type entryState struct {
	last   int64
	turn   int32
	anchor bool // of its topic
	policy policy.EntryState
}

// state is the body of a KindState.
func (c *codec) state(s *entryState) {
	signed(c, &s.last)
	unsigned(c, &s.policy.ID)
	unsigned(c, &s.policy.Parent)
	c.float(&s.policy.Freq)
	c.float(&s.policy.Dep)
	signed(c, &s.policy.Born)
	signed(c, &s.policy.Last)
	if s.turn > 0 || s.anchor || c.more() {
		bounded(c, &s.turn, math.MaxInt32)
	}
	if anchor := uint64(1); s.anchor || c.more() {
		unsigned(c, &anchor)
		s.anchor = anchor == 1
	}
}

// topic is the body of a KindTopic.
func (c *codec) topic(s *policy.TopicState) {
	c.float(&s.LogW)
	signed(c, &s.Last)
}

// counters are the numbers that continue after a restart.
type counters struct {
	seq      int64
	at       float64
	nextID   policy.ID
	maxTopic policy.TopicID
	purges   uint64 // was added to the format later
}

// counters is the body of a KindCounters.
func (c *codec) counters(n *counters) {
	signed(c, &n.seq)
	c.float(&n.at)
	unsigned(c, &n.nextID)
	unsigned(c, &n.maxTopic)
	if n.purges > 0 || c.more() {
		unsigned(c, &n.purges)
	}
}
