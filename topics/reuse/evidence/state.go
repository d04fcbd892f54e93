package evidence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"reprise/topics/reuse/edits"
)

// errState is that of bytes that are no state of a Book, or no Sample.
var errState = errors.New("evidence: damaged state")

// version is the first byte of a state and of a sample. Both name the classes of edits, whose numbers may change with the list.
const version = 2

// Append appends the counts to b: some 60 bytes for each scope, and 30 for each family.
func (r *Rates) Append(b []byte) []byte {
	b = appendText(append(b, version), r.embedder.Space)
	b = r.served.append(b)
	for _, t := range []*table{&r.scopes, &r.families} {
		n := 0
		for i := range t.shards {
			n += len(t.shards[i])
		}
		b = binary.AppendUvarint(b, uint64(n))
		for i := range t.shards {
			for _, r := range t.shards[i] {
				b = r.append(b)
			}
		}
	}
	return b
}

func (r *row) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.id)
	b = binary.LittleEndian.AppendUint64(b, r.tenant)
	for _, x := range r.shown {
		for _, n := range []uint32{x.same, x.wrong, x.unknown} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		if x.same < First { // later no question is looked at
			for _, question := range x.asked {
				b = binary.AppendUvarint(b, uint64(question))
			}
		}
	}
	for _, n := range r.noise {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return r.cells.append(b)
}

func (c cells) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(c)))
	for _, x := range c {
		b = appendText(b, x.key.name())
		b = binary.AppendUvarint(b, uint64(x.same))
		b = binary.AppendUvarint(b, uint64(x.wrong))
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Decode returns the book whose counts Append wrote. It leaves out classes that are no longer listed, and similarities of another space
// than e's. Where that of e is "", because it is not known yet, the space stays what it was.
func Decode(data []byte, e Embedder) (*Book, error) {
	d := decoder{data: data}
	if d.byte() != version {
		return nil, fmt.Errorf("%w: version", errState)
	}
	former := d.text()
	if e.Space == "" {
		e.Space = former
	}
	d.meaning = former == e.Space
	b := NewBook(e)
	r := b.rates
	r.served = d.cells()
	for n := d.uint(); n > 0 && !d.bad; n-- {
		r.putScope(d.row())
	}
	for n := d.uint(); n > 0 && !d.bad; n-- {
		r.families.put(d.row())
	}
	if d.bad || len(d.data) > 0 {
		return nil, errState
	}
	return b, nil
}

func (d *decoder) row() (r row) {
	r.id, r.tenant = d.fixed(), d.fixed()
	for i := range r.shown {
		x := &r.shown[i]
		for _, n := range []*uint32{&x.same, &x.wrong, &x.unknown} {
			*n = d.small(math.MaxUint32 - 1)
		}
		if x.same > mostSame || x.wrong > mostSame || x.unknown > mostSame {
			d.bad = true
			return r
		}
		for j := range x.asked {
			if x.same < First {
				x.asked[j] = d.small(math.MaxUint32)
			}
		}
		if Kind(i) == Vectors && !d.meaning {
			*x = shown{}
		}
	}
	for i := range r.noise {
		r.noise[i] = uint16(d.small(math.MaxUint16))
	}
	r.cells = d.cells()
	return r
}

// Append appends the sample to b, for other processes that share the answers: some 70 bytes.
func (s *Sample) Append(b []byte) []byte {
	flags := byte(0)
	if s.Explained {
		flags |= 1
	}
	if s.Hit {
		flags |= 2
	}
	b = append(b, version, byte(s.Outcome), byte(s.Source), flags)
	for _, n := range []uint64{s.Tenant, s.Scope, s.Family, s.Space, s.Question, math.Float64bits(s.Similarity), math.Float64bits(s.Closeness)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, s.Rule, byte(len(s.Edits)))
	for _, e := range s.Edits {
		b = appendText(b, key(e).name())
	}
	return b
}

// DecodeSample reads what Append wrote. An edit that is not listed here has class 0, and Add does not count the sample.
func DecodeSample(data []byte) (Sample, error) {
	d := decoder{data: data}
	if d.byte() != version {
		return Sample{}, fmt.Errorf("%w: version of a sample", errState)
	}
	s := Sample{Outcome: Outcome(d.byte()), Source: Source(d.byte())}
	flags := d.byte()
	s.Explained, s.Hit = flags&1 != 0, flags&2 != 0
	s.Tenant, s.Scope, s.Family, s.Space, s.Question = d.fixed(), d.fixed(), d.fixed(), d.fixed(), d.fixed()
	s.Similarity, s.Closeness = math.Float64frombits(d.fixed()), math.Float64frombits(d.fixed())
	s.Rule = d.byte()
	n := int(d.byte())
	for range min(n, edits.Most) {
		k := keysByName[d.text()]
		if k >= all {
			k = 0
		}
		s.Edits = append(s.Edits, edits.Class(k))
	}
	if d.bad || len(d.data) > 0 || n > edits.Most {
		return Sample{}, fmt.Errorf("%w: sample", errState)
	}
	return s, nil
}

// keysByName are the keys that have a name here.
var keysByName = func() map[string]key {
	names := map[string]key{}
	for k := range ends {
		if k == form || k >= all || int(k) < len(edits.Table) {
			names[k.name()] = k
		}
	}
	return names
}()

// decoder reads from data; after a fault it returns zeros and is bad.
type decoder struct {
	data    []byte
	bad     bool
	meaning bool // similarities are of the same space
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.data)) {
		d.bad = true
		return nil
	}
	taken := d.data[:n]
	d.data = d.data[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) fixed() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// small is a number up to most.
func (d *decoder) small(most uint64) uint32 {
	n := d.uint()
	if n > most {
		d.bad = true
		return 0
	}
	return uint32(n)
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.take(uint64(n))
	return v
}

func (d *decoder) text() string { return string(d.take(d.uint())) }

func (d *decoder) cells() (c cells) {
	for n := d.uint(); n > 0 && !d.bad; n-- {
		k, listed := keysByName[d.text()]
		same, wrong := d.uint(), d.uint()
		if same > math.MaxUint32 || wrong > math.MaxUint32 {
			d.bad = true
		}
		if listed && (k < first || d.meaning) {
			c = c.with([]key{k}, tally{uint32(same), uint32(wrong)})
		}
	}
	return c
}
