package store

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packAbove is the size from which an answer is packed. A typical chat answer is smaller and is served without unpacking.
const packAbove = 4 << 10

// maxUnpacked bounds the unpacked size that a packed answer may claim.
const maxUnpacked = 1 << 30

var packers = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options above are constants
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err)
	}
	return enc, dec
})

// pack returns b and 0, or b compressed and its former length where that is shorter.
func pack(b []byte) ([]byte, int) {
	if len(b) <= packAbove {
		return b, 0
	}
	return shorter(b)
}

// shorter is pack for an answer of any size.
func shorter(b []byte) ([]byte, int) {
	if len(b) > maxUnpacked {
		return b, 0
	}
	enc, _ := packers()
	if p := enc.EncodeAll(b, nil); len(p) < len(b) {
		return p, len(b)
	}
	return b, 0
}

// unpack undoes pack. It never allocates more than n bytes for the result, whatever the frame claims.
func unpack(p []byte, n int) ([]byte, error) {
	_, dec := packers()
	b, err := dec.DecodeAll(p, make([]byte, 0, n))
	if err != nil {
		return nil, fmt.Errorf("unpack answer: %w: %w", ErrDamaged, err)
	}
	if len(b) != n {
		return nil, fmt.Errorf("unpack answer: %w: %d bytes instead of %d", ErrDamaged, len(b), n)
	}
	return b, nil
}
