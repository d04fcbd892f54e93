package topics

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"
)

// eachForm runs f with each form that this processor has.
func eachForm(f func(name string)) {
	defer func() { used = fastest() }()
	for used = fastest(); used >= inGo; used-- {
		f([]string{inGo: "Go", inAVX2: "AVX2", inAVX512: "AVX-512"}[used])
	}
}

// TestHadamard compares the transform with its definition.
func TestHadamard(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var x, want [sketchBits]float32
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range want {
		var sum float64
		for j := range x {
			if bits.OnesCount(uint(i&j))%2 == 0 {
				sum += float64(x[j])
			} else {
				sum -= float64(x[j])
			}
		}
		want[i] = float32(sum)
	}
	hadamard(&x)
	for i := range x {
		if math.Abs(float64(x[i]-want[i])) > 1e-3 {
			t.Fatalf("coefficient %d is %v, want %v", i, x[i], want[i])
		}
	}
}

// TestHadamardFormsAgree: both forms give the same bits, for numbers of all sizes, among them zeros of both signs, and pairs of which the sum is 0.
func TestHadamardFormsAgree(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 2000 {
		var x [sketchBits]float32
		for i := range x {
			switch rng.Intn(4) {
			case 0:
				x[i] = float32(math.Copysign(0, rng.NormFloat64()))
			case 1:
				x[i] = float32(rng.Intn(3) - 1)
			case 2:
				x[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.Intn(60)-30)))
			default:
				x[i] = -x[max(i-1<<rng.Intn(9), 0)]
			}
		}
		y := x
		hadamard(&x)
		hadamardGo(&y)
		for i := range x {
			if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
				t.Fatalf("coefficient %d is %v, in Go %v", i, x[i], y[i])
			}
		}
	}
}

// naiveNear is what near256 must return, bit by bit.
func naiveNear(rows [][4]uint64, q *[4]uint64, cut int) []uint64 {
	near := make([]uint64, (len(rows)+63)/64)
	for i, row := range rows {
		differ := 0
		for w := range row {
			for x := row[w] ^ q[w]; x != 0; x >>= 1 {
				differ += int(x & 1)
			}
		}
		if differ <= cut {
			near[i/64] |= 1 << (i % 64)
		}
	}
	return near
}

const guard = 0xdeadbeefdeadbeef

// compareForms runs all forms over rows of four words, and finds what they write outside of their words of dst. The rows begin at an odd
// place of their array.
func compareForms(t *testing.T, rows, q []uint64, cut int) {
	t.Helper()
	four := make([][4]uint64, len(rows)/4)
	for i := range four {
		four[i] = [4]uint64(rows[4*i:])
	}
	want := append(naiveNear(four, (*[4]uint64)(q), cut), guard)
	eachForm(func(name string) {
		got := slices.Repeat([]uint64{guard}, len(want))
		if near256(got, four, (*[4]uint64)(q), cut); !slices.Equal(got, want) {
			t.Errorf("%s, %d rows, cut %d: %#x, want %#x", name, len(four), cut, got, want)
		}
	})
}

// TestHamming compares each form with a count of single bits, for all lengths about the blocks of the forms, all places that a slice
// can begin at, and cuts from none to all.
func TestHamming(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := range 201 {
		for begin := range 8 {
			array := make([]uint64, begin+4*n)
			q := []uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
			for i := range array {
				array[i] = q[(i-begin+8)%4] ^ rng.Uint64()&rng.Uint64() // a quarter of the bits differ
			}
			compareForms(t, array[begin:], q, []int{-1, 0, 16, 30, 64, 65, 255, 256, 1 << 30}[rng.Intn(9)])
		}
	}
}

// TestNearAtTheCut has a row for each number of differing bits.
func TestNearAtTheCut(t *testing.T) {
	q := []uint64{0x0123456789abcdef, 0, ^uint64(0), 0xf0f0f0f0f0f0f0f0}
	rows := make([]uint64, 0, 4*257)
	for n := range 257 {
		for w := range q {
			rows = append(rows, q[w]^(1<<min(max(n-64*w, 0), 64)-1))
		}
	}
	for cut := -1; cut <= 257; cut++ {
		compareForms(t, rows, q, cut)
	}
}

func TestNearWantsRoom(t *testing.T) {
	for _, n := range []int{1, 64, 65, 128} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a dst that is too short is written beyond its end")
				}
			}()
			near256(make([]uint64, (n-1)/64), make([][4]uint64, n), new([4]uint64), 0)
		})
	}
}

func TestNearAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		var dst [2]uint64
		rows, q := [128][4]uint64{}, [4]uint64{}
		near256(dst[:], rows[:], &q, 2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzHamming(f *testing.F) {
	f.Add([]byte("rows of some words, and the last of them is the query that all of them are compared with"), 20)
	f.Add(make([]byte, 8*4*131), 0)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		words := make([]uint64, len(data)/8)
		for i := range words {
			for j := range 8 {
				words[i] |= uint64(data[8*i+j]) << (8 * j)
			}
		}
		if len(words) < 4 {
			return
		}
		last := len(words) - 4
		compareForms(t, words[:last], words[last:], max(min(cut, 1<<30), -1))
	})
}

// BenchmarkHamming scans 40,960 rows in each form.
func BenchmarkHamming(b *testing.B) {
	const n = 40_960
	rows, dst := make([][4]uint64, n), make([]uint64, n/64)
	for i := range rows {
		rows[i] = [4]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64()}
	}
	eachForm(func(name string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				near256(dst, rows, &rows[0], 101)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	})
}
