package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"reprise/store"
)

// A frame is a record as it stands in the file. It proves itself: it can be told from noise and from its own damaged
// self wherever it lies, which is what reading a file without its index rests on.
//
//	 0  magic    4 bytes
//	 4  crc      4, Castagnoli, of all that follows
//	 8  version  1
//	 9  kind     1
//	10  salt     8, random, one for each file: a text that looks like a frame was not written by this file
//	18  gen      8, number of the write: of two frames for one record the later one counts
//	26  id       8
//	34  length   4
//	38  body
type frame struct {
	kind store.Kind
	salt uint64
	gen  uint64
	id   uint64
	body []byte // shares the memory it was read from
}

const (
	frameMagic   = "\xf1rpr"
	frameVersion = 1
	frameHeader  = 38
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errShort   = errors.New("frame is longer than the data")
)

func (f *frame) append(b []byte) []byte {
	start := len(b)
	b = append(b, frameMagic...)
	b = append(b, 0, 0, 0, 0, frameVersion, byte(f.kind))
	b = binary.LittleEndian.AppendUint64(b, f.salt)
	b = binary.LittleEndian.AppendUint64(b, f.gen)
	b = binary.LittleEndian.AppendUint64(b, f.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.body)))
	b = append(b, f.body...)
	binary.LittleEndian.PutUint32(b[start+4:], frameSum(b[start:]))
	return b
}

// frameSum is the checksum of the frame that b is.
func frameSum(b []byte) uint32 { return crc32.Checksum(b[8:], castagnoli) }

// frameLen is the whole length of the frame that b begins with, read from its unproven header.
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
// version is fixed for ever.
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
		return frame{}, fmt.Errorf("%w: record version %d, this program knows %d", store.ErrVersion, b[8], frameVersion)
	}
	return frame{
		kind: store.Kind(b[9]),
		salt: binary.LittleEndian.Uint64(b[10:]),
		gen:  binary.LittleEndian.Uint64(b[18:]),
		id:   binary.LittleEndian.Uint64(b[26:]),
		body: b[frameHeader:n:n],
	}, nil
}
