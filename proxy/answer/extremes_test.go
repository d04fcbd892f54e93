package answer_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/proxy/answer"
	"reprise/proxy/api"
)

// extreme is an answer that is as bad as its size n allows.
type extreme struct {
	name, kind string
	form       *answer.Form
	body       func(n int) string
	refused    bool // not kept, whatever its size
}

const eventStream = "text/event-stream"

func extremes() []extreme {
	chunk := func(delta, more string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":0,"delta":` + delta + more + "}]}\n\n"
	}
	ending := chunk("{}", `,"finish_reason":"stop"`) + `data: {"id":"c","object":"chat.completion.chunk","created":17,"model":"m","choices":[],"usage":{"prompt_tokens":1}}` + "\n\ndata: [DONE]\n\n"
	chat1 := func(name string, refused bool, deltas func(n int) string) extreme {
		return extreme{name, eventStream, chat, func(n int) string { return deltas(n) + ending }, refused}
	}
	list := func(n int, element func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(element(i))
		}
		return b.String()
	}
	each := func(n int, event func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(event(i))
		}
		return b.String()
	}
	part := func(i int) string { return fmt.Sprintf(`{"type":"text","text":"p%d"}`, i) }
	call := func(index int, id string) string {
		return fmt.Sprintf(`{"index":%d,"id":"%s","type":"function","function":{"name":"f","arguments":"{}"}}`, index, id)
	}
	object := func(name string, message func(n int) string) extreme {
		return extreme{name, typeJSON, chat, func(n int) string {
			return `{"id":"c","object":"chat.completion","created":17,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` + message(n) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`
		}, false}
	}
	response := func(items string) string {
		return `{"id":"r","object":"response","status":"completed","output":[` + items + `],"usage":{"input_tokens":1}}`
	}
	item := func(i int) string {
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","content":[{"type":"output_text","text":"t","annotations":[]}]}`, i)
	}
	message := func(blocks string) string {
		return `{"id":"m","type":"message","role":"assistant","model":"m","content":[` + blocks + `],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	}
	return []extreme{
		chat1("one event", false, func(n int) string { return chunk(`{"content":"`+strings.Repeat("x", 10*n)+`"}`, "") }),
		chat1("escapes in one event", false, func(n int) string { return chunk(`{"content":"`+strings.Repeat(`\u00e9\"`, n)+`"}`, "") }),
		chat1("small events", false, func(n int) string {
			return each(n, func(i int) string { return chunk(fmt.Sprintf(`{"content":"w%d"}`, i), "") })
		}),
		chat1("a part in each event", false, func(n int) string {
			return each(n, func(i int) string { return chunk(`{"content":[`+part(i)+`]}`, "") })
		}),
		chat1("parts in one event", false, func(n int) string { return chunk(`{"content":[`+list(n, part)+`]}`, "") }),
		chat1("references between texts", false, func(n int) string {
			return each(n/2, func(i int) string {
				return chunk(`{"content":"a"}`, "") + chunk(`{"content":[{"type":"reference","reference_ids":[1]}]}`, "")
			})
		}),
		chat1("one index, other ids", false, func(n int) string {
			return each(n, func(i int) string { return chunk(`{"tool_calls":[`+call(0, fmt.Sprint("call_", i))+`]}`, "") })
		}),
		chat1("one index, two ids in turns", true, func(n int) string {
			return each(n, func(i int) string { return chunk(`{"tool_calls":[`+call(0, fmt.Sprint("call_", i%2))+`]}`, "") })
		}),
		chat1("other indexes", false, func(n int) string {
			return each(n, func(i int) string { return chunk(`{"tool_calls":[`+call(n-i, fmt.Sprint("call_", i))+`]}`, "") })
		}),
		chat1("members of one delta", false, func(n int) string {
			return chunk(`{"content":"a",`+list(n, func(i int) string { return fmt.Sprintf(`"m%d":%d`, i, i) })+"}", "")
		}),
		chat1("a member in each event", false, func(n int) string {
			return chunk(`{"content":"a"}`, "") + each(n, func(i int) string { return chunk(fmt.Sprintf(`{"m%d":"%d"}`, i, i), "") })
		}),
		chat1("choices", true, func(n int) string {
			return each(n, func(i int) string {
				return fmt.Sprintf(`data: {"id":"c","choices":[{"index":%d,"delta":{"content":"a"}}]}`+"\n\n", i)
			})
		}),
		chat1("usage in each event", false, func(n int) string {
			return each(n, func(i int) string {
				return fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"completion_tokens":%d}}`+"\n\n", i)
			})
		}),
		chat1("depth of 90", false, func(int) string {
			return chunk(`{"content":"a","x":`+strings.Repeat("[", 90)+strings.Repeat("]", 90)+"}", "")
		}),
		chat1("depth of 200", true, func(int) string {
			return chunk(`{"content":"a","x":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+"}", "")
		}),
		chat1("depth in each event", false, func(n int) string {
			return chunk(`{"content":"a"}`, "") + each(n/20, func(int) string {
				return chunk(`{"x":`+strings.Repeat(`{"a":`, 80)+"1"+strings.Repeat("}", 80)+"}", "")
			})
		}),
		chat1("parts within parts in each event", true, func(n int) string {
			return each(n/20, func(i int) string {
				return chunk(`{"content":[`+strings.Repeat(`{"type":"thinking","thinking":[`, 30)+part(i)+strings.Repeat("]}", 30)+strings.Repeat(" ", i%2)+"]}", "")
			})
		}),
		chat1("an empty list with space", false, func(n int) string {
			return chunk(`{"content":"a","x":[`+strings.Repeat(" ", 10*n)+"]}", "") + each(n/2, func(int) string { return chunk(`{"x":""}`, "") })
		}),
		chat1("a list that begins with space", false, func(n int) string {
			return chunk(`{"content":"a","x":[`+strings.Repeat(" ", 10*n)+"1]}", "") + each(n/2, func(int) string { return chunk(`{"x":[2]}`, "") })
		}),
		chat1("members of a part", false, func(n int) string {
			return chunk(`{"content":[{"type":"text",`+list(n, func(i int) string { return fmt.Sprintf(`"m%d":%d`, i, i) })+`,"text":"a"}]}`, "") +
				each(n/2, func(i int) string { return chunk(fmt.Sprintf(`{"content":"b","m%d":null}`, i), "") })
		}),
		chat1("NaN", true, func(int) string { return chunk(`{"content":"a","x":NaN}`, "") }),
		chat1("a number out of range", true, func(int) string { return chunk(`{"content":"a","x":1e999}`, "") }),
		object("parts of an object", func(n int) string { return `"content":[` + list(n, part) + `]` }),
		object("calls of an object", func(n int) string {
			return `"content":"a","calls":[` + list(n, func(i int) string { return call(0, fmt.Sprint("call_", i)) }) + `]`
		}),
		{"items", typeJSON, responses, func(n int) string { return response(list(n, item)) }, false},
		{"items in a stream", eventStream, responses, func(n int) string {
			return each(n, func(i int) string {
				return fmt.Sprintf(`data: {"type":"response.output_item.done","output_index":%d,"item":%s}`+"\n\n", i, item(i))
			}) + `data: {"type":"response.completed","response":` + response(list(n, item)) + "}\n\n"
		}, false},
		{"parts of an item", typeJSON, responses, func(n int) string {
			return response(`{"id":"msg_1","type":"message","content":[` + list(n, func(int) string { return `{"type":"output_text","text":"t"}` }) + `]}`)
		}, false},
		{"blocks", typeJSON, messages, func(n int) string { return message(list(n, part)) }, false},
		{"input in pieces", eventStream, messages, func(n int) string {
			event := func(kind, more string) string { return `data: {"type":"` + kind + `"` + more + "}\n\n" }
			piece := func(text string) string {
				return event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"`+text+`"}`)
			}
			return event("message_start", `,"message":`+strings.Replace(message(""), `"end_turn"`, "null", 1)) +
				event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`) +
				piece(`{\"a\":[0`) + each(n, func(i int) string { return piece(fmt.Sprint(",", i)) }) + piece("]}") + event("content_block_stop", `,"index":0`) +
				event("message_delta", `,"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}`) + event("message_stop", "")
		}, false},
		{"lines", "application/x-ndjson", ollamaChat, func(n int) string {
			return each(n, func(i int) string {
				return fmt.Sprintf(`{"model":"m","message":{"content":"w%d"},"done":false}`+"\n", i)
			}) +
				`{"model":"m","message":{"role":"assistant","content":""},"done":true}` + "\n"
		}, false},
	}
}

// TestExtremes: an answer that is far from any that was meant is refused, or its other form says the same, or it has none.
func TestExtremes(t *testing.T) {
	for _, x := range extremes() {
		t.Run(x.name, func(t *testing.T) {
			body := x.body(300)
			v, z, strict := api.Read(x.form, x.kind, []byte(body), nil)
			if kept := v.Keep || v.Reason == answer.ReasonToolCalls; kept == x.refused {
				t.Fatalf("%+v, refused %v", v, x.refused)
			}
			if strict && z != nil {
				if why, _ := misconverts(z); why != "" {
					t.Errorf("%.2000s", why)
				}
			}
			allocated := func(n int) float64 {
				body := []byte(x.body(n))
				return testing.AllocsPerRun(1, func() { readAndConvert(x, body) })
			}
			if few, many := allocated(1000), allocated(4000); many > 6*few+1000 {
				t.Errorf("%v allocations for 1,000, %v for 4,000", few, many)
			}
		})
	}
}

// readAndConvert does all that the proxy does with an answer until it has both forms, or has refused it, and returns the bytes of both.
func readAndConvert(x extreme, body []byte) (size int) {
	v, z, strict := api.Read(x.form, x.kind, body, nil)
	if kept := v.Keep || v.Reason == answer.ReasonToolCalls; !kept || !strict || z == nil {
		return len(body)
	}
	other, _, _ := z.Replay(nil, answer.ReplayOptions{Stream: !z.Stream, IncludeUsage: true})
	return len(body) + len(other)
}

// BenchmarkExtremes reports the processor time for a MiB of both forms of an answer of 100,000 parts.
func BenchmarkExtremes(b *testing.B) {
	for _, x := range extremes() {
		body := []byte(x.body(100_000))
		if len(body) < 64<<10 {
			continue
		}
		b.Run(x.name, func(b *testing.B) {
			size, began := 0, processorTime(b)
			for b.Loop() {
				size += readAndConvert(x, body)
			}
			b.ReportMetric((processorTime(b)-began).Seconds()/(float64(size)/(1<<20)), "cpu-s/MiB")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
