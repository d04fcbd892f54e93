package upstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTableIsBounded: of many ids, the last ones and those that were found lately stay.
func TestIDTableIsBounded(t *testing.T) {
	table := newIDTable()
	table.add("", "used", 1)
	for i := range 5 * idGeneration {
		table.add("", fmt.Sprint("id-", i), i%7)
		if _, ok := table.find("", "used"); !ok {
			t.Fatalf("an id in use is gone after %d others", i)
		}
	}
	if held := len(table.now) + len(table.before); held > 2*idGeneration {
		t.Errorf("%d ids are held", held)
	}
	if m, ok := table.find("", fmt.Sprint("id-", 5*idGeneration-1)); !ok || m != (5*idGeneration-1)%7 {
		t.Errorf("the last id belongs to %d, %v", m, ok)
	}
	if _, ok := table.find("", "id-0"); ok {
		t.Error("the first id is still there")
	}
}

func TestObjectInPath(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/responses/resp_1": "resp_1 /v1/responses/resp_1", "/v1/responses/resp_1/cancel": "resp_1 /v1/responses/resp_1",
		"/v1/files/f/content": "f /v1/files/f", "/v1/fine_tuning/jobs/j/events": "j /v1/fine_tuning/jobs/j", "/v1/chat/completions/c": "c /v1/chat/completions/c",
		"/v1/messages/batches/b/results": "b /v1/messages/batches/b",
		"/v1/files/a%2Fb":                "a/b /v1/files/a%2Fb", "/v1/files/a%2fb%20c/content": "a/b c /v1/files/a%2fb%20c", "/v1/files/%zz": "",
		"/v1/responses": "", "/v1/responses/": "", "/v1/responses/input_tokens": "", "/v1/models/m": "", "/v1/responsesx/r": "", "/files/f": "", "/v1/chat/completions": "",
	} {
		l, ok := objectInPath(path)
		if got := strings.TrimSpace(l.id + " " + l.path); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", path, got, ok)
		}
	}
}

func TestCreates(t *testing.T) {
	for path, want := range map[string]bool{"/v1/responses": true, "/v1/files": true, "/v1/threads/runs": true, "/v1/chat/completions": true,
		"/v1/embeddings": false, "/v1/responses/r/cancel": false, "/files": false} {
		if creates(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

func TestObjectsInBody(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","previous_response_id":"resp_1"}`:                       "resp_1",
		`{"previous_response_id" : "resp_1", "x":1}`:                          "resp_1",
		`{"previous_response_id":null}`:                                       "",
		`{"conversation":{"id":"conv_1"}}`:                                    "conv_1",
		`{"conversation":{ "id" : "conv_1"}}`:                                 "conv_1",
		`{"conversation":{"a":1}}`:                                            "",
		`{"conversation":"conv_2"}`:                                           "conv_2",
		`{"input":[{"file_id":"f1"},{"file_id":"f2"}]}`:                       "f1 f2",
		`{"vector_store_ids":["vs_1","vs_2"]}`:                                "vs_1",
		`{"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]}`: "",
		`{"content":"say \"file_id\":\"f1\" twice"}`:                          "",
		`{"kind":"file_id"}`:                                                  "",
		`{"file_id":"../../admin"}`:                                           "",
		`{"file_id":"a/b"}`:                                                   "",
		`{"file_id":".."}`:                                                    "",
		`{"file_id":"` + strings.Repeat("x", 300) + `"}`:                      "",
		`{"file_id":"cut`:                                                     "",
		`{"file_id"`:                                                          "",
		`{"file_id":`:                                                         "",
		`{"conversation":{`:                                                   "",
		`{"input_file_id":"f3","completion_window":"24h","endpoint":"/v1/chat"}`: "f3",
	} {
		var got []string
		objectsInBody([]byte(body), func(l object) bool { got = append(got, l.id); return true })
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", body, text, want)
		}
	}
}

func TestObjectsInBodyAreBounded(t *testing.T) {
	n := 0
	objectsInBody([]byte(strings.Repeat(`"file_id":"f",`, 1000)), func(object) bool { n++; return true })
	if n != mostInBody {
		t.Errorf("%d ids of a body", n)
	}
	n = 0
	objectsInBody([]byte(strings.Repeat(`"file_id":"f",`, 1000)), func(object) bool { n++; return false })
	if n != 1 {
		t.Errorf("%d ids after the first one was enough", n)
	}
}

func TestIDsInAnswer(t *testing.T) {
	for head, want := range map[string]string{
		`{"id":"resp_1","object":"response"}`: "resp_1",
		`{"object":"batch","metadata":{"id":"of-a-client"},"id":"b1","output_file_id":"f1","error_file_id":null}`: "b1 f1",
		`{"metadata":{"id":"of-a-client"},"id":"b1`:                                                               "",
		`{"metadata":{"id":"of-a-client"`:                                                                         "",
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_2\",\"ob":      "resp_2",
		": ping\n\ndata: {\"response\":{\"id\":\"resp_2\"}}\n\ndata: {\"response\":{\"id\":\"resp_3\"}}\n\n":      "resp_2",
		"data: {\"id\":\"chatcmpl-1\"}\n\n":                                                                       "",
		"":                                                                                                        "", "event: x": "", "not json": "", `{"id":7}`: "",
	} {
		var got []string
		idsInAnswer([]byte(head), func(id string) { got = append(got, id) })
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", head, text, want)
		}
	}
}

// FuzzIDs: whatever a body is, an id taken from it can be a part of a path.
func FuzzIDs(f *testing.F) {
	f.Add([]byte(`{"conversation":{"id":"c"},"file_id":["f"],"previous_response_id":"r"}`))
	f.Add([]byte("data: {\"response\":{\"id\":\"r\"}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		check := func(id string) {
			if !isID([]byte(id)) {
				t.Errorf("%q is no id", id)
			}
		}
		objectsInBody(text, func(l object) bool { check(l.id); return true })
		idsInAnswer(text, check)
		if l, ok := objectInPath(string(text)); ok && (l.id == "" || !strings.HasSuffix(l.path, "/"+l.id) || slices.Contains(collections, l.id) && l.path == "/v1/"+l.id) {
			t.Errorf("%q: %+v", text, l)
		}
	})
}

func BenchmarkObjectsInBody(b *testing.B) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("The answer is of no importance. ", 1000) + `"}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		objectsInBody(body, func(object) bool { return true })
	}
}
