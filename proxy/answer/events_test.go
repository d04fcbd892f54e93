package answer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown is an event in a form that compares.
func shown(ev Event) string { return fmt.Sprintf("%q %q", ev.Name, ev.Data) }

// readEvents feeds the stream in pieces of n bytes and returns its events; it checks that no byte is lost.
func readEvents(t *testing.T, stream []byte, n int) (events []string) {
	t.Helper()
	es := &Events{max: len(stream) + 1}
	var raw []byte
	for at := 0; at < len(stream); at += n {
		es.feed(stream[at:min(at+n, len(stream))])
		for {
			ev, ok := es.Next()
			if !ok {
				break
			}
			raw = append(raw, ev.Raw...)
			if ev.Data != nil {
				events = append(events, shown(ev))
			}
		}
	}
	if raw = append(raw, es.Rest()...); !bytes.Equal(raw, stream) {
		t.Errorf("pieces of %d: raw bytes are %q, want %q", n, raw, stream)
	}
	return events
}

var lineEnd = regexp.MustCompile("\r\n|\n|\r")

// naiveEvents reads a whole stream the way the standard words it, line by line.
func naiveEvents(stream []byte) (events []string) {
	lines := lineEnd.Split(strings.TrimPrefix(string(stream), "\ufeff"), -1)
	name, data := "", ""
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != "" {
				events = append(events, fmt.Sprintf("%q %q", name, strings.TrimSuffix(data, "\n")))
			}
			name, data = "", ""
		case field == "event":
			name = value
		case field == "data":
			data += value + "\n"
		}
	}
	return events
}

func TestEvents(t *testing.T) {
	for _, c := range []struct{ name, stream, want string }{
		{"plain", "data: a\n\ndata:b\n\n", `"" "a"|"" "b"`},
		{"crlf", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", `"x" "a"|"" "b"`},
		{"cr", "data: a\r\rdata: b\r\r", `"" "a"|"" "b"`},
		{"mixed ends", "data: a\rdata: b\r\ndata: c\n\r\n", `"" "a\nb\nc"`},
		{"comments", ": hello\n\n:\ndata: a\n: inside\n\n", `"" "a"`},
		{"several data lines", "data: a\ndata\ndata:  b\n\n", `"" "a\n\n b"`},
		{"empty data", "data\n\ndata:\n\n", `"" ""|"" ""`},
		{"name without data", "event: x\n\ndata: a\n\n", `"" "a"`},
		{"other fields", "id: 1\nretry: 5\nfoo\ndata: a\n\n", `"" "a"`},
		{"byte order mark", "\ufeffdata: a\n\n", `"" "a"`},
		{"mark later", "data: a\n\n\ufeffdata: b\n\n", `"" "a"`},
		{"cut before the empty line", "data: a\n\ndata: b\n", `"" "a"`},
		{"cut in the empty line", "data: a\r\n\r", ``},
		{"colon in data", "data: {\"a\":1}\n\n", `"" "{\"a\":1}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := 1; n <= len(c.stream); n++ {
				if got := strings.Join(readEvents(t, []byte(c.stream), n), "|"); got != c.want {
					t.Errorf("pieces of %d: %s, want %s", n, got, c.want)
				}
			}
		})
	}
}

// Wherever the stream is cut in two, the events are the same.
func TestEventsSplitAnywhere(t *testing.T) {
	streams, err := filepath.Glob("../api/*/testdata/*/answers/*.sse")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, path := range streams {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(naiveEvents(body), "|")
		for cut := range body {
			var es Events
			var got []string
			for _, p := range [][]byte{body[:cut], body[cut:]} {
				es.feed(p)
				for ev, ok := es.Next(); ok; ev, ok = es.Next() {
					if ev.Data != nil {
						got = append(got, shown(ev))
					}
				}
			}
			if strings.Join(got, "|") != want {
				t.Fatalf("%s cut at %d: %s, want %s", path, cut, got, want)
			}
		}
	}
}

func TestLargeEvent(t *testing.T) {
	large := "data: " + strings.Repeat("x", 1<<20) + "\n\n"
	var es Events
	for i := 0; i < len(large); i += 1000 {
		es.feed([]byte(large[i:min(i+1000, len(large))]))
		if ev, ok := es.Next(); ok && len(ev.Data) != 1<<20 {
			t.Errorf("data of %d bytes", len(ev.Data))
		}
	}
	if es.Err() != nil || len(es.Rest()) != 0 {
		t.Errorf("error %v, %d bytes left", es.Err(), len(es.Rest()))
	}
	for _, n := range []int{1, 7, 100} { // whole or in pieces, an event over the bound is refused
		es := &Events{max: 19}
		stream := "data: fits\n\ndata: is too large\n\ndata: c\n\n"
		seen := 0
		for i := 0; i < len(stream); i += n {
			es.feed([]byte(stream[i:min(i+n, len(stream))]))
			for _, ok := es.Next(); ok; _, ok = es.Next() {
				seen++
			}
		}
		if es.Err() != errEventTooLarge || seen != 1 {
			t.Errorf("pieces of %d: %d events, error %v", n, seen, es.Err())
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("\ufeffevent: a\r\ndata: x\r\rdata: y\n: c\n\n"), 3)
	f.Add([]byte("data: a\rdata: b\r\ndata: c\n\r\n\r"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		stream = append(stream, ':') // decides whether a last CR stands alone, and begins a line that never ends
		want := strings.Join(naiveEvents(stream), "|")
		for _, n := range []int{1, max(1, n%16), len(stream)} {
			if got := strings.Join(readEvents(t, stream, n), "|"); got != want {
				t.Errorf("pieces of %d: %s, want %s", n, got, want)
			}
		}
	})
}
