package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/internal/enginesim"
	"reprise/proxy/canon"
	"reprise/proxy/observe/misses"
	"reprise/proxy/rules"
)

var whyIn = regexp.MustCompile(`why=([^;"]*(?:;differs=[^;"]*)?)`)

// reasonOf is the reason in the Cache-Status of a miss, "" where there is none.
func reasonOf(r reply) string {
	if m := whyIn.FindStringSubmatch(status(r)); m != nil {
		return m[1]
	}
	return ""
}

// conversation is a chat request with a system prompt and turns, the user's first; "" is no system prompt.
func conversation(system string, turns []string, more ...string) string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var all []message
	if system != "" {
		all = append(all, message{"system", system})
	}
	for i, text := range turns {
		all = append(all, message{[]string{"user", "assistant"}[i%2], text})
	}
	list, _ := json.Marshal(all)
	return `{"model":"gpt-4o","messages":` + string(list) + joined(more) + `}`
}

// asked is a chat request with a system prompt.
func asked(system, prompt string, more ...string) string {
	return conversation(system, []string{prompt}, more...)
}

// missed asks, and wants a miss for a reason.
func (r *rig) missed(t *testing.T, want, body string, header ...string) {
	t.Helper()
	r.missedAt(t, want, "/v1/chat/completions", body, header...)
}

func (r *rig) missedAt(t *testing.T, want, path, body string, header ...string) {
	t.Helper()
	got := r.ask(t, path, body, header...)
	if got.cache() != "miss" || reasonOf(got) != want {
		t.Errorf("%.120s: %s, %s; want why=%s", body, got.cache(), status(got), want)
	}
}

// misses is the report of GET /admin/misses.
func (r *rig) misses(t *testing.T) gjson.Result {
	t.Helper()
	resp, err := http.Get(r.admin.URL + "/admin/misses")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode, err)
	}
	return gjson.ParseBytes(b)
}

// group is the group of a report with a reason and differences.
func group(report gjson.Result, why string, differs ...string) gjson.Result {
	for _, g := range report.Get("groups").Array() {
		var have []string
		for _, d := range g.Get("differs").Array() {
			have = append(have, d.Str)
		}
		if g.Get("why").Str == why && strings.Join(have, "+") == strings.Join(differs, "+") {
			return g
		}
	}
	return gjson.Result{}
}

// TestWhyScope: a miss beside the same prompt in another scope names each part that differs, and no other.
func TestWhyScope(t *testing.T) {
	const system = "You are the support agent of Acme.\nToday is 2026-11-22.\nAnswer in two sentences."
	at := strings.Index(system, "2026")
	for _, c := range []struct {
		name, body, header, want string
	}{
		{"a field", asked(system, capital, `"user":"u-1"`), "", "scope;differs=user"},
		{"a field in its value", asked(system, capital, `"user":"u-2"`), "", "scope;differs=user"},
		{"a date", asked(strings.Replace(system, "2026-11-22", "2026-11-23", 1), capital), "", fmt.Sprintf("scope;differs=system@%d:date", at)},
		{"a date in other words around it", asked(strings.Replace(system, "2026-11-22", "2025-01-31", 1), "what is the capital of france"), "", fmt.Sprintf("scope;differs=system@%d:date", at)},
		{"a time", asked(strings.Replace(system, "2026-11-22", "2026-11-22 at 17:05", 1), capital), "", fmt.Sprintf("scope;differs=system@%d:date", at)},
		{"text", asked(strings.Replace(system, "two sentences", "haiku form", 1), capital), "", fmt.Sprintf("scope;differs=system@%d:text", strings.Index(system, "two"))},
		{"no system prompt", chat(capital), "", "scope;differs=system"},
		{"model", strings.Replace(asked(system, capital), "gpt-4o", "gpt-4o-mini", 1), "", "scope;differs=model"},
		{"sampling", asked(system, capital, `"temperature":0.7`, `"top_p":0.2`), "", "scope;differs=temperature+top_p"},
		{"tools", asked(system, capital, `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]`), "", "scope;differs=tools"},
		{"form of the answer", asked(system, capital, `"response_format":{"type":"json_object"}`), "", "scope;differs=response_format"},
		{"a header", asked(system, capital), "X-Run: 7", "scope;differs=header:X-Run"},
		{"an unknown name", asked(system, capital, `"a\"b\\;é":1`), "", "scope;differs=a?b???"},
		{"name of the user", strings.Replace(asked(system, capital), `"role":"user"`, `"role":"user","name":"ann"`, 1), "", "scope;differs=last-message"},
		{"several", asked(strings.Replace(system, "2026-11-22", "2026-11-23", 1), capital, `"user":"u-1"`, `"seed":7`), "X-Run: 7",
			fmt.Sprintf("scope;differs=system@%d:date+header:X-Run+seed+user", at)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.missed(t, "new", asked(system, capital))
			r.missed(t, "new", asked(system, "How tall is Mount Everest in winter?"))
			r.missed(t, c.want, c.body, nonEmpty([]string{c.header})...)
			if again := r.ask(t, "/v1/chat/completions", c.body, nonEmpty([]string{c.header})...); again.cache() == "miss" {
				t.Errorf("a second time: %s", status(again))
			}
		})
	}
	r := newRig(t)
	r.missed(t, "new", asked(system, capital))
	r.missedAt(t, "scope;differs=query", "/v1/chat/completions?api-version=2", asked(system, capital))
}

// TestWhySequences: in each sequence every request misses for the reason beside it.
func TestWhySequences(t *testing.T) {
	const rome, oslo, bonn = "Where is Rome?|In Italy.", "Where is Oslo?|In Norway.", "Where is Bonn?|In Germany."
	const people = "|And how many people live there?"
	talk := func(turns string, more ...string) string {
		return conversation("s", strings.Split(turns, "|"), more...)
	}
	instructions := func(id string) string {
		return fmt.Sprintf(`{"model":"gpt-4o","instructions":"Be brief. Request %s.","input":%q,"store":false}`, id, capital)
	}
	loop := func(user, output string) string {
		return `{"model":"gpt-4o","user":"` + user + `","messages":[{"role":"user","content":"What is the weather in Oslo?"},{"role":"assistant","content":"Let me look."},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"call_1","content":"` + output + `"}]}`
	}
	veto := func(o *Options) { o.Words, o.Thresholds.Hit, o.Thresholds.Route = false, 0.7, 0.5 }
	const miles, miles2 = "How many people live in a city of 100 square miles", "How many people live in a city of 200 square miles"
	const trip, back = "How do I get from Oslo to Rome by train in the summer", "How do I get from Rome to Oslo by train in the summer"
	type step struct{ want, body, header, path string }
	for _, c := range []struct {
		name   string
		adjust func(*Options)
		steps  []step
	}{
		{"the system prompt of another API has places too", nil, []step{
			{"new", instructions("7f8c1f0e-1111-4222-8333-944455556666"), "", "/v1/responses"},
			{"scope;differs=instructions@18:uuid", instructions("91d2aaaa-0000-4bbb-9ccc-0ddd0eee0fff"), "", "/v1/responses"},
			{want: "new", body: chat(capital)}}}, // the answers of another API are other answers
		{"what has no prompt is compared by its content", nil, []step{
			{"new", `{"model":"text-embedding-3-small","input":["a","b"]}`, "", "/v1/embeddings"},
			{"new", `{"model":"text-embedding-3-small","input":["a","c"]}`, "", "/v1/embeddings"},
			{"scope;differs=dimensions", `{"model":"text-embedding-3-small","input":["a","b"],"dimensions":8}`, "", "/v1/embeddings"}}},
		{"the same prompt in the same scope, after other turns", nil, []step{
			{want: "new", body: talk(rome + people)},
			{want: "chain", body: talk(oslo + people)},
			{want: "scope;differs=user", body: talk(rome+people, `"user":"a"`)},
			{want: "scope;differs=seed+turns", body: talk(bonn+people, `"seed":7`)}}},
		{"a request that ends with the output of a tool", nil, []step{
			{want: "new", body: loop("a", "snow")},
			{want: "scope;differs=user", body: loop("b", "snow")},
			{want: "new", body: loop("a", "sun")}}},
		{"evicted", func(o *Options) { o.Store = newStoreOf(t, "lru", 2, o.Now) }, []step{
			{want: "new", body: chat(capital)},
			{want: "new", body: chat("How tall is Mount Everest in winter?")},
			{want: "new", body: chat("Who painted the ceiling of the Sistine Chapel?")},
			{want: "evicted", body: chat(capital)},
			{want: "evicted", body: chat("how tall is mount everest in winter")}}},
		{"no-store keeps nothing", nil, []step{
			{want: "new", body: chat(capital), header: "Cache-Control: no-store"},
			{want: "new", body: chat(capital), header: "Cache-Control: no-store"},
			{want: "new", body: chat(capital, `"user":"a"`)}}},
		{"a number, and that it is kept in another scope comes before a veto", veto, []step{
			{want: "new", body: chat(miles)}, {want: "veto:number", body: chat(miles2)}, {want: "scope;differs=user", body: chat(miles2, `"user":"a"`)}}},
		{"an order", veto, []step{{want: "new", body: chat(trip)}, {want: "veto:order", body: chat(back)}}},
		{"below", nil, []step{
			{want: "new", body: chat("How do I reset my password on the web site?")},
			{want: "below", body: chat("How do I reset the password of the web site after a week of vacation?")}}},
		{"exact only", nil, []step{
			{want: "new", body: chat(capital)},
			{want: "exact-only", body: chat(similar), header: "X-Reprise-Mode: exact"},
			{want: "scope;differs=user", body: chat(similar, `"user":"a"`), header: "X-Reprise-Mode: exact"}}},
		{"raised", nil, []step{
			{want: "new", body: chat(capital)},
			{want: "below", body: chat("Hi, please: what is the capital of France?"), header: "X-Reprise-Threshold: 0.999"}}},
		{"exact mode", func(o *Options) { o.Mode = ModeExact }, []step{
			{want: "new", body: chat(capital)}, {want: "new", body: chat(similar)}, {want: "scope;differs=user", body: chat(capital, `"user":"a"`)}}},
		{"shadow", func(o *Options) { o.Mode = ModeShadow }, []step{{want: "new", body: chat(capital)}, {want: "shadow", body: chat(similar)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(o *Options) {
				if c.adjust != nil {
					c.adjust(o)
				}
			})
			for _, s := range c.steps {
				r.missedAt(t, s.want, cmp.Or(s.path, "/v1/chat/completions"), s.body, nonEmpty([]string{s.header})...)
			}
		})
	}
}

// TestWhyLife: what has become of an answer to the same request, or to one of the same form.
func TestWhyLife(t *testing.T) {
	const other = "what is the capital of france"
	t.Run("expired", func(t *testing.T) {
		c := newClock()
		r := newRig(t, c.use, func(o *Options) { o.TTL = time.Hour })
		r.missed(t, "new", chat(capital))
		c.add(2 * time.Hour)
		r.missed(t, "expired", chat(capital))
		c.add(2 * time.Hour)
		r.missed(t, "expired", chat(other))
	})
	t.Run("not stored", func(t *testing.T) {
		r := newRig(t)
		for _, c := range []struct{ fault, reason string }{{"finish=length", "length"}, {"finish=content_filter", "content-filter"}, {"status=500", "status"}} {
			body := chat("How does " + c.fault + " end?")
			r.missed(t, "new", body, enginesim.FaultHeader+": "+c.fault)
			r.missed(t, "not-stored:"+c.reason, body, enginesim.FaultHeader+": "+c.fault)
			r.missed(t, "not-stored:"+c.reason, body)
			if got := r.ask(t, "/v1/chat/completions", body); got.cache() != "exact" {
				t.Errorf("after it was stored: %s", status(got))
			}
		}
	})
	t.Run("request", func(t *testing.T) {
		c := newClock()
		r := newRig(t, c.use)
		r.missed(t, "request", chat(capital), "Cache-Control: no-cache")
		r.missed(t, "request", chat(capital), "Cache-Control: no-cache")
		c.add(time.Minute)
		r.missed(t, "request", chat(capital), "Cache-Control: max-age=10")
		c.add(time.Minute)
		r.missed(t, "request", chat(other), "Cache-Control: max-age=10")
	})
}

// TestWhyCompared: an answer that is compared with a new one, and one that a verdict refuses.
func TestWhyCompared(t *testing.T) {
	r, _, _, explore := exploring(t)
	r.missed(t, "new", chat(reset))
	r.missed(t, "explore", chat(asks), "Cache-Control: no-store")
	explore.Store(false)
	hit := r.ask(t, "/v1/chat/completions", chat("Hello, "+reset))
	if hit.cache() != "semantic" {
		t.Fatal(status(hit))
	}
	r.ask(t, feedbackPath, fmt.Sprintf(`{"entry":%v,"verdict":"wrong"}`, entryOf(t, hit)))
	r.missed(t, "refused", chat("Hello, "+reset))
}

// TestWhyIgnored: what is taken out of the scope is never named, though the texts differ there too.
func TestWhyIgnored(t *testing.T) {
	const system = "Today is 2026-11-22. You serve Ann. Answer in two sentences."
	r := newRig(t, func(o *Options) {
		ignore, err := canon.NewIgnore(nil, []string{"user"}, []string{`Today is (?P<date>[0-9-]+)`})
		if err != nil {
			t.Fatal(err)
		}
		o.Ignore = ignore
	})
	r.missed(t, "new", asked(system, capital, `"user":"a"`))
	other := strings.Replace(system, "2026-11-22", "2026-12-24", 1)
	if got := r.ask(t, "/v1/chat/completions", asked(other, capital, `"user":"b"`)); got.cache() != "exact" {
		t.Fatal(status(got))
	}
	got := r.ask(t, "/v1/chat/completions", asked(strings.Replace(other, "two sentences", "haiku form", 1), capital, `"user":"c"`))
	if want := fmt.Sprintf("scope;differs=system@%d:text", strings.Index(system, "two")); reasonOf(got) != want {
		t.Errorf("%s, not %s", status(got), want)
	}
}

// TestWhyTenants: nothing of another tenant or namespace is named or counted to a client, in Cache-Status or by explain; the operator sees it.
func TestWhyTenants(t *testing.T) {
	r := newRig(t, func(o *Options) { o.AdminToken, o.Explain = "s3cret-token", true })
	for i := range 40 {
		r.missed(t, map[bool]string{true: "new", false: "scope;differs=user"}[i == 0], chat(capital, fmt.Sprintf(`"user":"u-%d"`, i)), "Authorization: Bearer sk-other")
	}
	r.missed(t, "new", chat(capital, `"user":"u-1"`))
	r.missed(t, "new", chat(capital, `"user":"u-1"`), "X-Reprise-Namespace: team")
	r.missed(t, "new", chat(capital, `"user":"u-1","cache":{"namespace":"other"}`))
	client := r.ask(t, explainPath, chat("what is the capital of france", `"user":"u-1"`), "Authorization: Bearer sk-third")
	if x := gjson.Get(client.body, "missed"); x.Get("why").Str != "new" || x.Get("differs").Exists() || x.Get("other_scopes").Exists() {
		t.Errorf("explained to a client: %s", x.Raw)
	}
	operator := r.ask(t, explainPath, chat("what is the capital of france", `"user":"u-1"`), "Authorization: Bearer sk-third", "X-Reprise-Admin-Token: s3cret-token")
	if x := gjson.Get(operator.body, "missed"); x.Get("why").Str != "scope" || x.Get("differs.0").Str != "namespace" || x.Get("differs.1").Str != "tenant" {
		t.Errorf("explained to the operator: %s", x.Raw)
	}
}

// TestWhyExplained: explain says why in sentences, counts the scopes, and changes nothing.
func TestWhyExplained(t *testing.T) {
	const system = "You are a bot.\nToday is %s. Answer briefly."
	r := newRig(t, func(o *Options) { o.Explain = true })
	for i := range 12 {
		r.ask(t, "/v1/chat/completions", asked(fmt.Sprintf(system, fmt.Sprintf("2026-10-%02d", i+1)), capital))
	}
	explained := func(body string, header ...string) gjson.Result {
		return gjson.Get(r.ask(t, explainPath, body, header...).body, "missed")
	}
	for range 2 {
		x := explained(asked(fmt.Sprintf(system, "2026-11-23"), "what is the capital of france"))
		at := strings.Index(system, "%s")
		if want := fmt.Sprintf("The same prompt is kept in 12 other scopes; they differ in: system prompt (byte %d: looks like a date).", at); x.Get("in_words").Str != want {
			t.Errorf("%s, not %s", x.Get("in_words"), want)
		}
		if x.Get("why").Str != "scope" || x.Get("other_scopes").Int() != 12 || !strings.Contains(x.Get("repair").Str, "REPRISE_IGNORE_PATTERN") {
			t.Error(x.Raw)
		}
	}
	x := explained(asked(fmt.Sprintf(system, "2026-10-05"), capital, `"user":"a"`))
	if want := "The same prompt is kept in 12 other scopes; the nearest differs in: field user."; x.Get("in_words").Str != want {
		t.Errorf("%s, not %s", x.Get("in_words"), want)
	}
	if x := explained(asked(fmt.Sprintf(system, "2026-10-05"), capital)); x.Exists() {
		t.Errorf("a hit is explained as a miss: %s", x.Raw)
	}
	for _, c := range []struct{ why, body, header string }{
		{"new", chat("How deep is the sea?"), ""},
		{"request", asked(fmt.Sprintf(system, "2026-10-05"), capital), "Cache-Control: no-cache"},
		{"exact-only", asked(fmt.Sprintf(system, "2026-10-05"), "what is the capital of france"), "X-Reprise-Mode: exact"},
	} {
		if x := explained(c.body, nonEmpty([]string{c.header})...); x.Get("why").Str != c.why || !strings.HasSuffix(x.Get("in_words").Str, ".") {
			t.Errorf("%s: %s", c.why, x.Raw)
		}
	}
	if n := r.misses(t).Get("misses").Int(); n != 12 {
		t.Errorf("%d misses are counted, of 12", n)
	}
}

// TestWhyAfterRestart: the scopes of before are found by what was kept, and what they differ in once a request in them was seen.
func TestWhyAfterRestart(t *testing.T) {
	db := filepath.Join(t.TempDir(), "reprise.db")
	open := func() *rig {
		return newRig(t, func(o *Options) { o.Store = fileStoreOf(t, "rac+", db, 100) })
	}
	r := open()
	r.missed(t, "new", chat(capital, `"user":"a"`))
	r.missed(t, "new", conversation("", []string{"Where is Rome?", "In Italy.", "And how many people live there?"}, `"user":"a"`))
	r.api.Close()
	r.store.Close()
	r = open()
	defer r.store.Close()
	r.missed(t, "scope", chat("what is the capital of france", `"user":"b"`))
	r.missed(t, "scope", conversation("", []string{"Where is Rome?", "In Italy.", "And how many people live there?"}, `"user":"b"`))
	if got := r.ask(t, "/v1/chat/completions", chat(capital, `"user":"a"`)); got.cache() != "exact" {
		t.Error(status(got))
	}
	r.missed(t, "new", chat("How tall is Mount Everest in winter?", `"user":"a"`))
	r.missed(t, "scope;differs=user", chat("what is the capital of france", `"user":"c"`))
}

// TestTextOfManyParts: a text is put together without a copy of its beginning for each part.
func TestTextOfManyParts(t *testing.T) {
	content := gjson.Parse("[" + strings.Repeat(`{"type":"text","text":"a"},`, 9999) + `{"type":"text","text":"b"}]`)
	if got := textOf(content); got != strings.Repeat("a\n", 9999)+"b" {
		t.Errorf("%d bytes", len(got))
	}
	if n := testing.AllocsPerRun(1, func() { textOf(content) }); n > 1000 {
		t.Errorf("%v allocations for 10,000 parts", n)
	}
}

// logging makes a rig keep prompts.
func logging(o *Options) { o.LogPrompts = true }

// countedMisses waits until so many misses are counted, and returns the report: a client may have its answer before.
func (r *rig) countedMisses(t *testing.T, n int64) (report gjson.Result) {
	t.Helper()
	eventually(t, "the misses", func() bool { report = r.misses(t); return report.Get("misses").Int() == n })
	return report
}

// TestMissExamples: an example has the prompt of the miss, and the stored one that nearly served it; without leave to keep prompts it has neither,
// and says how long they are.
func TestMissExamples(t *testing.T) {
	const stored, asked = "How many people live in a city of 100 square miles", "How many people live in a city of 200 square miles"
	for _, prompts := range []bool{true, false} {
		r := newRig(t, func(o *Options) {
			o.Words, o.Thresholds.Hit, o.Thresholds.Route, o.LogPrompts, o.Explain = false, 0.7, 0.5, prompts, true
		})
		r.missed(t, "new", chat(stored))
		r.missed(t, "veto:number", chat(asked))
		r.missed(t, "scope;differs=user", chat(stored, `"user":"a"`))
		report := r.countedMisses(t, 3)
		for _, c := range []struct {
			group           gjson.Result
			prompt, nearest string
		}{
			{group(report, "new"), stored, ""}, {group(report, "veto:number"), asked, stored}, {group(report, "scope", "user"), stored, stored},
		} {
			e := c.group.Get("examples.0")
			if e.Get("prompt_bytes").Int() != int64(len(c.prompt)) || e.Get("nearest_prompt_bytes").Int() != int64(len(c.nearest)) || e.Get("nearest_entry").Exists() != (c.nearest != "") ||
				e.Get("nearest_is_stored").Bool() != (c.nearest != "") || e.Get("model").Str != "gpt-4o" || len(e.Get("tenant").Str) != 32 || e.Get("at").Str == "" {
				t.Errorf("prompts %t: %s", prompts, c.group.Raw)
			}
			if !prompts {
				c.prompt, c.nearest = "", ""
			}
			if e.Get("prompt").Str != c.prompt || e.Get("nearest_prompt").Str != c.nearest {
				t.Errorf("prompts %t: %s", prompts, e.Raw)
			}
		}
		if !prompts && strings.Contains(report.Raw, "square miles") {
			t.Error("a prompt is in the report")
		}
		if x := r.ask(t, explainPath, chat(stored, `"user":"b"`)); strings.Contains(gjson.Get(x.body, "missed").Raw, "example") {
			t.Errorf("a client is shown examples: %s", x.body)
		}
	}
}

// TestBelowHasATopic: the example of an answer that is not near enough names an entry of the nearest topic.
func TestBelowHasATopic(t *testing.T) {
	r := newRig(t, logging)
	r.missed(t, "new", chat("How do I reset my password on the web site?"))
	r.missed(t, "below", chat("How do I reset the password of the web site after a week of vacation?"))
	if e := group(r.countedMisses(t, 2), "below").Get("examples.0"); e.Get("nearest_prompt").Str != "How do I reset my password on the web site?" {
		t.Errorf("%s", e.Raw)
	}
}

// TestExamplesOfOtherTenants: the operator sees an entry of another tenant, and a client nothing of it.
func TestExamplesOfOtherTenants(t *testing.T) {
	r := newRig(t, logging)
	r.missed(t, "new", chat(capital), "Authorization: Bearer sk-other")
	r.missed(t, "new", chat(capital), "Authorization: Bearer sk-mine")
	e := group(r.countedMisses(t, 2), "scope", "tenant").Get("examples.0")
	if e.Get("nearest_prompt").Str != capital || e.Get("nearest_entry").Int() == 0 {
		t.Errorf("%s", e.Raw)
	}
}

// TestNoExampleWithoutStore: a request that must not be stored leaves no example.
func TestNoExampleWithoutStore(t *testing.T) {
	r := newRig(t, logging)
	r.missed(t, "new", chat("A secret: 4711"), "Cache-Control: no-store")
	report := r.countedMisses(t, 1)
	if g := group(report, "new"); g.Get("count").Int() != 1 || g.Get("examples.#").Int() != 0 || strings.Contains(report.Raw, "4711") {
		t.Errorf("%s", report.Raw)
	}
}

// TestWhyShortLife: where a client or a rule has decided the life of an answer, the reason says so, and no value of the setting is named.
func TestWhyShortLife(t *testing.T) {
	c := newClock()
	r := newRig(t, c.use, func(o *Options) {
		o.TTL = time.Hour
		rule := *o.rules().Rest()
		rule.Name, rule.Mode, rule.Models, rule.TTL = "short", ModeSemantic, []string{"gpt-4o-mini"}, time.Minute
		o.Rules = []*rules.Rule{&rule}
	})
	mini := strings.Replace(chat(capital), "gpt-4o", "gpt-4o-mini", 1)
	r.missed(t, "new", chat(capital), "X-Reprise-Ttl: 1s")
	r.missed(t, "scope;differs=model", mini)
	c.add(2 * time.Minute)
	r.missed(t, "expired:client", chat(capital), "X-Reprise-Ttl: 1s")
	r.missed(t, "expired:rule", mini)
	c.add(2 * time.Minute)
	r.missed(t, "expired:client", chat("what is the capital of france"))
	report := r.countedMisses(t, 5)
	for why, word := range map[string]string{"expired:client": "X-Reprise-TTL", "expired:rule": "ttl of the rule"} {
		if g := group(report, why); g.Get("set").Exists() || !strings.Contains(g.Get("repair").Str, word) || !strings.Contains(g.Get("in_words").Str, "its life") {
			t.Errorf("%s: %s", why, g.Raw)
		}
	}
	c.add(2 * time.Hour)
	r.missed(t, "expired", chat("what is the capital of france"))
}

// TestScopePatterns: the expression that the report gives for what varies in a system prompt makes these requests equal, beside those in force;
// what has no shape of its own has no expression, and the repair says where it is.
func TestScopePatterns(t *testing.T) {
	for _, c := range []struct{ name, first, second, group, where string }{
		{"time", "Be brief. It is 09:15.", "Be brief. It is 10:05.", "time", ""},
		{"time of day", "Be brief. It is 9:15:07 AM, a fine time.", "Be brief. It is 10:15:08 PM, a fine time.", "time", ""},
		{"date", "Today is 2026-11-22. Be brief.", "Today is 2026-12-24. Be brief.", "date", ""},
		{"date and time", "Today is 2026-11-22T10:00:01Z. Be brief.", "Today is 2026-12-24T11:30:00.25Z. Be brief.", "date", ""},
		{"day first", "Today is 22.11.2026, be brief.", "Today is 3.12.2026, be brief.", "date", ""},
		{"uuid", "Be brief. Request 7f8c1f0e-1111-4222-8333-944455556666.", "Be brief. Request 91d2aaaa-0000-4bbb-9ccc-0ddd0eee0fff.", "uuid", ""},
		{"month in words", "Today is November 22. Be brief.", "Today is December 24. Be brief.", "", "look at byte 17 of the system prompt"},
		{"number", "You are at desk 12. Be brief.", "You are at desk 17. Be brief.", "", "look at byte 24 of the system prompt"},
		{"text", "Answer in haiku form.", "Answer in two sentences.", "", "Send the same system prompt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			patterns := []string{`Team (?P<team>\w+)`}
			with := func(o *Options) {
				ignore, err := canon.NewIgnore(nil, nil, patterns)
				if err != nil {
					t.Fatal(err)
				}
				o.Ignore = ignore
			}
			r := newRig(t, with)
			r.ask(t, "/v1/chat/completions", asked("Team a. "+c.first, capital))
			r.ask(t, "/v1/chat/completions", asked("Team b. "+c.second, capital))
			r.countedMisses(t, 2)
			report := r.Server.Misses().Report(misses.Settings{IgnorePatterns: patterns})
			g := report.Groups[slices.IndexFunc(report.Groups, func(g misses.Group) bool { return g.Why == "scope" })]
			if c.group == "" {
				if len(g.Set) > 0 || !strings.Contains(g.Repair, c.where) {
					t.Errorf("%q, %s", g.Set, g.Repair)
				}
				return
			}
			if len(g.Set) != 1 || !strings.Contains(g.Set[0], "(?P<"+c.group+">") {
				t.Fatalf("%v: %q", g.Differs, g.Set)
			}
			value, _ := strings.CutPrefix(g.Set[0], "REPRISE_IGNORE_PATTERN=")
			patterns = strings.Split(value, ";;")
			r = newRig(t, with)
			r.missed(t, "new", asked("Team a. "+c.first, capital))
			if got := r.ask(t, "/v1/chat/completions", asked("Team b. "+c.second, capital)); got.cache() != "exact" {
				t.Errorf("with %q: %s", patterns, status(got))
			}
		})
	}
}
