package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestView draws at given times and compares the screen.
func TestView(t *testing.T) {
	var out bytes.Buffer
	s := Summary{}
	done := 0.0
	v := &View{Out: &out, Now: func() Summary { return s }, Done: func() float64 { return done }}
	s, done = Summary{Requests: 100, Exact: 40, Misses: 60, Seconds: 1}, 0.1
	v.draw()
	s, done = Summary{Requests: 1300, Exact: 1040, Misses: 260, Seconds: 4}, 0.4
	v.draw()
	const want = `1.0 s: 100 requests, 100/s; exact 40, semantic 0, shared 0, miss 60; 0 entries, 0 evicted; 10 %, 9.0 s left
4.0 s: 1,300 requests, 325/s; exact 1,040, semantic 0, shared 0, miss 260; 0 entries, 0 evicted; 40 %, 6.0 s left
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}

	out.Reset()
	v.Live = true
	v.draw()
	first := strings.Count(out.String(), "\n")
	if strings.Contains(out.String(), "\x1b[9A") || !strings.Contains(out.String(), " 80.0 %  ████████████████████████████████\n") {
		t.Errorf("the first block is %q", out.String())
	}
	out.Reset()
	v.draw()
	if !strings.HasPrefix(out.String(), "\x1b[9A\x1b[2K") || first != 9 || strings.Count(out.String(), "\n") != first {
		t.Errorf("the second block does not replace the first: %q", out.String())
	}
}

// TestSmallTerminal: no line is as wide as the terminal, and the block has fewer lines than it has rows.
func TestSmallTerminal(t *testing.T) {
	s := Summary{Requests: 123_456, Exact: 100_000, Semantic: 456, Misses: 23_000, Seconds: 4000, TokensSaved: 12_345_678, UpstreamSecondsSaved: 99_999, entries: 100_000}
	for _, size := range [][2]int{{0, 0}, {200, 50}, {80, 24}, {60, 24}, {40, 24}, {20, 24}, {80, 9}, {80, 5}, {40, 2}, {1, 1}} {
		var out bytes.Buffer
		v := &View{Out: &out, Live: true, Now: func() Summary { return s }, Done: func() float64 { return 0.5 }, Size: func() (int, int) { return size[0], size[1] }}
		v.draw()
		out.Reset()
		v.draw()
		block := v.block(s)
		if n := len(block); n == 0 || size[1] > 1 && n >= size[1] || size[1] == 0 && n != 9 {
			t.Errorf("%v: %d lines", size, n)
		}
		for _, line := range block {
			if n := len([]rune(line)); size[0] > 1 && n >= size[0] {
				t.Errorf("%v: %d columns: %q", size, n, line)
			}
		}
		if size[0] >= 80 && size[1] >= 24 && !strings.Contains(out.String(), "█████████████████████████████") {
			t.Errorf("%v: %q", size, out.String())
		}
	}
	rows := 24
	var out bytes.Buffer
	v := &View{Out: &out, Live: true, Now: func() Summary { return s }, Done: func() float64 { return 0.5 }, Size: func() (int, int) { return 80, rows }}
	v.draw()
	rows = 4
	out.Reset()
	if v.draw(); !strings.HasSuffix(out.String(), "\x1b[J") {
		t.Errorf("a shorter block leaves lines of the one before: %q", out.String())
	}
}

func TestUnknownProgress(t *testing.T) {
	for done, want := range map[float64]string{-1: "", 0: "  0 %", 1: "100 %, 0.0 s left"} {
		v := &View{Done: func() float64 { return done }}
		if got := v.progress(Summary{Requests: 5, Seconds: 1}); got != want {
			t.Errorf("%v: %q, want %q", done, got, want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{clock(4.21), "4.2 s"}, {clock(192), "3m12s"}, {clock(93900), "26h5m"},
		{brief(140 * time.Microsecond), "0.14 ms"}, {brief(157 * time.Millisecond), "157 ms"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
