package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/proxy/api/anthropic"
	"reprise/proxy/api/openai"
)

// TestKeepalive: comments come while nothing else does, before the beginning of a stream and between its events, never inside one, and
// never in an answer that is no stream.
func TestKeepalive(t *testing.T) {
	say := func(w http.ResponseWriter, text string) {
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
	}
	stream := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("X-Request-Id", "1")
	}
	const second = time.Second
	for _, tc := range []struct {
		name   string
		asks   bool // for a stream
		answer func(w http.ResponseWriter)
		status int
		want   string // with * for a comment
	}{
		{"quick", true, func(w http.ResponseWriter) { stream(w); say(w, "data: 1\n\n") }, 200, "data: 1\n\n"},
		{"a late beginning", true, func(w http.ResponseWriter) { time.Sleep(5 * second / 2); stream(w); say(w, "data: 1\n\n") }, 200, "**data: 1\n\n"},
		{"pauses", true, func(w http.ResponseWriter) {
			stream(w)
			w.WriteHeader(200)
			time.Sleep(3 * second / 2)
			say(w, "data: 1\n\n")
			time.Sleep(5 * second / 2)
			say(w, "data: 2\r\n\r\n")
			time.Sleep(3 * second / 2)
			say(w, "data: 3\n\n")
		}, 200, "*data: 1\n\n**data: 2\r\n\r\n*data: 3\n\n"},
		{"a pause inside an event", true, func(w http.ResponseWriter) {
			stream(w)
			for _, part := range []string{"data", ": 1", "\n", "\n"} {
				say(w, part)
				time.Sleep(3 * second / 2)
			}
			say(w, "data: 2\n\n")
		}, 200, "data: 1\n\n*data: 2\n\n"},
		{"small parts restart the time", true, func(w http.ResponseWriter) {
			stream(w)
			for range 5 {
				say(w, "data: 1\n\n")
				time.Sleep(second * 3 / 4)
			}
		}, 200, strings.Repeat("data: 1\n\n", 5)},
		{"a stream that was not asked for", false, func(w http.ResponseWriter) {
			time.Sleep(3 * second)
			stream(w)
			say(w, "data: 1\n\n")
			time.Sleep(3 * second / 2)
		}, 200, "data: 1\n\n*"},
		{"no stream", false, func(w http.ResponseWriter) { time.Sleep(3 * second); say(w, "{}"); time.Sleep(3 * second) }, 200, "{}"},
		{"a quick error", true, func(w http.ResponseWriter) { w.WriteHeader(429); say(w, `{"error":1}`); time.Sleep(3 * second) }, 429, `{"error":1}`},
		{"a late error", true, func(w http.ResponseWriter) {
			time.Sleep(3 * second / 2)
			w.WriteHeader(429)
			say(w, "{\n \"error\": 1\n}\n")
			time.Sleep(3 * second)
		}, 200,
			"*data: {\"error\":1}\n\n"},
		{"a late error in other words", true, func(w http.ResponseWriter) { time.Sleep(3 * second / 2); w.WriteHeader(502); say(w, "<html>") }, 200,
			`*data: {"error":{"message":"The upstream answered with status 502.","type":"upstream_error","param":null,"code":"upstream_status"}}` + "\n\n"},
		{"a stream of a known length", true, func(w http.ResponseWriter) {
			stream(w)
			w.Header().Set("Content-Length", "18")
			say(w, "data: 1\n\n")
			time.Sleep(3 * second)
			say(w, "data: 2\n\n")
		}, 200, "data: 1\n\ndata: 2\n\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, got := &Server{opts: Options{Keepalive: second}}, httptest.NewRecorder()
			s.keepingAlive(func(w http.ResponseWriter, r *http.Request) {
				if tc.asks {
					awaitStream(w)
				}
				tc.answer(w)
			}, &openai.Chat)(got, httptest.NewRequest("POST", "/", nil))
			time.Sleep(time.Minute) // nothing comes after the end
			if text := strings.ReplaceAll(got.Body.String(), comment, "*"); text != tc.want || got.Code != tc.status {
				t.Errorf("%s: %d %q, want %d %q", tc.name, got.Code, text, tc.status, tc.want)
			}
			if tc.name == "quick" && got.Header().Get("X-Request-Id") != "1" {
				t.Errorf("header %v", got.Header())
			}
		})
	}
}

// TestLateErrorOfMessages: Anthropic's libraries overlook an event without a name.
func TestLateErrorOfMessages(t *testing.T) {
	const inWords = `event: error` + "\n" + `data: {"type":"error","error":{"type":"rate_limit_error","message":"The upstream answered with status 429."},"request_id":null}` + "\n\n"
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{429, `{"type": "error"}`, "event: error\ndata: {\"type\":\"error\"}\n\n"},
		{429, "<html>", inWords},
		{200, "<html>", strings.NewReplacer("rate_limit_error", "api_error", "429", "200").Replace(inWords)},
		{200, `{"type": "message"}`, "data: {\"type\":\"message\"}\n\n"},
	} {
		if got := string(asEvent(&anthropic.Messages, c.status, []byte(c.body))); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.status, c.body, got, c.want)
		}
	}
}

// TestKeepaliveAfterACut: an answer that was cut is not completed by an event.
func TestKeepaliveAfterACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, got := &Server{opts: Options{Keepalive: time.Second}}, httptest.NewRecorder()
		defer func() {
			if recover() != http.ErrAbortHandler || got.Body.String() != comment {
				t.Errorf("%q", got.Body)
			}
		}()
		s.keepingAlive(func(w http.ResponseWriter, r *http.Request) {
			awaitStream(w)
			time.Sleep(3 * time.Second / 2)
			w.WriteHeader(500)
			io.WriteString(w, `{"error":1}`)
			panic(http.ErrAbortHandler)
		}, &openai.Chat)(got, httptest.NewRequest("POST", "/", nil))
	})
}

// TestKeepaliveIsNotKept: an answer to which comments were written is stored without them, and a client that comes later gets
// none. The upstream waits until its client has read them.
func TestKeepaliveIsNotKept(t *testing.T) {
	up := newStage()
	r := newRigAt(t, nil, up, func(o *Options) { o.Keepalive = 10 * time.Millisecond })
	goOn, seen := make(chan bool), make(chan string, 1)
	body := chat(capital, `"stream":true`)
	go func() {
		in, _ := r.open(t, t.Context(), body)
		var text string
		for _, until := range []string{comment, event("one") + comment} { // the second one comes after the event
			for !strings.Contains(text, until) {
				line, err := in.ReadString('\n')
				if text += line; err != nil {
					seen <- text
					return
				}
			}
			goOn <- true
		}
		rest, _ := io.ReadAll(in)
		seen <- text + string(rest)
	}()
	within(t, up.arrived, "the upstream call")
	up.script <- func(w http.ResponseWriter) {
		within(t, goOn, "a comment before the answer")
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("one"))
		http.NewResponseController(w).Flush()
		within(t, goOn, "a comment within the answer")
		io.WriteString(w, lastEvents)
	}
	if got := within(t, seen, "the answer"); strings.Count(got, comment) < 2 || streamedText(strings.ReplaceAll(got, comment, "")) != "one" {
		t.Errorf("%q", got)
	}
	if got := r.ask(t, "/v1/chat/completions", body); got.cache() != "exact" || strings.Contains(got.body, "keepalive") || streamedText(got.body) != "one" {
		t.Errorf("%s %q", got.cache(), got.body)
	}
}
