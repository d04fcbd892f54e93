package attacks_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// cpu is the processor time that the process has used, in seconds.
func (p *process) cpu() float64 {
	p.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		p.t.Skip("the time of a process is read from /proc: ", err)
	}
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

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

// hostileBodies are bodies of size bytes that are costly to read. Each has an endpoint.
func hostileBodies(size int) map[string]struct{ path, body string } {
	const embeddings, messages = "/v1/embeddings", "/v1/chat/completions"
	inInput := func(unit string) struct{ path, body string } {
		return struct{ path, body string }{embeddings, repeated(size, `{"model":"m","input":[`, unit, `]}`)}
	}
	inChat := func(body string) struct{ path, body string } { return struct{ path, body string }{messages, body} }
	nest := strings.Repeat("[", 90) + strings.Repeat("]", 90)
	return map[string]struct{ path, body string }{
		"numbers":       inInput("1"),
		"empty strings": inInput(`""`),
		"empty objects": inInput(`{}`),
		"objects":       inInput(`{"a":1}`),
		"nested":        inInput(nest),
		"escapes":       inInput(`"\n"`),
		"one long text": inChat(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat(`\n\"`, size/4-30) + `"}]}`),
		"many numbers and a text": inChat(repeated(3_900_000, `{"model":"m","metadata":[`, "1", `],"messages":[{"role":"user","content":"`) +
			strings.Repeat(`\n\"`, (size-4_000_000)/4) + `"}]}`),
		"texts of 4 KB": inInput(`"` + strings.Repeat("x", 4000) + `"`),
		"names":         inChat(numbered(size, `"%08d":1`)),
		"long names":    inChat(numbered(size, `"`+strings.Repeat("x", 64)+`%08d":1`)),
		"messages":      inChat(repeated(size, `{"model":"m","messages":[`, `{"role":"user"},{"role":"assistant"}`, `]}`)),
		"parts":         inChat(repeated(size, `{"model":"m","messages":[{"role":"user","content":[`, `{"type":"text","text":"a"}`, `]}]}`)),
	}
}

// TestHostileBodiesCostNoMoreThanTheirSize: line 9 of the list in SECURITY.md. A body of many small values costs memory in proportion
// to what any body of its size costs, alone and together with others of its kind.
func TestHostileBodiesCostNoMoreThanTheirSize(t *testing.T) {
	t.Parallel()
	const size, together = 31 << 20, 4
	setting := upstream(t, echo())
	for name, h := range hostileBodies(size) {
		// Another build is compared in all shapes; here some are enough, one for each part of the cost.
		if os.Getenv("REPRISE_ATTACK_BINARY") == "" && !slices.Contains([]string{"numbers", "long names", "messages", "many numbers and a text"}, name) {
			continue
		}
		for _, n := range []int{1, together} {
			p := start(t, setting)
			before, _ := p.memory()
			used := p.cpu()
			replies := make([]reply, n)
			var wg sync.WaitGroup
			for i := range replies {
				wg.Go(func() { replies[i], _ = p.try(http.MethodPost, p.api+h.path, h.body) })
			}
			wg.Wait()
			_, highest := p.memory()
			took := (highest - before) >> 10
			t.Logf("measured: %d x %s: %d MiB, %.2f s of processor time, status %d", n, name, took, p.cpu()-used, replies[0].status)
			// A body takes its size, as much again while its buffer grows, and a tape of 32 MiB with what it grew out of.
			if most := n * 160; took > most {
				t.Errorf("%d bodies of %d MiB (%s) cost %d MiB, want at most %d", n, size>>20, name, took, most)
			}
			for _, r := range replies {
				if r.status != 200 && (r.status != 400 || !strings.Contains(r.body, "allowed") && !strings.Contains(r.body, "body has more than")) {
					t.Errorf("%s: status %d: %.200s", name, r.status, r.body)
				}
			}
			p.kill()
		}
	}
}
