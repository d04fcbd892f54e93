package answer_test

import (
	"strings"
	"testing"

	"reprise/proxy/answer"
)

func TestUsageFilterPasses(t *testing.T) {
	for _, c := range []struct{ name, in string }{
		{"a cut event", "data: {\"choices\":[],\"usage\":{}"},
		{"what is not JSON", "data: \"usage\" oops\n\n"},
		{"text about usage", "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}]}\n\n"},
		{"an event too large", "data: " + strings.Repeat(" ", 2<<20) + "{\"usage\":null}\n\ndata: {\"usage\":null}\n\n"},
		{"keep-alives", ": a\n\n: b\r\n\r\n"},
	} {
		f := answer.UsageFilter{Streams: chat.Streams}
		got := append([]byte(nil), f.Write([]byte(c.in[:len(c.in)/2]))...)
		got = append(got, f.Write([]byte(c.in[len(c.in)/2:]))...)
		if got = append(got, f.Rest()...); string(got) != c.in {
			t.Errorf("%s: %d bytes became %d", c.name, len(c.in), len(got))
		}
		if got = f.Rest(); len(got) != 0 {
			t.Errorf("%s: the rest is there twice", c.name)
		}
	}
}

// A whole event goes out at once: nothing waits for the one behind it.
func TestUsageFilterDoesNotDelay(t *testing.T) {
	f := answer.UsageFilter{Streams: chat.Streams}
	for _, event := range []string{"data: {\"a\":1}\n\n", ": ping\n\n", "data: {\"b\":2}\r\n\r\n"} {
		if got := f.Write([]byte(event)); string(got) != event {
			t.Errorf("%q lets out %q", event, got)
		}
	}
}

// What passes as it is, is not copied.
func TestUsageFilterCopiesNothing(t *testing.T) {
	f := answer.UsageFilter{Streams: chat.Streams}
	piece := []byte("data: {\"a\":1}\n\ndata: {\"b\":2}\n\n")
	if n := testing.AllocsPerRun(100, func() { f.Write(piece) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := f.Write(piece); &got[0] != &piece[0] {
		t.Error("a piece was copied")
	}
}
