package chat

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/proxy/answer"
)

// hostileAnswers are answers of some size bytes that are costly to read.
func hostileAnswers(size int) map[string]string {
	repeat := func(head, unit, tail string) string {
		return head + strings.Repeat(unit+",", (size-len(head)-len(tail))/(len(unit)+1)-1) + unit + tail
	}
	numbered := func(unit func(i string) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(unit(strconv.Itoa(i)) + ",")
		}
		return b.String()
	}
	indexed := numbered(func(i string) string { return `{"index":` + i + `}` })
	members := numbered(func(i string) string { return `"` + i + `":0` })
	event := func(s string) string { return "data: " + s + "\n\n" }
	end := event(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`) + event("[DONE]")
	return map[string]string{
		"choices":             repeat(`{"choices":[`, `{}`, `]}`),
		"content parts":       repeat(`{"choices":[{"finish_reason":"stop","message":{"content":[`, `{}`, `]}}]}`),
		"tool calls":          repeat(`{"choices":[{"finish_reason":"stop","message":{"content":"a","tool_calls":[`, `{}`, `]}}]}`),
		"members":             `{"choices":[{"finish_reason":"stop","message":{` + members + `"content":"a"}}]}`,
		"nested":              repeat(`{"choices":[{"finish_reason":"stop","message":{"content":"a"}}],"x":[`, strings.Repeat("[", 100)+strings.Repeat("]", 100), `]}`),
		"indexed choices":     event(`{"choices":[`+indexed+`{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`) + event("[DONE]"),
		"calls without index": event(repeat(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0},`, `{}`, `]}}]}`)) + end,
		"new members":         event(`{"choices":[{"index":0,"delta":{`+members+`"content":"a"},"finish_reason":"stop"}]}`) + event("[DONE]"),
		"tiny events":         strings.Repeat("data:{}\n\n", size/9) + end,
		"events of a letter":  strings.Repeat(event(`{"choices":[{"delta":{"content":"a"}}]}`), size/47) + end,
		"events of arrays":    strings.Repeat(event(`{"choices":[{"delta":{"x":[1]}}]}`), size/42) + end,
		"comments":            strings.Repeat(":\n\n", size/3) + end,
		"data lines":          "data: " + strings.Repeat("\ndata:", size/6) + "{}\n\n" + end,
	}
}

// TestHostileAnswers: no answer takes time or memory out of proportion to be judged, kept and replayed in its other form. The bounds
// are far above what these take; what is quadratic in the size takes minutes, or gigabytes. Where the time is long, the least of three runs
// counts: the machine may be busy.
func TestHostileAnswers(t *testing.T) {
	const size = 512 << 10
	for name, body := range hostileAnswers(size) {
		t.Run(name, func(t *testing.T) {
			took, allocated := costOf(body)
			for left := 2; took > 10*time.Second && left > 0; left-- {
				again, _ := costOf(body)
				took = min(took, again)
			}
			t.Logf("%v, %d MiB allocated", took.Round(time.Millisecond), allocated>>20)
			if took > 10*time.Second || allocated > 600*size {
				t.Errorf("%d KiB took %v and %d MiB", size>>10, took, allocated>>20)
			}
		})
	}
}

// costOf judges, keeps and replays an answer, and returns how long that took and how many bytes it allocated.
func costOf(body string) (took time.Duration, allocated uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	stream, contentType := body[0] != '{', "application/json"
	if stream {
		contentType = "text/event-stream"
	}
	verdict := answer.Judge(Family.Answers, stream, []byte(body))
	z, err := answer.Freeze(Family.Answers, contentType, []byte(body))
	if err == nil && verdict.Keep {
		_, _, _ = z.Replay(nil, answer.ReplayOptions{ID: "x", Stream: !stream})
	}
	took = time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

// TestStreamOutOfProportion: each chunk repeats the name of the model, so that a long one times many members would be gigabytes.
func TestStreamOutOfProportion(t *testing.T) {
	var members strings.Builder
	for i := range 5000 {
		members.WriteString(`"` + strconv.Itoa(i) + `":0,`)
	}
	for _, c := range []struct {
		model int
		ok    bool
	}{{10, true}, {100_000, false}} {
		body := `{"model":"` + strings.Repeat("m", c.model) + `","choices":[{"index":0,"finish_reason":"stop","message":{` + members.String() + `"content":"a"}}]}`
		z, err := answer.Freeze(Family.Answers, "application/json", []byte(body))
		if err != nil || !answer.Judge(Family.Answers, false, []byte(body)).Keep {
			t.Fatal("not kept: ", err)
		}
		out, _, err := z.Replay(nil, answer.ReplayOptions{Stream: true})
		if (err == nil) != c.ok || len(out) > 64<<10+33*len(body) {
			t.Errorf("a model of %d bytes: a stream of %d bytes for %d, %v", c.model, len(out), len(body), err)
		}
	}
}
