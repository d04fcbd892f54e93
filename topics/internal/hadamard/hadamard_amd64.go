//go:build !purego && !race

package hadamard

import "golang.org/x/sys/cpu"

func transform(x *[Len]float32) (done bool) {
	if cpu.X86.HasAVX2 {
		transformAVX2(x)
	}
	return cpu.X86.HasAVX2
}

//go:noescape
func transformAVX2(x *[Len]float32)
