package proxy

import (
	"slices"
	"strings"
	"testing"

	"reprise/proxy/canon"
	"reprise/proxy/observe/misses"
)

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
