package answer

import (
	"bytes"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

// ids are those of the fixtures.
var ids = map[canon.Family]string{canon.Chat: "chatcmpl-9aB", canon.Completions: "cmpl-7", canon.Responses: "resp_68a1"}

func TestReplayInTheSameForm(t *testing.T) {
	for _, x := range fixtures(t) {
		z := x.freeze(t)
		if got := replay(t, z, ReplayOptions{Stream: x.stream, IncludeUsage: true}); !bytes.Equal(got, z.Body) {
			t.Errorf("%s without a new id:\n%s\nwant\n%s", x.name, got, z.Body)
		}
		// Only ids and times differ: put back, they make the original.
		got := string(replay(t, z, ReplayOptions{ID: "new-id", Created: 1800000000, Stream: x.stream, IncludeUsage: true}))
		back := strings.NewReplacer("new-id", ids[x.family], "1800000000", "1700000001").Replace(got)
		want := strings.NewReplacer("1700000002", "1700000001", `"id":"","model"`, `"id":"chatcmpl-9aB","model"`, `"created":0`, `"created":1700000001`).
			Replace(string(z.Body))
		if back != want {
			t.Errorf("%s:\n%s\nwant\n%s", x.name, back, want)
		}
		if x.family != canon.Embeddings && !strings.Contains(got, "new-id") {
			t.Errorf("%s has no new id", x.name)
		}
	}
}

func TestReplayRewrites(t *testing.T) {
	o := ReplayOptions{ID: "N", Created: 7}
	for _, c := range []struct {
		name, in, want string
		family         canon.Family
		usage          bool
	}{
		{"white space and unknown fields", `{ "x" : 1.0, "id" : "a" ,"created": 1e3, "choices":[{"id":"c"}] }`,
			`{ "x" : 1.0, "id" : "N" ,"created": 7, "choices":[{"id":"c"}] }`, canon.Chat, false},
		{"no id", `{"created":null,"id":null}`, `{"created":null,"id":null}`, canon.Chat, false},
		{"response", `{"id":"a","output":[{"id":"b"}],"created_at":1.5,"completed_at":2,"previous_response_id":"p"}`,
			`{"id":"N","output":[{"id":"b"}],"created_at":7,"completed_at":7,"previous_response_id":"p"}`, canon.Responses, false},
		{"usage null", "data: {\"id\":\"a\",\"choices\":[{}],\"usage\":null}\n\n", "data: {\"id\":\"N\",\"choices\":[{}]}\n\n", canon.Chat, false},
		{"usage null first", "data: {\"usage\" : null , \"id\":\"a\",\"choices\":[{}]}\n\n", "data: { \"id\":\"N\",\"choices\":[{}]}\n\n", canon.Chat, false},
		{"usage null alone", "data: {\"usage\":null}\n\n", "data: {}\n\n", canon.Chat, false},
		{"usage null thrice", "data: {\"usage\":null,\"usage\":null,\"usage\":null}\n\n", "data: {}\n\n", canon.Chat, false},
		{"usage null wanted", "data: {\"choices\":[{}],\"usage\":null}\n\n", "data: {\"choices\":[{}],\"usage\":null}\n\n", canon.Chat, true},
		{"usage event", ": a\n\ndata: {\"id\":\"a\",\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n", ": a\n\ndata: [DONE]\n\n", canon.Chat, false},
		{"usage event wanted", "data: {\"id\":\"a\",\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n",
			"data: {\"id\":\"N\",\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n", canon.Completions, true},
		{"usage beside a choice", "data: {\"choices\":[{}],\"usage\":{}}\n\n", "data: {\"choices\":[{}],\"usage\":{}}\n\n", canon.Chat, false},
		{"events of a response", "event: e\r\ndata: {\"type\":\"t\",\"id\":\"x\",\"response_id\":\"a\",\"response\":{\"id\":\"a\",\"usage\":null},\"item\":{\"id\":\"m\"}}\r\n\r\n",
			"event: e\r\ndata: {\"type\":\"t\",\"id\":\"x\",\"response_id\":\"N\",\"response\":{\"id\":\"N\",\"usage\":null},\"item\":{\"id\":\"m\"}}\r\n\r\n", canon.Responses, false},
		{"unfinished event", "data: {\"id\":\"a\"}\n\ndata: {\"id\"", "data: {\"id\":\"N\"}\n\ndata: {\"id\"", canon.Chat, false},
	} {
		contentType := typeJSON
		if !strings.HasPrefix(c.in, "{") {
			contentType = "Text/Event-Stream ; charset=utf-8"
		}
		z, err := Freeze(c.family, contentType, []byte(c.in))
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
	z := fixtureNamed(t, "chat-text.json").freeze(t)
	got, contentType, err := z.Replay([]byte("before"), ReplayOptions{ID: `we"ird`})
	if err != nil || contentType != typeJSON || !bytes.HasPrefix(got, []byte("before{")) || !bytes.Contains(got, []byte(`"we\"ird"`)) {
		t.Errorf("%s, %q, %v", got, contentType, err)
	}
	stream, err := Freeze(canon.Chat, typeStream, []byte("data: {\"choices\":[]}\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := stream.Replay([]byte("x"), ReplayOptions{}); err == nil || string(got) != "x" {
		t.Errorf("an unfinished stream became %q, error %v", got, err)
	}
}

func TestFreezeRefuses(t *testing.T) {
	for _, c := range []struct{ contentType, body string }{
		{typeJSON, ``}, {typeJSON, `[]`}, {typeJSON, `{"a":1`}, {typeJSON, `{} {}`}, {typeJSON, "data: {}\n\n"},
		{typeStream, "data: {\n\n"}, {typeStream, "data: 1\n\n"}, {typeStream, "data: [DONE] {\n\n"},
	} {
		if z, err := Freeze(canon.Chat, c.contentType, []byte(c.body)); err == nil {
			t.Errorf("%s %q is frozen: %+v", c.contentType, c.body, z)
		}
	}
}

// Whatever can be frozen can be encoded and replayed in its form, and what a replay yields can be frozen again. A
// conversion may fail, but what it yields is an answer too.
func FuzzFreezeReplay(f *testing.F) {
	for _, x := range fixtures(f) {
		f.Add(byte(x.family), x.stream, x.body)
	}
	f.Fuzz(func(t *testing.T, family byte, stream bool, body []byte) {
		contentType := typeJSON
		if stream {
			contentType = typeStream
		}
		Judge(canon.Family(family), stream, body)
		z, err := Freeze(canon.Family(family), contentType, body)
		if err != nil {
			return
		}
		decoded, err := Decode(z.Encode(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []ReplayOptions{{ID: "N", Created: 7}, {ID: "N", Stream: true}, {Created: 7, Stream: true, IncludeUsage: true}} {
			got, contentType, err := decoded.Replay(nil, o)
			if err != nil {
				if decoded.Stream == o.Stream {
					t.Errorf("replay of %q in its own form: %v", body, err)
				}
				continue
			}
			if _, err := Freeze(z.Family, contentType, got); err != nil {
				t.Errorf("replay %+v of %q is %q: %v", o, body, got, err)
			}
		}
		if v := Judge(z.Family, stream, body); v.Keep && z.Family != canon.Embeddings {
			if _, err := z.convert(); err != nil {
				t.Errorf("%q is worth keeping and cannot be converted: %v", body, err)
			}
		}
	})
}
