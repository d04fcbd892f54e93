//go:build !purego && !race

package hamming

// eachForm runs f with each form that this processor has.
func eachForm(f func(name string)) {
	defer func() { used = fastest }()
	for used = fastest; used >= inGo; used-- {
		f([]string{inGo: "Go", inAVX2: "AVX2", inAVX512: "AVX-512"}[used])
	}
}
