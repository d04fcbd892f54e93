package answer

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"
)

// The encoding, version 1: four bytes magic and version, the API's code, stream (0 or 1), then varints: content type
// (length, bytes), slots (count; each: distance of Off from the Off before, length, kind), body (length, bytes), and last a
// CRC-32C of everything before it, little endian. The magic names the version, so that a later version differs from damage.
const magic = "RpA\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode appends z in its stored encoding.
func (z *Frozen) Encode(dst []byte) []byte {
	start := len(dst)
	if size := z.encodedSize(); cap(dst)-start < size {
		dst = append(make([]byte, 0, start+size), dst...)
	}
	dst = append(dst, magic...)
	dst = append(dst, z.Form.Code, 0)
	if z.Stream {
		dst[len(dst)-1] = 1
	}
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
	dst = binary.AppendUvarint(dst, uint64(len(z.Body)))
	dst = append(dst, z.Body...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// encodedSize is the size of the encoding in bytes.
func (z *Frozen) encodedSize() int {
	size := len(magic) + 2 + uvarintSize(len(z.ContentType)) + len(z.ContentType) + uvarintSize(len(z.Slots)) + uvarintSize(len(z.Body)) + len(z.Body) + 4
	at := 0
	for _, s := range z.Slots {
		size += uvarintSize(s.Off-at) + uvarintSize(s.Len) + 1
		at = s.Off
	}
	return size
}

// uvarintSize is the size of n as a varint.
func uvarintSize(n int) int { return max(bits.Len(uint(n))+6, 7) / 7 }

// Decode reads what Encode wrote, all of b, for an answer in one of forms. The body of the result aliases b. ErrCorrupt
// where anything is wrong, or the API is none of forms.
func Decode(b []byte, forms []*Form) (*Frozen, error) {
	if len(b) < len(magic)+2+4 || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("decode answer: no version 1 header: %w", ErrCorrupt)
	}
	content, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(content, castagnoli) != sum {
		return nil, fmt.Errorf("decode answer: checksum differs: %w", ErrCorrupt)
	}
	d := decoder{b: content[len(magic):]}
	code := d.byte()
	api := slices.IndexFunc(forms, func(f *Form) bool { return f.Code == code })
	if api < 0 {
		return nil, fmt.Errorf("decode answer: no API has the code %d: %w", code, ErrCorrupt)
	}
	z := d.frozen(forms[api])
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

func (d *decoder) frozen(f *Form) *Frozen {
	one := new(struct { // in one allocation
		Frozen
		few [2]Slot // most answers have no more
	})
	z := &one.Frozen
	z.Form = f
	stream := d.byte()
	d.bad = d.bad || stream > 1
	z.Stream = stream == 1
	z.ContentType = contentType(d.bytes())
	z.Slots = d.slots(one.few[:0])
	z.Body = d.bytes()
	return z
}

// slots reads slots into few, where there is room for them.
func (d *decoder) slots(few []Slot) []Slot {
	n := d.len()
	if n == 0 {
		return nil
	}
	slots := slices.Grow(few, n)
	at := 0
	for range n {
		at += d.len()
		slots = append(slots, Slot{Off: at, Len: d.len(), Kind: SlotKind(d.byte())})
	}
	return slots
}

// len reads a number that counts or skips bytes of the encoding, and so is at most the rest of it.
func (d *decoder) len() int {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > uint64(len(d.b)-n) {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return int(v)
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
