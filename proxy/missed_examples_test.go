package proxy

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

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
