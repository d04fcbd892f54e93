package anthropic

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
)

// TestStreamOutOfProportion: three events for a block of two bytes would make a stream of a hundred times the answer.
func TestStreamOutOfProportion(t *testing.T) {
	for _, c := range []struct {
		blocks int
		ok     bool
	}{{100, true}, {200_000, false}} {
		body := `{"content":[` + strings.Repeat(`{},`, c.blocks) + `{"type":"text","text":"a"}],"stop_reason":"end_turn"}`
		z, err := answer.Freeze(Messages.Answers, "application/json", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := z.Replay(nil, answer.ReplayOptions{Stream: true})
		if (err == nil) != c.ok || len(out) > 1<<20+33*len(body) {
			t.Errorf("%d blocks: a stream of %d bytes for %d, %v", c.blocks, len(out), len(body), err)
		}
	}
}

// TestHostileStreams: what grows is joined in linear time.
func TestHostileStreams(t *testing.T) {
	const n = 50_000
	many := func(event func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(event(i))
		}
		return b.String()
	}
	for name, body := range map[string]string{
		"texts": begun + opened + many(func(int) string { return said }) + closed + ended + stopped,
		"texts with other members": begun + opened + many(func(i int) string {
			return event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","x` + strconv.Itoa(i) + `":1}}`)
		}) + closed + ended + stopped,
		"arguments": begun + calling + arguments(`{\"a\":\"`) + many(func(int) string { return arguments("x") }) + arguments(`\"}`) + closed + ended + stopped,
		"blocks": begun + many(func(i int) string {
			return strings.ReplaceAll(opened+said+closed, `"index":0`, `"index":`+strconv.Itoa(i))
		}) + ended + stopped,
		"counts": begun + opened + said + closed + many(func(i int) string {
			return event(`{"type":"message_delta","delta":{"x` + strconv.Itoa(i) + `":1},"usage":{"y` + strconv.Itoa(i) + `":1}}`)
		}) + ended + stopped,
		"citations": begun + opened + said + many(func(int) string {
			return event(`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"index":0}}}`)
		}) + closed + ended + stopped,
	} {
		if v := answer.Judge(Messages.Answers, true, []byte(body)); v.Reason != "" && v.Reason != answer.ReasonToolCalls {
			t.Errorf("%s: %s", name, v.Reason)
		}
	}
}

// FuzzStream: a stream that may be kept and converts is, as an object, what the events say when they are read by encoding/json, one after the other, and
// becomes it again by way of a stream of our own.
func FuzzStream(f *testing.F) {
	for _, a := range apitest.Answers(f, "testdata/messages") {
		if a.Stream {
			f.Add(a.Body)
		}
	}
	f.Add([]byte(begun + calling + arguments(`{\"a\":`) + arguments(`[1,{\"b\":\"\\ud83d\\ude00\"}]}`) + closed + ended + stopped))
	f.Fuzz(func(t *testing.T, body []byte) { checkStream(t, body) })
}

// TestDrawnStreams does so with streams of events in many orders, most of which are not allowed.
func TestDrawnStreams(t *testing.T) {
	kept := 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		if checkStream(t, []byte(drawnStream(rng))) {
			kept++
		}
	}
	if kept < 500 {
		t.Errorf("only %d streams can be kept", kept)
	}
}

// drawnStream is a stream of blocks of several kinds, with a mistake at times.
func drawnStream(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	all := []string{begun}
	for i := range rng.IntN(4) {
		at := strconv.Itoa(i)
		kind := rng.IntN(3)
		start := []string{`{"type":"text","text":"` + pick("", "a") + `"` + pick("", `,"citations":null`, `,"citations":[]`, `,"citations":[{"n":0}]`) + `}`,
			`{"type":"thinking","thinking":"","signature":""}`, `{"type":"tool_use","id":"toolu_` + at + `","name":"f","input":{}}`}[kind]
		all = append(all, event(`{"type":"content_block_start","index":`+at+`,"content_block":`+start+`}`))
		delta := func(s string) {
			all = append(all, event(`{"type":"content_block_delta","index":`+at+`,"delta":`+s+pick("}", "}", " }")))
		}
		for range rng.IntN(4) {
			switch fragment := pick("", "x", " é", `\u00fc`, `\ud83d\ude00`); kind {
			case 0:
				if delta(`{"type":"text_delta","text":"` + fragment + `"}`); rng.IntN(4) == 0 {
					delta(`{"type":"citations_delta","citation":{"index":` + at + `}}`)
				}
			case 1:
				delta(`{"type":"thinking_delta","thinking":"t","estimated_tokens":null}`)
			}
		}
		switch kind {
		case 1:
			for i := range 1 + rng.IntN(2) {
				delta(`{"type":"signature_delta","signature":"s` + strconv.Itoa(i) + `"}`)
			}
		case 2:
			for _, part := range strings.SplitAfter(pick(``, `{}`, `{\"a\": |[1,| 2]}`, `{\"a\":\"|\\u00|fc\"}`), "|") {
				delta(`{"type":"input_json_delta","partial_json":"` + strings.Trim(part, "|") + `"}`)
			}
		}
		all = append(all, event(`{"type":"content_block_stop","index":`+at+`}`), pick("", event(`{"type":"ping"}`)))
	}
	all = append(all, ended, pick("", event(`{"type":"message_delta","delta":{"stop_sequence":"x"},"usage":{"cache_read_input_tokens":3},"context_management":{"a":1}}`)), stopped)
	if rng.IntN(3) == 0 {
		i, j := rng.IntN(len(all)), rng.IntN(len(all))
		all[i], all[j] = all[j], all[i]
	}
	return strings.Join(all, "")
}

// checkStream reports whether a stream may be kept.
func checkStream(t *testing.T, body []byte) bool {
	v, z, ok := api.Read(Messages.Answers, "text/event-stream", body, nil)
	if !ok || !v.Keep && v.Reason != answer.ReasonToolCalls {
		return false
	}
	if !z.Converts() { // a miss for the clients of the other form
		return false
	}
	merged := convert(t, z, false)
	if want := accumulate(t, body); !reflect.DeepEqual(want, decoded(t, merged)) {
		t.Fatalf("%s\nis\n%s\nwant\n%v", body, merged, want)
	}
	whole, err := answer.Freeze(Messages.Answers, "application/json", merged)
	if err != nil {
		t.Fatal(err)
	}
	if !whole.Converts() {
		return false
	}
	stream := convert(t, whole, true)
	again, err := answer.Freeze(Messages.Answers, "text/event-stream", stream)
	if err != nil {
		t.Fatal(err)
	}
	if got := convert(t, again, false); !reflect.DeepEqual(decoded(t, got), decoded(t, merged)) {
		t.Fatalf("%s\nbecame\n%s\nby way of\n%s", merged, got, stream)
	}
	return true
}

func convert(t *testing.T, z *answer.Frozen, stream bool) []byte {
	t.Helper()
	out, _, err := z.Replay(nil, answer.ReplayOptions{Stream: stream})
	if err != nil {
		t.Fatalf("convert %s: %v", z.Body, err)
	}
	return out
}

func decoded(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

type object = map[string]any

// accumulate joins the events as the API's own libraries do.
func accumulate(t *testing.T, stream []byte) any {
	var message object
	var content []any
	inputs := map[int]string{}
	for ev := range answer.EventsOf(stream).All() {
		if ev.Data == nil || string(ev.Data) == "[DONE]" {
			continue
		}
		e := decoded(t, ev.Data).(object)
		last := len(content) - 1
		switch e["type"] {
		case "message_start":
			message = e["message"].(object)
		case "content_block_start":
			content = append(content, e["content_block"])
		case "content_block_delta":
			b, d := content[last].(object), e["delta"].(object)
			switch d["type"] {
			case "text_delta":
				b["text"] = text(b["text"]) + d["text"].(string)
			case "thinking_delta":
				b["thinking"] = text(b["thinking"]) + d["thinking"].(string)
			case "signature_delta":
				b["signature"] = d["signature"]
			case "input_json_delta":
				inputs[last] += d["partial_json"].(string)
			case "citations_delta":
				list, _ := b["citations"].([]any)
				b["citations"] = append(list, d["citation"])
			}
		case "content_block_stop":
			if inputs[last] != "" {
				content[last].(object)["input"] = decoded(t, []byte(inputs[last]))
			}
		case "message_delta":
			change(message, e)
		case "message_stop":
			if content == nil {
				content = []any{}
			}
			message["content"] = content
			return message
		}
	}
	t.Fatalf("no end: %s", stream)
	return nil
}

func text(v any) string { s, _ := v.(string); return s }

// change takes over what a message_delta has.
func change(message, e object) {
	merge := func(to object, from any) {
		members, _ := from.(object)
		for k, v := range members {
			if _, has := to[k]; v != nil || !has {
				to[k] = v
			}
		}
	}
	merge(message, e["delta"])
	if usage, ok := e["usage"].(object); ok && len(usage) > 0 {
		to, ok := message["usage"].(object)
		if !ok {
			to = object{}
			message["usage"] = to
		}
		merge(to, usage)
	}
	for k, v := range e {
		if k != "type" && k != "delta" && k != "usage" {
			merge(message, object{k: v})
		}
	}
}
