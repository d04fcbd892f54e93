package proxy

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/rules"
)

const (
	support = "You get a message of a customer of our shop. Answer in two sentences at most, and never promise a date.\n\n{doc}\n\nQuestion: {ask}\nAnswer:"
	noteA   = "The shop opens at nine."
	noteB   = "The shop is closed for repairs."
)

func behind(doc, ask string) string {
	return chat(strings.NewReplacer("{doc}", doc, "{ask}", ask).Replace(support))
}

// template makes the frame of support known.
func (r *rig) template(t *testing.T, header ...string) {
	t.Helper()
	for i := range 30 {
		r.ask(t, "/v1/chat/completions", behind(fmt.Sprintf("Note %d is short.", i), fmt.Sprintf("where is place %d in street %d?", i, i*i)), header...)
	}
}

// shown is what a path of the admin API shows.
func (r *rig) shown(t *testing.T, path string) gjson.Result {
	t.Helper()
	resp, err := http.Get(r.admin.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode, err, string(b))
	}
	return gjson.ParseBytes(b)
}

// TestExplainShowsFrame: explain shows how a prompt is cut, and a rule by which it would be cut like that.
func TestExplainShowsFrame(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Explain = true })
	r.template(t)
	frame := func(body string, header ...string) gjson.Result {
		return gjson.Get(r.ask(t, explainPath, body, header...).body, "frame")
	}
	x := frame(behind(noteA, "When?"))
	if x.Get("by").Str != "frame" || x.Get("asks").Str != "When?" || x.Get("guess").Bool() || x.Get("constants.#").Int() < 4 || !strings.Contains(x.Get("in_words").Str, "A label") {
		t.Error(x)
	}
	if x.Get("asks_from_byte").Int() == 0 || x.Get("asks_to_byte").Int()-x.Get("asks_from_byte").Int() != 5 {
		t.Error(x)
	}
	rule := strings.TrimSuffix(strings.TrimPrefix(x.Get("rule_to_ask").Str, "ask: '"), "'")
	o := r.opts
	o.Rules = []*rules.Rule{{Name: "notes", Match: rules.Match{Models: []string{"*"}}, Mode: ModeSemantic, TTL: time.Hour, Ask: declared(rule)}}
	if err := r.Reload(o); err != nil {
		t.Fatal(err)
	}
	if y := frame(behind(noteA, "When?")); y.Get("by").Str != "rule" || y.Get("asks").Raw != x.Get("asks").Raw || y.Get("asks_from_byte").Raw != x.Get("asks_from_byte").Raw {
		t.Errorf("by the rule %s: %s", rule, y)
	}
	for body, want := range map[string]string{chat("What?"): "prompt What?", chat("Of this.\nQuestion: what?"): "label what?"} {
		if y := frame(body); y.Get("by").Str+" "+y.Get("asks").Str != want {
			t.Errorf("%s: %s, want %s", body, y, want)
		}
	}
	if y := frame(chat("What?"), "X-Reprise-Ask: (?P<ask>nothing)"); !y.Get("narrowed").Bool() || y.Get("asks").Exists() {
		t.Error(y)
	}
}

// TestFramesAreListed: the frames in force are shown to the operator, each with its tenant, and with texts only where prompts may be.
func TestFramesAreListed(t *testing.T) {
	for _, prompts := range []bool{false, true} {
		r := newRig(t, func(o *Options) { o.LogPrompts = prompts })
		r.template(t, "Authorization: Bearer sk-one")
		r.ask(t, "/v1/chat/completions", behind(noteA, "When does it open?"), "Authorization: Bearer sk-two")
		list := r.shown(t, "/admin/frames")
		one := list.Get("frames.0")
		if list.Get("total").Int() != 1 || one.Get("by").Str != "frame" || one.Get("asks").Str != "label" || one.Get("entries").Int() < 20 || one.Get("constant_bytes").Int() < 50 || len(one.Get("tenant").Str) != 32 {
			t.Fatal(list)
		}
		if texts := one.Get("constants").Exists() && one.Get("rule_to_ask").Exists(); texts != prompts || strings.Contains(list.Raw, "customer of our shop") != prompts {
			t.Errorf("prompts may be shown: %v; %s", prompts, list)
		}
	}
}

// TestNothingIsLearntOfNoStore: of prompts of which nothing is to be kept, a frame is found and none is learnt.
func TestNothingIsLearntOfNoStore(t *testing.T) {
	r := newRig(t)
	for want, header := range []string{"Cache-Control: no-store", "Accept: */*"} {
		if r.template(t, header); r.shown(t, "/admin/frames").Get("total").Int() != int64(want) {
			t.Errorf("%s: %s", header, r.shown(t, "/admin/frames"))
		}
	}
}

// TestReviewShowsAsks: a pair for review has what was compared of two prompts, aligned, and not the document that both have.
func TestReviewShowsAsks(t *testing.T) {
	r := newRig(t, logging)
	r.template(t)
	r.ask(t, "/v1/chat/completions", behind(noteA, edited))
	if got := r.ask(t, "/v1/chat/completions", behind(noteA, editedToo)); got.cache() != "semantic" {
		t.Fatal(status(got))
	}
	pair := r.shown(t, "/admin/reviews").Get("pairs.0")
	if pair.Get("stored_prompt").Str != edited || pair.Get("prompt").Str != editedToo {
		t.Error(pair)
	}
	var asked strings.Builder
	for _, part := range pair.Get("explained.aligned").Array() {
		asked.WriteString(part.Get("asked").Str)
	}
	if asked.String() != editedToo || pair.Get("explained.edits.#").Int() != 1 || pair.Get("explained.edits.0.class").Str == "" {
		t.Error(pair.Get("explained"))
	}
}

// TestWhyContext: a question that is kept behind another document, or without one, is not said to be new, nor to be near something. What asks nothing
// is no question that others have asked.
func TestWhyContext(t *testing.T) {
	db := filepath.Join(t.TempDir(), "reprise.db")
	open := func() *rig {
		return newRig(t, func(o *Options) { o.Explain, o.Store = true, fileStoreOf(t, "rac+", db, 100) })
	}
	r := open()
	r.template(t)
	r.missed(t, "new", chat("Is there a car park?"))
	r.ask(t, "/v1/chat/completions", behind(noteA, "When does the shop open?"))
	r.ask(t, "/v1/chat/completions", behind(noteA, "Who owns the place?"))
	for _, s := range []struct{ want, body string }{
		{"context", behind(noteB, "When does the shop open?")},
		{"context", chat("When does the shop open?")},
		{"context", behind(noteA, "Is there a car park?")},
		{"scope;differs=user+context", chat("Who owns the place?", `"user":"a"`)},
		{"new", chat("Notes.\nQuestion: how old is the shop?")},
		{"scope;differs=user", chat("Notes.\nQuestion: how old is the shop?", `"user":"b"`)},
	} {
		r.missed(t, s.want, s.body)
	}
	if x := gjson.Get(r.ask(t, explainPath, behind("It rains.", "When does the shop open?")).body, "missed"); x.Get("why").Str != "context" || !strings.Contains(x.Get("in_words").Str, "behind another document") {
		t.Error(x)
	}
	r.api.Close()
	r.store.Close()
	r = open()
	defer r.store.Close()
	r.missed(t, "context", behind("It snows.", "Is there a car park?"))
	r.missed(t, "context", behind("It snows.", "Who owns the place?"))
	r.missed(t, "exact-only", behind(noteA, "who owns the place"), "X-Reprise-Mode: exact")
	r.missed(t, "context", chat("Lists.\nQuestion: how old is the shop?"))
}
