//go:build !purego && !race

#include "textflag.h"

// Signs that turn the second one of each pair of terms, at a distance of 1, 2 and 4, into its negative.
DATA signs<>+0(SB)/8, $0x8000000000000000
DATA signs<>+8(SB)/8, $0x8000000000000000
DATA signs<>+16(SB)/8, $0x8000000000000000
DATA signs<>+24(SB)/8, $0x8000000000000000
DATA signs<>+32(SB)/8, $0
DATA signs<>+40(SB)/8, $0x8000000080000000
DATA signs<>+48(SB)/8, $0
DATA signs<>+56(SB)/8, $0x8000000080000000
DATA signs<>+64(SB)/8, $0
DATA signs<>+72(SB)/8, $0
DATA signs<>+80(SB)/8, $0x8000000080000000
DATA signs<>+88(SB)/8, $0x8000000080000000
GLOBL signs<>(SB), RODATA|NOPTR, $96

// WITHIN is the three steps among the eight numbers of a register: each adds the terms in exchanged places to those with signs.
#define WITHIN(x)                    \
	VPERMILPS  $0xb1, x, Y8       \
	VXORPS     Y12, x, x          \
	VADDPS     Y8, x, x           \
	VPERMILPS  $0x4e, x, Y8       \
	VXORPS     Y13, x, x          \
	VADDPS     Y8, x, x           \
	VPERM2F128 $0x01, x, x, Y8    \
	VXORPS     Y14, x, x          \
	VADDPS     Y8, x, x

// PAIR replaces x and y by their sum and their difference.
#define PAIR(x, y)           \
	VADDPS  y, x, Y8      \
	VSUBPS  y, x, y       \
	VMOVAPS Y8, x

// AMONG is the three steps among the registers Y0 to Y7.
#define AMONG       \
	PAIR(Y0, Y1) \
	PAIR(Y2, Y3) \
	PAIR(Y4, Y5) \
	PAIR(Y6, Y7) \
	PAIR(Y0, Y2) \
	PAIR(Y1, Y3) \
	PAIR(Y4, Y6) \
	PAIR(Y5, Y7) \
	PAIR(Y0, Y4) \
	PAIR(Y1, Y5) \
	PAIR(Y2, Y6) \
	PAIR(Y3, Y7)

#define LOAD(step)                  \
	VMOVUPS (0*step)(DI), Y0     \
	VMOVUPS (1*step)(DI), Y1     \
	VMOVUPS (2*step)(DI), Y2     \
	VMOVUPS (3*step)(DI), Y3     \
	VMOVUPS (4*step)(DI), Y4     \
	VMOVUPS (5*step)(DI), Y5     \
	VMOVUPS (6*step)(DI), Y6     \
	VMOVUPS (7*step)(DI), Y7

#define STORE(step)                 \
	VMOVUPS Y0, (0*step)(DI)     \
	VMOVUPS Y1, (1*step)(DI)     \
	VMOVUPS Y2, (2*step)(DI)     \
	VMOVUPS Y3, (3*step)(DI)     \
	VMOVUPS Y4, (4*step)(DI)     \
	VMOVUPS Y5, (5*step)(DI)     \
	VMOVUPS Y6, (6*step)(DI)     \
	VMOVUPS Y7, (7*step)(DI)

// func hadamardAVX2(x *[512]float32)
TEXT ·hadamardAVX2(SB), NOSPLIT, $0-8
	MOVQ    x+0(FP), DI
	VMOVUPS signs<>+0(SB), Y12
	VMOVUPS signs<>+32(SB), Y13
	VMOVUPS signs<>+64(SB), Y14
	MOVQ    $8, CX

near: // 64 numbers that follow each other
	LOAD(32)
	WITHIN(Y0)
	WITHIN(Y1)
	WITHIN(Y2)
	WITHIN(Y3)
	WITHIN(Y4)
	WITHIN(Y5)
	WITHIN(Y6)
	WITHIN(Y7)
	AMONG
	STORE(32)
	ADDQ $256, DI
	DECQ CX
	JNZ  near

	MOVQ x+0(FP), DI
	MOVQ $8, CX

far: // eight times 8 numbers, 64 apart
	LOAD(256)
	AMONG
	STORE(256)
	ADDQ $32, DI
	DECQ CX
	JNZ  far
	VZEROUPPER
	RET
