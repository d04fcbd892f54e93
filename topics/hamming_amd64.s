//go:build !purego && !race

#include "textflag.h"

// The order in which near256AVX512 sums eight rows.
DATA order<>+0(SB)/8, $0
DATA order<>+8(SB)/8, $2
DATA order<>+16(SB)/8, $1
DATA order<>+24(SB)/8, $3
DATA order<>+32(SB)/8, $4
DATA order<>+40(SB)/8, $6
DATA order<>+48(SB)/8, $5
DATA order<>+56(SB)/8, $7
GLOBL order<>(SB), RODATA|NOPTR, $64

// The number of bits of each half of a byte, for both lanes of a VPSHUFB.
DATA counts<>+0(SB)/8, $0x0302020102010100
DATA counts<>+8(SB)/8, $0x0403030203020201
DATA counts<>+16(SB)/8, $0x0302020102010100
DATA counts<>+24(SB)/8, $0x0403030203020201
GLOBL counts<>(SB), RODATA|NOPTR, $32

DATA low<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL low<>(SB), RODATA|NOPTR, $8

// func near256AVX512(dst *uint64, rows *[4]uint64, n int, q *[4]uint64, cut int)
TEXT ·near256AVX512(SB), NOSPLIT, $0-40
	MOVQ            dst+0(FP), DI
	MOVQ            rows+8(FP), SI
	MOVQ            n+16(FP), CX
	MOVQ            q+24(FP), AX
	VBROADCASTI64X4 (AX), Z0
	VPBROADCASTQ    cut+32(FP), Z1
	VMOVDQU64       order<>(SB), Z15

loop: // eight rows, two in each register
	VPXORQ      (SI), Z0, Z2
	VPXORQ      64(SI), Z0, Z3
	VPXORQ      128(SI), Z0, Z4
	VPXORQ      192(SI), Z0, Z5
	VPOPCNTQ    Z2, Z2
	VPOPCNTQ    Z3, Z3
	VPOPCNTQ    Z4, Z4
	VPOPCNTQ    Z5, Z5
	VPUNPCKLQDQ Z3, Z2, Z6
	VPUNPCKHQDQ Z3, Z2, Z7
	VPUNPCKLQDQ Z5, Z4, Z8
	VPUNPCKHQDQ Z5, Z4, Z9
	VPADDQ      Z7, Z6, Z6  // by lanes of two: halves of rows 0 and 2, again 0 and 2, 1 and 3, 1 and 3
	VPADDQ      Z9, Z8, Z8  // the same of rows 4 to 7
	VSHUFI64X2  $0x88, Z8, Z6, Z10
	VSHUFI64X2  $0xdd, Z8, Z6, Z11
	VPADDQ      Z11, Z10, Z10
	VPERMQ      Z10, Z15, Z10
	VPCMPQ      $2, Z1, Z10, K1
	KMOVB       K1, (DI)
	ADDQ        $256, SI
	INCQ        DI
	SUBQ        $8, CX
	JNZ         loop
	VZEROUPPER
	RET

// COUNT replaces each byte of x by its number of bits, through y. Y13 is low, Y14 is counts (Muła, Kurz, Lemire 2018, §3).
#define COUNT(x, y) \
	VPSRLW  $4, x, y     \
	VPAND   Y13, x, x    \
	VPAND   Y13, y, y    \
	VPSHUFB x, Y14, x    \
	VPSHUFB y, Y14, y    \
	VPADDB  y, x, x

// FAR makes the lowest four bits of mask 1 for those of the four rows at SI+at that differ in more than cut bits.
#define FAR(at, mask) \
	VPXOR       (at+0)(SI), Y0, Y2  \
	VPXOR       (at+32)(SI), Y0, Y3 \
	VPXOR       (at+64)(SI), Y0, Y4 \
	VPXOR       (at+96)(SI), Y0, Y5 \
	COUNT(Y2, Y6)                   \
	COUNT(Y3, Y7)                   \
	COUNT(Y4, Y8)                   \
	COUNT(Y5, Y9)                   \
	VPUNPCKLQDQ Y3, Y2, Y6          \
	VPUNPCKHQDQ Y3, Y2, Y7          \
	VPUNPCKLQDQ Y5, Y4, Y8          \
	VPUNPCKHQDQ Y5, Y4, Y9          \
	VPADDB      Y7, Y6, Y6          \
	VPADDB      Y9, Y8, Y8          \
	VPERM2I128  $0x20, Y8, Y6, Y2   \
	VPERM2I128  $0x31, Y8, Y6, Y3   \
	VPADDB      Y3, Y2, Y2          \
	VPSADBW     Y15, Y2, Y2         \
	VPCMPGTQ    Y1, Y2, Y2          \
	VMOVMSKPD   Y2, mask

// func near256AVX2(dst *uint64, rows *[4]uint64, n int, q *[4]uint64, cut int)
TEXT ·near256AVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         rows+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         q+24(FP), AX
	VMOVDQU      (AX), Y0
	VPBROADCASTQ cut+32(FP), Y1
	VPBROADCASTQ low<>(SB), Y13
	VMOVDQU      counts<>(SB), Y14
	VPXOR        Y15, Y15, Y15

loop: // eight rows, four at a time
	FAR(0, AX)
	FAR(128, BX)
	SHLL $4, BX
	ORL  BX, AX
	NOTL AX
	MOVB AX, (DI)
	ADDQ $256, SI
	INCQ DI
	SUBQ $8, CX
	JNZ  loop
	VZEROUPPER
	RET
