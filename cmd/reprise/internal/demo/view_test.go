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
4.0 s: 1,300 requests, 400/s; exact 1,040, semantic 0, shared 0, miss 260; 0 entries, 0 evicted; 40 %, 6.0 s left
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

// TestRateWindow: the rate does not depend on marks before the window.
func TestRateForgets(t *testing.T) {
	v := &View{}
	for i := range 100 {
		requests := int64(i * 1000)
		if i > 50 {
			requests = int64(50*1000 + (i-50)*10)
		}
		v.note(mark{float64(i), float64(i) / 200, requests})
	}
	if r := v.rate(); r != 10 {
		t.Errorf("rate %v, want 10", r)
	}
	if len(v.history) > rateWindow+2 {
		t.Errorf("%d marks are stored", len(v.history))
	}
	if left := v.left(); left < 100 || left > 102 {
		t.Errorf("%v s left, want 101", left)
	}
}

func TestUnknownProgress(t *testing.T) {
	v := &View{}
	v.note(mark{1, -1, 5})
	if got := v.progress(); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{clock(4.21), "4.2 s"}, {clock(192), "3m12s"}, {clock(93900), "26h5m"},
		{brief(140 * time.Microsecond), "0.14 ms"}, {brief(157 * time.Millisecond), "157 ms"},
		{binary(512), "0.5 KiB"}, {binary(3 << 20), "3.0 MiB"}, {binary(5 << 30), "5.0 GiB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
