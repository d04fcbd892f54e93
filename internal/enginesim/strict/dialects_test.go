package strict_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/dataset"
	"reprise/internal/enginesim/strict"
	"reprise/proxy/upstream/dialect"
)

// The values of every intent here are no text of a body.
const (
	key  = "p1-abcdefghijklmnopqrstuvwxyz-17"
	conv = "c1-zyxwvutsrqponmlkjihgfedcba"
	salt = "s1-abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrstuvw"
)

// intents are all combinations of wishes.
func intents() (all []dialect.Intent) {
	for bits := range 64 {
		w := dialect.Intent{StreamUsage: bits&1 > 0, Retain: dialect.Retain(bits >> 4)}
		for i, member := range []struct {
			to    *string
			value string
		}{{&w.Affinity, key}, {&w.Conversation, conv}, {&w.Salt, salt}} {
			if bits&(2<<i) > 0 {
				*member.to = member.value
			}
		}
		all = append(all, w)
	}
	return all
}

var models = []string{"gpt-4o", "gpt-4o-mini-2024-07-18", "gpt-4.1", "gpt-5", "gpt-5-mini", "gpt-5.1-codex", "gpt-5.5-pro", "gpt-5.6", "gpt-5.6-mini", "gpt-3.5-turbo",
	"o3", "my-model", "claude-opus-5", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-9", "grok-4", "mistral-large-latest", ""}

var paths = []string{"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"}

// quote is text as JSON, in one of the forms in which libraries write it.
func quote(rng *rand.Rand, text string) string {
	b, _ := json.Marshal(text)
	if rng.IntN(4) == 0 { // Python's
		var ascii strings.Builder
		for _, r := range string(b) {
			if r > 0xffff {
				r = '?'
			}
			if r < 0x80 {
				ascii.WriteRune(r)
			} else {
				fmt.Fprintf(&ascii, `\u%04x`, r)
			}
		}
		return ascii.String()
	}
	return string(b)
}

// body is a request for an endpoint, with a system prompt of some size in one of its forms, turns, tools, and white space between.
func body(rng *rand.Rand, path, model string, stream bool, text func() string) []byte {
	one := func(forms ...string) string { return forms[rng.IntN(len(forms))] }
	system := quote(rng, strings.Repeat(text()+" ", 1+rng.IntN(3)*rng.IntN(60)))
	block := func(kind, text string) string { return `[{"type":"` + kind + `","text":` + text + `}]` }
	turn := func(role, kind string) string {
		content := quote(rng, text())
		return `{"role":"` + role + `","content":` + one(content, content, block(kind, content)) + `}`
	}
	var turns []string
	members := []string{`"model":` + quote(rng, model), `"temperature":` + one("0", "0.70", "1e0"), `"top_p":1.0`}
	switch path {
	case "/v1/chat/completions", "/v1/responses":
		kind := map[bool]string{true: "text", false: "input_text"}[path == "/v1/chat/completions"]
		if rng.IntN(5) > 0 {
			turns = append(turns, `{"role":"`+one("system", "developer")+`","content":`+one(system, block(kind, system), `""`)+`}`)
		}
		for range 1 + rng.IntN(3) {
			turns = append(turns, turn("user", kind))
		}
		name := map[bool]string{true: "messages", false: "input"}[path == "/v1/chat/completions"]
		members = append(members, `"`+name+`": [`+strings.Join(turns, one(",", " , "))+`]`)
		if kind == "input_text" {
			members = append(members, `"instructions":`+quote(rng, text()))
		}
		members = append(members, one(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`, `"parallel_tool_calls":true`))
	case "/v1/messages":
		members = append(members, `"max_tokens":100`, `"system":`+one(system, block("text", system), `[]`), `"messages":[`+turn("user", "text")+`]`,
			one(`"tools":[{"name":"f","input_schema":{}}]`, `"tools":[{"name":"f","defer_loading":true,"input_schema":{}}]`, `"stop_sequences":["x"]`))
	case "/v1/completions":
		members = append(members, `"prompt":`+system)
	default:
		members = append(members, `"input":`+system)
	}
	if stream {
		members = append(members, `"stream":true`)
		if path != "/v1/messages" {
			members = append(members, one(`"seed":1`, `"stream_options":{}`, `"stream_options":null`, `"stream_options":{ "include_obfuscation":false }`))
		}
	}
	members = append(members, one(`"user":"u"`, `"prompt_cache_key":"mine"`, `"prompt_cache\u005fkey":"mine"`, `"cache_salt":"mine"`,
		`"prompt_cache_options":{"mode":"implicit"}`, `"prompt_cache_retention":"in_memory"`, `"metadata":{}`))
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return []byte(one("{", " {\n ") + strings.Join(members, one(",", ", ", " ,\n\t")) + one("}", " }", "}\n"))
}

// without removes from an edited body what a dialect may add, once for each field that it reports.
func without(t *testing.T, edited []byte, original []byte, added []dialect.Field) []byte {
	t.Helper()
	text := string(edited)
	remove := func(forms ...string) {
		for _, form := range forms {
			if i := strings.LastIndex(text, form); i >= 0 {
				text = text[:i] + text[i+len(form):]
				return
			}
		}
		t.Fatalf("no %q in %.500s", forms, text)
	}
	member := func(name, value string) { remove(`,"`+name+`":`+value, `"`+name+`":`+value) }
	for _, field := range added {
		switch name := string(field); field {
		case dialect.StreamUsage:
			if bytes.Contains(original, []byte(`"stream_options":null`)) {
				text = strings.Replace(text, `"stream_options":{"include_usage":true}`, `"stream_options":null`, 1)
				continue
			}
			if bytes.Contains(original, []byte(`"stream_options"`)) {
				remove(`"include_usage":true,`, `"include_usage":true`)
			} else {
				remove(`,"stream_options":{"include_usage":true}`)
			}
		case "prompt_cache_breakpoint":
			mark(&text, name, `{"mode":"explicit"}`)
		case "cache_control":
			mark(&text, name, `{"type":"ephemeral"}`)
			mark(&text, name, `{"type":"ephemeral","ttl":"1h"}`)
		case "prompt_cache_options":
			member(name, `{"mode":"explicit"}`)
		case "prompt_cache_retention":
			member(name, `"24h"`)
		case "cache_salt", "prompt_cache_isolation_key":
			member(name, `"`+salt+`"`)
		case "prompt_cache_key":
			member(name, `"`+key+`"`)
		default:
			if !strings.HasPrefix(name, "header:") { // of a dialect that is not among those above
				remove(regexp.MustCompile(`,?"` + name + `":("[^"]*"|\w+)`).FindString(text))
			}
		}
	}
	return []byte(text)
}

// mark removes a mark: the block around a text, or the first member of a block.
func mark(text *string, name, value string) {
	end := `,"` + name + `":` + value + `}]`
	if i := strings.Index(*text, end); i >= 0 {
		head := (*text)[:i]
		for _, kind := range []string{"text", "input_text"} {
			begin := `[{"type":"` + kind + `","text":`
			if at := strings.LastIndex(head, begin+`"`); at >= 0 {
				*text = head[:at] + head[at+len(begin):] + (*text)[i+len(end):]
				return
			}
		}
	}
	for _, form := range []string{`"` + name + `":` + value + `,`, `"` + name + `":` + value} {
		if i := strings.Index(*text, form); i >= 0 {
			*text = (*text)[:i] + (*text)[i+len(form):]
			return
		}
	}
}

func none(dialect.Field) bool { return false }

// kindOf is the strict fake of a dialect.
func kindOf(t *testing.T, name string) strict.Upstream {
	t.Helper()
	u, err := strict.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// tally counts what a check has seen, so that it cannot pass without having seen anything.
type tally struct{ accepted, added, marks int }

// check sends a request to the strict fake of d, with and without edits.
func (n *tally) check(t *testing.T, d dialect.Dialect, r dialect.Request, want dialect.Intent) {
	t.Helper()
	before := slices.Clone(r.Body)
	edits := d.Edit(r, want, none)
	if !bytes.Equal(r.Body, before) {
		t.Fatalf("the caller's body became %.500s", r.Body)
	}
	header := r.Header.Clone()
	for name, values := range edits.Header {
		if len(header[name]) > 0 || http.CanonicalHeaderKey(name) != name {
			t.Errorf("the header %s is set twice, or in another form", name)
		}
		header[name] = values
	}
	kind := kindOf(t, d.Name())
	bare := kind.Check(strict.Request{Path: r.Path, Header: r.Header, Body: r.Body})
	got := kind.Check(strict.Request{Path: r.Path, Header: header, Body: edits.Body})
	if bare.Status == 0 {
		n.accepted++
		n.added += len(edits.Added)
	}
	if got.Status > 0 && bare.Status == 0 {
		t.Fatalf("%s refuses what the dialect made for %s (%+v): %d %s\n%.500s\n%.500s", d.Name(), r.Path, want, got.Status, got.Body, r.Body, edits.Body)
	}
	for _, field := range edits.Added {
		name, isHeader := strings.CutPrefix(string(field), "header:")
		if isHeader && slices.Contains(got.Dropped, name) || slices.Contains(got.Ignored, name) {
			t.Errorf("%s has no effect at %s", field, d.Name())
		}
		if name == "cache_control" || name == "prompt_cache_breakpoint" {
			n.marks++
		}
	}
	if rest := without(t, edits.Body, r.Body, edits.Added); !bytes.Equal(rest, r.Body) {
		t.Fatalf("%s changed other bytes (%+v):\n%.900s\n%.900s\n%.900s", d.Name(), edits.Added, r.Body, edits.Body, rest)
	}
	clientWins(t, d, r, edits)
}

// clientWins checks that a member that the client has set has its value.
func clientWins(t *testing.T, d dialect.Dialect, r dialect.Request, edits dialect.Edits) {
	t.Helper()
	var before, after map[string]json.RawMessage
	if json.Unmarshal(r.Body, &before) != nil || json.Unmarshal(edits.Body, &after) != nil {
		t.Fatalf("%s: %.500s", d.Name(), edits.Body)
	}
	for name, value := range before {
		switch name {
		case "stream_options", "messages", "input", "system", "tools":
		default:
			if !bytes.Equal(after[name], value) {
				t.Errorf("%s: %.300s became %.300s", d.Name(), value, after[name])
			}
		}
	}
}

// TestNothingOfOursIsRefused: every dialect, with every intent, at its strict fake: no field that we add is refused, warned of or without
// effect, and all other bytes stay.
func TestNothingOfOursIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the cache holds a prefix of “text” and\ttools, 日本語 ünd\n \"quotes\" \\ slashes \u2028 , }")
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(30) {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return b.String()
	}
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			d, err := dialect.New(name)
			if err != nil {
				t.Fatal(err)
			}
			var n tally
			for _, want := range intents() {
				for range 20 {
					path, model := paths[rng.IntN(len(paths))], models[rng.IntN(len(models))]
					stream := want.StreamUsage && path != "/v1/embeddings"
					w := want
					w.StreamUsage = stream
					n.check(t, d, dialect.Request{Path: path, Model: model, Version: []string{"", "0.8", "0.29.1", "1.3"}[rng.IntN(4)], SessionKey: "x-user-id",
						Header: http.Header{"Anthropic-Version": {"2023-06-01"}}, Body: body(rng, path, model, stream, text)}, w)
				}
			}
			if n.accepted < 100 || n.added == 0 && name != "plain" || n.marks == 0 && (name == "openai" || name == "anthropic") {
				t.Errorf("too little was checked: %+v", n)
			}
		})
	}
}

// TestRealBodies: chats of real texts, and the recorded requests of the APIs.
func TestRealBodies(t *testing.T) {
	var texts []string
	if dir := os.Getenv("REPRISE_DATA"); dir != "" {
		if err := dataset.UserTexts(dir, func(s string) {
			if len(texts) < 5_000 {
				texts = append(texts, s)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	recorded, _ := filepath.Glob("../../../proxy/api/*/testdata/*/requests/*.json")
	if len(recorded) == 0 {
		t.Fatal("no recorded requests")
	}
	want := dialect.Intent{Affinity: key, Conversation: conv, Salt: salt, Retain: dialect.RetainShort}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range dialect.Names() {
		d, err := dialect.New(name)
		if err != nil {
			t.Fatal(err)
		}
		var n tally
		for _, file := range recorded {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := "/v1/" + strings.Replace(filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file)))), "chat", "chat/completions", 1)
			var q struct{ Model string }
			_ = json.Unmarshal(b, &q)
			n.check(t, d, dialect.Request{Path: path, Model: q.Model, Header: http.Header{}, Body: b}, want)
		}
		next := 0
		for next+3 < len(texts) {
			path, model := paths[rng.IntN(len(paths))], models[rng.IntN(len(models))]
			b := body(rng, path, model, false, func() string { next++; return texts[min(next, len(texts)-1)] })
			n.check(t, d, dialect.Request{Path: path, Model: model, Header: http.Header{"Anthropic-Version": {"2023-06-01"}}, Body: b}, want)
		}
	}
}
