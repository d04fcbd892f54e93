package answer

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"
)

// The encoding, version 1: four bytes magic and version, the API's code, stream (0 or 1; 2: then a proof follows, four bytes little endian,
// see proofOf), then varints: content type (length, bytes), slots (count; each: distance of Off from the Off before, length, kind), body
// (length, bytes), and last a CRC-32C of everything before it, little endian. The magic names the version, so that a later version differs from
// damage.
//
// Version 2 is for streams that are shorter so: the length of the body follows stream and proof, and the body is folded, up to the CRC.
//
// Version 3 is for answers with an origin: that follows the version, and then version 1 or 2 without its magic. A program from before it drops such
// an answer as damaged. So does a program from before the last kinds of slots, or from before proofs, with an answer that has one.
const (
	magic       = "RpA"
	inPlain     = 1
	inFolds     = 2
	withOrigin  = 3
	headBytes   = len(magic) + 1
	originBytes = len(Origin{}) + 1
	proofBytes  = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode appends z in its stored encoding.
func (z *Frozen) Encode(dst []byte) []byte {
	start, size, version := len(dst), z.encodedSize(), byte(inPlain)
	if z.Stream {
		short := foldedSize(z.Body)
		if short < len(z.Body) && len(z.Body) <= maxFold*short {
			version = inFolds
			size += short - len(z.Body)
		}
	}
	if cap(dst)-start < size {
		dst = append(make([]byte, 0, start+size), dst...)
	}
	dst = append(dst, magic...)
	if z.Origin != (Origin{}) {
		dst = append(append(dst, withOrigin), z.Origin[:]...)
	}
	switch dst = append(dst, version, z.Form.Code); {
	case !z.Stream:
		dst = append(dst, 0)
	case z.proof == 0:
		dst = append(dst, 1)
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, 2), z.proof)
	}
	if version == inFolds {
		dst = binary.AppendUvarint(dst, uint64(len(z.Body)))
		dst = appendFolds(z.appendPlaces(dst), z.Body)
	} else {
		dst = binary.AppendUvarint(z.appendPlaces(dst), uint64(len(z.Body)))
		dst = append(dst, z.Body...)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// appendPlaces appends the content type and the slots.
func (z *Frozen) appendPlaces(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(z.ContentType)))
	dst = append(dst, z.ContentType...)
	dst = binary.AppendUvarint(dst, uint64(len(z.Slots)))
	at := 0
	for _, s := range z.Slots {
		dst = binary.AppendUvarint(dst, uint64(s.Off-at))
		dst = binary.AppendUvarint(dst, uint64(s.Len))
		dst = append(dst, byte(s.Kind))
		at = s.Off
	}
	return dst
}

// encodedSize is the size of the encoding, whose body is not folded, in bytes.
func (z *Frozen) encodedSize() int {
	size := headBytes + 2 + uvarintSize(len(z.ContentType)) + len(z.ContentType) + uvarintSize(len(z.Slots)) + uvarintSize(len(z.Body)) + len(z.Body) + 4
	if z.Origin != (Origin{}) {
		size += originBytes
	}
	if z.proof != 0 {
		size += proofBytes
	}
	at := 0
	for _, s := range z.Slots {
		size += uvarintSize(s.Off-at) + uvarintSize(s.Len) + 1
		at = s.Off
	}
	return size
}

// uvarintSize is the size of n as a varint.
func uvarintSize(n int) int { return max(bits.Len(uint(n))+6, 7) / 7 }

// Unfolded returns how many bytes Decode takes for the body of b; 0 where the body aliases b, or b cannot be decoded.
func Unfolded(b []byte) int {
	version, _, content := head(b)
	if version != inFolds || len(content) < 2 {
		return 0
	}
	at := 2
	if content[1] == 2 {
		at = min(at+proofBytes, len(content))
	}
	n, _ := binary.Uvarint(content[at:])
	if n > uint64(maxFold*len(b)) {
		return 0
	}
	return int(n)
}

// head reads the version, 1 or 2, and the origin; 0 where b does not begin with them.
func head(b []byte) (version byte, from Origin, content []byte) {
	if len(b) < headBytes || string(b[:len(magic)]) != magic {
		return 0, from, nil
	}
	version, content = b[len(magic)], b[headBytes:]
	if version == withOrigin {
		if len(content) < originBytes {
			return 0, from, nil
		}
		from, version = Origin(content[:len(from)]), content[len(from)]
		content = content[originBytes:]
		if from == (Origin{}) { // Encode does not write that
			return 0, from, nil
		}
	}
	if version != inPlain && version != inFolds {
		return 0, from, nil
	}
	return version, from, content
}

// Decode reads what Encode wrote, all of b, for an answer in one of forms. The body of the result aliases b, unless it was folded; see
// [Unfolded]. ErrCorrupt where anything is wrong, or the API is none of forms.
func Decode(b []byte, forms []*Form) (*Frozen, error) {
	if len(b) < headBytes+2+4 {
		return nil, fmt.Errorf("decode answer: no header: %w", ErrCorrupt)
	}
	whole, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	version, from, content := head(whole)
	if version == 0 {
		return nil, fmt.Errorf("decode answer: no header of version 1, 2 or 3: %w", ErrCorrupt)
	}
	if crc32.Checksum(whole, castagnoli) != sum {
		return nil, fmt.Errorf("decode answer: checksum differs: %w", ErrCorrupt)
	}
	d := decoder{b: content}
	code := d.byte()
	api := slices.IndexFunc(forms, func(f *Form) bool { return f.Code == code })
	if api < 0 {
		return nil, fmt.Errorf("decode answer: no API has the code %d: %w", code, ErrCorrupt)
	}
	z := d.frozen(forms[api], version == inFolds)
	z.Origin = from
	if d.bad || len(d.b) > 0 || !wellPlaced(z.Slots, len(z.Body)) {
		return nil, fmt.Errorf("decode answer: %w", ErrCorrupt)
	}
	return z, nil
}

// decoder reads from the front of b; after its first failure it returns zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) frozen(f *Form, folded bool) *Frozen {
	one := new(struct { // in one allocation
		Frozen
		few [2]Slot // most answers have no more
	})
	z := &one.Frozen
	z.Form = f
	stream := d.byte()
	d.bad = d.bad || stream > 2 || folded && stream == 0
	if z.Stream = stream > 0; stream == 2 {
		z.proof = d.proof()
	}
	size := len(d.b)
	if folded {
		size = d.number(maxFold * len(d.b))
	}
	z.ContentType = contentType(d.bytes())
	z.Slots = d.slots(one.few[:0], size)
	if folded {
		z.Body = d.unfolded(size)
	} else {
		z.Body = d.bytes()
	}
	return z
}

// slots reads the slots of a body of at most size bytes, into few where there is room for them.
func (d *decoder) slots(few []Slot, size int) []Slot {
	n := d.len()
	if n == 0 {
		return nil
	}
	slots := slices.Grow(few, n)
	at := 0
	for range n {
		at += d.number(size)
		slots = append(slots, Slot{Off: at, Len: d.number(size), Kind: slotKind(d.byte())})
	}
	return slots
}

// len reads a number that counts or skips bytes of the encoding, and so is at most the rest of it.
func (d *decoder) len() int {
	n := d.number(len(d.b))
	if n > len(d.b) {
		return d.fail()
	}
	return n
}

// number reads a number up to most.
func (d *decoder) number(most int) int {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > uint64(most) {
		return d.fail()
	}
	d.b = d.b[n:]
	return int(v)
}

func (d *decoder) fail() int {
	d.b, d.bad = nil, true
	return 0
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

// proof reads a proof, which is not 0.
func (d *decoder) proof() (proof uint32) {
	if len(d.b) >= proofBytes {
		proof = binary.LittleEndian.Uint32(d.b)
		d.b = d.b[proofBytes:]
	}
	d.bad = d.bad || proof == 0
	return proof
}

func (d *decoder) bytes() []byte {
	n := d.len()
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

// contentType copies a content type, without allocation for the common ones.
func contentType(b []byte) string {
	switch string(b) {
	case typeJSON:
		return typeJSON
	case typeStream:
		return typeStream
	case "text/event-stream":
		return "text/event-stream"
	case typeLines:
		return typeLines
	}
	return string(b)
}

// wellPlaced reports whether the slots lie inside a body of n bytes, in order.
func wellPlaced(slots []Slot, n int) bool {
	at := 0
	for _, s := range slots {
		if s.Kind == 0 || s.Kind > lastKind || s.Off < at || s.Len > n-s.Off {
			return false
		}
		at = s.Off
	}
	return true
}
