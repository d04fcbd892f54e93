package proxy

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// twoForms is an upstream whose answers are kept, and cannot be put into their other form. Each has the number of its call.
type twoForms struct {
	calls  atomic.Int64
	broken atomic.Bool // 503
	object atomic.Bool // it has no streams
}

func (u *twoForms) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := u.calls.Add(1)
	body, _ := io.ReadAll(r.Body)
	switch {
	case u.broken.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case gjson.GetBytes(body, "stream").Bool() && !u.object.Load():
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, onlyStream(fmt.Sprint("answer ", n)))
	default:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, onlyObject(fmt.Sprint("answer ", n)))
	}
}

// onlyStream is a stream that no object is made of: it has no usage, which objects of this API always have.
func onlyStream(text string) string {
	return event(text) + strings.Replace(lastEvents, usageEvent, "", 1)
}

// onlyObject is an answer that no stream is made of: each chunk would repeat the name of the model.
func onlyObject(text string) string {
	var members strings.Builder
	for i := range 3000 {
		members.WriteString(`"` + strconv.Itoa(i) + `":0,`)
	}
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"` + strings.Repeat("m", 50_000) + `","choices":[{"index":0,"finish_reason":"stop","message":{` +
		members.String() + `"role":"assistant","content":"` + text + `"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
}

// unproven is a stream of which no object says the same: it says two things of one member.
func unproven(text string) string {
	return strings.Replace(event(text), `}`, `,"score":1}`, 1) + strings.Replace(lastEvents, `"delta":{}`, `"delta":{"score":2}`, 1)
}

// formStep is a request for an object or a stream, and what comes of it.
type formStep struct {
	prompt, header string
	stream         bool
	want           string // X-Cache, and behind a blank the reason of a miss or the answer
}

func (s formStep) body() string {
	if s.stream {
		return chat(s.prompt, `"stream":true`)
	}
	return chat(s.prompt)
}

// said is the text of an answer in either form.
func said(t *testing.T, r reply) string {
	t.Helper()
	if strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		return streamedText(r.body)
	}
	return r.content(t)
}

func (r *rig) steps(t *testing.T, steps ...formStep) (last reply) {
	t.Helper()
	for i, s := range steps {
		got := r.ask(t, "/v1/chat/completions", s.body(), nonEmpty([]string{s.header})...)
		is := got.cache()
		switch {
		case is == "miss":
			is += " " + reasonOf(got)
		case got.status == http.StatusOK:
			is += " " + said(t, got)
			if streamed := strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream"); streamed != s.stream {
				t.Errorf("step %d: a stream %v", i, streamed)
			}
		}
		if is != s.want {
			t.Errorf("step %d, %+v: %d %s, %s", i, s, got.status, is, status(got))
		}
		last = got
	}
	return last
}

// TestBothForms: where an answer cannot be put into the form that a client asks for, the request is a miss with that reason, and its answer is
// kept beside the first one.
func TestBothForms(t *testing.T) {
	const refresh = "Cache-Control: no-cache"
	for name, c := range map[string]struct {
		steps []formStep
		calls int64
	}{
		"one after the other": {[]formStep{{capital, "", false, "miss new"}, {capital, "", true, "miss form"}, {capital, "", false, "exact answer 1"},
			{capital, "", true, "exact answer 2"}}, 2},
		"the stream first": {[]formStep{{capital, "", true, "miss new"}, {capital, "", false, "miss form"}, {capital, "", true, "exact answer 1"},
			{capital, "", false, "exact answer 2"}}, 2},
		"in other words": {[]formStep{{capital, "", false, "miss new"}, {similar, "", true, "miss form"}, {similar, "", true, "exact answer 2"},
			{similar, "", false, "exact answer 1"}, {similar, "", true, "exact answer 2"}, {capital, "", true, "miss form"}}, 3},
		"the first is renewed": {[]formStep{{capital, "", false, "miss new"}, {capital, "", true, "miss form"}, {capital, refresh, false, "miss request"},
			{capital, "", true, "miss form"}, {capital, "", true, "exact answer 4"}, {capital, "", false, "exact answer 3"}}, 4},
		"the first is renewed in the other form": {[]formStep{{capital, "", false, "miss new"}, {capital, "", true, "miss form"},
			{capital, refresh, true, "miss request"}, {capital, "", true, "exact answer 3"}}, 3},
		"only if cached": {[]formStep{{capital, "", false, "miss new"}, {capital, "Cache-Control: only-if-cached", true, "error"}, {capital, "", true, "miss form"},
			{capital, "Cache-Control: only-if-cached", true, "exact answer 2"}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			up := &twoForms{}
			newRigAt(t, nil, up).steps(t, c.steps...)
			if n := up.calls.Load(); n != c.calls {
				t.Errorf("%d upstream calls, want %d", n, c.calls)
			}
		})
	}
}

// TestUnprovenStream: a stream of which no object says the same serves equal requests alone, because its text is not known: no other words,
// and no conversation that quotes it.
func TestUnprovenStream(t *testing.T) {
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writes("text/event-stream", unproven("answer"))(w)
	}))
	r.steps(t, formStep{capital, "", true, "miss new"}, formStep{similar, "", true, "miss exact-only"}, formStep{similar, "", true, "exact answer"})
	last := r.steps(t, formStep{capital, "", true, "exact answer"})
	if e, ok := r.store.Get(entryOf(t, last)); !ok || e.Prompt != "" || e.Vector != nil || e.AnswerHash != [32]byte{} {
		t.Errorf("kept with the prompt %q, %d values and the hash %x", e.Prompt, len(e.Vector), e.AnswerHash)
	}
	r.steps(t, formStep{capital, "", false, "miss form"})
}

// TestBothFormsAfterRestart: the file has both.
func TestBothFormsAfterRestart(t *testing.T) {
	path, up := filepath.Join(t.TempDir(), "reprise.db"), &twoForms{}
	life := func() *rig { return newRigAt(t, nil, up, func(o *Options) { o.Store = fileStore(t, path, 100) }) }
	r := life()
	r.steps(t, formStep{capital, "", false, "miss new"}, formStep{capital, "", true, "miss form"})
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r = life()
	defer r.store.Close()
	r.steps(t, formStep{capital, "", true, "exact answer 2"}, formStep{capital, "", false, "exact answer 1"})
}

// TestWrongForm: an upstream that does not answer in the form it is asked for is asked once for each request, which gets what it sends.
func TestWrongForm(t *testing.T) {
	up := &twoForms{}
	up.object.Store(true)
	r := newRigAt(t, nil, up)
	for i := range 4 {
		if got := r.ask(t, "/v1/chat/completions", chat(capital, `"stream":true`)); got.cache() != "miss" || got.content(t) != fmt.Sprint("answer ", i+1) {
			t.Errorf("request %d: %s %.100s", i, got.cache(), got.body)
		}
	}
	r.steps(t, formStep{capital, "", false, "exact answer 1"})
	if n := up.calls.Load(); n != 4 {
		t.Errorf("%d upstream calls", n)
	}
}

// TestPurgeOfBothForms: a purge that names either entry removes both.
func TestPurgeOfBothForms(t *testing.T) {
	for _, stream := range []bool{false, true} {
		r := newRigAt(t, nil, &twoForms{})
		both := []formStep{{capital, "", false, "miss new"}, {capital, "", true, "miss form"}}
		r.steps(t, both...)
		named := entryOf(t, r.ask(t, "/v1/chat/completions", formStep{prompt: capital, stream: stream}.body()))
		got := r.call(t, "POST", "/admin/purge", fmt.Sprintf(`{"entry":%d,"dry_run":false}`, named))
		if n := r.Stats().Entries; got.status != 200 || gjson.Get(got.body, "purged").Int() != 1 || n != 0 {
			t.Errorf("the stream %v: %d %s; %d entries are left", stream, got.status, got.body, n)
		}
		r.steps(t, both...)
	}
}

// TestStaleInBothForms: an expired answer replaces the upstream's error only in a form that it has; there, the one beside it does.
func TestStaleInBothForms(t *testing.T) {
	c, up := newClock(), &twoForms{}
	r := newRigAt(t, nil, up, c.use, func(o *Options) { o.TTL, o.StaleIfError = time.Hour, time.Hour })
	r.steps(t, formStep{capital, "", false, "miss new"}, formStep{similar, "X-Reprise-Mode: exact", false, "miss exact-only"})
	c.add(time.Minute)
	r.steps(t, formStep{capital, "", true, "miss form"})
	c.add(90 * time.Minute)
	up.broken.Store(true)
	r.steps(t, formStep{capital, "", false, "stale answer 1"}, formStep{capital, "", true, "stale answer 3"})
	before := up.calls.Load()
	if got := r.ask(t, "/v1/chat/completions", chat(similar, `"stream":true`), "X-Reprise-Mode: exact"); got.status != 503 || up.calls.Load() != before+1 {
		t.Errorf("without the form: %d after %d calls", got.status, up.calls.Load()-before)
	}
}

// TestFirstFormLeaves: what is remembered of the request is the first answer, not the one beside it.
func TestFirstFormLeaves(t *testing.T) {
	r := newRigAt(t, nil, &twoForms{})
	r.steps(t, formStep{capital, "", false, "miss new"}, formStep{capital, "", true, "miss form"})
	e, _ := r.store.Get(entryOf(t, r.steps(t, formStep{capital, "", false, "exact answer 1"})))
	if err := r.Cache().Drop(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	r.steps(t, formStep{capital, "", false, "miss evicted"}, formStep{capital, "", true, "miss form"}, formStep{capital, "", true, "exact answer 4"})
}

// TestExplainForm: explain says what the request would get in its form.
func TestExplainForm(t *testing.T) {
	up := &twoForms{}
	r := newRigAt(t, nil, up, func(o *Options) { o.Explain = true })
	for i, want := range []string{"miss new", "miss form", "exact "} {
		got := r.ask(t, "/v1/reprise/explain", chat(capital, `"stream":true`)).body
		if is := gjson.Get(got, "result").String() + " " + gjson.Get(got, "missed.why").String(); is != want {
			t.Errorf("%s, want %s: %s", is, want, got)
		}
		r.ask(t, "/v1/chat/completions", formStep{prompt: capital, stream: i > 0}.body())
	}
}

// TestFlightOfBothForms: those who wait for an answer that has not their form share one of their own, and everybody gets an answer.
func TestFlightOfBothForms(t *testing.T) {
	const streamed = "text/event-stream"
	for name, c := range map[string]struct {
		stream       bool // asks first
		first, other func(http.ResponseWriter)
		adjust       func(*Options)
	}{
		"an object": {false, writes("application/json", onlyObject("first")), writes(streamed, onlyStream("other")), func(*Options) {}},
		"a stream that is not kept": {true, writes(streamed, event("first")+"data: nonsense\n\n"+lastEvents), writes("application/json", onlyObject("other")),
			func(*Options) {}},
		"an object of which nothing is kept": {false, writes("application/json", onlyObject("first")), writes(streamed, onlyStream("other")),
			func(o *Options) { o.MaxEntryBytes = 1000 }},
	} {
		t.Run(name, func(t *testing.T) {
			up := newStage()
			r := newRigAt(t, nil, up, c.adjust)
			first := formStep{prompt: capital, stream: c.stream}
			other := formStep{prompt: capital, stream: !c.stream}
			leader := r.start(first.body())
			within(t, up.arrived, "the first call")
			var others []<-chan reply
			for range 3 {
				others = append(others, r.start(other.body()))
			}
			same := r.start(first.body())
			r.waiters(t, 5)
			up.script <- c.first
			for _, one := range []<-chan reply{leader, same} {
				if got := within(t, one, "the first answer"); got.status != 200 || !strings.Contains(got.body, "first") {
					t.Errorf("%d %s", got.status, got.cache())
				}
			}
			within(t, up.arrived, "the second call")
			up.script <- c.other
			for _, one := range others {
				if got := within(t, one, "an answer in the other form"); got.status != 200 || said(t, got) != "other" {
					t.Errorf("%d %s %.200s", got.status, got.cache(), got.body)
				}
			}
			if n := up.asked.Load(); n != 2 {
				t.Errorf("%d upstream calls", n)
			}
		})
	}
}

// TestOtherFormWaitsForItsOwn: a request that got an answer in the other form does not wait for another one in that form.
func TestOtherFormWaitsForItsOwn(t *testing.T) {
	calls := make(chan chan func(http.ResponseWriter), 10)
	r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := make(chan func(http.ResponseWriter))
		calls <- answer
		(<-answer)(w)
	}))
	object, stream := chat(capital), chat(capital, `"stream":true`)
	first := r.start(object)
	one := within(t, calls, "the first call")
	other := r.start(stream)
	r.waiters(t, 2)
	r.call(t, "POST", "/admin/purge", `{"all":true,"dry_run":false}`) // whoever comes now waits for another answer
	again := r.start(object)
	two := within(t, calls, "the second call")
	one <- writes("application/json", onlyObject("first"))
	within(t, calls, "a call for a stream") <- writes("text/event-stream", onlyStream("other"))
	if got := within(t, other, "the stream"); said(t, got) != "other" {
		t.Errorf("%s %.200s", got.cache(), got.body)
	}
	two <- writes("application/json", onlyObject("second"))
	if a, b := within(t, first, "the first answer"), within(t, again, "the second answer"); a.content(t) != "first" || b.content(t) != "second" {
		t.Errorf("%s and %s", a.content(t), b.content(t))
	}
}

// writes is a step of a script.
func writes(contentType, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	}
}

// writesEach is a step that writes what comes from parts, each at once, until that is closed.
func writesEach(contentType string, parts <-chan string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		for part := range parts {
			io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	}
}

// TestAnswerEndsAtItsEnd: those who wait for an object, and those who come later, get the answer at its end, though the connection goes on. Who
// reads the stream gets what comes behind it too; an error there takes the answer out of the cache again.
func TestAnswerEndsAtItsEnd(t *testing.T) {
	const (
		completed = `{"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"gpt-4o","output":[` +
			`{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"one","annotations":[]}]}],` +
			`"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`
		input   = `{"model":"gpt-4o","input":"What is the capital of France?"`
		message = `{"model":"claude","max_tokens":10,"messages":[{"role":"user","content":"What is the capital of France?"}]`
		line    = `{"model":"m","created_at":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":"`
		late    = `data: {"error":{"message":"too late"}}` + "\n\n"
	)
	sse, lines := "text/event-stream", "application/x-ndjson"
	for name, c := range map[string]struct {
		path, body, contentType, answer, after string
		dropped                                bool // because of what comes after it
	}{
		"chat":              {"/v1/chat/completions", chat(capital), sse, event("one") + lastEvents, ": bye\n\n", false},
		"chat, other lines": {"/v1/chat/completions", chat(capital), sse, strings.ReplaceAll(event("one")+strings.Replace(lastEvents, "data: [DONE]", "data:[DONE]", 1), "\n", "\r\n"), "\r\n", false},
		"chat, error":       {"/v1/chat/completions", chat(capital), sse, event("one") + lastEvents, late, true},
		"responses": {"/v1/responses", input + "}", sse, `data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"gpt-4o","output":[]}}` + "\n\n" +
			`data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}}` + "\n\n" +
			`data: {"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}` + "\n\n" +
			`data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"one"}` + "\n\n" +
			`data: {"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"one"}` + "\n\n" +
			`data: {"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"one","annotations":[]}}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"one","annotations":[]}]}}` + "\n\n" +
			"data: " + completed + "\n\n", ": bye\n\ndata: [DONE]\n\n", false},
		"messages": {"/v1/messages", message + "}", sse, `event: message_start` + "\n" +
			`data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n" +
			`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
			`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}}` + "\n\n" +
			`event: content_block_stop` + "\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}` + "\n\n" +
			`event: message_stop` + "\n" + `data: {"type":"message_stop"}` + "\n\n", ": bye\n\n", false},
		"ollama": {"/api/chat", `{"model":"m","messages":[{"role":"user","content":"What is the capital of France?"}]`, lines,
			line + `one"},"done":false}` + "\n" + line + `"},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}` + "\n", "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			up := newStage()
			r := newRigAt(t, nil, up)
			body := strings.TrimSuffix(c.body, "}")
			stream, object := body+`,"stream":true}`, body+`,"stream":false}`
			parts, over := make(chan string), make(chan reply, 2)
			ask := func(body string) { got, _ := r.try(c.path, body); over <- got }
			up.script <- writesEach(c.contentType, parts)
			go ask(stream)
			within(t, up.arrived, "the upstream call")
			go ask(object)
			r.waiters(t, 2)
			parts <- c.answer
			if got := within(t, over, "the object"); got.cache() != "shared" || !strings.Contains(got.body, `"one"`) {
				t.Errorf("%d %s, %s", got.status, status(got), got.body)
			}
			for _, body := range []string{stream, object} {
				if got := r.ask(t, c.path, body); got.cache() != "exact" || !strings.Contains(got.body, `"one"`) {
					t.Errorf("%d %s, %s", got.status, status(got), got.body)
				}
			}
			parts <- c.after
			close(parts)
			if got := within(t, over, "the stream"); !strings.HasSuffix(got.body, c.after) || !strings.Contains(got.body, "one") {
				t.Errorf("the stream is %q", got.body)
			}
			eventually(t, "the end of the flight", func() bool { flights, _ := r.flights.Count(); return flights == 0 })
			if got := r.Stats().Entries; (got == 0) != c.dropped {
				t.Errorf("%d entries", got)
			}
			if n := up.asked.Load(); n != 1 {
				t.Errorf("%d upstream calls", n)
			}
		})
	}
}

// TestObjectEndsAtItsEnd: an object is answered when it is closed, though its connection goes on; one that only looks closed is waited for.
func TestObjectEndsAtItsEnd(t *testing.T) {
	for _, parts := range [][]string{{string(upstreamReply)}, {`{"pad":{}`, strings.Replace(string(upstreamReply), "{", ",", 1)}} {
		up, more := newStage(), make(chan string)
		r := newRigAt(t, nil, up)
		up.script <- writesEach("application/json", more)
		got := r.start(chat(capital))
		for _, part := range parts {
			more <- part
		}
		if got := within(t, got, "the object"); got.status != 200 || got.body != strings.Join(parts, "") {
			t.Errorf("%d %s", got.status, got.body)
		}
		if again := r.ask(t, "/v1/chat/completions", chat(capital)); again.cache() != "exact" {
			t.Errorf("%s", status(again))
		}
		close(more)
	}
	if (&outcome{}).Settle([]byte(`{"pad":{}`)) {
		t.Error("an object that is not closed is whole")
	}
}
