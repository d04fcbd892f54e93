package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
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
	"reprise/store"
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

// TestWhyNearest: of several scopes that one counts that differs in the fewest parts, and of equals the last one.
func TestWhyNearest(t *testing.T) {
	r := newRig(t)
	at := fmt.Sprint(len("It is "))
	r.missed(t, "new", asked("It is 09:15.", capital, `"user":"a"`, `"seed":1`))
	r.missed(t, "scope;differs=seed+user", asked("It is 09:15.", capital, `"user":"b"`, `"seed":2`))
	r.missed(t, "scope;differs=system@"+at+":time", asked("It is 10:15.", capital, `"user":"a"`, `"seed":1`))
	r.missed(t, "scope;differs=user", asked("It is 09:15.", capital, `"user":"a"`, `"seed":2`)) // and not seed, of before
	r.missed(t, "scope;differs=system@"+at+":time", asked("It is 10:15.", capital, `"user":"a"`, `"seed":2`))
}

// TestWhyInstructions: the system prompts of the other APIs have places too.
func TestWhyInstructions(t *testing.T) {
	r := newRig(t)
	body := func(id string) string {
		return fmt.Sprintf(`{"model":"gpt-4o","instructions":"Be brief. Request %s.","input":%q,"store":false}`, id, capital)
	}
	r.missedAt(t, "new", "/v1/responses", body("7f8c1f0e-1111-4222-8333-944455556666"))
	r.missedAt(t, "scope;differs=instructions@18:uuid", "/v1/responses", body("91d2aaaa-0000-4bbb-9ccc-0ddd0eee0fff"))
	r.missed(t, "new", chat(capital)) // the answers of another API are other answers
}

// TestWhyEmbeddings: what has no prompt is compared by its content.
func TestWhyEmbeddings(t *testing.T) {
	r := newRig(t)
	r.missedAt(t, "new", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["a","b"]}`)
	r.missedAt(t, "new", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["a","c"]}`)
	r.missedAt(t, "scope;differs=dimensions", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["a","b"],"dimensions":8}`)
}

// TestWhyChain: the same prompt in the same scope, after other turns.
func TestWhyChain(t *testing.T) {
	r := newRig(t)
	r.missed(t, "new", conversation("s", []string{"Where is Rome?", "In Italy.", "And how many people live there?"}))
	r.missed(t, "chain", conversation("s", []string{"Where is Oslo?", "In Norway.", "And how many people live there?"}))
	r.missed(t, "scope;differs=user", conversation("s", []string{"Where is Rome?", "In Italy.", "And how many people live there?"}, `"user":"a"`))
	r.missed(t, "scope;differs=seed+turns", conversation("s", []string{"Where is Bonn?", "In Germany.", "And how many people live there?"}, `"seed":7`))
}

// TestWhyLoop: a request that ends with the output of a tool is the same in another scope where the conversation is.
func TestWhyLoop(t *testing.T) {
	r := newRig(t)
	loop := func(user, output string) string {
		return `{"model":"gpt-4o","user":"` + user + `","messages":[{"role":"user","content":"What is the weather in Oslo?"},{"role":"assistant","content":"Let me look."},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"call_1","content":"` + output + `"}]}`
	}
	r.missed(t, "new", loop("a", "snow"))
	r.missed(t, "scope;differs=user", loop("b", "snow"))
	r.missed(t, "new", loop("a", "sun"))
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
	t.Run("evicted", func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Store = newStoreOf(t, "lru", 2, o.Now) })
		r.missed(t, "new", chat(capital))
		r.missed(t, "new", chat("How tall is Mount Everest in winter?"))
		r.missed(t, "new", chat("Who painted the ceiling of the Sistine Chapel?"))
		r.missed(t, "evicted", chat(capital))
		r.missed(t, "evicted", chat("how tall is mount everest in winter"))
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
	t.Run("no-store keeps nothing", func(t *testing.T) {
		r := newRig(t)
		for range 2 {
			r.missed(t, "new", chat(capital), "Cache-Control: no-store")
		}
		r.missed(t, "new", chat(capital, `"user":"a"`))
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

// TestWhyMeaning: what the search by meaning has found, and did not serve.
func TestWhyMeaning(t *testing.T) {
	t.Run("veto", func(t *testing.T) {
		for _, c := range []struct{ stored, asked, veto string }{
			{"How many people live in a city of 100 square miles", "How many people live in a city of 200 square miles", "number"},
			{"How do I get from Oslo to Rome by train in the summer", "How do I get from Rome to Oslo by train in the summer", "order"},
		} {
			r := newRig(t, func(o *Options) { o.Words, o.Thresholds.Hit, o.Thresholds.Route = false, 0.7, 0.5 })
			r.missed(t, "new", chat(c.stored))
			r.missed(t, "veto:"+c.veto, chat(c.asked))
			r.missed(t, "scope;differs=user", chat(c.asked, `"user":"a"`)) // that it is kept in another scope comes before a veto
		}
	})
	t.Run("below", func(t *testing.T) {
		r := newRig(t)
		r.missed(t, "new", chat("How do I reset my password on the web site?"))
		r.missed(t, "below", chat("How do I reset the password of the web site after a week of vacation?"))
	})
	t.Run("exact only", func(t *testing.T) {
		r := newRig(t)
		r.missed(t, "new", chat(capital))
		r.missed(t, "exact-only", chat("what is the capital of france"), "X-Reprise-Mode: exact")
		r.missed(t, "scope;differs=user", chat("what is the capital of france", `"user":"a"`), "X-Reprise-Mode: exact")
	})
	t.Run("raised", func(t *testing.T) {
		r := newRig(t)
		r.missed(t, "new", chat(capital))
		r.missed(t, "below", chat("Hi, please: what is the capital of France?"), "X-Reprise-Threshold: 0.999")
	})
	t.Run("exact mode", func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Mode = ModeExact })
		r.missed(t, "new", chat(capital))
		r.missed(t, "new", chat("what is the capital of france"))
		r.missed(t, "scope;differs=user", chat(capital, `"user":"a"`))
	})
	t.Run("shadow", func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Mode = ModeShadow })
		r.missed(t, "new", chat(capital))
		r.missed(t, "shadow", chat("what is the capital of france"))
	})
	t.Run("explore and refused", func(t *testing.T) {
		r, _, _, explore := exploring(t)
		r.missed(t, "new", chat(reset))
		r.missed(t, "explore", chat(asks), "User-Agent: none")
		explore.Store(false)
		hit := r.ask(t, "/v1/chat/completions", chat("Hello, "+reset))
		if hit.cache() != "semantic" {
			t.Fatal(status(hit))
		}
		r.ask(t, feedbackPath, fmt.Sprintf(`{"entry":%v,"verdict":"wrong"}`, entryOf(t, hit)))
		r.missed(t, "refused", chat("Hello, "+reset))
	})
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

// TestWhyPurged: a purge of more than one entry leaves no trace of what was asked, and the report says when.
func TestWhyPurged(t *testing.T) {
	r := newRig(t)
	r.missed(t, "new", chat(capital))
	r.missed(t, "scope;differs=user", chat(capital, `"user":"a"`))
	if n := r.misses(t).Get("misses").Int(); n != 2 {
		t.Errorf("%d misses before the purge", n)
	}
	if _, _, err := r.Purge(context.Background(), store.Filter{Model: "of no entry"}); err != nil {
		t.Fatal(err)
	}
	if report := r.misses(t); report.Get("misses").Int() != 0 || report.Get("groups.#").Int() != 0 || report.Get("emptied").Str == "" || report.Get("forgotten").Exists() {
		t.Errorf("after the purge: %s", report.Raw)
	}
	r.missed(t, "new", chat(capital, `"user":"b"`))
	if _, _, err := r.Purge(context.Background(), store.Filter{}); err != nil {
		t.Fatal(err)
	}
	r.missed(t, "new", chat(capital))
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

// TestWhyStream: a mixed stream, whose reasons are computed from what the test put into each request, is reported with exact counts. What a
// repair of each would bring is what a stream without the difference brings.
func TestWhyStream(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(5, 5))
	type place struct{ question, user, date int }
	var kept []place
	want, hits := map[string]int{}, 0
	for range 400 {
		p := place{rng.IntN(25), rng.IntN(4), rng.IntN(3)}
		why := "new"
		best := 3
		for _, k := range slices.Backward(kept) { // the nearest one that was asked before, the last of equals
			differ := 0
			var names []string
			if k.date != p.date {
				differ, names = differ+1, append(names, "system:date")
			}
			if k.user != p.user {
				differ, names = differ+1, append(names, "user")
			}
			if k.question == p.question && differ < best {
				best, why = differ, "scope;differs="+strings.Join(names, "+")
			}
		}
		system := fmt.Sprintf("You are a bot. Today is 2026-11-%02d. Answer briefly.", 10+p.date)
		got := r.ask(t, "/v1/chat/completions", asked(system, questions[p.question], fmt.Sprintf(`"user":"u-%d"`, p.user)))
		if best == 0 {
			if hits++; got.cache() != "exact" {
				t.Fatalf("%v: %s", p, status(got))
			}
			continue
		}
		kept = append(kept, p)
		want[why]++
		if is := strings.Replace(reasonOf(got), "@24", "", 1); got.cache() != "miss" || is != why {
			t.Fatalf("%v: %s, not %s", p, status(got), why)
		}
	}
	report := r.misses(t)
	if report.Get("misses").Int() != int64(400-hits) || report.Get("requests").Int() != 400 || report.Get("groups.#").Int() != int64(len(want)) || len(want) != 4 {
		t.Fatalf("%d hits, %v: %s", hits, want, report.Raw)
	}
	for why, n := range want {
		kind, differs, _ := strings.Cut(why, ";differs=")
		g := group(report, kind, nonEmpty(strings.Split(strings.Replace(differs, "system:", "system@24:", 1), "+"))...)
		would := map[bool]int{true: n, false: 0}[kind == "scope"]
		if g.Get("count").Int() != int64(n) || g.Get("would_have_hit").Int() != int64(would) || math.Abs(g.Get("share").Float()-float64(n)/float64(400-hits)) > 1e-9 ||
			math.Abs(g.Get("would_bring").Float()-float64(would)/400) > 1e-9 {
			t.Errorf("%s: %d times, and the report has %s", why, n, g.Raw)
		}
	}
}

// questions are prompts that have no word in common.
var questions = func() (all []string) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 25 {
		var words []string
		for range 6 {
			word := ""
			for range 3 {
				word += string("bdfgklmnprst"[rng.IntN(12)]) + string("aeiou"[rng.IntN(5)])
			}
			words = append(words, word)
		}
		all = append(all, strings.Join(words, " ")+"?")
	}
	return all
}()

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
