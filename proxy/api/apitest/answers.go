package apitest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api"
)

// suite checks the answers of one API.
type suite struct {
	*api.Family
	answers []Answer
	update  bool
}

func (x suite) freeze(t *testing.T, a Answer) *answer.Frozen {
	t.Helper()
	z, err := answer.Freeze(x.Answers, a.ContentType, a.Body)
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	return z
}

func replay(t *testing.T, z *answer.Frozen, o answer.ReplayOptions) []byte {
	t.Helper()
	b, contentType, err := z.Replay(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if z.Form.Streams != nil && answer.IsStream(contentType) != o.Stream {
		t.Fatalf("content type %q for stream %v", contentType, o.Stream)
	}
	return b
}

// other returns z in its other form.
func (x suite) other(t *testing.T, z *answer.Frozen) *answer.Frozen {
	t.Helper()
	contentType := "application/json"
	if !z.Stream {
		contentType = "text/event-stream; charset=utf-8"
	}
	body := replay(t, z, answer.ReplayOptions{Stream: !z.Stream, IncludeUsage: true})
	return x.freeze(t, Answer{contentType, !z.Stream, contentType, body})
}

func (x suite) testVerdicts(t *testing.T, verdicts map[string]answer.Verdict) {
	for _, a := range x.answers {
		want, ok := verdicts[a.Name]
		if !ok {
			t.Errorf("%s: no verdict is expected of it", a.Name)
		}
		if got := answer.Judge(x.Answers, a.Stream, a.Body); got != want {
			t.Errorf("%s: %+v, want %+v", a.Name, got, want)
		}
		if x.Answers.Streams == nil {
			continue
		}
		z := x.freeze(t, a)
		if !z.Converts() {
			continue
		}
		other := x.other(t, z)
		if got := answer.Judge(x.Answers, other.Stream, other.Body); got != want {
			t.Errorf("%s converted: %+v, want %+v", a.Name, got, want)
		}
	}
}

// testCutAnywhere: a stream or object that ends early, at whatever byte, is never kept, and has not ended.
func (x suite) testCutAnywhere(t *testing.T) {
	for _, a := range x.answers {
		body := []byte(strings.TrimRight(string(a.Body), " \n"))
		if a.Stream {
			body = a.Body
			if !x.Answers.Ended(true, body) {
				t.Errorf("%s has not ended", a.Name)
			}
		}
		for cut := range body {
			if rest := bytes.TrimSpace(a.Body[cut:]); a.Stream && len(rest) > 0 && x.Answers.Ended(true, body[:cut]) {
				t.Fatalf("%s cut at %d of %d has ended before %q", a.Name, cut, len(body), rest)
			}
			if v := answer.Judge(x.Answers, a.Stream, body[:cut]); v.Keep || v.Reason == answer.ReasonToolCalls || v.Reason == answer.ReasonLiveWeb {
				t.Fatalf("%s cut at %d of %d: %+v", a.Name, cut, len(body), v)
			}
		}
	}
}

// originalID is the id in a recorded answer, "" where it has none.
func originalID(z *answer.Frozen) (id string) {
	for _, s := range z.Slots {
		if s.Kind == answer.SlotID && s.Len > len(`""`) {
			id = strings.Trim(string(z.Body[s.Off:][:s.Len]), `"`)
		}
	}
	return id
}

func (x suite) testSameForm(t *testing.T) {
	for _, a := range x.answers {
		z := x.freeze(t, a)
		if got := replay(t, z, answer.ReplayOptions{Stream: a.Stream, IncludeUsage: true}); !bytes.Equal(got, z.Body) {
			t.Errorf("%s without a new id:\n%s\nwant\n%s", a.Name, got, z.Body)
		}
		// Only ids and times differ: put back, they make the original.
		got := string(replay(t, z, answer.ReplayOptions{ID: "new-id", Created: 1800000000, Stream: a.Stream, IncludeUsage: true}))
		id := originalID(z)
		back := strings.NewReplacer("new-id", id, "1800000000", "1700000001").Replace(got)
		want := strings.NewReplacer("1700000002", "1700000001", `"id":"","model"`, `"id":"`+id+`","model"`, `"created":0`, `"created":1700000001`).
			Replace(string(z.Body))
		if back != want {
			t.Errorf("%s:\n%s\nwant\n%s", a.Name, back, want)
		}
		if x.ReplayID([12]byte{1}, id) != "" && !strings.Contains(got, "new-id") {
			t.Errorf("%s has no new id", a.Name)
		}
	}
}

func (x suite) testOtherForm(t *testing.T) {
	for _, a := range x.answers {
		t.Run(a.Name, func(t *testing.T) {
			z := x.freeze(t, a)
			got, _, err := z.Replay(nil, answer.ReplayOptions{ID: "new-id", Created: 1800000000, Stream: !a.Stream, IncludeUsage: true})
			if (err == nil) != z.Converts() {
				t.Errorf("converts %v, %v", z.Converts(), err)
			}
			if err != nil {
				got = []byte(err.Error() + "\n")
			}
			golden(t, filepath.Join("testdata", x.Name, "answers", a.Name+".golden"), string(got), x.update)
		})
	}
}

// testStable: an answer that went through both forms, and again, says the same; from the second time on in the same bytes.
func (x suite) testStable(t *testing.T) {
	for _, a := range x.answers {
		forms := [][]byte{a.Body}
		z := x.freeze(t, a)
		if !z.Converts() {
			continue
		}
		for range 5 {
			z = x.other(t, z)
			forms = append(forms, z.Body)
		}
		for i := 4; i < len(forms); i++ {
			if string(forms[i]) != string(forms[i-2]) {
				t.Errorf("%s: form %d is\n%s\nform %d was\n%s", a.Name, i, forms[i], i-2, forms[i-2])
			}
		}
		first, again := forms[1], forms[3]
		if !a.Stream {
			first, again = forms[2], forms[4]
		}
		if !reflect.DeepEqual(decoded(t, first), decoded(t, again)) {
			t.Errorf("%s: object\n%s\nbecame\n%s", a.Name, first, again)
		}
	}
}

func decoded(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

// testObjectSurvives: a finished answer becomes a stream and comes back with all its members.
func (x suite) testObjectSurvives(t *testing.T) {
	for _, a := range x.answers {
		if a.Stream {
			continue
		}
		back := x.other(t, x.other(t, x.freeze(t, a)))
		if !reflect.DeepEqual(decoded(t, back.Body), decoded(t, a.Body)) {
			t.Errorf("%s came back as\n%s", a.Name, back.Body)
		}
	}
}

// testUsageFilter: wherever the stream is cut in two, the filter passes what a replay without usage has. A stream with an
// event over several lines is not frozen as it is.
func (x suite) testUsageFilter(t *testing.T) {
	for _, a := range x.answers {
		z := x.freeze(t, a)
		if !a.Stream || !bytes.Equal(z.Body, a.Body) {
			continue
		}
		want := replay(t, z, answer.ReplayOptions{Stream: true})
		for n := 1; n <= len(a.Body); n++ {
			f := answer.UsageFilter{Streams: x.Answers.Streams}
			var got []byte
			for at := 0; at < len(a.Body); at += n {
				got = append(got, f.Write(a.Body[at:min(at+n, len(a.Body))])...)
			}
			if got = append(got, f.Rest()...); !bytes.Equal(got, want) {
				t.Fatalf("%s in pieces of %d:\n%s\nwant\n%s", a.Name, n, got, want)
			}
		}
	}
}

// Judge checks the verdicts of an API on answers: the reason not to keep each, "" where it is kept.
func Judge(t *testing.T, f api.Family, cases []struct {
	Name         string
	Stream       bool
	Body, Reason string
}) {
	t.Helper()
	for _, c := range cases {
		if v := answer.Judge(f.Answers, c.Stream, []byte(c.Body)); v.Reason != c.Reason || v.Keep != (c.Reason == "") {
			t.Errorf("%s: keep %v, reason %q, want %q", c.Name, v.Keep, v.Reason, c.Reason)
		}
	}
}

// Convert checks what streams of an API become as objects: Want is the object, and "" where a stream does not become one.
func Convert(t *testing.T, f api.Family, cases []struct{ Name, Body, Want string }) {
	t.Helper()
	contentType := "text/event-stream"
	if f.Answers.Lines {
		contentType = "application/x-ndjson"
	}
	for _, c := range cases {
		z, err := answer.Freeze(f.Answers, contentType, []byte(c.Body))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		got, _, err := z.Replay(nil, answer.ReplayOptions{})
		switch {
		case z.Converts() != (c.Want != "") || (err == nil) != (c.Want != ""):
			t.Errorf("%s: converts %v, %v, and is\n%s", c.Name, z.Converts(), err, got)
		case err == nil && !reflect.DeepEqual(decoded(t, got), decoded(t, []byte(c.Want))):
			t.Errorf("%s:\n%s\nwant\n%s", c.Name, got, c.Want)
		}
	}
}
