package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// reviews is a field of the pairs of GET /admin/reviews.
func (r *rig) reviews(t *testing.T, query, field string) string {
	t.Helper()
	return gjson.Get(r.get(t, "/admin/reviews"+query).body, field).String()
}

// TestReviews: an answer that was served to other words, one that was compared and one that was kept back are listed, with both prompts aligned where
// prompts may be kept; no-store leaves nothing.
func TestReviews(t *testing.T) {
	for _, prompts := range []bool{true, false} {
		r, up, learnt, explore := exploring(t, func(o *Options) { o.LogPrompts = prompts })
		explore.Store(false)
		up.set(says("It takes 5 days.", "It takes 9 days.", "Never mind."))
		r.ask(t, "/v1/chat/completions", chat(reset))
		r.ask(t, "/v1/chat/completions", chat(asks))
		r.ask(t, "/v1/chat/completions", chat("Hello, "+reset), "Cache-Control: no-store")
		explore.Store(true)
		r.ask(t, "/v1/chat/completions", chat("Hey there, "+reset))
		eventually(t, "the comparison", func() bool { return len(learnt.list()) == 1 })
		r.ask(t, "/v1/chat/completions", chat("How do I reset my old password?"))
		eventually(t, "the pairs", func() bool { return r.reviews(t, "", "pairs.#") == "3" })
		if kinds := r.reviews(t, "", "pairs.#.kind"); kinds != `["refused","compared","served"]` {
			t.Error(kinds)
		}
		if first := r.get(t, "/admin/reviews?limit=2").body; gjson.Get(first, "next").Int() != gjson.Get(first, "pairs.1.id").Int() ||
			r.reviews(t, "?limit=2&before="+gjson.Get(first, "next").String(), "pairs.#.kind") != `["served"]` || r.reviews(t, "?limit=3", "next") != "" {
			t.Errorf("pages: %s", first)
		}
		refused := gjson.Get(r.get(t, "/admin/reviews?kind=refused").body, "pairs.0")
		if refused.Get("refusal").Str != "unlisted" || refused.Get("own_entry").Int() == 0 || refused.Get("similarity").Float() < 0.8 || refused.Get("explained").Exists() != prompts {
			t.Errorf("refused: %s", refused)
		}
		if got := refused.Get("explained.aligned.#.asked").Array(); prompts && len(got) != 3 {
			t.Errorf("aligned: %v", got)
		}
		id := r.reviews(t, "?kind=compared", "pairs.0.id")
		one := r.get(t, "/admin/reviews/"+id).body
		if gjson.Get(one, "outcome").Str != "different" || gjson.Get(one, "answers").Exists() != prompts {
			t.Errorf("compared: %s", one)
		}
		if got := gjson.Get(one, "answers").String(); prompts && (gjson.Get(got, "stored").Str != "It takes 5 days." || gjson.Get(got, "own").Str != "It takes 9 days." || gjson.Get(got, "compared_by_text").Str != "different") {
			t.Errorf("answers: %s", got)
		}
		if body := r.get(t, "/admin/reviews").body; strings.Contains(body, "password") != prompts || strings.Contains(body, "Hello") {
			t.Errorf("prompts %v: %s", prompts, body)
		}
	}
}

// TestReviewsAreRead: what is asked for wrongly is refused with what is allowed.
func TestReviewsAreRead(t *testing.T) {
	r, _, _, explore := exploring(t)
	explore.Store(false)
	r.ask(t, "/v1/chat/completions", chat(reset))
	r.ask(t, "/v1/chat/completions", chat(asks))
	id := "/admin/reviews/" + r.reviews(t, "", "pairs.0.id")
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/admin/reviews?kind=nonsense", "", 400, "served, compared, shadow, refused or below"},
		{"GET", "/admin/reviews?limit=0", "", 400, "a whole number from 1"},
		{"GET", "/admin/reviews?limit=101", "", 400, "allowed is up to 100"},
		{"GET", "/admin/reviews?before=x", "", 400, "a whole number from 1"},
		{"GET", "/admin/reviews/x", "", 400, "a whole number from 1"},
		{"GET", "/admin/reviews/99", "", 404, "no pair 99"},
		{"POST", "/admin/reviews/99", `{"verdict":"right"}`, 404, "no pair 99"},
		{"POST", id, `{"verdict":"maybe"}`, 400, `"right", "wrong" or "undo"`},
		{"POST", id, `{"verdict":"right","verdict":"wrong"}`, 400, "given twice"},
		{"POST", id, `{"Verdict":"right"}`, 400, "unknown"},
		{"POST", id, ``, 400, "empty"},
		{"POST", id, `{"verdict":"undo"}`, 409, "ten seconds"},
		{"POST", "/admin/purge/undo", `{"undo":"nothing"}`, 404, "ten seconds"},
		{"POST", "/admin/purge", `{"model":"gpt-4o","undo":true,"dry_run":false}`, 400, "one entry alone"},
		{"POST", "/admin/purge", `{"entry":1,"model":"gpt-4o","undo":true,"dry_run":false}`, 400, "one entry alone"},
		{"POST", "/admin/purge", `{"all":true,"undo":true,"dry_run":false}`, 400, "one entry alone"},
		{"POST", "/admin/purge", `{"all":true,"undo":true}`, 400, "one entry alone"},
	} {
		got := r.call(t, c.method, c.path, c.body)
		if message := gjson.Get(got.body, "error.message").Str; got.status != c.status || !strings.Contains(message, c.says) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
	}
	if got := r.call(t, "POST", id, `{"verdict":"wrong"}`, "Content-Type: text/plain"); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("plain text: %d", got.status)
	}
	if got := r.call(t, "POST", id, `{"verdict":"wrong"}`, "Origin: http://evil.example", "Sec-Fetch-Site: cross-site"); got.status != http.StatusForbidden {
		t.Errorf("another site: %d", got.status)
	}
}

// TestVerdictHoldsBack: an answer that an operator calls wrong does not serve the request any more, from that moment on; taken back, it does.
func TestVerdictHoldsBack(t *testing.T) {
	r, _, learnt, explore := exploring(t)
	explore.Store(false)
	r.ask(t, "/v1/chat/completions", chat(reset))
	r.ask(t, "/v1/chat/completions", chat(asks))
	id := "/admin/reviews/" + r.reviews(t, "", "pairs.0.id")
	if got := r.call(t, "POST", id, `{"verdict":"wrong"}`); got.status != 200 || gjson.Get(got.body, "verdict").Str != "wrong" || !gjson.Get(got.body, "undo").Bool() {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(asks), "Cache-Control: only-if-cached"); got.cache() == "semantic" || got.cache() == "exact" {
		t.Errorf("after the verdict: %s", got.cache())
	}
	if got := r.call(t, "POST", id, `{"verdict":"right"}`); got.status != http.StatusConflict {
		t.Errorf("a second verdict: %d", got.status)
	}
	if got := r.call(t, "POST", id, `{"verdict":"undo"}`); got.status != 200 || gjson.Get(got.body, "verdict").Exists() {
		t.Errorf("undo: %d %s", got.status, got.body)
	}
	if got := r.ask(t, "/v1/chat/completions", chat(asks), "Cache-Control: only-if-cached"); got.cache() != "semantic" && got.cache() != "exact" {
		t.Errorf("after the undo: %s %s", got.cache(), status(got))
	}
	r.call(t, "POST", id, `{"verdict":"wrong"}`)
	r.learner.Close() // counts what waits
	if all := learnt.list(); len(all) != 1 || r.Stats().Reuse.Feedback["wrong"] != 1 {
		t.Errorf("counted: %+v", all)
	}
}

// TestPurgeAndUndo: a purged entry serves nothing at once and leaves the list; within ten seconds it can be put back, once.
func TestPurgeAndUndo(t *testing.T) {
	r, up, _, explore := exploring(t, func(o *Options) { o.LogPrompts = true })
	explore.Store(false)
	first := r.ask(t, "/v1/chat/completions", chat(reset))
	r.ask(t, "/v1/chat/completions", chat(asks))
	got := r.call(t, "POST", "/admin/purge", `{"entry":1,"dry_run":false,"undo":true}`)
	name := gjson.Get(got.body, "undo").Str
	if got.status != 200 || name == "" || gjson.Get(got.body, "undo_seconds").Float() != 10 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, prompt := range []string{reset, asks} {
		if got := r.ask(t, "/v1/chat/completions", chat(prompt), "Cache-Control: only-if-cached"); got.status != http.StatusGatewayTimeout {
			t.Errorf("after the purge: %d %s", got.status, got.cache())
		}
	}
	if n := r.reviews(t, "", "pairs.#"); n != "0" {
		t.Errorf("%s pairs after the purge", n)
	}
	got = r.call(t, "POST", "/admin/purge/undo", fmt.Sprintf(`{"undo":%q}`, name))
	if got.status != 200 || gjson.Get(got.body, "entry").Int() != 2 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := r.call(t, "POST", "/admin/purge/undo", fmt.Sprintf(`{"undo":%q}`, name)); got.status != http.StatusNotFound {
		t.Errorf("a second time: %d %s", got.status, got.body)
	}
	again := r.ask(t, "/v1/chat/completions", chat(reset))
	if again.cache() != "exact" || again.content(t) != first.content(t) || len(up.asked) != 1 {
		t.Errorf("put back: %s %s, upstream %v", again.cache(), again.body, up.asked)
	}
	if got := r.call(t, "POST", "/admin/purge", `{"entry":77,"dry_run":false,"undo":true}`); got.status != 200 || gjson.Get(got.body, "undo").Exists() {
		t.Errorf("nothing to purge: %d %s", got.status, got.body)
	}
}

// TestUndoOfExpired: an entry whose time is over meanwhile is not reported as put back.
func TestUndoOfExpired(t *testing.T) {
	var later atomic.Int64
	r, _, _, explore := exploring(t, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) } })
	explore.Store(false)
	r.ask(t, "/v1/chat/completions", chat(reset))
	name := gjson.Get(r.call(t, "POST", "/admin/purge", `{"entry":1,"dry_run":false,"undo":true}`).body, "undo").Str
	later.Store(int64(48 * time.Hour))
	if got := r.call(t, "POST", "/admin/purge/undo", fmt.Sprintf(`{"undo":%q}`, name)); got.status != http.StatusConflict || gjson.Get(got.body, "error.code").Str != "expired" {
		t.Errorf("%d %s", got.status, got.body)
	}
}
