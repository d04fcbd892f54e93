package attacks_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// repeated is head, then unit as often as it fits size bytes with commas between, then tail.
func repeated(size int, head, unit, tail string) string {
	n := (size-len(head)-len(tail))/(len(unit)+1) - 1
	return head + strings.Repeat(unit+",", n) + unit + tail
}

// numbered is an object of so many members with different names.
func numbered(size int, form string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"q"}],"metadata":{`)
	for i := 0; b.Len() < size-200; i++ {
		fmt.Fprintf(&b, form, i)
		b.WriteByte(',')
	}
	b.WriteString(`"z":1}}`)
	return b.String()
}

// hostileBodies are bodies of size bytes that are costly to read, one for each part of the cost.
func hostileBodies(size int) map[string]string {
	return map[string]string{
		"numbers": repeated(size, `{"model":"m","input":[`, "1", `]}`), // of embeddings
		"many numbers and a text": repeated(3_900_000, `{"model":"m","metadata":[`, "1", `],"messages":[{"role":"user","content":"`) +
			strings.Repeat(`\n\"`, (size-4_000_000)/4) + `"}]}`,
		"long names": numbered(size, `"`+strings.Repeat("x", 64)+`%08d":1`),
		"messages":   repeated(size, `{"model":"m","messages":[`, `{"role":"user"},{"role":"assistant"}`, `]}`),
	}
}

// TestHostileBodiesCostNoMoreThanTheirSize: line 9 of the list in SECURITY.md. A body of many small values costs memory in proportion
// to what any body of its size costs, alone and together with others of its kind.
func TestHostileBodiesCostNoMoreThanTheirSize(t *testing.T) {
	t.Parallel()
	const size, together = 31 << 20, 4
	setting := upstream(t, echo())
	for name, body := range hostileBodies(size) {
		path := "/v1/chat/completions"
		if name == "numbers" {
			path = "/v1/embeddings"
		}
		for _, n := range []int{1, together} {
			p := start(t, setting)
			before, _ := p.memory()
			replies := make([]reply, n)
			var wg sync.WaitGroup
			for i := range replies {
				wg.Go(func() { replies[i], _ = p.try(http.MethodPost, p.API+path, body) })
			}
			wg.Wait()
			_, highest := p.memory()
			took := (highest - before) >> 10
			t.Logf("measured: %d x %s: %d MiB, status %d", n, name, took, replies[0].Status)
			// A body takes its size, as much again while its buffer grows, and a tape of 32 MiB with what it grew out of.
			if most := n * 160; took > most {
				t.Errorf("%d bodies of %d MiB (%s) cost %d MiB, want at most %d", n, size>>20, name, took, most)
			}
			for _, r := range replies {
				if r.Status != 200 && (r.Status != 400 || !strings.Contains(r.Body, "allowed") && !strings.Contains(r.Body, "body has more than")) {
					t.Errorf("%s: status %d: %.200s", name, r.Status, r.Body)
				}
			}
			p.Kill()
		}
	}
}
