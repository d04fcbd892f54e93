//go:build !amd64 || purego || race

package topics

func fastest() form { return inGo }

func hadamardAVX2(*[sketchBits]float32) { panic("not in this build") }

func simd256([]uint64, [][4]uint64, *[4]uint64, int) (done int) { return 0 }
