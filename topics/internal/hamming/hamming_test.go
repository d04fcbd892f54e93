package hamming

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

// naive is what both functions must return, bit by bit.
func naive(words int, rows []uint64, q []uint64, cut int) []uint64 {
	near := make([]uint64, (len(rows)/words+63)/64)
	for i := range len(rows) / words {
		differ := 0
		for w := range words {
			for x := rows[i*words+w] ^ q[w]; x != 0; x >>= 1 {
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

// compare runs all forms over n rows of words, and finds what they write outside of their words of dst. The rows begin at an odd
// place of their array.
func compare(t *testing.T, rows, q []uint64, cut int) {
	t.Helper()
	four := make([][4]uint64, len(rows)/4)
	for i := range four {
		four[i] = [4]uint64(rows[4*i:])
	}
	for words, near := range map[int]func(dst []uint64){
		1: func(dst []uint64) { Near64(dst, rows, q[0], cut) },
		4: func(dst []uint64) { Near256(dst, four, (*[4]uint64)(q), cut) },
	} {
		want := append(naive(words, rows[:len(rows)/words*words], q, cut), guard)
		eachForm(func(name string) {
			got := slices.Repeat([]uint64{guard}, len(want))
			if near(got); !slices.Equal(got, want) {
				t.Errorf("%s, %d words, %d rows, cut %d: %#x, want %#x", name, words, len(rows)/words, cut, got, want)
			}
		})
	}
}

// TestNear compares each form with a count of single bits, for all lengths about the blocks of the forms, all places that a slice
// can begin at, and cuts from none to all.
func TestNear(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := range 201 {
		for begin := range 8 {
			array := make([]uint64, begin+4*n)
			q := []uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
			for i := range array {
				array[i] = q[(i-begin+8)%4] ^ rng.Uint64()&rng.Uint64() // a quarter of the bits differ
			}
			compare(t, array[begin:], q, []int{-1, 0, 16, 30, 64, 65, 255, 256, 1 << 30}[rng.Intn(9)])
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
		compare(t, rows, q, cut)
	}
}

func TestNearWantsRoom(t *testing.T) {
	for _, n := range []int{1, 64, 65, 128} {
		for name, near := range map[string]func(){
			"64":  func() { Near64(make([]uint64, (n-1)/64), make([]uint64, n), 0, 0) },
			"256": func() { Near256(make([]uint64, (n-1)/64), make([][4]uint64, n), new([4]uint64), 0) },
		} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("a dst that is too short is written beyond its end")
					}
				}()
				near()
			})
		}
	}
}

func TestNearAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		var dst [2]uint64
		rows, q := [128]uint64{}, [4]uint64{}
		Near64(dst[:], rows[:], 1, 2)
		four := [128][4]uint64{}
		Near256(dst[:], four[:], &q, 2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzNear(f *testing.F) {
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
		compare(t, words[:last], words[last:], max(min(cut, 1<<30), -1))
	})
}
