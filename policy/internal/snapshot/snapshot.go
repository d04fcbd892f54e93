// Package snapshot writes and reads the learned state of a policy. Numbers are big-endian, texts have their length before them.
package snapshot

import (
	"encoding/binary"
	"math"
)

// NewReader reads b from its beginning.
func NewReader(b []byte) *Reader { return &Reader{left: b} }

// Reader reads what the functions below append. After the first damage it yields zeros.
type Reader struct {
	left []byte
	bad  bool
}

// Damaged reports whether anything could not be read.
func (r *Reader) Damaged() bool { return r.bad }

// Done reports whether everything was read without damage.
func (r *Reader) Done() bool { return !r.bad && len(r.left) == 0 }

func (r *Reader) take(n int) []byte {
	if r.bad || n > len(r.left) {
		r.bad = true
		return make([]byte, min(n, 8))
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

// Byte is one byte.
func (r *Reader) Byte() byte { return r.take(1)[0] }

// Float is a finite number.
func (r *Reader) Float() float64 {
	v := math.Float64frombits(binary.BigEndian.Uint64(r.take(8)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		r.bad = true
		return 0
	}
	return v
}

// Text is bytes with their length before them.
func (r *Reader) Text() []byte {
	n := binary.BigEndian.Uint32(r.take(4))
	return r.take(int(n))
}

// AppendFloats appends numbers.
func AppendFloats(b []byte, all ...float64) []byte {
	for _, v := range all {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// AppendText appends text and its length before it.
func AppendText(b, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}
