package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"reprise/policy"
)

// The form of entries and events in a store that several processes share. An entry is in two parts: its answer with what is needed to serve
// it, and a record of the rest with the vector, which an event of the log has too.

// What a record has, by the bits of its first byte.
const (
	wireChain = 1 << iota
	wireHash
	wireStale
	wireVector
	wireSparse
	wireEnd
)

// record is an entry without its answer, and its vector of a space, nil for none.
func (c *codec) record(e *Entry, vector *[]float32, space string) {
	at, flags := len(c.b), byte(0)
	for i, has := range [...]bool{e.Chain != [32]byte{}, e.AnswerHash != [32]byte{}, !e.StaleUntil.IsZero(), len(*vector) > 0} {
		if has {
			flags |= 1 << i
		}
	}
	c.uint8(&flags)
	c.bad = c.bad || flags >= wireEnd
	c.raw(e.Key[:])
	c.raw(e.Scope[:])
	if flags&wireChain != 0 {
		c.raw(e.Chain[:])
	}
	if flags&wireHash != 0 {
		c.raw(e.AnswerHash[:])
	}
	c.text(&e.Prompt)
	bounded(c, &e.Size, math.MaxInt64/2)
	recording := int32(e.RecordingSize())
	if bounded(c, &recording, maxUnpacked); c.reading {
		e.unpacked = recording
	}
	bounded(c, &e.Turn, math.MaxInt32)
	c.common(e, flags&wireStale != 0)
	if flags&wireVector != 0 {
		if sparse := c.vector(vector, flags&wireSparse != 0, space); sparse && !c.reading {
			c.b[at] |= wireSparse
		}
	}
}

// vectorRecord is the vector of an entry that lacked one.
func (c *codec) vectorRecord(vector *[]float32, space string) {
	at, flags := len(c.b), byte(0)
	c.uint8(&flags)
	c.bad = c.bad || flags&^wireSparse != 0
	if sparse := c.vector(vector, flags != 0, space); sparse && !c.reading {
		c.b[at] |= wireSparse
	}
}

// vector is a vector behind the mark of its space, in halves: vectors of different spaces are never compared. It is the end of a record. It
// returns whether zeros are left out, which a reader has from the flags. A vector of another space is read as nil.
func (c *codec) vector(v *[]float32, sparse bool, space string) bool {
	mark, n := c.uint64(spaceMark(space)), uint64(len(*v))
	unsigned(c, &n)
	if !c.reading {
		sparse = halves.saved(*v) > 0
		c.b = halves.append(c.b, *v, sparse)
		return sparse
	}
	numbers := c.numbers(halves, n, sparse)
	c.bad = c.bad || !toUnit(numbers)
	if !c.bad && mark == spaceMark(space) {
		*v = numbers
	}
	return sparse
}

// common is what an answer and a record have both.
func (c *codec) common(e *Entry, stale bool) {
	l := c.labelsOf(e)
	for _, s := range [...]*string{&l.Tenant, &l.Namespace, &l.Model, &l.Endpoint} {
		if c.reading {
			*s = c.label()
		} else {
			c.b = putLabel(c.b, *s)
		}
	}
	unsigned(c, &e.Topic)
	unsigned(c, &e.Parent)
	signed(c, &e.InputTokens)
	signed(c, &e.OutputTokens)
	signed(c, &e.UpstreamTime)
	created, expires, until := instantOf(e.Created), instantOf(e.Expires), instantOf(e.StaleUntil)
	c.after(&created, 0)
	c.after(&expires, created)
	if stale {
		c.after(&until, expires)
	}
	if !c.reading {
		return
	}
	e.Created, e.Expires = created.time(), expires.time()
	if stale {
		e.StaleUntil = until.time()
	}
}

// after is an instant as the difference from another.
func (c *codec) after(at *instant, from instant) {
	d := *at - from
	signed(c, &d)
	*at = from + d
}

// AppendRecord appends e without its answer, and its vector of a space; nil is none.
func AppendRecord(b []byte, e *Entry, vector []float32, space string) []byte {
	c := codec{b: b}
	c.record(e, &vector, space)
	return c.b
}

// decodeRecord decodes what AppendRecord has made; a vector of another space is left out. RecordingSize of the entry is that of its answer,
// which it lacks.
func decodeRecord(id policy.ID, b []byte, space string) (e *Entry, vector []float32, err error) {
	e = &Entry{ID: id}
	err = decode("record", b, func(c *codec) { c.record(e, &vector, space) })
	return e, vector, err
}

// RecordsIn yields what AppendRecord has made as the records of a Backing, a vector only where it is of a space.
func RecordsIn(id uint64, b []byte, space string, fn func(Record) error) error {
	e, vector, err := decodeRecord(policy.ID(id), b, space)
	if err != nil {
		return err
	}
	var c codec
	c.entry(e)
	if err := fn(Record{KindEntry, id, c.b}); err != nil || vector == nil {
		return err
	}
	return fn(Record{KindVector, id, appendVector(nil, spaceMark(space), vector)})
}

// VectorIn yields the vector of an EventVector as a record of a Backing, where it is of a space. b is what AppendEvents has returned as its
// record.
func VectorIn(id uint64, b []byte, space string, fn func(Record) error) error {
	var vector []float32
	if err := decode("vector", b, func(c *codec) { c.vectorRecord(&vector, space) }); err != nil || vector == nil {
		return err
	}
	return fn(Record{KindVector, id, appendVector(nil, spaceMark(space), vector)})
}

// wirePackAbove is the size from which an answer is packed where processes share it: a typical one takes half the memory of the server, and
// unpacking it takes a few µs of a call that takes a hundred.
const wirePackAbove = 512

// AppendAnswer appends the answer of e with what is needed to serve it. It packs the answer where it is not, some 4 ms per MiB.
func AppendAnswer(b []byte, e *Entry) []byte {
	answer, unpacked := e.Answer, int(e.unpacked)
	if unpacked == 0 && len(answer) > wirePackAbove {
		answer, unpacked = shorter(answer)
	}
	var flags byte
	if !e.StaleUntil.IsZero() {
		flags = wireStale
	}
	c := codec{b: append(slices.Grow(b, len(answer)+128), flags)}
	c.common(e, flags != 0)
	return append(binary.AppendUvarint(c.b, uint64(unpacked)), answer...)
}

// DecodeAnswer decodes what AppendAnswer has made. The answer may be a slice of b; one that a store would not pack is unpacked. Prompt, scope,
// chain and vector are in the record of the entry alone.
func DecodeAnswer(id policy.ID, key Key, b []byte) (*Entry, error) {
	c, e, flags := codec{b: b, reading: true}, &Entry{ID: id, Key: key}, byte(0)
	c.uint8(&flags)
	c.common(e, flags&wireStale != 0)
	bounded(&c, &e.unpacked, maxUnpacked)
	if c.bad || flags&^wireStale != 0 {
		return nil, fmt.Errorf("read answer: %w", ErrDamaged)
	}
	if e.Answer = c.b; e.unpacked == 0 || e.unpacked > packAbove {
		return e, nil
	}
	whole, err := e.Recording()
	if err != nil {
		return nil, err
	}
	e.unpacked, e.Answer = 0, whole
	return e, nil
}

// WithAnswer is e with the answer of another, which was fetched from where the answers of this store are, and its labels: they say whose it is.
func (e *Entry) WithAnswer(of *Entry) *Entry {
	whole := *e
	whole.Answer, whole.unpacked = of.Answer, of.unpacked
	if of.Labels != nil {
		whole.Labels = of.Labels
	}
	return &whole
}

// endpoints are paths of which an entry has a number instead of the text. A number is never used again for another path.
var endpoints = []string{"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/messages"}

// A label begins with a number: what remains of it when it is divided by 3 is its form, the rest is a length, or the place of a path.
const (
	labelText = iota
	labelHex  // of digests
	labelPath
	labelForms
)

// putLabel appends a label. An entry has its labels twice, so they are short: a digest in hexadecimal digits takes half of these.
func putLabel(b []byte, s string) []byte {
	if at := slices.Index(endpoints, s); at >= 0 {
		return binary.AppendUvarint(b, uint64(at)*labelForms+labelPath)
	}
	if digits, err := hex.DecodeString(s); err == nil && s != "" && !bytes.ContainsAny([]byte(s), "ABCDEF") {
		return append(binary.AppendUvarint(b, uint64(len(digits))*labelForms+labelHex), digits...)
	}
	return append(binary.AppendUvarint(b, uint64(len(s))*labelForms+labelText), s...)
}

func (c *codec) label() string {
	var n uint64
	unsigned(c, &n)
	switch n, form := n/labelForms, n%labelForms; {
	case form == labelHex:
		return hex.EncodeToString(c.take(n))
	case form == labelText:
		return string(c.take(n))
	case n < uint64(len(endpoints)):
		return endpoints[n]
	}
	c.bad = true
	return ""
}

// Span is a part of a slice of bytes.
type Span struct{ From, To int }

// AppendEvents appends events as one batch of the log has them, and returns where the records of inserted entries and of vectors are, in
// order. The vector of a request, its entry and weights are left out: who applies the events makes them again.
func AppendEvents(b []byte, evs []Event, space string) ([]byte, []Span) {
	c, records := codec{b: b}, []Span(nil)
	for _, ev := range evs {
		if record := c.event(&ev, space); record.To > 0 {
			records = append(records, record)
		}
	}
	return c.b, records
}

// DecodeEvents decodes what AppendEvents has made. Vectors of another space are left out.
func DecodeEvents(b []byte, space string) (evs []Event, err error) {
	c := codec{b: b, reading: true}
	for c.more() {
		var ev Event
		c.event(&ev, space)
		evs = append(evs, ev)
	}
	if err := c.done("event"); err != nil {
		return nil, err
	}
	return evs, nil
}

// event returns where the record of an event that is written is, if it has one.
func (c *codec) event(ev *Event, space string) (record Span) {
	kind, flags := byte(ev.Kind), byte(0)
	given := [...]*bool{&ev.Replaced, &ev.Refused, &ev.Searched}
	for i, set := range given {
		if *set {
			flags |= 1 << i
		}
	}
	c.uint8(&kind)
	c.uint8(&flags)
	for i, set := range given {
		*set = flags&(1<<i) != 0
	}
	c.bad = c.bad || flags >= 1<<len(given)
	ev.Kind = EventKind(kind)
	unsigned(c, &ev.ID)
	switch ev.Kind {
	case EventInsert:
		if c.tick(&ev.At); c.reading {
			ev.Entry = &Entry{ID: ev.ID}
		}
		return c.sized(func(c *codec) { c.record(ev.Entry, &ev.Vector, space) })
	case EventVector:
		return c.sized(func(c *codec) { c.vectorRecord(&ev.Vector, space) })
	case EventUse:
		c.tick(&ev.At)
		unsigned(c, &ev.Parent)
		unsigned(c, &ev.Detected)
	case EventArrive:
		c.tick(&ev.At)
		unsigned(c, &ev.Topic)
	case EventAlias:
		c.raw(ev.Key[:])
		ev.Basis = c.uint64(ev.Basis)
	case EventEvict, EventExpire, EventPurge:
		c.raw(ev.Key[:])
	case EventSample:
		ev.Sample = slices.Clone(c.bytes(ev.Sample))
	case EventAnchor:
	default:
		c.bad = true
	}
	return record
}

func (c *codec) tick(t *policy.Tick) {
	signed(c, &t.Seq)
	c.float(&t.At)
}

// sized is a part of a form behind its length. It returns where the part is that was written.
func (c *codec) sized(part func(*codec)) (at Span) {
	n := c.uint32(0)
	if c.reading {
		inner := codec{b: c.take(uint64(n)), reading: true, bad: c.bad}
		part(&inner)
		c.bad = c.bad || inner.done("part") != nil
		return at
	}
	at.From = len(c.b)
	part(c)
	at.To = len(c.b)
	binary.LittleEndian.PutUint32(c.b[at.From-4:], uint32(at.To-at.From))
	return at
}
