package proxy

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestWhyPurgedEntry: after a purge of one entry the counts are there, nothing of what was asked is, and the report says since when.
func TestWhyPurgedEntry(t *testing.T) {
	r := newRig(t, logging)
	stored := r.ask(t, "/v1/chat/completions", chat(capital))
	r.missed(t, "scope;differs=user", chat(capital, `"user":"a"`))
	r.missed(t, "scope;differs=my-field", chat(capital, `"my-field":"a"`))
	before := r.countedMisses(t, 3)
	got := r.call(t, "POST", "/admin/purge", `{"entry":`+stored.header.Get("X-Reprise-Entry")+`,"dry_run":false}`)
	report := r.misses(t)
	for _, g := range before.Get("groups").Array() {
		differs := g.Get("differs.0").Str
		if differs == "my-field" {
			differs = "other-fields"
		}
		if after := group(report, g.Get("why").Str, nonEmpty([]string{differs})...); after.Get("count").Int() != g.Get("count").Int() || after.Get("examples.#").Int() != 0 {
			t.Errorf("%s: after the purge %s", g.Raw, after.Raw)
		}
	}
	for _, word := range []string{"France", "my-field"} {
		if strings.Contains(report.Raw, word) || !strings.Contains(before.Raw, word) {
			t.Errorf("%s is in what a purge has left, or was not in what was there before: %s", word, report.Raw)
		}
	}
	if gjson.Get(got.body, "purged").Int() != 1 || report.Get("requests").Int() != before.Get("requests").Int() || report.Get("forgotten").Str == "" || report.Get("emptied").Exists() {
		t.Errorf("%s\n%s", got.body, report.Raw)
	}
	r.missed(t, "new", chat(capital, `"user":"b"`))
}
