package accesslog

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reprise/proxy/observe"
	"reprise/store"
)

var at = time.Date(2026, 11, 23, 4, 30, 0, 7e6, time.UTC)

// full has every field.
var full = observe.Outcome{Answered: true, At: at, ID: "req-1", UpstreamID: "up-2", Tenant: "00ff", Model: "gpt-4o", Endpoint: "chat", Result: observe.Semantic, Header: reason("semantic;topic=17"),
	Upstream: "a", Band: 95, Status: 200, Bytes: 1219, Took: 1_234_567 * time.Nanosecond, Waited: 2 * time.Second, Entry: &store.Entry{InputTokens: 300, OutputTokens: 10}, Stream: true}

// reason is the header of an answer with a reason.
func reason(why string) http.Header {
	return http.Header{"Cache-Status": {`reprise; fwd=miss; detail="` + why + `"`}}
}

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		name, text, json string
		line             observe.Outcome
	}{
		{"full", `time=2026-11-23T04:30:00.007Z level=INFO msg=access request_id=req-1 tenant=00ff endpoint=chat model=gpt-4o result=semantic why="semantic;topic=17" similarity_from=0.95 status=200 bytes=1219 stream=true duration_ms=1.234 upstream_ms=2000.000 tokens_saved=310 upstream=a upstream_request_id=up-2`,
			`{"time":"2026-11-23T04:30:00.007Z","level":"INFO","msg":"access","request_id":"req-1","tenant":"00ff","endpoint":"chat","model":"gpt-4o","result":"semantic","why":"semantic;topic=17","similarity_from":0.95,"status":200,"bytes":1219,"stream":true,"duration_ms":1.234,"upstream_ms":2000.000,"tokens_saved":310,"upstream":"a","upstream_request_id":"up-2"}`, full},
		{"empty", `time=2026-11-23T04:30:00.007Z level=INFO msg=access endpoint=/ result=exact status=0 bytes=0 duration_ms=0.000`,
			`{"time":"2026-11-23T04:30:00.007Z","level":"INFO","msg":"access","endpoint":"/","result":"exact","status":0,"bytes":0,"duration_ms":0.000}`, observe.Outcome{At: at}},
		{"a time before the start", `time=2026-11-23T04:30:00.007Z level=INFO msg=access endpoint=/ result=exact status=0 bytes=0 duration_ms=0.000`,
			`{"time":"2026-11-23T04:30:00.007Z","level":"INFO","msg":"access","endpoint":"/","result":"exact","status":0,"bytes":0,"duration_ms":0.000}`, observe.Outcome{At: at, Took: -time.Second}},
	} {
		if got := string(appendText(nil, &tc.line, new(clock))); got != tc.text+"\n" {
			t.Errorf("%s:\n%s\n%s", tc.name, got, tc.text)
		}
		if got := string(appendJSON(nil, &tc.line, new(clock))); got != tc.json+"\n" {
			t.Errorf("%s:\n%s\n%s", tc.name, got, tc.json)
		}
	}
}

// hostile are texts that a client may send as the name of a model or as the id of a request.
var hostile = []string{"a\nb", "a\r\nlevel=ERROR msg=forged", "\x1b[2J\x1b]0;x\x07", `"} {"level":"ERROR","msg":"forged"}`, `a\`, `a\"b`, "a b=c", "\x00\x7f", "\u2028\u2029\u0085",
	"\u202ereversed", "é", "\U0001f600", "\xff\xfe", "\xed\xa0\x80", strings.Repeat("x", 1<<20), strings.Repeat("\n", 1<<20), strings.Repeat("\U0001f600", 1<<18)}

// check fails unless l is one line in both forms, printable, short, and of a form that readers of logs understand.
func check(t *testing.T, l *observe.Outcome) {
	t.Helper()
	text, object := appendText(nil, l, new(clock)), appendJSON(nil, l, new(clock))
	for _, line := range [][]byte{text, object} {
		body, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended || len(line) > 10<<10 || bytes.ContainsFunc(body, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q", line[:min(len(line), 300)])
		}
	}
	var read map[string]any
	if err := json.Unmarshal(object, &read); err != nil {
		t.Fatalf("%v: %q", err, object[:min(len(object), 300)])
	}
	if l.Model != "" && len(l.Model) <= mostText && utf8.ValidString(l.Model) && read["model"] != l.Model {
		t.Errorf("model %q is read as %q", l.Model, read["model"])
	}
	if read["msg"] != "access" || read["level"] != "INFO" {
		t.Errorf("forged: %v", read)
	}
}

func TestHostileTexts(t *testing.T) {
	for _, s := range hostile {
		check(t, &observe.Outcome{At: at, ID: s, UpstreamID: s, Tenant: s, Model: s, Endpoint: s, Header: reason(s), Upstream: s})
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range hostile {
		f.Add(s[:min(len(s), 1000)], s[:min(len(s), 500)])
	}
	f.Fuzz(func(t *testing.T, model, why string) {
		check(t, &observe.Outcome{At: at, Model: model, Header: reason(why)})
	})
}

// TestLikeSlog: where slog leaves a text as it is or quotes it, a line does the same, so that one parser reads both.
func TestLikeSlog(t *testing.T) {
	for _, s := range []string{"plain", "with space", `quo"te`, "a=b", `back\slash`, "new\nline", "semantic;topic=17", "tab\t"} {
		var want bytes.Buffer
		slog.New(slog.NewTextHandler(&want, nil)).Info("access", "model", s)
		_, field, _ := strings.Cut(strings.TrimSpace(want.String()), " model=")
		if got := string(appendQuoted(nil, s)); got != field {
			t.Errorf("%q: %s, but slog writes %s", s, got, field)
		}
		quoted, _ := json.Marshal(s)
		var back, wanted string
		if json.Unmarshal(appendJSONString(nil, s), &back) != nil || json.Unmarshal(quoted, &wanted) != nil || back != wanted {
			t.Errorf("%q: %q", s, back)
		}
	}
}

// TestClock: times are those of time.Format, in every zone and at the ends of a second.
func TestClock(t *testing.T) {
	var c clock
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 5*3600+1800), time.FixedZone("", -3*3600), time.Local} {
		for _, ns := range []int64{0, 999_999, 1e6, 999_999_999, 1e9, 86400e9 - 1, 86400e9, -1} {
			at := time.Unix(1_795_000_000, ns).In(zone)
			if got, want := string(c.appendTime(nil, at)), at.Format("2006-01-02T15:04:05.000Z07:00"); got != want {
				t.Errorf("%s, not %s", got, want)
			}
		}
	}
}

func TestLevel(t *testing.T) {
	var out lines
	w, on := NewWriter(&out, true), true
	log := New(Options{Out: w, JSON: true, Enabled: func() bool { return on }})
	log.Ended(&observe.Outcome{Answered: true, ID: "a"})
	on = false
	log.Ended(&observe.Outcome{Answered: true, ID: "b"})
	(*Log)(nil).Ended(&observe.Outcome{Answered: true})
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"a"`) {
		t.Errorf("written: %s", got)
	}
}

func TestNoAllocation(t *testing.T) {
	buf, c := make([]byte, 0, 4<<10), clock{}
	for name, run := range map[string]func(){"text": func() { appendText(buf, &full, &c) }, "json": func() { appendJSON(buf, &full, &c) }} {
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
