package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRecordingWakesItsReaders: each write reaches readers that wait already, whole and in order, before the end.
func TestRecordingWakesItsReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewRecording(200, nil)
		got := make(chan string)
		for range 3 {
			reader := rec.NewReader()
			go func() {
				for {
					p, end, err := reader.Next(t.Context())
					got <- fmt.Sprintf("%s %v %v", p, end, err)
					if end {
						return
					}
				}
			}()
		}
		synctest.Wait()
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { rec.add("ab") }, "ab false <nil>"}, {func() { rec.add("c") }, "c false <nil>"},
			{func() { rec.Finish(io.ErrUnexpectedEOF) }, " true unexpected EOF"},
		} {
			step.do()
			for range 3 {
				if s := <-got; s != step.want {
					t.Errorf("a reader got %s, want %s", s, step.want)
				}
			}
			synctest.Wait()
		}
		if p, end, err := rec.NewReader().Next(t.Context()); string(p) != "abc" || !end || err != io.ErrUnexpectedEOF {
			t.Errorf("a late reader got %q, %v, %v", p, end, err)
		}
	})
}

// large is an answer of n bytes, none of which is like its neighbours for long.
func large(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// add writes s to a recording that has no Filling.
func (r *Recording) add(s string) { r.wrote(copy(r.room(), s)) }

// filled is the owner of a filling with this many readers.
type filled struct {
	rec     *Recording
	readers int
	ended   chan error
	crashed chan any
	open    bool // what looks ended is not
}

func (f *filled) Seal() int              { return f.readers }
func (f *filled) End(err error)          { f.rec.Finish(err); f.ended <- err }
func (f *filled) Ended(body []byte) bool { return bytes.HasSuffix(body, []byte("!")) }
func (f *filled) Settle([]byte) bool     { return !f.open }
func (f *filled) Crash(v any)            { f.rec.Finish(&PanicError{v}); f.crashed <- v }

// newFilling returns a filling with body, for as many readers, of which 1 MiB may be held whole.
func newFilling(ctx context.Context, body io.Reader, readers int, memory Memory) (*Filling, *filled) {
	owner := &filled{NewRecording(200, nil), readers, make(chan error, 1), make(chan any, 1), false}
	owner.rec.ChargeTo(memory, 0)
	return owner.rec.Fill(ctx, body, Bounds{Whole: 1 << 20, Patience: time.Minute}, owner), owner
}

// fill starts to fill a recording with answer in a goroutine.
func fill(t *testing.T, answer []byte, readers int, memory Memory) (rec *Recording, ended chan error) {
	l, owner := newFilling(t.Context(), bytes.NewReader(answer), readers, memory)
	l.Detach()
	return owner.rec, owner.ended
}

// held is how large the array of a recording is.
func (r *Recording) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cap(r.body)
}

// readAll reads to the end; between calls before each piece.
func readAll(t *testing.T, reader *Reader, between func(off int)) (all []byte, err error) {
	defer reader.Close()
	for {
		between(len(all))
		p, end, err := reader.Next(t.Context())
		if all = append(all, p...); end || err != nil {
			return all, err
		}
	}
}

// TestLargeAnswerIsAWindow: of an answer that is too large to keep, a window is held for all readers, of whom each gets it whole:
// one that begins late, one that waited for the whole of it, a slow one, and one that closes early without holding up the others.
func TestLargeAnswerIsAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := large(16 << 20)
		rec, ended := fill(t, answer, 5, nil)
		var group sync.WaitGroup
		check := func(name string, begin func() *Reader, between func(int)) {
			group.Go(func() {
				got, err := readAll(t, begin(), between)
				if err != nil || !bytes.Equal(got, answer) {
					t.Errorf("the %s reader got %d bytes of %d, %v", name, len(got), len(answer), err)
				}
			})
		}
		check("quick", rec.NewReader, func(off int) {
			if n := rec.held(); off > 4<<20 && n > 2*window+tail {
				t.Errorf("%d bytes are held at offset %d", n, off)
			}
		})
		check("slow", rec.NewReader, func(int) { time.Sleep(50 * time.Second) })
		check("late", func() *Reader { time.Sleep(30 * time.Second); return rec.NewReader() }, func(int) {})
		check("patient", func() *Reader {
			reader := rec.NewReader()
			if _, err := reader.Wait(t.Context()); err != ErrTooLarge {
				t.Errorf("the whole of a large answer: %v", err)
			}
			return reader
		}, func(int) {})
		short := rec.NewReader()
		short.Next(t.Context())
		short.Close()
		group.Wait()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if rec.Whole() || rec.Size() != int64(len(answer)) || !bytes.Equal(rec.Bytes(), answer[len(answer)-len(rec.Bytes()):]) || len(rec.Bytes()) < tail {
			t.Errorf("at the end: whole %v, size %d, %d bytes of its end", rec.Whole(), rec.Size(), len(rec.Bytes()))
		}
	})
}

// TestReaderThatStops is given up after the time for one piece, and one that never comes too; the others get the whole answer.
func TestReaderThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := large(4 << 20)
		rec, ended := fill(t, answer, 3, nil)
		start, stopped, reader := time.Now(), rec.NewReader(), rec.NewReader()
		stopped.Next(t.Context())
		if got, err := readAll(t, reader, func(int) {}); err != nil || !bytes.Equal(got, answer) {
			t.Errorf("the other reader got %d bytes, %v", len(got), err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("it waited for %v", took)
		}
		<-ended
		if _, _, err := stopped.Next(t.Context()); err != errBehind {
			t.Errorf("the reader that stopped got %v", err)
		}
		late := rec.NewReader()
		if _, _, err := late.Next(t.Context()); err != errBehind {
			t.Errorf("a reader that came too late got %v", err)
		}
		late.Close()
		stopped.Close()
	})
}

// TestAllReadersLeave: an answer that goes on after all its readers have left does not wait.
func TestAllReadersLeave(t *testing.T) {
	rec, ended := fill(t, large(4<<20), 1, nil)
	rec.NewReader().Close()
	if err := <-ended; err != nil || rec.held() > 2*window+tail {
		t.Errorf("%v, %d bytes are held", err, rec.held())
	}
}

// purse is a budget.
type purse struct {
	mu   sync.Mutex
	left int64
}

func (p *purse) Reserve(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *purse) Release(n int64) { p.mu.Lock(); p.left += n; p.mu.Unlock() }

// TestRecordingIsCharged: what is held is reserved and released. Where the budget is used up an answer is not held whole, and no
// reader loses a byte of it. A window takes less than the answer before it.
func TestRecordingIsCharged(t *testing.T) {
	for _, tc := range []struct {
		size, budget int
		whole        bool
	}{{300 << 10, 1 << 20, true}, {300 << 10, 100 << 10, false}, {8 << 20, 4 << 20, false}, {300 << 10, 0, false}} {
		budget := &purse{left: int64(tc.budget)}
		answer := large(tc.size)
		rec, ended := fill(t, answer, 1, budget)
		got, err := readAll(t, rec.NewReader(), func(int) {})
		<-ended
		if rec.Release(); err != nil || !bytes.Equal(got, answer) || rec.Whole() != tc.whole {
			t.Errorf("%d bytes under a budget of %d: read %d, %v, whole %v", tc.size, tc.budget, len(got), err, rec.Whole())
		}
		if budget.left != int64(tc.budget) {
			t.Errorf("%d bytes under a budget of %d: %d are left in it", tc.size, tc.budget, budget.left)
		}
	}
}

// TestPeekOfAWindow: a reader that waits for more than a window can hold gets what there is. It would wait for the writer, and the writer
// for it.
func TestPeekOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := large(3 << 20)
		rec, ended := fill(t, answer, 1, nil)
		reader := rec.NewReader()
		defer reader.Close()
		never := func([]byte) bool { return false }
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if p, err := reader.Peek(ctx, never); err != nil || len(p) < window || !bytes.HasPrefix(answer, p) {
			t.Errorf("%d bytes, %v", len(p), err)
		}
		var got []byte
		for end := false; !end; {
			var p []byte
			var err error
			if p, end, err = reader.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			got = append(got, p...)
		}
		if err := <-ended; err != nil || !bytes.Equal(got, answer) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}
