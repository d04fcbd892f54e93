package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/store"
)

// shadowed is the list of GET /admin/shadow.
func (r *rig) shadowed(t *testing.T, query string) (status int, contentType, body string) {
	t.Helper()
	resp, err := http.Get(r.admin.URL + "/admin/shadow" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
}

// TestShadowList: the shadow mode serves no hit, compares each with the upstream's answer, counts the outcome, and lists it.
func TestShadowList(t *testing.T) {
	for _, prompts := range []bool{false, true} {
		r, up, learnt, _ := exploring(t, func(o *Options) { o.Mode, o.LogPrompts, o.Explain = ModeShadow, prompts, true })
		up.set(says("It takes 5 days.", "It takes 5 days.", "It takes 5 days.", "", "It takes 9 days."))
		r.ask(t, "/v1/chat/completions", chat(reset))
		explained := r.ask(t, explainPath, chat(asks), "User-Agent: none").body
		if why := gjson.Get(explained, "candidates.0.what_would_have_to_change.0").Str; !strings.Contains(why, "The mode is shadow") {
			t.Errorf("explain: %s", explained)
		}
		for i, c := range []struct{ prompt, header string }{
			{asks, "User-Agent: none"}, {"Hi, " + reset, "Cache-Control: no-store"}, // nothing is kept of it
			{"Good morning, " + reset, "User-Agent: none"}, {"Hello, " + reset, "User-Agent: none"},
		} {
			got := r.ask(t, "/v1/chat/completions", chat(c.prompt), c.header)
			if got.cache() != "miss" || !strings.Contains(status(got), "shadow=hit") {
				t.Fatalf("%s: %s", got.cache(), status(got))
			}
			eventually(t, "the comparison", func() bool { s := r.Stats().Reuse.Shadowed; return s["same"]+s["different"]+s["skipped"] == int64(i+1) })
		}
		eventually(t, "the samples", func() bool { return len(learnt.list()) == 3 })
		_, _, body := r.shadowed(t, "")
		hits := gjson.Get(body, "hits").Array()
		if len(hits) != 3 || gjson.Get(body, "total").Int() != 3 {
			t.Fatal(body)
		}
		for i, want := range []string{"different", "unknown", "same"} {
			h := hits[i]
			if h.Get("outcome").Str != want || h.Get("basis").Str != "form" || h.Get("p").Float() < 0.9 || h.Get("model").Str != "gpt-4o" || h.Get("tenant").Str == "" {
				t.Errorf("hit %d: %s", i, h.Raw)
			}
			if (h.Get("prompt").Exists() && h.Get("stored_prompt").Exists()) != prompts || h.Get("prompt_bytes").Int() == 0 {
				t.Errorf("with prompts %v: %s", prompts, h.Raw)
			}
		}
		if hits[1].Get("why").Str != "empty" || hits[0].Get("why").Exists() {
			t.Errorf("%s", body)
		}
		explained = r.ask(t, explainPath, chat("Hey, "+reset), "User-Agent: none").body // which one that was wrong keeps from being served
		if gjson.Get(explained, "candidates.#").Int() == 0 || gjson.Get(explained, "candidates.#.veto|#").Int() != 0 {
			t.Errorf("vetoes of equal forms: %s", explained)
		}
		_, contentType, lines := r.shadowed(t, "?format=jsonl")
		if n := strings.Count(lines, "\n"); n != 3 || contentType != "application/x-ndjson" || !json.Valid([]byte(lines[:strings.Index(lines, "\n")])) {
			t.Errorf("%s: %s", contentType, lines)
		}
		if code, _, body := r.shadowed(t, "?format=xml"); code != 400 || !strings.Contains(body, "allowed is json or jsonl") {
			t.Errorf("%d: %s", code, body)
		}
		if st := r.Stats().Reuse; st.Shadowed["same"] != 2 || st.Shadowed["different"] != 1 || st.Error.Compared != 3 || len(st.Hits) != 0 {
			t.Errorf("stats %+v", st)
		}
	}
}

// TestPurgeOfShadowList: a purge removes what it names, and nothing of before it is added later.
func TestPurgeOfShadowList(t *testing.T) {
	r, up, _, _ := exploring(t, func(o *Options) { o.Mode, o.LogPrompts = ModeShadow, true })
	up.set(says("It takes 5 days."))
	fill := func(model string) (entry policy.ID) {
		body := func(prompt string) string { return strings.Replace(chat(prompt), "gpt-4o", model, 1) }
		entry = entryOf(t, r.ask(t, "/v1/chat/completions", body(reset)))
		before := len(r.Server.Learning().Shadowed())
		r.ask(t, "/v1/chat/completions", body(asks))
		eventually(t, "the list", func() bool { return len(r.Server.Learning().Shadowed()) == before+1 })
		return entry
	}
	fill("gpt-4o")
	second := fill("gpt-4")
	fill("o3")
	models := func() (all string) {
		for _, s := range r.Server.Learning().Shadowed() {
			all += s.Model + " "
		}
		return all
	}
	if models() != "o3 gpt-4 gpt-4o " {
		t.Fatal(models())
	}
	for _, c := range []struct {
		f    store.Filter
		want string
	}{{store.Filter{Model: "gpt-4o"}, "o3 gpt-4 "}, {store.Filter{Tenant: "none"}, "o3 gpt-4 "}, {store.Filter{Entry: second}, "o3 "}, {store.Filter{}, ""}} {
		if _, _, err := r.Purge(t.Context(), c.f); err != nil {
			t.Fatal(err)
		}
		if models() != c.want {
			t.Errorf("after %+v: %q, want %q", c.f, models(), c.want)
		}
	}
}

// TestPurgeOfOwnEntry: a purge of the answer that the upstream has given in the place of a hit removes the prompt from the list, too.
func TestPurgeOfOwnEntry(t *testing.T) {
	for name, filter := range map[string]func(*store.Entry) store.Filter{
		"entry": func(e *store.Entry) store.Filter { return store.Filter{Entry: e.ID} },
		"topic": func(e *store.Entry) store.Filter { return store.Filter{Topic: e.Topic} },
	} {
		r, up, _, _ := exploring(t, func(o *Options) { o.Mode, o.LogPrompts = ModeShadow, true })
		up.set(says("It takes 5 days."))
		r.ask(t, "/v1/chat/completions", chat(reset))
		own, ok := r.store.Get(entryOf(t, r.ask(t, "/v1/chat/completions", chat(asks))))
		if !ok {
			t.Fatal("the upstream's answer is not stored")
		}
		eventually(t, "the list", func() bool { return len(r.Server.Learning().Shadowed()) == 1 })
		if _, _, err := r.Purge(t.Context(), filter(own)); err != nil {
			t.Fatal(err)
		}
		if list := r.Server.Learning().Shadowed(); len(list) != 0 {
			t.Errorf("by %s: %+v", name, list)
		}
	}
}

// TestPurgeDuringComparison: the outcome of a comparison that a purge has overtaken does not count, and is not listed.
func TestPurgeDuringComparison(t *testing.T) {
	r, up, learnt, _ := exploring(t, func(o *Options) { o.Mode = ModeShadow })
	up.set(says("It takes 5 days."))
	r.ask(t, "/v1/chat/completions", chat(reset))
	up.set(func(_, prompt string) (int, string, string) {
		if prompt == asks { // the request has found its candidate
			if _, _, err := r.Purge(t.Context(), store.Filter{}); err != nil {
				t.Error(err)
			}
		}
		return http.StatusOK, "It takes 5 days.", "stop"
	})
	r.ask(t, "/v1/chat/completions", chat(asks))
	r.learner.Close() // waits for the comparison
	if n, list := len(learnt.list()), r.Server.Learning().Shadowed(); n != 0 || len(list) != 0 {
		t.Errorf("%d samples, list %+v", n, list)
	}
}
