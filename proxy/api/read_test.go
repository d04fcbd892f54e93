package api_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/anthropic"
	"reprise/proxy/api/ollama"
	"reprise/proxy/api/openai"
)

// TestReadBehindTheEnd: an answer that goes on behind its last event is not kept, because some clients read on; an event that says nothing is
// no part of it.
func TestReadBehindTheEnd(t *testing.T) {
	line := func(content, done string) string {
		return `{"model":"m","message":{"role":"assistant","content":"` + content + `"},"done":` + done + "}\n"
	}
	event := func(kind, more string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + more + "}\n\n"
	}
	message := event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}`) +
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":"a"}`) + event("content_block_stop", `,"index":0`) +
		event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}`) + event("message_stop", "")
	for _, tc := range []struct {
		form       *answer.Form
		kind, body string
		keep       bool
	}{
		{ollama.Chat.Answers, "application/x-ndjson", line("a", "false") + line("", "true"), true},
		{ollama.Chat.Answers, "application/x-ndjson", line("a", "false") + line("", "true") + line("b", "false"), false},
		{anthropic.Messages.Answers, "text/event-stream", message, true},
		{anthropic.Messages.Answers, "text/event-stream", message + event("ping", "") + "data: [DONE]\n\n", true},
		{anthropic.Messages.Answers, "text/event-stream", message + event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"b"}`), false},
	} {
		if v, _, strict := api.Read(tc.form, tc.kind, []byte(tc.body), nil); v.Keep != tc.keep || strict != tc.keep {
			t.Errorf("%s: %+v, strict %v", tc.body, v, strict)
		}
	}
}

// TestReadLikeOneByOne: an answer that is read once has the verdict and the stored form of one whose every event is parsed.
func TestReadLikeOneByOne(t *testing.T) {
	forms := []*answer.Form{openai.Chat.Answers, openai.Completions.Answers, openai.Responses.Answers, anthropic.Messages.Answers}
	rng := rand.New(rand.NewPCG(1, 2))
	kept, repeated, unproven := 0, 0, 0
	check := func(form *answer.Form, body string) {
		t.Helper()
		v, z, ok := api.Read(form, "text/event-stream", []byte(body), nil)
		wantV, wantZ, wantOK := readOneByOne(form, []byte(body))
		if v != wantV || ok != wantOK || ok && (!bytes.Equal(z.Body, wantZ.Body) || !slices.Equal(z.Slots, wantZ.Slots)) {
			t.Fatalf("%s\nis read as %+v, %+v, strict %v\nwant %+v, %+v, %v", body, v, z, ok, wantV, wantZ, wantOK)
		}
		judged := answer.Judge(form, true, []byte(body))
		if judged.Text != "" && v.Text == "" {
			unproven++
			judged.Text = ""
		}
		if ok && judged != v {
			t.Fatalf("%s\nis judged %+v, want %+v", body, judged, v)
		}
		if v.Keep {
			kept++
			repeated += strings.Count(body, "data:")
		}
	}
	files, _ := filepath.Glob("*/testdata/*/answers/*.sse")
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			check(form, string(body))
		}
		for range 300 {
			check(forms[rng.IntN(3)], mutated(rng, string(body)))
		}
	}
	for range 3000 {
		body := drawnStream(rng)
		check(forms[rng.IntN(3)], body)
		check(forms[0], mutated(rng, body))
	}
	if kept < 500 || repeated < 5*kept || unproven < 50 {
		t.Errorf("only %d answers of %d events were kept, %d without a text", kept, repeated, unproven)
	}
}

// readOneByOne is Read without any shortcut.
func readOneByOne(form *answer.Form, body []byte) (v answer.Verdict, z *answer.Frozen, ok bool) {
	merger, last, done := form.Streams.Merger(), false, false
	var err error
	var events []gjson.Result
	marked := strings.HasPrefix(string(body), "\ufeff") && len(body) > 3 && !strings.ContainsRune(":\r\n", rune(body[3]))
	ok = utf8.Valid(body) && !marked
	z, _ = answer.Freeze(form, "text/event-stream", body)
	for ev := range answer.EventsOf(body).All() {
		if ev.Data == nil {
			continue
		}
		if string(ev.Data) == "[DONE]" {
			done, last = true, last || merger.Done()
			continue
		}
		if done || !strict(false, ev.Data) {
			return answer.Verdict{Reason: answer.ReasonMalformed}, nil, false
		}
		switch r, _ := answer.Parse(ev.Data); {
		case last && err == nil && r.Get("type").Str != "ping":
			return answer.Verdict{Reason: answer.ReasonMalformed}, nil, false
		case last || err != nil:
		case ev.Name == "error" || answer.Judge(&answer.Form{Judge: keeps{}}, false, ev.Data).Reason != "":
			err = answer.ErrReported
		default:
			last, err = merger.Add(r)
			events = append(events, r)
		}
	}
	if !ok {
		return answer.Verdict{Reason: answer.ReasonMalformed}, nil, false
	}
	switch {
	case err == answer.ErrReported:
		return answer.Verdict{Reason: answer.ReasonError}, z, true
	case err != nil:
		return answer.Verdict{Reason: answer.ReasonMalformed}, z, true
	case !last:
		return answer.Verdict{Reason: answer.ReasonIncomplete}, z, true
	}
	object, err := merger.Object()
	if err != nil {
		return answer.Verdict{Reason: answer.ReasonMalformed}, z, true
	}
	v = answer.Judge(form, false, []byte(object.Raw))
	prover := form.Streams.Prover(object)
	for _, r := range events {
		_, unsaid := prover.Add(r)
		err = cmp.Or(err, unsaid)
	}
	if _, unsaid := prover.Object(); cmp.Or(err, unsaid) != nil {
		v.Text = ""
	}
	return v, z, true
}

// keeps keeps every answer that is not an error.
type keeps struct{}

func (keeps) Judge(gjson.Result, []byte) (v answer.Verdict) { return v }

// mutated changes a byte or exchanges a piece of a stream with another one.
func mutated(rng *rand.Rand, body string) string {
	if body == "" {
		return body
	}
	b := []byte(body)
	switch at := rng.IntN(len(b)); rng.IntN(4) {
	case 0:
		b[at] = `"\{}[],: 0aA1`[rng.IntN(13)]
	case 1:
		b = append(b[:at:at], b[min(at+1+rng.IntN(3), len(b)):]...)
	case 2:
		events := strings.SplitAfter(body, "\n\n")
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		return strings.Join(events, "")
	default:
		return body[:at] + string("\\\"{}\n\r\x00\xff"[rng.IntN(8)]) + body[at:]
	}
	return string(b)
}

// drawnStream is a stream whose events differ in one place or in several.
func drawnStream(rng *rand.Rand) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	text := func() string {
		return pick("word", " more", "", `\n`, `\"`, `\\`, "ü", "😀", `\u00e9`, `\ud83d\ude00`, `\ud83d`, `x\u0000y`, "{", "}", ",", ":", `\q`, "usage", "A much longer piece of text")
	}
	odd := func(of ...string) string {
		if rng.IntN(8) == 0 {
			return pick(of...)
		}
		return of[0]
	}
	var b strings.Builder
	member, newline := pick("content", "content", "content", "reasoning", "name", "role", "x"), odd("\n", "\r\n")
	padded, usage := rng.IntN(2) == 0, odd("", `,"usage":null`, ` , "usage" : null`)
	for range 2 + rng.IntN(12) {
		pad := ""
		if padded {
			pad = fmt.Sprintf(`,"obfuscation":"%s"`, text())
		}
		var data string
		switch odd("chat", "responses", "text", "twice") {
		case "chat":
			data = fmt.Sprintf(`{"id":"%s","created":%s,"choices":[{"index":%s,"delta":{"%s":"%s"},"logprobs":%s,"finish_reason":%s}]%s%s}`, odd("a", "b"), odd("17", "0"),
				odd("0", "1"), odd(member, "content"), text(), odd("null", `{"content":[1]}`), odd("null", `"stop"`), usage, pad)
		case "responses":
			data = fmt.Sprintf(`{"type":"response.output_text.delta","sequence_number":%d,"response_id":"r","delta":"%s"%s}`, rng.IntN(2000), text(), pad)
		case "text":
			data = fmt.Sprintf(`{"id":"a","choices":[{"text":"%s","index":0}]%s}`, text(), pad)
		case "twice":
			data = fmt.Sprintf(`{"id":"a","choices":[{"index":0,"delta":{"content":"%s"}},{"index":0,"delta":{"content":"%s"}}]}`, text(), text())
		}
		b.WriteString(odd("", "event: x"+newline, ": comment"+newline) + odd("data: ", "data:", "data: {\ndata:") + data + newline + newline)
	}
	b.WriteString(`data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + newline + newline)
	b.WriteString(odd("", `data: {"id":"a","choices":[],"usage":{"prompt_tokens":3}}`+newline+newline))
	b.WriteString(odd(`data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","content":[{"text":"x"}]}]}}`+newline+newline, ""))
	return b.String() + odd("data: [DONE]"+newline+newline, "")
}
