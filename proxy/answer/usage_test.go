package answer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// onlyUsage marks an empty usage as the APIs with the option include_usage do.
type onlyUsage struct{ Streams }

func (onlyUsage) Mark(m *Marker, event gjson.Result) {
	event.ForEach(func(k, v gjson.Result) bool {
		if k.Str == "usage" && v.Type == gjson.Null {
			m.Usage(k, v, nil)
		}
		return true
	})
}

// parsedUsage is what the filter finds by parsing an event.
func parsedUsage(ev Event) []Slot {
	var m Marker
	r, err := Parse(ev.Data)
	if err == nil {
		m.event(ev, 0)
		onlyUsage{}.Mark(&m, r)
	}
	return m.slots
}

// TestEmptyUsageIsFound: in every valid event the filter finds the same usage without parsing as with it.
func TestEmptyUsageIsFound(t *testing.T) {
	parts := []string{`"usage":null`, `"usage": null`, `"usage":{"a":1}`, `"a":{"usage":null}`, `"a":{"b":1,"usage":null}`, `"a":[{"b":1,"usage":null}]`, `"a":"usage"`,
		`"a":"\"usage\":null"`, `"a":"x,\"usage\":null"`, `"\u0075sage":null`, `"obfuscation":"}{]["`, `"a":"\\"`, `"choices":[{"delta":{"content":" w\u4e2d"}}]`, `"a":1`, `"a":1, "usage":null`, `"a":"\"}"`, `"usage":[]`, `"usage":nullx`}
	r, fast := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		object := "{"
		for i := range 1 + r.IntN(5) {
			if i > 0 {
				object += ","
			}
			object += parts[max(r.IntN(len(parts)+8)-8, 0)]
		}
		object += "}"
		if !gjson.Valid(object) || !strings.Contains(object, `"usage"`) { // an event without the name is not looked into
			continue
		}
		events := EventsOf([]byte("data: " + object + "\n\n"))
		ev, _ := events.Next()
		f := UsageFilter{Streams: onlyUsage{}}
		if got, want := fmt.Sprint(f.look(ev)), fmt.Sprint(parsedUsage(ev)); got != want {
			t.Fatalf("%s: %s, want %s", object, got, want)
		}
		if f.empty[0].Len > 0 {
			fast++
		}
	}
	if fast < 300 {
		t.Errorf("%d events were not parsed", fast)
	}
}

// TestEmptyUsageIsNotParsed: the events of the streams of today are not parsed.
func TestEmptyUsageIsNotParsed(t *testing.T) {
	f := UsageFilter{} // a Mark would panic
	const head, tail = `data: {"id":"x","choices":[{"index":0,"delta":{"content":" a"},"finish_reason":null}]`, "}\n\n"
	for _, rest := range []string{`,"usage":null`, `,"usage":null,"obfuscation":"x}"`} {
		if got, want := string(f.Write([]byte(head+rest+tail))), head+rest[len(`,"usage":null`):]+tail; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	piece := slices.Repeat([]byte(head+`,"usage":null`+tail), 20)
	if n := testing.AllocsPerRun(100, func() { f.Write(piece) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
