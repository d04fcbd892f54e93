package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestFeedback: a verdict counts once, for the caller's own hits only; a wrong answer is not served to that prompt again, also not by its alias.
func TestFeedback(t *testing.T) {
	r, _, learnt, explore := exploring(t, func(o *Options) { o.AdminToken = "s3cret-token" })
	explore.Store(false)
	r.ask(t, "/v1/chat/completions", chat(reset))
	say := func(entry any, verdict string, header ...string) reply {
		return r.ask(t, feedbackPath, fmt.Sprintf(`{"entry":%v,"verdict":%q}`, entry, verdict), header...)
	}
	first := r.ask(t, "/v1/chat/completions", chat(asks))
	if first.cache() != "semantic" {
		t.Fatalf("%s: %s", first.cache(), status(first))
	}
	entry := entryOf(t, first)
	other, unknown := say(entry, "wrong", "Authorization: Bearer sk-other"), say(999999, "wrong")
	if other.status != 404 || unknown.status != 404 || strings.ReplaceAll(unknown.body, "999999", fmt.Sprint(entry)) != other.body {
		t.Errorf("another tenant: %d %s; unknown: %d %s", other.status, other.body, unknown.status, unknown.body)
	}
	if len(learnt.list()) != 0 {
		t.Fatalf("counted: %+v", learnt.list())
	}
	if got := say(entry, "wrong"); got.status != 200 || !gjson.Get(got.body, "counted").Bool() {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	for _, header := range []string{"User-Agent: none", "X-Reprise-Admin-Token: s3cret-token"} {
		if got := say(entry, "right", header); got.status != 409 || gjson.Get(got.body, "error.code").Str != "already_given" {
			t.Errorf("twice: %d: %s", got.status, got.body)
		}
	}
	if n := len(learnt.list()); n != 1 {
		t.Errorf("%d samples", n)
	}
	for range 2 {
		if got := r.ask(t, "/v1/chat/completions", chat(asks), "Cache-Control: no-store"); got.cache() != "miss" {
			t.Errorf("after it was wrong: %s, %s", got.cache(), status(got))
		}
	}
	if got := r.ask(t, "/v1/chat/completions", chat(reset)); got.cache() != "exact" {
		t.Errorf("the prompt itself: %s", got.cache())
	}
	if st := r.Stats().Reuse; st.Feedback["wrong"] != 1 || st.Feedback["right"] != 0 {
		t.Errorf("stats %+v", st)
	}
}

// TestFeedbackOnFallback: an answer that is served because an exploration failed can be judged like any other.
func TestFeedbackOnFallback(t *testing.T) {
	r, up, learnt, explore := exploring(t)
	explore.Store(false)
	entry := entryOf(t, r.ask(t, "/v1/chat/completions", chat(reset)))
	explore.Store(true)
	up.set(func(string, string) (int, string, string) { return 503, "", "" })
	if got := r.ask(t, "/v1/chat/completions", chat(asks)); got.cache() != "semantic" || entryOf(t, got) != entry {
		t.Fatalf("%s: %s", got.cache(), status(got))
	}
	if got := r.ask(t, feedbackPath, fmt.Sprintf(`{"entry":%d,"verdict":"wrong"}`, entry)); got.status != 200 || len(learnt.list()) != 1 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(asks)); got.status != 503 {
		t.Errorf("the prompt that got a wrong answer: %d, %s", got.status, status(got))
	}
}

// TestFeedbackRight: a right answer goes on being served, and the operator may judge the answers of every tenant.
func TestFeedbackRight(t *testing.T) {
	r, _, learnt, explore := exploring(t, func(o *Options) { o.AdminToken = "s3cret-token" })
	explore.Store(false)
	r.ask(t, "/v1/chat/completions", chat(reset))
	entry := entryOf(t, r.ask(t, "/v1/chat/completions", chat(asks)))
	body := fmt.Sprintf(`{"verdict":"right","entry":"%d"}`, entry)
	if got := r.ask(t, feedbackPath, body, "Authorization: Bearer s3cret-token"); got.status != 200 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	if n := len(learnt.list()); n != 1 {
		t.Errorf("%d samples", n)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(asks)); got.cache() == "miss" {
		t.Errorf("%s: %s", got.cache(), status(got))
	}
}

// TestBadFeedback: each error names the member, its value and what is allowed.
func TestBadFeedback(t *testing.T) {
	r := newRig(t)
	for body, want := range map[string]string{
		``: "400 ", `[]`: "400 ", `null`: "400 ", `{}`: "400 entry is not given; allowed is a whole number from 1, as in the header X-Reprise-Entry.",
		`{"entry":0,"verdict":"right"}`:                      `400 entry is "0"; allowed is a whole number from 1`,
		`{"entry":-1,"verdict":"right"}`:                     `400 entry is "-1"; allowed`,
		`{"entry":1.5,"verdict":"right"}`:                    `400 entry is "1.5"; allowed`,
		`{"entry":1}`:                                        `400 verdict is not given; allowed is "right" or "wrong".`,
		`{"entry":1,"verdict":"Right"}`:                      `400 verdict is "Right"; allowed is "right" or "wrong".`,
		`{"entry":1,"verdict":true}`:                         `400 verdict is "true"; allowed`,
		`{"entry":1,"verdict":"right","why":1}`:              `400 The member "why" is unknown; allowed are entry and verdict.`,
		`{"entry":1,"verdict":"right","verdict":"wrong"}`:    "400 ",
		`{"entry":1,"Entry":2,"verdict":"right"}`:            "400 ",
		`{"entry":1,"verdict":"right"} {}`:                   "400 ",
		`{"entry":1,"verdict":"` + strings.Repeat("a", 5000): "413 Feedback has at most 4096 bytes.",
	} {
		got := r.ask(t, feedbackPath, body)
		if text := fmt.Sprint(got.status, " ", gjson.Get(got.body, "error.message").Str); !strings.HasPrefix(text, want) {
			t.Errorf("%.60s: %s, want %s", body, text, want)
		}
	}
	for _, c := range []struct {
		header string
		status int
	}{{"Content-Type: text/plain", 400}, {"Connection: Authorization", 400}, {"Sec-Fetch-Site: cross-site", 404}} {
		if got := r.ask(t, feedbackPath, `{"entry":1,"verdict":"right"}`, c.header); got.status != c.status {
			t.Errorf("%s: %d %s", c.header, got.status, got.body)
		}
	}
	for _, path := range []string{feedbackPath, explainPath} {
		resp, err := http.Get(r.api.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" || r.engine.Stats().Requests != 0 {
			t.Errorf("GET %s: %s, Allow %q, %d requests at the upstream", path, resp.Status, resp.Header.Get("Allow"), r.engine.Stats().Requests)
		}
	}
	shared := newRig(t, func(o *Options) { o.TenantFrom = "none" }) // a page may not use what a client's credential does not separate
	if got := shared.ask(t, feedbackPath, `{"entry":1,"verdict":"right"}`, "Origin: https://evil.example"); got.status != 403 {
		t.Errorf("a web page: %d %s", got.status, got.body)
	}
}
