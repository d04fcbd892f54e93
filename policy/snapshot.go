package policy

import (
	"encoding/binary"
	"math"
)

// SnapshotReader reads a snapshot of the learned state of a policy, as AppendFloats and AppendText write it: numbers are big-endian, texts have
// their length before them. After the first damage it returns zeros.
type SnapshotReader struct {
	left []byte
	bad  bool
}

// ReadSnapshot reads b from its beginning.
func ReadSnapshot(b []byte) *SnapshotReader { return &SnapshotReader{left: b} }

// Damaged reports whether anything could not be read.
func (r *SnapshotReader) Damaged() bool { return r.bad }

// Done reports whether everything was read without damage.
func (r *SnapshotReader) Done() bool { return !r.bad && len(r.left) == 0 }

func (r *SnapshotReader) take(n int) []byte {
	if r.bad || n > len(r.left) {
		r.bad = true
		return make([]byte, min(n, 8))
	}
	b := r.left[:n]
	r.left = r.left[n:]
	return b
}

// Byte returns one byte.
func (r *SnapshotReader) Byte() byte { return r.take(1)[0] }

// Float returns a finite number.
func (r *SnapshotReader) Float() float64 {
	v := math.Float64frombits(binary.BigEndian.Uint64(r.take(8)))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		r.bad = true
		return 0
	}
	return v
}

// Text returns bytes with their length before them.
func (r *SnapshotReader) Text() []byte {
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
