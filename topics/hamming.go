package topics

import "math/bits"

// form is a set of instructions. A search reads some bits of every entry, so near256 is the inner loop of a cache miss, and the
// compiler does not vectorise a popcount. Measured on one core of an EPYC of Zen 4, in ns per row: AVX-512 0.41, AVX2 0.78, Go 2.1. Another architecture has the Go form only, and so have a build with the tag purego
// and one for the race detector, which does not see what assembly reads.
type form int

const (
	inGo form = iota
	inAVX2
	inAVX512
)

// used is the form that runs: the best one of this processor. Tests change it.
var used = fastest()

// near256 makes bit i of dst, counted from the lowest bit of dst[0], 1 if rows[i] differs from q in at most cut bits, and 0 if not. It
// writes the first ⌈len(rows)/64⌉ words of dst, which must be there; the bits after the last row are 0.
func near256(dst []uint64, rows [][4]uint64, q *[4]uint64, cut int) {
	if len(rows) == 0 {
		return
	}
	dst = dst[:(len(rows)+63)/64]
	dst[len(dst)-1] = 0
	done := simd256(dst, rows, q, cut)
	w := done / 64
	if rest := done % 64; rest > 0 {
		dst[w] |= word256(rows[done:min(64*w+64, len(rows))], q, cut) << rest
		w++
	}
	for ; w < len(dst); w++ {
		dst[w] = word256(rows[64*w:min(64*w+64, len(rows))], q, cut)
	}
}

// word256 returns one word of dst.
func word256(rows [][4]uint64, q *[4]uint64, cut int) (near uint64) {
	q0, q1, q2, q3 := q[0], q[1], q[2], q[3]
	for i := range rows {
		r := &rows[i]
		d := bits.OnesCount64(r[0]^q0) + bits.OnesCount64(r[1]^q1) + bits.OnesCount64(r[2]^q2) + bits.OnesCount64(r[3]^q3)
		near |= atMost(d, cut) << (i & 63)
	}
	return near
}

// atMost returns 1 if n <= limit, else 0, without a branch: one that the processor cannot predict costs as much as eight rows.
func atMost(n, limit int) uint64 { return uint64(n-limit-1) >> 63 }
