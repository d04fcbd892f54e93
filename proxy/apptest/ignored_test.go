package apptest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy"
	"reprise/proxy/canon"
)

// echo answers with the body that it got.
type echo struct {
	mu     sync.Mutex
	bodies []string
	hold   chan struct{} // nil, or closed when answers may begin
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.bodies = append(e.bodies, string(body))
	e.mu.Unlock()
	if e.hold != nil {
		<-e.hold
	}
	write200(w, object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": list{
		object{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": string(body)}}}})
}

const chat = "/v1/chat/completions"

// asked is a request with one more member, under a system prompt.
func asked(system, member string) []byte {
	return fmt.Appendf(nil, `{"model":"m","messages":[{"role":"system","content":%q}, {"role":"user","content":"Hello?"}]%s}`, system, member)
}

// TestIgnoredFieldDecides: an answer that depends on a field is served to a request with another value only where the operator has said that
// the field does not count; what goes upstream has it in any case, byte for byte.
func TestIgnoredFieldDecides(t *testing.T) {
	for _, name := range append(strings.Split(canon.OfferedFields(), ", "), "trace_id") {
		for _, ignored := range []bool{false, true} {
			up, fields := &echo{}, []string(nil)
			if ignored {
				fields = []string{name}
			}
			p := start(t, up, proxy.ModeSemantic, fields, nil)
			bodies := [][]byte{asked("s", ""), asked("s", fmt.Sprintf(`, %q : "ann"`, name)), asked("s", fmt.Sprintf(`,%q:"bob"`, name)), asked("s", fmt.Sprintf(`,%q:{"a":"ann"}`, name))}
			var sent []string
			for i, body := range bodies {
				got := p.ask(chat, body)
				aside := strings.HasPrefix(name, "prompt_cache") // which never counts
				if hit := i > 0 && (ignored || aside); got.hit != hit {
					t.Fatalf("%s, ignored %v: hit %v: %s", name, ignored, got.hit, got.status)
				}
				if !got.hit {
					sent = append(sent, string(body))
				}
				if got.text != sent[len(sent)-1] {
					t.Errorf("%s, ignored %v: the answer to another request: %s", name, ignored, got.text)
				}
				if named := strings.Contains(got.status, "ignored="+name+`"`); named != (ignored && i > 0) {
					t.Errorf("%s, ignored %v: %s", name, ignored, got.status)
				}
			}
			if !slices.Equal(up.bodies, sent) {
				t.Errorf("%s, ignored %v: the upstream got %q, want %q", name, ignored, up.bodies, sent)
			}
		}
	}
}

// TestMaskDecides: the same for what changes in a system prompt.
func TestMaskDecides(t *testing.T) {
	const pattern = `Today is (?P<date>\d{4}-\d\d-\d\d)`
	for _, masked := range []bool{false, true} {
		up, patterns := &echo{}, []string(nil)
		if masked {
			patterns = []string{pattern}
		}
		p := start(t, up, proxy.ModeSemantic, nil, patterns)
		for i, c := range []struct {
			system string
			same   bool // as the first under the pattern
		}{{"Today is 2026-01-02. Be brief.", true}, {"Today is 2026-01-03. Be brief.", true}, {"Today is date. Be brief.", false}, {"Today is 2026-01-02. Be long.", false}} {
			got := p.ask(chat, asked(c.system, ""))
			if hit := i > 0 && c.same && masked; got.hit != hit {
				t.Errorf("masked %v: %s: hit %v", masked, c.system, got.hit)
			}
			if named, want := strings.Contains(got.status, "ignored=date"), masked && c.system != "Today is date. Be brief."; named != want {
				t.Errorf("masked %v: %s: %s", masked, c.system, got.status)
			}
			if !got.hit && up.bodies[len(up.bodies)-1] != string(asked(c.system, "")) {
				t.Errorf("the upstream got %s", up.bodies[len(up.bodies)-1])
			}
		}
	}
}

// TestIgnoredIsExplained: explain names what was ignored, fields first.
func TestIgnoredIsExplained(t *testing.T) {
	p := start(t, &echo{}, proxy.ModeSemantic, []string{"user", "trace_id"}, []string{`(?P<date>\d{4}-\d\d-\d\d)`})
	res, err := http.Post(p.site.URL+"/v1/reprise/explain", "application/json", bytes.NewReader(asked("2026-01-02", `,"user":"ann"`)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if got := gjson.GetBytes(body, "ignored").Raw; strings.Join(strings.Fields(got), "") != `["user","date"]` {
		t.Errorf("%s", body)
	}
}

// TestSharedFlightNamesItsOwn: two requests that differ in an ignored field share one upstream call, and each answer names what was ignored
// of its own request.
func TestSharedFlightNamesItsOwn(t *testing.T) {
	up := &echo{hold: make(chan struct{})}
	p := start(t, up, proxy.ModeSemantic, []string{"user", "trace_id"}, nil)
	members := map[string]string{`,"user":"ann"`: "ignored=user", `,"trace_id":7`: "ignored=trace_id", ``: ""}
	got := make(chan [2]string, len(members))
	for member, want := range members {
		go func() {
			res, err := http.Post(p.site.URL+chat, "application/json", bytes.NewReader(asked("s", member)))
			if err != nil {
				got <- [2]string{err.Error(), want}
				return
			}
			defer res.Body.Close()
			_, _ = io.Copy(io.Discard, res.Body)
			got <- [2]string{res.Header.Get("Cache-Status"), want}
		}()
	}
	close(up.hold)
	for range members {
		if one := <-got; !strings.Contains(one[0], one[1]) || one[1] == "" && strings.Contains(one[0], "ignored=") {
			t.Errorf("%s: want %q", one[0], one[1])
		}
	}
	if len(up.bodies) != 1 {
		t.Errorf("%d upstream calls", len(up.bodies))
	}
}
