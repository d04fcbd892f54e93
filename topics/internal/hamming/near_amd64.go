//go:build !purego && !race

package hamming

import "golang.org/x/sys/cpu"

// form is a set of instructions.
type form int

const (
	inGo form = iota
	inAVX2
	inAVX512
)

// fastest is the best form that this processor and its operating system have.
var fastest = func() form {
	switch x := cpu.X86; {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VPOPCNTDQ:
		return inAVX512
	case x.HasAVX2:
		return inAVX2
	}
	return inGo
}()

// used is the form that runs.
var used = fastest

// near64 does as many rows as it can, a multiple of 64, and returns their number.
func near64(dst, rows []uint64, q uint64, cut int) (done int) {
	n := len(rows) &^ 63
	switch {
	case n == 0:
		return 0
	case used == inAVX512:
		near64AVX512(&dst[0], &rows[0], n, q, cut)
	case used == inAVX2:
		near64AVX2(&dst[0], &rows[0], n, q, cut)
	default:
		return 0
	}
	return n
}

// near256 does as many rows as it can, a multiple of 64, and returns their number.
func near256(dst []uint64, rows [][4]uint64, q *[4]uint64, cut int) (done int) {
	n := len(rows) &^ 63
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

// n is a multiple of 8, and not 0. dst gets n bits.

//go:noescape
func near64AVX512(dst, rows *uint64, n int, q uint64, cut int)

//go:noescape
func near256AVX512(dst *uint64, rows *[4]uint64, n int, q *[4]uint64, cut int)

//go:noescape
func near64AVX2(dst, rows *uint64, n int, q uint64, cut int)

//go:noescape
func near256AVX2(dst *uint64, rows *[4]uint64, n int, q *[4]uint64, cut int)
