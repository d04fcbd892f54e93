package openai

import (
	"strings"
	"testing"

	"reprise/proxy/api/apitest"
)

// chunksOf are chunks with one choice each, with these deltas and a finish reason at the end, and with usage.
func chunksOf(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(chunkOf(`{"index":0,"delta":` + d + `,"finish_reason":null}`))
	}
	return b.String() + chunkOf(`{"index":0,"delta":{},"finish_reason":"`+finish+`"}`) + ending
}

func chunkOf(choice string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[` + choice + "]}\n\n"
}

const ending = `data: {"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[],"usage":{"total_tokens":3}}` + "\n\ndata: [DONE]\n\n"

// objectOf is the answer with a choice of these members behind its index.
func objectOf(members string) string {
	return `{"id":"c","object":"chat.completion","created":7,"model":"m","choices":[{"index":0,` + members + `}],"usage":{"total_tokens":3}}`
}

// said is the answer with a message of these members behind its role.
func said(finish, members string) string {
	return objectOf(`"message":{"role":"assistant",` + members + `},"finish_reason":"` + finish + `"`)
}

// call is a fragment of a call.
func call(index, id, name, arguments string) string {
	return `{"tool_calls":[{"index":` + index + `,"id":` + id + `,"type":"function","function":{"name":` + name + `,"arguments":` + arguments + `}}]}`
}

// called is an answer with calls, of id, name and arguments.
func called(calls ...[3]string) string {
	var all []string
	for _, c := range calls {
		all = append(all, `{"id":"`+c[0]+`","type":"function","function":{"name":"`+c[1]+`","arguments":"`+c[2]+`"}}`)
	}
	return said("tool_calls", `"content":null,"tool_calls":[`+strings.Join(all, ",")+`]`)
}

// TestChatStreamsAsObjects: what was streamed is in the object, or there is none. What vendors send is in the cases of package answer.
func TestChatStreamsAsObjects(t *testing.T) {
	text := func(s string) string { return `{"content":"` + s + `"}` }
	part := func(s string) string { return `{"content":[{"type":"text","text":"` + s + `"}]}` }
	filtered := func(delta, results string) string {
		return chunkOf(`{"index":0,"delta":` + delta + `,"finish_reason":null,"content_filter_results":` + results + `}`)
	}
	apitest.Convert(t, Chat, []struct{ Name, Body, Want string }{
		{"pictures stay apart", chunksOf("stop", text("a"), `{"images":[{"type":"image_url","image_url":{"url":"a"}}]}`, `{"images":[{"type":"image_url","image_url":{"url":"a"}}]}`),
			said("stop", `"content":"a","images":[{"type":"image_url","image_url":{"url":"a"}},{"type":"image_url","image_url":{"url":"a"}}]`)},
		{"parts with other members stay apart", chunksOf("stop", `{"content":[{"type":"text","text":"a","lang":"en"}]}`, `{"content":[{"type":"text","text":"b","lang":"en"}]}`, `{"content":[{"type":"text","text":"c","lang":"de"}]}`, part("d")),
			said("stop", `"content":[{"type":"text","text":"ab","lang":"en"},{"type":"text","text":"c","lang":"de"},{"type":"text","text":"d"}]`)},
		{"an object after a text", chunksOf("stop", text("a"), `{"content":{"text":"b"}}`), ""},
		{"a number that changes", chunksOf("stop", text("a"), `{"score":1}`, `{"score":2}`), ""},
		{"a number that is repeated", chunksOf("stop", text("a"), `{"score":1}`, `{"score":1}`), said("stop", `"content":"a","score":1`)},
		{"findings that change", filtered(`{"content":"a"}`, `{"hate":{"filtered":false,"severity":"safe"}}`) + filtered(`{"content":"b"}`, `{"hate":{"filtered":false,"severity":"low"}}`) + chunksOf("stop"), ""},
		{"an empty list, text and object replace nothing", chunksOf("stop", `{"content":"a","annotations":[{"n":1}],"x":{"y":1}}`, `{"content":"","annotations":[],"x":{}}`, `{"annotations":null}`, `{"content":[]}`),
			said("stop", `"content":"a","annotations":[{"n":1}],"x":{"y":1}`)},
		{"a usage of null", strings.ReplaceAll(chunksOf("stop", text("a")), `"usage":{"total_tokens":3}`, `"usage":null`), ""},
	})
}

// TestChatCallsAsObjects: a call is known by its index and its id.
func TestChatCallsAsObjects(t *testing.T) {
	apitest.Convert(t, Chat, []struct{ Name, Body, Want string }{
		{"of the same function, both with arguments", chunksOf("tool_calls", call("0", `"call_a"`, `"f"`, `"{\"a\":1}"`), call("0", `"call_b"`, `"f"`, `"{\"a\":2}"`)),
			called([3]string{"call_a", "f", `{\"a\":1}`}, [3]string{"call_b", "f", `{\"a\":2}`})},
		{"fragments of the latest", chunksOf("tool_calls", call("0", `"call_a"`, `"f"`, `"{"`), call("0", `""`, `""`, `"}"`), call("0", `"call_b"`, `"g"`, `"{"`), call("0", `null`, `null`, `"}"`)),
			called([3]string{"call_a", "f", "{}"}, [3]string{"call_b", "g", "{}"})},
		{"fragments in turns", chunksOf("tool_calls", call("0", `"call_a"`, `"f"`, `"{"`), call("0", `"call_b"`, `"g"`, `"{"`), call("0", `"call_a"`, `""`, `"}"`), call("0", `"call_b"`, `""`, `"}"`)),
			called([3]string{"call_a", "f", "{}"}, [3]string{"call_b", "g", "{}"})},
		{"an id made up for each fragment", chunksOf("tool_calls", call("0", `"call_a"`, `"f"`, `"{"`), call("0", `"call_b"`, `""`, `"}"`)), ""},
		{"two names for one call", chunksOf("tool_calls", call("0", `"call_a"`, `"get_time"`, `"{}"`), call("0", `"call_a"`, `"get_date"`, `""`)), ""},
		{"indexes in any order", chunksOf("tool_calls", call("2", `"call_b"`, `"g"`, `"{"`), call("1", `"call_a"`, `"f"`, `"{"`), call("2", `""`, `""`, `"}"`), call("1", `""`, `""`, `"}"`)),
			called([3]string{"call_a", "f", "{}"}, [3]string{"call_b", "g", "{}"})},
	})
}

// TestResponsesStreamsAsObjects: the response at the end is what was streamed before, or there is no object.
func TestResponsesStreamsAsObjects(t *testing.T) {
	event := func(kind, more string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"," + more + "}\n\n"
	}
	const place = `"item_id":"i","output_index":0,"content_index":0,`
	item := func(text string) string {
		return `{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}`
	}
	response := func(output string) string {
		return `{"id":"r","object":"response","status":"completed","model":"m","output":[` + output + `],"usage":{"input_tokens":1,"output_tokens":2}}`
	}
	begun := event("response.created", `"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[],"usage":null}`) +
		event("response.output_item.added", `"output_index":0,"item":{"type":"message","id":"i","role":"assistant","status":"in_progress","content":[]}`) +
		event("response.content_part.added", place+`"part":{"type":"output_text","text":"","annotations":[]}`)
	deltas := func(texts ...string) (all string) {
		for _, s := range texts {
			all += event("response.output_text.delta", place+`"delta":"`+s+`"`)
		}
		return all
	}
	done := func(text string) string {
		return event("response.output_text.done", place+`"text":"`+text+`"`) + event("response.content_part.done", place+`"part":{"type":"output_text","text":"`+text+`","annotations":[]}`)
	}
	itemDone := func(text string) string {
		return event("response.output_item.done", `"output_index":0,"item":`+item(text))
	}
	completed := func(text string) string { return event("response.completed", `"response":`+response(item(text))) }
	const whole = "Hello big world"
	said := deltas("Hello", " big", " world")
	apitest.Convert(t, Responses, []struct{ Name, Body, Want string }{
		{"the end has the last delta, and nothing else has the text", begun + said + completed(" world"), ""},
		{"a delta is missing", begun + deltas("Hello", " world") + done(whole) + itemDone(whole) + completed(whole), ""},
		{"the last delta is missing", begun + deltas("Hello", " big") + done(whole) + itemDone(whole) + completed(whole), ""},
		{"the item has less", begun + said + done(whole) + itemDone("Hello") + completed(whole), ""},
		{"the text has less", begun + said + done("") + itemDone(whole) + completed(whole), ""},
		{"no deltas", begun + done(whole) + itemDone(whole) + completed(whole), response(item(whole))},
		{"nothing before the end", completed(whole), ""},
		{"an item more at the end", begun + said + done(whole) + itemDone(whole) + event("response.completed", `"response":`+response(item(whole)+","+item("x"))), ""},
		{"an item less at the end", begun + said + done(whole) + itemDone(whole) + event("response.output_item.done", `"output_index":1,"item":`+item("x")) + completed(whole), ""},
		{"another model at the end", strings.Replace(begun, `"model":"m"`, `"model":"n"`, 1) + said + done(whole) + itemDone(whole) + completed(whole), ""},
		{"other escapes", begun + deltas("Gr", `\u00fc`, "ße") + done("Grüße") + itemDone(`Gr\u00fc\u00dfe`) + completed("Grüße"), response(item("Grüße"))},
		{"no usage", begun + said + done(whole) + itemDone(whole) + strings.Replace(completed(whole), `"usage":{"input_tokens":1,"output_tokens":2}`, `"usage":null`, 1), ""},
	})
}
