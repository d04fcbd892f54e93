package attacks_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestLabelsHaveBounds: line 12 of the list in SECURITY.md. What a request names, and what is then kept with the entry beside its
// answer, is short: a client cannot make the process keep megabytes that no capacity counts.
func TestLabelsHaveBounds(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	before, _ := p.memory()
	long := strings.Repeat("n", 8<<20)
	for i := range 8 {
		name := fmt.Sprint(i) + long
		for _, body := range []string{
			`{"model":"m","cache":{"namespace":"` + name + `"},"messages":[{"role":"user","content":"q"}]}`,
			`{"model":"` + name + `","messages":[{"role":"user","content":"q"}]}`,
		} {
			r := p.Do(http.MethodPost, p.API+"/v1/chat/completions", body)
			if r.Status != 400 || !strings.Contains(r.Body, "are allowed") {
				t.Errorf("a name of 8 MiB: status %d: %.200s", r.Status, r.Body)
			}
		}
	}
	now, _ := p.memory()
	charged, _ := p.Metric("reprise_bytes")
	t.Logf("measured: 16 requests with names of 8 MiB: %d MiB more, %.0f bytes charged", (now-before)>>10, charged)
	if charged > 0 {
		t.Errorf("%.0f bytes are kept", charged)
	}
	for _, model := range []string{"ft:gpt-4o-mini-2024-07-18:organization-name:a-long-suffix:AbCd1234", "/models/" + strings.Repeat("directory/", 40) + "Q4_K_M.gguf"} {
		r := p.Do(http.MethodPost, p.API+"/v1/chat/completions", fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"q"}]}`, model))
		if r.Status != 200 {
			t.Errorf("the model %s: status %d: %s", model, r.Status, r.Body)
		}
	}
}

// TestReplaysHaveABound: line 13 of the list in SECURITY.md. Clients that ask for a large stored answer and do not read it make the
// process hold a replay for each: over the limit they get 503.
func TestReplaysHaveABound(t *testing.T) {
	t.Parallel()
	const limit, clients = 192, 60
	text := strings.Repeat("x", 8<<20)
	p := start(t, "REPRISE_MEMORY_LIMIT=192MiB", "REPRISE_MAX_ENTRY_BYTES=9MiB", upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer(text))
	}))
	if r := p.ask("large"); r.Status != 200 {
		t.Fatal(r.Status)
	}
	if r := p.ask("large"); r.Cache() != "exact" {
		t.Fatal(r.Cache(), r.Header)
	}
	body := chat("large")
	message := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	var all sync.WaitGroup
	for range clients {
		c := p.dial()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		all.Go(func() {
			fmt.Fprint(c, message)
			io.ReadFull(c, make([]byte, 100)) // the answer begins, and is not read
		})
	}
	all.Wait()
	_, highest := p.memory()
	held, _ := p.Metric(`reprise_memory_used_bytes{kind="bodies"}`)
	refused, _ := p.Metric(`reprise_refused_total{reason="memory"}`)
	t.Logf("measured: %d clients that read no more than 100 bytes of 8 MiB: highest %d MiB, %.0f MiB charged, %.0f refused", clients, highest>>10, held/(1<<20), refused)
	if refused == 0 {
		t.Error("none was refused")
	}
	if most := limit * 12 / 10; highest>>10 > most {
		t.Errorf("the process took %d MiB of %d", highest>>10, limit)
	}
}
