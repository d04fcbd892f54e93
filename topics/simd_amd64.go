//go:build !purego && !race

package topics

import "golang.org/x/sys/cpu"

// fastest returns the best form that this processor and its operating system have.
func fastest() form {
	switch x := cpu.X86; {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VPOPCNTDQ:
		return inAVX512
	case x.HasAVX2:
		return inAVX2
	}
	return inGo
}

// simd256 does as many rows as it can, a multiple of 8, and returns their number.
func simd256(dst []uint64, rows [][4]uint64, q *[4]uint64, cut int) (done int) {
	n := len(rows) &^ 7
	switch {
	case n == 0:
		return 0
	case used == inAVX512:
		near256AVX512(&dst[0], &rows[0], n, q, cut)
	case used == inAVX2:
		near256AVX2(&dst[0], &rows[0], n, q, cut)
	default:
		return 0
	}
	return n
}

//go:noescape
func hadamardAVX2(x *[sketchBits]float32)

// In the next two, n is a multiple of 8, and not 0. dst gets n bits.

//go:noescape
func near256AVX512(dst *uint64, rows *[4]uint64, n int, q *[4]uint64, cut int)

//go:noescape
func near256AVX2(dst *uint64, rows *[4]uint64, n int, q *[4]uint64, cut int)
