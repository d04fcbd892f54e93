package canon_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/api"
	"reprise/proxy/canon"
)

// shown is a request's segments, one in a line: the first letter of its kind, and its bytes.
func shown(r *canon.Request) string {
	var lines []string
	for _, s := range r.Segments {
		lines = append(lines, " tsm"[s.Kind:][:1]+" "+string(s.Of(r.Body)))
	}
	return strings.Join(lines, "\n")
}

func TestSegments(t *testing.T) {
	const (
		system = `{"role":"system","content":"s"}`
		user   = `{"role":"user","content":"a ] , } \" b"}`
		reply  = `{"role":"assistant","content":"x"}`
	)
	for _, c := range []struct {
		name   string
		family *api.Family
		body   string
		want   []string
	}{
		{"one message", chat, talk(user), []string{"m " + user}},
		{"preamble", chat, talk(system + `,` + reply + `,` + user), []string{"s " + system, "m " + reply, "m " + user}},
		{"system message of a later ask", chat, talk(user + `,` + system), []string{"m " + user, "m " + system}},
		{"system message after an answer", chat, talk(user + `,` + reply + `,` + system), []string{"m " + user, "m " + reply, "m " + system}},
		{"white space", chat, "\n{ \"messages\" : [ " + system + "\t,\r\n " + user + " \n] , \"model\" : \"m\" , \"tools\" : [ 1 ] } \n",
			[]string{"t [ 1 ]", "s " + system, "m " + user}},
		{"tools and functions", chat, `{"tools":[],"functions":[{}],"messages":[` + user + `],"model":"m"}`, []string{"t []", "t [{}]", "m " + user}},
		{"tools of null", chat, ask(`,"tools":null`), []string{`m {"role":"user","content":"hi"}`}},
		{"instructions of chat", chat, ask(`,"instructions":"x"`), []string{`m {"role":"user","content":"hi"}`}},
		{"input string", resp, `{"model":"m","input" : "a\n\"b\\" }`, []string{`m "a\n\"b\\"`}},
		{"instructions", resp, `{"instructions":"a\u0062\"","input":"c","tools":[2],"model":"m"}`, []string{"t [2]", `s "a\u0062\""`, `m "c"`}},
		{"instructions and items", resp, items(system + `, ` + user + ` ,{"type":"reasoning"}`)[:1] + `"instructions":"x",` + items(system + `, ` + user + ` ,{"type":"reasoning"}`)[1:],
			[]string{`s "x"`, "s " + system, "m " + user, `m {"type":"reasoning"}`}},
		{"no items", resp, items(``), nil},
		{"no input", resp, `{"model":"m"}`, nil},
		{"prompt", comp, `{"prompt":"a","model":"m"}`, []string{`m "a"`}},
		{"prompt of one", comp, `{"prompt":[ "a" ],"model":"m"}`, []string{`m [ "a" ]`}},
		{"prompts", comp, `{"model":"m","prompt":["a", "b"]}`, []string{`m ["a", "b"]`}},
		{"no prompt", comp, `{"model":"m","prompt":null}`, nil},
		{"embeddings", embs, `{"model":"m","input":[1,2]}`, []string{`m [1,2]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := shown(parse(t, c.family, c.body)), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// checkSegments wants the very bytes that encoding/json finds at the same places.
func checkSegments(t *testing.T, family *api.Family, r *canon.Request) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &members); err != nil {
		t.Fatal(err)
	}
	var want []json.RawMessage
	for _, name := range slices.Concat(family.Requests.Tools, family.Requests.System, []string{family.Requests.Field}) {
		if raw := members[name]; raw != nil && string(raw) != "null" {
			want = append(want, raw)
		}
	}
	if conversation := members[family.Requests.Field]; len(conversation) > 0 && conversation[0] == '[' && (family.Requests.Field == "messages" || family == resp) {
		var list []json.RawMessage
		if err := json.Unmarshal(conversation, &list); err != nil {
			t.Fatal(err)
		}
		want = append(want[:len(want)-1], list...)
	}
	if len(r.Segments) != len(want) {
		t.Fatalf("%q has %d segments, want %d", r.Body, len(r.Segments), len(want))
	}
	for i, s := range r.Segments {
		if string(s.Of(r.Body)) != string(want[i]) {
			t.Fatalf("segment %d of %q is %q, want %q", i, r.Body, s.Of(r.Body), want[i])
		}
	}
}

func TestSegmentsAreWhatJSONFinds(t *testing.T) {
	for seed := range uint64(500) {
		rng := source(seed)
		body := chatRequest(rng, conversation(rng, rng.IntN(4)))
		if rng.IntN(2) == 0 {
			body = append(body, field{"tools", list{value(rng, 2), value(rng, 2)}})
		}
		checkSegments(t, chat, parse(t, chat, render(rng, body)))
	}
}
