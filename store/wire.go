package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"reprise/policy"
)

// The form of entries and events in a store that several processes share. An entry is in two parts: its answer with what is needed to serve
// it, and a record of the rest with the vector, which an event of the log has too. Numbers of vectors are halves: see appendHalves.

// What a record has, by the bits of its first byte.
const (
	wireChain = 1 << iota
	wireHash
	wireStale
	wireVector
	wireSparse
	wireEnd
)

// AppendRecord appends e without its answer, and its vector of a space; nil is none.
func AppendRecord(b []byte, e *Entry, vector []float32, space string) []byte {
	at := len(b)
	b = append(append(append(b, 0), e.Key[:]...), e.Scope[:]...)
	if e.Chain != [32]byte{} {
		b[at] |= wireChain
		b = append(b, e.Chain[:]...)
	}
	if e.AnswerHash != [32]byte{} {
		b[at] |= wireHash
		b = append(b, e.AnswerHash[:]...)
	}
	b = putString(b, e.Prompt)
	for _, n := range []uint64{uint64(e.Size), uint64(e.RecordingSize()), uint64(e.Turn)} {
		b = binary.AppendUvarint(b, n)
	}
	if !e.StaleUntil.IsZero() {
		b[at] |= wireStale
	}
	b = putCommon(b, e)
	if len(vector) > 0 {
		b[at] |= wireVector
		var sparse bool
		if b, sparse = appendMarked(b, vector, space); sparse {
			b[at] |= wireSparse
		}
	}
	return b
}

// appendVectorRecord appends the vector of an entry that lacked one.
func appendVectorRecord(b []byte, vector []float32, space string) []byte {
	at := len(b)
	b, sparse := appendMarked(append(b, 0), vector, space)
	if sparse {
		b[at] = wireSparse
	}
	return b
}

func decodeVectorRecord(b []byte, space string) ([]float32, error) {
	r := reader{b: b}
	flags := r.byte()
	r.bad = r.bad || flags&^wireSparse != 0
	vector := r.marked(flags&wireSparse != 0, space)
	return vector, r.done("vector")
}

// VectorIn yields the vector of an EventVector as a record of a Backing, where it is of a space. b is what AppendEvents has returned as its
// record.
func VectorIn(id uint64, b []byte, space string, fn func(Record) error) error {
	vector, err := decodeVectorRecord(b, space)
	if err != nil || vector == nil {
		return err
	}
	return fn(Record{KindVector, id, appendVector(nil, spaceMark(space), vector)})
}

// appendMarked appends a vector behind the mark of its space: those of another one are never compared with it.
func appendMarked(b []byte, vector []float32, space string) (_ []byte, sparse bool) {
	return appendHalves(binary.LittleEndian.AppendUint64(b, spaceMark(space)), vector)
}

// marked reads what appendMarked has appended, which must be all that is left; nil is a vector of another space.
func (r *reader) marked(sparse bool, space string) []float32 {
	mark, v := r.uint64(), r.halves(sparse)
	if r.bad || mark != spaceMark(space) {
		return nil
	}
	return v
}

// putCommon appends what an answer and a record have both.
func putCommon(b []byte, e *Entry) []byte {
	var l Labels
	if e.Labels != nil {
		l = *e.Labels
	}
	for _, s := range [...]string{l.Tenant, l.Namespace, l.Model, l.Endpoint} {
		b = putLabel(b, s)
	}
	for _, n := range []uint64{uint64(e.Topic), uint64(e.Parent)} {
		b = binary.AppendUvarint(b, n)
	}
	created, expires := instantOf(e.Created), instantOf(e.Expires)
	for _, n := range []int64{e.InputTokens, e.OutputTokens, int64(e.UpstreamTime), int64(created), int64(expires - created)} {
		b = binary.AppendVarint(b, n)
	}
	if !e.StaleUntil.IsZero() {
		b = binary.AppendVarint(b, int64(instantOf(e.StaleUntil)-expires))
	}
	return b
}

// readCommon reads what putCommon has appended.
func (r *reader) readCommon(e *Entry, stale bool) {
	e.Labels = &Labels{}
	for _, p := range []*string{&e.Tenant, &e.Namespace, &e.Model, &e.Endpoint} {
		*p = r.label()
	}
	e.Topic, e.Parent = policy.TopicID(r.uvarint()), policy.ID(r.uvarint())
	e.InputTokens, e.OutputTokens, e.UpstreamTime = r.varint(), r.varint(), time.Duration(r.varint())
	created := instant(r.varint())
	expires := created + instant(r.varint())
	e.Created, e.Expires = created.time(), expires.time()
	if stale {
		e.StaleUntil = (expires + instant(r.varint())).time()
	}
}

// DecodeRecord decodes what AppendRecord has made; a vector of another space is left out. RecordingSize of the entry is that of its answer,
// which it lacks.
func DecodeRecord(id policy.ID, b []byte, space string) (*Entry, []float32, error) {
	r := reader{b: b}
	flags := r.byte()
	e := &Entry{ID: id, Key: r.digest(), Scope: r.digest()}
	if flags&wireChain != 0 {
		e.Chain = r.digest()
	}
	if flags&wireHash != 0 {
		e.AnswerHash = r.digest()
	}
	e.Prompt = r.string()
	size, recording, turn := r.uvarint(), r.uvarint(), r.uvarint()
	r.bad = r.bad || flags >= wireEnd || size > math.MaxInt64/2 || recording > maxUnpacked || turn > math.MaxInt32
	if r.bad {
		return nil, nil, r.done("record")
	}
	e.Size, e.unpacked, e.Turn = int64(size), int32(recording), int32(turn)
	r.readCommon(e, flags&wireStale != 0)
	if flags&wireVector == 0 || r.bad {
		return e, nil, r.done("record")
	}
	vector := r.marked(flags&wireSparse != 0, space)
	return e, vector, r.done("record")
}

// RecordsIn yields what AppendRecord has made as the records of a Backing, a vector only where it is of a space.
func RecordsIn(id uint64, b []byte, space string, fn func(Record) error) error {
	e, vector, err := DecodeRecord(policy.ID(id), b, space)
	if err != nil {
		return err
	}
	if err := fn(Record{KindEntry, id, appendEntry(nil, e)}); err != nil || vector == nil {
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
	b = slices.Grow(b, len(answer)+128)
	b = putCommon(append(b, flags), e)
	b = binary.AppendUvarint(b, uint64(unpacked))
	return append(b, answer...)
}

// DecodeAnswer decodes what AppendAnswer has made. The answer may be a slice of b; one that a store would not pack is unpacked. Prompt, scope,
// chain and vector are in the record of the entry alone.
func DecodeAnswer(id policy.ID, key Key, b []byte) (*Entry, error) {
	r := reader{b: b}
	flags := r.byte()
	e := &Entry{ID: id, Key: key}
	r.readCommon(e, flags&wireStale != 0)
	unpacked := r.uvarint()
	if r.bad || flags&^wireStale != 0 || unpacked > maxUnpacked {
		return nil, fmt.Errorf("read answer: %w", ErrDamaged)
	}
	e.unpacked, e.Answer = int32(unpacked), r.b
	if unpacked == 0 || unpacked > packAbove {
		return e, nil
	}
	whole, err := e.Recording()
	if err != nil {
		return nil, fmt.Errorf("read answer: %w: %w", ErrDamaged, err)
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

func (r *reader) byte() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
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

func (r *reader) label() string {
	n := r.uvarint()
	switch n, form := n/labelForms, n%labelForms; {
	case form == labelHex:
		return hex.EncodeToString(r.take(n))
	case form == labelText:
		return string(r.take(n))
	case n < uint64(len(endpoints)):
		return endpoints[n]
	}
	r.bad = true
	return ""
}
