package canon

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(node{}); n != nodeBytes {
		t.Errorf("a node has %d bytes", n)
	}
	if n := unsafe.Sizeof(stretch{}); n != stretchBytes {
		t.Errorf("a stretch has %d bytes", n)
	}
	if n := unsafe.Sizeof(Turn{}); n != turnBytes {
		t.Errorf("a Turn has %d bytes", n)
	}
	if n := unsafe.Sizeof(Segment{}); n != segmentBytes {
		t.Errorf("a Segment has %d bytes", n)
	}
}

// TestMemoryIsABound: what the scan of a body takes is never more than Memory says, and not much more than the body where that has
// few values.
func TestMemoryIsABound(t *testing.T) {
	of := func(unit string, n int) string { return `{"a":[` + strings.Repeat(unit+",", n) + unit + `]}` }
	var names strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&names, `"%s%07d":0,`, strings.Repeat("x", i%80), i)
	}
	for name, body := range map[string]string{
		"nothing":       `{}`,
		"numbers":       of("1", 300_000),
		"too many":      of("1", maxValues+10),
		"objects":       of(`{"a":1}`, 60_000),
		"nests":         of(strings.Repeat("[", 90)+strings.Repeat("]", 90), 2_000),
		"nested names":  of(strings.Repeat(`{"a":`, 90)+"0"+strings.Repeat("}", 90), 2_000),
		"escapes":       of(`"\n"`, 100_000),
		"one text":      of(`"`+strings.Repeat(`\n`, 1<<18)+`"`, 1),
		"short, long":   of("1", 200_000)[:400_000] + `,"` + strings.Repeat(`\u00e9`, 1<<20) + `"]}`,
		"long, short":   `{"b":"` + strings.Repeat("x", 4<<20) + `",` + of("1", 100_000)[1:],
		"many names":    "{" + names.String() + `"z":0}`,
		"plain picture": of(`"`+strings.Repeat("iVBO", 1<<20)+`"`, 1),
	} {
		var s scanner
		_ = s.scan([]byte(body))
		most := Memory([]byte(body))
		if int64(s.size()) > most {
			t.Errorf("%s: the scan of %d bytes takes %d, more than %d", name, len(body), s.size(), most)
		}
		if name == "plain picture" && most > 1<<20 {
			t.Errorf("%s: %d bytes would be reserved for a body of %d", name, most, len(body))
		}
	}
}

// TestTapeHasItsBound: the tape of a body with too many values is not longer than that of the largest allowed one.
func TestTapeHasItsBound(t *testing.T) {
	var s scanner
	if err := s.scan([]byte(`{"a":[` + strings.Repeat("1,", maxValues+10) + `1]}`)); err == nil {
		t.Fatal("not refused")
	}
	if cap(s.nodes) > maxValues {
		t.Errorf("a tape of %d values", cap(s.nodes))
	}
}
