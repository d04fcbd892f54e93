package answer_test

import (
	"bytes"
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/registry"
)

func TestReplayRewrites(t *testing.T) {
	o := answer.ReplayOptions{ID: "N", Created: 7}
	// finished is the last chunk but one of a stream of llama.cpp.
	const finished = "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"system_fingerprint\":\"b12-ab\"}\n\n"
	for _, c := range []struct {
		name, in, want string
		form           *answer.Form
		usage          bool
	}{
		{"white space and unknown fields", `{ "x" : 1.0, "id" : "a" ,"created": 1e3, "choices":[{"id":"c"}] }`,
			`{ "x" : 1.0, "id" : "N" ,"created": 7, "choices":[{"id":"c"}] }`, chat, false},
		{"no id", `{"created":null,"id":null}`, `{"created":null,"id":null}`, chat, false},
		{"response", `{"id":"a","output":[{"id":"b"}],"created_at":1.5,"completed_at":2,"previous_response_id":"p"}`,
			`{"id":"N","output":[{"id":"b"}],"created_at":7,"completed_at":7,"previous_response_id":"p"}`, responses, false},
		{"usage null", "data: {\"id\":\"a\",\"choices\":[{}],\"usage\":null}\n\n", "data: {\"id\":\"N\",\"choices\":[{}]}\n\n", chat, false},
		{"usage null first", "data: {\"usage\" : null , \"id\":\"a\",\"choices\":[{}]}\n\n", "data: { \"id\":\"N\",\"choices\":[{}]}\n\n", chat, false},
		{"usage null alone", "data: {\"usage\":null}\n\n", "data: {}\n\n", chat, false},
		{"usage null thrice", "data: {\"usage\":null,\"usage\":null,\"usage\":null}\n\n", "data: {}\n\n", chat, false},
		{"usage null wanted", "data: {\"choices\":[{}],\"usage\":null}\n\n", "data: {\"choices\":[{}],\"usage\":null}\n\n", chat, true},
		{"usage event", ": a\n\ndata: {\"id\":\"a\",\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n", ": a\n\ndata: [DONE]\n\n", chat, false},
		{"usage and more", "data: {\"citations\":[1],\"usage\":{} , \"id\":\"a\",\"choices\":[]}\n\n", "data: {\"citations\":[1] , \"id\":\"N\",\"choices\":[]}\n\n", chat, false},
		{"usage first and more", "data: {\"usage\":{},\"citations\":[1],\"choices\":[]}\n\n", "data: {\"citations\":[1],\"choices\":[]}\n\n", chat, false},
		{"usage and nothing that counts", "data: {\"usage\":{},\"citations\":null,\"service_tier\":\"x\",\"obfuscation\":\"y\",\"choices\":[]}\n\n", "", chat, false},
		{"usage null of SGLang", "data: {\"choices\":[{\"matched_stop\":null}],\"usage\":null}\n\n", "data: {\"choices\":[{\"matched_stop\":null}],\"usage\":null}\n\n", chat, false},
		{"text about SGLang", "data: {\"choices\":[{\"text\":\"\\\"matched_stop\\\":\"}],\"usage\":null}\n\n", "data: {\"choices\":[{\"text\":\"\\\"matched_stop\\\":\"}]}\n\n", chat, false},
		{"timings", finished + "data: {\"choices\":[],\"a\":[1], \"usage\":{},\"created\":5,\"timings\":{\"x\" : 1}}\n\ndata: [DONE]\n\n",
			strings.TrimSuffix(finished, "}\n\n") + ",\"a\":[1],\"timings\":{\"x\" : 1}}\n\ndata: [DONE]\n\n", chat, false},
		{"timings, wanted", finished + "data: {\"choices\":[],\"usage\":{},\"timings\":{}}\n\n", finished + "data: {\"choices\":[],\"usage\":{},\"timings\":{}}\n\n", chat, true},
		{"timings twice", strings.Repeat(finished+"data: {\"choices\":[],\"usage\":{},\"timings\":{}}\n\n", 2),
			strings.Repeat(strings.TrimSuffix(finished, "}\n\n")+",\"timings\":{}}\n\n", 2), chat, false},
		{"timings behind another chunk", finished + "data: {}\n\ndata: {\"choices\":[],\"usage\":{},\"timings\":{}}\n\n",
			finished + "data: {}\n\ndata: {\"choices\":[],\"timings\":{}}\n\n", chat, false},
		{"usage event wanted", "data: {\"id\":\"a\",\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n",
			"data: {\"id\":\"N\",\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n", completions, true},
		{"usage beside a choice", "data: {\"choices\":[{}],\"usage\":{}}\n\n", "data: {\"choices\":[{}],\"usage\":{}}\n\n", chat, false},
		{"events of a response", "event: e\r\ndata: {\"type\":\"t\",\"id\":\"x\",\"response_id\":\"a\",\"response\":{\"id\":\"a\",\"usage\":null},\"item\":{\"id\":\"m\"}}\r\n\r\n",
			"event: e\r\ndata: {\"type\":\"t\",\"id\":\"x\",\"response_id\":\"N\",\"response\":{\"id\":\"N\",\"usage\":null},\"item\":{\"id\":\"m\"}}\r\n\r\n", responses, false},
		{"unfinished event", "data: {\"id\":\"a\"}\n\ndata: {\"id\"", "data: {\"id\":\"N\"}\n\ndata: {\"id\"", chat, false},
	} {
		contentType := typeJSON
		if !strings.HasPrefix(c.in, "{") {
			contentType = "Text/Event-Stream ; charset=utf-8"
		}
		z, err := answer.Freeze(c.form, contentType, []byte(c.in))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		o.Stream, o.IncludeUsage = z.Stream, c.usage
		if got := replay(t, z, o); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if again := replay(t, z, o); string(again) != c.want || string(z.Body) != c.in {
			t.Errorf("%s: a replay changed the answer", c.name)
		}
	}
}

func TestReplayKeepsWhatDstHolds(t *testing.T) {
	z := chatText(t, false)
	got, contentType, err := z.Replay([]byte("before"), answer.ReplayOptions{ID: `we"ird`})
	if err != nil || contentType != typeJSON || !bytes.HasPrefix(got, []byte("before{")) || !bytes.Contains(got, []byte(`"we\"ird"`)) {
		t.Errorf("%s, %q, %v", got, contentType, err)
	}
	stream, err := answer.Freeze(chat, typeStream, []byte("data: {\"choices\":[]}\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := stream.Replay([]byte("x"), answer.ReplayOptions{}); err == nil || string(got) != "x" {
		t.Errorf("an unfinished stream became %q, error %v", got, err)
	}
	if !z.Converts() || stream.Converts() {
		t.Errorf("an object converts %v, an unfinished stream %v", z.Converts(), stream.Converts())
	}
}

func TestFreezeRefuses(t *testing.T) {
	for _, c := range []struct{ contentType, body string }{
		{typeJSON, ``}, {typeJSON, `[]`}, {typeJSON, `{"a":1`}, {typeJSON, `{} {}`}, {typeJSON, "data: {}\n\n"},
		{typeStream, "data: {\n\n"}, {typeStream, "data: 1\n\n"}, {typeStream, "data: [DONE] {\n\n"},
	} {
		if z, err := answer.Freeze(chat, c.contentType, []byte(c.body)); err == nil {
			t.Errorf("%s %q is frozen: %+v", c.contentType, c.body, z)
		}
	}
}

// Whatever can be frozen can be encoded and replayed in its form, and what a replay yields can be frozen again. A
// conversion may fail, but what it yields is an answer too.
func FuzzFreezeReplay(f *testing.F) {
	forms := make([]*answer.Form, 0, 4)
	for _, family := range registry.APIs.Families() {
		forms = append(forms, family.Answers)
	}
	for _, x := range fixtures(f) {
		f.Add(x.Answers.Code, x.Stream, x.Body)
	}
	f.Fuzz(func(t *testing.T, code byte, stream bool, body []byte) {
		form := forms[(int(code)+len(forms)-1)%len(forms)]
		contentType := typeJSON
		if stream {
			contentType = typeStream
		}
		v := answer.Judge(form, stream, body)
		z, err := answer.Freeze(form, contentType, body)
		if err != nil {
			return
		}
		decoded, err := registry.APIs.Decode(z.Encode(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []answer.ReplayOptions{{ID: "N", Created: 7}, {ID: "N", Stream: true}, {Created: 7, Stream: true, IncludeUsage: true}} {
			got, contentType, err := decoded.Replay(nil, o)
			if err != nil {
				if decoded.Stream == o.Stream {
					t.Errorf("replay of %q in its own form: %v", body, err)
				}
				continue
			}
			if _, err := answer.Freeze(z.Form, contentType, got); err != nil {
				t.Errorf("replay %+v of %q is %q: %v", o, body, got, err)
			}
		}
		if other, _, err := z.Replay(nil, answer.ReplayOptions{Stream: !stream, IncludeUsage: true}); err == nil && form.Streams != nil && v.Keep {
			if got := answer.Judge(form, !stream, other); got != v {
				t.Errorf("%q is %+v, and converted %+v: %q", body, v, got, other)
			}
		}
	})
}

// TestReplayAllocates: a replay in the stored form takes no memory beside what it is appended to, where no id links parts of a conversation.
func TestReplayAllocates(t *testing.T) {
	for _, z := range []*answer.Frozen{benchObject(t), benchStream(t)} {
		room := make([]byte, 0, 2*len(z.Body))
		o := answer.ReplayOptions{ID: "chatcmpl-N", Created: 7, Stream: z.Stream, Nonce: [12]byte{1}}
		if n := testing.AllocsPerRun(100, func() {
			if _, _, err := z.Replay(room, o); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("stream %v: %v allocations", z.Stream, n)
		}
	}
}
