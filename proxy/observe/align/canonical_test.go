package align

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var volatileLines = []*regexp.Regexp{regexp.MustCompile(`^Now: `), regexp.MustCompile(`^\s*id="`)}

// TestApply: what each level changes, and what it leaves alone.
func TestApply(t *testing.T) {
	const same = "" // as the level below
	chat := func(tools string) string {
		return `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":` + tools + `}`
	}
	tool := func(name, parameters string) string {
		return `{"type":"function","function":{"name":"` + name + `","parameters":` + parameters + `}}`
	}
	one := func(parameters string) string { return chat("[" + tool("f", parameters) + "]") }
	system := func(text string) string {
		return `{"messages":[{"role":"system","content":"` + text + `"},{"role":"user","content":"Now: a\nb"}]}`
	}
	for _, c := range []struct{ name, body, c2, c3 string }{
		{"no schema", chat(`[]`), same, same},
		{"members", one(`{"type":"object", "properties" : {"y":{"type":"string"},"x":{"type":"number"}}}`),
			one(`{"properties" : {"x":{"type":"number"},"y":{"type":"string"}}, "type":"object"}`), same},
		{"numbers keep their text", one(`{"minimum":1.50,"maximum":1e400,"default":-0}`), one(`{"default":-0,"maximum":1e400,"minimum":1.50}`), same},
		{"required", one(`{"required":["b", "a" ,"c"]}`), one(`{"required":["a", "b" ,"c"]}`), same},
		{"required twice", one(`{"required":["b","a","b"]}`), same, same},
		{"required of others", one(`{"required":["b",1]}`), same, same},
		{"a property called required", one(`{"properties":{"required":{"enum":["b","a"]},"a":{}}}`), one(`{"properties":{"a":{},"required":{"enum":["b","a"]}}}`), same},
		{"values", one(`{"enum":["b","a",{"d":1,"c":2}],"default":{"b":1,"a":2},"const":{"b":1,"a":2},"examples":[{"b":1,"a":2}]}`),
			one(`{"const":{"b":1,"a":2},"default":{"b":1,"a":2},"enum":["b","a",{"d":1,"c":2}],"examples":[{"b":1,"a":2}]}`), same},
		{"alternatives", one(`{"anyOf":[{"type":"string","format":"date"},{"type":"null"}],"prefixItems":[{"b":1,"a":1}]}`),
			one(`{"anyOf":[{"format":"date","type":"string"},{"type":"null"}],"prefixItems":[{"a":1,"b":1}]}`), same},
		{"inside", one(`{"items":{"b":1,"a":{"y":1,"x":1}},"additionalProperties":{"b":1,"a":1},"x-own":{"b":1,"a":1}}`),
			one(`{"additionalProperties":{"a":1,"b":1},"items":{"a":{"y":1,"x":1},"b":1},"x-own":{"b":1,"a":1}}`), same},
		{"a name twice", one(`{"b":{"d":1,"c":1},"a":1,"b":2,"properties":{"z":{},"y":{}}}`), same, same},
		{"a name twice, escaped", one(`{"b":1,"\u0062":1,"a":1}`), same, same},
		{"a name twice inside", one(`{"type":"object","properties":{"b":{},"b":{},"a":{}}}`), one(`{"properties":{"b":{},"b":{},"a":{}},"type":"object"}`), same},
		{"escaped names", one(`{"b":1,"\u0061":1}`), one(`{"\u0061":1,"b":1}`), same},
		{"white space", one("{\n  \"b\": 1,\n\n  \"a\" :2 }"), one("{\n  \"a\" :2,\n\n  \"b\": 1 }"), same},
		{"schema of the answer", `{"response_format":{"type":"json_schema","json_schema":{"strict":true,"name":"n","schema":{"type":"object","properties":{}}}}}`,
			`{"response_format":{"type":"json_schema","json_schema":{"strict":true,"name":"n","schema":{"properties":{},"type":"object"}}}}`, same},
		{"schema of a response", `{"text":{"format":{"type":"json_schema","schema":{"type":"object","properties":{}}}},"tools":[{"type":"function","name":"f","parameters":{"b":1,"a":1}}]}`,
			`{"text":{"format":{"type":"json_schema","schema":{"properties":{},"type":"object"}}},"tools":[{"type":"function","name":"f","parameters":{"a":1,"b":1}}]}`, same},
		{"arguments", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"b\":1,\"a\":2}","parameters":{"b":1,"a":1}}}]}]}`, same, same},
		{"tools", chat("[ " + tool("b", `{}`) + " , " + tool("a", `{"z":1,"y":1}`) + " ]"), chat("[ " + tool("b", `{}`) + " , " + tool("a", `{"y":1,"z":1}`) + " ]"),
			chat("[ " + tool("a", `{"y":1,"z":1}`) + " , " + tool("b", `{}`) + " ]")},
		{"functions", `{"functions":[{"name":"b"},{"name":"a"}]}`, same, `{"functions":[{"name":"a"},{"name":"b"}]}`},
		{"tools without names", `{"tools":[{"type":"web_search"},{"type":"function","name":"b"},{"type":"file_search"}]}`, same,
			`{"tools":[{"type":"function","name":"b"},{"type":"file_search"},{"type":"web_search"}]}`},
		{"tools of one name", chat("[" + tool("b", `{}`) + "," + tool("a", `{}`) + "," + tool("b", `{}`) + "]"), same, same},
		{"breakpoints", `{"tools":[{"name":"b","cache_control":{"type":"ephemeral"}},{"name":"a"}],"instructions":"Now: 1\nb"}`, same, same},
		{"breakpoints in a text", `{"tools":[{"name":"b","description":"\"cache_control\""},{"name":"a"}]}`, same, `{"tools":[{"name":"a"},{"name":"b","description":"\"cache_control\""}]}`},
		{"lines", system(`a\nNow: 1\nb`), same, system(`a\nb\nNow: 1`)},
		{"lines in order", system(`Now: 1\na\nNow: 2\n\nb`), same, system(`a\n\nb\nNow: 1\nNow: 2`)},
		{"line at the end", system(`a\nNow: 1`), same, same},
		{"line feed at the end", system(`Now: 1\na\n`), same, system(`a\nNow: 1\n`)},
		{"carriage returns", system(`Now: 1\r\na\u000ab`), same, system(`a\r\nb\u000aNow: 1`)},
		{"an escaped line", system(`id=\"7\"\na \\n b`), same, system(`a \\n b\nid=\"7\"`)},
		{"all lines", system(`Now: 1\nNow: 2`), same, same},
		{"parts", `{"messages":[{"content":[{"type":"text","text":"Now: 1\nb"},{"type":"text","text":"Now: 2\nc"}],"role":"developer"},{"role":"system","content":"Now: 3\nd"}]}`, same,
			`{"messages":[{"content":[{"type":"text","text":"b\nNow: 1"},{"type":"text","text":"c\nNow: 2"}],"role":"developer"},{"role":"system","content":"d\nNow: 3"}]}`},
		{"a later system message", `{"messages":[{"role":"user","content":"a"},{"role":"system","content":"Now: 1\nb"}]}`, same, same},
		{"instructions", `{"instructions":"Now: 1\nb","input":"Now: 1\nb"}`, same, `{"instructions":"b\nNow: 1","input":"Now: 1\nb"}`},
		{"items", `{"input":[{"type":"message","role":"system","content":[{"type":"input_text","text":"Now: 1\nb"}]}]}`, same,
			`{"input":[{"type":"message","role":"system","content":[{"type":"input_text","text":"b\nNow: 1"}]}]}`},
		{"no JSON", `{"tools":[{"function":{"parameters":{"b":1,"a":`, same, same},
		{"no object", `[{"tools":[]}]`, same, same},
		{"nothing", ``, same, same},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.body
			for i, each := range []string{c.c2, c.c3} {
				if each != same {
					want = each
				}
				got := string(canonicalisers[i].Apply([]byte(c.body)))
				if got != want {
					t.Errorf("%s gives\n%s\nwant\n%s", canonicalisers[i].Version(), got, want)
				}
				checkCanonical(t, canonicalisers[i], []byte(c.body))
			}
		})
	}
}

var canonicalisers = []*Canonicaliser{NewCanonicaliser(C2, nil), NewCanonicaliser(C3, volatileLines)}

// checkCanonical: the input stays as it was, a canonical body is its own form, valid JSON stays valid, and no byte comes or goes.
func checkCanonical(t *testing.T, c *Canonicaliser, body []byte) {
	t.Helper()
	before := slices.Clone(body)
	got := c.Apply(body)
	if !bytes.Equal(body, before) {
		t.Fatalf("the input was changed: %q, was %q", body, before)
	}
	if again := c.Apply(got); !bytes.Equal(again, got) {
		t.Errorf("%s: %q becomes %q, and that %q", c.Version(), body, got, again)
	}
	if json.Valid(body) && !json.Valid(got) {
		t.Errorf("%s: %q becomes %q, which is no JSON", c.Version(), body, got)
	}
	if len(got) != len(body) || len(body) > 0 && !rearranged(got, body) {
		t.Errorf("%s: %q becomes %q, which has other bytes", c.Version(), body, got)
	}
	if bytes.Equal(got, body) && len(body) > 0 && &got[0] != &body[0] {
		t.Errorf("%s: a copy of a canonical body", c.Version())
	}
}

// FuzzApply checks what must hold for every body, and that C2 changes nothing that a reader of JSON sees except for the order in "required".
func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"tools":[{"type":"function","function":{"name":"b","parameters":{"type":"object","properties":{"y":{},"x":{"anyOf":[{"b":1,"a":1}]}},"required":["y","x"]}}},{"name":"a"}]}`))
	f.Add([]byte(`{"instructions":"a\r\nNow: \ud83d\ude00\n\\nb\u000a","messages":[{"role":"system","content":[{"text":"Now: 1\nx"}]},{"role":"user","content":"Now: \n"}]}`))
	f.Add([]byte(`{"text":{"format":{"schema":{"b":1,"b":2,"a":[[{"d":1,"c":1e999}]]}}},"functions":[{"type":"b"},{"type":"a"}],"x":"\"cache_control\""}`))
	f.Add([]byte(` { "response_format" : { "json_schema" : { "schema" : { "required" : [ "b" , "a" ] , "\u0061" : "\\" } } } } `))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, c := range canonicalisers {
			checkCanonical(t, c, body)
		}
		var was, is any
		if json.Unmarshal(body, &was) != nil || strings.Contains(string(body), "required") || strings.Contains(string(body), `\u`) {
			return
		}
		if err := json.Unmarshal(canonicalisers[0].Apply(body), &is); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(was)
		b, _ := json.Marshal(is)
		if !bytes.Equal(a, b) {
			t.Errorf("%q is read as %s, after C2 as %s", body, a, b)
		}
	})
}

func TestVersions(t *testing.T) {
	versions := map[string]bool{"": true}
	for _, c := range []*Canonicaliser{NewCanonicaliser(C2, volatileLines), NewCanonicaliser(C3, nil), NewCanonicaliser(C3, volatileLines), NewCanonicaliser(C3, volatileLines[:1])} {
		if versions[c.Version()] {
			t.Errorf("%s is the version of two", c.Version())
		}
		versions[c.Version()] = true
	}
	none := NewCanonicaliser(C0, volatileLines)
	if none.Version() != "" || string(none.Apply([]byte("x"))) != "x" {
		t.Error("C0 changes something")
	}
	if a, b := NewCanonicaliser(C3, volatileLines).Version(), NewCanonicaliser(C3, slices.Clone(volatileLines)).Version(); a != b {
		t.Errorf("equal expressions have the versions %s and %s", a, b)
	}
}

func TestParseLevel(t *testing.T) {
	for _, l := range []Level{C0, C2, C3} {
		if got, err := ParseLevel(l.String()); got != l || err != nil {
			t.Errorf("%s is read as %s, %v", l, got, err)
		}
	}
	if _, err := ParseLevel("c2"); err == nil || err.Error() != `level "c2" is not one of C0, C2, C3` {
		t.Errorf("got %v", err)
	}
}
