package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"reprise/store"
)

// A frame is a record as the file holds it. Its kind and id are under the checksum, so a record that damage has put under
// another key or into another bucket does not check.
//
//	 0  magic    4 bytes
//	 4  crc      4, Castagnoli, of all that follows
//	 8  version  1
//	 9  kind     1
//	10  reserved 16, zero; earlier programs wrote numbers here that nothing reads
//	26  id       8
//	34  length   4
//	38  body
type frame struct {
	kind store.Kind
	id   uint64
	body []byte // shares the memory it was read from
}

const (
	frameMagic   = "\xf1rpr"
	frameVersion = 1
	frameHeader  = 38
)

var (
	frameReserved [16]byte
	castagnoli    = crc32.MakeTable(crc32.Castagnoli)
	errShort      = errors.New("frame is longer than the data")
)

func (f *frame) append(b []byte) []byte {
	start := len(b)
	b = append(b, frameMagic...)
	b = append(b, 0, 0, 0, 0, frameVersion, byte(f.kind))
	b = append(b, frameReserved[:]...)
	b = binary.LittleEndian.AppendUint64(b, f.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.body)))
	b = append(b, f.body...)
	binary.LittleEndian.PutUint32(b[start+4:], frameSum(b[start:]))
	return b
}

// frameSum is the checksum of the frame that b is.
func frameSum(b []byte) uint32 { return crc32.Checksum(b[8:], castagnoli) }

// frameLen is the whole length of the frame that b begins with, read from its header before the checksum is known to fit.
func frameLen(b []byte) (int64, error) {
	if len(b) < frameHeader {
		return 0, errShort
	}
	if string(b[:4]) != frameMagic {
		return 0, store.ErrDamaged
	}
	return frameHeader + int64(binary.LittleEndian.Uint32(b[34:])), nil
}

// parseFrame reads the frame that b begins with. Of a newer version it returns store.ErrVersion: the layout up to the
// version never changes.
func parseFrame(b []byte) (frame, error) {
	n, err := frameLen(b)
	if err != nil {
		return frame{}, err
	}
	if n > int64(len(b)) {
		return frame{}, errShort
	}
	if frameSum(b[:n]) != binary.LittleEndian.Uint32(b[4:]) {
		return frame{}, store.ErrDamaged
	}
	if b[8] > frameVersion {
		return frame{}, fmt.Errorf("%w: record version %d, this program supports %d", store.ErrVersion, b[8], frameVersion)
	}
	return frame{kind: store.Kind(b[9]), id: binary.LittleEndian.Uint64(b[26:]), body: b[frameHeader:n:n]}, nil
}

// readRecord returns the body of the record that a bucket holds under a key: store.ErrDamaged where it is another one.
func readRecord(k store.Kind, key, value []byte) ([]byte, error) {
	f, err := parseFrame(value)
	if err == nil && (len(key) != 8 || f.kind != k || f.id != binary.BigEndian.Uint64(key)) {
		err = store.ErrDamaged
	}
	return f.body, err
}
