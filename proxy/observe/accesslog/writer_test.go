package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lines is a writer that can be read while it is written to.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestWrittenWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lines
		w := NewWriter(&out, false)
		for round := range 3 {
			w.Line([]byte("a\n"))
			time.Sleep(500 * time.Millisecond)
			w.Line([]byte("b\n"))
			synctest.Wait()
			if got := strings.Count(out.String(), "\n"); got != 2*round {
				t.Fatalf("round %d: %d lines before the second", round, got)
			}
			time.Sleep(501 * time.Millisecond)
			synctest.Wait()
			if got := strings.Count(out.String(), "\n"); got != 2*round+2 {
				t.Fatalf("round %d: %d lines after it", round, got)
			}
			time.Sleep(time.Hour)
		}
		close1(t, w)
	})
}

func TestWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lines
		w := NewWriter(&out, false)
		w.Line([]byte("request\n"))
		fmt.Fprintln(w, "event")
		synctest.Wait()
		if got := out.String(); got != "request\nevent\n" {
			t.Fatalf("an event: %q", got)
		}
		long := []byte(strings.Repeat("x", 1023) + "\n")
		for range enoughToSend / len(long) {
			w.Line(long)
		}
		synctest.Wait()
		if got := len(out.String()); got != 14+enoughToSend {
			t.Fatalf("64 KiB: %d", got)
		}
		close1(t, w)
	})
}

func close1(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Close(time.Second); err != nil {
		t.Error(err)
	}
}

// stuck is a pipe whose reader does not read until it is released.
type stuck struct {
	lines
	release chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.release
	return s.lines.Write(p)
}

func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{release: make(chan struct{})}
		w := NewWriter(out, true)
		line := []byte(strings.Repeat("x", 1023) + "\n")
		w.Line(line)
		time.Sleep(2 * time.Second) // it is being written
		const more = 5000
		for range more {
			w.Line(line)
		}
		if held, lost := mostWaiting>>10, w.Lost(); lost != int64(more-held) {
			t.Errorf("%d of %d lines lost, %d have room", lost, more, held)
		}
		fmt.Fprintln(w, "an event has room")
		if err := w.Close(3 * time.Second); !errors.Is(err, errStuck) {
			t.Errorf("Close: %v", err)
		}
		close(out.release)
		synctest.Wait()
		got := out.String()
		if n := strings.Count(got, "x\n"); n != 1+mostWaiting>>10 {
			t.Errorf("%d lines written", n)
		}
		if !strings.Contains(got, "an event has room\n") || !strings.Contains(got, fmt.Sprintf(`"msg":"the log lacks lines","lost":%d}`, more-mostWaiting>>10)) {
			t.Errorf("missing: %.300q", strings.ReplaceAll(got, string(line), ""))
		}
		before := w.Lost()
		w.Line(line)
		fmt.Fprintln(w, "late")
		if w.Lost() != before+2 {
			t.Error("lines after Close are not counted")
		}
	})
}

// disk is a full disk: each write takes so many bytes and fails, until there is room.
type disk struct {
	lines
	takes int // negative: all
}

func (d *disk) Write(p []byte) (int, error) {
	if d.takes < 0 {
		return d.lines.Write(p)
	}
	n, _ := d.lines.Write(p[:min(d.takes, len(p))])
	return n, errors.New("no space left on device")
}

func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &disk{takes: 6}
		w := NewWriter(out, false)
		put := func(text string) { w.Line([]byte(text)); time.Sleep(2 * time.Second); synctest.Wait() }
		put("aaaa\nbbbb\n")
		if got := out.String(); got != "aaaa\nb" || w.Lost() != 1 {
			t.Fatalf("%q, %d lost", got, w.Lost())
		}
		out.takes = 0
		put("cccc\n")
		if w.Lost() != 2 {
			t.Fatalf("%d lost", w.Lost())
		}
		out.takes = -1
		put("dddd\n")
		got := strings.Split(out.String(), "\n")
		if len(got) != 5 || got[0] != "aaaa" || got[1] != "b" || !strings.Contains(got[2], `level=WARN msg="the log lacks lines" lost=2`) || got[3] != "dddd" {
			t.Errorf("%q", got)
		}
		put("eeee\n")
		if strings.Count(out.String(), "lacks") != 1 {
			t.Errorf("said twice: %q", out.String())
		}
		close1(t, w)
	})
}

// TestManyWriters: no line is lost, torn or mixed with another one.
func TestManyWriters(t *testing.T) {
	var out lines
	w := newWriter(&out, false, time.Millisecond)
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			line := []byte(strings.Repeat(string(rune('a'+n)), 100) + "\n")
			for i := range 500 {
				if w.Line(line); i%50 == 0 {
					_, _ = w.Write(line)
				}
			}
		})
	}
	all.Wait()
	close1(t, w)
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(got) != 16*510 || w.Lost() != 0 {
		t.Errorf("%d lines, %d lost", len(got), w.Lost())
	}
	for _, line := range got {
		if line != strings.Repeat(line[:1], 100) {
			t.Fatalf("mixed: %q", line)
		}
	}
}
