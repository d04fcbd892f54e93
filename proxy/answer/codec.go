package answer

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"reprise/proxy/canon"
)

// The encoding, version 1: four bytes magic and version, family, stream (0 or 1), then varints: content type (length,
// bytes), slots (count; each: distance of Off from the Off before, length, kind), body (length, bytes), and last a CRC-32C
// of everything before it, little endian. Four bytes that name the version let a later one be told from damage.
const magic = "RpA\x01"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode appends z in its stored encoding.
func (z *Frozen) Encode(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, byte(z.Family), 0)
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

// Decode reads what Encode wrote, all of b. The body of the result aliases b. ErrCorrupt where anything is amiss.
func Decode(b []byte) (*Frozen, error) {
	if len(b) < len(magic)+2+4 || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("decode answer: no version 1 header: %w", ErrCorrupt)
	}
	content, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(content, castagnoli) != sum {
		return nil, fmt.Errorf("decode answer: checksum differs: %w", ErrCorrupt)
	}
	d := decoder{b: content[len(magic):]}
	z := d.frozen()
	if d.bad || len(d.b) > 0 || !wellPlaced(z.Slots, len(z.Body)) {
		return nil, fmt.Errorf("decode answer: %w", ErrCorrupt)
	}
	return z, nil
}

// decoder reads from the front of b; once it has failed it yields zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) frozen() *Frozen {
	z := &Frozen{Family: canon.Family(d.byte())}
	stream := d.byte()
	d.bad = d.bad || stream > 1
	z.Stream = stream == 1
	z.ContentType = contentType(d.bytes())
	z.Slots = d.slots()
	z.Body = d.bytes()
	return z
}

func (d *decoder) slots() []Slot {
	n := d.len()
	if n == 0 {
		return nil
	}
	slots := make([]Slot, 0, n)
	at := 0
	for range n {
		at += d.len()
		slots = append(slots, Slot{Off: at, Len: d.len(), Kind: SlotKind(d.byte())})
	}
	return slots
}

// len reads a number that counts or skips bytes of the encoding, and so is at most what is left of it.
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
