package canon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

// ignoring is what NewIgnore makes of fields between commas and of patterns.
func ignoring(t testing.TB, fields string, patterns ...string) *canon.Ignore {
	t.Helper()
	var names []string
	if fields != "" {
		names = strings.Split(fields, ",")
	}
	g, err := registry.APIs.Ignore(names, patterns)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func parseIgnoring(t testing.TB, f *api.Family, body string, g *canon.Ignore) *canon.Request {
	t.Helper()
	r, err := f.ParseIgnoring([]byte(body), identity, func(_, _ string) *canon.Ignore { return g })
	if err != nil {
		t.Fatalf("%.300s: %v", body, err)
	}
	return r
}

// TestIgnoredFields: requests that differ in an ignored field are one, and are several where it is not ignored.
func TestIgnoredFields(t *testing.T) {
	apis := map[*api.Family]string{chat: ask(``), resp: input(``), comp: `{"model":"m","prompt":"a"}`, embs: `{"model":"m","input":"a"}`,
		registry.APIs.ByPath("/v1/messages"): `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`}
	for _, name := range append(strings.Split(canon.OfferedFields(), ", "), "trace_id", "x-run.id") {
		for family, plain := range apis {
			g := ignoring(t, name)
			counted, ignored := map[canon.Hash]bool{}, map[canon.Hash]bool{}
			for _, value := range []string{"", `"ann"`, `"bob"`, `{"a":[1,"ann"]}`, `7`} {
				body := plain
				if value != "" {
					body = fmt.Sprintf(`{%q:%s,%s`, name, value, plain[1:])
				}
				r := parseIgnoring(t, family, body, g)
				counted[parse(t, family, body).Key], ignored[r.Key] = true, true
				if got := strings.Join(r.Ignored, "+"); got != name && value != "" || got != "" && value == "" {
					t.Errorf("%s: %s names %q as ignored", family.Name, body, got)
				}
			}
			if aside := strings.HasPrefix(name, "prompt_cache"); len(ignored) != 1 || !aside && len(counted) != 5 {
				t.Errorf("%s: %s: %d keys where it is ignored, %d where it is not", family.Name, name, len(ignored), len(counted))
			}
		}
	}
}

// TestIgnoredFieldStillForbids: what makes an answer uncacheable does so under an ignored name as well.
func TestIgnoredFieldStillForbids(t *testing.T) {
	messages := registry.APIs.ByPath("/v1/messages")
	body := `{"model":"m","max_tokens":9,"trace_id":"x","messages":[{"role":"user","content":"hi"}]}`
	if r := parseIgnoring(t, messages, body, ignoring(t, "trace_id")); r.Uncacheable != parse(t, messages, body).Uncacheable {
		t.Errorf("uncacheable: %q", r.Uncacheable)
	}
}

// TestIgnoreIsInTheKey: what was kept while more was ignored is not found afterwards, and the reverse.
func TestIgnoreIsInTheKey(t *testing.T) {
	keys, scopes := map[canon.Hash]bool{}, map[canon.Hash]bool{}
	all := []*canon.Ignore{nil, ignoring(t, "user"), ignoring(t, "user,metadata"), ignoring(t, "", `(?P<a>x)`), ignoring(t, "", `(?P<b>x)`),
		ignoring(t, "user", `(?P<a>x)`), ignoring(t, "", `(?P<a>x)`, `(?P<b>x)`), ignoring(t, "", `(?P<b>x)`, `(?P<a>x)`)}
	for _, g := range all {
		r := parseIgnoring(t, chat, ask(``), g)
		keys[r.Key], scopes[r.Scope] = true, true
	}
	if len(keys) != len(all) || len(scopes) != len(all) {
		t.Errorf("%d settings have %d keys and %d scopes", len(all), len(keys), len(scopes))
	}
	if a, b := ignoring(t, "user,metadata"), ignoring(t, "metadata,user,user"); parseIgnoring(t, chat, ask(``), a).Key != parseIgnoring(t, chat, ask(``), b).Key {
		t.Error("the order of fields counts")
	}
	if g := ignoring(t, ""); g != nil || g.Fields() != nil || g.Patterns() != nil {
		t.Errorf("nothing is ignored by %v", g)
	}
	if g := ignoring(t, "user,metadata", `(?P<a>x)`); !slices.Equal(g.Fields(), []string{"metadata", "user"}) || !slices.Equal(g.Patterns(), []string{`(?P<a>x)`}) {
		t.Errorf("%q, %q", g.Fields(), g.Patterns())
	}
}

// TestKnownFieldsCannotBeIgnored: of the fields that any API reads only the offered ones may be ignored.
func TestKnownFieldsCannotBeIgnored(t *testing.T) {
	names := []string{"model", "messages", "input", "prompt", "system", "instructions", "tools", "functions", "stream", "stream_options", "n", "cache", "temperature",
		"response_format", "text", "tool_choice", "previous_response_id", "conversation", "store", "background", "max_tokens", "seed", "images", "think", "options"}
	for name := range canon.CommonNames() {
		names = append(names, name)
	}
	for _, f := range registry.APIs.Families() {
		for name := range f.Requests.Names {
			names = append(names, name)
		}
	}
	offered := strings.Split(canon.OfferedFields(), ", ")
	for _, name := range names {
		if _, err := registry.APIs.Ignore([]string{name}, nil); (err == nil) != slices.Contains(offered, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIgnoreRefuses(t *testing.T) {
	for _, c := range []struct {
		field, pattern string
		want           string
	}{
		{field: "", want: `"" is not the name of a field, such as user`},
		{field: "a b", want: `"a b" is not the name of a field, such as user`},
		{field: "User", want: "User is no field of the APIs; did you mean user?"},
		{field: "User;", want: `"User;" is not the name of a field, such as user`},
		{field: strings.Repeat("x", 65), want: "is not the name of a field"},
		{field: "model", want: "the field model can change an answer"},
		{pattern: `(`, want: "the pattern (: error parsing regexp: missing closing )"},
		{pattern: `(?P<a>x)(?=y)`, want: "invalid or unsupported Perl syntax"},
		{pattern: `\d{4}`, want: `has no named group, such as (?P<date>`},
		{pattern: `(\d{4})`, want: `has no named group`},
		{pattern: `(?P<` + strings.Repeat("x", 33) + `>x)`, want: "may have at most 32 letters"},
		{pattern: `(?P<a>x)` + strings.Repeat("()", 8), want: "has 9 groups; at most 8 are allowed"},
		{pattern: strings.Repeat("x", 1025), want: "has 1025 bytes; at most 1024 are allowed"},
	} {
		var fields, patterns []string
		if c.pattern == "" {
			fields = []string{c.field}
		} else {
			patterns = []string{c.pattern}
		}
		if _, err := registry.APIs.Ignore(fields, patterns); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v, want %s", fields, patterns, err, c.want)
		}
	}
	if _, err := registry.APIs.Ignore(make([]string, 65), nil); err == nil || !strings.Contains(err.Error(), "at most 64 and 32 are allowed") {
		t.Error(err)
	}
}
