package canon_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

const date = `(?P<date>\d{4}-\d\d-\d\d)`

// quoted is s as JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// system is a chat body with a system message before that of the user.
func system(text string) string {
	return talk(`{"role":"system","content":` + quoted(text) + `},{"role":"user","content":"hi"}`)
}

// TestMasks is the table of system prompts that are one under a pattern, or are not.
func TestMasks(t *testing.T) {
	long := strings.Repeat("7", canon.MaxIgnored)
	for _, c := range []struct {
		name     string
		patterns []string
		a, b     string
		same     bool
	}{
		{"two dates", []string{date}, "Today is 2026-01-02.", "Today is 2027-11-30.", true},
		{"two dates, escaped", []string{date}, "Tödäy\nis 2026-01-02.", "Tödäy\nis 2027-11-30.", true},
		{"other words", []string{date}, "Today is 2026-01-02.", "Today was 2027-11-30.", false},
		{"other case behind a date", []string{date}, "2026-01-02 a", "2026-01-02 A", false},
		{"a date and none", []string{date}, "Today is 2026-01-02.", "Today is .", false},
		{"one date and two", []string{date}, "2026-01-02", "2026-01-022026-01-02", false},
		{"two dates in one", []string{date}, "2026-01-02 to 2026-01-03", "2020-01-02 to 2021-01-03", true},
		{"only what the group matches", []string{`Today is ` + date}, "Today is 2026-01-02, not 2026-01-02", "Today is 2026-01-02, not 2026-01-03", false},
		{"an unnamed group", []string{`([a-z]+) ` + date}, "a 2026-01-02", "b 2026-01-02", false},
		{"the name of the group in the text", []string{date}, "Today is date.", "Today is 2026-01-02.", false},
		{"a placeholder in the text", []string{date}, "Today is (?P<date>).", "Today is 2026-01-02.", false},
		{"the name beside a date", []string{date}, "date 2026-01-02", "2026-01-02 date", false},
		{"names of groups", []string{date, `(?P<id>#\d+)`}, "2026-01-02 #1", "#1 2026-01-02", false},
		{"the name of a group in the place of another", []string{date, `(?P<day>\d\d\.\d\d\.)`}, "is 2026-01-02", "is 01.02.", false},
		{"two patterns", []string{date, `(?P<id>#\d+)`}, "2026-01-02 #1", "2026-01-03 #234", true},
		{"nested groups", []string{`(?P<date>\d{4}-(?P<month>\d\d)-\d\d)`}, "2026-01-02", "2027-02-03", true},
		{"nested groups and what is around", []string{`(?P<date>\d{4}-(?P<month>\d\d)-\d\d)x`}, "2026-01-02x", "2026-01-02y", false},
		{"overlapping groups", []string{`(?P<a>\d\d-\d\d)`, `(?P<b>-\d\d-\d\d)`}, "a 11-22-33 z", "a 44-55-66 z", true},
		{"overlapping groups and the rest", []string{`(?P<a>\d\d-\d\d)`, `(?P<b>-\d\d-\d\d)`}, "a 11-22-33 z", "a 44-55-66 y", false},
		{"the same group twice", []string{`(?P<a>\d)`, `(?P<a>\d)`}, "1", "2", true},
		{"an empty group", []string{`a(?P<x>\d*)b`}, "ab", "a1b", false},
		{"an empty group, twice", []string{`a(?P<x>\d*)b`}, "a12b", "a1b", true},
		{"a group of nothing", []string{`(?P<x>)`}, "a", "b", false},
		{"a group without a part in the match", []string{`a|(?P<x>\d)`}, "a1", "a2", true},
		{"as much as may be ignored", []string{`(?P<x>\d+)`}, long, "1", true},
		{"more than may be ignored", []string{`(?P<x>\d+)`}, long + "7", "1", false},
		{"all of a line", []string{`(?P<x>.+)`}, "Answer in French.", "Answer in Dutch.", true},
		{"bytes of no character", []string{`(?P<x>.)`}, "é", "è", true},
		{"a long text", []string{date}, strings.Repeat("x", 5000) + "2026-01-02", strings.Repeat("x", 5000) + "2027-01-02", true},
		{"a long text's end", []string{date}, "2026-01-02" + strings.Repeat("x", 5000), "2027-01-02" + strings.Repeat("x", 5001), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := ignoring(t, "", c.patterns...)
			a, b := parseIgnoring(t, chat, system(c.a), g), parseIgnoring(t, chat, system(c.b), g)
			if (a.Key == b.Key) != c.same || (a.Scope == b.Scope) != c.same {
				t.Errorf("equal key %v, equal scope %v, want %v", a.Key == b.Key, a.Scope == b.Scope, c.same)
			}
			if parse(t, chat, system(c.a)).Key == parse(t, chat, system(c.b)).Key {
				t.Error("the key is equal without the patterns")
			}
		})
	}
}

// TestMaskedPlaces: what is ignored is in system and developer texts, wherever an API has them, and nowhere else.
func TestMaskedPlaces(t *testing.T) {
	claude := registry.APIs.ByPath("/v1/messages")
	generate := registry.APIs.ByPath("/api/generate")
	const user, reply = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"yes"}`
	for _, c := range []struct {
		name   string
		family *api.Family
		body   string // @ is a date
		masked bool
	}{
		{"system message", chat, talk(`{"role":"system","content":"on @"},` + user), true},
		{"developer message", chat, talk(`{"role":"developer","content":"on @"},` + user), true},
		{"one part", chat, talk(`{"role":"system","content":[{"type":"text","text":"on @"}]},` + user), true},
		{"two parts", chat, talk(`{"role":"system","content":[{"type":"text","text":"on @"},{"type":"text","text":"x"}]},` + user), true},
		{"a part's other member", chat, talk(`{"role":"system","content":[{"type":"text","text":"on","x":"@"}]},` + user), false},
		{"the name of a system message", chat, talk(`{"role":"system","name":"@","content":"on"},` + user), false},
		{"a later system message", chat, talk(user + `,` + reply + `,{"role":"system","content":"on @"},` + user), true},
		{"a system message among the last", chat, talk(user + `,{"role":"system","content":"on @"}`), true},
		{"user", chat, talk(`{"role":"user","content":"on @"}`), false},
		{"an earlier user", chat, talk(`{"role":"user","content":"on @"},` + reply + `,` + user), false},
		{"assistant", chat, talk(user + `,{"role":"assistant","content":"on @"},` + user), false},
		{"greeting", chat, talk(`{"role":"assistant","content":"on @"},` + user), false},
		{"tool", chat, talk(user + `,` + reply + `,{"role":"tool","tool_call_id":"x","content":"on @"}`), false},
		{"another role", chat, talk(`{"role":"critic","content":"on @"},` + user), false},
		{"another field", chat, ask(`,"x":"on @"`), false},
		{"system as a field of chat", chat, ask(`,"system":"on @"`), false},
		{"a tool's description", chat, ask(`,"tools":[{"type":"function","function":{"name":"f","description":"on @"}}]`), false},
		{"instructions", resp, input(`,"instructions":"on @"`), true},
		{"developer item", resp, items(`{"role":"developer","content":[{"type":"input_text","text":"on @"}]},` + user), true},
		{"user item", resp, items(`{"role":"user","content":"on @"}`), false},
		{"input", resp, `{"model":"m","input":"on @"}`, false},
		{"prompt", comp, `{"model":"m","prompt":"on @"}`, false},
		{"Anthropic's system", claude, `{"model":"m","max_tokens":9,"system":"on @","messages":[` + user + `]}`, true},
		{"Anthropic's system in blocks", claude, `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"a"},{"type":"text","text":"on @","cache_control":{"type":"ephemeral"}}],"messages":[` + user + `]}`, true},
		{"Anthropic's user", claude, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"on @"}]}]}`, false},
		{"Ollama's system", generate, `{"model":"m","system":"on @","prompt":"hi"}`, true},
		{"Ollama's prompt", generate, `{"model":"m","prompt":"on @"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := ignoring(t, "", date)
			a, b := strings.ReplaceAll(c.body, "@", "2026-01-02"), strings.ReplaceAll(c.body, "@", "2027-03-04")
			one, two := parseIgnoring(t, c.family, a, g), parseIgnoring(t, c.family, b, g)
			if (one.Key == two.Key) != c.masked {
				t.Errorf("equal keys: %v", one.Key == two.Key)
			}
			if want := map[bool]string{true: "date"}[c.masked]; strings.Join(one.Ignored, "+") != want {
				t.Errorf("%q is named as ignored, want %q", one.Ignored, want)
			}
			if string(one.Body) != a {
				t.Error("the body has changed")
			}
		})
	}
}

// TestMaskStaysInItsText: a match does not go from one message to the next, nor from one part to the next.
func TestMaskStaysInItsText(t *testing.T) {
	g := ignoring(t, "", `(?s)BEGIN(?P<x>.*)END`, `(?s)(?P<y>\d.*\d)`)
	part := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	message := func(s string) string { return `{"role":"system","content":"` + s + `"}` }
	for name, body := range map[string]string{
		"messages":                 talk(message("BEGIN 1 @") + `,` + message("2 END") + `,{"role":"user","content":"hi"}`),
		"parts":                    talk(`{"role":"system","content":[` + part("BEGIN 1 @") + `,` + part("2 END") + `]},{"role":"user","content":"hi"}`),
		"into the user's message":  talk(message("BEGIN @ 1") + `,{"role":"user","content":"2 END"}`),
		"instructions and message": `{"model":"m","instructions":"BEGIN @ 1","input":[` + message("2 END") + `,{"role":"user","content":"hi"}]}`,
	} {
		family := chat
		if strings.Contains(body, `"input"`) {
			family = resp
		}
		if parseIgnoring(t, family, strings.Replace(body, "@", "a", 1), g).Key == parseIgnoring(t, family, strings.Replace(body, "@", "b", 1), g).Key {
			t.Errorf("%s: the match went on", name)
		}
	}
}

// TestMaskedNames: fields come first, then groups in the order of the texts, each once.
func TestMaskedNames(t *testing.T) {
	g := ignoring(t, "user,trace", `(?P<id>#\d+)`, date, `(?P<user>@\w+)`)
	r := parseIgnoring(t, chat, `{"model":"m","user":"u","messages":[{"role":"system","content":"2026-01-02 #1 #2 @ann"},{"role":"user","content":"hi"},
		{"role":"system","content":"#3 2026-01-02"}],"trace":1}`, g)
	if got := strings.Join(r.Ignored, "+"); got != "trace+user+date+id" {
		t.Errorf("%s", got)
	}
}

// masked is the list of what is left of a text, by the definition: each byte belongs to the first of the spans that have it.
func masked(text string, patterns []*regexp.Regexp) (pieces []string) {
	type span struct {
		from, to int
		name     string
	}
	var spans []span
	for _, re := range patterns {
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			for g, name := range re.SubexpNames() {
				if name != "" && m[2*g] < m[2*g+1] {
					spans = append(spans, span{m[2*g], m[2*g+1], name})
				}
			}
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), strings.Compare(a.name, b.name))
	})
	owner := func(i int) int {
		return slices.IndexFunc(spans, func(s span) bool { return s.from <= i && i < s.to })
	}
	last := -2
	for i := range len(text) {
		switch o := owner(i); {
		case o < 0 && last < 0 && last != -2:
			pieces[len(pieces)-1] += text[i : i+1]
		case o < 0:
			pieces = append(pieces, "="+text[i:i+1])
			last = -1
		case o != last:
			pieces = append(pieces, "#"+spans[o].name)
			last = o
		}
	}
	return pieces
}

// TestMaskedKeys compares keys with the definition: two texts have one key where they have the same pieces, and only there.
func TestMaskedKeys(t *testing.T) {
	sets := [][]string{{`(?P<a>1+)`}, {`(?P<a>x1)`, `(?P<b>1x)`}, {`(?P<a>1(?P<b>x*)1)`, `(?P<ab>x1x)`}, {`x(?P<x>[1x]?)`, `(?P<M>M)`}, {`(?P<a>.)(?P<b>.)?`}, {`(?P<a>a)|(?P<b>1)`}}
	for n, set := range sets {
		g := ignoring(t, "", set...)
		var patterns []*regexp.Regexp
		for _, p := range set {
			patterns = append(patterns, regexp.MustCompile(p))
		}
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		keys, texts := map[string]canon.Hash{}, map[canon.Hash]string{}
		for range 4000 {
			text := make([]byte, rng.IntN(7))
			for i := range text {
				text[i] = "x1aM\x01\x02"[rng.IntN(6)]
			}
			pieces := fmt.Sprintf("%q", masked(string(text), patterns))
			key := parseIgnoring(t, chat, system(string(text)), g).Key
			if other, ok := keys[pieces]; ok && other != key {
				t.Fatalf("%q: %q has another key than a text with the same pieces %s", set, text, pieces)
			}
			if other, ok := texts[key]; ok && other != pieces {
				t.Fatalf("%q: %q has the key of a text with the pieces %s", set, text, other)
			}
			keys[pieces], texts[key] = key, pieces
		}
	}
}

// TestMaskedTurns: the keys of a conversation are those of the shorter requests that led to it, also where the last ask has a system message.
func TestMaskedTurns(t *testing.T) {
	g := ignoring(t, "", date)
	for _, last := range []string{`{"role":"user","content":"d"}`, `{"role":"user","content":"d"},{"role":"system","content":"2026-01-03"}`} {
		short := `{"role":"system","content":"on 2026-01-02"},{"role":"user","content":"a"},{"role":"developer","content":"at 2026-01-02"}`
		long := strings.ReplaceAll(short, "2026", "2031") + `,{"role":"assistant","content":"c"},` + last
		if a, b := parseIgnoring(t, chat, talk(short), g), parseIgnoring(t, chat, talk(long), g); len(b.Turns) != 1 || b.Turns[0].Key != a.Key {
			t.Error("the first turn has another key than the request that ended with it")
		}
	}
}

// TestMaskLimits: a text beyond a limit counts as it is, and so does the same text where it is encoded again.
func TestMaskLimits(t *testing.T) {
	g := ignoring(t, "", date)
	many := func(n int, text string) string {
		return talk(strings.Repeat(`{"role":"system","content":"a"},`, n) + `{"role":"user","content":"hi"},{"role":"system","content":"` + text + `"}`)
	}
	for _, c := range []struct {
		name   string
		body   func(date string) string
		masked bool
	}{
		{"256 KiB", func(d string) string { return system(strings.Repeat("x", 256<<10-len(d)) + d) }, true},
		{"more", func(d string) string { return system(strings.Repeat("x", 256<<10-len(d)+1) + d) }, false},
		{"512 dates", func(d string) string { return system(strings.Repeat(d, 512)) }, true},
		{"513 dates", func(d string) string { return system(strings.Repeat(d, 513)) }, false},
		{"1024 texts", func(d string) string { return many(1023, d) }, true},
		{"1025 texts", func(d string) string { return many(1024, d) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := parseIgnoring(t, chat, c.body("2026-01-02"), g), parseIgnoring(t, chat, c.body("2027-01-02"), g)
			if (a.Key == b.Key) != c.masked || (a.Scope == b.Scope) != c.masked {
				t.Errorf("equal key %v, equal scope %v, want %v", a.Key == b.Key, a.Scope == b.Scope, c.masked)
			}
		})
	}
}

// TestMasksAreRemembered: a text is searched once by a tenant, another tenant does not get what was found, and the memory is bounded.
func TestMasksAreRemembered(t *testing.T) {
	g := ignoring(t, "", date)
	ask := func(tenant, text string) canon.Hash {
		r, err := chat.ParseIgnoring([]byte(system(text)), canon.Identity{Tenant: tenant}, func(_, _ string) *canon.Ignore { return g })
		if err != nil {
			t.Fatal(err)
		}
		return r.Key
	}
	first := ask("a", "on 2026-01-02")
	for _, c := range []struct {
		tenant, text string
		texts        int
	}{{"a", "on 2026-01-02", 1}, {"b", "on 2026-01-02", 2}, {"a", "on 2026-01-03", 3}, {"a", "on 2026-01-02", 3}} {
		key := ask(c.tenant, c.text)
		if got := canon.Remembered(g); got != c.texts {
			t.Errorf("%s %s: %d texts are remembered, want %d", c.tenant, c.text, got, c.texts)
		}
		if (key == first) != (c.tenant == "a") {
			t.Errorf("%s %s: equal key %v", c.tenant, c.text, key == first)
		}
	}
	for i := range 10_000 {
		ask("a", fmt.Sprintf("2026-01-02 %d", i))
	}
	if got := canon.Remembered(g); got > 4096 {
		t.Errorf("%d texts with a date are remembered", got)
	}
	if ask("a", "on 2031-01-02") != first {
		t.Error("another key after all that")
	}
}

// TestMaskIsLinear: patterns that take exponential time in other engines end.
func TestMaskIsLinear(t *testing.T) {
	g := ignoring(t, "", `(?P<x>(a*)*b)`, `(?P<y>(a|aa)+$)`, `(?P<z>(.*)(.*)(.*)c)`)
	parseIgnoring(t, chat, system(strings.Repeat("a", 100_000)+"!"), g)
}

// BenchmarkMask reads a request with a long system prompt that names a date at its end, again and again; "new" has another one each time.
func BenchmarkMask(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10} {
		body := system(strings.Repeat("You are a helpful assistant of a shop. ", size/39) + "Today is 2026-01-02.")
		for name, g := range map[string]*canon.Ignore{"none": nil, "date": ignoring(b, "", date), "phrase": ignoring(b, "", "Today is "+date),
			"three": ignoring(b, "", date, `(?P<id>req_[0-9a-f]{24})`, `(?P<time>\d\d:\d\d(:\d\d)?)`)} {
			b.Run(fmt.Sprintf("%dKB/%s", size>>10, name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					parseIgnoring(b, chat, body, g)
				}
			})
		}
	}
	b.Run("10KB/date/new", func(b *testing.B) {
		g, text := ignoring(b, "", date), strings.Repeat("You are a helpful assistant of a shop. ", 256)+"Today is 2026-01-02 at "
		for i := 0; b.Loop(); i++ {
			parseIgnoring(b, chat, system(text+fmt.Sprint(i)), g)
		}
	})
}
