package proxy

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/api/registry"
	"reprise/proxy/rules"
	"reprise/topics/frames"
)

// place is where a request goes to: all that rules are chosen by.
type place struct{ model, path, team, namespace string }

var home = place{"gpt-4o", "/v1/chat/completions", "team-a", "faq"}

// others are places that differ from home in one part.
var others = []place{{"gpt-4o-mini", home.path, home.team, home.namespace}, {home.model, "/v1/responses", home.team, home.namespace},
	{home.model, home.path, "team-b", home.namespace}, {home.model, home.path, home.team, "other"}, {home.model, home.path, home.team, ""}}

// askAt sends a prompt from a place, with a system prompt, which has no quotes, or more members of the body.
func (r *rig) askAt(t *testing.T, at place, prompt string, more ...string) reply {
	t.Helper()
	field, turns := "input", ""
	if strings.HasPrefix(at.path, "/v1/chat") {
		field = "messages"
	}
	if len(more) == 1 && !strings.Contains(more[0], `"`) {
		turns, more = fmt.Sprintf(`{"role":"system","content":%q},`, more[0]), nil
	}
	body := fmt.Sprintf(`{"model":%q,%q:[%s{"role":"user","content":%q}]%s}`, at.model, field, turns, prompt, joined(more))
	header := []string{"X-Team: " + at.team}
	if at.namespace != "" {
		header = append(header, "X-Reprise-Namespace: "+at.namespace)
	}
	return r.ask(t, at.path, body, header...)
}

// matching is a rule for home, by the part with a number, and by all of them.
func matching(part int) rules.Match {
	m := rules.Match{Models: []string{home.model}, Paths: []string{"/v1/chat/*"}, Tenants: []string{"team-a"}, Namespaces: []string{home.namespace}}
	switch part {
	case 0:
		return rules.Match{Models: m.Models}
	case 1:
		return rules.Match{Paths: m.Paths}
	case 2:
		return rules.Match{Tenants: m.Tenants}
	case 3:
		return rules.Match{Namespaces: m.Namespaces}
	}
	return m
}

const (
	edited    = "What are some benefits of a garden?" // and one with a listed edit
	editedToo = "What are some of the benefits of a garden?"
	tools     = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"tool_choice":"required"`
	tools2    = `"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}],"tool_choice":"required"`
)

// effect is what a field of a rule changes: how the second of two requests is answered, with the rule and without it.
type effect struct {
	name          string
	rule          func(*rules.Rule)
	options       func(*Options)
	ask           func(r *rig, t *testing.T, at place) reply
	with, without string
}

// ignores makes a rule ignore a field, or a pattern.
func ignores(field, pattern string) func(*rules.Rule) {
	list := func(s string) []string { return slices.DeleteFunc([]string{s}, func(s string) bool { return s == "" }) }
	return func(r *rules.Rule) {
		var err error
		if r.Ignore, err = registry.APIs.Ignore(list(field), list(pattern)); err != nil {
			panic(err)
		}
	}
}

func declared(expression string) *frames.Declared {
	d, err := frames.Declare(expression, 256)
	if err != nil {
		panic(err)
	}
	return d
}

// twice asks a prompt and then another one.
func twice(first, second string) func(*rig, *testing.T, place) reply {
	return func(r *rig, t *testing.T, at place) reply {
		r.askAt(t, at, first)
		return r.askAt(t, at, second)
	}
}

func effects(now *clock) []effect {
	mode := func(m Mode) func(*rules.Rule) { return func(r *rules.Rule) { r.Mode = m } }
	none := func(*Options) {}
	user := func(r *rig, t *testing.T, at place) reply {
		r.askAt(t, at, capital, `"user":"1"`)
		return r.askAt(t, at, capital, `"user":"2"`)
	}
	dated := func(r *rig, t *testing.T, at place) reply {
		r.askAt(t, at, capital, "It is 2025.")
		return r.askAt(t, at, capital, "It is 2026.")
	}
	// searched asks two prompts whose answers are from the web.
	searched := func(first, second string) func(*rig, *testing.T, place) reply {
		return func(r *rig, t *testing.T, at place) reply {
			r.askAt(t, at, first, `"web_search":true`)
			return r.askAt(t, at, second, `"web_search":true`)
		}
	}
	live := func(r *rules.Rule) { r.LiveWeb = true }
	return []effect{
		{"live_web", live, none, searched(capital, capital), "exact", "bypass"},
		{"live_web serves equal requests alone", live, none, searched(capital, similar), "miss", "bypass"},
		{"mode off", mode(ModeOff), none, twice(capital, capital), "bypass", "exact"},
		{"mode exact", mode(ModeExact), none, twice(capital, similar), "miss", "semantic"},
		{"mode shadow", mode(ModeShadow), none, twice(capital, similar), "miss", "semantic"},
		{"mode exact serves equal requests", mode(ModeExact), none, twice(capital, capital), "exact", "exact"},
		{"mode semantic", mode(ModeSemantic), func(o *Options) { o.Mode = ModeExact }, twice(capital, similar), "semantic", "miss"},
		{"mode on", mode(ModeExact), func(o *Options) { o.Mode = ModeOff }, twice(capital, capital), "exact", "bypass"},
		{"ask", func(r *rules.Rule) { r.Ask = declared("garden(?P<ask>.*)") }, none, twice(edited, editedToo), "miss", "semantic"},
		{"ask that does not match", func(r *rules.Rule) { r.Ask = declared("park(?P<ask>.*)") }, none, twice(edited, editedToo), "semantic", "semantic"},
		{"threshold", func(r *rules.Rule) { r.Threshold = 1 }, none, twice(edited, editedToo), "miss", "semantic"},
		{"threshold leaves forms", func(r *rules.Rule) { r.Threshold = 1 }, none, twice(capital, similar), "semantic", "semantic"},
		{"max_error_rate", func(r *rules.Rule) { r.MaxErrorRate = 0 }, none, twice(edited, editedToo), "miss", "semantic"},
		{"max_error_rate leaves forms", func(r *rules.Rule) { r.MaxErrorRate = 0 }, none, twice(capital, similar), "semantic", "semantic"},
		{"ttl", func(r *rules.Rule) { r.TTL = time.Minute }, none, func(r *rig, t *testing.T, at place) reply {
			r.askAt(t, at, capital)
			now.add(time.Minute)
			return r.askAt(t, at, capital)
		}, "miss", "exact"},
		{"ignore_fields", ignores("user", ""), none, user, "exact", "miss"},
		{"ignore_fields leaves others", ignores("metadata", ""), none, user, "miss", "miss"},
		{"ignore_pattern", ignores("", `(?P<year>\d{4})`), none, dated, "exact", "miss"},
		{"tool_calls", func(r *rules.Rule) { r.ToolCalls = false }, func(o *Options) { o.CacheToolCalls = true }, func(r *rig, t *testing.T, at place) reply {
			with := tools
			if at.path != home.path {
				with = tools2
			}
			r.askAt(t, at, capital, with)
			return r.askAt(t, at, capital, with)
		}, "miss", "exact"},
	}
}

// TestRuleActs: each field of a rule acts on the requests that it is for, by each part of a match, and on no other.
func TestRuleActs(t *testing.T) {
	now := newClock()
	for _, e := range effects(now) {
		for part := range 5 {
			t.Run(fmt.Sprintf("%s/%d", e.name, part), func(t *testing.T) {
				r := newRig(t, now.use, func(o *Options) {
					o.TenantFrom, o.Mode, o.TTL, o.MaxErrorRate = "header:X-Team", ModeSemantic, time.Hour, 0.01
					e.options(o)
					rule := &rules.Rule{Name: "r", Match: matching(part), Mode: o.Mode, TTL: o.TTL, MaxErrorRate: o.MaxErrorRate, Trust: o.Trust, ToolCalls: o.CacheToolCalls}
					e.rule(rule)
					o.Rules = []*rules.Rule{rule}
				})
				if got := e.ask(r, t, home).cache(); got != e.with {
					t.Errorf("with the rule: %s, want %s", got, e.with)
				}
				for i, at := range others {
					want := e.without
					if part < 4 && i != min(part, 3) && !(part == 3 && i == 4) {
						want = e.with // the part that differs is not in the match
					}
					if got := e.ask(r, t, at).cache(); got != want {
						t.Errorf("at %+v: %s, want %s", at, got, want)
					}
				}
			})
		}
	}
}

// TestRulesReplaced: what a request was read as, and what leads its key to an answer, does not outlive the rule by which that was so.
func TestRulesReplaced(t *testing.T) {
	r := newRig(t)
	rule := func(change func(*rules.Rule)) {
		t.Helper()
		o := r.opts
		to := &rules.Rule{Name: "r", Match: rules.Match{Models: []string{"gpt-4o"}}, Mode: o.Mode, TTL: o.TTL, MaxErrorRate: 0.01, Trust: o.Trust}
		change(to)
		o.Rules = []*rules.Rule{to}
		if err := r.Reload(o); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what, prompt, want string, more ...string) {
		t.Helper()
		if got := r.ask(t, "/v1/chat/completions", chat(prompt, more...)); got.cache() != want {
			t.Errorf("%s: %s, want %s", what, got.cache(), want)
		}
	}
	wants("at first", capital, "miss")
	wants("again", capital, "exact") // remembered as it was read
	wants("a prompt with an edit to come", edited, "miss")
	one, two := `"user":"1"`, `"user":"2"`
	wants("of one", capital, "miss", one)
	wants("of one, remembered as it was read", capital, "exact", one)
	rule(ignores("user", ""))
	wants("of one, whose answer of before may depend on who asks", capital, "miss", one)
	wants("of the other, where that does not count", capital, "exact", two)
	wants("of the other, remembered", capital, "exact", two)
	rule(ignores("metadata", ""))
	wants("of the other, where it counts again", capital, "miss", two)
	rule(ignores("user", ""))
	wants("of the other, as before", capital, "exact", two)
	rule(func(*rules.Rule) {})
	wants("of one, as before", capital, "exact", one)
	wants("of the other", capital, "miss", two)

	wants("edited", editedToo, "semantic")
	wants("edited, again", editedToo, "semantic")
	wants("edited, an alias", editedToo, "exact")
	rule(func(r *rules.Rule) { r.MaxErrorRate = 0 })
	wants("an alias by an edit, where nothing may be wrong", editedToo, "miss")

	rule(func(r *rules.Rule) { r.ToolCalls = true })
	wants("a call", capital, "miss", tools)
	wants("a call again", capital, "exact", tools)
	rule(func(r *rules.Rule) { r.ToolCalls = false })
	wants("a call that is not allowed", capital, "miss", tools)
	rule(func(r *rules.Rule) { r.ToolCalls = true })
	wants("the call of before", capital, "exact", tools)

	rule(func(r *rules.Rule) { r.Mode = ModeOff })
	wants("off", capital, "bypass")
	rule(func(r *rules.Rule) { r.Mode = ModeExact })
	wants("on", capital, "exact")
	if err := r.Reload(func() Options { o := r.opts; o.Rules = []*rules.Rule{{Name: "bad", Mode: "fast"}}; return o }()); err == nil {
		t.Error("a mode that does not exist is in force")
	}
}

// TestRuleOfNamespaceInBody: the namespace of the body's directives counts as that of the header does, and both together are a third.
func TestRuleOfNamespaceInBody(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Rules = []*rules.Rule{{Name: "off", Match: rules.Match{Namespaces: []string{"a"}}, Mode: ModeOff, TTL: time.Hour}}
	})
	in := `"cache":{"namespace":"a"}`
	for _, c := range []struct {
		more   []string
		header string
		want   string
	}{{nil, "X-Reprise-Namespace: a", "bypass"}, {[]string{in}, "A: b", "bypass"}, {[]string{in}, "X-Reprise-Namespace: b", "miss"}, {nil, "A: b", "miss"}, {[]string{`"namespace":"a"`}, "A: b", "miss"}} {
		if got := r.ask(t, "/v1/chat/completions", chat(capital, c.more...), c.header); got.cache() != c.want {
			t.Errorf("%q, %s: %s, want %s", c.more, c.header, got.cache(), c.want)
		}
	}
}

// TestOffIsNotRead: where the rule of a path is off whatever the body says, a body that the proxy cannot read passes through.
func TestOffIsNotRead(t *testing.T) {
	off := &rules.Rule{Name: "off", Match: rules.Match{Paths: []string{"/v1/chat/*"}}, Mode: ModeOff, TTL: time.Hour}
	r := newRig(t, func(o *Options) { o.Rules = []*rules.Rule{off} })
	const twice = `{"model":"gpt-4o","model":"gpt-4o","messages":[]}`
	if got := r.ask(t, "/v1/chat/completions", twice); got.cache() != "bypass" {
		t.Errorf("%s: %s", got.cache(), got.body)
	}
	if got := r.ask(t, "/v1/responses", twice); got.status != 400 || got.cache() != "error" {
		t.Errorf("%s: %s", got.cache(), got.body)
	}
}

// TestExplainNamesRule: explain shows the rule, its gate and its error rate.
func TestExplainNamesRule(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Explain, o.TenantFrom = true, "header:X-Team"
		o.Rules = []*rules.Rule{{Name: "faq", Match: rules.Match{Tenants: []string{"team-*"}}, Mode: ModeSemantic, TTL: time.Hour, Threshold: 0.999, MaxErrorRate: 0.005}}
	})
	r.ask(t, "/v1/chat/completions", chat(edited), "X-Team: team-a")
	x := r.ask(t, explainPath, chat(editedToo), "X-Team: team-a").body
	if gjson.Get(x, "rule").Str != "faq" || gjson.Get(x, "thresholds.hit").Float() != 0.999 || gjson.Get(x, "candidates.0.max_error_rate").Float() != 0.005 {
		t.Error(x)
	}
	if x := r.ask(t, explainPath, chat(editedToo)).body; gjson.Get(x, "rule").Exists() {
		t.Error(x)
	}
}

// TestFlightsKeepTheirRules: a request does not wait for the answer to an equal one that came under other rules.
func TestFlightsKeepTheirRules(t *testing.T) {
	var calls atomic.Int64
	release := make(chan struct{})
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		<-release
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"a","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Paris."}}]}`)
	}))
	results := make(chan string, 2)
	for i := range int64(2) {
		go func() {
			got, err := r.try("/v1/chat/completions", chat(capital))
			results <- fmt.Sprintf("%d %s %v", got.status, got.cache(), err)
		}()
		eventually(t, "a call of its own", func() bool { return calls.Load() == i+1 })
		if err := r.Reload(r.opts); err != nil {
			t.Error(err)
		}
	}
	close(release)
	for range 2 {
		if got := <-results; got != "200 miss <nil>" {
			t.Error(got)
		}
	}
}

// TestLifeIsShortened: answers that were kept for longer than the rule in force allows are not served, and Cache-Status has what is left by it.
func TestLifeIsShortened(t *testing.T) {
	now := newClock()
	r := newRig(t, now.use, func(o *Options) { o.TTL = time.Hour })
	r.ask(t, "/v1/chat/completions", chat(capital))
	now.add(2 * time.Minute)
	for ttl, want := range map[time.Duration]string{3 * time.Minute: "hit; ttl=60", 2 * time.Minute: "fwd=uri-miss"} {
		o := r.opts
		o.TTL = ttl
		if err := r.Reload(o); err != nil {
			t.Fatal(err)
		}
		if got := r.ask(t, "/v1/chat/completions", chat(capital), "Cache-Control: no-store"); !strings.Contains(status(got), want) {
			t.Errorf("life of %v: %s", ttl, status(got))
		}
	}
}
