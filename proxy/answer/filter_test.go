package answer

import (
	"bytes"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

// However the stream is cut, the filter lets out what a replay without usage would have.
func TestUsageFilter(t *testing.T) {
	for _, x := range fixtures(t) {
		if !x.stream || x.family == canon.Responses || x.name == "chat-folded.sse" {
			continue
		}
		want := replay(t, x.freeze(t), ReplayOptions{Stream: true})
		for n := 1; n <= len(x.body); n++ {
			var f UsageFilter
			var got []byte
			for at := 0; at < len(x.body); at += n {
				got = f.Write(got, x.body[at:min(at+n, len(x.body))])
			}
			if got = f.Flush(got); !bytes.Equal(got, want) {
				t.Fatalf("%s in pieces of %d:\n%s\nwant\n%s", x.name, n, got, want)
			}
		}
	}
}

func TestUsageFilterPasses(t *testing.T) {
	for _, c := range []struct{ name, in string }{
		{"a cut event", "data: {\"choices\":[],\"usage\":{}"},
		{"what is not JSON", "data: \"usage\" oops\n\n"},
		{"text about usage", "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}]}\n\n"},
		{"an event too large", "data: " + strings.Repeat(" ", DefaultMaxEvent) + "{\"usage\":null}\n\ndata: {\"usage\":null}\n\n"},
		{"keep-alives", ": a\n\n: b\r\n\r\n"},
	} {
		var f UsageFilter
		got := f.Write(nil, []byte(c.in[:len(c.in)/2]))
		got = f.Write(got, []byte(c.in[len(c.in)/2:]))
		if got = f.Flush(got); string(got) != c.in {
			t.Errorf("%s: %d bytes became %d", c.name, len(c.in), len(got))
		}
		if got = f.Flush(nil); len(got) != 0 {
			t.Errorf("%s: flushed twice", c.name)
		}
	}
}

// A whole event goes out at once: nothing waits for the one behind it.
func TestUsageFilterDoesNotDelay(t *testing.T) {
	var f UsageFilter
	for _, event := range []string{"data: {\"a\":1}\n\n", ": ping\n\n", "data: {\"b\":2}\r\n\r\n"} {
		if got := f.Write(nil, []byte(event)); string(got) != event {
			t.Errorf("%q lets out %q", event, got)
		}
	}
}
