package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"reprise/internal/enginesim"
	"reprise/proxy/api/openai"
	"reprise/proxy/canon"
	"reprise/proxy/observe/align"
	"reprise/proxy/upstream/prefix"
	"reprise/store"
)

// witnessed is a rig whose upstream keeps the bodies that it gets.
func witnessed(t *testing.T, adjust ...func(*Options)) (r *rig, bodies func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	engine := enginesim.New(enginesim.Options{})
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		all = append(all, string(body))
		mu.Unlock()
		engine.ServeHTTP(w, r)
	})
	return newRigAt(t, engine, up, adjust...), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// canonicalAt sets a level for chat completions, at which lines "Now: …" are volatile.
func canonicalAt(level align.Level) func(*Options) {
	return func(o *Options) {
		o.Canonical = Forms{"chat": align.NewCanonicaliser(level, []*regexp.Regexp{regexp.MustCompile("^Now: ")})}
	}
}

// toolsOf is a member with tools of these names, whose parameters are in this order.
func toolsOf(properties string, names ...string) string {
	var all []string
	for _, name := range names {
		all = append(all, `{"type":"function","function":{"name":"`+name+`","parameters":{"type":"object","properties":{`+properties+`}}}}`)
	}
	return `"tools":[` + strings.Join(all, ",") + `]`
}

// TestCanonicalLevels: what is forwarded is what is keyed. Requests that a level makes equal are one entry, and one form goes to the upstream.
func TestCanonicalLevels(t *testing.T) {
	const forth, back = `"a":{"type":"string"},"b":{"type":"number"}`, `"b":{"type":"number"},"a":{"type":"string"}`
	for _, c := range []struct {
		level         align.Level
		first, second string
		sent          string // the body that goes out for second, "": it is a hit
	}{
		{align.C0, chat("hi", toolsOf(back, "y", "x")), chat("hi", toolsOf(back, "x", "y")), chat("hi", toolsOf(back, "x", "y"))},
		{align.C2, chat("hi", toolsOf(forth, "x")), chat("hi", toolsOf(back, "x")), ""},
		{align.C2, chat("hi", toolsOf(back, "y", "x")), chat("hi", toolsOf(back, "x", "y")), strings.ReplaceAll(strings.ReplaceAll(chat("hi", toolsOf(forth, "x", "y")),
			`"type":"object","properties":{`+forth+`}`, `"properties":{`+forth+`},"type":"object"`), "\n", "")},
		{align.C3, chat("hi", toolsOf(forth, "x", "y")), chat("hi", toolsOf(back, "y", "x")), ""},
		{align.C3, system("a\\nNow: 1\\nb"), system("Now: 1\\na\\nb"), ""},
		{align.C3, system("a"), system("Now: 2\\nb"), system("b\\nNow: 2")},
	} {
		t.Run(fmt.Sprint(c.level, " ", c.second), func(t *testing.T) {
			r, bodies := witnessed(t, canonicalAt(c.level), func(o *Options) { o.CacheToolCalls = true })
			r.ask(t, "/v1/chat/completions", c.first)
			sent := len(bodies())
			got := r.ask(t, "/v1/chat/completions", c.second)
			switch now := bodies(); {
			case c.sent == "" && (got.cache() != "exact" || len(now) != sent):
				t.Errorf("%s, %d more requests, want an exact hit", got.cache(), len(now)-sent)
			case c.sent != "" && (len(now) != sent+1 || now[sent] != c.sent):
				t.Errorf("sent\n%q\nwant\n%s", now[sent:], c.sent)
			}
			if again := r.ask(t, "/v1/chat/completions", c.second); again.cache() != "exact" { // what the proxy remembers of it is that of the same form
				t.Errorf("again: %s", again.cache())
			}
		})
	}
}

// system is a request with a system prompt, escaped already.
func system(text string) string {
	return `{"model":"gpt-4o","messages":[{"role":"system","content":"` + text + `"},{"role":"user","content":"hi"}]}`
}

// TestCanonicalElsewhere: explain and requests that bypass the cache have the canonical form too; other APIs and the default do not.
func TestCanonicalElsewhere(t *testing.T) {
	const shuffled, sorted = `"tools":[{"type":"function","name":"b"},{"type":"function","name":"a"}]`, `"tools":[{"type":"function","name":"a"},{"type":"function","name":"b"}]`
	r, bodies := witnessed(t, canonicalAt(align.C3), func(o *Options) { o.Explain = true })
	last := func() string { all := bodies(); return all[len(all)-1] }
	r.ask(t, "/v1/chat/completions", chat("hi", shuffled, `"n":2`))
	if want := chat("hi", sorted, `"n":2`); last() != want {
		t.Errorf("an uncacheable request is sent as %s, want %s", last(), want)
	}
	response := `{"model":"gpt-4o","input":"hi",` + shuffled + `}`
	r.ask(t, "/v1/responses", response)
	if last() != response {
		t.Errorf("another API gets %s, want %s", last(), response)
	}
	a, b := r.ask(t, explainPath, chat("hi", shuffled)), r.ask(t, explainPath, chat("hi", sorted))
	if a.body != b.body || a.status != http.StatusOK {
		t.Errorf("explained as %s and as %s", a.body, b.body)
	}
}

// TestAlignment: requests that go to the upstream are watched, of each tenant apart; hits and embeddings are not, and a purge ends what is kept.
func TestAlignment(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Mode = ModeExact })
	rules := strings.Repeat("Answer questions about orders politely.\\n", 100)
	for i := range 20 {
		body := system(fmt.Sprintf("Be brief.\\nNow: 12:30:%02d\\n%s", i, rules))
		r.ask(t, "/v1/chat/completions", body)
		r.ask(t, "/v1/chat/completions", body)
		r.ask(t, "/v1/chat/completions", strings.TrimSuffix(body, "}")+`,"n":2}`, "Authorization: Bearer sk-other")
		r.ask(t, "/v1/embeddings", fmt.Sprintf(`{"model":"e","input":"%d %s"}`, i, rules))
	}
	report := r.Server.Alignment().Report()
	if len(report.Applications) != 2 || report.Applications[0].Tenant == report.Applications[1].Tenant {
		t.Fatalf("got\n%+v", report)
	}
	for _, a := range report.Applications {
		if a.Requests != 20 || len(a.Places) != 1 || a.Places[0].Segment != "system" || a.Places[0].Line != 2 || a.Places[0].Looks != align.Timestamp || a.Places[0].Each < 900 {
			t.Errorf("got\n%+v", report)
		}
	}
	metrics := r.get(t, "/metrics").body
	for _, want := range []string{`reprise_prefix_parted_total{class="timestamp"} 38`, `reprise_prefix_parted_total{class="tool order"} 0`, `reprise_prefix_lost_tokens_total{class="timestamp"} 3`} {
		if !strings.Contains(metrics, "\n"+want) {
			t.Errorf("no metric %s", want)
		}
	}
	for _, f := range []store.Filter{{Entry: 1}, {}} {
		if _, _, err := r.Purge(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		switch after := r.Server.Alignment().Report(); {
		case f.Entry != 0 && !reflect.DeepEqual(after, report):
			t.Errorf("after a purge of one entry:\n%+v", after)
		case f.Entry == 0 && (len(after.Applications) > 0 || after.Emptied.IsZero()):
			t.Errorf("after a purge at %v:\n%+v", after.Emptied, after)
		}
	}
}

// TestCanonicalWithoutMemory: a body for whose copy there is no room is refused.
func TestCanonicalWithoutMemory(t *testing.T) {
	r := newRig(t, canonicalAt(align.C3), func(o *Options) {
		o.MemoryLimit, o.Mode = 4<<20, ModeExact
	})
	got := r.ask(t, "/v1/chat/completions", chat(strings.Repeat("x", 1<<20)))
	if got.status != http.StatusServiceUnavailable {
		t.Errorf("got %d", got.status)
	}
	if used := r.budget.Used()["bodies"]; used != 0 {
		t.Errorf("%d bytes stay charged", used)
	}
}

// TestFormNamesPrefixes: prefixes, and with them the keys of affinity, are others under another canonical level.
func TestFormNamesPrefixes(t *testing.T) {
	blocks := map[prefix.Block]align.Level{}
	for _, level := range []align.Level{align.C0, align.C2, align.C3} {
		r := newRig(t, canonicalAt(level), func(o *Options) { o.Routing.Seed, o.Hints.Affinity, o.Upstreams[0].Dialect = 1, true, "openai" })
		body := []byte(system("a"))
		parsed, err := openai.Chat.Parse(body, canon.Identity{})
		if err != nil {
			t.Fatal(err)
		}
		c := r.hints.chain(&request{reading: reading{Request: parsed}, s: r.Server, family: &openai.Chat, body: body})
		if other, twice := blocks[c.Scaffold]; twice {
			t.Errorf("%s names a prefix as %s does", level, other)
		}
		blocks[c.Scaffold] = level
	}
}
