package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func (r *rig) get(t testing.TB, path string, header ...string) reply {
	t.Helper()
	return r.call(t, "GET", path, "", header...)
}

func (r *rig) call(t testing.TB, method, path, body string, header ...string) reply {
	t.Helper()
	req, _ := http.NewRequest(method, r.admin.URL+path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := r.admin.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b)}
}

func TestListAndShow(t *testing.T) {
	r := newRig(t)
	first := r.ask(t, "/v1/chat/completions", chat(capital))
	r.ask(t, "/v1/chat/completions", chat("How do I bake bread?", `"stream":true`))
	list := r.get(t, "/admin/entries?model=gpt-4o&limit=1")
	if got := gjson.Get(list.body, "entries.#.prompt").String(); got != `["How do I bake bread?"]` || gjson.Get(list.body, "total").Int() != 2 {
		t.Errorf("entries: %s", list.body)
	}
	one := r.get(t, "/admin/entries/"+first.header.Get("X-Reprise-Entry"))
	if gjson.Get(one.body, "answer.choices.0.message.content").String() != first.content(t) {
		t.Errorf("entry: %s", one.body)
	}
	streamed := r.get(t, "/admin/entries/"+gjson.Get(list.body, "entries.0.id").String())
	if gjson.Get(streamed.body, "answer.choices.0.message.content").String() == "" {
		t.Errorf("streamed entry: %s", streamed.body)
	}
	if got := gjson.Get(r.get(t, "/admin/topics").body, "topics.#.entries").String(); got != "[1,1]" {
		t.Errorf("topics: %s", got)
	}
	if got := gjson.Get(r.get(t, "/admin/topics").body, "scopes.0").String(); !strings.Contains(got, `"index": "flat"`) || len(gjson.Get(got, "scope").String()) != 64 {
		t.Errorf("scopes: %s", got)
	}
	if got := gjson.Get(r.get(t, "/admin/stats").body, "misses").Int(); got != 2 {
		t.Errorf("stats: %s", r.get(t, "/admin/stats").body)
	}
	for path, status := range map[string]int{"/admin/entries/999": 404, "/admin/entries/x": 400, "/admin/entries?topic=0": 400, "/admin/entries?limit=-1": 400, "/admin/nothing": 404} {
		if got := r.get(t, path); got.status != status {
			t.Errorf("%s: %d, want %d", path, got.status, status)
		}
	}
}

// TestUsesOfEntries: each way of answering counts as a use, at once, and the tokens saved are those that the proxy counts.
func TestUsesOfEntries(t *testing.T) {
	r := newRig(t)
	const path = "/v1/chat/completions"
	for _, prompt := range []string{capital, "Where is my invoice?", capital, "what is the capital of france"} {
		r.ask(t, path, chat(prompt))
	}
	all := r.get(t, "/admin/entries?sort=hits").body
	if got := gjson.Get(all, "entries.#.hits").String(); got != "[2,0]" || time.Since(gjson.Get(all, "entries.0.last_used").Time()) > time.Minute || gjson.Get(all, "entries.1.last_used").Type != gjson.Null {
		t.Errorf("entries: %s", all)
	}
	topic := gjson.Get(r.get(t, "/admin/topics?sort=tokens_saved&limit=1").body, "topics.0")
	saved := gjson.Get(r.get(t, "/admin/stats").body, "tokens_saved").Int()
	if got := gjson.Get(all, "entries.0.tokens_saved").Int(); saved == 0 || got != saved || topic.Get("tokens_saved").Int() != saved || topic.Get("prevalence").Float() <= 0.5 {
		t.Errorf("saved: %d by the entry, %d by all, topic %s", got, saved, topic)
	}
	if next := r.get(t, "/admin/entries?sort=evicts-next").body; gjson.Get(next, "entries.#").Int() != 2 || gjson.Get(next, "entries.0.why").String() == "" {
		t.Errorf("next: %s", next)
	}
	one := r.get(t, "/admin/entries/"+gjson.Get(all, "entries.0.id").String()).body
	if gjson.Get(one, "hits").Int() != 2 {
		t.Errorf("one: %s", one)
	}
}

func TestPurge(t *testing.T) {
	const dry, wet = `"dry_run":true`, `"dry_run":false`
	for _, tc := range []struct {
		what    string
		matched int64
	}{
		{`"entry":1`, 1}, {`"topic":1`, 1}, {`"model":"gpt-4o"`, 2}, {`"model":"other"`, 0}, {`"namespace":"ns"`, 1},
		{`"model":"gpt-4o-mini"`, 1}, {`"model":"gpt-4o","namespace":"ns"`, 0}, {`"all":true`, 3},
	} {
		r := newRig(t)
		r.ask(t, "/v1/chat/completions", chat(capital))
		r.ask(t, "/v1/chat/completions", chat("How do I bake bread?"))
		r.ask(t, "/v1/chat/completions", strings.Replace(chat(capital), "gpt-4o", "gpt-4o-mini", 1), "X-Reprise-Namespace: ns")
		for _, mode := range []string{"", "," + dry} {
			got := r.call(t, "POST", "/admin/purge", "{"+tc.what+mode+"}")
			if gjson.Get(got.body, "matched").Int() != tc.matched || !gjson.Get(got.body, "dry_run").Bool() || r.Stats().Entries != 3 {
				t.Errorf("%s dry: %s", tc.what, got.body)
			}
		}
		got := r.call(t, "POST", "/admin/purge", "{"+tc.what+","+wet+"}")
		if gjson.Get(got.body, "purged").Int() != tc.matched || r.Stats().Entries != 3-tc.matched || int64(r.topics.Stats().Entries) != 3-tc.matched {
			t.Errorf("%s: %s, %d left", tc.what, got.body, r.Stats().Entries)
		}
	}
}

// TestMetricsAddUp: every request is in exactly one result, and the metrics page agrees with Stats.
func TestMetricsAddUp(t *testing.T) {
	r := newRig(t)
	for _, prompt := range []string{capital, capital, similar, "", "Something else"} {
		r.ask(t, "/v1/chat/completions", chat(prompt))
	}
	r.ask(t, "/v1/chat/completions", `{"bad`)
	r.ask(t, "/v1/moderations", `{}`)
	st := r.counted(t, 7)
	if st.Exact != 1 || st.Semantic != 1 || st.Misses != 2 || st.Bypass != 2 || st.Errors != 1 || st.TokensSaved == 0 {
		t.Errorf("stats %+v", st)
	}
	page := r.get(t, "/metrics").body
	for _, line := range []string{
		`reprise_requests_total{endpoint="chat",result="exact"} 1`, `reprise_requests_total{endpoint="other",result="bypass"} 1`,
		`reprise_requests_total{endpoint="chat",result="error"} 1`, "reprise_entries 2", "reprise_topics 2",
		`reprise_request_duration_seconds_count{result="semantic"} 1`, `reprise_step_duration_seconds_count{step="upstream"} 2`, `reprise_index_scopes{backend="flat"} 1`, `reprise_index_limited_total{search="hit"} 0`,
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	if strings.Contains(page, "sk-test") || strings.Contains(page, "France") {
		t.Error("the metrics contain a prompt or a credential")
	}
}

// TestExplain: explain reports what would happen to a request, and changes nothing.
func TestExplain(t *testing.T) {
	r := newRig(t, func(o *Options) { o.AdminToken = "s3cret" })
	stored := r.ask(t, "/v1/chat/completions", chat(capital)).header.Get("X-Reprise-Entry")
	if got := r.ask(t, "/v1/reprise/explain", chat(capital)); got.status != 403 {
		t.Errorf("without the token: %d", got.status)
	}
	if got := newRig(t).ask(t, "/v1/reprise/explain", chat(capital), "X-Reprise-Admin-Token: "); got.status != 403 || !strings.Contains(got.body, "REPRISE_ADMIN_TOKEN") {
		t.Errorf("where no token is set: %d %s; no header helps there", got.status, got.body)
	}
	for _, tc := range []struct{ body, header, result, veto string }{
		{chat(capital), "User-Agent: none", "exact", ""}, {chat(similar), "User-Agent: none", "semantic", ""},
		{chat("What is the capital of Spain?"), "User-Agent: none", "miss", "name"},
		{chat(capital, `"n":2`), "User-Agent: none", "bypass", ""}, {chat(capital, `"seed":1`), "User-Agent: none", "miss", ""},
		{chat(capital), "Cache-Control: no-cache", "miss", ""}, {chat(similar), "Cache-Control: no-cache", "miss", ""},
		{chat(capital, `"cache":{"no-cache":true}`), "User-Agent: none", "miss", ""}, {chat(similar), "X-Reprise-Mode: exact", "miss", ""},
		{chat(capital), "X-Reprise-Mode: off", "bypass", ""},
	} {
		got := r.ask(t, "/v1/reprise/explain", tc.body, "X-Reprise-Admin-Token: s3cret", tc.header)
		if gjson.Get(got.body, "result").String() != tc.result || gjson.Get(got.body, "candidates.0.veto").String() != tc.veto {
			t.Errorf("%s, %s: %s", tc.body, tc.header, got.body)
		}
		if tc.result == "semantic" && gjson.Get(got.body, "entry").String() != stored {
			t.Errorf("%s: %s", tc.body, got.body)
		}
	}
	const polite = "Hi there, could you please tell me what the capital of France is? Thanks in advance!"
	for header, want := range map[string]string{"User-Agent: none": "semantic 0", "X-Reprise-Threshold: 0.999": "miss 1"} {
		got := r.ask(t, "/v1/reprise/explain", chat(polite), "X-Reprise-Admin-Token: s3cret", header).body
		nearest := gjson.Get(got, "candidates.0")
		if is := fmt.Sprint(gjson.Get(got, "result"), " ", nearest.Get("what_would_have_to_change.#").Int()); is != want || nearest.Get("over_hit_threshold").Bool() {
			t.Errorf("equal forms, %s: %s, not %s: %s", header, is, want, got)
		}
	}
	for query, status := range map[string]int{"?tenant=all": 200, "?tenant=x": 400, "?endpoint=/v1/x": 400, "?endpoint=/v1/embeddings&a=1": 200} {
		if got := r.ask(t, "/v1/reprise/explain"+query, chat(capital), "X-Reprise-Admin-Token: s3cret"); got.status != status {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	got := r.ask(t, "/v1/reprise/explain", chat(capital), "X-Reprise-Admin-Token: s3cret", "X-Api-Key: k", "X-Run: 1", "Traceparent: 1")
	if h := gjson.Get(got.body, "headers|@ugly").Raw; h != `{"tenant":["Authorization","X-Api-Key"],"scope":["X-Run"]}` {
		t.Errorf("headers that count: %s", h)
	}
	if got := r.ask(t, "/v1/reprise/explain?api-version=1", chat(capital), "X-Reprise-Admin-Token: s3cret"); gjson.Get(got.body, "result").String() != "miss" {
		t.Errorf("the query of the request is not part of it: %s", got.body)
	}
	if st := r.Stats(); st.Stored != 1 || r.engine.Stats().Requests != 1 || st.Semantic != 0 {
		t.Errorf("explain changed something: %+v", st)
	}
}

// TestPromptsAreLoggedOnRequest: an operator who allows it finds the prompt of each request.
func TestPromptsAreLoggedOnRequest(t *testing.T) {
	r := newRig(t, func(o *Options) { o.LogPrompts = true })
	r.ask(t, "/v1/chat/completions", chat("canary-prompt"))
	if logs := r.logs.String(); !strings.Contains(logs, "canary-prompt") {
		t.Errorf("log: %s", logs)
	}
}
