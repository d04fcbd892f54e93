package proxy

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"reprise/proxy/internal/clientio"
)

// TestReadAllGrowsWithWhatComes: the memory of a body that has not come is at most firstBuffer bytes and as much again as has
// come, whatever length is announced, and a small body costs one allocation.
func TestReadAllGrowsWithWhatComes(t *testing.T) {
	const limit = 32 << 20
	for _, tc := range []struct{ announced, come int64 }{
		{limit, 0}, {limit, 1}, {1 << 20, 100}, {firstBuffer, 100}, {-1, 0}, {-1, 100_000}, {1 << 20, 1<<20 - 1}, {limit, 3 << 20},
	} {
		in := &halfSent{left: tc.come}
		if _, err := readAll(in, tc.announced, limit, unlimited()); !errors.Is(err, errStopped) {
			t.Fatalf("%+v: error %v", tc, err)
		}
		if most := 2*tc.come + firstBuffer + 1; in.room > most {
			t.Errorf("%+v: a buffer of %d bytes, want at most %d", tc, in.room, most)
		}
	}
	body, mem := bytes.Repeat([]byte("a"), 6000), unlimited()
	least := math.Inf(1)
	for range 5 { // goroutines that other tests have left may allocate meanwhile
		least = min(least, testing.AllocsPerRun(100, func() {
			if _, err := readAll(bytes.NewReader(body), int64(len(body)), limit, mem); err != nil {
				t.Fatal(err)
			}
		}))
	}
	if least > 2 { // the buffer and the reader of this test
		t.Errorf("%v allocations for a small body, want 2", least)
	}
}

// unlimited is the lease of a budget without a limit.
func unlimited() *clientio.Lease {
	l, _ := clientio.NewBudget(0, func() int64 { return 0 }).Lease(0)
	return l
}

// TestReadAllIsCharged: a body is charged as its buffer grows, and one for which there is no room is refused before the buffer is
// made.
func TestReadAllIsCharged(t *testing.T) {
	const smallBody = 32 << 10 // charged for every request
	b := clientio.NewBudget(8<<20, func() int64 { return 0 })
	for _, c := range []struct {
		size, charged int64
		refused       bool
	}{
		{100, smallBody, false},
		{firstBuffer, smallBody, false},
		{1 << 20, smallBody + 1<<20 + 1, false},
		{7 << 20, 0, true},
	} {
		mem, _ := b.Lease(0)
		in := &halfSent{left: c.size}
		_, err := readAll(in, c.size, 32<<20, mem)
		if c.refused != errors.Is(err, errNoMemory) {
			t.Errorf("%d bytes: %v", c.size, err)
		}
		if got := b.Used()["bodies"]; !c.refused && got != c.charged {
			t.Errorf("%d bytes: %d charged, want %d", c.size, got, c.charged)
		}
		if mem.Drop(); b.Used()["bodies"] != 0 {
			t.Errorf("%d bytes: %d are charged afterwards", c.size, b.Used()["bodies"])
		}
	}
}

var errStopped = errors.New("stopped")

// halfSent yields some bytes and then fails; room is the size of the reader's buffer at the end.
type halfSent struct{ left, given, room int64 }

func (h *halfSent) Read(p []byte) (int, error) {
	h.room = h.given + int64(len(p))
	if h.left == 0 {
		return 0, errStopped
	}
	n := min(h.left, int64(len(p)))
	h.left, h.given = h.left-n, h.given+n
	return int(n), nil
}

// TestReadAllReadsAll: every body comes whole, whether its length was announced, and however it comes.
func TestReadAllReadsAll(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, firstBuffer - 1, firstBuffer, firstBuffer + 1, 100_000, 1 << 20} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(i % 251)
		}
		for _, announced := range []int64{-1, int64(size)} {
			for name, in := range map[string]io.Reader{
				"at once": bytes.NewReader(body), "with its end": iotest.DataErrReader(bytes.NewReader(body)), "in halves": iotest.HalfReader(bytes.NewReader(body)),
			} {
				got, err := readAll(in, announced, 1<<20, unlimited())
				if err != nil || !bytes.Equal(got, body) {
					t.Errorf("%d bytes %s, announced %d: %d bytes, %v", size, name, announced, len(got), err)
				}
				if most := max(2*size, 1024) + 1; cap(got) > most {
					t.Errorf("%d bytes %s, announced %d: a buffer of %d", size, name, announced, cap(got))
				}
			}
		}
	}
}
