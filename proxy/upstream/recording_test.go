package upstream

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
)

// TestRecordingWakesItsReaders: each write reaches readers that wait already, whole and in order, before the end.
func TestRecordingWakesItsReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewRecording(200, nil)
		got := make(chan string)
		for range 3 {
			go func() {
				for off := 0; ; {
					p, end, err := rec.Next(t.Context(), off)
					off += len(p)
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
			{func() { rec.Write([]byte("ab")) }, "ab false <nil>"}, {func() { rec.Write([]byte("c")) }, "c false <nil>"},
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
		if p, end, err := rec.Next(t.Context(), 0); string(p) != "abc" || !end || err != io.ErrUnexpectedEOF {
			t.Errorf("a late reader got %q, %v, %v", p, end, err)
		}
	})
}

// TestNarrowedBehindItsReader: a reader that has read all there is, and waits, makes room when the recording is narrowed.
func TestNarrowedBehindItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewRecording(200, nil)
		rec.Write(make([]byte, 2*window))
		read := make(chan int)
		go func() {
			for off := 0; ; {
				p, end, _ := rec.Next(t.Context(), off)
				if off += len(p); end {
					read <- off
					return
				}
			}
		}()
		synctest.Wait() // it has read both windows and waits
		rec.narrowDown(window)
		rec.waitForRoom(t.Context())
		rec.Write(make([]byte, window))
		rec.Finish(nil)
		if n := <-read; n != 3*window {
			t.Errorf("%d bytes were read, want %d", n, 3*window)
		}
	})
}

// TestEndlessAnswerIsNotHeld: of an answer that never ends, at most a window is held for its one reader.
func TestEndlessAnswerIsNotHeld(t *testing.T) {
	rec := NewRecording(200, nil)
	const total = 64 << 20
	done := make(chan error, 1)
	go func() {
		err := rec.Fill(t.Context(), io.LimitReader(endless{}, total), 1<<20, func() bool { return true })
		rec.Finish(err)
		done <- err
	}()
	for off := 0; ; {
		p, end, err := rec.Next(t.Context(), off)
		if err != nil {
			t.Fatal(err)
		}
		rec.mu.Lock()
		held := len(rec.body)
		rec.mu.Unlock()
		if off > 4<<20 && held > window+(64<<10) {
			t.Fatalf("%d bytes are held at offset %d", held, off)
		}
		if off += len(p); end {
			if off != total {
				t.Errorf("%d bytes of %d came through", off, total)
			}
			break
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
