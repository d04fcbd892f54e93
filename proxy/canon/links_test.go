package canon_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
)

var anthropic = registry.APIs.ByPath("/v1/messages")

// calls is a chat in which the assistant calls two functions, whose results follow.
func calls(a, b, first, second string) string {
	return talk(`{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"` + a + `","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"` + b + `","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"` + first + `","content":"1"},{"role":"tool","tool_call_id":"` + second + `","content":"2"}`)
}

// said is calls with another message of the user at the end.
func said(body, text string) string {
	return strings.TrimSuffix(body, "]}") + `,{"role":"user","content":"` + text + `"}]}`
}

// TestLinks: which conversations differ in nothing except their ids.
func TestLinks(t *testing.T) {
	const a, b, c, d = "call_aaaaaaaaaaaaaaaaaaaaaaaa", "call_bbbbbbbbbbbbbbbbbbbbbbbb", "call_cccccccccccccccccccccccc", "call_dddddddddddddddddddddddd"
	base := calls(a, b, a, b)
	long := strings.Repeat("x", 100<<10)
	for _, p := range []pair{
		{"other ids", chat, base, calls(c, d, c, d), true},
		{"ids of another shape", chat, base, calls("chatcmpl-tool-1", "abc123XYZ", "chatcmpl-tool-1", "abc123XYZ"), true},
		{"ids of one byte", chat, base, calls("x", "y", "x", "y"), true},
		{"ids of 64 bytes", chat, base, calls(long[:64], a, long[:64], a), true},
		{"an id of 65 bytes counts", chat, base, calls(long[:65], a, long[:65], a), false},
		{"an id of 100 KB counts", chat, calls(long, a, long, a), calls(long+"x", a, long+"x", a), false},
		{"an id with a colon counts", chat, calls("functions.f:0", "functions.g:1", "functions.f:0", "functions.g:1"), calls("functions.f:2", "functions.g:3", "functions.f:2", "functions.g:3"), false},
		{"an id in Cyrillic counts", chat, calls("а", "б", "а", "б"), calls("в", "г", "в", "г"), false},
		{"an empty id counts", chat, base, calls("", "", "", ""), false},
		{"ids with escapes", chat, base, strings.ReplaceAll(base, "call_a", `c\u0061ll_a`), true},
		{"a name with an escape", chat, base, strings.ReplaceAll(calls(c, d, c, d), `"tool_call_id"`, `"tool_call_\u0069d"`), true},
		{"the ids are swapped", chat, base, calls(b, a, b, a), true},
		{"the ids of the results are swapped", chat, base, calls(a, b, b, a), false},
		{"the ids of the calls are swapped", chat, base, calls(b, a, a, b), false},
		{"one id for both", chat, base, calls(a, a, a, a), false},
		{"one id for both, another one", chat, calls(a, a, a, a), calls(c, c, c, c), true},
		{"both results of one call", chat, base, calls(a, b, a, a), false},
		{"a result of no call", chat, base, calls(a, b, a, c), false},
		{"a result of no call, another one", chat, calls(a, b, a, c), calls(b, c, b, d), true},
		{"an id that the user names", chat, said(base, "what is "+a+"?"), said(calls(c, d, c, d), "what is "+a+"?"), false},
		{"an id that the user names, in both", chat, said(base, "what is "+a+"?"), said(calls(c, d, c, d), "what is "+c+"?"), false},
		{"the other id may differ", chat, said(base, "what is "+a+"?"), said(calls(a, d, a, d), "what is "+a+"?"), true},
		{"a part of an id in a text", chat, said(base, "what is call_aaaaaa?"), said(calls(c, d, c, d), "what is call_aaaaaa?"), true},
		{"an id in emphasis", chat, said(base, "what is _"+a+"_ -- that?"), said(calls(c, d, c, d), "what is _"+a+"_ -- that?"), false},
		{"an id in arguments", chat, strings.Replace(base, `"{}"`, `"{\"of\":\"`+a+`\"}"`, 1), strings.Replace(calls(c, d, c, d), `"{}"`, `"{\"of\":\"`+a+`\"}"`, 1), false},
		{"an id behind an escape in arguments", chat, strings.Replace(base, `"{}"`, `"{\"of\":\"see:\\n`+a+`\"}"`, 1), strings.Replace(calls(c, d, c, d), `"{}"`, `"{\"of\":\"see:\\n`+a+`\"}"`, 1), false},
		{"an id behind the escape of a quote", chat, strings.Replace(base, `"{}"`, `"{\"of\":\"\\u201c`+a+`\\u201d\"}"`, 1), strings.Replace(calls(c, d, c, d), `"{}"`, `"{\"of\":\"\\u201c`+a+`\\u201d\"}"`, 1), false},
		{"an id in a URL", chat, said(base, "/log?of%3D"+a+"%20"), said(calls(c, d, c, d), "/log?of%3D"+a+"%20"), false},
		{"an id in an escape", chat, said(base, `\u0063`+a[1:]), said(calls(c, d, c, d), `\u0063`+a[1:]), false},
		{"an id as a name", chat, strings.Replace(base, `"model"`, `"x":{"`+a+`":1},"model"`, 1), strings.Replace(calls(c, d, c, d), `"model"`, `"x":{"`+a+`":1},"model"`, 1), false},
		{"an id as a number", chat, strings.Replace(calls("12", b, "12", b), `"model"`, `"seed":12,"model"`, 1), strings.Replace(calls("34", b, "34", b), `"model"`, `"seed":12,"model"`, 1), false},
		{"a number in place of an id", chat, base, strings.ReplaceAll(base, `"`+a+`"`, "1"), false},
		{"the members in another order", chat, base, strings.ReplaceAll(calls(c, d, c, d), `"id":"`+c+`","type":"function"`, `"type":"function","id":"`+c+`"`), true},
	} {
		p.check(t, "key", keyOf)
		if p.same {
			p.check(t, "scope", scopeOf)
		}
	}
}

// TestLinksOfAPIs: the same of the other APIs: ids of items of the conversation, and of blocks.
func TestLinksOfAPIs(t *testing.T) {
	loop := func(item, call, thought string) string {
		return items(`{"role":"user","content":"hi"},{"type":"reasoning","id":"` + thought + `","summary":[]},{"type":"function_call","id":"` + item + `","call_id":"` + call +
			`","name":"f","arguments":"{}","status":"completed"},{"type":"function_call_output","call_id":"` + call + `","output":"1"}`)
	}
	block := func(id string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"` + id +
			`","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"1"}]}]}`
	}
	searched := func(id string) string {
		return items(`{"role":"user","content":"hi"},{"type":"web_search_call","id":"` + id + `","status":"completed"}`)
	}
	referred := func(first, second string) string {
		output := func(call, text string) string {
			return `,{"type":"function_call_output","call_id":"` + call + `","output":"` + text + `"}`
		}
		return items(`{"role":"user","content":"hi"},{"type":"item_reference","id":"fc_1"},{"type":"item_reference","id":"fc_2"}` + output(first, "7") + output(second, "9"))
	}
	for _, p := range []pair{
		{"other ids", resp, loop("fc_1", "call_1", "rs_1"), loop("fc_2", "call_2", "rs_1"), true},
		{"another thought, which the server looks up", resp, loop("fc_1", "call_1", "rs_1"), loop("fc_1", "call_1", "rs_2"), false},
		{"a replay of it", resp, loop("fc_1", "call_1", "rs_1"), loop("fc_rp123456789_1", "call_rp123456789_1", "rs_rp123456789_1"), true},
		{"a replay of another", resp, loop("fc_1", "call_1", "rs_1"), loop("fc_rp123456789_1", "call_rp123456789_1", "rs_rp123456789_2"), false},
		{"the item of the call and the call have one id", resp, loop("fc_1", "call_1", "rs_1"), loop("call_1", "call_1", "rs_1"), false},
		{"what a tool of the server has made", resp, searched("ws_1"), searched("ws_2"), false},
		{"results of calls that are at the server", resp, referred("call_1", "call_2"), referred("call_2", "call_1"), false},
		{"other references without a type", resp, items(`{"id":"msg_1"},{"role":"user","content":"hi"}`), items(`{"id":"msg_2"},{"role":"user","content":"hi"}`), false},
		{"a replay in a reference without a type", resp, items(`{"id":"msg_1","type":null},{"role":"user","content":"hi"}`), items(`{"id":"msg_rp123456789_1","type":null},{"role":"user","content":"hi"}`), true},
		{"replays of the calls", resp, referred("call_1", "call_2"), referred("call_rp123456789_1", "call_rp987654321_2"), true},
		{"blocks", anthropic, block("toolu_01A"), block("toolu_01B"), true},
	} {
		p.check(t, "key", keyOf)
	}
	const text = `,{"role":"user","content":"what is call_rp123456789_1, or call_1?"}]}`
	for _, named := range []string{"call_rp123456789_1", "call_1"} { // by the id of the replay, or by the one that the upstream gets
		one := strings.TrimSuffix(loop("fc_1", "call_rp123456789_1", "rs_1"), "]}") + strings.ReplaceAll(text, "call_rp123456789_1, or call_1", named)
		two := strings.ReplaceAll(one, `"call_rp123456789_1"`, `"call_rp123456789_2"`)
		if parse(t, resp, one).Key == parse(t, resp, two).Key {
			t.Errorf("an id that a text names as %s does not count", named)
		}
	}
}

// TestNamed: an answer that has one of the ids as a word.
func TestNamed(t *testing.T) {
	r := parse(t, chat, calls("call_aaaa", "call_bbbb", "call_aaaa", "call_bbbb"))
	for text, want := range map[string]bool{`"It is 7."`: false, `"call_aaaa"`: true, `"so:\ncall_bbbb."`: true, `"call_aaaab"`: false, `"xcall_aaaa"`: false,
		`"**call_aaaa**"`: true, `"_call_aaaa_"`: true, `"call_cccc"`: false, ``: false, `"\\call_aaaa"`: true, `"\`: false,
		`"{\"of\":\"see:\\ncall_aaaa\"}"`: true, `"\u201ccall_aaaa\u201d"`: true, `"\ufffdcall_aaaab"`: false, `"\n"`: false} {
		if got := r.Named(text); got != want {
			t.Errorf("%s: named %v", text, got)
		}
	}
	if r := parse(t, chat, ask("")); r.Links != nil || r.Named("call_aaaa") {
		t.Errorf("a conversation without ids has %q", r.Links)
	}
}

// TestLinksAgainstModel renames the ids of random conversations, and compares what is one request with a naive reading: the ids that are no
// words of a text, numbered as they appear.
func TestLinksAgainstModel(t *testing.T) {
	same := 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		made := func(ids []string) (body, model string) {
			return conversationWithIDs(rand.New(rand.NewPCG(seed, 7)), ids)
		}
		ids := []string{"call_1", "call_2", "x-3", "tooluse_4_", "5"}
		others := slices.Clone(ids)
		for i := range others {
			if rng.IntN(2) == 0 {
				others[i] = []string{"call_6", "z", "call_1", "9-9", "tooluse_4_"}[rng.IntN(5)]
			}
		}
		one, oneModel := made(ids)
		two, twoModel := made(others)
		a, b := parse(t, chat, one), parse(t, chat, two)
		if (a.Key == b.Key) != (oneModel == twoModel) {
			t.Fatalf("seed %d: equal keys %v, models\n%s\n%s\nof\n%s\n%s", seed, a.Key == b.Key, oneModel, twoModel, one, two)
		}
		if a.Key == b.Key && one != two {
			same++
		}
	}
	if same < 300 {
		t.Errorf("only %d pairs differ in their ids alone", same)
	}
}

// conversationWithIDs draws a conversation that uses ids, and its naive reading.
func conversationWithIDs(rng *rand.Rand, ids []string) (body, model string) {
	type piece struct{ text, id string } // text, then an id at its place
	var pieces []piece
	var texts []string
	for range 1 + rng.IntN(5) {
		switch id := ids[rng.IntN(len(ids))]; rng.IntN(4) {
		case 0, 1:
			pieces = append(pieces, piece{`{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"},"id":`, id}, piece{`}]},`, ""})
		case 2:
			pieces = append(pieces, piece{`{"role":"tool","content":"1","tool_call_id":`, id}, piece{`},`, ""})
		default:
			text := []string{"about " + id + ".", "about call_1", "(" + id + "x)", "nothing"}[rng.IntN(4)]
			texts = append(texts, text)
			pieces = append(pieces, piece{`{"role":"user","content":"` + text + `"},`, ""})
		}
	}
	numbers := map[string]string{}
	var b, m strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
		m.WriteString(p.text)
		if p.id == "" {
			continue
		}
		fmt.Fprintf(&b, "%q", p.id)
		isWord := func(r rune) bool { return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' }
		spoken := slices.ContainsFunc(texts, func(text string) bool {
			return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) }), p.id)
		})
		if !spoken && numbers[p.id] == "" {
			numbers[p.id] = fmt.Sprint("#", len(numbers)+1)
		}
		if spoken {
			m.WriteString(p.id)
		}
		m.WriteString(numbers[p.id])
	}
	return talk(strings.TrimSuffix(b.String(), ",") + `,{"role":"user","content":"end"}`), m.String()
}

// TestManyLinks: a body with more places of ids than are numbered counts as it is, and is read in bounded time and memory.
func TestManyLinks(t *testing.T) {
	body := func(n int, prefix string) string {
		var b strings.Builder
		b.WriteString(`{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[`)
		for i := range n {
			fmt.Fprintf(&b, `{"id":"%s%d"},`, prefix, i)
		}
		return talk(strings.TrimSuffix(b.String(), ",") + "]}")
	}
	for _, c := range []struct {
		n    int
		same bool
	}{{1 << 14, true}, {1<<14 + 1, false}, {1 << 17, false}} {
		one, two := body(c.n, "call_x"), body(c.n, "call_y")
		if same := parse(t, chat, one).Key == parse(t, chat, two).Key; same != c.same {
			t.Errorf("%d ids: equal %v", c.n, same)
		}
		if most, size := canon.Memory([]byte(one)), int64(len(one)); most > 40*size {
			t.Errorf("%d ids: %d bytes are reserved for a body of %d", c.n, most, size)
		}
	}
}
